// SPDX-License-Identifier: MIT
#include "ops/op_desc.h"

#include <utility>

#include "base/shape.h"
#include "schema/check.h"
#include "text/format.h"

namespace anydml {

Error invalid(const facts::Operator& op, const schema::Violation& violation) {
  return invalid({op.name, {}}, schema::sentence(op, violation));
}

Error invalid(const OpDesc& desc, const OpTensor& tensor, std::string text) {
  return invalid({desc.op->name, tensor.name}, std::move(text));
}

bool may_be_in_place(const OpDesc& desc, std::size_t input) {
  if (!desc.tensors[input].present) {
    return false;
  }
  if (desc.family->in_place == nullptr) {
    return desc.family->by_element;
  }
  const facts::InPlace documented = desc.op->in_place;
  const bool allowed = documented == facts::InPlace::first_input ? input == 0 : documented != facts::InPlace::none;
  return allowed && desc.family->in_place(desc, input);
}

std::string dispatch_text(const OpDesc& desc, std::string_view device, std::string_view kernels) {
  const TensorDesc& output = desc.output().tensor;
  return format_text("dispatch {} {} {} on {}: {}", desc.op->name, type_name(output.type),
                     shape_text(output.sizes, output.rank), device, kernels);
}

}  // namespace anydml
