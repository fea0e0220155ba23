# SPDX-License-Identifier: MIT
# The tests load the libraries by their bare names, as programs do.
anydml_test(dxcore_test LIBRARIES anydml_directx_headers ${CMAKE_DL_LIBS}
            ENVIRONMENT LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/lib/anydml)
add_dependencies(dxcore_test anydml_lib_dxcore)
add_test(NAME dxcore_test_with_graphics COMMAND dxcore_test)
set_tests_properties(dxcore_test_with_graphics PROPERTIES
  ENVIRONMENT "LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/lib/anydml;ANYDML_GRAPHICS=1;${without_leak_check}")

# These programs use the DirectML API through the public headers and the three libraries.
foreach(test d3d12_test directml_test dred_test threads_test asynchronous_test waiting_test cancellation_test soak_test
             graph_test)
  anydml_test(${test} LIBRARIES anydml::directml anydml::anydml)
endforeach()
# A benchmark, not a test: cmake --build build/release --target chains_bench
add_executable(chains_bench EXCLUDE_FROM_ALL directml/chains_bench.cpp)
set_target_properties(chains_bench PROPERTIES CXX_EXTENSIONS OFF)
target_include_directories(chains_bench PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(chains_bench PRIVATE anydml_options GTest::gtest anydml::directml anydml::anydml)
foreach(test directml_bad_input_test directml_allocation_failure_test exhaustion_test description_fuzz_test
             messages_test debug_reports_test typed_operators_test other_operators_test)
  anydml_test(${test} NO_RACES LIBRARIES anydml::directml anydml::anydml)
endforeach()
# Tests the debug layer's checks, with a program that makes each mistake and a program that does not.
anydml_test(debug_layer_test SOURCE directml/debug_barriers_test.cpp LIBRARIES anydml::directml anydml::anydml)
target_sources(debug_layer_test PRIVATE directml/debug_lifetimes_test.cpp)
# These are programs as real clients write them. The debug layer must find nothing wrong with them.
anydml_test(debug_clients_test LIBRARIES anydml::directml anydml::anydml)
if(TARGET debug_reports_test)  # the test runs many processes, and the leak check takes seconds in each
  set_property(TEST debug_reports_test APPEND PROPERTY ENVIRONMENT ${without_leak_check})
endif()
anydml_test(random_graphs_test COMPUTES
            LIBRARIES anydml::directml anydml::anydml anydml_operators anydml_schema)
target_sources(random_graphs_test PRIVATE directml/random_graph.cpp)
anydml_test(graph_fuzz_test COMPUTES NO_RACES
            LIBRARIES anydml::directml anydml::anydml anydml_operators anydml_schema)
if(TARGET graph_fuzz_test)
  target_sources(graph_fuzz_test PRIVATE directml/random_graph.cpp)
endif()
anydml_test(directml_changed_tensors_test SOURCE directml/changed_tensors_test.cpp NO_RACES LABELS long
            LIBRARIES anydml::directml anydml::anydml anydml_schema ENVIRONMENT ANYDML_LOG=none)
if(TARGET directml_changed_tensors_test)
  target_sources(directml_changed_tensors_test PRIVATE support/changed_tensors.cpp support/random_operator.cpp)
endif()
# Tests run in the order of these files; the debug layer, enabled for the whole process, comes last.
target_sources(d3d12_test PRIVATE
  directml/d3d12_queues_test.cpp directml/d3d12_fences_test.cpp directml/d3d12_objects_test.cpp)
target_sources(directml_test PRIVATE
  directml/directml_bindings_test.cpp directml/directml_initializer_test.cpp directml/directml_names_test.cpp
  directml/directml_removal_test.cpp)
if(TARGET directml_bad_input_test)
  target_sources(directml_bad_input_test PRIVATE
    directml/bad_input_descriptions.cpp directml/bad_input_objects.cpp directml/bad_input_graphs.cpp
    directml/bad_input_bindings.cpp)
endif()
anydml_test(read_desc_test NO_RACES LIBRARIES anydml_directml anydml_text)
if(TARGET read_desc_test)
  target_sources(read_desc_test PRIVATE ${PROJECT_SOURCE_DIR}/src/directml/read_desc.cpp)
  target_include_directories(read_desc_test PRIVATE ${PROJECT_SOURCE_DIR}/include)
endif()
anydml_test(directml_unbuilt_test SOURCE directml/unbuilt_test.cpp NO_RACES LIBRARIES anydml_directml anydml_elementwise
  anydml_text)
if(TARGET directml_unbuilt_test)
  target_sources(directml_unbuilt_test PRIVATE support/hidden_operator.cpp ${PROJECT_SOURCE_DIR}/src/directml/read_desc.cpp
    ${PROJECT_SOURCE_DIR}/src/directml/operator_desc.cpp)
  target_include_directories(directml_unbuilt_test PRIVATE ${PROJECT_SOURCE_DIR}/include)
endif()
add_executable(loading directml/loading.cpp)
target_include_directories(loading PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(loading PRIVATE anydml_options anydml_directx_headers ${CMAKE_DL_LIBS})
add_dependencies(loading anydml_lib_dxcore anydml_lib_d3d12 anydml_lib_directml)
foreach(order dxcore d3d12 directml "dxcore d3d12 directml" "dxcore directml d3d12" "d3d12 dxcore directml"
              "d3d12 directml dxcore" "directml dxcore d3d12" "directml d3d12 dxcore" "d3d12 directml")
  string(REPLACE " " ";" libraries ${order})
  string(REPLACE " " "_" name ${order})
  add_test(NAME loading_${name} COMMAND loading ${libraries})
  set_tests_properties(loading_${name} PROPERTIES
    ENVIRONMENT "LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/lib/anydml;${without_leak_check}")
endforeach()
# Tests the libraries with a libanydml from a different build. This program stands in for that build.
add_executable(beside_another_build directml/other_build.cpp)
set_target_properties(beside_another_build PROPERTIES CXX_EXTENSIONS OFF ENABLE_EXPORTS ON)
target_include_directories(beside_another_build PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(beside_another_build PRIVATE anydml_options anydml_directx_headers anydml_backend_table anydml_base
                                          ${CMAKE_DL_LIBS})
add_dependencies(beside_another_build anydml_lib_dxcore anydml_lib_d3d12 anydml_lib_directml)
add_test(NAME other_build COMMAND ${CMAKE_CURRENT_LIST_DIR}/other_build.sh $<TARGET_FILE:beside_another_build>)
set_tests_properties(other_build PROPERTIES
  ENVIRONMENT "LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/lib/anydml;${without_leak_check}")
if(ANYDML_BUILD_EXAMPLES)
  add_test(NAME settings COMMAND ${CMAKE_CURRENT_LIST_DIR}/settings.sh $<TARGET_FILE:directml_modulus>)
  add_test(NAME hello_directml COMMAND hello_directml)  # docs/porting.md ends with this program
  add_test(NAME directml_graph COMMAND directml_graph)  # docs/graphs.md shows its output
  set_tests_properties(directml_graph PROPERTIES PASS_REGULAR_EXPRESSION "^0.333333 0.333333 0.333333\n0 1 0\n$")
  set_tests_properties(settings PROPERTIES ENVIRONMENT ${without_leak_check})
  # The debug layer finds nothing wrong with the examples.
  foreach(example hello_directml directml_graph directml_modulus)
    add_test(NAME ${example}_debugged COMMAND ${example})
    set_tests_properties(${example}_debugged PROPERTIES
      ENVIRONMENT "ANYDML_DEBUG=abort;${without_leak_check}" FAIL_REGULAR_EXPRESSION "anydml: ")
  endforeach()
endif()
# anydml_test_debugged(PROGRAM [MISTAKES filter] [WITHOUT filter] [LABELS ...] [ENVIRONMENT ...]): runs a program again
# with the debug layer, which changes no result and finds no mistakes.
# MISTAKES: the cases that break D3D12's rules on purpose; they run separately.
# WITHOUT: the cases that are not worth repeating.
set(mistakes_found "expected a UAV barrier between them" "expected an aliasing barrier" "expected a transition from"
                   "expected no transition" "has StateBefore" "split barrier" "expected this queue to wait"
                   "may still need" "may still be writing" "may still be running" "its command allocator"
                   "its operator or initializer was released" "expected two buffers" "combines a state for writing"
                   "but the buffer was created without" "a list of type COPY does not know")
function(anydml_test_debugged program)
  cmake_parse_arguments(PARSE_ARGV 1 DEBUGGED "" "MISTAKES;WITHOUT" "LABELS;ENVIRONMENT")
  if(NOT TARGET ${program})
    return()
  endif()
  set(environment ANYDML_DEBUG=1 ${without_leak_check} ${DEBUGGED_ENVIRONMENT})
  add_test(NAME ${program}_debugged COMMAND ${program} --gtest_filter=-${DEBUGGED_MISTAKES}:${DEBUGGED_WITHOUT})
  set_tests_properties(${program}_debugged PROPERTIES ENVIRONMENT "${environment}" LABELS "${DEBUGGED_LABELS}"
    FAIL_REGULAR_EXPRESSION "${mistakes_found}")
  if(DEBUGGED_MISTAKES)
    add_test(NAME ${program}_debugged_mistakes COMMAND ${program} --gtest_filter=${DEBUGGED_MISTAKES})
    set_tests_properties(${program}_debugged_mistakes PROPERTIES ENVIRONMENT "${environment}")
  endif()
endfunction()
foreach(test threads_test graph_test cancellation_test directml_bad_input_test messages_test typed_operators_test
             other_operators_test random_graphs_test graph_fuzz_test)
  anydml_test_debugged(${test})
endforeach()
anydml_test_debugged(description_fuzz_test ENVIRONMENT ANYDML_FUZZ_ROUNDS=4000)
anydml_test_debugged(d3d12_test MISTAKES Queues.ReleasedWhileWorkIsInFlight)
anydml_test_debugged(directml_test MISTAKES Objects.EverythingReleasedWhileWorkIsInFlight)
anydml_test_debugged(dred_test MISTAKES Dred.CountsEveryListOfASubmission)
anydml_test_debugged(asynchronous_test MISTAKES Asynchronous.EverythingMayBeReleasedInTheWrongOrder)
anydml_test_debugged(waiting_test MISTAKES Abandoned.AQueueReleasedWithItsFenceEnds
                     WITHOUT Abandoned.TheDeviceIsRemoved*:Abandoned.AnEventOf*)  # they wait two seconds each
if(TARGET messages_test)
  add_test(NAME messages_test_with_log COMMAND messages_test)
  set_tests_properties(messages_test_with_log PROPERTIES ENVIRONMENT "ANYDML_LOG=info;${without_leak_check}")
  add_test(NAME messages_test_without_log COMMAND messages_test)
  set_tests_properties(messages_test_without_log PROPERTIES ENVIRONMENT "ANYDML_LOG=none;${without_leak_check}")
endif()
anydml_test(levels_test NO_RACES LIBRARIES anydml::directml anydml::anydml)
anydml_test_debugged(levels_test)
if(TARGET levels_test)
  foreach(level 1_0 2_0 2_1 3_0 3.1 5_2 6_0)
    add_test(NAME levels_test_${level} COMMAND levels_test)
    set_tests_properties(levels_test_${level} PROPERTIES
      ENVIRONMENT "ANYDML_FEATURE_LEVEL=${level};${without_leak_check}")
  endforeach()
endif()
anydml_test_on_later(d3d12_test directml_test dred_test debug_layer_test debug_clients_test threads_test
                     asynchronous_test directml_bad_input_test waiting_test cancellation_test typed_operators_test
                     graph_test random_graphs_test)
if(ANYDML_BUILD_EXAMPLES)
  # The networks in examples/networks must match digests shared by every target, device and number of threads.
  anydml_test(networks_test NO_RACES LABELS long LIBRARIES anydml_networks
              ENVIRONMENT ANYDML_THREADS=2)
  if(TARGET networks_test)
    target_compile_definitions(networks_test PRIVATE
      ANYDML_NETWORK_DIGESTS="${PROJECT_SOURCE_DIR}/data/digests/network_digests.txt")
  endif()
  anydml_test_debugged(networks_test WITHOUT *RunWithoutAllocations* LABELS long ENVIRONMENT ANYDML_THREADS=2)
  if(NOT ANYDML_SANITIZE)
    add_test(NAME networks_test_one_thread COMMAND networks_test)
    set_tests_properties(networks_test_one_thread PROPERTIES LABELS repeats ENVIRONMENT ANYDML_THREADS=1)
    # Skips the network that is slowest with these kernels.
    add_test(NAME networks_test_generic COMMAND networks_test --gtest_filter=*SameBits*-*style)
    set_tests_properties(networks_test_generic PROPERTIES LABELS repeats
      ENVIRONMENT "ANYDML_THREADS=2;ANYDML_CPU_TARGET=generic")
  endif()
  if(TARGET network AND NOT ANYDML_SANITIZE)
    add_test(NAME network_program COMMAND network transformer --size 16 --depth 1 --runs 1)
    set_tests_properties(network_program PROPERTIES LABELS long
      PASS_REGULAR_EXPRESSION "class  probability.*transformer: [0-9]+ nodes")
    foreach(network mobilenet squeezenet style superresolution lstm transformer)
      add_test(NAME network_${network}_debugged COMMAND network ${network} --size 48 --runs 2)
      set_tests_properties(network_${network}_debugged PROPERTIES LABELS long
        ENVIRONMENT "ANYDML_DEBUG=abort;ANYDML_THREADS=2" FAIL_REGULAR_EXPRESSION "anydml: ")
    endforeach()
  endif()
endif()
# The errors from a device that lacks operators and types. No other device is available to the program.
add_executable(lacking_test directml/lacking_test.cpp)
set_target_properties(lacking_test PROPERTIES CXX_EXTENSIONS OFF)
target_include_directories(lacking_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_options(lacking_test PRIVATE ${light})
target_link_libraries(lacking_test PRIVATE anydml_options GTest::gtest_main anydml::directml anydml::anydml
                                           anydml_test_options)
anydml_test_later(lacking_test lacking_test ANYDML_LATER_LACKS=PRODUCT,REDUCE,FLOAT64,INT4)
anydml_test_later(random_graphs_test_workspace random_graphs_test ANYDML_LATER_WORKSPACE=1000)
anydml_test_later(random_graphs_test_apart random_graphs_test ANYDML_LATER_APART=1)
# The device fails while it works, and when work is submitted.
foreach(run 1 -1)
  add_test(NAME fault_${run}_on_later COMMAND asynchronous_test --gtest_filter=AsynchronousFault.*)
  set_tests_properties(fault_${run}_on_later PROPERTIES
    ENVIRONMENT "${on_later};ANYDML_LATER_FAILS=${run};ANYDML_THREADS=2;${without_leak_check}")
endforeach()
anydml_test(conformance_test FAST NO_RACES LABELS long LIBRARIES anydml::directml anydml::anydml anydml_base)
if(NOT ANYDML_SANITIZE)  # the scripts compile programs without sanitizers
  add_test(NAME directml_headers COMMAND ${CMAKE_CURRENT_LIST_DIR}/headers.sh ${ANYDML_PYTHON}
                                         ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/directml)
endif()
