# SPDX-License-Identifier: MIT
if(NOT ANYDML_SANITIZE)
  add_test(NAME install COMMAND ${CMAKE_CURRENT_LIST_DIR}/run.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
                                ${CMAKE_CURRENT_BINARY_DIR}/install)
  set_tests_properties(install PROPERTIES LABELS long)
  if(ANYDML_BUILD_DIRECTML AND ANYDML_BUILD_EXAMPLES)
    add_test(NAME deb COMMAND ${CMAKE_CURRENT_LIST_DIR}/deb.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
                              ${CMAKE_CURRENT_BINARY_DIR}/deb)
  endif()
endif()
