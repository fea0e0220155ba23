// SPDX-License-Identifier: MIT
// A model that is checked once and run many times.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "onnx/model/message.h"
#include "onnx/values/activations.h"
#include "onnx/values/array.h"

namespace anydml::onnx {

class Program;
class Trace;

struct ModelOptions {
  const anydml_device* device = nullptr;  // the device of the compiled graphs; null: the default
  // Whether a quantized model computes with dequantized floats, as it is written, instead of with its integers.
  bool is_literal = false;
  bool allows_half = false;  // whether products of float16 may have other bits, on devices that add so
  Activations activations = Activations::kOfModel;
  std::size_t kept_forms = 16;  // the number of forms of the inputs for which graphs stay compiled; at least 1
  std::shared_ptr<Trace> trace = nullptr;  // receives an event for each part of the work; may be null
};

// Provides memory for an output, once its type and shape are known. The memory is packed. For four-bit types, it has a
// byte for each element. Outputs that are strings do not need memory.
using OutputMemory = std::function<void*(std::size_t position, Kind kind, const Sizes& shape)>;

// The time of one step in node-by-node execution.
struct StepTime {
  std::string op;
  std::string label;
  double seconds = 0;
};

class Model {
 public:
  // Raises Invalid, WrongType, Unsupported (with everything that is missing) or NoMemory.
  Model(ModelMessage message, const ModelOptions& options);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // The graph's inputs and outputs as declared, in order. An output's kind is the computed one.
  [[nodiscard]] const std::vector<ValueMessage>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<ValueMessage>& outputs() const { return outputs_; }
  // Whether an input has an initializer, so that a run need not supply it.
  [[nodiscard]] bool has_initializer(std::size_t input) const { return initialized_[input]; }

  [[nodiscard]] const anydml_device* device() const { return options_.device; }  // null: the default
  // The model's device if inputs and outputs may be in memory of its own (Array::wrap_on), otherwise null.
  [[nodiscard]] const anydml_device* memory_device() const;
  // Runs the model. inputs: one Array for each graph input; absent for an input that keeps its initializer. Any number
  // of threads may call this at the same time. Returns the outputs that are strings; the others are absent.
  Arrays run(std::span<const Array> inputs, const OutputMemory& memory);

  // Lines that describe how the nodes run, which nodes run on the host and, after a run, the graphs.
  [[nodiscard]] std::string explain();
  // Like `run`, without any graph. The results have the same bits.
  Arrays run_node_by_node(std::span<const Array> inputs, const OutputMemory& memory);
  // The time of each step, when the steps run one by one.
  [[nodiscard]] std::vector<StepTime> profile(std::span<const Array> inputs, int rounds);

 private:
  Program& program(const std::vector<bool>& replaced);
  // Returns the memory for an output of a program.
  void* output_memory(std::size_t output, Kind kind, const Sizes& shape, const OutputMemory& memory) const;
  // The inputs by name, and which of the initializers they replace.
  [[nodiscard]] std::vector<std::pair<std::string, Array>> checked_inputs(std::span<const Array> inputs,
                                                                          std::vector<bool>& replaced) const;

  ModelMessage message_;
  ModelOptions options_;
  std::vector<ValueMessage> inputs_, outputs_;
  std::vector<bool> initialized_;
  std::recursive_mutex mutex_;  // a signal handler may use a model while constants are computed
  std::map<std::vector<bool>, std::shared_ptr<Program>> programs_;  // by the initializers that a run replaces
};

}  // namespace anydml::onnx
