// SPDX-License-Identifier: MIT
// The parameters of a FLOAT64 product step. All operands are unpacked FLOAT64 tensors: the step itself packs factors,
// on every device.
#pragma once

#include "ops/product/step.h"

namespace anydml {

struct DoubleStep {
  ProductStep product;  // its scale, panel, strip and halves have no meaning
  ProductScaleOf<f64> scale;
};

}  // namespace anydml
