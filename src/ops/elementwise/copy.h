// SPDX-License-Identifier: MIT
// Adds tensor copies to plans. Every family, and any other code that builds plans, may use this.
#pragma once

#include "plan/plan.h"

namespace anydml {

// Copies element by element; both tensors have the same type and sizes. Four-bit tensors must be packed.
void add_copy(Plan& plan, const PlacedTensor& from, const PlacedTensor& to);

}  // namespace anydml
