// SPDX-License-Identifier: MIT
// Runs the operators over regions on a device with Vulkan. Where a region is sampled depends on its box, so the kernels
// compute it: ops/regions/scalar is written again in GLSL over primitives. A compiled function would return one sample
// at a time, while the kernels walk over samples with few numbers in registers.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backend/vulkan/family.h"
#include "backend/vulkan/spirv/functions.h"
#include "ops/regions/step.h"
#include "shaders/box_gradient.h"
#include "shaders/image_gradient.h"
#include "shaders/peak_gradient.h"
#include "shaders/region_averages.h"
#include "shaders/region_maxima.h"
#include "shaders/region_peaks.h"
#include "shaders/region_pooling.h"

namespace anydml::vulkan {
namespace {

constexpr u32 kThreads = 128;
constexpr u64 kChannels = 4;  // of a thread, in some kernels
constexpr u64 kMaxThreads = 0xffffffff - u64{kThreads};
constexpr i64 kMaxSide = 1 << 30;  // rows, columns and bins
constexpr u64 kPeakBytes = 16;
constexpr u64 kOperations = 512;  // for each bin or sample, roughly

// The layouts in regions.glsl.
struct RegionConstants {
  u32 count;
  u32 image_is_aligned;
  u32 boxes_are_aligned;
  u32 indices_are_aligned;
  u32 bins_are_aligned;
  u32 result_is_aligned;
  u32 first_region;
  u32 end_region;
  u64 sums_offset;
};
static_assert(kRegionLanes == 32 && kMaxRegionSamples == 65536);
static_assert(sizeof(RegionAxis) == 48 && offsetof(RegionStep, axes) == 24 && offsetof(RegionStep, regions) == 120);

template <std::size_t kCount>
u64 any_of(const i64 (&strides)[kCount]) {
  u64 all = 0;
  for (const i64 stride : strides) {
    all |= static_cast<u64>(stride);
  }
  return all;
}

// At most kMaxThreads + 1.
u64 product(std::initializer_list<i64> sizes) {
  u64 all = 1;
  for (const i64 size : sizes) {
    const auto factor = static_cast<u64>(size);
    if (factor == 0) {
      return 0;
    }
    all = all > kMaxThreads / factor ? kMaxThreads + 1 : all * factor;
  }
  return all;
}

// The threads that compute bins, and elements of the image's gradient.
u64 bin_threads(const RegionStep& step, u64 channels) {
  const i64 groups = (step.channels + static_cast<i64>(channels) - 1) / static_cast<i64>(channels);
  return product({step.regions, groups, step.axes[0].bins, step.axes[1].bins});
}
u64 image_threads(const RegionStep& step, u64 channels) {
  const i64 groups = (step.channels + static_cast<i64>(channels) - 1) / static_cast<i64>(channels);
  return product({step.batches, groups, step.axes[0].size, step.axes[1].size});
}

// A kernel of a step, its threads, and the operations of a thread. Threads that visit all regions do so in parts, so
// that no dispatch takes long.
struct Pass {
  KernelRef kernel;
  u64 threads;
  u32 threads_of_group;
  u64 operations;
  u64 sums = 0;             // of a thread, that are passed from one part to the next
  u64 regions_of_part = 0;  // 0 if the threads do not visit regions
};

bool finds_peaks(const RegionStep& step) { return step.kind == RegionKind::image_gradient && step.is_max != 0; }

class RegionRun final : public PreparedStep {
 public:
  RegionRun(const RegionStep& step, Kernels& kernels) : step_(step) {
    const u32 constants[] = {static_cast<u32>(element_size(step.type)),
                             step.index_type != DataType::unknown ? static_cast<u32>(element_size(step.index_type)) : 4,
                             step.index_type == DataType::INT32 || step.index_type == DataType::INT64 ? 1U : 0U};
    const auto find = [&](const char* key, std::span<const u32> words) {
      return kernels.find(spirv::linked_kernel(key, words, kernels.gpu()), constants);
    };
    const u64 bins = product({step.axes[0].bins, step.axes[1].bins});
    // How many samples a bin has depends on the boxes.
    constexpr u64 kSamples = 16;
    // A thread's loops over the bins of the regions of a part have roughly this many iterations.
    const u64 most = std::min<u64>(16'384, kernels.gpu().max_iterations / 4);
    const u64 sides = static_cast<u64>(step.axes[0].bins + step.axes[1].bins);
    const auto regions_of_part = [most](u64 iterations_of_region) {
      return std::max<u64>(most / iterations_of_region, 1);
    };
    switch (step.kind) {
      case RegionKind::pooling: {
        const u64 elements = product({step.axes[0].size, step.axes[1].size}) / std::max<u64>(bins, 1) + 1;
        passes_.push_back(
            {find("region_pooling", k_region_pooling), bin_threads(step, 1), kThreads, kOperations + elements * 16});
        break;
      }
      case RegionKind::align:
        passes_.push_back(
            {step.is_max != 0 ? find("region_maxima", k_region_maxima) : find("region_averages", k_region_averages),
             bin_threads(step, kChannels), kThreads, kOperations * kSamples * kChannels});
        break;
      case RegionKind::image_gradient:
        if (finds_peaks(step)) {
          passes_.push_back(
              {find("region_peaks", k_region_peaks), bin_threads(step, 1), kThreads, kOperations * kSamples});
          const u64 regions = regions_of_part(8 + bins);
          passes_.push_back({find("peak_gradient", k_peak_gradient), image_threads(step, 1), kThreads,
                             kOperations * regions, 1, regions});
        } else {
          const u64 regions = regions_of_part(32 + 4 * sides);
          passes_.push_back({find("image_gradient", k_image_gradient), image_threads(step, kChannels), kThreads,
                             kOperations * regions, kChannels, regions});
        }
        break;
      case RegionKind::region_gradient: {
        const u64 channels = static_cast<u64>(step.channels) / kRegionLanes + 1;
        passes_.push_back({find("box_gradient", k_box_gradient), static_cast<u64>(step.regions) * kRegionLanes,
                           static_cast<u32>(kRegionLanes),
                           kOperations * kSamples * std::min<u64>(bins * channels, u64{1} << 32)});
        break;
      }
    }
  }

  [[nodiscard]] bool fits() const {
    return std::ranges::all_of(passes_, [](const Pass& pass) { return pass.threads <= kMaxThreads; });
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override {
    return peak_bytes() + (has_parts(passes_.back()) ? passes_.back().threads * passes_.back().sums * sizeof(f32) : 0);
  }
  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&step_, 1));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    const bool writes_bins = step_.kind == RegionKind::pooling || step_.kind == RegionKind::align;
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand == (writes_bins ? 3U : 4U)};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override {
    std::vector<KernelRef> all;
    std::ranges::transform(passes_, std::back_inserter(all), &Pass::kernel);
    return all;
  }
  void record(Recorder& recorder) const override {
    const auto is_aligned = [&](bool is_present, std::size_t operand, u64 steps, std::size_t bytes) {
      return is_present && ((steps | recorder.low_bits(operand)) & (bytes - 1)) == 0 ? 1U : 0U;
    };
    const std::size_t bytes = element_size(step_.type);
    const bool is_gradient = step_.kind == RegionKind::image_gradient || step_.kind == RegionKind::region_gradient;
    const bool has_image = step_.kind != RegionKind::image_gradient || step_.is_max != 0;
    const bool has_indices = step_.index_type != DataType::unknown;
    RegionConstants constants{.count = 0,
                              .image_is_aligned = is_aligned(has_image, 0, any_of(step_.image), bytes),
                              .boxes_are_aligned = is_aligned(true, 1, any_of(step_.boxes), bytes),
                              .indices_are_aligned = is_aligned(has_indices, 2, static_cast<u64>(step_.indices),
                                                                has_indices ? element_size(step_.index_type) : 1),
                              .bins_are_aligned = is_aligned(true, 3, any_of(step_.bins), bytes),
                              .result_is_aligned = is_aligned(is_gradient, 4, any_of(step_.result), bytes),
                              .first_region = 0,
                              .end_region = 0,
                              .sums_offset = peak_bytes()};
    bool is_first = true;
    for (const Pass& pass : passes_) {
      if (pass.threads == 0) {
        continue;
      }
      constants.count = static_cast<u32>(pass.threads);
      const auto groups = static_cast<u32>((pass.threads + pass.threads_of_group - 1) / pass.threads_of_group);
      const auto regions = static_cast<u64>(step_.regions);
      u64 first = 0;
      do {
        const u64 end = has_parts(pass) ? std::min(first + pass.regions_of_part, regions) : regions;
        constants.first_region = static_cast<u32>(first);
        constants.end_region = static_cast<u32>(end);
        first = end;
        if (!is_first) {
          recorder.barrier();
        }
        is_first = false;
        recorder.dispatch(*pass.kernel, groups, std::as_bytes(std::span(&constants, 1)),
                          pass.threads_of_group * pass.operations);
      } while (first < regions);
    }
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    constexpr const char* kWords[] = {"maxima of elements", "samples", "gradient of the image",
                                      "gradient of the boxes"};
    std::snprintf(text, capacity, "%s", kWords[static_cast<std::size_t>(step_.kind)]);
  }

 private:
  [[nodiscard]] bool has_parts(const Pass& pass) const {
    return pass.regions_of_part != 0 && static_cast<u64>(step_.regions) > pass.regions_of_part;
  }
  [[nodiscard]] u64 peak_bytes() const { return finds_peaks(step_) ? passes_.front().threads * kPeakBytes : 0; }

  RegionStep step_;
  std::vector<Pass> passes_;
};

}  // namespace

extern const FamilyKernels regions_family;
const FamilyKernels regions_family = {
    .lacks = [](const GpuProperties&, const AskedOperator&) -> const char* { return nullptr; },
    .prepare = [](const Step& flat, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      RegionStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      for (const RegionAxis& axis : step.axes) {
        if (std::max(axis.size, axis.bins) >= kMaxSide) {
          *why = "the Vulkan kernels for regions have fewer than 1,073,741,824 rows and columns";
          return nullptr;
        }
      }
      if (static_cast<u64>(step.regions) > UINT32_MAX) {
        *why = "the Vulkan kernels for regions have at most 4,294,967,295 regions";
        return nullptr;
      }
      auto run = std::make_unique<RegionRun>(step, kernels);
      if (!run->fits()) {
        *why = "the Vulkan kernels for regions compute at most 4,294,967,167 elements";
        return nullptr;
      }
      return run;
    },
};

}  // namespace anydml::vulkan
