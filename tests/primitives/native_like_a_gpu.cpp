// SPDX-License-Identifier: MIT
// Like native_definitions.cpp, but with the operations that functions use on a GPU.
#define anydml anydml_gpu
#define ANYDML_LIKE_A_GPU
#include "definitions-inl.h"

std::vector<primitives_test::Definition> primitives_test::native_functions_like_a_gpu() {
  return anydml::definitions<true>();
}
