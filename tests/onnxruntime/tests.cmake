# SPDX-License-Identifier: MIT
# The ONNX Runtime provider. tests/python/test_onnxruntime.py runs it in ONNX Runtime, where that is installed.
anydml_test(onnxruntime_test NO_RACES LIBRARIES anydml_onnxruntime anydml::onnx)
if(TARGET onnxruntime_test)  # not with ThreadSanitizer
  target_compile_definitions(onnxruntime_test PRIVATE
    ANYDML_PROVIDER_LIBRARY="$<TARGET_FILE:onnxruntime_ep_anydml>")
  add_dependencies(onnxruntime_test onnxruntime_ep_anydml)
endif()
# Many threads and sessions at once, for the sanitizers. It needs ONNX Runtime, which ./test installs for the tests in
# Python; without it, the test is skipped.
set(ANYDML_ONNXRUNTIME ${PROJECT_SOURCE_DIR}/build/python/venv CACHE PATH
  "ONNX Runtime's library, or the Python environment that contains it, for a test")
add_executable(onnxruntime_stress onnxruntime/onnxruntime_stress.cpp)
set_target_properties(onnxruntime_stress PROPERTIES CXX_EXTENSIONS OFF)
target_link_libraries(onnxruntime_stress PRIVATE anydml_options anydml_onnxruntime anydml::onnx ${CMAKE_DL_LIBS})
add_dependencies(onnxruntime_stress onnxruntime_ep_anydml)
set(own_threads 0)
if(ANYDML_SANITIZE STREQUAL "thread")
  set(own_threads 3)
endif()
add_test(NAME onnxruntime_stress
  COMMAND onnxruntime_stress ${ANYDML_ONNXRUNTIME} $<TARGET_FILE:onnxruntime_ep_anydml> 1 ${own_threads})
# ThreadSanitizer does not see all of ONNX Runtime's synchronization, so only reports about these libraries count.
set_tests_properties(onnxruntime_stress PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 120 ENVIRONMENT TSAN_OPTIONS=exitcode=0
  FAIL_REGULAR_EXPRESSION "SUMMARY: ThreadSanitizer[^\n]*(libanydml|ep-anydml|onnxruntime_stress)")
