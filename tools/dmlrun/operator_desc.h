// SPDX-License-Identifier: MIT
// Converts an operator from a model into the struct that CreateOperator accepts.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "client.h"
#include "model.h"

namespace anydml::dmlrun {

// The model must outlive this object, which points to the model's sizes and strides.
class OperatorDesc {
 public:
  explicit OperatorDesc(const OperatorModel& model) : desc_(build(model)) {}
  [[nodiscard]] const DML_OPERATOR_DESC& get() const { return desc_; }

 private:
  DML_OPERATOR_DESC build(const OperatorModel& model);
  const void* keep(const FieldValue& value);
  std::byte* allocate(std::size_t bytes);

  std::deque<std::vector<std::uint64_t>> blocks_;  // aligned for every member
  DML_OPERATOR_DESC desc_;
};

}  // namespace anydml::dmlrun
