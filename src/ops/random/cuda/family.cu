// SPDX-License-Identifier: MIT
// RANDOM_GENERATOR on a GPU. Each thread processes one counter and writes its four words. If the output is not
// contiguous, each thread instead writes one element.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backend/cuda/family.h"
#include "backend/cuda/kernels/indices.cuh"
#include "ops/random/step.h"

namespace anydml::cuda {
namespace {

constexpr u32 kThreads = 256;
constexpr u64 kMaxBlocks = 1 << 20;

struct States {
  const std::byte* from;
  std::byte* to;  // null if the next state is not requested
  i64 from_stride;
  i64 to_stride;
  bool from_is_aligned;
  bool to_is_aligned;
  u64 blocks;  // counters used
};

[[nodiscard]] __device__ PhiloxState load_state(const States& states) {
  u32 words[kPhiloxStateWords];
#pragma unroll
  for (u32 i = 0; i < kPhiloxStateWords; ++i) {
    words[i] = load_element<u32>(states.from + i64{i} * states.from_stride, states.from_is_aligned);
  }
  return PhiloxState::of(words);
}

// The first threads of the grid write the next state.
__device__ void store_state(const States& states, const PhiloxState& state) {
  const u32 word = threadIdx.x;
  if (states.to != nullptr && blockIdx.x == 0 && word < kPhiloxStateWords) {
    store_element<u32>(states.to + i64{word} * states.to_stride, state.after(states.blocks).word(word),
                       states.to_is_aligned);
  }
}

__global__ void __launch_bounds__(kThreads)
    fill_counters(const __grid_constant__ States states, std::byte* to, u64 count, bool has_vectors, bool aligned) {
  const PhiloxState state = load_state(states);
  store_state(states, state);
  for (u64 n = u64{blockIdx.x} * kThreads + threadIdx.x; n < states.blocks; n += u64{gridDim.x} * kThreads) {
    const PhiloxBlock block = philox(state.after(n));
    const u64 first = n * kPhiloxWords;
    if (has_vectors && first + kPhiloxWords <= count) {
      __stcs(reinterpret_cast<uint4*>(to) + n, uint4{block.words[0], block.words[1], block.words[2], block.words[3]});
      continue;
    }
#pragma unroll
    for (u32 i = 0; i < kPhiloxWords; ++i) {
      if (first + i < count) {
        store_element<u32>(to + (first + i) * sizeof(u32), block.words[i], aligned);
      }
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    fill_elements(const __grid_constant__ States states, const __grid_constant__ Indices indices, bool aligned) {
  const PhiloxState state = load_state(states);
  store_state(states, state);
  const u32 thread = blockIdx.x * kThreads + threadIdx.x;
  for (u64 n = thread; n < indices.count; n += u64{gridDim.x} * kThreads) {
    const auto [index, to] = locate(indices, static_cast<u32>(n));
    const PhiloxBlock block = philox(state.after(static_cast<u64>(index) / kPhiloxWords));
    const u32 word_index = static_cast<u32>(static_cast<u64>(index) % kPhiloxWords);
    const u32 lower = word_index % 2 == 0 ? block.words[0] : block.words[1];
    const u32 upper = word_index % 2 == 0 ? block.words[2] : block.words[3];
    store_element<u32>(to, word_index < 2 ? lower : upper, aligned);
  }
}

[[nodiscard]] u32 blocks_for(u64 threads) {
  return static_cast<u32>(std::clamp<u64>((threads + kThreads - 1) / kThreads, 1, kMaxBlocks));
}

[[nodiscard]] bool is_contiguous(const LoopNest& nest) {
  const Loop& inner = nest.innermost();
  return nest.count == 0 || (nest.rank == 1 && inner.strides[0] == 1 && inner.strides[1] == sizeof(u32));
}

class RandomRun final : public PreparedStep {
 public:
  RandomRun(const RandomStep& step, bool has_next)
      : step_(step), has_next_(has_next), contiguous_(is_contiguous(step.nest)) {
    if (!contiguous_) {
      indices_ = indices_of(step.nest);
    }
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    const auto is_aligned = [](const std::byte* address, u64 strides, std::size_t size) {
      return (reinterpret_cast<std::uintptr_t>(address) | strides) % size == 0;
    };
    const auto count = static_cast<u64>(step_.nest.count);
    States states{};
    states.from = bases[0];
    states.to = has_next_ ? bases[2] : nullptr;
    states.from_stride = step_.from;
    states.to_stride = step_.to;
    states.from_is_aligned = is_aligned(states.from, static_cast<u64>(step_.from), sizeof(u32));
    states.to_is_aligned = is_aligned(states.to, static_cast<u64>(step_.to), sizeof(u32));
    states.blocks = (count + kPhiloxWords - 1) / kPhiloxWords;
    std::byte* const to = bases[1] + step_.nest.offsets[1];
    if (contiguous_) {
      fill_counters<<<blocks_for(states.blocks), kThreads, 0, stream>>>(
          states, to, count, is_aligned(to, 0, kVectorBytes), is_aligned(to, 0, sizeof(u32)));
      return cudaGetLastError();
    }
    Indices indices = indices_;
    indices.to = to;
    fill_elements<<<blocks_for(count), kThreads, 0, stream>>>(states, indices, are_aligned(indices, sizeof(u32)));
    return cudaGetLastError();
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "Philox, %s", contiguous_ ? "vector" : "element by element");
  }

 private:
  RandomStep step_;
  bool has_next_;
  bool contiguous_;
  Indices indices_{};
};

}  // namespace

extern const FamilyKernels random_family;
const FamilyKernels random_family = {
    .prepare = [](const Step& flat, const GpuProperties&, Neighbors,
                  const char** why) -> std::unique_ptr<PreparedStep> {
      RandomStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (!is_contiguous(step.nest) && step.nest.count > 0xfffffffe) {
        *why = "the CUDA backend fills non-contiguous tensors of at most 4,294,967,294 elements";
        return nullptr;
      }
      return std::make_unique<RandomRun>(step, has_address(flat.operands[2].slot));
    },
};

}  // namespace anydml::cuda
