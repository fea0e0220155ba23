// SPDX-License-Identifier: MIT
// The program that a backend runs: a sequence of steps over slots. A plan is a flat sequence of numbers without
// pointers, so it can be passed to a plugin unchanged. Nothing here depends on operators: a step refers to its family,
// and contains the parameters that this family wrote for its own kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/element.h"
#include "plan/tensor.h"

namespace anydml {

inline constexpr std::uint64_t kTemporaryAlignment = 64;

// The slot of an operand without an address. Its elements, numbered as if they were packed, pass from one step to the
// next as they are computed, and are never all in memory at the same time. Used only for devices that join steps. The
// offset matches the two steps: it is the same number in both.
inline constexpr std::uint32_t kForwardedSlot = 0xffffffff;
// The slot of an absent tensor, such as an omitted optional tensor. Its address is null.
inline constexpr std::uint32_t kAbsentSlot = 0xfffffffe;

[[nodiscard]] constexpr bool has_address(std::uint32_t slot) { return slot < kAbsentSlot; }

// A main step may be preceded by steps that compute elements for it, and followed by steps that consume its elements.
// They are adjacent in a plan and form one unit of work: prologues, the main step, epilogues.
enum class StepRole : std::uint32_t { main, prologue, epilogue };

// The maximum number of tensors in a step of any family. Element-wise steps are limited to kMaxOperands (tensor.h).
inline constexpr std::size_t kMaxStepOperands = 1024;

// A tensor of a step: the slot that contains its address at run time, and its offset from that address.
struct Operand {
  std::uint32_t slot;
  DataType type;
  std::uint64_t offset;  // in bytes
};

// One step of a plan.
struct Step {
  std::uint32_t family = 0;  // its position in ops/families.def
  StepRole role = StepRole::main;
  std::span<const Operand> operands;
  std::span<const std::byte> parameters;  // the family's parameters, aligned to 8 bytes
};

// The slots are the inputs, the outputs, and the temporary.
class Plan {
 public:
  Plan(std::uint32_t inputs, std::uint32_t outputs) : inputs_(inputs), outputs_(outputs) {}

  [[nodiscard]] std::uint32_t input_slot(std::uint32_t input) const { return input; }
  [[nodiscard]] std::uint32_t output_slot(std::uint32_t output) const { return inputs_ + output; }
  [[nodiscard]] std::uint32_t temporary_slot() const { return inputs_ + outputs_; }

  // Sets the role of the steps that are added after this call.
  void set_role(StepRole role) { role_ = role; }
  // Adds a step after the earlier steps, whose results it can read.
  void add(std::uint32_t family, std::span<const Operand> operands, std::span<const std::byte> parameters);

  // Makes room for about as many more steps, because growing step by step copies the plan several times.
  void reserve_steps(std::size_t count);

  // Allocates space in the temporary and returns its offset.
  [[nodiscard]] std::uint64_t take_temporary(std::uint64_t bytes);
  // After this call, space is allocated starting at this offset. Any earlier use of that space must have ended.
  void begin_temporary(std::uint64_t offset);
  [[nodiscard]] std::uint64_t temporary_bytes() const { return temporary_bytes_; }

  [[nodiscard]] std::span<const std::uint64_t> words() const { return words_; }

 private:
  std::uint32_t inputs_;
  std::uint32_t outputs_;
  StepRole role_ = StepRole::main;
  std::uint64_t temporary_next_ = 0;
  std::uint64_t temporary_bytes_ = 0;  // the highest offset in use
  std::vector<std::uint64_t> words_;
};

// The header of a step in the words of a plan. The step's operands and parameters follow it.
struct StepHeader {
  std::uint32_t family;
  StepRole role;
  std::uint32_t operand_count;
  std::uint32_t parameter_bytes;
};

// Calls use(step) for each step of a plan, in order, until a call returns false. Returns whether all calls returned
// true.
template <class Use>
bool for_each_step(std::span<const std::uint64_t> words, Use use) {
  while (!words.empty()) {
    const auto& header = *reinterpret_cast<const StepHeader*>(words.data());
    const auto* operands = reinterpret_cast<const Operand*>(&header + 1);
    const auto* parameters = reinterpret_cast<const std::byte*>(operands + header.operand_count);
    const std::size_t bytes = sizeof(header) + header.operand_count * sizeof(Operand) + header.parameter_bytes;
    if (!use(Step{.family = header.family,
                  .role = header.role,
                  .operands = {operands, header.operand_count},
                  .parameters = {parameters, header.parameter_bytes}})) {
      return false;
    }
    words = words.subspan((bytes + 7) / 8);
  }
  return true;
}

// Calls use(steps) for each unit of work in a plan: prologues, a main step, epilogues. Returns false if a call returned
// false, or if prologues at the end have no main step.
template <class Use>
bool for_each_work(std::span<const std::uint64_t> words, Use use) {
  std::vector<Step> steps;
  bool has_main = false;
  const bool all = for_each_step(words, [&](const Step& step) {
    if (has_main && step.role != StepRole::epilogue) {
      if (!use(std::span<const Step>(steps))) {
        return false;
      }
      steps.clear();
    }
    has_main = step.role == StepRole::main || (has_main && step.role == StepRole::epilogue);
    steps.push_back(step);
    return true;
  });
  return all && (steps.empty() || (has_main && use(std::span<const Step>(steps))));
}

// The index of the main step's operand that a neighbor computes or reads; the number of operands if there is none.
[[nodiscard]] inline std::size_t joined_operand(const Step& main, const Step& neighbor) {
  for (const Operand& forwarded : neighbor.operands) {
    for (std::size_t i = 0; forwarded.slot == kForwardedSlot && i < main.operands.size(); ++i) {
      if (main.operands[i].slot == kForwardedSlot && main.operands[i].offset == forwarded.offset) {
        return i;
      }
    }
  }
  return main.operands.size();
}

// A tensor and its location.
struct PlacedTensor {
  TensorDesc tensor;
  std::uint32_t slot = 0;
  std::uint64_t offset = 0;

  [[nodiscard]] Operand operand() const { return {.slot = slot, .type = tensor.type, .offset = offset}; }
};

}  // namespace anydml
