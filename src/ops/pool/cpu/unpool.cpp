// SPDX-License-Identifier: MIT
// Scatters elements according to their indices. If two elements have the same index, the later one wins, so the order
// matters. Each share of the work is a part of the input and the corresponding part of the output. If no index points
// outside its own part, as with indices from pooling, all shares run concurrently. Otherwise one share does all the
// work.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/pool/cpu/kernels.h"

namespace anydml {
namespace {

// Walks elements in row-major order of their tensor.
class Walk {
 public:
  Walk(const std::int64_t* sizes, const std::int64_t* steps, std::uint32_t rank, std::int64_t number)
      : sizes_(sizes), steps_(steps), rank_(rank) {
    for (std::uint32_t i = rank; number != 0 && i-- > 0; number /= sizes[i]) {
      coordinates_[i] = number % sizes[i];
      offset_ += coordinates_[i] * steps[i];
    }
  }
  [[nodiscard]] std::int64_t offset() const { return offset_; }
  void next() {
    for (std::uint32_t i = rank_; i-- > 0;) {
      offset_ += steps_[i];
      if (++coordinates_[i] < sizes_[i]) {
        return;
      }
      offset_ -= sizes_[i] * steps_[i];
      coordinates_[i] = 0;
    }
  }

 private:
  const std::int64_t* sizes_;
  const std::int64_t* steps_;
  std::uint32_t rank_;
  std::int64_t coordinates_[kMaxRank] = {};
  std::int64_t offset_ = 0;
};

struct Share {
  std::int64_t first;
  std::int64_t end;
};
Share share_of(std::int64_t count, std::int64_t number, std::int64_t shares) {
  const std::int64_t part = count / shares;
  const std::int64_t rest = count % shares;
  const auto begin = [&](std::int64_t i) { return i * part + std::min(i, rest); };
  return {.first = begin(number), .end = begin(number + 1)};
}

class Unpooling final : public cpu::PreparedStep {
 public:
  explicit Unpooling(const UnpoolStep& step) : PreparedStep(step.shares, 2), step_(step) {
    std::int64_t stride = static_cast<std::int64_t>(element_size(step.type));
    is_packed_ = true;
    for (std::uint32_t i = step.output_rank; i-- > 0; stride *= step.output_sizes[i]) {
      is_packed_ = is_packed_ && (step.output_sizes[i] == 1 || step.output_steps[i] == stride);
    }
  }

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    std::byte* const marks = operands[3];
    const auto number = static_cast<std::int64_t>(piece.number);
    if (piece.phase == 0) {
      clear(number, operands[2]);
      marks[number] = std::byte{stays(number, operands[1])};
      return;
    }
    const bool all_stay = std::all_of(marks, marks + step_.shares, [](std::byte mark) { return mark != std::byte{0}; });
    if (all_stay) {
      scatter(share_of(step_.inputs, number, step_.shares), operands);
    } else if (number == 0) {
      scatter({.first = 0, .end = step_.inputs}, operands);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "scattered by indices, %u shares", step_.shares);
  }

 private:
  void clear(std::int64_t number, std::byte* output) const {
    const Share share = share_of(step_.outputs, number, step_.shares);
    const std::size_t bytes = element_size(step_.type);
    if (is_packed_) {
      std::memset(output + share.first * static_cast<std::int64_t>(bytes), 0,
                  static_cast<std::size_t>(share.end - share.first) * bytes);
      return;
    }
    Walk walk(step_.output_sizes, step_.output_steps, step_.output_rank, share.first);
    for (std::int64_t i = share.first; i < share.end; ++i, walk.next()) {
      std::memset(output + walk.offset(), 0, bytes);
    }
  }

  [[nodiscard]] u64 index_at(const std::byte* from) const {
    u64 index = 0;
    std::memcpy(&index, from, element_size(step_.index_type));  // a negative number is out of range either way
    return index;
  }

  [[nodiscard]] bool stays(std::int64_t number, const std::byte* indices) const {
    const Share inputs = share_of(step_.inputs, number, step_.shares);
    const Share outputs = share_of(step_.outputs, number, step_.shares);
    const auto first = static_cast<u64>(outputs.first);
    const auto count = static_cast<u64>(outputs.end - outputs.first);
    bool stays = true;
    Walk walk(step_.input_sizes, step_.index_steps, step_.input_rank, inputs.first);
    for (std::int64_t i = inputs.first; i < inputs.end; ++i, walk.next()) {
      const u64 index = index_at(indices + walk.offset());
      stays = stays && (index - first < count || index >= static_cast<u64>(step_.outputs));
    }
    return stays;
  }

  void scatter(const Share& share, std::byte* const* operands) const {
    const std::size_t bytes = element_size(step_.type);
    Walk from(step_.input_sizes, step_.input_steps, step_.input_rank, share.first);
    Walk by(step_.input_sizes, step_.index_steps, step_.input_rank, share.first);
    for (std::int64_t i = share.first; i < share.end; ++i, from.next(), by.next()) {
      const u64 index = index_at(operands[1] + by.offset());
      if (index < static_cast<u64>(step_.outputs)) {
        std::memcpy(operands[2] + offset_of(static_cast<std::int64_t>(index)), operands[0] + from.offset(), bytes);
      }
    }
  }

  [[nodiscard]] std::int64_t offset_of(std::int64_t index) const {
    return is_packed_ ? index * static_cast<std::int64_t>(element_size(step_.type))
                      : Walk(step_.output_sizes, step_.output_steps, step_.output_rank, index).offset();
  }

  UnpoolStep step_;
  bool is_packed_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_unpooling(const UnpoolStep& step) {
  return std::make_unique<Unpooling>(step);
}

}  // namespace anydml
