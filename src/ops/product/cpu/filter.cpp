// SPDX-License-Identifier: MIT
// Packs the filter of a convolution.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/float_bits.h"
#include "ops/product/cpu/boxes.h"
#include "ops/product/cpu/convolution.h"
#include "ops/product/cpu/pack.h"
#include "ops/product/step.h"

namespace anydml {
namespace {

constexpr auto kFactorBytes = static_cast<std::int64_t>(sizeof(f32));

// Packs the filter. A piece consists of several strips of a group.
class FilterRun final : public cpu::PreparedStep {
 public:
  FilterRun(const ConvolutionStep& step, const ProductKernels* kernels, std::int64_t strips)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(step.groups * strips_of(step), strips))),
        step_(step),
        kernels_(kernels),
        strips_(strips) {
    for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
      for (std::int64_t group = 0; group < tap_groups(step.windows, i); ++group) {
        groups_[i].push_back(taps_of_group(step.windows, i, group));
      }
    }
  }

  static std::int64_t strips_of(const ConvolutionStep& step) { return ceil_div(step.rows, step.strip); }

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * strips_;
    const std::int64_t end = std::min(first + strips_, step_.groups * strips_of(step_));
    const Windows& windows = step_.windows;
    for (std::int64_t number = first; number < end; ++number) {
      const std::int64_t group = number / strips_of(step_);
      const std::int64_t row = number % strips_of(step_) * step_.strip;
      const std::int64_t rows = std::min<std::int64_t>(step_.strip, step_.rows - row);
      const std::byte* const from = operands[0] + group * step_.filter_group + row * step_.filter_row;
      const std::int64_t of_group = step_.rows * step_.channels * step_.taps();
      auto* const to = reinterpret_cast<f32*>(operands[1]) + group * of_group;
      bool is_finite = true;
      for (const WindowTaps& first_taps : groups_[0]) {
        for (const WindowTaps& second_taps : groups_[1]) {
          for (const WindowTaps& third_taps : groups_[2]) {
            const WindowTaps taps[] = {first_taps, second_taps, third_taps};
            const std::int64_t depth = step_.channels * taps[0].count * taps[1].count * taps[2].count;
            f32* const strip =
                to + taps_before(windows, taps[0], taps[1], taps[2]) * step_.rows * step_.channels + row * depth;
            pack(from, taps, depth, rows, strip);
            is_finite = is_finite && (step_.taps() < kManyTaps || are_finite(strip, depth * rows));
          }
        }
      }
      if (step_.taps() >= kManyTaps) {
        reinterpret_cast<f32*>(operands[1])[step_.groups * of_group + number] = is_finite ? 0.0F : 1.0F;
      }
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "strips of %u rows", step_.strip);
  }

 private:
  static bool are_finite(const f32* factors, std::int64_t count) {
    std::uint32_t any = 0;  // 1 if any element is infinite or NaN
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint32_t magnitude = to_bits(factors[i]) & FloatParts<f32>::kMagnitude;
      any |= magnitude >= FloatParts<f32>::kInfinity ? 1U : 0U;
    }
    return any == 0;
  }

  void pack(const std::byte* from, const WindowTaps* taps, std::int64_t depth, std::int64_t rows, f32* to) const {
    const WindowAxis* const axes = step_.windows.axes;
    bool has_all = true;
    for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
      has_all = has_all && taps[i].count == axes[i].taps;
    }
    if (has_all && is_contiguous_filter(step_, kFactorBytes)) {
      pack_panel(kernels_, from, kFactorBytes, step_.filter_row, depth, rows, rows, to);
      return;
    }
    // Copies taps row by row; a channel whose taps are contiguous counts as one row.
    const bool is_row = has_all && has_contiguous_taps(step_, kFactorBytes);
    const std::int64_t length = is_row ? step_.taps() : taps[2].count;
    const std::int64_t apart = is_row ? kFactorBytes : taps[2].step * axes[2].filter_step;
    for (std::int64_t channel = 0; channel < step_.channels; ++channel) {
      for (std::int64_t i = 0; i < (is_row ? 1 : taps[0].count); ++i) {
        for (std::int64_t j = 0; j < (is_row ? 1 : taps[1].count); ++j, to += length * rows) {
          const std::byte* const at =
              from + channel * step_.filter_channel + (taps[0].first + i * taps[0].step) * axes[0].filter_step +
              (taps[1].first + j * taps[1].step) * axes[1].filter_step + taps[2].first * axes[2].filter_step;
          if (length > 1) {
            pack_panel(kernels_, at, apart, step_.filter_row, length, rows, rows, to);
            continue;
          }
          for (std::int64_t row = 0; row < rows; ++row) {
            std::memcpy(to + row, at + row * step_.filter_row, sizeof(f32));
          }
        }
      }
    }
  }

  ConvolutionStep step_;
  const ProductKernels* kernels_;
  std::int64_t strips_;                          // per piece
  std::vector<WindowTaps> groups_[kWindowAxes];  // along each dimension
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_filter(const Step& flat, const ProductKernels* kernels) {
  ConvolutionStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  constexpr std::int64_t kElementsOfPiece = 1 << 16;
  const std::int64_t of_strip = step.strip * step.channels * step.taps();
  return std::make_unique<FilterRun>(step, kernels, std::max<std::int64_t>(1, kElementsOfPiece / of_strip));
}

}  // namespace anydml
