# embed(<target> <file> <name>) gives `target` the content of `file` as
#   extern const unsigned char <name>[]; extern const size_t <name>_len;
function(embed target file name)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.c")
  add_custom_command(
    OUTPUT "${source}"
    COMMAND "${CMAKE_COMMAND}" -DINPUT=${file} -DOUTPUT=${source} -DNAME=${name}
            -P "${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake"
    DEPENDS "${file}" "${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake"
    VERBATIM)
  set_source_files_properties("${source}" PROPERTIES
    COMPILE_OPTIONS -Wno-overlength-strings)
  target_sources(${target} PRIVATE "${source}")
endfunction()
