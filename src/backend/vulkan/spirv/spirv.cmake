# SPDX-License-Identifier: MIT
# The linker of SPIR-V modules, the trials of primitives, and the function library, which is embedded. The library is
# compiled by data/vulkan/make_functions.py, and the archive in data is always used here: its compiler is a download of
# 100 MB, and a test says whether the archive was made from the current sources.
set(functions ${CMAKE_CURRENT_BINARY_DIR}/vulkan_functions)
set(archive ${anydml_source}/data/vulkan/functions.tar.xz)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${archive})
file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${functions} TOUCH)  # newer than what was built before
file(GLOB spirv_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/spirv/*.cpp)
target_sources(anydml_vulkan PRIVATE ${spirv_sources})
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/spirv/functions.cpp PROPERTIES
  COMPILE_DEFINITIONS ANYDML_VULKAN_FUNCTIONS="${functions}/functions.spv"
  OBJECT_DEPENDS ${functions}/functions.spv)
