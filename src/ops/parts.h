// SPDX-License-Identifier: MIT
// The parts of an operator: those of which it is composed, and which run instead of it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/op_desc.h"

namespace anydml {

struct PartAttribute {
  std::string_view field;
  std::vector<Scalar> numbers;
};

// Lists the parts of an operator in the order in which they run. Values have numbers: the operator's inputs have the
// first, the result of each part the next. A part sees an input at the input's own sizes.
class PartList {
 public:
  explicit PartList(const OpDesc& whole) : whole_(whole) {}

  // The number of its result, which is packed, of this type and with the sizes of `like`.
  std::uint32_t add(std::string_view op, const std::vector<std::uint32_t>& sources, DataType type,
                    const TensorDesc& like, const std::vector<PartAttribute>& attributes = {});
  // The last one: its result is the operator's output.
  [[nodiscard]] Result<std::vector<OpPart>> finish(std::string_view op, const std::vector<std::uint32_t>& sources,
                                                   const std::vector<PartAttribute>& attributes = {});

 private:
  void add_part(std::string_view op, const std::vector<std::uint32_t>& sources, const TensorDesc& result,
                const std::vector<PartAttribute>& attributes);

  const OpDesc& whole_;
  std::vector<OpPart> parts_;
  Status status_;
};

}  // namespace anydml
