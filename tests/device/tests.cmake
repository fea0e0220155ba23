# SPDX-License-Identifier: MIT
# The conformance suite checks a device through its backend's table. scripts/conform.py runs all of its parts. The tests
# for lost devices come last.
anydml_test(device_conformance SOURCE device/main.cpp LIBRARIES anydml::anydml anydml_graph anydml_backend_table
            ${CMAKE_DL_LIBS} ENVIRONMENT ANYDML_THREADS=3 ANYDML_ADAPTER=cpu)
target_sources(device_conformance PRIVATE device/memory_test.cpp device/queues_test.cpp device/copies_test.cpp
  device/programs_test.cpp device/lost_test.cpp)
anydml_test_on_later(device_conformance)
# After a failure, every function of the asynchronous test device reports it. On other devices, some functions may
# succeed.
set_tests_properties(device_conformance_on_later PROPERTIES
  FAIL_REGULAR_EXPRESSION "functions that still succeed on the device that failed;FAILED")
# The example device from docs/adding-a-device.md.
add_subdirectory(${PROJECT_SOURCE_DIR}/examples/device ${CMAKE_CURRENT_BINARY_DIR}/toy)
add_dependencies(device_conformance anydml_toy)
add_test(NAME device_conformance_on_toy COMMAND device_conformance --plugin $<TARGET_FILE:anydml_toy>)
# This tests that the suite detects devices that break the contract.
add_library(anydml_wrong MODULE device/wrong_backend.cpp)
target_link_libraries(anydml_wrong PRIVATE anydml_options anydml_backend)
target_compile_options(anydml_wrong PRIVATE ${light})
set_target_properties(anydml_wrong PROPERTIES PREFIX lib OUTPUT_NAME anydml-wrong CXX_EXTENSIONS OFF
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/wrong_plugins)
if(ANYDML_BUILD_DIRECTML AND NOT ANYDML_SANITIZE)  # sanitizer builds run the programs on both devices directly
  add_test(NAME conform COMMAND ${ANYDML_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/conform_test.py
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} $<TARGET_FILE:anydml_later> $<TARGET_FILE:anydml_wrong>)
  set_tests_properties(conform PROPERTIES LABELS long TIMEOUT 300)
endif()
