// SPDX-License-Identifier: MIT
// Uses a different namespace so that this program can contain both kinds of definitions.
#define anydml anydml_supplied
#define ANYDML_PRIMITIVES_HEADER "device_primitives.h"
#include "definitions-inl.h"

std::vector<primitives_test::Definition> primitives_test::supplied_definitions() {
  return anydml::definitions<false>();
}
