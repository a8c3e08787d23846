# layer(<name> SOURCES <files> [USES <lower layers>] [LINKS <libraries>])
#
# A folder of src/ is one layer and one static library. It sees its own
# headers and those of the layers it USES, and through them of the layers
# below; including a header from above or beside fails with "No such file".
# LINKS are libraries from outside; they stay invisible to other layers.
function(layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;LINKS")
  list(TRANSFORM arg_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/src/${name}/")
  add_library(tb_${name} STATIC ${arg_SOURCES})
  target_include_directories(tb_${name} PUBLIC
    "${PROJECT_SOURCE_DIR}/src/${name}" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(tb_${name} PRIVATE tb_flags ${arg_LINKS})
  foreach(lower IN LISTS arg_USES)
    target_link_libraries(tb_${name} PUBLIC tb_${lower})
  endforeach()
endfunction()
