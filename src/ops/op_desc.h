// SPDX-License-Identifier: MIT
// From a described operator to one that was checked. Everything is checked here, once; the layers below trust it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ops/family.h"
#include "plan/plan.h"
#include "plan/tensor.h"
#include "schema/check.h"
#include "schema/described.h"

namespace anydml {

struct OpTensor {
  std::string_view name;  // as messages have it: "ATensor", "InputTensors[1]"
  bool present = false;   // false: an optional one that is absent, and keeps its position
  TensorDesc tensor;
  Reach reach;
};

// An operator that was checked. Immutable once made; holds no pointer of the caller's.
struct OpDesc {
  const facts::Operator* op = nullptr;
  const Family* family = nullptr;
  std::uint32_t input_count = 0;
  std::uint32_t output_count = 0;
  std::vector<OpTensor> tensors;            // the inputs, then the outputs
  std::vector<schema::Argument> arguments;  // by field: attributes as they were described, and nothing for tensors
  std::vector<std::byte> internal;          // of an operator that only its family knows (parts.h): what it wrote there
  bool prepares = false;  // its output is another form of its inputs, worth keeping although it may be larger
  bool empty = false;     // no output has an element: there is nothing to do

  [[nodiscard]] std::span<const OpTensor> inputs() const { return std::span(tensors).first(input_count); }
  [[nodiscard]] std::span<const OpTensor> outputs() const { return std::span(tensors).subspan(input_count); }
  [[nodiscard]] const OpTensor& output() const { return tensors[input_count]; }  // the first
};

// The first of an operator's violations, as an error.
[[nodiscard]] Error invalid(const facts::Operator& op, const schema::Violation& violation);
[[nodiscard]] Error invalid(const OpDesc& desc, const OpTensor& tensor, std::string text);
// An error for an operator that is not built. It comes before anything is said of the operator's fields: a user who
// mends those first has worked for nothing.
[[nodiscard]] Status check_built(const facts::Operator& op);

// Whether everything that DirectML's documents ask was held against a description already, or is still to be: all but
// what they ask of tensors at a level, since the C API has more types, ranks and sizes than they do.
enum class Judged : std::uint8_t { by_schema, not_yet };

// How sizes go together where a family works by element: DirectML's rule, all sizes the same, is among what its
// documents ask. The C API has NumPy's: an input is aligned to the output at the last dimension, and a size of 1 or a
// missing dimension repeats. What keeps the first keeps the second too.
[[nodiscard]] Result<OpDesc> make_op_desc(const schema::Described& described, Judged judged);

// Whether an output may be the very tensor that this input is (same address, strides and element size): where the
// documents of DirectML say so, and of operators that work by element always.
[[nodiscard]] bool may_be_in_place(const OpDesc& desc, std::size_t input);

// Whether a device that has the operator's family has kernels for this operator.
[[nodiscard]] inline bool is_on(const OpDesc& desc, const DeviceTraits& device) {
  return !desc.internal.empty() || desc.family->has_on == nullptr || desc.family->has_on(desc, device);
}

// The line of a dispatch in the log, whichever API it came through.
[[nodiscard]] std::string dispatch_text(const OpDesc& desc, std::string_view device, std::string_view kernels);

}  // namespace anydml
