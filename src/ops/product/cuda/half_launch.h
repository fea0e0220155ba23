// SPDX-License-Identifier: MIT
// The parameter of the kernel for misaligned FLOAT16 products. Strides are in bytes.
#pragma once

#include "base/element.h"
#include "ops/product/scalar/product.h"

namespace anydml::cuda {

struct HalfMatrixLaunch {
  const std::byte* at;  // null if absent
  i64 row_stride;
  i64 column_stride;
  i64 batch_stride;
};

struct HalfLaunch {
  HalfMatrixLaunch a;
  HalfMatrixLaunch b;
  HalfMatrixLaunch c;
  HalfMatrixLaunch output;  // the only matrix that is written
  i64 rows;
  i64 columns;
  i64 depth;
  i64 outputs;  // in all matrices
  ProductScale scale;
  bool half_output;  // whether the output is FLOAT16; C has the same type
};

}  // namespace anydml::cuda
