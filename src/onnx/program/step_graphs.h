// SPDX-License-Identifier: MIT
// Graphs of single steps, for models that run node by node. Products read weights in codes only in graphs, and a graph
// that is kept packs them only once.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>

#include "onnx/program/step.h"
#include "onnx/values/recorder.h"

namespace anydml::onnx {

class StepGraphs {
 public:
  // Runs a step whose first input is data, and whose other inputs are among the fixed arrays. index: of the step.
  [[nodiscard]] Arrays run(const Step& step, std::size_t index, std::span<const Array> inputs,
                           const FixedArrays& fixed);

 private:
  struct Kept {
    Kind kind;  // of the data
    Sizes shape;
    CompiledGraph compiled;
    Kind result_kind;
    Sizes result_shape;
  };
  [[nodiscard]] std::shared_ptr<const Kept> find(const Step& step, std::size_t index, const Array& x,
                                                 std::span<const Array> inputs, const FixedArrays& fixed);

  std::mutex mutex_;
  std::unordered_map<std::size_t, std::shared_ptr<const Kept>> kept_;  // for each step, the graph of the last form
};

}  // namespace anydml::onnx
