# SPDX-License-Identifier: MIT
# Defines what `cmake --install` installs (the libraries, their headers, the .pc files and the CMake package) and how
# the .deb packages are built. Every rule belongs to one of two components, which correspond to the two packages:
# anydml, which programs need at run time, and anydml-dev, which is needed to compile programs. Without --component,
# both are installed. pip installs only a third component, python, or for the package with ONNX Runtime's provider a
# fourth, onnxruntime_ep; the pyproject.toml of each names it.
include(CMakePackageConfigHelpers)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  message(FATAL_ERROR "CMAKE_INSTALL_LIBDIR and CMAKE_INSTALL_INCLUDEDIR must be relative to the prefix, because an "
                      "installation can be moved")
endif()

install(TARGETS anydml EXPORT anydml-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT anydml NAMELINK_COMPONENT anydml-dev)
if(ANYDML_BUILD_ONNX)
  install(TARGETS anydml_onnx EXPORT anydml-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT anydml NAMELINK_COMPONENT anydml-dev)
  install(FILES ${PROJECT_SOURCE_DIR}/include/anydml/onnx.h ${PROJECT_SOURCE_DIR}/include/anydml/generate.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/anydml COMPONENT anydml-dev)
  install(TARGETS onnxruntime_ep_anydml LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT anydml)
endif()
if(TARGET onnxruntime_ep_anydml)
  if(SKBUILD)  # a wheel cannot contain links, so each library is one file, with the name by which the others find it
    set_target_properties(anydml anydml_onnx PROPERTIES VERSION ${PROJECT_VERSION_MAJOR})
    install(FILES LICENSE NOTICE DESTINATION ${SKBUILD_METADATA_DIR}/licenses COMPONENT onnxruntime_ep)
  endif()
  install(TARGETS onnxruntime_ep_anydml anydml_onnx anydml LIBRARY DESTINATION onnxruntime_ep_anydml
    COMPONENT onnxruntime_ep NAMELINK_SKIP EXCLUDE_FROM_ALL)
endif()
if(ANYDML_BUILD_DIRECTML)
  # These libraries are in their own folder, which ldconfig does not scan: other software would mistake a libdxcore.so
  # or libd3d12.so on the default path for the system's.
  install(TARGETS anydml_lib_directml anydml_lib_d3d12 anydml_lib_dxcore anydml_directml_program EXPORT anydml-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/anydml COMPONENT anydml)
  install(FILES ${PROJECT_SOURCE_DIR}/include/anydml/DirectML.h ${PROJECT_SOURCE_DIR}/include/anydml/directml_guids.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/anydml COMPONENT anydml-dev)
endif()
if(ANYDML_BUILD_TOOLS)
  install(TARGETS dmlrun RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT anydml)
  install(FILES tools/dmlrun/dmlrun.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT anydml)
  if(NOT CMAKE_CROSSCOMPILING)  # the program generates them
    install(FILES ${PROJECT_BINARY_DIR}/tools/dmlrun/completion/bash
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME dmlrun COMPONENT anydml)
    install(FILES ${PROJECT_BINARY_DIR}/tools/dmlrun/completion/zsh
      DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _dmlrun COMPONENT anydml)
    install(FILES ${PROJECT_BINARY_DIR}/tools/dmlrun/completion/fish
      DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME dmlrun.fish COMPONENT anydml)
  endif()
endif()
install(FILES ${PROJECT_SOURCE_DIR}/include/anydml/anydml.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/anydml
  COMPONENT anydml-dev)
# The documents keep their folder structure, so that their links to one another and to the examples work.
install(FILES LICENSE NOTICE README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT anydml)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT anydml
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT anydml
  PATTERN CMakeLists.txt EXCLUDE PATTERN __pycache__ EXCLUDE)

set(anydml_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/anydml)
install(EXPORT anydml-targets NAMESPACE anydml:: DESTINATION ${anydml_cmake_dir} COMPONENT anydml-dev)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/anydml-config.cmake.in
  ${PROJECT_BINARY_DIR}/anydml-config.cmake INSTALL_DESTINATION ${anydml_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/anydml-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/anydml-config.cmake ${PROJECT_BINARY_DIR}/anydml-config-version.cmake
  DESTINATION ${anydml_cmake_dir} COMPONENT anydml-dev)

# Paths are relative to the .pc file, so that the installed tree can be moved.
file(RELATIVE_PATH anydml_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" anydml_pc_prefix "${anydml_pc_prefix}")
set(anydml_pc_files anydml)
if(ANYDML_BUILD_ONNX)
  list(APPEND anydml_pc_files anydml-onnx)
endif()
if(ANYDML_BUILD_DIRECTML)
  list(APPEND anydml_pc_files anydml-directml)
endif()
foreach(pc ${anydml_pc_files})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${pc}.pc.in ${PROJECT_BINARY_DIR}/${pc}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT anydml-dev)
endforeach()
if(ANYDML_BUILD_DIRECTML)
  # Also puts the installation path into the rpath of programs, so that they keep working if the .pc file is moved or
  # removed. Omitted while a package is being built, because the path is then temporary.
  install(CODE "
    cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE OUTPUT_VARIABLE anydml_prefix)
    set(anydml_pc \"\$ENV{DESTDIR}\${anydml_prefix}/${CMAKE_INSTALL_LIBDIR}/pkgconfig/anydml-directml.pc\")
    file(READ \${anydml_pc} anydml_pc_text)
    set(anydml_rpath \"\${anydml_prefix}/${CMAKE_INSTALL_LIBDIR}/anydml:\${anydml_prefix}/${CMAKE_INSTALL_LIBDIR}:\")
    if(anydml_prefix MATCHES _CPack_Packages)
      set(anydml_rpath \"\")
    endif()
    string(REPLACE ANYDML_INSTALLED_RPATH \"\${anydml_rpath}\" anydml_pc_text \"\${anydml_pc_text}\")
    file(WRITE \${anydml_pc} \"\${anydml_pc_text}\")"
    COMPONENT anydml-dev)
endif()

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

# cpack -G DEB, in the build folder: anydml_VERSION_ARCHITECTURE.deb and anydml-dev_VERSION_ARCHITECTURE.deb
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME anydml)
set(CPACK_PACKAGE_CONTACT "the anydml project")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # CPack would prepend it to each package's own summary
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL anydml anydml-dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)

set(CPACK_DEBIAN_ANYDML_PACKAGE_NAME anydml)
set(CPACK_DEBIAN_ANYDML_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_ANYDML_DESCRIPTION "${PROJECT_DESCRIPTION}
The C library, the library that runs ONNX models, the libraries of the
DirectML API, and dmlrun, which runs DirectML models. The libraries of the API
are in /usr/lib/anydml, where no other program finds them by default.")
set(CPACK_DEBIAN_ANYDML_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_ANYDML-DEV_PACKAGE_NAME anydml-dev)
set(CPACK_DEBIAN_ANYDML-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_ANYDML-DEV_DESCRIPTION "Headers and build files for anydml
The headers of the C library, of its ONNX library and of DirectML, and the
files that pkg-config and CMake's find_package read.")
set(CPACK_DEBIAN_ANYDML-DEV_PACKAGE_DEPENDS "anydml (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_ANYDML-DEV_PACKAGE_RECOMMENDS "directx-headers-dev, pkg-config")  # to compile DirectML programs
# Up to 0.1.0 there was only one package.
set(CPACK_DEBIAN_ANYDML-DEV_PACKAGE_REPLACES "anydml (<< 0.2.0)")
set(CPACK_DEBIAN_ANYDML-DEV_PACKAGE_BREAKS "anydml (<< 0.2.0)")
include(CPack)
