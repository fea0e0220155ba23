// SPDX-License-Identifier: MIT
// Computes window sums of the elements, or of their squares, on the CPU. A piece consists of several runs along the
// last dimension. Each window position adds one run of the input, in the order of the window.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/float_bits.h"
#include "ops/normalize/cpu/prepare.h"
#include "ops/normalize/scalar/sum.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kStretch = 1024;        // elements that are summed together; fits in the L1 cache
constexpr std::int64_t kMinOfPiece = 8 << 10;  // additions, about ten microseconds of work

struct Range {
  std::int64_t first;
  std::int64_t last;
};

// The range along a dimension that an element's window covers.
Range window_at(const WindowStep& step, std::uint32_t dimension, std::int64_t coordinate) {
  if ((step.windowed >> dimension & 1) == 0) {
    return {coordinate, coordinate};
  }
  return {std::max<std::int64_t>(0, coordinate - step.before),
          std::min(step.sizes[dimension] - 1, coordinate + step.after)};
}

template <class T, bool kSquares>
void add_elements(const std::byte* from, std::int64_t stride, std::int64_t count, f32* sums) {
  for (std::int64_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, from + i * stride, sizeof(T));
    const f32 x = widen(element);
    sums[i] += kSquares ? x * x : x;
  }
}

// Adds a run of elements, which are `stride` bytes apart, to the sums.
template <class T, bool kSquares>
void add_stretch(const std::byte* from, std::int64_t stride, std::int64_t count, f32* sums) {
  if (stride == static_cast<std::int64_t>(sizeof(T))) {
    add_elements<T, kSquares>(from, sizeof(T), count, sums);  // turns the stride into a compile-time constant
  } else {
    add_elements<T, kSquares>(from, stride, count, sums);
  }
}

// Computes the sums [first, first + count) of the last dimension at the given outer positions.
template <class T, bool kSquares>
void sum_stretch(const WindowStep& step, const std::int64_t* coordinates, std::int64_t first, std::int64_t count,
                 const std::byte* input, f32* sums) {
  const std::uint32_t last = step.rank - 1;
  std::fill_n(sums, count, kNothing<f32>);
  Range ranges[kMaxRank];
  std::int64_t at[kMaxRank];
  const std::byte* from = input;
  for (std::uint32_t i = 0; i < last; ++i) {
    ranges[i] = window_at(step, i, coordinates[i]);
    at[i] = ranges[i].first;
    from += at[i] * step.strides[i];
  }
  const bool is_windowed = (step.windowed >> last & 1) != 0;
  const std::int64_t before = is_windowed ? std::min(step.before, step.sizes[last] - 1) : 0;
  const std::int64_t after = is_windowed ? std::min(step.after, step.sizes[last] - 1) : 0;
  while (true) {
    for (std::int64_t shift = -before; shift <= after; ++shift) {
      const std::int64_t begin = std::max(first, -shift);
      const std::int64_t end = std::min(first + count, step.sizes[last] - shift);
      if (begin < end) {
        add_stretch<T, kSquares>(from + (begin + shift) * step.strides[last], step.strides[last], end - begin,
                                 sums + (begin - first));
      }
    }
    std::uint32_t i = last;
    for (; i-- > 0;) {
      from += step.strides[i];
      if (++at[i] <= ranges[i].last) {
        break;
      }
      from -= (at[i] - ranges[i].first) * step.strides[i];
      at[i] = ranges[i].first;
    }
    if (i == static_cast<std::uint32_t>(-1)) {
      return;
    }
  }
}

class Windows final : public cpu::PreparedStep {
 public:
  Windows(const WindowStep& step, std::int64_t units, std::int64_t units_of_piece)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(units, units_of_piece))),
        step_(step),
        units_(units),
        units_of_piece_(units_of_piece) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const auto sum = step_.function == NormalizeFunction::window_sums ? sum_stretch<f32, false>
                     : step_.type == DataType::FLOAT16                ? sum_stretch<f16, true>
                                                                      : sum_stretch<f32, true>;
    const std::int64_t row = step_.sizes[step_.rank - 1];
    const std::int64_t of_row = ceil_div(row, kStretch);
    const std::int64_t begin = static_cast<std::int64_t>(piece.number) * units_of_piece_;
    for (std::int64_t unit = begin; unit < std::min(units_, begin + units_of_piece_); ++unit) {
      std::int64_t coordinates[kMaxRank];
      std::int64_t number = unit / of_row;
      for (std::uint32_t i = step_.rank - 1; i-- > 0;) {
        coordinates[i] = number % step_.sizes[i];
        number /= step_.sizes[i];
      }
      const std::int64_t first = unit % of_row * kStretch;
      const std::int64_t count = std::min(kStretch, row - first);
      alignas(64) f32 sums[kStretch];
      sum(step_, coordinates, first, count, operands[0], sums);
      std::memcpy(operands[1] + (unit / of_row * row + first) * static_cast<std::int64_t>(sizeof(f32)), sums,
                  static_cast<std::size_t>(count) * sizeof(f32));
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s",
                  step_.function == NormalizeFunction::window_sums ? "sums of windows" : "sums of squares of windows");
  }

 private:
  WindowStep step_;
  std::int64_t units_;
  std::int64_t units_of_piece_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_windows(const Step& flat, const cpu::StepContext& context) {
  WindowStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  std::int64_t units = ceil_div(step.sizes[step.rank - 1], kStretch);
  std::int64_t of_unit = std::min(step.sizes[step.rank - 1], kStretch);  // in additions
  for (std::uint32_t i = 0; i < step.rank; ++i) {
    units *= i + 1 < step.rank ? step.sizes[i] : 1;
    if ((step.windowed >> i & 1) != 0) {
      of_unit *= std::min(step.sizes[i], step.before + 1 + step.after);
    }
  }
  const std::int64_t enough = ceil_div(kMinOfPiece, of_unit);
  return std::make_unique<Windows>(step, units, std::max(enough, units / (8 * std::int64_t{context.threads})));
}

}  // namespace anydml
