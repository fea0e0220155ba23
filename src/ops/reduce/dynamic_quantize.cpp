// SPDX-License-Identifier: MIT
#include "ops/reduce/dynamic_quantize.h"

#include <algorithm>

#include "base/shape.h"
#include "ops/dynamic_scale.h"
#include "plan/tensor.h"
#include "text/format.h"

namespace anydml {

TypeSet dynamic_quantize_types(std::size_t position) {
  switch (position) {
    case 0:
      return type_bit(DataType::FLOAT32) | type_bit(DataType::FLOAT16);
    case 2:
      return type_bit(DataType::FLOAT32);
    default:
      return type_bit(DataType::UINT8) | type_bit(DataType::INT8);
  }
}

// The documented rules already require the same type for output and zero point, and one element each for scale and zero
// point.
Status check_dynamic_quantize(const OpDesc& desc) {
  const OpTensor& input = desc.tensors[0];
  const TensorDesc& from = input.tensor;
  const TensorDesc& to = desc.output().tensor;
  if (to.rank != from.rank || !std::equal(from.sizes, from.sizes + from.rank, to.sizes)) {
    return invalid(desc, desc.output(),
                   format_text("sizes are {}; expected {}, the sizes of {}", shape_text(to.sizes, to.rank),
                               shape_text(from.sizes, from.rank), input.name));
  }
  if (element_count(from) == 0) {
    return invalid(desc, input,
                   format_text("sizes are {}; expected an element to quantize", shape_text(from.sizes, from.rank)));
  }
  return {};
}

Result<Decomposition> decompose_dynamic_quantize(const OpDesc& desc) {
  DecompositionBuilder list(desc);
  const DynamicScale found = add_dynamic_scale(list, 0, desc.output().tensor.type, desc.outputs()[1].tensor);
  list.add_output("ELEMENT_WISE_IDENTITY", {found.scale}, 1);
  list.add_output("ELEMENT_WISE_IDENTITY", {found.zero_point}, 2);
  list.add_output("ELEMENT_WISE_QUANTIZE_LINEAR", {found.input, found.scale, found.zero_point}, 0);
  return list.finish();
}

}  // namespace anydml
