// SPDX-License-Identifier: MIT
// The factory that the runtime gets from this library, and the providers that it creates, one for each session.
#pragma once

#include <string_view>

#include "onnxruntime/capability.h"
#include "onnxruntime/devices.h"
#include "onnxruntime/options.h"
#include "onnxruntime/runtime.h"
#include "onnxruntime/transfer.h"

namespace anydml::ort {

class Provider final : public Ep {
 public:
  Provider(const Runtime& runtime, const ProviderOptions& options);

 private:
  static Status* get_capability(Ep* self, const Graph* graph, GraphSupport* support) noexcept;
  static Status* compile(Ep* self, const Graph** graphs, const GraphNode** nodes, std::size_t count,
                         NodeComputeInfo** infos, GraphNode** context_nodes) noexcept;

  const Runtime& runtime_;
  const ProviderOptions options_;
  Capability capability_;
};

class Factory final : public EpFactory {
 public:
  // registration: the name under which the library is registered. Raises Failure if the runtime is too old.
  Factory(const ApiBase& base, std::string_view registration);

  [[nodiscard]] const Runtime& runtime() const { return runtime_; }

 private:
  static Status* supported_devices(EpFactory* self, const HardwareDevice* const* devices, std::size_t count,
                                   EpDevice** results, std::size_t most, std::size_t* result_count) noexcept;
  static Status* create_ep(EpFactory* self, const HardwareDevice* const* devices, const KeyValuePairs* const* metadata,
                           std::size_t count, const SessionOptions* options, const Logger* logger, Ep** ep) noexcept;

  static Status* create_allocator(EpFactory* self, const MemoryInfo* info, const KeyValuePairs* options,
                                  Allocator** allocator) noexcept;
  static Status* create_transfer(EpFactory* self, DataTransfer** transfer) noexcept;
  [[nodiscard]] const OwnDevice* chosen_device(const HardwareDevice* const* devices, std::size_t count) const;
  void log_copies() const noexcept;

  const Runtime runtime_;
  const bool is_virtual_;
  OwnDevices devices_;
  CopyCounts copies_;
};

}  // namespace anydml::ort
