# SPDX-License-Identifier: MIT
# The device used by anydml_test_on_later.
add_library(anydml_later MODULE plugin/later_backend.cpp)
target_link_libraries(anydml_later PRIVATE anydml_options anydml_backend)
target_compile_options(anydml_later PRIVATE ${light})
set_target_properties(anydml_later PROPERTIES PREFIX lib OUTPUT_NAME anydml-later CXX_EXTENSIONS OFF
  LIBRARY_OUTPUT_DIRECTORY ${plugin_folder})
add_library(anydml_other_build MODULE plugin/other_build.cpp)
target_link_libraries(anydml_other_build PRIVATE anydml_options anydml_backend)
set_target_properties(anydml_other_build PROPERTIES PREFIX lib OUTPUT_NAME anydml-otherbuild CXX_EXTENSIONS OFF
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/plugins_of_another_build)
# The CPU under the name of a different backend, for tests/python/test_device_types.py.
if(TARGET _core AND NOT ANYDML_SANITIZE)
  foreach(backend cuda vulkan)
    add_library(anydml_pretended_${backend} MODULE plugin/pretended_backend.cpp)
    target_link_libraries(anydml_pretended_${backend} PRIVATE anydml_options anydml_backend)
    target_compile_options(anydml_pretended_${backend} PRIVATE ${light})
    target_compile_definitions(anydml_pretended_${backend} PRIVATE ANYDML_PRETENDED="${backend}")
    set_target_properties(anydml_pretended_${backend} PROPERTIES PREFIX lib OUTPUT_NAME anydml-${backend}
      CXX_EXTENSIONS OFF LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/pretended_${backend})
  endforeach()
endif()
if(ANYDML_BUILD_DIRECTML AND ANYDML_BUILD_EXAMPLES AND NOT ANYDML_SANITIZE STREQUAL "thread")
  add_test(NAME plugins COMMAND ${CMAKE_CURRENT_LIST_DIR}/loading.sh $<TARGET_FILE:directml_modulus>
           $<TARGET_FILE:graph> $<TARGET_FILE:anydml_later> $<TARGET_FILE:anydml_other_build> ${CMAKE_CURRENT_BINARY_DIR}/plugin_loading)
  set_tests_properties(plugins PROPERTIES ENVIRONMENT ${without_leak_check})
endif()
