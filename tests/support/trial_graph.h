// SPDX-License-Identifier: MIT
// Runs graphs of the core through a backend's table and compares them with their nodes run one by one, on the CPU and
// on the device of plugin/later_backend.cpp, which is linked into the program. ANYDML_THREADS sets the number of
// threads. If ANYDML_TRIAL_PLUGIN names a plugin with the trial family (cuda/trial_family.cu), its device replaces the
// one from later_backend.cpp.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "base/process.h"
#include "programs/programs.h"
#include "support/graph_text.h"
#include "support/layouts.h"
#include "support/trial_family.h"

extern "C" const anydml::BackendTable* anydml_backend(const char** message);  // in plugin/later_backend.cpp

namespace anydml::test {

using Bytes = std::vector<std::byte>;
using Sizes = std::vector<i64>;

inline constexpr std::byte kUnwritten{0xff};  // four of these bytes are a NaN

inline u32 number_from(const char* variable, u32 otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? static_cast<u32>(std::strtoul(text, nullptr, 10)) : otherwise;
}

struct Device {
  const BackendTable* backend = nullptr;
  BackendDevice* handle = nullptr;
  BackendQueue* queue = nullptr;
  BackendDeviceInfo info = {};

  explicit Device(const BackendTable& table) : backend(&table) {
    const char* const target = std::getenv("ANYDML_CPU_TARGET");
    const BackendSettings settings{.threads = number_from("ANYDML_THREADS", 3),
                                   .cpu_target = target != nullptr ? target : ""};
    EXPECT_EQ(table.open(0, &settings, &handle).code, BackendCode::ok);
    EXPECT_EQ(table.create_queue(handle, &queue).code, BackendCode::ok);
    table.describe(handle, &info);
  }
};

inline const BackendTable& other_backend() {
  const char* message = "it cannot be loaded";
  PluginEntry entry = anydml_backend;
  if (const char* const plugin = std::getenv("ANYDML_TRIAL_PLUGIN"); plugin != nullptr) {
    void* const library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    entry = library != nullptr ? reinterpret_cast<PluginEntry>(dlsym(library, kPluginEntry)) : nullptr;
  }
  const BackendTable* const table = entry != nullptr ? entry(&message) : nullptr;
  if (table == nullptr) {
    std::fprintf(stderr, "ANYDML_TRIAL_PLUGIN: %s\n", message);
    std::exit(1);
  }
  return *table;
}

// The CPU and the asynchronous device. The table of the asynchronous device is loaded first, because loading it starts
// other processes, as a plugin may.
inline const std::array<Device, 2>& devices() {
  static const std::array<Device, 2> opened = [] {
    const BackendTable& table = other_backend();
    std::unique_lock lock(process_mutex());
    const Device first(cpu_backend());
    lock.unlock();  // the other backend locks it itself
    return std::array{first, Device(table)};
  }();
  return opened;
}
inline const Device& cpu() { return devices()[0]; }
inline const Device& later() { return devices()[1]; }

// Memory of a device that contains nothing written by an earlier step, and that the CPU can read and write.
class DeviceBytes {
 public:
  DeviceBytes(const Device& device, u64 bytes, MemoryKind kind = MemoryKind::readback_buffer)
      : device_(device), bytes_((bytes + 4) / 4 * 4), kind_(device.info.unified_memory != 0 ? kind : kPinned) {
    EXPECT_EQ(device.backend->allocate(device.handle, kind_, bytes_, &block_).code, BackendCode::ok);
    std::memset(block_.host, static_cast<int>(kUnwritten), bytes_);
  }
  ~DeviceBytes() { device_.backend->release(device_.handle, kind_, bytes_, block_.handle); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  [[nodiscard]] DeviceAddress address() const { return block_.address; }
  [[nodiscard]] std::byte* host() const { return block_.host; }

 private:
  static constexpr MemoryKind kPinned = MemoryKind::readback_buffer;

  const Device& device_;
  u64 bytes_;
  MemoryKind kind_;
  MemoryBlock block_ = {};
};

inline void run_program(const Device& device, const DeviceProgram& program, u32 temporary_slot,
                        std::vector<DeviceAddress>& addresses) {
  const DeviceBytes temporary(device, program.temporary_bytes(), MemoryKind::temporary);
  addresses[temporary_slot] = temporary.address();
  ASSERT_EQ(device.backend->run(device.queue, program.get(), addresses.data(), nullptr).code, BackendCode::ok);
  BackendMark* mark = nullptr;
  ASSERT_EQ(device.backend->mark(device.queue, &mark).code, BackendCode::ok);
  EXPECT_EQ(device.backend->wait(mark).code, BackendCode::ok);
  if (mark != nullptr) {
    device.backend->destroy_mark(mark);
  }
}

// Returns the bytes of the graph's outputs. inputs, constants: the address of each.
inline std::vector<Bytes> run_graph(const Device& device, bool joined, const Graph& graph,
                                    const std::vector<std::byte*>& inputs, const std::vector<std::byte*>& constants,
                                    std::string* text = nullptr) {
  BackendDeviceInfo info = device.info;
  info.traits.joins_from = joined ? 1U : 0U;
  const CoreDevice core{.backend = device.backend, .handle = device.handle, .info = &info};
  const auto compiled = compile_programs(graph, core, "test", text);
  std::vector<Bytes> outputs;
  for (const GraphSource& output : graph.outputs) {
    outputs.emplace_back(extent_of(graph, output).bytes, kUnwritten);
  }
  if (!compiled.ok()) {
    ADD_FAILURE() << compiled.error().message;
    return outputs;
  }
  const GraphPlans& plans = compiled.value().plans;
  // A device with its own memory gets copies of everything. The CPU gets the bytes themselves, so that a sanitizer
  // detects accesses outside of them.
  std::vector<std::unique_ptr<DeviceBytes>> staged;
  struct Staged {
    DeviceAddress address;
    std::byte* host;
  };
  const auto stage = [&](std::byte* bytes, u64 count) {
    if (device.info.unified_memory != 0 || count == 0) {
      return Staged{reinterpret_cast<std::uintptr_t>(bytes), bytes};
    }
    const DeviceBytes& there = *staged.emplace_back(std::make_unique<DeviceBytes>(device, count));
    std::memcpy(there.host(), bytes, count);
    return Staged{there.address(), there.host()};
  };
  Bytes persistent(plans.persistent_bytes + 1, kUnwritten);
  Bytes constant_memory(plans.constant_bytes + 1, kUnwritten);
  for (std::size_t i = 0; i < constants.size(); ++i) {
    std::memcpy(&constant_memory[plans.constants[i]], constants[i], graph.constants[i].bytes);
  }
  for (const GraphPlans::KeptInput& kept : plans.kept) {
    std::memcpy(&persistent[kept.offset], inputs[kept.input], kept.bytes);
  }
  std::vector<DeviceAddress> addresses(plans.slots());
  std::vector<std::byte*> results;
  for (u32 i = 0; i < inputs.size(); ++i) {
    addresses[i] = stage(inputs[i], graph.inputs[i].extent.bytes).address;
  }
  for (u32 i = 0; i < outputs.size(); ++i) {
    const Staged there = stage(outputs[i].data(), outputs[i].size());
    addresses[plans.output_slot(i)] = there.address;
    results.push_back(there.host);
  }
  const Staged kept_constants = stage(constant_memory.data(), constant_memory.size());
  addresses[plans.persistent_slot()] = stage(persistent.data(), persistent.size()).address;
  addresses[plans.constants_slot()] = kept_constants.address;
  if (compiled.value().initialize) {
    run_program(device, compiled.value().initialize, plans.temporary_slot(), addresses);
  }
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    addresses[i] = graph.inputs[i].owned ? 0 : addresses[i];
  }
  // A run does not need the constants that only the first plan reads.
  std::fill_n(kept_constants.host + plans.run_constant_bytes, plans.constant_bytes - plans.run_constant_bytes,
              kUnwritten);
  run_program(device, compiled.value().run, plans.temporary_slot(), addresses);
  for (u32 i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].empty()) {  // an absent output has no address
      std::memmove(outputs[i].data(), results[i], outputs[i].size());
    }
  }
  return outputs;
}

inline TensorDesc tensor_of(const Layout& layout, DataType type = DataType::FLOAT32) {
  TensorDesc result;
  result.type = type;
  result.rank = static_cast<u32>(layout.sizes.size());
  std::ranges::copy(layout.sizes, result.sizes);
  std::ranges::copy(layout.strides, result.strides);
  return result;
}

inline TensorDesc packed(const Sizes& sizes, DataType type = DataType::FLOAT32) {
  TensorDesc result = tensor_of({sizes, Sizes(sizes.size())}, type);
  EXPECT_TRUE(set_packed_strides(result));
  return result;
}

inline Sizes sizes_of(const TensorDesc& tensor) { return {tensor.sizes, tensor.sizes + tensor.rank}; }
inline Layout layout_of(const TensorDesc& tensor) {
  return {sizes_of(tensor), Sizes(tensor.strides, tensor.strides + tensor.rank)};
}

inline i64 count_of(const Sizes& sizes) { return Layout{sizes, {}}.count(); }

// The syntax of support/graph_text.h: "f32[2,3/3,1]".
inline std::string text_of(const TensorDesc& tensor) {
  std::string sizes;
  std::string strides;
  for (u32 i = 0; i < tensor.rank; ++i) {
    sizes += (i == 0 ? "" : ",") + std::to_string(tensor.sizes[i]);
    strides += (i == 0 ? "" : ",") + std::to_string(tensor.strides[i]);
  }
  return (tensor.type == DataType::FLOAT32 ? "f32[" : "u32[") + sizes + "/" + strides + "]";
}

inline std::shared_ptr<const OpDesc> parse(const std::string& name, const std::vector<TensorDesc>& inputs,
                                           const std::vector<TensorDesc>& outputs, const std::string& attributes = "") {
  std::vector<std::string> texts[2];
  std::ranges::transform(inputs, std::back_inserter(texts[0]), text_of);
  std::ranges::transform(outputs, std::back_inserter(texts[1]), text_of);
  return parse_op(name, texts[0], texts[1], attributes);
}

// A graph under construction, and the bytes of each value as its nodes compute them one by one.
class TwinGraph {
 public:
  struct Value {
    GraphSource source;
    TensorDesc result;
    Bytes bytes;
  };
  // A tensor that views the memory of a value.
  struct View {
    std::size_t of;
    TensorDesc tensor;
    i64 offset = 0;  // in bytes
  };

  std::size_t add_input(const Sizes& sizes, SourceKind kind, bool owned, Random& random) {
    Value& value = values_.emplace_back(Value{.source = {.kind = kind}, .result = packed(sizes), .bytes = {}});
    value.bytes.resize(static_cast<std::size_t>(count_of(sizes)) * sizeof(float));
    for (std::size_t i = 0; i < value.bytes.size(); i += sizeof(float)) {
      const float number = static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 16.0F;
      std::memcpy(&value.bytes[i], &number, sizeof(number));
    }
    if (kind == SourceKind::constant) {
      value.source.index = static_cast<u32>(graph_.constants.size());
      graph_.constants.push_back({.bytes = value.bytes.size(), .alignment = 4});
    } else {
      value.source.index = static_cast<u32>(graph_.inputs.size());
      graph_.inputs.push_back({.extent = {.bytes = value.bytes.size(), .alignment = 4}, .owned = owned});
    }
    return values_.size() - 1;
  }

  // Returns the index of the first output's value; the other outputs that are present follow it.
  std::size_t add(std::shared_ptr<const OpDesc> op, const std::vector<View>& views) {
    GraphNode node{.op = std::move(op), .sources = {}, .outputs = {}, .name = {}};
    std::vector<std::byte*> addresses;
    for (const View& view : views) {
      node.sources.push_back(values_[view.of].source);
      node.sources.back().offset = view.offset;
      addresses.push_back(values_[view.of].bytes.data() + view.offset);
    }
    const Graph alone = graph_of(node.op);
    const std::vector<Bytes> result = run_graph(cpu(), false, alone, addresses, {});
    const std::size_t first = values_.size();
    for (u32 i = 0; i < node.op->output_count; ++i) {
      node.outputs.push_back(extent_of(alone, alone.outputs[i]));
      if (node.op->outputs()[i].present) {
        values_.push_back(
            {.source = {.kind = SourceKind::node, .index = static_cast<u32>(graph_.nodes.size()), .output = i},
             .result = node.op->outputs()[i].tensor,
             .bytes = result[i]});
      }
    }
    graph_.nodes.push_back(std::move(node));
    return first;
  }
  std::size_t add_sum(const std::vector<View>& views, const TensorDesc& sums,
                      const std::optional<TensorDesc>& maximum) {
    return add(mirrored_sum(tensors_of(views), sums, maximum), views);
  }
  std::size_t add(const std::string& name, const std::vector<View>& views, const std::vector<TensorDesc>& outputs,
                  const std::string& attributes = "") {
    return add(parse(name, tensors_of(views), outputs, attributes), views);
  }

  void set_output(std::size_t value) {
    graph_.outputs.push_back(values_[value].source);
    outputs_.push_back(value);
  }

  [[nodiscard]] View whole(std::size_t value) const { return {.of = value, .tensor = values_[value].result}; }
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }
  [[nodiscard]] const Graph& graph() const { return graph_; }

  // Runs the graph and compares its outputs, including the bytes between the elements. Returns the plan as text.
  std::string check(const Device& device, bool joined) {
    std::vector<std::byte*> given[2];
    for (Value& value : values_) {
      if (value.source.kind != SourceKind::node) {
        given[value.source.kind == SourceKind::constant ? 1 : 0].push_back(value.bytes.data());
      }
    }
    std::string text;
    const std::vector<Bytes> result = run_graph(device, joined, graph_, given[0], given[1], &text);
    for (std::size_t i = 0; i < result.size(); ++i) {
      EXPECT_TRUE(result[i] == values_[outputs_[i]].bytes)
          << "output " << i << " on " << device.info.name << (joined ? ", joined\n" : ", apart\n") << graph_text(graph_)
          << text;
    }
    return text;
  }
  void check_everywhere() {
    for (const bool joined : {false, true}) {
      check(cpu(), joined);
      check(later(), joined);
    }
  }

 private:
  static std::vector<TensorDesc> tensors_of(const std::vector<View>& views) {
    std::vector<TensorDesc> tensors;
    std::ranges::transform(views, std::back_inserter(tensors), &View::tensor);
    return tensors;
  }

  Graph graph_;
  std::vector<Value> values_;
  std::vector<std::size_t> outputs_;
};

}  // namespace anydml::test
