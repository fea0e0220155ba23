# SPDX-License-Identifier: MIT
# The tests of the families of operators. Each program runs with three threads, and again with fewer threads and with the
# kernels for any machine, because the results have to be the same bits. ./test --quick leaves the repetitions out, and so do
# the sanitizers. Oracles run with three threads, and with the kernels for any machine in ./test --exhaustive.

set(tests_on_cuda)
set(oracles_on_cuda)

# anydml_family_test(NAME [AGAIN filter] [CPU_ONLY] LIBRARIES ...)
# NAME.cpp, which computes much itself. AGAIN: the tests of it that run again, and with ThreadSanitizer; all of them if it
# is not given. CPU_ONLY: GPUs do not have the operators yet.
function(anydml_family_test name)
  cmake_parse_arguments(PARSE_ARGV 1 FAMILY "NO_RACES;CPU_ONLY" AGAIN "LIBRARIES")
  set(no_races)
  if(FAMILY_NO_RACES)
    set(no_races NO_RACES)
  endif()
  set(some)
  if(FAMILY_AGAIN AND ANYDML_SANITIZE STREQUAL "thread")  # other types have the same threads
    set(some ARGUMENTS --gtest_filter=${FAMILY_AGAIN})
  endif()
  anydml_test(${name} FAST ${no_races} ${some} LIBRARIES ${FAMILY_LIBRARIES} ENVIRONMENT ANYDML_THREADS=3)
  if(NOT ANYDML_SANITIZE)
    set(again ${name})
    if(FAMILY_AGAIN)
      list(APPEND again --gtest_filter=${FAMILY_AGAIN})
    endif()
    add_test(NAME ${name}_one_thread COMMAND ${again})
    add_test(NAME ${name}_generic COMMAND ${again})
    set_tests_properties(${name}_one_thread PROPERTIES LABELS repeats ENVIRONMENT ANYDML_THREADS=1)
    set_tests_properties(${name}_generic PROPERTIES LABELS repeats
      ENVIRONMENT "ANYDML_THREADS=2;ANYDML_CPU_TARGET=generic")
  endif()
  if(NOT FAMILY_CPU_ONLY)
    set(tests_on_cuda ${tests_on_cuda} ${name} PARENT_SCOPE)
  endif()
endfunction()

# anydml_oracle(NAME [CPU_ONLY]): NAME_oracle.py, which compares the library with answers that are not its own.
function(anydml_oracle name)
  if(NOT "CPU_ONLY" IN_LIST ARGN)
    set(oracles_on_cuda ${oracles_on_cuda} ${name}_oracle PARENT_SCOPE)
  endif()
  if(ANYDML_SANITIZE OR NOT ANYDML_NUMPY_PYTHON)
    return()
  endif()
  foreach(way "" _generic)
    add_test(NAME ${name}_oracle${way}
      COMMAND ${ANYDML_NUMPY_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/${name}_oracle.py $<TARGET_FILE:anydml>)
  endforeach()
  set_tests_properties(${name}_oracle PROPERTIES ENVIRONMENT ANYDML_THREADS=3)
  # The families' own tests and the digests hold the kernels for any machine to the same bits in every run.
  set_tests_properties(${name}_oracle_generic PROPERTIES LABELS exhaustive
    ENVIRONMENT "ANYDML_THREADS=1;ANYDML_CPU_TARGET=generic")
endfunction()

anydml_family_test(reduce_test AGAIN Reduce/FLOAT* LIBRARIES anydml::anydml anydml_base)
anydml_family_test(convolution_test AGAIN Convolution.* LIBRARIES anydml::anydml anydml_graph anydml_product)
anydml_family_test(integer_convolution_test AGAIN IntegerConvolution.* LIBRARIES anydml::anydml anydml_backend
  anydml_graph anydml_product anydml_product_cpu)
anydml_family_test(product_test AGAIN Product.* LIBRARIES anydml::anydml anydml_graph anydml_product)
anydml_family_test(half_product_test NO_RACES AGAIN HalfProduct.* LIBRARIES anydml::anydml anydml_backend anydml_programs
  anydml_product)
anydml_family_test(integer_product_test NO_RACES AGAIN IntegerProduct.* LIBRARIES anydml::anydml anydml_backend
  anydml_graph anydml_product anydml_product_cpu)
anydml_family_test(normalise_test AGAIN *Large*:*FLOAT16* LIBRARIES anydml::anydml anydml_normalise)
anydml_family_test(gather_test LIBRARIES anydml::anydml anydml_base)
anydml_family_test(gradient_test NO_RACES AGAIN Gradient.AnyLayouts:*Greatest LIBRARIES anydml::anydml anydml_backend
  anydml_resample anydml_resample_cpu anydml_scalar)
anydml_family_test(fold_test NO_RACES LIBRARIES anydml::anydml)
anydml_family_test(quantize_test LIBRARIES anydml::anydml anydml_quantize)
anydml_family_test(resample_test NO_RACES AGAIN Resample.AnyLayouts LIBRARIES anydml::anydml anydml_backend anydml_resample
  anydml_resample_cpu)
anydml_family_test(pool_test NO_RACES LIBRARIES anydml::anydml anydml_scalar)
anydml_family_test(attention_test AGAIN Attention.* LIBRARIES anydml::anydml anydml_backend
  anydml_graph anydml_attention anydml_attention_cpu anydml_scalar)
anydml_family_test(regions_test NO_RACES AGAIN Regions.AnyLayouts LIBRARIES anydml::anydml anydml_backend anydml_regions
  anydml_regions_cpu)
anydml_family_test(random_test NO_RACES LIBRARIES anydml::anydml anydml_backend anydml_random anydml_random_cpu)
anydml_family_test(scan_test AGAIN Scan/FLOAT*:Scan/UINT8* LIBRARIES anydml::anydml anydml_base)
anydml_family_test(moments_test AGAIN *Large*:*FLOAT16* LIBRARIES anydml::anydml anydml_scalar)
anydml_family_test(training_test AGAIN *Large*:*FLOAT16* LIBRARIES anydml::anydml anydml_graph anydml_elementwise
  anydml_normalise)
anydml_family_test(move_test NO_RACES LIBRARIES anydml::anydml anydml_backend anydml_move anydml_move_cpu)
anydml_family_test(recurrent_test AGAIN Recurrent.* LIBRARIES anydml::anydml anydml_scalar)
anydml_family_test(sort_test NO_RACES AGAIN *Large*:Sort/0.*:Sort/1.* LIBRARIES anydml::anydml anydml_base)

anydml_oracle(convolution)
anydml_oracle(integer_convolution)
anydml_oracle(gather)
anydml_oracle(gradient)
anydml_oracle(move)
anydml_oracle(fold)
anydml_oracle(pool)
anydml_oracle(quantize)
anydml_oracle(normalise)
anydml_oracle(product)
anydml_oracle(double_product)
anydml_oracle(integer_product)
anydml_oracle(softmax)
anydml_oracle(reduce)
anydml_oracle(sort)

# Every operator with each of its tensors changed, between guard pages.
anydml_test(changed_tensors_test NO_RACES LIBRARIES anydml::anydml anydml_plan anydml_schema
  ENVIRONMENT ANYDML_THREADS=3)
if(TARGET changed_tensors_test)
  target_sources(changed_tensors_test PRIVATE support/changed_tensors.cpp support/random_operator.cpp)
  list(APPEND tests_on_cuda changed_tensors_test)
endif()

# Whole operators of all families against digests of what they gave before. ./test --quick leaves the repetitions out.
add_executable(operator_digests operator_digests.cpp support/random_operator.cpp)
set_target_properties(operator_digests PROPERTIES CXX_EXTENSIONS OFF)
target_include_directories(operator_digests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(operator_digests PRIVATE anydml_options anydml::anydml anydml_schema)
target_compile_options(operator_digests PRIVATE ${light})
target_compile_definitions(operator_digests PRIVATE
  ANYDML_OPERATOR_DIGESTS="${PROJECT_SOURCE_DIR}/data/digests/operator_digests.txt")
list(APPEND tests_on_cuda operator_digests)
if(NOT ANYDML_SANITIZE STREQUAL "thread")  # its tensors are small, and the families' own tests have threads
  # With sanitizers a case takes several times as long, and some of them reach every kernel.
  set(every 1)
  if(ANYDML_SANITIZE)
    set(every 4)
  endif()
  add_test(NAME operator_digests COMMAND operator_digests --every ${every})
  set_tests_properties(operator_digests PROPERTIES ENVIRONMENT ANYDML_THREADS=3)
endif()
if(NOT ANYDML_SANITIZE)
  add_test(NAME operator_digests_upwards COMMAND operator_digests --upwards --every 2)
  set_tests_properties(operator_digests_upwards PROPERTIES LABELS repeats ENVIRONMENT ANYDML_THREADS=2)
  add_test(NAME operator_digests_generic COMMAND operator_digests)
  set_tests_properties(operator_digests_generic PROPERTIES LABELS repeats
    ENVIRONMENT "ANYDML_THREADS=1;ANYDML_CPU_TARGET=generic")
  # On a device that has the plans of a GPU, and the CPU's kernels.
  anydml_test_later(operator_digests operator_digests ANYDML_THREADS=2 --every 2)
endif()
anydml_oracle(resample)
anydml_oracle(scan)
anydml_oracle(recurrent)
anydml_oracle(training)
anydml_oracle(attention)
anydml_oracle(regions)
anydml_oracle(random)
