# SPDX-License-Identifier: MIT
# These tests are one program, so that the leak check runs only once.
anydml_test(dmlrun_reading_test SOURCE dmlrun/model_test.cpp LIBRARIES dmlrun_reading anydml_client)
target_sources(dmlrun_reading_test PRIVATE
  dmlrun/values_test.cpp dmlrun/npy_test.cpp dmlrun/files_test.cpp dmlrun/operator_model_test.cpp
  ${PROJECT_SOURCE_DIR}/tools/dmlrun/operator_desc.cpp)
set(numpy_python ${ANYDML_PYTHON})
if(ANYDML_NUMPY_PYTHON)
  set(numpy_python ${ANYDML_NUMPY_PYTHON})
endif()
add_test(NAME dmlrun COMMAND ${ANYDML_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/dmlrun_test.py $<TARGET_FILE:dmlrun>
                             ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/dmlrun ${numpy_python})
add_test(NAME dmlrun_completion COMMAND ${ANYDML_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/completion_test.py
                                        $<TARGET_FILE:dmlrun> ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/completion)
add_test(NAME dmlrun_requests COMMAND ${ANYDML_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/requests_test.py
                                      $<TARGET_FILE:dmlrun> ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/dmlrun_requests)
set_tests_properties(dmlrun dmlrun_completion dmlrun_requests PROPERTIES ENVIRONMENT "ANYDML_THREADS=2;${without_leak_check}" TIMEOUT 600)
set_property(TEST dmlrun_completion PROPERTY LABELS long)
if(TARGET anydml_onnx)
  set(onnx_examples)
  if(ANYDML_BUILD_EXAMPLES)
    set(onnx_examples $<TARGET_FILE:onnx> $<TARGET_FILE:onnx_top>)
  endif()
  add_test(NAME dmlrun_onnx COMMAND ${ANYDML_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/onnx_test.py $<TARGET_FILE:dmlrun>
                                    ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/dmlrun_onnx ${onnx_examples})
  set_tests_properties(dmlrun_onnx PROPERTIES ENVIRONMENT "ANYDML_THREADS=2;${without_leak_check}" TIMEOUT 600)
endif()
foreach(model timing graph owned_tensor in_place)  # the debug layer would end the program at the first mistake
  add_test(NAME dmlrun_${model}_debugged
           COMMAND dmlrun --iterations 2 --repeat 3 ${PROJECT_SOURCE_DIR}/examples/models/${model}.json)
  set_tests_properties(dmlrun_${model}_debugged PROPERTIES ENVIRONMENT "ANYDML_DEBUG=abort;${without_leak_check}")
endforeach()
if(ANYDML_SANITIZE)
  set_property(TEST dmlrun APPEND PROPERTY ENVIRONMENT ANYDML_SANITIZED=1)
endif()
if(NOT ANYDML_SANITIZE)  # sanitizers need extra memory and time
  add_test(NAME dmlrun_documented COMMAND ${ANYDML_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/documented_test.py
                                          $<TARGET_FILE:dmlrun> ${PROJECT_SOURCE_DIR})
  set_tests_properties(dmlrun_documented PROPERTIES ENVIRONMENT ANYDML_THREADS=2 TIMEOUT 120)
  add_test(NAME dmlrun_limits COMMAND ${ANYDML_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/limits_test.py
                                      $<TARGET_FILE:dmlrun> ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/dmlrun_limits)
  set_tests_properties(dmlrun_limits PROPERTIES ENVIRONMENT ANYDML_THREADS=2 TIMEOUT 600)
endif()
