// SPDX-License-Identifier: MIT
// ROI_POOLING on the CPU. A unit of work is a channel of a region. The image rows that belong to a row of bins are
// combined into one row of maxima with vector instructions, and each bin is the maximum of its part of that row.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <type_traits>

#include "ops/regions/cpu/kernels.h"

namespace anydml {
namespace {

struct PoolingRoom {
  explicit PoolingRoom(const RegionStep& step) {
    maximum = room.take(step.axes[1].size * static_cast<std::int64_t>(sizeof(f32)));
    loaded = room.take(step.axes[1].size * static_cast<std::int64_t>(sizeof(f32)));
  }
  RegionRoom room;
  std::size_t maximum;
  std::size_t loaded;
};

template <class T>
class Pooling final : public cpu::PreparedStep {
 public:
  Pooling(const RegionStep& step, const RegionCut& cut, const PoolingRoom& room, cpu::Target target)
      : PreparedStep(cut.pieces(), 1, room.room.bytes()),
        step_(step),
        cut_(cut),
        room_(room),
        kernels_(region_kernels(target)),
        target_(target) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * cut_.units_of_piece;
    for (std::int64_t n = first; n < std::min(cut_.units, first + cut_.units_of_piece); ++n) {
      const std::int64_t region = n % step_.regions;  // regions vary fastest, so that a channel stays in the cache
      const std::int64_t channel = n / step_.regions;
      const std::int64_t batch = pooled_batch(box_number<T>(step_, operands[1], region, 0), step_.batches);
      i64 corners[4];
      for (std::int64_t i = 0; i < 4; ++i) {
        corners[i] = pooled_corner(box_number<T>(step_, operands[1], region, 1 + i), step_.axes[0].scale);
      }
      const std::byte* const from =
          batch < 0 ? nullptr : operands[0] + batch * step_.image[0] + channel * step_.image[1];
      pool(corners, from, operands[3] + region * step_.bins[0] + channel * step_.bins[1], piece.scratch);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "maxima of elements, %s kernel", cpu::target_name(target_));
  }

 private:
  // `from` is null if the region has no batch.
  void pool(const i64 (&corners)[4], const std::byte* from, std::byte* to, std::byte* scratch) const {
    auto* const maximum = reinterpret_cast<f32*>(scratch + room_.maximum);
    const RegionAxis& rows = step_.axes[0];
    const RegionAxis& columns = step_.axes[1];
    const i64 first = pooled_range(corners[0], corners[2], 0, columns.bins, columns.size).first;
    const i64 count = pooled_range(corners[0], corners[2], columns.bins - 1, columns.bins, columns.size).end - first;
    for (std::int64_t y = 0; y < rows.bins; ++y) {
      const PooledRange in_rows = pooled_range(corners[1], corners[3], y, rows.bins, rows.size);
      const bool is_empty = from == nullptr || in_rows.first == in_rows.end;
      if (!is_empty) {
        std::fill_n(maximum, count, -std::numeric_limits<f32>::infinity());
        for (i64 row = in_rows.first; row < in_rows.end; ++row) {
          raise(from + row * step_.image[2] + first * step_.image[3], count, scratch);
        }
      }
      for (std::int64_t x = 0; x < columns.bins; ++x) {
        const PooledRange range = pooled_range(corners[0], corners[2], x, columns.bins, columns.size);
        f32 value = 0.0F;
        if (!is_empty && range.first != range.end) {
          value = maximum[range.first - first];
          for (i64 i = range.first + 1; i < range.end; ++i) {
            value = greater_of(value, maximum[i - first]);
          }
        }
        store_narrow<T>(to + y * step_.bins[2] + x * step_.bins[3], value);
      }
    }
  }

  // Updates the maxima with the elements of a row.
  void raise(const std::byte* row, std::int64_t count, std::byte* scratch) const {
    auto* const maximum = reinterpret_cast<f32*>(scratch + room_.maximum);
    auto* const loaded = reinterpret_cast<f32*>(scratch + room_.loaded);
    const std::int64_t stride = step_.image[3];
    const bool is_contiguous = stride == static_cast<std::int64_t>(sizeof(T));
    if (std::is_same_v<T, f32> && is_contiguous) {
      kernels_.raise(row, count, maximum);
      return;
    }
    if (is_contiguous) {
      kernels_.widen(row, count, loaded);
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        loaded[i] = load_wide<T>(row + i * stride);
      }
    }
    kernels_.raise(reinterpret_cast<const std::byte*>(loaded), count, maximum);
  }

  RegionStep step_;
  RegionCut cut_;
  PoolingRoom room_;
  RegionKernels kernels_;
  cpu::Target target_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_region_pooling(const RegionStep& step, const cpu::StepContext& context) {
  constexpr double kCostOfBin = 16;  // approximately, in image elements
  const auto bins = static_cast<double>(step.axes[0].bins) * static_cast<double>(step.axes[1].bins);
  const RegionCut cut = cut_regions(step.regions * step.channels, bins * kCostOfBin, context.threads);
  const PoolingRoom room(step);
  if (step.type == DataType::FLOAT16) {
    return std::make_unique<Pooling<f16>>(step, cut, room, context.target);
  }
  return std::make_unique<Pooling<f32>>(step, cut, room, context.target);
}

}  // namespace anydml
