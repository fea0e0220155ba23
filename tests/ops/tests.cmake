# SPDX-License-Identifier: MIT
# The operator tests: first those for all operators, then family by family.

if(NOT ANYDML_SANITIZE)  # scalar_test only checks definitions, which allocate nothing
  anydml_test(scalar_test FAST LABELS long LIBRARIES anydml_scalar ${MPFR_LIBRARY} ${GMP_LIBRARY})
  target_include_directories(scalar_test PRIVATE ${MPFR_INCLUDE_DIR})
endif()
if(NOT ANYDML_SANITIZE)  # with sanitizers, exhaustive_test would take hours
  # One thread in the library: the test starts its own threads, each with its own divisors.
  anydml_test(exhaustive_test FAST LIBRARIES anydml::anydml anydml_base LABELS exhaustive ENVIRONMENT ANYDML_THREADS=1)
endif()
# Pairs of the wider types; ./test --exhaustive tests a billion of each.
if(ANYDML_SANITIZE)
  set(sweep_pairs 131072)
else()
  set(sweep_pairs 4194304)
endif()
anydml_test(sweep_test FAST NO_RACES LIBRARIES anydml::anydml anydml_scalar
            ENVIRONMENT ANYDML_THREADS=1 ANYDML_SWEEP_PAIRS=${sweep_pairs})
if(TARGET sweep_test)
  add_test(NAME sweep_of_a_thousand_million COMMAND sweep_test)
  set_tests_properties(sweep_of_a_thousand_million PROPERTIES LABELS proof TIMEOUT 14400
    ENVIRONMENT "ANYDML_THREADS=1;ANYDML_SWEEP_PAIRS=1000000000;ANYDML_SWEEP_ORACLE_EVERY=16")
endif()
anydml_test(layout_test FAST LIBRARIES anydml::anydml anydml_scalar ENVIRONMENT ANYDML_THREADS=3)
if(NOT ANYDML_SANITIZE)
  add_test(NAME layout_test_generic COMMAND layout_test)
  set_tests_properties(layout_test_generic PROPERTIES LABELS repeats
    ENVIRONMENT "ANYDML_THREADS=1;ANYDML_CPU_TARGET=generic")
  anydml_test_on_later(layout_test)
  set_property(TEST layout_test_on_later PROPERTY LABELS long)
endif()
# Python is not built with sanitizers and cannot load a library that is.
if(ANYDML_NUMPY_PYTHON AND NOT ANYDML_SANITIZE)
  add_test(NAME numpy_oracle
    COMMAND ${ANYDML_NUMPY_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/numpy_oracle.py $<TARGET_FILE:anydml>)
  set_tests_properties(numpy_oracle PROPERTIES LABELS long)
endif()

anydml_family_test(reduce_test AGAIN Reduce/FLOAT* LABELS long LIBRARIES anydml::anydml anydml_base)
anydml_family_test(convolution_test AGAIN Convolution.* LABELS long LIBRARIES anydml::anydml anydml_graph
  anydml_product)
anydml_family_test(integer_convolution_test AGAIN IntegerConvolution.* LABELS long LIBRARIES anydml::anydml
  anydml_backend anydml_graph anydml_product anydml_product_cpu)
anydml_family_test(product_test AGAIN Product.* LIBRARIES anydml::anydml anydml_graph anydml_product)
anydml_family_test(coded_product_test AGAIN CodedProduct.* LIBRARIES anydml::anydml anydml_base anydml_graph
  anydml_product)
anydml_family_test(half_product_test NO_RACES AGAIN HalfProduct.* LABELS long LIBRARIES anydml::anydml anydml_backend
  anydml_programs anydml_product)
anydml_family_test(integer_product_test NO_RACES AGAIN IntegerProduct.* LABELS long LIBRARIES anydml::anydml
  anydml_backend anydml_graph anydml_product anydml_product_cpu)
anydml_family_test(normalize_test AGAIN *Large*:*FLOAT16* LABELS long LIBRARIES anydml::anydml anydml_normalize)
anydml_family_test(gather_test LIBRARIES anydml::anydml anydml_base)
anydml_family_test(gradient_test NO_RACES AGAIN Gradient.AnyLayouts:*Greatest LABELS long LIBRARIES anydml::anydml
  anydml_backend anydml_resample anydml_resample_cpu anydml_scalar)
anydml_family_test(fold_test NO_RACES LIBRARIES anydml::anydml)
anydml_family_test(quantize_test LABELS long LIBRARIES anydml::anydml anydml_quantize)
anydml_family_test(resample_test NO_RACES AGAIN Resample.AnyLayouts LIBRARIES anydml::anydml anydml_backend
  anydml_resample anydml_resample_cpu)
anydml_family_test(pool_test NO_RACES LABELS long LIBRARIES anydml::anydml anydml_scalar)
anydml_family_test(attention_test AGAIN Attention.* LABELS long LIBRARIES anydml::anydml anydml_backend
  anydml_graph anydml_attention anydml_attention_cpu anydml_scalar)
anydml_family_test(regions_test NO_RACES AGAIN Regions.AnyLayouts LABELS long LIBRARIES anydml::anydml anydml_backend
  anydml_regions anydml_regions_cpu)
anydml_family_test(random_test NO_RACES LIBRARIES anydml::anydml anydml_backend anydml_random anydml_random_cpu)
anydml_family_test(scan_test AGAIN Scan/FLOAT*:Scan/UINT8* LABELS long LIBRARIES anydml::anydml anydml_base)
anydml_family_test(moments_test AGAIN *Large*:*FLOAT16* LABELS long LIBRARIES anydml::anydml anydml_scalar)
anydml_family_test(training_test AGAIN *Large*:*FLOAT16* LABELS long LIBRARIES anydml::anydml anydml_graph
  anydml_elementwise anydml_normalize)
anydml_family_test(move_test NO_RACES LIBRARIES anydml::anydml anydml_backend anydml_move anydml_move_cpu)
anydml_family_test(recurrent_test AGAIN Recurrent.* LABELS long LIBRARIES anydml::anydml anydml_scalar)
anydml_family_test(sort_test NO_RACES AGAIN *Large*:Sort/0.*:Sort/1.* LABELS long LIBRARIES anydml::anydml anydml_base)

anydml_oracle(convolution)
anydml_oracle(integer_convolution)
anydml_oracle(gather)
anydml_oracle(gradient)
anydml_oracle(move)
anydml_oracle(fold)
anydml_oracle(pool)
anydml_oracle(quantize)
anydml_oracle(normalize)
anydml_oracle(product)
anydml_oracle(double_product)
anydml_oracle(coded_product CPU_ONLY)  # other devices do not read codes
anydml_oracle(integer_product)
anydml_oracle(softmax)
anydml_oracle(reduce)
anydml_oracle(sort)
anydml_oracle(resample)
anydml_oracle(scan)
anydml_oracle(recurrent)
anydml_oracle(integer_recurrent CPU_ONLY)  # other devices have no kernels for integers
anydml_oracle(training)
anydml_oracle(attention)
anydml_oracle(regions)
anydml_oracle(random)

# Every operator with each of its tensors changed, between guard pages.
anydml_test(changed_tensors_test NO_RACES LABELS long LIBRARIES anydml::anydml anydml_plan anydml_schema
  ENVIRONMENT ANYDML_THREADS=3)
if(TARGET changed_tensors_test)
  target_sources(changed_tensors_test PRIVATE support/changed_tensors.cpp support/random_operator.cpp)
  list(APPEND tests_on_cuda changed_tensors_test)
endif()

# Whole operators of all families, compared with digests of their earlier results.
add_executable(operator_digests ops/operator_digests.cpp support/random_operator.cpp)
set_target_properties(operator_digests PROPERTIES CXX_EXTENSIONS OFF)
target_include_directories(operator_digests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(operator_digests PRIVATE anydml_options anydml::anydml anydml_schema)
target_compile_options(operator_digests PRIVATE ${medium})
target_compile_definitions(operator_digests PRIVATE
  ANYDML_OPERATOR_DIGESTS="${PROJECT_SOURCE_DIR}/data/digests/operator_digests.txt")
list(APPEND tests_on_cuda operator_digests)
if(NOT ANYDML_SANITIZE STREQUAL "thread")  # the tensors are small, and the families' own tests use threads
  # With sanitizers a case takes several times as long, and a fraction of the cases is enough to reach every kernel.
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
  # Runs on a device that has GPU plans but CPU kernels.
  anydml_test_later(operator_digests operator_digests ANYDML_THREADS=2 --every 2)
  set_property(TEST operator_digests_on_later PROPERTY LABELS long)
endif()
