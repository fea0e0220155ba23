# SPDX-License-Identifier: MIT
# The test's definition of cpu::families() replaces the library's. The asynchronous test device is linked into the
# program.
anydml_test(trial_family_test LIBRARIES anydml_programs anydml_backend)
target_sources(trial_family_test PRIVATE support/trial_family.cpp plugin/later_backend.cpp)
if(NOT ANYDML_SANITIZE)
  foreach(threads 1 2)
    add_test(NAME trial_family_test_${threads} COMMAND trial_family_test)
    set_tests_properties(trial_family_test_${threads} PROPERTIES LABELS repeats
      ENVIRONMENT ANYDML_THREADS=${threads})
  endforeach()
endif()
# Runs plans for GPUs with the CPU's kernels.
anydml_test(gpu_plans_test NO_RACES LABELS long LIBRARIES anydml_programs anydml_backend)
if(TARGET gpu_plans_test)
  target_sources(gpu_plans_test PRIVATE support/random_operator.cpp support/trial_family.cpp plugin/later_backend.cpp)
endif()
if(NOT ANYDML_SANITIZE)
  add_test(NAME gpu_plans_test_generic COMMAND gpu_plans_test)
  set_tests_properties(gpu_plans_test_generic PROPERTIES LABELS repeats ENVIRONMENT ANYDML_CPU_TARGET=generic)
endif()
