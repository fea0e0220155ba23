// SPDX-License-Identifier: MIT
// A model's inputs and outputs in the memory of its device: arrays of other libraries and our own (DeviceArray).
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "device_arrays.h"
#include "device_memory.h"
#include "onnx/program/model.h"
#include "python_api.h"

namespace anydml::python {

class OnnxDeviceArrays {
 public:
  // The arrays of one run.
  explicit OnnxDeviceArrays(const onnx::Model& model);

  // An input over its own memory, after the pending work on it; nothing if it is not on a device. Raises an error if it
  // is on another device than the model.
  [[nodiscard]] std::optional<onnx::Array> take(nb::handle given, const std::string& name);

  // Chooses where the outputs are: True and False mean the model's device and the CPU, and None means the device if an
  // input is there.
  void choose(nb::handle on_device);
  // Whether an output of this type is on the device.
  [[nodiscard]] bool has_output(onnx::Kind kind) const;
  // Creates the array for an output, and returns its memory: an array of the library of the first input on the device,
  // or a DeviceArray.
  [[nodiscard]] void* new_output(std::size_t position, onnx::Kind kind, const onnx::Sizes& shape);
  // The array of an output after the run; invalid if it is not on the device.
  [[nodiscard]] nb::object output(std::size_t position);

 private:
  struct Output {
    DeviceOperand array;
    nb::object object;
    std::optional<DeviceMemory> memory;  // until the library adopts it
  };
  const onnx::Model& model_;
  const anydml_device* device_;         // of the model
  bool is_on_device_ = false;           // whether outputs are
  std::deque<DeviceOperand> operands_;  // of the inputs; they do not move
  std::vector<std::optional<Output>> outputs_;
};

}  // namespace anydml::python
