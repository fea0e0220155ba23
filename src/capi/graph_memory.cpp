// SPDX-License-Identifier: MIT
#include "capi/graph_memory.h"

#include <algorithm>
#include <utility>

#include "text/format.h"

namespace anydml {
namespace {

// For constants up to this size, the key is the constant's bytes.
constexpr std::uint64_t kSmall = 64;

// Allocates consecutive ranges in one block of memory.
class Offsets {
 public:
  std::uint64_t take(std::uint64_t bytes) {
    const std::uint64_t offset = (end_ + kPersistentAlignment - 1) / kPersistentAlignment * kPersistentAlignment;
    end_ = offset + bytes;
    return offset;
  }
  [[nodiscard]] std::uint64_t bytes() const { return end_; }

 private:
  std::uint64_t end_ = 0;
};

}  // namespace

GraphMemory::GraphMemory(const Graph& graph, std::span<const GivenConstant> constants, const Device& device,
                         SharedConstants* shared)
    : graph_(graph), constants_(constants), device_(device), shared_(shared) {
  find_used(graph);
  if (shared_ == nullptr) {
    return;
  }
  sharing_.constants.reserve(constants.size());
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const GivenConstant& constant = constants[i];
    const std::uint64_t bytes = graph.constants[i].bytes;
    ConstantKey& key = sharing_.constants.emplace_back();
    key.is_shared = constant.is_shared;
    if (constant.is_shared) {
      const std::uint64_t numbers[] = {number_of(constant.data), bytes};
      key.text.assign("at").append(reinterpret_cast<const char*>(numbers), sizeof numbers);
    } else if (constant.data != nullptr && bytes <= kSmall) {
      key.text.assign("is").append(reinterpret_cast<const char*>(constant.data), bytes);
    }
  }
  sharing_.is_there = [this](const std::string& key) {
    auto [entry, is_new] = found_.try_emplace(key);
    if (is_new) {
      entry->second = shared_->find(device_, key);
    }
    return entry->second != nullptr;
  };
}

void GraphMemory::find_used(const Graph& graph) {
  used_inputs_.resize(graph.inputs.size());
  used_constants_.resize(graph.constants.size());
  std::vector<bool> nodes(graph.nodes.size());
  const auto mark = [&](const GraphSource& source) {
    switch (source.kind) {
      case SourceKind::none:
        break;
      case SourceKind::input:
        used_inputs_[source.index] = true;
        break;
      case SourceKind::constant:
        used_constants_[source.index] = true;
        break;
      case SourceKind::node:
        nodes[source.index] = true;
        break;
    }
  };
  std::ranges::for_each(graph.outputs, mark);
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {  // each node comes after its sources
    if (nodes[i]) {
      std::ranges::for_each(graph.nodes[i].sources, mark);
    }
  }
}

// Sets the addresses of all shared constants and values. A device that can access the caller's memory reads the
// constants in place. For other devices, the constants are uploaded. Constants that runs read are uploaded only once
// for all graphs.
Status GraphMemory::find_shared(const GraphPlans& plans, CompiledGraph& graph, Temporary& uploads) {
  const bool reaches_all = device_.info.unified_memory != 0;
  graph.shared.resize(plans.shared.size());
  graph.held.resize(plans.shared.size());
  std::vector<std::uint64_t> offsets(plans.shared.size());
  Offsets passing;  // constants that only the first plan reads
  for (std::size_t i = 0; i < plans.shared.size(); ++i) {
    const GraphPlans::Shared& one = plans.shared[i];
    if (one.constant && reaches_all) {
      graph.shared[i] = number_of(constants_[*one.constant].data);
    } else if (!one.constant && !one.is_new) {
      graph.held[i] = found_.at(one.key);
    } else if (one.constant && one.is_read_later && sharing_.is_there(one.key)) {
      graph.held[i] = found_.at(one.key);
    } else if (!one.constant || one.is_read_later) {
      // Each value has its own memory, which is freed with the last graph that uses it, regardless of that graph's
      // other values.
      const auto memory =
          DeviceMemory::allocate(device_, kGraphLabel, std::max<std::uint64_t>(one.bytes, 1), DeviceMemory::Named::no);
      ANYDML_TRY(memory);
      graph.held[i] = memory.value();
      new_.push_back(i);
    } else if (one.is_read_first) {
      offsets[i] = passing.take(one.bytes);
      passing_.push_back(i);
    }
  }
  if (passing.bytes() != 0) {
    ANYDML_TRY(from_backend(kGraphLabel, *device_.backend, uploads.allocate(passing.bytes())));
  }
  for (const std::size_t i : passing_) {
    graph.shared[i] = uploads.address() + offsets[i];
    passing_offsets_.push_back(offsets[i]);
  }
  for (std::size_t i = 0; i < plans.shared.size(); ++i) {
    graph.shared[i] = graph.held[i] != nullptr ? graph.held[i]->address() : graph.shared[i];
  }
  return {};
}

Status GraphMemory::initialize(const GraphPrograms& programs, anydml_compiled& compiled) {
  const GraphPlans& plans = programs.plans;
  CompiledGraph& graph = *compiled.graph;
  if (plans.constant_bytes == 0 && plans.shared.empty()) {
    return {};
  }
  const auto keep = [&](std::uint64_t bytes, std::shared_ptr<DeviceMemory>& memory) -> Status {
    if (bytes != 0) {
      auto created = DeviceMemory::allocate(device_, kGraphLabel, bytes, DeviceMemory::Named::no);
      ANYDML_TRY(created);
      memory = std::move(created.value());
    }
    return {};
  };
  ANYDML_TRY(keep(plans.run_constant_bytes, graph.constants));
  ANYDML_TRY(keep(plans.persistent_bytes, graph.persistent));
  Temporary uploads(device_);
  ANYDML_TRY(find_shared(plans, graph, uploads));
  Temporary whole(device_);
  Temporary temporary(device_);
  const std::uint64_t initialized = programs.initialize ? plans.constant_bytes : 0;
  if (initialized != 0) {
    ANYDML_TRY(from_backend(kGraphLabel, *device_.backend, whole.allocate(initialized)));
  }
  if (const std::uint64_t bytes = programs.initialize.temporary_bytes(); bytes != 0) {
    ANYDML_TRY(from_backend(kGraphLabel, *device_.backend, temporary.allocate(bytes)));
  }
  Run run(device_, kGraphLabel);
  ANYDML_TRY(run.begin());
  const auto copy = [&](const auto& memory, std::uint64_t end) -> Status {
    for (std::size_t i = 0; i < constants_.size(); ++i) {
      if (constants_[i].data != nullptr && !constants_[i].is_shared && used_constants_[i] && plans.constants[i] < end) {
        ANYDML_TRY(run.copy(memory.location(plans.constants[i]), location_of(device_, constants_[i].data),
                            graph_.constants[i].bytes));
      }
    }
    return {};
  };
  if (graph.constants != nullptr) {
    ANYDML_TRY(copy(*graph.constants, plans.run_constant_bytes));
  }
  ANYDML_TRY(copy(whole, initialized));
  const auto upload = [&](std::size_t i, MemoryLocation to) -> Status {
    const GraphPlans::Shared& one = plans.shared[i];
    return one.constant ? run.copy(to, location_of(device_, constants_[*one.constant].data), one.bytes) : Status();
  };
  for (const std::size_t i : new_) {
    ANYDML_TRY(upload(i, graph.held[i]->location(0)));
  }
  for (std::size_t i = 0; i < passing_.size(); ++i) {
    ANYDML_TRY(upload(passing_[i], uploads.location(passing_offsets_[i])));
  }
  if (programs.initialize) {
    std::vector<DeviceAddress> slots(plans.slots());
    slots[plans.persistent_slot()] = graph.persistent != nullptr ? graph.persistent->address() : 0;
    slots[plans.constants_slot()] = whole.address();
    slots[plans.temporary_slot()] = temporary.address();
    std::ranges::copy(graph.shared, slots.begin() + plans.shared_slot(0));
    ANYDML_TRY(run.run(programs.initialize.get(), slots.data()));
  }
  ANYDML_TRY(run.finish());
  for (const std::size_t i : new_) {
    graph.held[i] = shared_->add(device_, plans.shared[i].key, std::move(graph.held[i]));
    graph.shared[i] = graph.held[i]->address();
  }
  for (const std::size_t i : passing_) {
    graph.shared[i] = 0;
  }
  return {};
}

}  // namespace anydml
