# What the Python package has of ours, as the component `python`: the shared
# library and the program inside the folder of the package, where its modules
# look for them. scikit-build-core (pyproject.toml) makes a wheel of it; without
# it, the modules are installed too, and PREFIX is a folder that Python knows.
set(TB_LICENSES "" CACHE PATH "Folder of license texts to put into the wheel")
set(to_python COMPONENT python EXCLUDE_FROM_ALL)
install(FILES $<TARGET_FILE:tracebake_shared> DESTINATION tracebake
  RENAME "libtracebake${CMAKE_SHARED_LIBRARY_SUFFIX}" ${to_python})
install(PROGRAMS $<TARGET_FILE:tracebake> DESTINATION tracebake/bin
  ${to_python})
if(NOT SKBUILD)
  install(DIRECTORY python/tracebake DESTINATION . ${to_python}
    PATTERN __pycache__ EXCLUDE)
elseif(TB_LICENSES)
  install(DIRECTORY "${TB_LICENSES}/"
    DESTINATION "${SKBUILD_METADATA_DIR}/licenses" ${to_python})
endif()
