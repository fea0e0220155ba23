// SPDX-License-Identifier: MIT
// A plan with one entry over tensors of equal sizes, and the CPU backend that runs it, for kernel tests.
#pragma once

#include <gtest/gtest.h>

#include <mutex>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "base/process.h"
#include "ops/elementwise/program.h"

namespace anydml::test {

struct EntryStep {
  const Entry* entry = nullptr;
  std::uint32_t variant = 0;
  TensorDesc tensors[kMaxOperands];  // the inputs, then the output
  Attributes attributes;
  bool has_scale_bias = false;
  Attributes scale_bias;

  [[nodiscard]] const TensorDesc& output() const { return tensors[entry->inputs]; }
};

inline Plan make_plan(const EntryStep& step) {
  const Entry& entry = *step.entry;
  Plan plan(entry.inputs, 1);
  std::vector<PlacedTensor> placed;
  ElementwiseProgram program(entry.inputs);
  std::uint16_t sources[kMaxInputs];
  for (std::uint16_t i = 0; i <= entry.inputs; ++i) {
    placed.push_back({.tensor = step.tensors[i], .slot = i});
    if (i < entry.inputs) {
      sources[i] = i;
    }
  }
  if (step.has_scale_bias) {
    const std::uint32_t variant = find_variant(anydml::entry(EntryId::SCALE_BIAS), step.tensors[0].type);
    sources[0] = program.add(EntryId::SCALE_BIAS, variant, std::span(sources, 1), step.scale_bias);
  }
  const std::uint16_t stored[] = {
      program.add(entry.id, step.variant, std::span(sources, entry.inputs), step.attributes)};
  add_elementwise(plan, program, placed, stored);
  return plan;
}

inline BackendDevice* cpu_of_tests() {
  static BackendDevice* const opened = [] {
    const BackendSettings settings{.threads = 3, .cpu_target = ""};
    BackendDevice* handle = nullptr;
    const std::scoped_lock lock(process_mutex());
    EXPECT_EQ(cpu_backend().open(0, &settings, &handle).code, BackendCode::ok);
    return handle;
  }();
  return opened;
}

inline BackendQueue* queue_of_tests() {
  static BackendQueue* const result = [] {
    BackendQueue* handle = nullptr;
    EXPECT_EQ(cpu_backend().create_queue(cpu_of_tests(), &handle).code, BackendCode::ok);
    return handle;
  }();
  return result;
}

inline void run(const Plan& plan, void* const* addresses, BackendDevice* device = cpu_of_tests(),
                BackendQueue* queue = queue_of_tests()) {
  BackendProgram* program = nullptr;
  const BackendPlan flat = backend_plan(plan);
  ASSERT_EQ(cpu_backend().compile(device, &flat, &program).code, BackendCode::ok);
  std::vector<DeviceAddress> slots(plan.temporary_slot() + std::size_t{1});
  for (std::size_t i = 0; i + 1 < slots.size(); ++i) {
    slots[i] = reinterpret_cast<std::uintptr_t>(addresses[i]);
  }
  EXPECT_EQ(cpu_backend().run(queue, program, slots.data(), nullptr).code, BackendCode::ok);
  cpu_backend().destroy(program);
}

}  // namespace anydml::test
