// SPDX-License-Identifier: MIT
#include "plan/plan.h"

#include <algorithm>
#include <cstring>

namespace anydml {

static_assert(sizeof(StepHeader) % 8 == 0 && sizeof(Operand) % 8 == 0);

void Plan::add(std::uint32_t family, std::span<const Operand> operands, std::span<const std::byte> parameters) {
  const StepHeader header{.family = family,
                          .role = role_,
                          .operand_count = static_cast<std::uint32_t>(operands.size()),
                          .parameter_bytes = static_cast<std::uint32_t>(parameters.size())};
  const std::size_t bytes = sizeof(header) + operands.size_bytes() + parameters.size();
  const std::size_t first = words_.size();
  words_.resize(first + (bytes + 7) / 8);
  auto* to = reinterpret_cast<std::byte*>(words_.data() + first);
  const auto write = [&to](const void* from, std::size_t count) {
    if (count != 0) {
      std::memcpy(to, from, count);
    }
    to += count;
  };
  write(&header, sizeof(header));
  write(operands.data(), operands.size_bytes());
  write(parameters.data(), parameters.size());
}

void Plan::reserve_steps(std::size_t count) {
  constexpr std::size_t kTypicalWords = 160;
  words_.reserve(words_.size() + count * kTypicalWords);
}

std::uint64_t Plan::take_temporary(std::uint64_t bytes) {
  const std::uint64_t first = temporary_next_;
  begin_temporary(first + (bytes + kTemporaryAlignment - 1) / kTemporaryAlignment * kTemporaryAlignment);
  return first;
}

void Plan::begin_temporary(std::uint64_t offset) {
  temporary_next_ = offset;
  temporary_bytes_ = std::max(temporary_bytes_, offset);
}

}  // namespace anydml
