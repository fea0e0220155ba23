# SPDX-License-Identifier: MIT
# What `cmake --install` lays down: the library, its header, anydml.pc and the CMake package.
include(CMakePackageConfigHelpers)

install(TARGETS anydml EXPORT anydml-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT anydml NAMELINK_COMPONENT anydml)
install(FILES ${PROJECT_SOURCE_DIR}/include/anydml/anydml.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/anydml)
install(FILES LICENSE NOTICE docs/numerics.md docs/errors.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(anydml_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/anydml)
install(EXPORT anydml-targets NAMESPACE anydml:: DESTINATION ${anydml_cmake_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/anydml-config.cmake.in
  ${PROJECT_BINARY_DIR}/anydml-config.cmake INSTALL_DESTINATION ${anydml_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/anydml-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/anydml-config.cmake ${PROJECT_BINARY_DIR}/anydml-config-version.cmake
  DESTINATION ${anydml_cmake_dir})

# Paths relative to the .pc file, so that the installed tree can be moved.
file(RELATIVE_PATH anydml_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" anydml_pc_prefix "${anydml_pc_prefix}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/anydml.pc.in ${PROJECT_BINARY_DIR}/anydml.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/anydml.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
