// SPDX-License-Identifier: MIT
// The decomposition of an operator: the operators that run in its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/op_desc.h"
#include "schema/described.h"

namespace anydml {

inline constexpr std::uint32_t kNoValue = 0xffffffff;  // for an absent tensor

// Values are numbered: first the inputs of the whole operator, then the inputs of the operator that computes one of
// these inputs, if the family reads them in its place, then the outputs of each part.
struct DecomposedOp {
  // The description of an operator of any family. The whole operator's family has no access to other families, so
  // build_decomposition (operators.h) creates the operator.
  std::optional<schema::Described> described;
  std::shared_ptr<const OpDesc> op;    // null until build_decomposition has run
  std::vector<std::uint32_t> sources;  // the value of each of its inputs; kNoValue if absent
};
struct Decomposition {
  std::vector<DecomposedOp> ops;       // in execution order; empty if the operator has its own steps
  std::vector<std::uint32_t> outputs;  // the value of each output of the whole operator; kNoValue: absent
  std::uint32_t replaced = kNoValue;   // the input of the whole operator whose maker's inputs are values
};

struct OpAttribute {
  std::string_view field;
  std::vector<Scalar> numbers;
};

// Lists the parts of an operator in execution order. Parts see each input with the sizes that it has in `whole`.
class DecompositionBuilder {
 public:
  explicit DecompositionBuilder(const OpDesc& whole);
  // The inputs of `maker`, which computes the input `replaced` of the whole operator (KnownInputs), are values too.
  DecompositionBuilder(const OpDesc& whole, std::uint32_t replaced, const OpDesc& maker);

  // Adds a DirectML operator with one output. Returns the value number of its result, which is packed and has this type
  // and the sizes of `like`. sources: in the order of its inputs; kNoValue for an absent input.
  std::uint32_t add(std::string_view op, const std::vector<std::uint32_t>& sources, DataType type,
                    const TensorDesc& like, const std::vector<OpAttribute>& attributes = {});
  // Like add(), but the result has this tensor description.
  std::uint32_t add_as(std::string_view op, const std::vector<std::uint32_t>& sources, const TensorDesc& result,
                       const std::vector<OpAttribute>& attributes) {
    return add_part(op, sources, result, attributes);
  }
  // Like add(), but the result is this output of the whole operator.
  void add_output(std::string_view op, const std::vector<std::uint32_t>& sources, std::uint32_t output,
                  const std::vector<OpAttribute>& attributes = {});

  // Adds an operator that was described in a field of the whole operator, such as a fused activation. Its tensors are
  // derived from these values, and its result is this output of the whole operator.
  void add_nested_output(const schema::Described& nested, const std::vector<std::uint32_t>& sources,
                         std::uint32_t output);

  // Makes subsequent parts see a value as this tensor, which describes the same memory.
  void see(std::uint32_t value, const TensorDesc& tensor) { values_[value] = tensor; }

  // Adds an operator that is private to the whole operator's family: `op` has a name and no fields, and must live as
  // long as the process; the family finds its parameters in OpDesc::internal. If the family is element-wise, inputs of
  // size 1 are broadcast to the first result. Returns the value number of the first result. `prepares`: as in OpDesc.
  std::uint32_t add_internal(const facts::Operator& op, const std::vector<std::uint32_t>& sources,
                             std::span<const TensorDesc> results, std::span<const std::byte> parameters,
                             bool prepares = false);
  // Makes this value an output of the whole operator. The value must have been computed with that output's tensor
  // description.
  void set_output(std::uint32_t output, std::uint32_t value);

  // Returns a copy, because a reference would dangle as soon as the next part is added, even within one call to add().
  [[nodiscard]] TensorDesc tensor(std::uint32_t value) const { return values_[value]; }
  [[nodiscard]] Result<Decomposition> finish();

 private:
  std::uint32_t add_part(std::string_view op, const std::vector<std::uint32_t>& sources, const TensorDesc& result,
                         const std::vector<OpAttribute>& attributes);
  // `described` already contains its attributes.
  std::uint32_t add_described(schema::Described described, const std::vector<std::uint32_t>& sources,
                              const TensorDesc& result);

  const OpDesc& whole_;
  std::vector<TensorDesc> values_;
  Decomposition result_;
  Status status_;
};

}  // namespace anydml
