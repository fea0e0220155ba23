// SPDX-License-Identifier: MIT
// Copies of tensors as steps of a plan, for every family and for those who make plans of their own.
#pragma once

#include "plan/plan.h"

namespace anydml {

// Element by element; both of the same type and sizes.
void add_copy(Plan& plan, const PlacedTensor& from, const PlacedTensor& to);

}  // namespace anydml
