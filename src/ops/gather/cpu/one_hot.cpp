// SPDX-License-Identifier: MIT
// Runs ONE_HOT on the CPU: fills a few items at a time with the off value, then writes the on value of each item.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/gather/cpu/rows.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kMinOfPiece = 64 << 10;  // bytes
constexpr std::int64_t kMaxOfPiece = 1 << 20;
constexpr std::int64_t kPiecesOfThread = 8;
constexpr std::int64_t kMinDepth = 4096;  // minimum size of a part of the axis

struct OneHotCut {
  std::int64_t items;
  std::int64_t items_of_piece;
  std::int64_t depth_parts;
};

template <class T>
void fill(std::byte* to, std::int64_t step, std::int64_t count, T value) {
  using Unaligned [[gnu::aligned(1), gnu::may_alias]] = T;
  if (step == static_cast<std::int64_t>(sizeof(T))) {
    auto* const elements = reinterpret_cast<Unaligned*>(to);
    for (std::int64_t i = 0; i < count; ++i) {
      elements[i] = value;
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i, to += step) {
    std::memcpy(to, &value, sizeof(value));
  }
}

template <class T>
class OneHot final : public cpu::PreparedStep {
 public:
  OneHot(const OneHotStep& step, const OneHotCut& cut)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(cut.items, cut.items_of_piece) * cut.depth_parts)),
        step_(step),
        cut_(cut),
        resolve_(find_resolve(step.index_type, GatherKind::scatter)) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const auto number = static_cast<std::int64_t>(piece.number);
    const std::int64_t part = number % cut_.depth_parts;
    const std::int64_t begin = step_.depth * part / cut_.depth_parts;
    const std::int64_t end = step_.depth * (part + 1) / cut_.depth_parts;
    T off;
    T on;
    std::memcpy(&off, operands[1], sizeof(off));
    std::memcpy(&on, operands[1] + step_.on_offset, sizeof(on));
    const OneHotLoop inner =
        step_.rank == 0 ? OneHotLoop{.size = 1, .indices = 0, .output = 0} : step_.loops[step_.rank - 1];
    const GatherCoordinate axis{.size = step_.depth, .stride = step_.axis_stride, .number = 1};
    const std::int64_t last = std::min(cut_.items, (number / cut_.depth_parts + 1) * cut_.items_of_piece);
    for (std::int64_t item = number / cut_.depth_parts * cut_.items_of_piece; item < last;) {
      std::int64_t rest = item / inner.size;
      const std::int64_t column = item % inner.size;
      const std::byte* indices = operands[0] + column * inner.indices;
      std::byte* output = operands[2] + column * inner.output;
      for (std::uint32_t i = step_.rank; i-- > 1; rest /= step_.loops[i - 1].size) {
        indices += rest % step_.loops[i - 1].size * step_.loops[i - 1].indices;
        output += rest % step_.loops[i - 1].size * step_.loops[i - 1].output;
      }
      const std::int64_t count = std::min({last - item, inner.size - column, kItemsAtOnce});
      fill_off(output, inner.output, count, begin, end, off);
      std::int64_t offsets[kItemsAtOnce];
      resolve_({.first = indices,
                .step = inner.indices,
                .coordinate_stride = 0,
                .coordinates = 1,
                .table = &axis,
                .first_number = begin,
                .end_number = end},
               count, offsets);
      for (std::int64_t i = 0; i < count; ++i) {
        if (offsets[i] != kNowhere) {
          std::memcpy(output + i * inner.output + offsets[i], &on, sizeof(on));
        }
      }
      item += count;
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "one-hot, %lld of %lld", static_cast<long long>(cut_.items),
                  static_cast<long long>(step_.depth));
  }

 private:
  // Fills the positions [begin, end) of the axis for `count` items that are `step` bytes apart.
  void fill_off(std::byte* to, std::int64_t step, std::int64_t count, std::int64_t begin, std::int64_t end,
                T off) const noexcept {
    const auto element = static_cast<std::int64_t>(sizeof(T));
    to += begin * step_.axis_stride;
    if (step_.axis_stride == element && step == element * step_.depth && end - begin == step_.depth) {
      fill(to, element, count * step_.depth, off);
    } else if (step_.axis_stride == element) {
      for (std::int64_t i = 0; i < count; ++i, to += step) {
        fill(to, element, end - begin, off);
      }
    } else {
      for (std::int64_t index = begin; index < end; ++index, to += step_.axis_stride) {
        fill(to, step, count, off);
      }
    }
  }

  OneHotStep step_;
  OneHotCut cut_;
  ResolveItems resolve_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_one_hot(const OneHotStep& step, unsigned threads) {
  OneHotCut cut{.items = 1, .items_of_piece = 1, .depth_parts = 1};
  for (std::uint32_t i = 0; i < step.rank; ++i) {
    cut.items *= step.loops[i].size;
  }
  const std::int64_t bytes = step.depth * step.element;
  const std::int64_t wanted = std::clamp(cut.items * bytes / (threads * kPiecesOfThread), kMinOfPiece, kMaxOfPiece);
  cut.items_of_piece = std::clamp<std::int64_t>(wanted / bytes, 1, cut.items);
  cut.depth_parts = std::clamp<std::int64_t>(bytes / wanted, 1, std::max<std::int64_t>(1, step.depth / kMinDepth));
  switch (step.element) {
    case 1:
      return std::make_unique<OneHot<std::uint8_t>>(step, cut);
    case 2:
      return std::make_unique<OneHot<std::uint16_t>>(step, cut);
    case 4:
      return std::make_unique<OneHot<std::uint32_t>>(step, cut);
    default:
      return std::make_unique<OneHot<std::uint64_t>>(step, cut);
  }
}

}  // namespace anydml
