// SPDX-License-Identifier: MIT
// Fills on a GPU: one loop that is contiguous by vectors, everything else element by element.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backend/cuda/family.h"
#include "backend/cuda/kernels/device.cuh"
#include "ops/fill/step.h"

namespace anydml::cuda {
namespace {

constexpr u32 kThreads = 256;
constexpr u64 kMostBlocks = 1 << 20;

// `bytes` from `to` on, a multiple of the element; the pattern is elements over and over.
__global__ void __launch_bounds__(kThreads)
    fill_vectors(std::byte* to, u64 bytes, u64 head, uint4 pattern, u64 bits, u32 element_bytes) {
  const u64 thread = u64{blockIdx.x} * kThreads + threadIdx.x;
  const u64 vectors = (bytes - head) / kVectorBytes;
  auto* body = reinterpret_cast<uint4*>(to + head);
  for (u64 i = thread; i < vectors; i += u64{gridDim.x} * kThreads) {
    __stcs(body + i, pattern);
  }
  // What lies before the first vector and after the last one: less than 16 bytes each.
  const u64 tail = head + vectors * kVectorBytes;
  const u64 rest = head + (bytes - tail);
  if (thread < rest) {
    const u64 at = thread < head ? thread : tail + (thread - head);
    to[at] = static_cast<std::byte>(bits >> (8 * (at % element_bytes)));
  }
}

struct Places {
  std::byte* to;
  u32 count;
  u32 rank;
  FastDivisor sizes[kMaxRank];
  std::int64_t strides[kMaxRank];
};

template <class T>
__global__ void __launch_bounds__(kThreads) fill_strided(const __grid_constant__ Places places, T bits, bool aligned) {
  const u32 first = blockIdx.x * kThreads + threadIdx.x;
  for (u64 n = first; n < places.count; n += u64{gridDim.x} * kThreads) {
    auto index = static_cast<u32>(n);
    std::int64_t offset = 0;
    for (u32 loop = places.rank; loop-- > 0;) {
      const Quotient parts = divide(index, places.sizes[loop]);
      offset += static_cast<std::int64_t>(parts.remainder) * places.strides[loop];
      index = parts.quotient;
    }
    store_element<T>(places.to + offset, bits, aligned);
  }
}

class FillRun final : public PreparedStep {
 public:
  explicit FillRun(const FillStep& step) : step_(step) {
    places_.count = static_cast<u32>(step.nest.count);
    places_.rank = step.nest.rank;
    for (u32 loop = 0; loop < step.nest.rank; ++loop) {
      places_.sizes[loop] = make_divisor(static_cast<u32>(step.nest.loops[loop].size));
      places_.strides[loop] = step.nest.loops[loop].strides[0];
    }
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, cudaStream_t stream) const noexcept override {
    std::byte* const to = bases[0] + step_.nest.offsets[0];
    const auto address = reinterpret_cast<std::uintptr_t>(to);
    if (is_contiguous() && address % step_.element_bytes == 0) {
      const u64 bytes = u64{places_.count} * step_.element_bytes;
      const u64 head = std::min<u64>((kVectorBytes - address % kVectorBytes) % kVectorBytes, bytes);
      uint4 pattern;
      auto* const words = reinterpret_cast<std::byte*>(&pattern);
      for (u32 at = 0; at < kVectorBytes; at += step_.element_bytes) {
        std::memcpy(words + at, &step_.bits, step_.element_bytes);
      }
      fill_vectors<<<blocks_for(bytes / kVectorBytes + 1), kThreads, 0, stream>>>(to, bytes, head, pattern, step_.bits,
                                                                                  step_.element_bytes);
      return cudaGetLastError();
    }
    switch (step_.element_bytes) {
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

  [[nodiscard]] bool make_small_task(std::byte* const*, SmallTask&) const noexcept override { return false; }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s, %u loop%s", is_contiguous() ? "vector" : "strided", places_.rank,
                  places_.rank == 1 ? "" : "s");
  }

 private:
  [[nodiscard]] bool is_contiguous() const {
    return places_.rank == 1 && places_.strides[0] == static_cast<std::int64_t>(step_.element_bytes);
  }
  [[nodiscard]] static u32 blocks_for(u64 threads) {
    return static_cast<u32>(std::clamp<u64>((threads + kThreads - 1) / kThreads, 1, kMostBlocks));
  }

  template <class T>
  [[nodiscard]] cudaError_t launch_strided(std::byte* to, cudaStream_t stream) const noexcept {
    Places places = places_;
    places.to = to;
    u64 all = reinterpret_cast<std::uintptr_t>(to);
    for (u32 loop = 0; loop < places.rank; ++loop) {
      all |= static_cast<u64>(places.strides[loop]);
    }
    fill_strided<T>
        <<<blocks_for(places.count), kThreads, 0, stream>>>(places, static_cast<T>(step_.bits), all % sizeof(T) == 0);
    return cudaGetLastError();
  }

  FillStep step_;
  Places places_{};
};

}  // namespace

extern const Family fill_family;
const Family fill_family = {
    .name = "fill",
    .prepare = [](const Step& flat, const char**) -> std::unique_ptr<PreparedStep> {
      FillStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      return std::make_unique<FillRun>(step);
    },
    .launch_at_once = nullptr,
    .launch_in_waves = nullptr,
};

}  // namespace anydml::cuda
