// SPDX-License-Identifier: MIT
// As supplied_definitions.cpp, in the operations that functions take on a GPU.
#define anydml anydml_supplied_gpu
#define ANYDML_LIKE_A_GPU
#define ANYDML_PRIMITIVES_HEADER "device_primitives.h"
#include "definitions-inl.h"

std::vector<primitives_test::Definition> primitives_test::supplied_functions_like_a_gpu() {
  return anydml::definitions<true>();
}
