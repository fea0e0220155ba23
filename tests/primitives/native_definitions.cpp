// SPDX-License-Identifier: MIT
#include "definitions-inl.h"

std::vector<primitives_test::Definition> primitives_test::native_definitions() { return anydml::definitions<false>(); }
