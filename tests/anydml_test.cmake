# SPDX-License-Identifier: MIT
# The functions that declare tests, and their common settings.

# Compile options for programs that do little computation themselves (without optimization, they compile in two thirds of
# the time), and for those that would then run too long.
set(light $<$<CONFIG:Release>:-O0>)
set(medium $<$<CONFIG:Release>:-O1>)
if(ANYDML_SANITIZE)
  set(light -O0)
  set(medium -O0)
endif()

# Only the library is checked for undefined behavior, since checking the tests would double their compile time. The
# option is in a library that is linked last, because it must come after the options of anydml_options.
add_library(anydml_test_options INTERFACE)
if(ANYDML_SANITIZE STREQUAL "address,undefined")
  target_compile_options(anydml_test_options INTERFACE -fno-sanitize=undefined)
endif()

# GoogleTest's headers add a second to the compile time of every file, so they are precompiled once for each of the
# sets of compile options. This requires GCC: other compilers do not share them between programs with different
# definitions.
function(anydml_test_headers name)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp "")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(${name} PRIVATE anydml_options GTest::gtest anydml_test_options)
  target_compile_options(${name} PRIVATE ${ARGN})
  target_precompile_headers(${name} PRIVATE <gtest/gtest.h> <algorithm> <map> <random> <span> <string> <thread> <vector>)
endfunction()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  anydml_test_headers(anydml_test_headers_light ${light})
  anydml_test_headers(anydml_test_headers_medium ${medium})
  anydml_test_headers(anydml_test_headers_fast)
endif()

# anydml_test(NAME [SOURCE file] [ARGUMENTS argument] [FAST] [COMPUTES] [NO_RACES] LIBRARIES ... [LABELS ...] [ENVIRONMENT ...])
# The source is NAME.cpp in the folder of the calling file, unless SOURCE names a different file, relative to tests/.
# FAST: the test computes a lot and is optimized like a program; other tests compile in half the time.
# COMPUTES: the test, or a repetition of it, would lose more time without optimization than its compilation saves. The same
# holds for tests that are labeled long.
# NO_RACES: the test has one thread, or other tests use threads in the same way; the ThreadSanitizer build omits it.
function(anydml_test name)
  cmake_parse_arguments(PARSE_ARGV 1 TEST "FAST;COMPUTES;NO_RACES" "SOURCE;ARGUMENTS" "LIBRARIES;LABELS;ENVIRONMENT")
  if(TEST_NO_RACES AND ANYDML_SANITIZE STREQUAL "thread")
    return()
  endif()
  if(NOT TEST_SOURCE)
    set(TEST_SOURCE ${CMAKE_CURRENT_LIST_DIR}/${name}.cpp)
  endif()
  add_executable(${name} ${TEST_SOURCE})
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  if(NOT ANYDML_BUILD_PROOFS AND "long" IN_LIST TEST_LABELS)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE anydml_options GTest::gtest_main ${TEST_LIBRARIES} anydml_test_options)
  set(way light)
  set(fast)  # no further options
  if(TEST_FAST)
    set(way fast)
  elseif(TEST_COMPUTES OR "long" IN_LIST TEST_LABELS)
    set(way medium)
  endif()
  target_compile_options(${name} PRIVATE ${${way}})
  if(TARGET anydml_test_headers_${way})
    target_precompile_headers(${name} REUSE_FROM anydml_test_headers_${way})
  endif()
  add_test(NAME ${name} COMMAND ${name} ${TEST_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" ENVIRONMENT "${TEST_ENVIRONMENT}" TIMEOUT 1500)
endfunction()

# On Arm a leak check takes four seconds, so a program skips it when it runs again with a different setting.
set(without_leak_check ASAN_OPTIONS=detect_leaks=0)

# An asynchronous device with its own memory, which stands in for a GPU (plugin/later_backend.cpp).
set(plugin_folder ${CMAKE_CURRENT_BINARY_DIR}/plugins)
set(on_later ANYDML_PLUGINS=${plugin_folder} ANYDML_ADAPTER=later)
# anydml_test_on_later(PROGRAM ...): runs programs on the asynchronous test device.
function(anydml_test_on_later)
  foreach(test ${ARGN})
    if(TARGET ${test})
      add_dependencies(${test} anydml_later)
      add_test(NAME ${test}_on_later COMMAND ${test})
      set_tests_properties(${test}_on_later PROPERTIES ENVIRONMENT "${on_later};ANYDML_THREADS=2;${without_leak_check}")
    endif()
  endforeach()
endfunction()
# anydml_test_later(NAME PROGRAM SETTING): runs a program on the asynchronous test device with an environment setting.
function(anydml_test_later name program setting)
  if(TARGET ${program})
    add_dependencies(${program} anydml_later)
    add_test(NAME ${name}_on_later COMMAND ${program} ${ARGN})
    set_tests_properties(${name}_on_later PROPERTIES
      ENVIRONMENT "${on_later};${setting};ANYDML_LOG=info;ANYDML_THREADS=2;${without_leak_check}")
  endif()
endfunction()

# The programs and oracles that cuda/tests.cmake also runs on a GPU.
set(tests_on_cuda)
set(oracles_on_cuda)

# anydml_family_test(NAME [AGAIN filter] [NO_RACES] [CPU_ONLY] LIBRARIES ... [LABELS ...])
# Declares the compute-heavy test NAME.cpp. It runs with three threads, and again with one thread and the generic
# kernels, because the results must be bit-identical. Builds with sanitizers omit these repetitions.
# AGAIN: a filter for the tests to repeat (default: all). With ThreadSanitizer, only these tests run.
# CPU_ONLY: GPUs do not support the operators yet.
function(anydml_family_test name)
  cmake_parse_arguments(PARSE_ARGV 1 FAMILY "NO_RACES;CPU_ONLY" AGAIN "LIBRARIES;LABELS")
  set(no_races)
  if(FAMILY_NO_RACES)
    set(no_races NO_RACES)
  endif()
  set(some)
  if(FAMILY_AGAIN AND ANYDML_SANITIZE STREQUAL "thread")  # the omitted types use threads in the same way
    set(some ARGUMENTS --gtest_filter=${FAMILY_AGAIN})
  endif()
  anydml_test(${name} FAST ${no_races} ${some} LIBRARIES ${FAMILY_LIBRARIES} LABELS ${FAMILY_LABELS}
              ENVIRONMENT ANYDML_THREADS=3)
  if(NOT ANYDML_SANITIZE)
    set(again ${name})
    if(FAMILY_AGAIN)
      list(APPEND again --gtest_filter=${FAMILY_AGAIN})
    endif()
    add_test(NAME ${name}_one_thread COMMAND ${again})
    add_test(NAME ${name}_generic COMMAND ${again})
    # The repetition with the generic kernels is also the one with a single thread. The vector kernels in a single thread
    # run with --exhaustive.
    set_tests_properties(${name}_one_thread PROPERTIES LABELS exhaustive ENVIRONMENT ANYDML_THREADS=1)
    set_tests_properties(${name}_generic PROPERTIES LABELS repeats
      ENVIRONMENT "ANYDML_THREADS=1;ANYDML_CPU_TARGET=generic")
  endif()
  if(NOT FAMILY_CPU_ONLY)
    set(tests_on_cuda ${tests_on_cuda} ${name} PARENT_SCOPE)
  endif()
endfunction()

# anydml_oracle(NAME [CPU_ONLY]): runs ops/NAME_oracle.py, which compares the library with independent results.
function(anydml_oracle name)
  if(NOT "CPU_ONLY" IN_LIST ARGN)
    set(oracles_on_cuda ${oracles_on_cuda} ${name}_oracle PARENT_SCOPE)
  endif()
  if(ANYDML_SANITIZE OR NOT ANYDML_NUMPY_PYTHON)
    return()
  endif()
  foreach(way "" _generic)
    add_test(NAME ${name}_oracle${way}
      COMMAND ${ANYDML_NUMPY_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/ops/${name}_oracle.py $<TARGET_FILE:anydml>)
  endforeach()
  set_tests_properties(${name}_oracle PROPERTIES LABELS long ENVIRONMENT ANYDML_THREADS=3)
  # The families' own tests and the digests already check the generic kernels in every run.
  set_tests_properties(${name}_oracle_generic PROPERTIES LABELS exhaustive
    ENVIRONMENT "ANYDML_THREADS=1;ANYDML_CPU_TARGET=generic")
endfunction()
