# SPDX-License-Identifier: MIT
# Generated files are up to date, the documents are correct, and the tree follows the rules that no compiler checks.
add_test(NAME facts_tables_are_current COMMAND ${ANYDML_PYTHON} ${PROJECT_SOURCE_DIR}/data/facts/generate_tables.py --check)
add_test(NAME rules_generator COMMAND ${ANYDML_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/rules_generator_test.py
                                      ${PROJECT_SOURCE_DIR})
add_test(NAME python_functions_are_current COMMAND ${ANYDML_PYTHON} ${PROJECT_SOURCE_DIR}/data/python/generate_python.py --check)
add_test(NAME dmlrun_skeletons_are_current
         COMMAND ${ANYDML_PYTHON} ${PROJECT_SOURCE_DIR}/data/site/generate_skeletons.py --check)
add_test(NAME documents_are_current COMMAND ${ANYDML_PYTHON} ${PROJECT_SOURCE_DIR}/data/facts/generate_docs.py --check)
if(NOT ANYDML_SANITIZE)
  set(documents_test ${ANYDML_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/documents_test.py ${PROJECT_SOURCE_DIR})
  if(ANYDML_BUILD_TOOLS AND ANYDML_BUILD_BENCH)  # the help texts are compared, and one of them is the benchmark's
    list(APPEND documents_test $<TARGET_FILE:dmlrun>)
  endif()
  add_test(NAME documents COMMAND ${documents_test})
endif()
if(NOT ANYDML_SANITIZE AND ANYDML_PYTHON)
  # The documents' charts and tables match the recorded measurements.
  add_test(NAME figures COMMAND ${ANYDML_PYTHON} -B ${PROJECT_SOURCE_DIR}/bench/plot.py --check)
endif()
if(NOT ANYDML_SANITIZE)  # the scripts link the library into programs without sanitizers
  add_test(NAME exports COMMAND ${CMAKE_CURRENT_LIST_DIR}/exports.sh $<TARGET_FILE:anydml>
                                ${PROJECT_SOURCE_DIR}/include/anydml/anydml.h)
  if(ANYDML_BUILD_ONNX)
    add_test(NAME onnx_exports COMMAND ${CMAKE_CURRENT_LIST_DIR}/exports.sh $<TARGET_FILE:anydml_onnx>
                                       ${PROJECT_SOURCE_DIR}/include/anydml/onnx.h)
  endif()
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
