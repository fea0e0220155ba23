// SPDX-License-Identifier: MIT
#include "onnxruntime/provider.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "anydml/anydml.h"
#include "onnxruntime/compute.h"
#include "onnxruntime/log.h"
#include "text/format.h"

namespace anydml::ort {
namespace {

// All settings of a session.
Settings settings_of(const Runtime& runtime, const SessionOptions* options) {
  KeyValuePairs* const pairs = runtime.get(kAllConfig, options);
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  std::size_t count = 0;
  runtime(kPairs, pairs, &keys, &values, &count);
  Settings settings;
  try {
    for (std::size_t i = 0; i < count; ++i) {
      settings.emplace_back(keys[i], values[i]);
    }
  } catch (...) {
    runtime(kReleasePairs, pairs);
    throw;
  }
  runtime(kReleasePairs, pairs);
  return settings;
}

constexpr int kFirstWithMemory = 23;   // the minor version that copies between providers, from 1.23.1 on
constexpr int kFirstWithVirtual = 24;  // and the one that has virtual devices
// The runtime allows virtual devices if the name under which a library is registered ends so.
constexpr std::string_view kVirtualSuffix = ".virtual";

void apply_threads(std::uint32_t threads) {
  if (threads != 0 && anydml_set_threads(threads) != ANYDML_OK) {
    throw Failure(ErrorCode::kInvalidArgument,
                  format_text("{}: option threads is {}: {}", kProviderName, threads, anydml_last_error()));
  }
}

}  // namespace

// ---- Providers ------------------------------------------------------------------------------------------------------

Provider::Provider(const Runtime& runtime, const ProviderOptions& options)
    : Ep{}, runtime_(runtime), options_(options), capability_(runtime, options) {
  version = kApiVersion;
  GetName = [](const Ep*) noexcept { return kProviderName.data(); };
  GetCapability = &get_capability;
  Compile = &compile;
  ReleaseNodeComputeInfos = [](Ep*, NodeComputeInfo** infos, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      delete static_cast<FusedNode*>(infos[i]);
    }
  };
}

Status* Provider::get_capability(Ep* self, const Graph* graph, GraphSupport* support) noexcept {
  Provider& provider = *static_cast<Provider*>(self);
  const Runtime& runtime = provider.runtime_;
  return runtime.boundary([&] {
    const FusionOptions fusion = {kApiVersion, true};
    for (const auto& group : provider.capability_.groups_of(graph)) {
      runtime(kAddNodesToFuse, support, group.data(), group.size(), &fusion);
    }
  });
}

Status* Provider::compile(Ep* self, const Graph** graphs, const GraphNode** nodes, std::size_t count,
                          NodeComputeInfo** infos, GraphNode**) noexcept {
  const Provider& provider = *static_cast<const Provider*>(self);
  return provider.runtime_.boundary([&] {
    std::vector<std::unique_ptr<FusedNode>> compiled;
    const ModelFile file(count == 0 ? "" : provider.runtime_.get(kModelPath, graphs[0]));
    for (std::size_t i = 0; i < count; ++i) {
      compiled.push_back(std::make_unique<FusedNode>(provider.runtime_, graphs[i], nodes[i], file, provider.options_));
    }
    for (std::size_t i = 0; i < count; ++i) {
      infos[i] = compiled[i].release();
    }
  });
}

// ---- The factory ----------------------------------------------------------------------------------------------------

Factory::Factory(const ApiBase& base, std::string_view registration)
    : EpFactory{}, runtime_(base), is_virtual_(registration.ends_with(kVirtualSuffix)), devices_(runtime_) {
  version = kApiVersion;
  GetName = [](const EpFactory*) noexcept { return kProviderName.data(); };
  GetVendor = [](const EpFactory*) noexcept { return "anydml"; };
  GetSupportedDevices = &supported_devices;
  CreateEp = &create_ep;
  GetVendorId = [](const EpFactory*) noexcept { return std::uint32_t{0}; };
  GetVersion = [](const EpFactory*) noexcept { return anydml_version(); };
  ReleaseEp = [](EpFactory* self, Ep* ep) noexcept {
    delete static_cast<Provider*>(ep);
    static_cast<const Factory*>(self)->log_copies();
  };
  CreateAllocator = &create_allocator;
  ReleaseAllocator = [](EpFactory*, Allocator* allocator) noexcept { delete static_cast<DeviceAllocator*>(allocator); };
  // The runtime calls it without asking whether it exists.
  CreateDataTransfer = &create_transfer;
  IsStreamAware = [](const EpFactory*) noexcept { return false; };
}

Status* Factory::supported_devices(EpFactory* self, const HardwareDevice* const* devices, std::size_t count,
                                   EpDevice** results, std::size_t most, std::size_t* result_count) noexcept {
  Factory& factory = *static_cast<Factory*>(self);
  const Runtime& runtime = factory.runtime_;
  return runtime.boundary([&] {
    *result_count = 0;
    std::vector<const HardwareDevice*> gpus;
    for (std::size_t i = 0; i < count && *result_count < most; ++i) {
      const HardwareKind kind = runtime(kHardwareKind, devices[i]);
      if (kind == HardwareKind::kCpu) {
        EpDevice* device = nullptr;
        runtime(kCreateEpDevice, self, devices[i], nullptr, nullptr, &device);
        results[(*result_count)++] = device;
      } else if (kind == HardwareKind::kGpu) {
        gpus.push_back(devices[i]);
      }
    }
    if (!runtime.has_version(kFirstWithMemory, 1) || !factory.devices_.all().empty()) {
      return;
    }
    factory.devices_.match(gpus, factory.is_virtual_ && runtime.has_version(kFirstWithVirtual));
    for (const auto& own : factory.devices_.all()) {
      if (*result_count == most) {
        break;
      }
      EpDevice* device = nullptr;
      KeyValuePairs* metadata = nullptr;
      runtime(kCreatePairs, &metadata);
      runtime(kAddPair, metadata, "device", own->name.c_str());
      try {
        runtime(kCreateEpDevice, self, own->hardware, metadata, nullptr, &device);
      } catch (...) {
        runtime(kReleasePairs, metadata);
        throw;
      }
      runtime(kReleasePairs, metadata);
      runtime(kAddAllocatorInfo, device, own->info);
      results[(*result_count)++] = device;
    }
  });
}

Status* Factory::create_allocator(EpFactory* self, const MemoryInfo* info, const KeyValuePairs*,
                                  Allocator** allocator) noexcept {
  const Factory& factory = *static_cast<const Factory*>(self);
  return factory.runtime_.boundary([&] {
    *allocator = nullptr;
    const OwnDevice* const device = factory.devices_.of_memory(info);
    if (device == nullptr) {
      throw Failure(ErrorCode::kInvalidArgument,
                    format_text("{}: the memory is not that of a device of the provider", kProviderName));
    }
    *allocator = new DeviceAllocator(*device);
  });
}

Status* Factory::create_transfer(EpFactory* self, DataTransfer** transfer) noexcept {
  Factory& factory = *static_cast<Factory*>(self);
  return factory.runtime_.boundary([&] {
    *transfer = factory.devices_.all().empty()
                    ? nullptr
                    : new DeviceTransfer(factory.runtime_, factory.devices_, factory.copies_);
  });
}

void Factory::log_copies() const noexcept {
  try {
    if (!devices_.all().empty() && is_log_wanted()) {
      log_provider(
          format_text("onnxruntime: since the library was registered, {} tensors were copied to a device, {} to the "
                      "CPU, and {} on a "
                      "device",
                      copies_.to_device.load(), copies_.to_cpu.load(), copies_.on_device.load()));
    }
  } catch (...) {  // without memory for the line, there is none
  }
}

// The device of a session that was created for a device with memory of its own; null for others.
const OwnDevice* Factory::chosen_device(const HardwareDevice* const* devices, std::size_t count) const {
  const OwnDevice* chosen = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    const OwnDevice* const one = devices_.of_hardware(devices[i]);
    if (chosen != nullptr && one != nullptr) {
      throw Failure(ErrorCode::kInvalidArgument, format_text("{}: the session has the devices {} and {}; expected one",
                                                             kProviderName, chosen->name, one->name));
    }
    chosen = one != nullptr ? one : chosen;
  }
  return chosen;
}

Status* Factory::create_ep(EpFactory* self, const HardwareDevice* const* devices, const KeyValuePairs* const*,
                           std::size_t count, const SessionOptions* options, const Logger*, Ep** ep) noexcept {
  const Factory& factory = *static_cast<const Factory*>(self);
  const Runtime& runtime = factory.runtime_;
  return runtime.boundary([&] {
    *ep = nullptr;
    ProviderOptions own;
    try {
      own = read_provider_options(settings_of(runtime, options));
      apply_threads(own.threads);
      open_device(own);
    } catch (const std::invalid_argument& error) {
      throw Failure(ErrorCode::kInvalidArgument, error.what());
    }
    if (const OwnDevice* const chosen = factory.chosen_device(devices, count); chosen != nullptr) {
      if (own.device != nullptr && own.device != chosen->device) {
        throw Failure(ErrorCode::kInvalidArgument,
                      format_text("{}: option device is \"{}\", but the session was created for {}; leave it out, or "
                                  "choose the provider's CPU device",
                                  kProviderName, anydml_device_get_info(own.device)->name, chosen->name));
      }
      own.device = chosen->device;
    }
    *ep = new Provider(runtime, own);
  });
}

}  // namespace anydml::ort
