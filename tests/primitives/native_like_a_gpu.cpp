// SPDX-License-Identifier: MIT
// As native_definitions.cpp, in the operations that functions take on a GPU.
#define anydml anydml_gpu
#define ANYDML_LIKE_A_GPU
#include "definitions-inl.h"

std::vector<primitives_test::Definition> primitives_test::native_functions_like_a_gpu() {
  return anydml::definitions<true>();
}
