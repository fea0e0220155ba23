# SPDX-License-Identifier: MIT
# Generated files are up to date, the documents are correct, and the tree follows the rules that no compiler checks.
add_test(NAME facts_tables_are_current COMMAND ${ANYDML_PYTHON} ${PROJECT_SOURCE_DIR}/data/facts/generate_tables.py --check)
add_test(NAME rules_generator COMMAND ${ANYDML_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/rules_generator_test.py
                                      ${PROJECT_SOURCE_DIR})
add_test(NAME python_functions_are_current COMMAND ${ANYDML_PYTHON} ${PROJECT_SOURCE_DIR}/data/python/generate_python.py --check)
add_test(NAME dmlrun_skeletons_are_current
         COMMAND ${ANYDML_PYTHON} ${PROJECT_SOURCE_DIR}/data/site/generate_skeletons.py --check)
add_test(NAME numerics_version COMMAND ${ANYDML_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/numerics_test.py ${PROJECT_SOURCE_DIR})
add_test(NAME workflows COMMAND ${ANYDML_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/workflows_test.py ${PROJECT_SOURCE_DIR})
add_test(NAME documents_are_current COMMAND ${ANYDML_PYTHON} ${PROJECT_SOURCE_DIR}/data/facts/generate_docs.py --check)
if(NOT ANYDML_SANITIZE)
  set(documents_test ${ANYDML_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/documents_test.py ${PROJECT_SOURCE_DIR})
  if(ANYDML_BUILD_TOOLS AND ANYDML_BUILD_BENCH)  # the help texts are compared, and one of them is the benchmark's
    list(APPEND documents_test $<TARGET_FILE:dmlrun>)
  endif()
  add_test(NAME documents COMMAND ${documents_test})
endif()
if(NOT ANYDML_SANITIZE)
  add_test(NAME clang_tidy COMMAND ${PROJECT_SOURCE_DIR}/scripts/tidy.sh)
  set_tests_properties(clang_tidy PROPERTIES LABELS long SKIP_RETURN_CODE 77 TIMEOUT 1500)
endif()
if(NOT ANYDML_SANITIZE AND ANYDML_PYTHON)
  # The documents' charts and tables match the recorded measurements.
  add_test(NAME figures COMMAND ${ANYDML_PYTHON} -B ${PROJECT_SOURCE_DIR}/bench/plot.py --check)
endif()
if(NOT ANYDML_SANITIZE)  # the scripts link the library into programs without sanitizers
  # anydml_exports_test(TEST LIBRARY [HEADER...])
  function(anydml_exports_test test library)
    list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/include/anydml/)
    add_test(NAME ${test} COMMAND ${CMAKE_CURRENT_LIST_DIR}/exports.sh $<TARGET_FILE:${library}>
                                  ${PROJECT_SOURCE_DIR}/data/abi/${library}.txt ${ARGN})
  endfunction()
  anydml_exports_test(exports anydml anydml.h)
  if(ANYDML_BUILD_ONNX)
    anydml_exports_test(onnx_exports anydml_onnx onnx.h generate.h)
    anydml_exports_test(onnxruntime_exports onnxruntime_ep_anydml)
  endif()
  if(ANYDML_BUILD_DIRECTML)
    foreach(library dxcore d3d12 directml)
      anydml_exports_test(${library}_exports anydml_lib_${library})
    endforeach()
  endif()
  add_test(NAME abi COMMAND ${CMAKE_CURRENT_LIST_DIR}/abi.sh ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/abi)
  set_tests_properties(abi PROPERTIES SKIP_RETURN_CODE 77)
  if(ANYDML_BUILD_TOOLS)
    add_test(NAME configure COMMAND ${CMAKE_CURRENT_LIST_DIR}/configure.sh ${PROJECT_SOURCE_DIR}
                                    ${PROJECT_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR}/configure)
  endif()
  add_test(NAME docs COMMAND ${CMAKE_CURRENT_LIST_DIR}/docs.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
                             ${CMAKE_CURRENT_BINARY_DIR}/docs)
  add_test(NAME tree COMMAND ${CMAKE_CURRENT_LIST_DIR}/tree.sh ${PROJECT_SOURCE_DIR})
  if(ANYDML_BUILD_DIRECTML)  # without it, the table lacks those layers
    add_test(NAME layers COMMAND ${ANYDML_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/layers_test.py ${PROJECT_SOURCE_DIR}/src
                                 ${PROJECT_BINARY_DIR}/layers.json)
  endif()
endif()
