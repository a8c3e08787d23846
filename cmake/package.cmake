# Debian packages, by CPack: tracebake (the program), libtracebake0, and
# libtracebake-dev. With -DTB_PACKAGE=ON and the prefix /usr; see ./dev deb.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "Seed 2a3eedb0 maintainers <maintainers@users.noreply.a-seed-2a3eedb0.example>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program library development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(version "${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")

# debian_package(<component> <name> <section> <summary> <description>)
macro(debian_package component name section summary description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${description}")
  install(FILES packaging/debian/copyright COMPONENT ${component}
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${name}")
  install(FILES "${PROJECT_BINARY_DIR}/package/changelog.Debian.gz"
    COMPONENT ${component} DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${name}")
endmacro()

# compress(<from> <to>): as Debian wants it, the same bytes each time.
function(compress from to)
  execute_process(COMMAND gzip -9nc "${from}" OUTPUT_FILE "${to}"
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/package/man")
compress("${PROJECT_SOURCE_DIR}/packaging/debian/changelog"
         "${PROJECT_BINARY_DIR}/package/changelog.Debian.gz")
foreach(page IN LISTS pages)
  get_filename_component(name "${page}" NAME)
  compress("${page}" "${PROJECT_BINARY_DIR}/package/man/${name}.gz")
endforeach()

debian_package(program tracebake utils
  "recorded LLM agent traces to mooncake JSONL for load testers"
  "tracebake turns recordings of AI agents (NeMo Agent Toolkit traces,
telemetry JSONL) into mooncake JSONL, the form that load testers replay. It
counts with the model's own tokenizer and keeps prefixes that prompts share
and turns that follow each other.")
# Loaded when a tokenizer is fetched, and not before.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "libcurl4, ca-certificates")
debian_package(library libtracebake${PROJECT_VERSION_MAJOR} libs
  "tokenizers and traces to mooncake JSONL, as a library"
  "Text to the ids that Hugging Face tokenizers and tiktoken give, and back;
recorded LLM agent traces to mooncake JSONL.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "libcurl4, ca-certificates")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
  "${PROJECT_SOURCE_DIR}/packaging/debian/triggers")
debian_package(development libtracebake-dev libdevel
  "tokenizers and traces to mooncake JSONL, to develop with"
  "The header, the static library, and what pkg-config and CMake find
libtracebake by.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libtracebake${PROJECT_VERSION_MAJOR} (= ${version}), zlib1g-dev, libzstd-dev, libutf8proc-dev, libonig-dev")

include(CPack)
