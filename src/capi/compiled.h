// SPDX-License-Identifier: MIT
// What was compiled, as the C API hands it out: an operator or a graph.
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

// What is seen from outside of something compiled: the tensors that a run has addresses for.
struct Surface {
  std::string_view label;             // in messages: an operator's name, or "graph"
  std::span<const OpTensor> tensors;  // the inputs, then the outputs
  std::size_t input_count = 0;
  bool empty = false;  // no output has an element: there is nothing to do

  [[nodiscard]] std::size_t output_count() const { return tensors.size() - input_count; }
};

[[nodiscard]] inline Error invalid(const Surface& surface, const OpTensor& tensor, std::string text) {
  return invalid({surface.label, tensor.name}, std::move(text));
}

// What a graph has besides its surface.
struct CompiledGraph {
  std::vector<std::string> names;  // of its tensors
  std::vector<OpTensor> tensors;
  std::size_t nodes = 0;
  std::size_t steps = 0;
  void* persistent = nullptr;  // what was folded, in the device's memory
  void* constants = nullptr;
  std::vector<void*> shared;                // the addresses of memory that other graphs use too, and
  std::vector<std::shared_ptr<void>> held;  // those of them that live as long as a graph holds them
};

}  // namespace anydml

struct anydml_compiled {
  // Memory of the device's that lives as long as what was compiled.
  struct Kept {
    std::uint64_t bytes;
    void* memory;
  };
  // An input of an operator whose data was given when it was compiled.
  struct Constant {
    std::size_t input;
    void* address;  // of the element at index 0
  };

  anydml::Surface surface;  // of one of these two
  std::shared_ptr<const anydml::OpDesc> desc;
  std::optional<anydml::CompiledGraph> graph;
  const anydml::Device* device = nullptr;
  anydml::DeviceProgram program;
  std::uint64_t temporary_bytes = 0;  // that a run of the program needs
  // No step but the last writes an output: then an output may be in place of an input, where the operator allows it.
  bool writes_last = false;
  void* persistent = nullptr;  // of an operator: what was computed from its constants
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
