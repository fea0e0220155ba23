# SPDX-License-Identifier: MIT
anydml_test(api_test LIBRARIES anydml::anydml anydml_base ENVIRONMENT ANYDML_THREADS=3)
if(TARGET api_test)
  target_compile_definitions(api_test PRIVATE ANYDML_EXPECTED_VERSION="${PROJECT_VERSION}")
endif()
anydml_test(api_forms_test NO_RACES LIBRARIES anydml::anydml)
anydml_test(operator_info_test NO_RACES LIBRARIES anydml::anydml)
anydml_test(process_test LIBRARIES anydml::anydml)  # sets the number of threads before the first use of a device
# These compile the header as programs use it, in C and in C++, with warnings as errors.
foreach(language c cpp)
  add_executable(api_program_${language} capi/api_program.${language})
  set_target_properties(api_program_${language} PROPERTIES C_EXTENSIONS OFF CXX_EXTENSIONS OFF)
  target_link_libraries(api_program_${language} PRIVATE anydml_options anydml::anydml)
  target_compile_options(api_program_${language} PRIVATE -Werror -Wall -Wextra -Wcast-qual -Wmissing-braces)
  add_test(NAME api_program_${language} COMMAND api_program_${language})
endforeach()
if(ANYDML_BUILD_EXAMPLES)
  add_test(NAME graph_example COMMAND graph)
  set_tests_properties(graph_example PROPERTIES PASS_REGULAR_EXPRESSION "1\\.5 \\+ 1 \\+ 0 = 2\\.5\n0 \\+ 4 \\+ 0 = 4\n")
  add_test(NAME tour_example COMMAND tour)
  set_tests_properties(tour_example PROPERTIES PASS_REGULAR_EXPRESSION
    "clock: 7 7 11 0\nsteps: 3 5 7 9, backwards: 9 7 5 3\nsums: FLOAT16 2 x 1 x 4\nREDUCE: InputTensor OutputTensor .output. Function Axes\nlog 1: op: is 'REDUSE'; did you mean REDUCE\\?\n")
endif()
anydml_test(graph_api_test LIBRARIES anydml::anydml ENVIRONMENT ANYDML_THREADS=3)
anydml_test(memory_objects_test LIBRARIES anydml::anydml ENVIRONMENT ANYDML_THREADS=3)
anydml_test(graph_sharing_test LIBRARIES anydml::anydml ENVIRONMENT ANYDML_THREADS=3)
anydml_test(graph_repeat_test LIBRARIES anydml::anydml ENVIRONMENT ANYDML_THREADS=3)
anydml_test(graph_joins_test COMPUTES LIBRARIES anydml::anydml ENVIRONMENT ANYDML_THREADS=3)
anydml_test(random_networks_test LIBRARIES anydml::anydml ENVIRONMENT ANYDML_THREADS=3)
anydml_test(float_environment_test NO_RACES LIBRARIES anydml::anydml anydml_base ENVIRONMENT ANYDML_THREADS=3)
# The generic kernels are the fallback on every machine, so they are tested too. They use threads in the same way, so
# races are not checked again.
if(NOT ANYDML_SANITIZE STREQUAL "thread")
  add_test(NAME api_test_generic COMMAND api_test)
  set_tests_properties(api_test_generic PROPERTIES LABELS repeats
    ENVIRONMENT "ANYDML_THREADS=3;ANYDML_CPU_TARGET=generic;${without_leak_check}")
endif()
anydml_test(bad_input_test NO_RACES LIBRARIES anydml::anydml)
if(TARGET bad_input_test)
  target_sources(bad_input_test PRIVATE capi/bad_input_graphs.cpp)
endif()
if(NOT ANYDML_SANITIZE)  # a fork while other threads work can leave the sanitizers' own locks held
  anydml_test(fork_test LIBRARIES anydml::anydml)
endif()
if(NOT ANYDML_SANITIZE)  # sanitizers have their own malloc
  add_executable(without_memory capi/without_memory.c)
  target_link_libraries(without_memory PRIVATE anydml_options Threads::Threads ${CMAKE_DL_LIBS})
  target_include_directories(without_memory PRIVATE ${PROJECT_SOURCE_DIR}/include)
  # libstdc++'s thread-local storage is allocated at startup if the program is linked with libstdc++.
  target_link_options(without_memory PRIVATE LINKER:--no-as-needed -lstdc++)
  add_test(NAME without_memory COMMAND without_memory $<TARGET_FILE:anydml>)
endif()
anydml_test(allocation_failure_test NO_RACES LIBRARIES anydml::anydml ENVIRONMENT ANYDML_THREADS=3)
# The test's own table of families, which lacks an operator, replaces the library's.
anydml_test(unbuilt_test NO_RACES LIBRARIES anydml_capi anydml_elementwise anydml_text)
if(TARGET unbuilt_test)
  target_sources(unbuilt_test PRIVATE support/hidden_operator.cpp ${PROJECT_SOURCE_DIR}/src/capi/anydml.cpp
    ${PROJECT_SOURCE_DIR}/src/capi/graph.cpp ${PROJECT_SOURCE_DIR}/src/capi/memory.cpp)
  if(ANYDML_BUILD_TOOLS)
    target_sources(unbuilt_test PRIVATE dmlrun/unbuilt_test.cpp)
    target_link_libraries(unbuilt_test PRIVATE dmlrun_reading)
  endif()
endif()
anydml_test_on_later(api_test api_forms_test graph_api_test graph_sharing_test memory_objects_test)
if(NOT ANYDML_SANITIZE)  # with sanitizers, the programs run without these settings
  # Kernels request workspace in addition to the plan's temporary memory.
  anydml_test_later(graph_api_test_workspace graph_api_test ANYDML_LATER_WORKSPACE=1000)
  set_property(TEST graph_api_test_workspace_on_later PROPERTY LABELS long)
  # The device rejects joined steps although its traits allow them. Graphs must still produce the same bits, and the log
  # reports the rejection once.
  anydml_test_later(graph_joins_test_apart graph_joins_test ANYDML_LATER_APART=1)
  set_tests_properties(graph_joins_test_apart_on_later PROPERTIES
    PASS_REGULAR_EXPRESSION "cannot join the steps.*PASSED" FAIL_REGULAR_EXPRESSION "cannot join.*cannot join;FAILED")
endif()
