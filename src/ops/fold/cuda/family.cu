// SPDX-License-Identifier: MIT
// FOLD on a GPU: each thread computes one output element and visits the window positions in order.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>

#include "backend/cuda/family.h"
#include "backend/cuda/kernels/device.cuh"
#include "base/float_bits.h"
#include "ops/fold/step.h"

namespace anydml::cuda {
namespace {

constexpr u32 kThreads = 256;
constexpr u64 kMaxBlocks = 1 << 20;

// A step with exactly kRank spatial dimensions. If the operator has fewer, the missing leading dimensions have one
// element, one block and a window of size 1.
template <u32 kRank, class Index>
struct Folded {
  const std::byte* from;
  std::byte* to;
  u64 count;  // elements of the output
  Index channels;
  Index sizes[kRank];
  Index windows[kRank];
  Index strides[kRank];
  Index dilations[kRank];
  Index paddings[kRank];
  Index blocks[kRank];
  i64 outputs[kRank];
  i64 input_batch;
  i64 input_channel;
  i64 input_window;
  i64 input_block;
  i64 output_batch;
  i64 output_channel;
};

template <class T>
using sum_t = std::conditional_t<is_float<T>, compute_t<T>, T>;

// Adds the window positions in dimension kAt and all later dimensions, row by row, for fixed positions in the
// dimensions before it.
template <class T, u32 kAt, u32 kRank, class Index>
__device__ void add_positions(const Folded<kRank, Index>& folded, const Index (&coordinates)[kRank], u64 in_window,
                              u64 block, const std::byte* from, bool aligned, sum_t<T>& sum, bool& covered) {
  if constexpr (kAt == kRank) {
    const std::byte* const at =
        from + static_cast<i64>(in_window) * folded.input_window + static_cast<i64>(block) * folded.input_block;
    const sum_t<T> more = widen(__builtin_bit_cast(T, load_element<T>(at, aligned)));
    sum = covered ? static_cast<sum_t<T>>(sum + more) : more;
    covered = true;
  } else {
    // `behind` decreases with each window position; the loop ends before it would become negative.
    Index behind = coordinates[kAt] + folded.paddings[kAt];
    for (Index at = 0; at < folded.windows[kAt]; ++at) {
      const Index number = behind / folded.strides[kAt];
      if (number < folded.blocks[kAt] && number * folded.strides[kAt] == behind) {
        add_positions<T, kAt + 1>(folded, coordinates, in_window * folded.windows[kAt] + at,
                                  block * folded.blocks[kAt] + number, from, aligned, sum, covered);
      }
      if (behind < folded.dilations[kAt]) {
        break;
      }
      behind -= folded.dilations[kAt];
    }
  }
}

template <class T, u32 kRank, class Index>
__global__ void __launch_bounds__(kThreads)
    fold_elements(const __grid_constant__ Folded<kRank, Index> folded, bool aligned) {
  for (u64 n = u64{blockIdx.x} * kThreads + threadIdx.x; n < folded.count; n += u64{gridDim.x} * kThreads) {
    auto rest = static_cast<Index>(n);
    Index coordinates[kRank];
    i64 to = 0;
#pragma unroll
    for (u32 i = kRank; i-- > 0;) {
      coordinates[i] = rest % folded.sizes[i];
      rest /= folded.sizes[i];
      to += static_cast<i64>(coordinates[i]) * folded.outputs[i];
    }
    const auto channel = static_cast<i64>(rest % folded.channels);
    const auto batch = static_cast<i64>(rest / folded.channels);
    sum_t<T> sum{0};
    bool covered = false;
    add_positions<T, 0>(folded, coordinates, 0, 0,
                        folded.from + batch * folded.input_batch + channel * folded.input_channel, aligned, sum,
                        covered);
    to += batch * folded.output_batch + channel * folded.output_channel;
    store_element<T>(folded.to + to, __builtin_bit_cast(bits_t<T>, narrow<T>(sum)), aligned);
  }
}

class Folding final : public PreparedStep {
 public:
  explicit Folding(const FoldStep& step) : step_(step) {
    u64 maximum = static_cast<u64>(step.batches) * static_cast<u64>(step.channels);
    steps_ = static_cast<u64>(step.input_batch) | static_cast<u64>(step.input_channel) |
             static_cast<u64>(step.input_window) | static_cast<u64>(step.input_block) |
             static_cast<u64>(step.output_batch) | static_cast<u64>(step.output_channel);
    u64 largest = 0;
    for (u32 i = 0; i < step.rank; ++i) {
      const FoldDimension& dimension = step.dimensions[i];
      maximum *= static_cast<u64>(dimension.size);
      steps_ |= static_cast<u64>(dimension.output);
      // The index type must be able to represent each size plus its padding, and each of the other parameters.
      largest = std::max({largest, static_cast<u64>(dimension.size) + static_cast<u64>(dimension.padding),
                          static_cast<u64>(dimension.window), static_cast<u64>(dimension.stride),
                          static_cast<u64>(dimension.dilation), static_cast<u64>(dimension.blocks)});
    }
    count_ = maximum;
    narrow_ = std::max(maximum, largest) <= std::numeric_limits<u32>::max();
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    switch (step_.type) {
      case DataType::FLOAT16:
        return launch_typed<f16>(bases, stream);
      case DataType::FLOAT32:
        return launch_typed<f32>(bases, stream);
      case DataType::FLOAT64:
        return launch_typed<f64>(bases, stream);
      default:
        break;
    }
    switch (element_size(step_.type)) {  // signed and unsigned integers of the same size wrap in the same way
      case 1:
        return launch_typed<u8>(bases, stream);
      case 2:
        return launch_typed<u16>(bases, stream);
      case 4:
        return launch_typed<u32>(bases, stream);
      default:
        return launch_typed<u64>(bases, stream);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "element by element");
  }

 private:
  // Images, and single rows treated as images of height 1, use 32-bit indices if these suffice. All other cases are
  // rare and use 64-bit indices.
  template <class T>
  [[nodiscard]] cudaError_t launch_typed(std::byte* const* bases, cudaStream_t stream) const noexcept {
    constexpr u32 kFew = 2;
    return narrow_ && step_.rank <= kFew ? launch_ranked<T, kFew, u32>(bases, stream)
                                         : launch_ranked<T, kMaxFoldRank, u64>(bases, stream);
  }

  template <class T, u32 kRank, class Index>
  [[nodiscard]] cudaError_t launch_ranked(std::byte* const* bases, cudaStream_t stream) const noexcept {
    Folded<kRank, Index> folded{};
    folded.from = bases[0];
    folded.to = bases[1];
    folded.count = count_;
    folded.channels = static_cast<Index>(step_.channels);
    folded.input_batch = step_.input_batch;
    folded.input_channel = step_.input_channel;
    folded.input_window = step_.input_window;
    folded.input_block = step_.input_block;
    folded.output_batch = step_.output_batch;
    folded.output_channel = step_.output_channel;
    const u32 missing = kRank - step_.rank;
    for (u32 i = 0; i < kRank; ++i) {
      constexpr FoldDimension kOne{
          .size = 1, .window = 1, .stride = 1, .dilation = 1, .padding = 0, .blocks = 1, .output = 0};
      const FoldDimension& dimension = i < missing ? kOne : step_.dimensions[i - missing];
      folded.sizes[i] = static_cast<Index>(dimension.size);
      folded.windows[i] = static_cast<Index>(dimension.window);
      folded.strides[i] = static_cast<Index>(dimension.stride);
      folded.dilations[i] = static_cast<Index>(dimension.dilation);
      folded.paddings[i] = static_cast<Index>(dimension.padding);
      folded.blocks[i] = static_cast<Index>(dimension.blocks);
      folded.outputs[i] = dimension.output;
    }
    const u64 all = steps_ | reinterpret_cast<std::uintptr_t>(bases[0]) | reinterpret_cast<std::uintptr_t>(bases[1]);
    const auto blocks = static_cast<u32>(std::min((count_ + kThreads - 1) / kThreads, kMaxBlocks));
    fold_elements<T, kRank, Index><<<blocks, kThreads, 0, stream>>>(folded, all % sizeof(T) == 0);
    return cudaGetLastError();
  }

  FoldStep step_;
  u64 count_;
  u64 steps_;  // the OR of all strides: a power of two divides it if and only if it divides each of them
  bool narrow_;
};

}  // namespace

extern const FamilyKernels fold_family;
const FamilyKernels fold_family = {
    .prepare = [](const Step& flat, const GpuProperties&, Neighbors, const char**) -> std::unique_ptr<PreparedStep> {
      FoldStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      return std::make_unique<Folding>(step);
    },
};

}  // namespace anydml::cuda
