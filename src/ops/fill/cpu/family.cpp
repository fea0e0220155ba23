// SPDX-License-Identifier: MIT
// Fills tensors on the CPU. Writing a constant is limited only by memory bandwidth, so plain stores of a repeated
// pattern are enough.
#include "backend/cpu/family.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/fill/cpu/sequences.h"
#include "ops/fill/step.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kTileBytes = 256 << 10;
constexpr std::int64_t kSequenceTile = 64 << 10;  // elements

class FillRun final : public cpu::PreparedStep {
 public:
  FillRun(const FillStep& step, const Tiling& tiling)
      : PreparedStep(static_cast<std::uint64_t>(tiling.tiles)),
        step_(step),
        tiling_(tiling),
        bytes_(element_size(step.type)) {
    for (std::size_t at = 0; at < sizeof(pattern_); at += bytes_) {
      std::memcpy(pattern_ + at, &step.bits, bytes_);
    }
  }

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const auto tile = static_cast<std::int64_t>(piece.number);
    for_each_tile(step_.nest, tiling_, tile, tile + 1, [&](const Block& block) {
      const std::int64_t stride = step_.nest.innermost().strides[0];
      const std::int64_t rows = step_.nest.rank >= 2 ? step_.nest.loops[step_.nest.rank - 2].strides[0] : 0;
      for (std::int64_t row = 0; row < block.rows; ++row) {
        std::byte* const to = operands[0] + block.offsets[0] + row * rows;
        if (stride == static_cast<std::int64_t>(bytes_)) {
          fill_row(to, static_cast<std::size_t>(block.columns) * bytes_);
        } else {
          scatter_row(to, block.columns, stride);
        }
      }
    });
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s, %u loop%s, pattern", layout_name(step_.nest.inner), step_.nest.rank,
                  step_.nest.rank == 1 ? "" : "s");
  }

 private:
  void fill_row(std::byte* to, std::size_t bytes) const noexcept {
    for (; bytes >= sizeof(pattern_); to += sizeof(pattern_), bytes -= sizeof(pattern_)) {
      std::memcpy(to, pattern_, sizeof(pattern_));
    }
    std::memcpy(to, pattern_, bytes);
  }

  void scatter_row(std::byte* to, std::int64_t count, std::int64_t stride) const noexcept {
    const auto each = [&]<class T>(T value) {
      for (std::int64_t i = 0; i < count; ++i, to += stride) {
        std::memcpy(to, &value, sizeof(value));
      }
    };
    switch (bytes_) {
      case 1:
        return each(static_cast<std::uint8_t>(step_.bits));
      case 2:
        return each(static_cast<std::uint16_t>(step_.bits));
      case 4:
        return each(static_cast<std::uint32_t>(step_.bits));
      default:
        return each(step_.bits);
    }
  }

  FillStep step_;
  Tiling tiling_;
  std::size_t bytes_;  // size of an element
  alignas(64) std::byte pattern_[64];
};

template <class T>
class SequenceRun final : public cpu::PreparedStep {
 public:
  SequenceRun(const FillStep& step, const Tiling& tiling, cpu::Target target)
      : PreparedStep(static_cast<std::uint64_t>(tiling.tiles)),
        nest_(step.nest),
        tiling_(tiling),
        row_(vector_sequence_row<T>(target)) {
    std::memcpy(&sequence_.start, &step.bits, sizeof(T));
    std::memcpy(&sequence_.delta, &step.delta, sizeof(T));
  }

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const auto tile = static_cast<std::int64_t>(piece.number);
    const Loop& inner = nest_.innermost();
    for_each_tile(nest_, tiling_, tile, tile + 1, [&](const Block& block) {
      for (std::int64_t row = 0; row < block.rows; ++row) {
        const Loop& outer = nest_.loops[nest_.rank >= 2 ? nest_.rank - 2 : 0];
        const std::int64_t first = block.offsets[0] + row * outer.strides[0];
        std::byte* to = operands[0] + block.offsets[1] + row * outer.strides[1];
        if (row_ != nullptr && inner.strides[0] == 1 && inner.strides[1] == static_cast<std::int64_t>(sizeof(T))) {
          row_(sequence_, static_cast<std::uint64_t>(first), block.columns, to);
          continue;
        }
        for (std::int64_t column = 0; column < block.columns; ++column, to += inner.strides[1]) {
          const T value = sequence_(static_cast<std::uint64_t>(first + column * inner.strides[0]));
          std::memcpy(to, &value, sizeof(value));
        }
      }
    });
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%u loop%s, sequence", nest_.rank, nest_.rank == 1 ? "" : "s");
  }

 private:
  LoopNest nest_;
  Tiling tiling_;
  Sequence<T> sequence_;
  SequenceRow<T> row_;
};

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context, cpu::Neighbors) {
  FillStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const auto bytes = static_cast<std::int64_t>(element_size(step.type));
  if (step.is_sequence == 0) {
    return std::make_unique<FillRun>(step, make_tiling(step.nest, kTileBytes / bytes));
  }
  const Tiling tiling = make_tiling(step.nest, kSequenceTile);
  return visit_type(step.type, [&]<class T>() -> std::unique_ptr<cpu::PreparedStep> {
    return std::make_unique<SequenceRun<T>>(step, tiling, context.target);
  });
}

}  // namespace

namespace cpu {
extern const FamilyKernels fill_family;
const FamilyKernels fill_family = {.open = nullptr, .prepare = prepare, .prepare_joined = nullptr};
}  // namespace cpu

}  // namespace anydml
