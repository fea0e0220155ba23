// SPDX-License-Identifier: MIT
#include "support/trial_family.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "backend/cpu/family.h"
#include "plan/reshape.h"

namespace anydml {
namespace test {
namespace {

constexpr std::int64_t kPieceElements = 256;

class MirroredSum final : public cpu::PreparedStep {
 public:
  MirroredSum(const Step& step, cpu::Neighbors neighbors)
      : PreparedStep(static_cast<std::uint64_t>((step_of(step).count + kPieceElements - 1) / kPieceElements), 2,
                     sizeof(Scratch)),
        step_(step_of(step)),
        strides_((step_.inputs + std::size_t{2}) * kMaxRank),
        neighbors_(std::move(neighbors)) {
    std::memcpy(strides_.data(), step.parameters.data() + sizeof(TrialStep), strides_.size() * sizeof(std::int64_t));
  }

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * kPieceElements;
    const std::int64_t count = std::min(kPieceElements, step_.count - first);
    Scratch& scratch = *reinterpret_cast<Scratch*>(piece.scratch);
    piece.phase == 0 ? add(first, count, scratch, operands) : mirror(first, count, scratch, operands);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "mirrored sum of %u", step_.inputs);
  }

 private:
  struct Scratch {
    float sums[kPieceElements];
    float maximum[kPieceElements];
    float forwarded[kPieceElements];  // read from the prologue or passed to the epilogue
    std::uint32_t numbers[kPieceElements];
  };

  static TrialStep step_of(const Step& step) {
    TrialStep result;
    std::memcpy(&result, step.parameters.data(), sizeof(result));
    return result;
  }

  // Calls use(i, offset) for the elements from `first` on, with the byte offset of each in this tensor's memory.
  template <class Use>
  void walk(std::size_t tensor, std::int64_t first, std::int64_t count, Use use) const {
    const std::int64_t* const strides = &strides_[tensor * kMaxRank];
    std::int64_t index[kMaxRank];
    std::int64_t offset = 0;
    for (std::uint32_t i = step_.rank; i-- > 0;) {
      index[i] = first % step_.sizes[i];
      first /= step_.sizes[i];
      offset += index[i] * strides[i];
    }
    for (std::int64_t i = 0; i < count; ++i) {
      use(i, offset);
      for (std::uint32_t axis = step_.rank; axis-- > 0;) {
        offset += strides[axis];
        if (++index[axis] < step_.sizes[axis]) {
          break;
        }
        offset -= strides[axis] * step_.sizes[axis];
        index[axis] = 0;
      }
    }
  }

  void add(std::int64_t first, std::int64_t count, Scratch& scratch, std::byte* const* operands) const {
    const auto take = [&](std::uint32_t input, std::int64_t i, float value) {
      const bool is_greater = input == 0 || value > scratch.maximum[i];
      scratch.maximum[i] = is_greater ? value : scratch.maximum[i];
      scratch.numbers[i] = is_greater ? input : scratch.numbers[i];
      scratch.sums[i] = input == 0 ? value : scratch.sums[i] + value;
    };
    for (std::uint32_t input = 0; input < step_.inputs; ++input) {
      if (neighbors_.before.step != nullptr && neighbors_.before.joined_operand == input) {
        neighbors_.before.run(first, count, reinterpret_cast<std::byte*>(scratch.forwarded), operands);
        for (std::int64_t i = 0; i < count; ++i) {
          take(input, i, scratch.forwarded[i]);
        }
        continue;
      }
      walk(input, first, count, [&](std::int64_t i, std::int64_t offset) {
        float value = 0;
        std::memcpy(&value, operands[input] + offset, sizeof(value));
        take(input, i, value);
      });
    }
    std::memcpy(operands[step_.inputs + 2] + first * std::int64_t{sizeof(float)}, scratch.sums,
                static_cast<std::size_t>(count) * sizeof(float));
    if (std::byte* const numbers = operands[step_.inputs + 1]; numbers != nullptr) {
      walk(step_.inputs + 1, first, count, [&](std::int64_t i, std::int64_t offset) {
        std::memcpy(numbers + offset, &scratch.numbers[i], sizeof(std::uint32_t));
      });
    }
  }

  void mirror(std::int64_t first, std::int64_t count, Scratch& scratch, std::byte* const* operands) const {
    const auto* const sums = reinterpret_cast<const float*>(operands[step_.inputs + 2]);
    for (std::int64_t i = 0; i < count; ++i) {
      scratch.forwarded[i] = sums[first + i] + sums[step_.count - 1 - first - i];
    }
    if (neighbors_.after.step != nullptr) {
      neighbors_.after.run(first, count, reinterpret_cast<std::byte*>(scratch.forwarded), operands);
    } else if (std::byte* const to = operands[step_.inputs]; to != nullptr) {
      walk(step_.inputs, first, count, [&](std::int64_t i, std::int64_t offset) {
        std::memcpy(to + offset, &scratch.forwarded[i], sizeof(float));
      });
    }
  }

  const TrialStep step_;
  std::vector<std::int64_t> strides_;
  const cpu::Neighbors neighbors_;
};

constexpr cpu::FamilyKernels kKernels = {
    .open = nullptr,
    .prepare = [](const Step& step, const cpu::StepContext&, cpu::Neighbors neighbors)
        -> std::unique_ptr<cpu::PreparedStep> { return std::make_unique<MirroredSum>(step, std::move(neighbors)); },
    .prepare_joined = nullptr,
};

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  const TensorDesc& sums = desc.output().tensor;
  TrialStep step{.count = element_count(sums), .inputs = desc.input_count, .rank = sums.rank, .sizes = {}};
  std::ranges::copy(sums.sizes, step.sizes);
  std::vector<std::byte> parameters(sizeof(step) + tensors.size() * kMaxRank * sizeof(std::int64_t));
  std::memcpy(parameters.data(), &step, sizeof(step));
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorDesc& tensor = tensors[i].tensor;
    for (std::uint32_t axis = 0; axis < tensor.rank; ++axis) {
      const std::int64_t bytes = tensor.strides[axis] * static_cast<std::int64_t>(sizeof(float));
      std::memcpy(&parameters[sizeof(step) + (i * kMaxRank + axis) * sizeof(bytes)], &bytes, sizeof(bytes));
    }
    operands.push_back(tensors[i].operand());
  }
  const std::uint64_t room = plan.take_temporary(static_cast<std::uint64_t>(step.count) * sizeof(float));
  operands.push_back({.slot = plan.temporary_slot(), .type = DataType::FLOAT32, .offset = room});
  plan.add(kTrialFamily, operands, parameters);
}

// A chain may produce any of the first 64 inputs and may consume output 0.
Joins joins(const OpDesc& desc, const DeviceTraits&) {
  Joins result;
  for (std::size_t i = 0; i < std::min<std::size_t>(desc.input_count, 64); ++i) {
    result.inputs |= std::uint64_t{is_packed(desc.tensors[i].tensor)} << i;
  }
  result.outputs = is_packed(desc.output().tensor) ? 1 : 0;
  return result;
}

constexpr facts::Operator kMirroredSum = [] {
  facts::Operator op{};
  op.name = "MIRRORED_SUM";
  return op;
}();

// The tests create its operators without make_op_desc, which would require types and checks.
constexpr anydml::Family kFamily = {
    .id = static_cast<FamilyId>(kTrialFamily),
    .has = [](const facts::Operator& op) { return &op == &kMirroredSum; },
    .types = nullptr,
    .by_element = false,
    .check = nullptr,
    .lower = lower,
    .lower_together = nullptr,
    .joins = joins,
    .decompose = nullptr,
};

}  // namespace

std::shared_ptr<const OpDesc> mirrored_sum(std::span<const TensorDesc> inputs, const TensorDesc& sums,
                                           const std::optional<TensorDesc>& maximum) {
  auto result = std::make_shared<OpDesc>();
  result->op = &kMirroredSum;
  result->family = &kFamily;
  result->input_count = static_cast<std::uint32_t>(inputs.size());
  result->output_count = 2;
  for (const TensorDesc& input : inputs) {
    result->tensors.push_back({.name = "input", .present = true, .tensor = input, .reach = reach_of(input)});
  }
  result->tensors.push_back({.name = "sums", .present = true, .tensor = sums, .reach = reach_of(sums)});
  result->tensors.emplace_back().name = "greatest";
  if (maximum) {
    result->tensors.back() = {.name = "greatest", .present = true, .tensor = *maximum, .reach = reach_of(*maximum)};
  }
  return result;
}

}  // namespace test

namespace cpu {

#define ANYDML_FAMILY(name) extern const FamilyKernels name##_family;
#include "ops/families.def"

std::span<const FamilyKernels* const> families() {
  static constexpr const FamilyKernels* kAll[] = {
#define ANYDML_FAMILY(name) &name##_family,
#include "ops/families.def"
      &test::kKernels,
  };
  return kAll;
}

}  // namespace cpu
}  // namespace anydml
