// SPDX-License-Identifier: MIT
// Resampling on a GPU. One launch computes the outputs. Before it, one launch for each stretched dimension stores the
// taps of that dimension in the workspace.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backend/cuda/family.h"
#include "ops/resample/cuda/gradient.h"
#include "ops/resample/cuda/kernels.cuh"
#include "ops/resample/cuda/loops.h"

namespace anydml::cuda {
namespace {

constexpr u64 kMaxElements = (u64{1} << 32) - kResampleThreads;  // thread indices are 32-bit
constexpr i64 kBatchesOfThread = 8;
constexpr i64 kMaxLaunchRows = 65'535;
constexpr i64 kMaxTableBlocks = 4096;
constexpr u32 kUnrolledLevels = 3;  // maximum number of sampled dimensions with specialized kernels
constexpr u64 kTableAlignment = 16;

[[nodiscard]] u64 aligned(u64 bytes) { return (bytes + kTableAlignment - 1) / kTableAlignment * kTableAlignment; }

void order_loops(const ResampleStep& step, ResampleLaunch& launch) {
  LaunchDimension dimensions[kMaxRank];
  for (u32 i = 0; i < step.rank; ++i) {
    const ResampleDimension& dimension = step.dimensions[i];
    dimensions[i] = {dimension.output_size, dimension.input_stride, dimension.output_stride};
  }
  order_loops(step.rank, step.copied, dimensions, launch);
}

class Resampling final : public PreparedStep {
 public:
  explicit Resampling(const ResampleStep& step) : step_(step) {
    order_loops(step, launch_);
    for (u32 level = 0; level < launch_.levels; ++level) {
      const ResampleDimension& dimension = launch_.dimensions[level] = step.dimensions[step.copied + level];
      if (dimension.kind == ResampleKind::stretched) {
        is_stretched_ = true;
        launch_.tables[level].maximum = max_stretched_taps(dimension);
        tables_[level] = workspace_;
        const auto outputs = static_cast<u64>(dimension.output_size);
        workspace_ += aligned(outputs * sizeof(i64)) + aligned(outputs * sizeof(i32)) +
                      aligned(outputs * static_cast<u64>(launch_.tables[level].maximum) * sizeof(f32));
      }
    }
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override { return workspace_; }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte* workspace,
                                   cudaStream_t stream) const noexcept override {
    ResampleLaunch launch = launch_;
    launch.input = bases[0];
    launch.output = bases[1];
    u64 input = reinterpret_cast<std::uintptr_t>(bases[0]) | static_cast<u64>(launch.batch_input);
    u64 output = reinterpret_cast<std::uintptr_t>(bases[1]) | static_cast<u64>(launch.batch_output);
    for (u32 i = 0; i < step_.rank; ++i) {
      input |= static_cast<u64>(step_.dimensions[i].input_stride);
      output |= static_cast<u64>(step_.dimensions[i].output_stride);
    }
    const u64 bytes = element_size(step_.type);
    launch.input_is_aligned = input % bytes == 0 ? 1 : 0;
    launch.output_is_aligned = output % bytes == 0 ? 1 : 0;
    for (u32 level = 0; level < launch.levels; ++level) {
      fill_table(level, launch, workspace, stream);
    }
    const dim3 grid((launch.count + kResampleThreads - 1) / kResampleThreads,
                    static_cast<u32>(std::clamp<i64>((launch.batches + kBatchesOfThread - 1) / kBatchesOfThread, 1,
                                                     kMaxLaunchRows)));
    if (step_.interpolates == 0) {
      launch_nearest(launch, grid, stream);
    } else if (step_.type == DataType::FLOAT32) {
      launch_means<f32>(launch, grid, stream);
    } else if (step_.type == DataType::FLOAT16) {
      launch_means<f16>(launch, grid, stream);
    } else if (step_.type == DataType::INT8) {
      launch_means<i8>(launch, grid, stream);
    } else {
      launch_means<u8>(launch, grid, stream);
    }
    return cudaGetLastError();
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s, %u dimension%s", step_.interpolates != 0 ? "means" : "nearest", launch_.levels,
                  launch_.levels == 1 ? "" : "s");
  }

 private:
  void fill_table(u32 level, ResampleLaunch& launch, std::byte* workspace, cudaStream_t stream) const noexcept {
    const ResampleDimension& dimension = launch.dimensions[level];
    if (dimension.kind != ResampleKind::stretched) {
      return;
    }
    TapTable& table = launch.tables[level];
    const auto outputs = static_cast<u64>(dimension.output_size);
    std::byte* const at = workspace + tables_[level];
    table.firsts = reinterpret_cast<i64*>(at);
    table.counts = reinterpret_cast<i32*>(at + aligned(outputs * sizeof(i64)));
    table.weights = reinterpret_cast<f32*>(at + aligned(outputs * sizeof(i64)) + aligned(outputs * sizeof(i32)));
    const i64 blocks = (dimension.output_size + kResampleThreads - 1) / kResampleThreads;
    fill_tap_table<<<static_cast<u32>(std::min(blocks, kMaxTableBlocks)), kResampleThreads, 0, stream>>>(dimension,
                                                                                                         table);
  }

  template <class T>
  void launch_nearest_of(const ResampleLaunch& launch, dim3 grid, cudaStream_t stream) const noexcept {
    if (launch.levels <= kUnrolledLevels) {
      move_nearest<T, kUnrolledLevels><<<grid, kResampleThreads, 0, stream>>>(launch);
    } else {
      move_nearest<T, kMaxRank><<<grid, kResampleThreads, 0, stream>>>(launch);
    }
  }
  void launch_nearest(const ResampleLaunch& launch, dim3 grid, cudaStream_t stream) const noexcept {
    switch (element_size(step_.type)) {
      case 1:
        return launch_nearest_of<u8>(launch, grid, stream);
      case 2:
        return launch_nearest_of<u16>(launch, grid, stream);
      case 4:
        return launch_nearest_of<u32>(launch, grid, stream);
      default:
        return launch_nearest_of<u64>(launch, grid, stream);
    }
  }

  template <class T>
  void launch_means(const ResampleLaunch& launch, dim3 grid, cudaStream_t stream) const noexcept {
    if (is_stretched_ || launch.levels > kUnrolledLevels) {
      resample_any<T><<<grid, kResampleThreads, 0, stream>>>(launch);
    } else if (launch.levels == 1) {
      resample_linear<T, 1><<<grid, kResampleThreads, 0, stream>>>(launch);
    } else if (launch.levels == 2) {
      resample_linear<T, 2><<<grid, kResampleThreads, 0, stream>>>(launch);
    } else {
      resample_linear<T, 3><<<grid, kResampleThreads, 0, stream>>>(launch);
    }
  }

  ResampleStep step_;
  ResampleLaunch launch_{};
  bool is_stretched_ = false;
  u64 workspace_ = 0;
  u64 tables_[kMaxRank] = {};  // offset of each level's tables in the workspace
};

// The number of threads is at most the number of outputs.
[[nodiscard]] bool has_too_many(const ResampleStep& step) {
  u64 elements = 1;
  for (u32 i = 0; i < step.rank; ++i) {
    const auto size = static_cast<u64>(step.dimensions[i].output_size);
    if (size > kMaxElements / elements) {
      return true;
    }
    elements *= size;
  }
  return false;
}

}  // namespace

extern const FamilyKernels resample_family;
const FamilyKernels resample_family = {
    .prepare = [](const Step& flat, const GpuProperties&, Neighbors,
                  const char** why) -> std::unique_ptr<PreparedStep> {
      ResampleWay way{};
      std::memcpy(&way, flat.parameters.data(), sizeof(way));
      if (way == ResampleWay::gradient) {
        GradientStep step;
        std::memcpy(&step, flat.parameters.data(), sizeof(step));
        return prepare_gradient(step, why);
      }
      ResampleStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (has_too_many(step)) {
        *why = "the CUDA backend resamples to at most 4,294,967,040 elements";
        return nullptr;
      }
      return std::make_unique<Resampling>(step);
    },
    .is_alone = true,
};

}  // namespace anydml::cuda
