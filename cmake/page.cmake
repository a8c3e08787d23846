# page(<target> <html> <name> [<mark> <file>]...) gives `target` the page
# `html` as embed() does a file, with the content of each file in place of its
# @mark@, and that of @mark_hash@ replaced by its SHA-256 as a Content Security
# Policy has it.
function(page target html name)
  set(page "${CMAKE_CURRENT_BINARY_DIR}/${name}.html")
  set(script "${PROJECT_SOURCE_DIR}/cmake/make_page.cmake")
  set(marks)
  set(files "${PROJECT_SOURCE_DIR}/${html}" "${script}")
  while(ARGN)
    list(POP_FRONT ARGN mark file)
    list(APPEND marks "-D${mark}=${PROJECT_SOURCE_DIR}/${file}")
    list(APPEND names "${mark}")
    list(APPEND files "${PROJECT_SOURCE_DIR}/${file}")
  endwhile()
  add_custom_command(
    OUTPUT "${page}"
    COMMAND "${CMAKE_COMMAND}" "-DINPUT=${PROJECT_SOURCE_DIR}/${html}"
            "-DOUTPUT=${page}" "-DMARKS=${names}" ${marks} -P "${script}"
    DEPENDS ${files}
    VERBATIM)
  embed(${target} "${page}" "${name}")
endfunction()
