// SPDX-License-Identifier: MIT
// The compiled object that the C API hands out: an operator or a graph.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "anydml/anydml.h"
#include "base/reserve.h"
#include "capi/devices.h"
#include "ops/op_desc.h"
#include "programs/programs.h"

namespace anydml {

// The public side of a compiled object: the tensors for which a run needs addresses.
struct Surface {
  std::string_view label;             // in messages: an operator's name, or "graph"
  std::span<const OpTensor> tensors;  // the inputs, then the outputs
  std::size_t input_count = 0;
  bool empty = false;  // no output has an element, so a run does nothing

  [[nodiscard]] std::size_t output_count() const { return tensors.size() - input_count; }
};

[[nodiscard]] inline Error invalid(const Surface& surface, const OpTensor& tensor, std::string text) {
  return invalid({surface.label, tensor.name}, std::move(text));
}

// The parts that only a graph has.
struct CompiledGraph {
  std::vector<std::string> names;  // of its tensors
  std::vector<OpTensor> tensors;
  std::size_t nodes = 0;
  std::size_t steps = 0;
  void* persistent = nullptr;  // the folded values, in the device's memory
  void* constants = nullptr;
  std::vector<void*> shared;                // the addresses of memory that other graphs use too, and
  std::vector<std::shared_ptr<void>> held;  // the owners that keep this memory alive
};

}  // namespace anydml

struct anydml_compiled {
  // Memory of the device that lives as long as the compiled object.
  struct Kept {
    std::uint64_t bytes;
    void* memory;
  };
  // An input of an operator whose data was passed when it was compiled.
  struct Constant {
    std::size_t input;
    void* address;  // of the element at index 0
  };

  anydml::Surface surface;  // of one of these two
  std::shared_ptr<const anydml::OpDesc> desc;
  std::optional<anydml::CompiledGraph> graph;
  const anydml::Device* device = nullptr;
  anydml::DeviceProgram program;
  std::uint64_t temporary_bytes = 0;  // needed by a run of the program
  // Only the last step writes an output: an output may then overwrite an input in place, if the operator allows it.
  bool writes_last = false;
  void* persistent = nullptr;  // of an operator: the values computed from its constants
  std::vector<Kept> kept;
  std::vector<Constant> constants;

  explicit anydml_compiled(const anydml::Device& on) : device(&on) {}
  anydml_compiled(const anydml_compiled&) = delete;
  anydml_compiled& operator=(const anydml_compiled&) = delete;
  ~anydml_compiled() {
    for (const Kept& one : kept) {
      device->backend->release(device->handle, anydml::MemoryKind::temporary, one.bytes, one.memory);
    }
  }

  anydml::Status keep(std::uint64_t bytes, void** memory) {
    anydml::reserve_more(kept, 1);
    ANYDML_TRY(
        anydml::from_backend(surface.label, *device->backend,
                             device->backend->allocate(device->handle, anydml::MemoryKind::temporary, bytes, memory)));
    kept.push_back({.bytes = bytes, .memory = *memory});
    return {};
  }
};
