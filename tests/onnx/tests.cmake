# SPDX-License-Identifier: MIT
# The ONNX library.
anydml_test(model_test NO_RACES LIBRARIES anydml_onnx_model anydml_onnx_values anydml::anydml)
# Changes the bytes of models at random; without arguments, of a small model of its own.
add_executable(model_fuzz onnx/model_fuzz.cpp)
set_target_properties(model_fuzz PROPERTIES CXX_EXTENSIONS OFF)
target_link_libraries(model_fuzz PRIVATE anydml_options anydml_onnx_program anydml::anydml)
target_include_directories(model_fuzz PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
add_test(NAME model_fuzz COMMAND model_fuzz --rounds 20000)
add_test(NAME model_fuzz_run COMMAND model_fuzz --run --rounds 4000)
set_tests_properties(model_fuzz model_fuzz_run PROPERTIES TIMEOUT 600)
anydml_test(onnx_few_test NO_RACES LIBRARIES anydml_onnx_values anydml::anydml)
anydml_test(onnx_schema_test NO_RACES LIBRARIES anydml_onnx_schema)
anydml_test(onnx_node_test NO_RACES LIBRARIES anydml_onnx_program anydml::anydml)
anydml_test(onnx_table_test NO_RACES LIBRARIES anydml_onnx_rows anydml::anydml)
# The C interface.
anydml_test(onnx_api_test LIBRARIES anydml::onnx ENVIRONMENT ANYDML_THREADS=3)
anydml_test(onnx_device_test NO_RACES LIBRARIES anydml::onnx ${CMAKE_DL_LIBS} ENVIRONMENT ANYDML_THREADS=3)
anydml_test_on_later(onnx_device_test)
anydml_test(onnx_builder_test NO_RACES LIBRARIES anydml::onnx ENVIRONMENT ANYDML_THREADS=3)
anydml_test(onnx_in_place_test NO_RACES LIBRARIES anydml::onnx ENVIRONMENT ANYDML_THREADS=3)
anydml_test_on_later(onnx_in_place_test)
anydml_test(onnx_generate_test NO_RACES LIBRARIES anydml::onnx ENVIRONMENT ANYDML_THREADS=3)
anydml_test_on_later(onnx_generate_test)
# The headers as C programs use them, with warnings as errors.
if(ANYDML_BUILD_EXAMPLES)
  target_compile_options(onnx PRIVATE -Werror -Wall -Wextra -Wmissing-braces)
  target_compile_options(generate PRIVATE -Werror -Wall -Wextra -Wmissing-braces)
endif()
