// SPDX-License-Identifier: MIT
// The compiled object that the C API returns: an operator or a graph.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "anydml/anydml.h"
#include "capi/device_memory.h"
#include "capi/devices.h"
#include "ops/op_desc.h"
#include "programs/programs.h"

namespace anydml {

// The public side of a compiled object: the tensors for which a run needs addresses.
struct Surface {
  std::string_view label;             // for messages: an operator's name, or "graph"
  std::span<const OpTensor> tensors;  // the inputs, then the outputs
  std::size_t input_count = 0;
  bool empty = false;  // no output has an element, so a run does nothing

  [[nodiscard]] std::size_t output_count() const { return tensors.size() - input_count; }
};

[[nodiscard]] inline Error invalid(const Surface& surface, const OpTensor& tensor, std::string text) {
  return invalid({surface.label, tensor.name}, std::move(text));
}

// Data that only a compiled graph has.
struct CompiledGraph {
  std::vector<std::string> names;  // the names of its tensors
  std::vector<OpTensor> tensors;
  std::size_t nodes = 0;
  std::size_t steps = 0;
  std::shared_ptr<DeviceMemory> persistent;  // the folded values
  std::shared_ptr<DeviceMemory> constants;
  std::vector<DeviceAddress> shared;                // the addresses of memory that other graphs also use
  std::vector<std::shared_ptr<DeviceMemory>> held;  // the owners that keep this memory alive
};

}  // namespace anydml

struct anydml_compiled {
  // An operator's input whose data was passed at compile time.
  struct Constant {
    std::size_t input;
    std::shared_ptr<anydml::DeviceMemory> memory;
    std::byte* pointer;  // points to the element at index 0
  };

  anydml::Surface surface;  // refers to `desc` or `graph`
  std::shared_ptr<const anydml::OpDesc> desc;
  std::optional<anydml::CompiledGraph> graph;
  const anydml::Device* device = nullptr;
  anydml::DeviceProgram program;
  std::uint64_t temporary_bytes = 0;  // needed for a run of the program
  // Only the last step writes an output, so an output may overwrite an input in place if the operator allows it.
  bool writes_last = false;
  std::vector<anydml::GraphPlans::InPlace> in_place;  // numbers of inputs and of outputs
  std::vector<std::uint32_t> updated;                 // the outputs that a run may write only in part
  std::shared_ptr<anydml::DeviceMemory> persistent;   // for an operator: the values computed from its constants
  std::vector<Constant> constants;

  explicit anydml_compiled(const anydml::Device& on) : device(&on) {}
  anydml_compiled(const anydml_compiled&) = delete;
  anydml_compiled& operator=(const anydml_compiled&) = delete;
};
