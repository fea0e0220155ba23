# SPDX-License-Identifier: MIT
# The ONNX Runtime provider. tests/python/test_onnxruntime.py runs it in ONNX Runtime, where that is installed.
anydml_test(onnxruntime_test NO_RACES LIBRARIES anydml_onnxruntime anydml::onnx)
if(TARGET onnxruntime_test)  # not with ThreadSanitizer
  target_compile_definitions(onnxruntime_test PRIVATE
    ANYDML_PROVIDER_LIBRARY="$<TARGET_FILE:onnxruntime_ep_anydml>")
  add_dependencies(onnxruntime_test onnxruntime_ep_anydml)
endif()
# Many threads and sessions at once, for the sanitizers. It needs ONNX Runtime's library, so it is run by hand.
add_executable(onnxruntime_stress EXCLUDE_FROM_ALL onnxruntime/onnxruntime_stress.cpp)
set_target_properties(onnxruntime_stress PROPERTIES CXX_EXTENSIONS OFF)
target_link_libraries(onnxruntime_stress PRIVATE anydml_options anydml_onnxruntime anydml::onnx ${CMAKE_DL_LIBS})
