// SPDX-License-Identifier: MIT
// Small graphs as device programs, compiled with the device's own traits.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "graph/compile.h"
#include "support/graph_text.h"

namespace anydml::device {

// A compiled plan.
class Program {
 public:
  Program(const Device& device, BackendProgram* program) : device_(&device), program_(program) {}
  ~Program() {
    if (program_ != nullptr) {
      device_->table->destroy(program_);
    }
  }
  Program(Program&& other) noexcept : device_(other.device_), program_(std::exchange(other.program_, nullptr)) {}
  Program& operator=(Program&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(program_, other.program_);
    return *this;
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] const BackendProgram* get() const { return program_; }
  [[nodiscard]] std::uint64_t temporary_bytes() const { return device_->table->temporary_bytes(program_); }
  [[nodiscard]] std::string explain(std::uint64_t capacity = 512) const {
    std::string text(capacity, '\x7f');
    device_->table->explain(program_, text.data(), capacity);
    return text.c_str();
  }

 private:
  const Device* device_;
  BackendProgram* program_;
};

// Returns the plan for a graph given as text (support/graph_text.h). Returns null and sets `why` if the device lacks
// one of its operators.
[[nodiscard]] inline std::optional<GraphPlans> plan_of(const std::string& graph, const DeviceTraits& traits,
                                                       std::string& why) {
  LacksOperator lacks;
  if (g_device.table->lacks != nullptr) {
    lacks = [](const AskedOperator& op) {
      const char* const reason = g_device.table->lacks(g_device.handle, &op);
      return std::string(reason != nullptr ? reason : "");
    };
  }
  auto plans = compile_graph(test::parse_graph(graph), traits, nullptr, nullptr, lacks);
  if (!plans.ok()) {
    why = plans.error().message;
    return std::nullopt;
  }
  return std::move(plans.value());
}

[[nodiscard]] inline BackendStatus compile(const Plan& plan, Program& program, const Device& device = g_device) {
  const BackendPlan flat = backend_plan(plan);
  BackendProgram* result = nullptr;
  const BackendStatus status = device.table->compile(device.handle, &flat, &result);
  if (status.code == BackendCode::ok) {
    EXPECT_NE(result, nullptr) << "compile returned ok, but no program";
  } else {
    EXPECT_EQ(result, nullptr) << "compile failed, but stored a program";
  }
  program = Program(device, result);
  return status;
}

// c = a + b, for `count` 32-bit numbers.
[[nodiscard]] inline std::string sum_graph(std::uint64_t count) {
  const std::string bytes = std::to_string(count * 4);
  const std::string tensor = "u32[" + std::to_string(count) + "]";
  return "a = input " + bytes + "\nb = input " + bytes + "\nc = ADD a:" + tensor + " b:" + tensor + " -> " + tensor +
         "\nout c\n";
}

[[nodiscard]] inline std::vector<std::uint32_t> some_words(std::uint64_t count, std::uint64_t seed) {
  return as<std::uint32_t>(some_bytes(count * 4, seed));
}

[[nodiscard]] inline std::vector<std::uint32_t> sums(std::vector<std::uint32_t> a,
                                                     const std::vector<std::uint32_t>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] += b[i];
  }
  return a;
}

// Compiles a graph's program or ends the test: skips it if the device lacks an operator, and fails it if the device
// cannot compile a plan that its traits allow.
#define ANYDML_MAKE_PROGRAM(plans, program, graph)                           \
  std::string why_no_##program;                                              \
  const auto plans = plan_of(graph, g_device.info.traits, why_no_##program); \
  if (!plans) {                                                              \
    GTEST_SKIP() << "lacking: " << why_no_##program;                         \
  }                                                                          \
  Program program(g_device, nullptr);                                        \
  ASSERT_TRUE(is_ok(compile((plans)->run, program))) << "compile of\n" << (graph)

}  // namespace anydml::device
