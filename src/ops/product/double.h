// SPDX-License-Identifier: MIT
// The parameters of the step of a FLOAT64 product. All operands are FLOAT64, in the form in which they were given: the
// step packs factors itself, on every device.
#pragma once

#include "ops/product/step.h"

namespace anydml {

struct DoubleStep {
  ProductStep product;  // its scale, panel, strip and halves have no meaning
  ProductScaleOf<f64> scale;
};

}  // namespace anydml
