# libtracebake, shared and static, and what a foreign project finds it by:
# pkg-config's tracebake.pc, and the CMake package tracebake with the targets
# tracebake::tracebake (shared) and, as COMPONENTS static, tracebake::static.
include(CMakePackageConfigHelpers)

set(parts base unicode json session trace template hub tokenizer block mooncake
          stats replay report convert option library)
list(TRANSFORM parts REPLACE "^(.+)$" "$<TARGET_OBJECTS:tb_\\1>"
     OUTPUT_VARIABLE objects)
set(needed PkgConfig::zlib PkgConfig::zstd PkgConfig::utf8proc
           PkgConfig::oniguruma Threads::Threads ${CMAKE_DL_LIBS} m)

add_library(tracebake_shared SHARED $<TARGET_OBJECTS:tb_library>)
target_link_libraries(tracebake_shared PRIVATE tb_library)
set_target_properties(tracebake_shared PROPERTIES
  OUTPUT_NAME tracebake EXPORT_NAME tracebake LINKER_LANGUAGE C
  VERSION "${PROJECT_VERSION}" SOVERSION "${PROJECT_VERSION_MAJOR}")
if(NOT APPLE)
  set(map "${PROJECT_SOURCE_DIR}/cmake/tracebake.map")
  target_link_options(tracebake_shared PRIVATE "LINKER:--version-script=${map}")
  set_target_properties(tracebake_shared PROPERTIES LINK_DEPENDS "${map}")
endif()

add_library(tracebake_static STATIC ${objects})
target_link_libraries(tracebake_static PRIVATE ${needed})
set_target_properties(tracebake_static PROPERTIES
  OUTPUT_NAME tracebake EXPORT_NAME static LINKER_LANGUAGE C)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(FILES include/tracebake.h TYPE INCLUDE)
set(packages "${CMAKE_INSTALL_LIBDIR}/cmake/tracebake")
foreach(kind shared static)
  install(TARGETS tracebake_${kind} EXPORT tracebake-${kind}
    LIBRARY COMPONENT library NAMELINK_COMPONENT development
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT tracebake-${kind} NAMESPACE tracebake::
    DESTINATION "${packages}")
endforeach()

configure_package_config_file(cmake/tracebakeConfig.cmake.in
  "${CMAKE_CURRENT_BINARY_DIR}/tracebakeConfig.cmake"
  INSTALL_DESTINATION "${packages}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  "${CMAKE_CURRENT_BINARY_DIR}/tracebakeConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tracebakeConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/tracebakeConfigVersion.cmake"
  DESTINATION "${packages}")

# Paths in it are relative to its own place, so that a tree may be moved.
file(RELATIVE_PATH to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/tracebake.pc.in tracebake.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tracebake.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
