// SPDX-License-Identifier: MIT
// Finds equal units of work in a plan. A network repeats its layers, so most of its steps differ from an earlier step
// only in the memory that they use. A backend prepares such steps once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <unordered_map>

#include "base/inline_vector.h"
#include "plan/plan.h"

namespace anydml {

// Whether a family that sees only a step's parameters and the types and presence of its operands prepares the same for
// both steps. Operands without memory are the same only if they have the same number.
[[nodiscard]] inline bool are_equal_steps(const Step& a, const Step& b) {
  const auto is_same = [](const Operand& one, const Operand& other) {
    return one.type == other.type &&
           (has_address(one.slot) ? has_address(other.slot) : one.slot == other.slot && one.offset == other.offset);
  };
  return a.family == b.family && a.role == b.role && a.parameters.size() == b.parameters.size() &&
         std::ranges::equal(a.operands, b.operands, is_same) &&
         (a.parameters.empty() || std::memcmp(a.parameters.data(), b.parameters.data(), a.parameters.size()) == 0);
}

// The units of work of one plan, whose words must stay in memory.
class EqualWork {
 public:
  // Returns the number of an earlier unit that is equal to this one, or else `number`, which the unit then has.
  [[nodiscard]] std::size_t find_or_add(std::span<const Step> steps, std::size_t number) {
    const std::uint64_t hash = hash_of(steps);
    const auto [begin, end] = units_.equal_range(hash);
    for (auto unit = begin; unit != end; ++unit) {
      if (std::ranges::equal(unit->second.steps, steps, are_equal_steps)) {
        return unit->second.number;
      }
    }
    units_.emplace(hash, Unit{.steps = InlineVector<Step, 3>(steps), .number = number});
    return number;
  }

 private:
  struct Unit {
    InlineVector<Step, 3> steps;
    std::size_t number;
  };

  // Parameters are aligned, and most of them have more than a thousand bytes.
  [[nodiscard]] static std::uint64_t hash_of(std::span<const Step> steps) {
    constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;
    std::uint64_t sums[2] = {steps.size(), 0};
    for (const Step& step : steps) {
      const std::byte* at = step.parameters.data();
      std::size_t left = step.parameters.size();
      for (; left >= sizeof sums; left -= sizeof sums, at += sizeof sums) {
        std::uint64_t words[2];
        std::memcpy(words, at, sizeof words);
        sums[0] = (sums[0] ^ words[0]) * kFactor;
        sums[1] = (sums[1] ^ words[1]) * kFactor;
      }
      std::uint64_t rest[2] = {step.operands.size(), step.family};
      for (std::size_t i = 0; i < left; ++i) {
        rest[i / 8] ^= std::to_integer<std::uint64_t>(at[i]) << (i % 8 * 8);
      }
      sums[0] = (sums[0] ^ rest[0]) * kFactor;
      sums[1] = (sums[1] ^ rest[1]) * kFactor;
    }
    const std::uint64_t sum = (sums[0] ^ sums[0] >> 29) + (sums[1] ^ sums[1] >> 31) * 3;
    return sum ^ sum >> 32;
  }

  std::unordered_multimap<std::size_t, Unit> units_;
};

}  // namespace anydml
