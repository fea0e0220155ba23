// SPDX-License-Identifier: MIT
// Gradients on a GPU. Each thread is assigned one position in the sampled dimensions of the output gradient. It finds
// the contributing elements of the input gradient only once, and adds them for several positions of a copied dimension.
// A preceding launch writes the taps of all dimensions into the workspace. Nothing is scattered, so the order of each
// sum is fixed.
#include "ops/resample/cuda/gradient.h"

#include <algorithm>
#include <cstdio>

#include "backend/cuda/kernels/device.cuh"
#include "ops/resample/cuda/loops.h"

namespace anydml::cuda {
namespace {

constexpr u32 kThreads = 256;
constexpr u64 kMaxElements = (u64{1} << 32) - kThreads;  // thread indices are 32-bit
constexpr i64 kBatchesOfThread = 8;
constexpr i64 kMaxLaunchRows = 65'535;
constexpr i64 kMaxTableBlocks = 1024;
constexpr i64 kMaxCounted = 1 << 16;  // elements of a dimension whose taps are counted before a launch
constexpr i64 kFewTaps = 4;           // kept in registers by a thread

// The elements [first, end) of the input gradient that contribute to an element of the output gradient. This element is
// the first tap of the elements in [second, end), and the second tap of the elements before them.
struct alignas(16) Span {
  u32 first;
  u32 second;
  u32 end;
  u32 unused;
};
// The weights of the first and second tap of an input gradient element.
struct alignas(8) Weights {
  f32 first;
  f32 second;
};

struct GradientLaunch {
  const std::byte* input;
  std::byte* output;
  u32 count;   // positions in a batch, one per thread
  u32 rank;    // loops over these positions, outermost first
  u32 levels;  // the sampled dimensions, outermost first
  u32 input_is_aligned;
  u32 output_is_aligned;
  u32 counts_elements;  // 1 to divide by the number of elements in the windows; 0 to divide by `coordinates`
  f32 coordinates;
  FastDivisor sizes[kMaxRank];
  u32 level_of[kMaxRank];       // the sampled dimension of a loop, or kNoLevel for a copied dimension
  i64 input_strides[kMaxRank];  // strides of the copied loops
  i64 output_strides[kMaxRank];
  i64 batches;
  i64 batch_input;
  i64 batch_output;
  GradientDimension dimensions[kMaxRank];  // by level
  Span* spans[kMaxRank];                   // by level and element of the output gradient
  Weights* weights[kMaxRank];              // by level and element of the input gradient
};

__global__ void __launch_bounds__(kThreads) fill_tables(const __grid_constant__ GradientLaunch launch) {
  const u32 level = blockIdx.y;
  const GradientDimension& dimension = launch.dimensions[level];
  const i64 step = static_cast<i64>(gridDim.x) * kThreads;
  const i64 begin = static_cast<i64>(blockIdx.x) * kThreads + threadIdx.x;
  for (i64 p = begin; p < dimension.forward.input_size; p += step) {
    const GradientTaps taps = gradient_taps(dimension, p);
    launch.spans[level][p] = {static_cast<u32>(taps.first), static_cast<u32>(taps.second), static_cast<u32>(taps.end),
                              0};
  }
  for (i64 o = begin; o < dimension.forward.output_size; o += step) {
    launch.weights[level][o] = {gradient_weight(dimension, o, false), gradient_weight(dimension, o, true)};
  }
}

// The position of a thread.
template <u32 kLevels>
struct GradientPosition {
  u32 coordinates[kLevels] = {};
  i64 from = 0;
  i64 to = 0;

  __device__ GradientPosition(const GradientLaunch& launch, u32 index) {
#pragma unroll 1
    for (u32 loop = launch.rank; loop-- > 0;) {
      const Quotient parts = divide(index, launch.sizes[loop]);
      index = parts.quotient;
      to += parts.remainder * launch.output_strides[loop];
      from += parts.remainder * launch.input_strides[loop];
#pragma unroll
      for (u32 level = 0; level < kLevels; ++level) {
        coordinates[level] = launch.level_of[loop] == level ? parts.remainder : coordinates[level];
      }
    }
  }
};

template <class T, bool kDivides>
[[nodiscard]] __device__ inline f32 load_quotient(const GradientLaunch& launch, const std::byte* from, i64 elements) {
  const f32 value = widen(__builtin_bit_cast(T, load_element<T>(from, launch.input_is_aligned != 0)));
  if constexpr (kDivides) {
    return value / (launch.counts_elements != 0 ? static_cast<f32>(elements) : launch.coordinates);
  } else {
    return value;
  }
}

// The sum along the levels [0, kLevels). The last of these levels is the outermost loop. elements: the number of
// elements in the windows along the later levels.
template <class T, bool kDivides, u32 kLevels, u32 kAll>
[[nodiscard]] __device__ inline f32 add_levels(const GradientLaunch& launch, const Span (&spans)[kAll],
                                               const std::byte* from, i64 elements) {
  if constexpr (kLevels == 0) {
    return load_quotient<T, kDivides>(launch, from, elements);
  } else {
    constexpr u32 kLevel = kLevels - 1;
    if (kLevel >= launch.levels) {
      return add_levels<T, kDivides, kLevel>(launch, spans, from, elements);
    }
    const i64 stride = launch.dimensions[kLevel].forward.output_stride;
    f32 total = 0.0F;
#pragma unroll 1
    for (u32 o = spans[kLevel].first; o < spans[kLevel].end; ++o) {
      const Weights weights = launch.weights[kLevel][o];
      const i64 of_window = kDivides ? elements * window_elements(launch.dimensions[kLevel], o) : 1;
      total = total + add_levels<T, kDivides, kLevel>(launch, spans, from + o * stride, of_window) *
                          (o < spans[kLevel].second ? weights.second : weights.first);
    }
    return total;
  }
}

template <class T, bool kDivides, u32 kLevels>
__global__ void __launch_bounds__(kThreads) add_gradient(const __grid_constant__ GradientLaunch launch) {
  const u32 index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= launch.count) {
    return;
  }
  const GradientPosition<kLevels> position(launch, index);
  Span spans[kLevels];
#pragma unroll
  for (u32 level = 0; level < kLevels; ++level) {
    spans[level] = level < launch.levels ? launch.spans[level][position.coordinates[level]] : Span{};
  }
  for (i64 batch = blockIdx.y; batch < launch.batches; batch += gridDim.y) {
    const f32 sum =
        add_levels<T, kDivides, kLevels>(launch, spans, launch.input + position.from + batch * launch.batch_input, 1);
    store_element<T>(launch.output + position.to + batch * launch.batch_output,
                     __builtin_bit_cast(bits_t<T>, narrow<T>(sum)), launch.output_is_aligned != 0);
  }
}

// Two levels with few taps each, which stay in registers. A missing tap is +0 with weight +0: sums start from +0, so
// adding it changes nothing.
template <class T, bool kDivides>
__global__ void __launch_bounds__(kThreads) add_few(const __grid_constant__ GradientLaunch launch) {
  constexpr u32 kTaps = static_cast<u32>(kFewTaps);
  const u32 index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= launch.count) {
    return;
  }
  const GradientPosition<2> position(launch, index);
  u32 counts[2];
  f32 weights[2][kTaps];
  i64 elements[2][kTaps];
  i64 from = position.from;
#pragma unroll
  for (u32 level = 0; level < 2; ++level) {
    const Span span = launch.spans[level][position.coordinates[level]];
    counts[level] = span.end - span.first;
    from += span.first * launch.dimensions[level].forward.output_stride;
#pragma unroll
    for (u32 t = 0; t < kTaps; ++t) {
      weights[level][t] = 0.0F;
      elements[level][t] = 1;
      if (t < counts[level]) {
        const Weights of_tap = launch.weights[level][span.first + t];
        weights[level][t] = span.first + t < span.second ? of_tap.second : of_tap.first;
        if constexpr (kDivides) {
          elements[level][t] = window_elements(launch.dimensions[level], span.first + t);
        }
      }
    }
  }
  const i64 down = launch.dimensions[0].forward.output_stride;
  const i64 right = launch.dimensions[1].forward.output_stride;
  for (i64 batch = blockIdx.y; batch < launch.batches; batch += gridDim.y) {
    const std::byte* const at = launch.input + from + batch * launch.batch_input;
    f32 values[kTaps][kTaps];
#pragma unroll
    for (u32 y = 0; y < kTaps; ++y) {
#pragma unroll
      for (u32 x = 0; x < kTaps; ++x) {
        values[y][x] = 0.0F;
        if (y < counts[0] && x < counts[1]) {
          values[y][x] = load_quotient<T, kDivides>(launch, at + y * down + x * right, elements[0][y] * elements[1][x]);
        }
      }
    }
    f32 total = 0.0F;
#pragma unroll
    for (u32 x = 0; x < kTaps; ++x) {
      f32 column = 0.0F;
#pragma unroll
      for (u32 y = 0; y < kTaps; ++y) {
        column = column + values[y][x] * weights[0][y];
      }
      total = total + column * weights[1][x];
    }
    store_element<T>(launch.output + position.to + batch * launch.batch_output,
                     __builtin_bit_cast(bits_t<T>, narrow<T>(total)), launch.output_is_aligned != 0);
  }
}

// ---- Launches -------------------------------------------------------------------------------------------------------

// The maximum number of input gradient elements that are added to one element of the output gradient; an upper bound
// for long dimensions.
[[nodiscard]] i64 max_taps(const GradientDimension& dimension) {
  const ResampleDimension& forward = dimension.forward;
  if (forward.kind == ResampleKind::copied) {
    return 1;
  }
  if (forward.kind == ResampleKind::window) {
    return (dimension.window + dimension.stride - 1) / dimension.stride;
  }
  if (forward.output_size > kMaxCounted) {
    return forward.output_size;
  }
  i64 maximum = 0;
  i64 at = -1;
  i64 here = 0;
  i64 next = 0;
  for (i64 o = 0; o < forward.output_size; ++o) {
    const LinearTaps taps = few_taps(forward, o);
    if (taps.first != at) {
      here = taps.first == at + 1 ? next : 0;
      next = 0;
      at = taps.first;
    }
    ++here;
    next += taps.second != 0.0F ? 1 : 0;
    maximum = std::max({maximum, here, next});
  }
  return maximum;
}

// The output gradient has the sizes and strides of the forward operator's input.
void order_loops(const GradientStep& step, GradientLaunch& launch) {
  LaunchDimension dimensions[kMaxRank];
  for (u32 i = 0; i < step.rank; ++i) {
    const ResampleDimension& forward = step.dimensions[i].forward;
    dimensions[i] = {forward.input_size, forward.output_stride, forward.input_stride};
  }
  order_loops(step.rank, step.copied, dimensions, launch);
}

class Gradient final : public PreparedStep {
 public:
  explicit Gradient(const GradientStep& step) : step_(step) {
    order_loops(step, launch_);
    launch_.counts_elements = step.divisor == GradientDivisor::elements ? 1 : 0;
    launch_.coordinates = step.taps;
    has_few_ = launch_.levels == 2;
    for (u32 level = 0; level < launch_.levels; ++level) {
      const GradientDimension& dimension = launch_.dimensions[level] = step.dimensions[step.copied + level];
      has_few_ = has_few_ && max_taps(dimension) <= kFewTaps;
      longest_ = std::max({longest_, dimension.forward.input_size, dimension.forward.output_size});
      spans_at_[level] = workspace_;
      workspace_ += static_cast<u64>(dimension.forward.input_size) * sizeof(Span);
      weights_at_[level] = workspace_;
      workspace_ += (static_cast<u64>(dimension.forward.output_size) * sizeof(Weights) + 15) / 16 * 16;
    }
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override { return workspace_; }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte* workspace,
                                   cudaStream_t stream) const noexcept override {
    GradientLaunch launch = launch_;
    launch.input = bases[0];
    launch.output = bases[1];
    u64 input = reinterpret_cast<std::uintptr_t>(bases[0]);
    u64 output = reinterpret_cast<std::uintptr_t>(bases[1]);
    for (u32 i = 0; i < step_.rank; ++i) {
      const ResampleDimension& forward = step_.dimensions[i].forward;
      input |= forward.output_size > 1 ? static_cast<u64>(forward.output_stride) : 0;
      output |= forward.input_size > 1 ? static_cast<u64>(forward.input_stride) : 0;
    }
    const u64 bytes = element_size(step_.type);
    launch.input_is_aligned = input % bytes == 0 ? 1 : 0;
    launch.output_is_aligned = output % bytes == 0 ? 1 : 0;
    for (u32 level = 0; level < launch.levels; ++level) {
      launch.spans[level] = reinterpret_cast<Span*>(workspace + spans_at_[level]);
      launch.weights[level] = reinterpret_cast<Weights*>(workspace + weights_at_[level]);
    }
    const auto blocks = static_cast<u32>(std::min((longest_ + kThreads - 1) / kThreads, kMaxTableBlocks));
    fill_tables<<<dim3(blocks, launch.levels), kThreads, 0, stream>>>(launch);
    if (step_.type == DataType::FLOAT16) {
      start<f16>(launch, stream);
    } else {
      start<f32>(launch, stream);
    }
    return cudaGetLastError();
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "gradient, %u dimension%s%s", launch_.levels, launch_.levels == 1 ? "" : "s",
                  has_few_ ? ", few taps" : "");
  }

 private:
  template <class T>
  void start(const GradientLaunch& launch, cudaStream_t stream) const noexcept {
    if (step_.divisor == GradientDivisor::none) {
      start_divided<T, false>(launch, stream);
    } else {
      start_divided<T, true>(launch, stream);
    }
  }
  template <class T, bool kDivides>
  void start_divided(const GradientLaunch& launch, cudaStream_t stream) const noexcept {
    const dim3 grid(static_cast<u32>((u64{launch.count} + kThreads - 1) / kThreads),
                    static_cast<u32>(std::clamp<i64>((launch.batches + kBatchesOfThread - 1) / kBatchesOfThread, 1,
                                                     kMaxLaunchRows)));
    if (has_few_) {
      add_few<T, kDivides><<<grid, kThreads, 0, stream>>>(launch);
    } else if (launch.levels <= 2) {
      add_gradient<T, kDivides, 2><<<grid, kThreads, 0, stream>>>(launch);
    } else {
      add_gradient<T, kDivides, kMaxRank><<<grid, kThreads, 0, stream>>>(launch);
    }
  }

  GradientStep step_;
  GradientLaunch launch_{};
  bool has_few_ = false;
  i64 longest_ = 1;
  u64 workspace_ = 0;
  u64 spans_at_[kMaxRank] = {};  // offset of each level's tables in the workspace
  u64 weights_at_[kMaxRank] = {};
};

}  // namespace

std::unique_ptr<PreparedStep> prepare_gradient(const GradientStep& step, const char** why) {
  u64 coordinates = 1;
  for (u32 i = 0; i < step.rank; ++i) {
    const ResampleDimension& forward = step.dimensions[i].forward;
    const auto size = static_cast<u64>(forward.input_size);
    if (size > kMaxElements / coordinates || static_cast<u64>(forward.output_size) > kMaxElements) {
      *why = "the CUDA backend supports gradients of at most 4,294,967,040 elements";
      return nullptr;
    }
    coordinates *= size;
  }
  return std::make_unique<Gradient>(step);
}

}  // namespace anydml::cuda
