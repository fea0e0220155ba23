// SPDX-License-Identifier: MIT
// Packs filters for convolutions by quads.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "ops/product/cpu/integer_convolution.h"
#include "ops/product/cpu/integer_pack.h"
#include "ops/product/cpu/integer_quad_layout.h"

namespace anydml {
namespace {

// Packs the filter. A piece consists of several strips of a group.
class QuadFilterRun final : public cpu::PreparedStep {
 public:
  QuadFilterRun(const IntegerConvolutionStep& step, const QuadKernels& kernels, std::int64_t strips)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(
            step.convolution.groups * ceil_div(step.convolution.rows, strip_of(step.convolution, kernels)), strips))),
        step_(step.convolution),
        kernels_(kernels),
        flip_(byte_flip(step.signed_filter != 0, true)),
        strip_(strip_of(step.convolution, kernels)),
        strips_(strips) {
    const WindowAxis* const axes = step_.windows.axes;
    for (std::int64_t tap = 0; tap < step_.taps(); ++tap) {
      taps_.push_back(tap / (axes[1].taps * axes[2].taps) * axes[0].filter_step +
                      tap / axes[2].taps % axes[1].taps * axes[1].filter_step +
                      tap % axes[2].taps * axes[2].filter_step);
    }
  }

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t of_group = ceil_div(step_.rows, strip_);
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * strips_;
    const std::int64_t end = std::min(first + strips_, step_.groups * of_group);
    for (std::int64_t number = first; number < end; ++number) {
      const std::int64_t group = number / of_group;
      const std::int64_t row = number % of_group * strip_;
      const std::byte* const from = operands[0] + group * step_.filter_group + row * step_.filter_row;
      u8* const to = reinterpret_cast<u8*>(operands[1]) + group * quad_group_bytes(step_);
      const std::int64_t rows = std::min(strip_, step_.rows - row);
      for (std::int64_t i = 0; i < rows; ++i) {
        const u32 sum = pack(from + i * step_.filter_row, rows, to + row * quad_depth(step_) + i * kQuad);
        std::memcpy(to + offset_of_sums(step_) + (row + i) * kWord, &sum, sizeof(sum));
      }
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "strips of %lld rows in quads, %s kernel", static_cast<long long>(strip_),
                  kernels_.name);
  }

 private:
  // Packs one of `rows` rows, and returns its sum.
  [[nodiscard]] u32 pack(const std::byte* from, std::int64_t rows, u8* to) const {
    u32 sum = 0;
    for (std::int64_t quad = 0; quad < quads_of(step_); ++quad, from += kQuad * step_.filter_channel) {
      const std::int64_t channels = std::min(kQuad, step_.channels - quad * kQuad);
      for (const std::int64_t tap : taps_) {
        u8 bytes[kQuad] = {};
        for (std::int64_t i = 0; i < channels; ++i) {
          bytes[i] = static_cast<u8>(static_cast<u8>(from[i * step_.filter_channel + tap]) ^ flip_);
          sum += static_cast<u32>(i32{static_cast<i8>(bytes[i])});
        }
        std::memcpy(to, bytes, sizeof(bytes));
        to += rows * kQuad;
      }
    }
    return sum;
  }

  ConvolutionStep step_;
  const QuadKernels& kernels_;
  u8 flip_;
  std::int64_t strip_;
  std::int64_t strips_;             // per piece
  std::vector<std::int64_t> taps_;  // the distances of the taps from the first one, in bytes
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_quad_filter(const IntegerConvolutionStep& step, const QuadKernels& kernels) {
  constexpr std::int64_t kBytesOfPiece = 1 << 15;
  const std::int64_t of_strip = strip_of(step.convolution, kernels) * quad_depth(step.convolution);
  return std::make_unique<QuadFilterRun>(step, kernels, std::max<std::int64_t>(1, kBytesOfPiece / of_strip));
}

}  // namespace anydml
