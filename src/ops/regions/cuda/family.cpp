// SPDX-License-Identifier: MIT
// Chooses the kernels for steps over regions.
#include "backend/cuda/family.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/regions/cuda/launch.h"

namespace anydml::cuda {
namespace {

constexpr i64 kMaxSide = 1 << 30;  // rows, columns and bins; kernels use 32-bit coordinates
constexpr const char* kTooLarge =
    "the CUDA backend supports regions of images with fewer than 1,073,741,824 rows and columns";
constexpr const char* kTooManyBins =
    "the CUDA backend supports gradients of regions with at most 10,240 rows and columns of bins";
constexpr u32 kMaxShared = 40 << 10;

[[nodiscard]] bool is_aligned(const std::byte* address, u64 strides, std::size_t size) {
  return (reinterpret_cast<std::uintptr_t>(address) | strides) % size == 0;
}

template <std::size_t kCount>
[[nodiscard]] u64 any_of(const i64 (&strides)[kCount]) {
  u64 all = 0;
  for (const i64 stride : strides) {
    all |= static_cast<u64>(stride);
  }
  return all;
}

// The largest tile whose weights fit into shared memory. It has no rows if no tile fits.
[[nodiscard]] RegionTile tile_of(const RegionStep& step) {
  RegionTile tile{.rows = 8, .columns = 32, .shared_bytes = 0};
  const auto bytes = [&] {
    return (u64{tile.rows} * static_cast<u64>(step.axes[0].bins) +
            u64{tile.columns} * static_cast<u64>(step.axes[1].bins)) *
           sizeof(f32);
  };
  while (bytes() > kMaxShared && (tile.rows > 1 || tile.columns > 1)) {
    const bool narrows =
        tile.columns > 1 && (tile.rows == 1 || u64{tile.columns} * static_cast<u64>(step.axes[1].bins) >=
                                                   u64{tile.rows} * static_cast<u64>(step.axes[0].bins));
    (narrows ? tile.columns : tile.rows) /= 2;
  }
  if (bytes() > kMaxShared) {
    return {};
  }
  tile.shared_bytes = static_cast<u32>(bytes());
  return tile;
}

class RegionRun final : public PreparedStep {
 public:
  RegionRun(const RegionStep& step, const RegionTile& tile) : step_(step), tile_(tile) {}

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override {
    return finds_peaks() ? static_cast<u64>(step_.regions) * static_cast<u64>(step_.channels) *
                               static_cast<u64>(step_.axes[0].bins) * static_cast<u64>(step_.axes[1].bins) *
                               sizeof(RegionPeakTaps)
                         : 0;
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte* workspace,
                                   cudaStream_t stream) const noexcept override {
    const std::size_t size = element_size(step_.type);
    RegionLaunch launch{};
    launch.image = bases[0];
    launch.boxes = bases[1];
    launch.indices = bases[2];
    launch.bins = bases[3];
    launch.result = bases[4];
    launch.image_is_aligned = is_aligned(bases[0], any_of(step_.image), size);
    launch.boxes_are_aligned = is_aligned(bases[1], any_of(step_.boxes), size);
    launch.indices_are_aligned = step_.index_type != DataType::unknown &&
                                 is_aligned(bases[2], static_cast<u64>(step_.indices), element_size(step_.index_type));
    launch.indices_are_wide = element_size(step_.index_type) == sizeof(u64);
    launch.bins_are_aligned = is_aligned(bases[3], any_of(step_.bins), size);
    launch.result_is_aligned = is_aligned(bases[4], any_of(step_.result), size);
    launch.rows = make_divisor(static_cast<u32>(std::max<i64>(1, step_.axes[0].bins)));
    launch.columns = make_divisor(static_cast<u32>(std::max<i64>(1, step_.axes[1].bins)));
    launch.step = step_;
    switch (step_.kind) {
      case RegionKind::pooling:
      case RegionKind::align:
        return start_regions(launch, stream);
      case RegionKind::region_gradient:
        return start_box_gradient(launch, stream);
      case RegionKind::image_gradient:
        break;
    }
    return finds_peaks() ? start_peak_gradient(launch, reinterpret_cast<RegionPeakTaps*>(workspace), stream)
                         : start_image_gradient(launch, tile_, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    constexpr const char* kWords[] = {"maxima of elements", "samples", "gradient of the image",
                                      "gradient of the boxes"};
    std::snprintf(text, capacity, "%s", kWords[static_cast<std::size_t>(step_.kind)]);
  }

 private:
  [[nodiscard]] bool finds_peaks() const { return step_.kind == RegionKind::image_gradient && step_.is_max != 0; }

  RegionStep step_;
  RegionTile tile_;
};

}  // namespace

extern const FamilyKernels regions_family;
const FamilyKernels regions_family = {
    .prepare = [](const Step& flat, const GpuProperties&, Neighbors,
                  const char** why) -> std::unique_ptr<PreparedStep> {
      RegionStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      RegionTile tile{};
      for (const RegionAxis& axis : step.axes) {
        if (std::max(axis.size, axis.bins) >= kMaxSide) {
          *why = kTooLarge;
          return nullptr;
        }
      }
      if (step.kind == RegionKind::image_gradient && step.is_max == 0) {
        tile = tile_of(step);
        if (tile.rows == 0) {
          *why = kTooManyBins;
          return nullptr;
        }
      }
      return std::make_unique<RegionRun>(step, tile);
    },
};

}  // namespace anydml::cuda
