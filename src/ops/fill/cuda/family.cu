// SPDX-License-Identifier: MIT
// Fills tensors on a GPU. A single contiguous loop is filled with vector stores, everything else element by element.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backend/cuda/family.h"
#include "backend/cuda/kernels/indices.cuh"
#include "ops/fill/scalar/sequence.h"
#include "ops/fill/step.h"

namespace anydml::cuda {
namespace {

constexpr u32 kThreads = 256;
constexpr u64 kMaxBlocks = 1 << 20;

// Fills `bytes` bytes, a multiple of the element size, starting at `to`. The pattern is an element, repeated.
__global__ void __launch_bounds__(kThreads)
    fill_vectors(std::byte* to, u64 bytes, u64 head, uint4 pattern, u64 bits, u32 element_bytes) {
  const u64 thread = u64{blockIdx.x} * kThreads + threadIdx.x;
  const u64 vectors = (bytes - head) / kVectorBytes;
  auto* body = reinterpret_cast<uint4*>(to + head);
  for (u64 i = thread; i < vectors; i += u64{gridDim.x} * kThreads) {
    __stcs(body + i, pattern);
  }
  // Fill the bytes before the first vector and after the last one, fewer than 16 on each side.
  const u64 tail = head + vectors * kVectorBytes;
  const u64 rest = head + (bytes - tail);
  if (thread < rest) {
    const u64 at = thread < head ? thread : tail + (thread - head);
    to[at] = static_cast<std::byte>(bits >> (8 * (at % element_bytes)));
  }
}

struct FillLayout {
  std::byte* to;
  u32 count;
  u32 rank;
  FastDivisor sizes[kMaxRank];
  std::int64_t strides[kMaxRank];
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    fill_strided(const __grid_constant__ FillLayout layout, T bits, bool aligned) {
  const u32 first = blockIdx.x * kThreads + threadIdx.x;
  for (u64 n = first; n < layout.count; n += u64{gridDim.x} * kThreads) {
    auto index = static_cast<u32>(n);
    std::int64_t offset = 0;
    for (u32 loop = layout.rank; loop-- > 0;) {
      const Quotient parts = divide(index, layout.sizes[loop]);
      offset += static_cast<std::int64_t>(parts.remainder) * layout.strides[loop];
      index = parts.quotient;
    }
    store_element<T>(layout.to + offset, bits, aligned);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    fill_sequence(const __grid_constant__ Indices indices, const __grid_constant__ Sequence<T> sequence, bool aligned) {
  const u32 thread = blockIdx.x * kThreads + threadIdx.x;
  for (u64 n = thread; n < indices.count; n += u64{gridDim.x} * kThreads) {
    const auto [index, to] = locate(indices, static_cast<u32>(n));
    const T value = sequence(static_cast<u64>(index));
    store_element<T>(to, __builtin_bit_cast(bits_t<T>, value), aligned);
  }
}

[[nodiscard]] u32 blocks_for(u64 threads) {
  return static_cast<u32>(std::clamp<u64>((threads + kThreads - 1) / kThreads, 1, kMaxBlocks));
}

template <class T>
class SequenceRun final : public PreparedStep {
 public:
  explicit SequenceRun(const FillStep& step) : indices_(indices_of(step.nest)), output_(step.nest.offsets[1]) {
    std::memcpy(&sequence_.start, &step.bits, sizeof(T));
    std::memcpy(&sequence_.delta, &step.delta, sizeof(T));
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    Indices indices = indices_;
    indices.to = bases[0] + output_;
    fill_sequence<T>
        <<<blocks_for(indices.count), kThreads, 0, stream>>>(indices, sequence_, are_aligned(indices, sizeof(T)));
    return cudaGetLastError();
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "sequence, %u loop%s", indices_.rank, indices_.rank == 1 ? "" : "s");
  }

 private:
  Indices indices_;
  std::int64_t output_;
  Sequence<T> sequence_{};
};

class FillRun final : public PreparedStep {
 public:
  explicit FillRun(const FillStep& step) : step_(step), bytes_(static_cast<u32>(element_size(step.type))) {
    layout_.count = static_cast<u32>(step.nest.count);
    layout_.rank = step.nest.rank;
    for (u32 loop = 0; loop < step.nest.rank; ++loop) {
      layout_.sizes[loop] = make_divisor(static_cast<u32>(step.nest.loops[loop].size));
      layout_.strides[loop] = step.nest.loops[loop].strides[0];
    }
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    std::byte* const to = bases[0] + step_.nest.offsets[0];
    const auto address = reinterpret_cast<std::uintptr_t>(to);
    if (is_contiguous() && address % bytes_ == 0) {
      const u64 bytes = u64{layout_.count} * bytes_;
      const u64 head = std::min<u64>((kVectorBytes - address % kVectorBytes) % kVectorBytes, bytes);
      uint4 pattern;
      auto* const words = reinterpret_cast<std::byte*>(&pattern);
      for (u32 at = 0; at < kVectorBytes; at += bytes_) {
        std::memcpy(words + at, &step_.bits, bytes_);
      }
      fill_vectors<<<blocks_for(bytes / kVectorBytes + 1), kThreads, 0, stream>>>(to, bytes, head, pattern, step_.bits,
                                                                                  bytes_);
      return cudaGetLastError();
    }
    switch (bytes_) {
      case 1:
        return launch_strided<u8>(to, stream);
      case 2:
        return launch_strided<u16>(to, stream);
      case 4:
        return launch_strided<u32>(to, stream);
      default:
        return launch_strided<u64>(to, stream);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s, %u loop%s", is_contiguous() ? "vector" : "strided", layout_.rank,
                  layout_.rank == 1 ? "" : "s");
  }

 private:
  [[nodiscard]] bool is_contiguous() const {
    return layout_.rank == 1 && layout_.strides[0] == static_cast<std::int64_t>(bytes_);
  }

  template <class T>
  [[nodiscard]] cudaError_t launch_strided(std::byte* to, cudaStream_t stream) const noexcept {
    FillLayout layout = layout_;
    layout.to = to;
    u64 all = reinterpret_cast<std::uintptr_t>(to);
    for (u32 loop = 0; loop < layout.rank; ++loop) {
      all |= static_cast<u64>(layout.strides[loop]);
    }
    fill_strided<T>
        <<<blocks_for(layout.count), kThreads, 0, stream>>>(layout, static_cast<T>(step_.bits), all % sizeof(T) == 0);
    return cudaGetLastError();
  }

  FillStep step_;
  u32 bytes_;  // size of an element
  FillLayout layout_{};
};

}  // namespace

extern const FamilyKernels fill_family;
const FamilyKernels fill_family = {
    .prepare = [](const Step& flat, const GpuProperties&, Neighbors, const char**) -> std::unique_ptr<PreparedStep> {
      FillStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (step.is_sequence != 0) {
        return visit_type(step.type, [&]<class T>() -> std::unique_ptr<PreparedStep> {
          return std::make_unique<SequenceRun<T>>(step);
        });
      }
      return std::make_unique<FillRun>(step);
    },
};

}  // namespace anydml::cuda
