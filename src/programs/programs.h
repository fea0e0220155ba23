// SPDX-License-Identifier: MIT
// Compiles a graph into programs for a device: the device's backend compiles both of the graph's plans. The C API and
// DirectML use this file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "backend/core.h"
#include "graph/compile.h"

namespace anydml {

// Owns a backend's program.
class DeviceProgram {
 public:
  DeviceProgram() = default;
  DeviceProgram(const BackendTable& backend, BackendProgram* program) : backend_(&backend), program_(program) {}
  DeviceProgram(DeviceProgram&& other) noexcept
      : backend_(other.backend_), program_(std::exchange(other.program_, nullptr)) {}
  DeviceProgram& operator=(DeviceProgram&& other) noexcept {
    std::swap(backend_, other.backend_);
    std::swap(program_, other.program_);
    return *this;
  }
  ~DeviceProgram() {
    if (program_ != nullptr) {
      backend_->destroy(program_);
    }
  }

  [[nodiscard]] explicit operator bool() const { return program_ != nullptr; }
  [[nodiscard]] const BackendProgram* get() const { return program_; }
  // The memory that a run needs at the temporary slot: the plan's own temporary memory, plus the workspace of its
  // kernels.
  [[nodiscard]] std::uint64_t temporary_bytes() const {
    return program_ != nullptr ? backend_->temporary_bytes(program_) : 0;
  }

 private:
  const BackendTable* backend_ = nullptr;
  BackendProgram* program_ = nullptr;
};

struct GraphPrograms {
  GraphPlans plans;
  DeviceProgram initialize;  // empty if its plan has no steps
  DeviceProgram run;
};

struct CompileOptions {
  bool allow_half = false;                // FLOAT16 products may differ from the defined bits if that is faster
  bool integer_activations = false;       // products of weights in four bits may round activations to eight bits
  const GraphSharing* sharing = nullptr;  // memory shared with other graphs; may be null
};

// The traits for lowering a graph for a device. The environment may allow more than the options do.
[[nodiscard]] Result<DeviceTraits> lowering_traits(const DeviceTraits& device, const CompileOptions& options);

// If the backend cannot join steps of the graph, the graph is compiled again with separate steps. If the backend lacks
// a product that may differ from the defined bits, the graph is compiled again with the defined bits. who: the
// beginning of messages. text: as in compile_graph.
[[nodiscard]] Result<GraphPrograms> compile_programs(const Graph& graph, const CoreDevice& device, std::string_view who,
                                                     std::string* text = nullptr, const CompileOptions& options = {});

}  // namespace anydml
