// SPDX-License-Identifier: MIT
// Like supplied_definitions.cpp, but with the operations that functions use on a GPU.
#define anydml anydml_supplied_gpu
#define ANYDML_LIKE_A_GPU
#define ANYDML_PRIMITIVES_HEADER "device_primitives.h"
#include "definitions-inl.h"

std::vector<primitives_test::Definition> primitives_test::supplied_functions_like_a_gpu() {
  return anydml::definitions<true>();
}
