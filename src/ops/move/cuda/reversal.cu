// SPDX-License-Identifier: MIT
// Runs reversals on a GPU. Each thread writes one word of the output; the source of the word depends on the length of
// its line.
#include "ops/move/cuda/reversal.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <limits>

#include "backend/cuda/kernels/device.cuh"

namespace anydml::cuda {
namespace {

constexpr u32 kThreads = 256;
constexpr u64 kMaxBlocks = 1 << 20;
constexpr u32 kMaxWord = 16;
constexpr u32 kMaxLoops = kMaxRank + 1;  // the step's loops, its axis, and one over the words of a run

// Loops over the words of the output, outermost first. One of them is the axis, whose source stride is stored
// separately.
struct ReversedWords {
  const std::byte* from;
  const std::byte* lengths;
  std::byte* to;
  u64 count;
  u64 axis_size;
  i64 axis_from;
  u32 rank;
  u32 axis;  // index of the axis among the loops
  u32 length_bytes;
  FastDivisor divisors[kMaxLoops];
  u64 sizes[kMaxLoops];
  i64 from_strides[kMaxLoops];
  i64 to_strides[kMaxLoops];
  i64 length_strides[kMaxLoops];
};

// kNarrow: the count fits in 32 bits.
template <class Word, bool kNarrow>
__global__ void __launch_bounds__(kThreads) reverse_words(const __grid_constant__ ReversedWords words) {
  for (u64 n = u64{blockIdx.x} * kThreads + threadIdx.x; n < words.count; n += u64{gridDim.x} * kThreads) {
    u64 rest = n;
    u64 position = 0;
    i64 from = 0;
    i64 to = 0;
    i64 length_at = 0;
    for (u32 loop = words.rank; loop-- > 0;) {
      u64 index = 0;
      if constexpr (kNarrow) {
        const Quotient parts = divide(static_cast<u32>(rest), words.divisors[loop]);
        index = parts.remainder;
        rest = parts.quotient;
      } else {
        index = rest % words.sizes[loop];
        rest /= words.sizes[loop];
      }
      position = loop == words.axis ? index : position;
      from += static_cast<i64>(index) * words.from_strides[loop];
      to += static_cast<i64>(index) * words.to_strides[loop];
      length_at += static_cast<i64>(index) * words.length_strides[loop];
    }
    const std::byte* const number = words.lengths + length_at;
    // Lengths are read byte by byte because they may have any alignment; this is cheap because they stay in the caches.
    u64 length = 0;
    for (u32 i = 0; i < words.length_bytes; ++i) {
      length |= static_cast<u64>(number[i]) << (8 * i);
    }
    length = length < words.axis_size ? length : words.axis_size;
    const u64 source = position < length ? length - 1 - position : position;
    from += static_cast<i64>(source) * words.axis_from;
    *reinterpret_cast<Word*>(words.to + to) = *reinterpret_cast<const Word*>(words.from + from);
  }
}

class Reversal final : public PreparedStep {
 public:
  explicit Reversal(const ReversalStep& step) : step_(step) {
    steps_ = static_cast<u64>(step.run) | static_cast<u64>(step.axis.from) | static_cast<u64>(step.axis.to);
    for (u32 i = 0; i < step.rank; ++i) {
      steps_ |= static_cast<u64>(step.loops[i].from) | static_cast<u64>(step.loops[i].to);
    }
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    ReversedWords words{};
    words.from = bases[0] + step_.from_offset;
    words.lengths = bases[1] + step_.lengths_offset;
    words.to = bases[2] + step_.to_offset;
    const u64 all =
        steps_ | reinterpret_cast<std::uintptr_t>(words.from) | reinterpret_cast<std::uintptr_t>(words.to) | kMaxWord;
    const u32 word = u32{1} << std::countr_zero(all);
    words.count = 1;
    words.length_bytes = step_.length_bytes;
    words.axis_size = static_cast<u64>(step_.axis.size);
    words.axis_from = step_.axis.from;
    const auto add = [&words](i64 size, i64 from, i64 to, i64 lengths) {
      words.sizes[words.rank] = static_cast<u64>(size);
      words.from_strides[words.rank] = from;
      words.to_strides[words.rank] = to;
      words.length_strides[words.rank++] = lengths;
      words.count *= static_cast<u64>(size);
    };
    // Order the loops by output strides, so that adjacent threads write adjacent memory.
    u32 next = 0;
    const auto add_loops = [&](auto until) {
      for (; next < step_.rank && until(step_.loops[next]); ++next) {
        add(step_.loops[next].size, step_.loops[next].from, step_.loops[next].to, step_.loops[next].lengths);
      }
    };
    const i64 along = step_.axis.to < 0 ? -step_.axis.to : step_.axis.to;
    add_loops([along](const ReversalLoop& loop) { return loop.to > along; });
    words.axis = words.rank;
    add(step_.axis.size, 0, step_.axis.to, 0);
    add_loops([](const ReversalLoop&) { return true; });
    if (step_.run > static_cast<i64>(word)) {
      add(step_.run / word, word, word, 0);
    }
    const bool narrow = words.count <= std::numeric_limits<u32>::max();
    for (u32 i = 0; narrow && i < words.rank; ++i) {
      words.divisors[i] = make_divisor(static_cast<u32>(words.sizes[i]));
    }
    const auto blocks = static_cast<u32>(std::min((words.count + kThreads - 1) / kThreads, kMaxBlocks));
    const auto start = [&]<class Word>(Word) {
      if (narrow) {
        reverse_words<Word, true><<<blocks, kThreads, 0, stream>>>(words);
      } else {
        reverse_words<Word, false><<<blocks, kThreads, 0, stream>>>(words);
      }
    };
    switch (word) {
      case 1:
        start(u8{});
        break;
      case 2:
        start(u16{});
        break;
      case 4:
        start(u32{});
        break;
      case 8:
        start(u64{});
        break;
      default:
        start(uint4{});
    }
    return cudaGetLastError();
  }

  void explain(char* text, std::size_t capacity) const noexcept override { std::snprintf(text, capacity, "reversal"); }

 private:
  ReversalStep step_;
  u64 steps_;  // the OR of the strides and the run: a power of two divides it if and only if it divides each of them
};

}  // namespace

std::unique_ptr<PreparedStep> prepare_reversal(const ReversalStep& step) { return std::make_unique<Reversal>(step); }

}  // namespace anydml::cuda
