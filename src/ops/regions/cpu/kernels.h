// SPDX-License-Identifier: MIT
// The CPU steps for regions, and the per-target kernels that they share. Everything is computed in FLOAT32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "backend/cpu/family.h"
#include "ops/regions/step.h"

namespace anydml {

inline constexpr std::int64_t kRegionChannels = 8;  // processed together by kernels

// An element of an image row that contributes to a bin.
struct RegionElement {
  std::int64_t offset;  // in bytes from the start of the row
  f32 weight;
};

// For each bin of a row of bins, the elements of an image row that contribute to it. The elements of bin b end at
// ends[b] and begin where the elements of the previous bin end.
struct RegionColumns {
  const RegionElement* elements;
  const std::int64_t* ends;
  std::int64_t bins;
};

struct RegionKernels {
  // sums[bin * kRegionChannels + c] is set to, or increased by, weight * (the sum of the bin's elements in the row of
  // channel c, times their weights). channel: the distance between the rows of two channels, in bytes.
  using AddRow = void (*)(const RegionColumns& columns, const std::byte* row, std::int64_t channel, f32 weight,
                          bool begins, f32* sums) noexcept;
  AddRow add_rows;        // for kRegionChannels channels
  AddRow add_contiguous;  // like add_rows, if the channels of an element are adjacent
  AddRow add_row;         // for one channel
  void (*widen)(const std::byte* halves, std::int64_t count, f32* to) noexcept;
  // maxima[i] becomes the maximum of itself and row[i], which may have any alignment.
  void (*raise)(const std::byte* row, std::int64_t count, f32* maxima) noexcept;
};

[[nodiscard]] RegionKernels region_kernels(cpu::Target target);
[[nodiscard]] RegionKernels generic_region_kernels();  // portable

// ---- Elements -------------------------------------------------------------------------------------------------------

template <class T>
[[nodiscard]] f32 load_wide(const std::byte* at) {
  T element;
  std::memcpy(&element, at, sizeof(element));
  return widen(element);
}
template <class T>
void store_narrow(std::byte* at, f32 value) {
  const T element = narrow<T>(value);
  std::memcpy(at, &element, sizeof(element));
}

// The batch index of a region, or -1 if the image has no batch with that index.
[[nodiscard]] inline std::int64_t batch_of(const RegionStep& step, const std::byte* indices, std::int64_t region) {
  const std::byte* const at = indices + region * step.indices;
  return visit_type(step.index_type, [&]<class T>() -> std::int64_t {
    if constexpr (is_float<T>) {
      return -1;
    } else {
      T index;
      std::memcpy(&index, at, sizeof(index));
      return index >= T{0} && static_cast<u64>(index) < static_cast<u64>(step.batches) ? static_cast<i64>(index) : -1;
    }
  });
}

// Returns the i-th number of a region's box.
template <class T>
[[nodiscard]] f32 box_number(const RegionStep& step, const std::byte* boxes, std::int64_t region, std::int64_t i) {
  return load_wide<T>(boxes + region * step.boxes[0] + i * step.boxes[1]);
}
template <class T>
[[nodiscard]] RegionSamples row_samples(const RegionStep& step, const std::byte* boxes, std::int64_t region) {
  return {step.axes[0], box_number<T>(step, boxes, region, 1), box_number<T>(step, boxes, region, 3)};
}
template <class T>
[[nodiscard]] RegionSamples column_samples(const RegionStep& step, const std::byte* boxes, std::int64_t region) {
  return {step.axes[1], box_number<T>(step, boxes, region, 0), box_number<T>(step, boxes, region, 2)};
}

// Loads the elements of a channel's plane for the sample functions.
template <class T>
struct RegionPlane {
  const std::byte* at;
  std::int64_t row;
  std::int64_t column;
  f32 operator()(i64 i, i64 j) const { return load_wide<T>(at + i * row + j * column); }
};

// ---- Work -----------------------------------------------------------------------------------------------------------

// How a step's units of work are grouped into pieces.
struct RegionCut {
  std::int64_t units;
  std::int64_t units_of_piece;
  [[nodiscard]] std::uint64_t pieces() const {
    return static_cast<std::uint64_t>((units + units_of_piece - 1) / units_of_piece);
  }
};
// `cost` is the approximate number of operations per unit.
[[nodiscard]] inline RegionCut cut_regions(std::int64_t units, double cost, unsigned threads) {
  constexpr double kPiece = 40'000;
  constexpr std::int64_t kPiecesOfThread = 8;
  const double wanted = cost < kPiece ? kPiece / cost : 1.0;
  const std::int64_t fair = units / (std::int64_t{threads} * kPiecesOfThread);
  const auto many = static_cast<std::int64_t>(wanted < 1e9 ? wanted : 1e9);
  return {.units = units, .units_of_piece = many < fair || fair < 1 ? (fair < 1 ? 1 : many) : fair};
}

// Allocates a step's scratch memory, one buffer after another.
class RegionRoom {
 public:
  // Returns the offset in bytes.
  [[nodiscard]] std::size_t take(std::int64_t bytes) {
    const std::size_t at = next_;
    next_ += (static_cast<std::size_t>(bytes) + 63) / 64 * 64;
    return at;
  }
  [[nodiscard]] std::size_t bytes() const { return next_; }

 private:
  std::size_t next_ = 0;
};

[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_region_align(const RegionStep& step,
                                                                      const cpu::StepContext& context);
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_region_pooling(const RegionStep& step,
                                                                        const cpu::StepContext& context);
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_region_gradients(const RegionStep& step,
                                                                          const cpu::StepContext& context);

}  // namespace anydml
