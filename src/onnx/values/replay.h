// SPDX-License-Identifier: MIT
// The operators that a step has added to a graph, in a form that adds them again for other inputs. A network repeats
// its layers, and adding operators that are known to be correct takes far less time than computing a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "onnx/values/array.h"

namespace anydml::onnx {

// The value that an operand or a result is, or is a part of.
struct Origin {
  enum class From : std::uint8_t { kNothing, kInput, kOperator };
  From from = From::kNothing;
  std::size_t index = 0;   // of the step's input, or of the operator
  std::size_t output = 0;  // of the operator
};

struct RecordedStep {
  struct Operand {
    Origin origin;
    std::int64_t offset = 0;  // in bytes, from the origin
    Array array;              // a constant; absent for symbols
  };
  struct Operator {
    std::uint64_t like = 0;  // an output that it has computed
    std::vector<Operand> operands;
    std::size_t output_count = 0;
  };
  struct Result {
    Origin origin;
    std::int64_t offset = 0;  // in bytes, from the origin
    bool is_origin = false;   // whether it is the input itself
    Array array;              // the result when the step was recorded; absent if the step has no such result
  };
  std::vector<Operator> operators;
  std::vector<Result> results;
};

// Several consecutive steps in the form of one.
struct RecordedBlock {
  // The origin of an input of one of the steps: a value from before the block, or a result of an earlier step.
  enum class From : std::uint8_t { kNothing, kOutside, kResult };
  struct Input {
    From from = From::kNothing;
    std::size_t index = 0;  // of the value; or among the results of all steps
    bool operator==(const Input&) const = default;
  };
  // The inputs are the values from before the block.
  RecordedStep whole;
  // For each result, the first result that is the same object; its own position if there is none.
  std::vector<std::size_t> objects;

  // Adds a step; result_count: the number of results by which Input::index counts. Returns false if that is not
  // possible.
  [[nodiscard]] bool add(const RecordedStep& step, std::span<const Input> inputs, std::size_t result_count);
};

// Whether a step's inputs are equal only if the elements of this array are: those of shapes, axes and scalars. Other
// arrays are data, and a step that reads the elements of data while it is recorded cannot be repeated.
[[nodiscard]] bool is_compared_by_elements(const Array& array);

// Appends a key of the inputs to `key`. Two steps that compute the same function of inputs with equal keys add the same
// operators. Returns false if the inputs share memory, because it would be unclear which one an operand belongs to.
[[nodiscard]] bool append_key(std::span<const Array> inputs, std::string& key);

}  // namespace anydml::onnx
