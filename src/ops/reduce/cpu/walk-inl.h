// SPDX-License-Identifier: MIT
// Determines how a reduction's work is split and where its elements and outputs are. Nothing here depends on the
// element type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "backend/cpu/family.h"
#include "ops/reduce/step.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kMinOfPiece = 128 << 10;  // bytes of the input
constexpr std::int64_t kMaxOfPiece = 2 << 20;
constexpr std::int64_t kRowBytes = 16 << 10;   // bytes of accumulators across outputs
constexpr std::int64_t kMinRowBytes = 256;     // minimum bytes of the input per row, for any number of threads
constexpr std::int64_t kLaneBytes = 16 << 10;  // bytes of accumulators across outputs, with lanes

// Calls use(offset, stride, length) for each row of the innermost reduced loop among the elements [first, first +
// count) of a reduction, in order.
template <class Use>
void for_each_run(const ReduceStep& step, std::int64_t first, std::int64_t count, Use use) {
  const ReduceLoop& inner = step.reduced[step.reduced_rank - 1];
  std::int64_t indices[kMaxRank] = {};
  std::int64_t rest = first;
  std::int64_t offset = 0;  // offset of the outer loops
  for (std::uint32_t i = step.reduced_rank; i-- > 0;) {
    indices[i] = rest % step.reduced[i].size;
    rest /= step.reduced[i].size;
    offset += i + 1 == step.reduced_rank ? 0 : indices[i] * step.reduced[i].input;
  }
  std::int64_t column = indices[step.reduced_rank - 1];
  while (count > 0) {
    const std::int64_t length = std::min(count, inner.size - column);
    use(offset + column * inner.input, inner.input, length);
    count -= length;
    column = 0;
    for (std::uint32_t i = step.reduced_rank - 1; i-- > 0;) {
      offset += step.reduced[i].input;
      if (++indices[i] < step.reduced[i].size) {
        break;
      }
      offset -= step.reduced[i].size * step.reduced[i].input;
      indices[i] = 0;
    }
  }
}

// The destination of a piece's outputs, in order. It is either memory or the joined step after this one, which receives
// several outputs at a time.
class Outputs {
 public:
  Outputs(const ReduceStep& step, const cpu::Neighbors& neighbors, std::byte* const* operands)
      : size_(static_cast<std::int64_t>(element_size(step.output_type))),
        after_(neighbors.after),
        operands_(operands) {}
  ~Outputs() { hand_on(); }
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;

  // The address for this output. offset: the offset of its element in memory.
  std::byte* destination(std::int64_t output, std::int64_t offset) {
    if (after_.step == nullptr) {
      return operands_[1] + offset;
    }
    if (held_ == kHeld) {
      hand_on();
    }
    first_ = held_ == 0 ? output : first_;
    return buffer_ + size_ * held_++;
  }

 private:
  static constexpr std::int64_t kHeld = 512;

  void hand_on() {
    if (held_ != 0) {
      after_.run(first_, held_, buffer_, operands_);
      held_ = 0;
    }
  }

  const std::int64_t size_;
  const cpu::Neighbor& after_;
  std::byte* const* const operands_;
  std::int64_t first_ = 0;
  std::int64_t held_ = 0;
  alignas(64) std::byte buffer_[static_cast<std::size_t>(kHeld) * sizeof(u64)];
};

// The division of the work. A unit is one block of elements, of one output (along) or of `width` outputs (across).
struct Cut {
  bool across;
  std::int64_t width;  // columns of the innermost kept loop per unit
  std::int64_t tiles;  // number of tiles of that width
  std::int64_t units;
  std::int64_t units_of_piece;
};

// Elements that a joined step computes are consumed in memory order and in whole rows. Reductions that would split rows
// are not joined (family.cpp).
Cut cut(const ReduceStep& step, std::int64_t element, std::int64_t accumulator, bool ordered, std::int64_t threads,
        bool are_computed) {
  const ReduceLoop& column = step.kept[step.kept_rank - 1];
  const bool reduced_is_contiguous = step.reduced[step.reduced_rank - 1].input == element;
  const bool column_is_contiguous = column.size > 1 && column.input == element;
  Cut result{};
  // An ordered fold without lanes combines an output's elements one by one, so a vector must contain elements of
  // several outputs.
  result.across = ordered && step.has_lanes == 0 ? true : column_is_contiguous && !reduced_is_contiguous;
  std::int64_t bytes = std::min(step.count, kReduceBlock) * element;  // per unit
  if (result.across) {
    const std::int64_t others = step.outputs / column.size * step.blocks();
    result.width =
        std::min(column.size, (ordered && step.has_lanes != 0 ? kLaneBytes / kReduceLanes : kRowBytes) / accumulator);
    // If there are few units, they are split until each thread has one or two. They are not split further, because
    // reading short parts of long rows is slow.
    if (const std::int64_t units = others * ceil_div(column.size, result.width);
        !are_computed && units < 2 * threads && units % threads != 0) {
      const std::int64_t line = std::max<std::int64_t>(1, 64 / element);
      const std::int64_t share = ceil_div(column.size, others < threads ? ceil_div(threads, others) : 2);
      result.width = std::min(result.width, std::max(ceil_div(share, line) * line, kMinRowBytes / element));
    }
    result.tiles = ceil_div(column.size, result.width);
    result.units = others * result.tiles;
    bytes *= result.width;
  } else {
    result.width = 1;
    result.tiles = column.size;
    result.units = step.outputs * step.blocks();
  }
  const std::int64_t wanted = std::clamp(step.outputs * step.count * element / (8 * threads), kMinOfPiece, kMaxOfPiece);
  result.units_of_piece = std::max<std::int64_t>(1, wanted / bytes);
  return result;
}

std::uint64_t pieces_of(const Cut& cut) { return static_cast<std::uint64_t>(ceil_div(cut.units, cut.units_of_piece)); }

}  // namespace
}  // namespace anydml
