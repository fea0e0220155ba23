# SPDX-License-Identifier: MIT
# Functions are proven once for every input (prove). With the stored digests of their results, any target or device is
# proven again in seconds. The inputs that are hardest to round have their own test. *_like_gpu: the same tests with the
# operations that functions use on a GPU (ops/scalar/primitives.h), run on this CPU.
set(hardest_tests hardest_test)
if(NOT ANYDML_SANITIZE AND ANYDML_BUILD_PROOFS)
  list(APPEND hardest_tests hardest_test_like_gpu)
endif()
foreach(test ${hardest_tests})
  anydml_test(${test} SOURCE functions/hardest_test.cpp FAST NO_RACES
              LIBRARIES anydml::anydml anydml_scalar ${MPFR_LIBRARY} ${GMP_LIBRARY})
  if(TARGET ${test})
    target_include_directories(${test} PRIVATE functions ${MPFR_INCLUDE_DIR})
    target_compile_definitions(${test} PRIVATE ANYDML_HARDEST="${PROJECT_SOURCE_DIR}/data/functions/hardest.txt"
                               $<$<STREQUAL:${test},hardest_test_like_gpu>:ANYDML_LIKE_A_GPU>)
  endif()
endforeach()
if(NOT ANYDML_SANITIZE AND ANYDML_BUILD_PROOFS)
  foreach(program prove digests digests_like_gpu prove_pairs prove_powers bounds)
    string(REPLACE _like_gpu "" source ${program})
    add_executable(${program} functions/${source}.cpp)
    set_target_properties(${program} PROPERTIES CXX_EXTENSIONS OFF)
    target_include_directories(${program} PRIVATE functions)
    target_include_directories(${program} SYSTEM PRIVATE ${MPFR_INCLUDE_DIR})
    target_link_libraries(${program} PRIVATE anydml_options anydml_scalar Threads::Threads
                                             ${MPFR_LIBRARY} ${GMP_LIBRARY})
  endforeach()
  foreach(program digests digests_like_gpu)
    target_link_libraries(${program} PRIVATE anydml::anydml)
    target_compile_definitions(${program} PRIVATE ANYDML_DIGESTS="${PROJECT_SOURCE_DIR}/data/digests/function_digests.txt")
  endforeach()
  target_compile_definitions(digests_like_gpu PRIVATE ANYDML_LIKE_A_GPU)
  add_test(NAME digests COMMAND digests --some)
  set_tests_properties(digests PROPERTIES LABELS long TIMEOUT 600)
  add_test(NAME digests_of_all COMMAND digests)
  add_test(NAME digests_of_all_generic COMMAND digests)
  set_tests_properties(digests_of_all_generic PROPERTIES ENVIRONMENT ANYDML_CPU_TARGET=generic)
  add_test(NAME digests_of_definitions COMMAND digests --definitions)
  add_test(NAME digests_like_gpu COMMAND digests_like_gpu --definitions)
  add_test(NAME function_bounds COMMAND bounds)
  set_tests_properties(function_bounds PROPERTIES LABELS long)
  add_test(NAME function_constants_are_current
           COMMAND ${ANYDML_PYTHON} ${PROJECT_SOURCE_DIR}/data/functions/generate_functions.py --check)
  set_tests_properties(function_constants_are_current PROPERTIES SKIP_RETURN_CODE 77 LABELS exhaustive)  # without sollya
  add_test(NAME prove_functions COMMAND prove all)
  add_test(NAME prove_atan_yx COMMAND prove_pairs halves atan_yx)
  add_test(NAME prove_atan_yx_singles COMMAND prove_pairs singles atan_yx 170000000)
  add_test(NAME prove_powers COMMAND prove_powers exact 1000000000 halves)
  set_tests_properties(digests_of_all digests_of_all_generic digests_of_definitions digests_like_gpu prove_functions
    prove_atan_yx prove_atan_yx_singles prove_powers PROPERTIES LABELS proof TIMEOUT 14400)
endif()
