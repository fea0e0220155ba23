// SPDX-License-Identifier: MIT
// Compiles a program to the interpreter's code: each value gets a slot for as long as it is needed.
#include <algorithm>

#include "ops/elementwise/cuda/interpreter.h"

namespace anydml::cuda {
namespace {

constexpr std::uint32_t kNever = 0xffffffff;

class Slots {
 public:
  // Allocates a slot that stays in use through instruction `until`.
  [[nodiscard]] std::uint16_t take(std::uint32_t until) {
    const auto free = std::find(until_.begin(), until_.end(), kNever);
    const auto slot = static_cast<std::uint16_t>(free - until_.begin());
    if (free == until_.end()) {
      until_.push_back(until);
    } else {
      *free = until;
    }
    return slot;
  }
  // Frees slots that are last read before or at instruction `now`; the result of that instruction may reuse them, since
  // an instruction reads before it writes.
  void free_at(std::uint32_t now) {
    for (std::uint32_t& until : until_) {
      until = until != kNever && until <= now ? kNever : until;
    }
  }
  [[nodiscard]] std::size_t count() const { return until_.size(); }

 private:
  std::vector<std::uint32_t> until_;  // the last instruction that reads each slot; kNever if free
};

struct Value {
  std::uint32_t last_use;  // the index of the instruction; the instruction count for a store; kNever if not needed
  std::uint16_t slot;
  std::uint8_t bytes;
};

}  // namespace

const char* make_code(const ElementStep& step, Code& code) {
  constexpr const char* kUndefined = "the plan uses types for which its operators are not defined";
  const auto count = static_cast<std::uint32_t>(step.program.size());
  std::vector<Value> values(step.loads + count, Value{kNever, 0, 0});
  std::vector<CodeFunction> functions(count);
  for (std::uint32_t i = 0; i < step.loads; ++i) {
    values[i].bytes = static_cast<std::uint8_t>(element_size(step.types[i]));
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const Instruction& instruction = step.program[i];
    if (!find_function(instruction.entry, instruction.variant, functions[i])) {
      return kUndefined;
    }
    for (std::uint32_t source = 0; source < functions[i].inputs; ++source) {
      const std::uint32_t from = instruction.sources[source];
      if (from >= step.loads + i || values[from].bytes != functions[i].element_sizes[source]) {
        return kUndefined;
      }
      values[from].last_use = i;
    }
    values[step.loads + i].bytes = functions[i].element_sizes[functions[i].inputs];
  }
  for (std::size_t i = 0; i < step.stored.size(); ++i) {
    if (step.stored[i] >= values.size() || values[step.stored[i]].bytes != element_size(step.types[step.loads + i])) {
      return kUndefined;
    }
    values[step.stored[i]].last_use = count;
  }

  Slots slots;
  for (std::uint32_t i = 0; i < step.loads; ++i) {
    if (values[i].last_use != kNever) {
      values[i].slot = slots.take(values[i].last_use);
      code.loads.push_back({static_cast<std::uint16_t>(i), values[i].slot, values[i].bytes});
    }
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    Value& result = values[step.loads + i];
    if (result.last_use == kNever) {
      continue;  // not needed
    }
    const CodeFunction& function = functions[i];
    CodeInstruction instruction{};
    instruction.function = function.number;
    for (std::uint32_t source = 0; source < function.inputs; ++source) {
      instruction.sources[source] = values[step.program[i].sources[source]].slot;
    }
    slots.free_at(i);
    result.slot = slots.take(result.last_use);
    instruction.result = result.slot;
    instruction.scalar = static_cast<std::uint16_t>(code.scalars.size());
    if (code.scalars.size() + function.scalar_words > kMaxScalars || code.instructions.size() == kMaxInstructions) {
      return "the program is longer than the CUDA backend can run in one step";
    }
    code.scalars.resize(code.scalars.size() + function.scalar_words);
    function.make_scalar(step.program[i].attributes, code.scalars.data() + instruction.scalar);
    code.instructions.push_back(instruction);
  }
  if (slots.count() > kMaxSlots) {
    return "the program needs more live values than the CUDA backend supports";
  }
  for (std::size_t i = 0; i < step.stored.size(); ++i) {
    const Value& value = values[step.stored[i]];
    code.stores.push_back({static_cast<std::uint16_t>(step.loads + i), value.slot, value.bytes});
  }
  return nullptr;
}

}  // namespace anydml::cuda
