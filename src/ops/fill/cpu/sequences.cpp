// SPDX-License-Identifier: MIT
// Computes rows of a sequence with loops that the compiler vectorizes, compiled once for each target. Floats are
// computed from 32-bit indices where possible: more of these fit in a vector than 64-bit indices, and the results are
// the same. Integers are computed by repeated addition, which wraps to the same result as the product.
#include "ops/fill/cpu/sequences.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/fill/cpu/sequences.cpp"
#include "backend/cpu/each_target.h"
#include "backend/cpu/loops.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Loops process a fixed number of elements per iteration, in vectors that do not depend on each other.
inline constexpr std::int64_t kStep = 64;

// The index as a float: exact below 2^24 or 2^53, rounded to nearest beyond.
template <class T>
HWY_INLINE void put_floats(T start, T delta, std::int32_t first, std::int64_t count, std::byte* to) {
  const auto put = [&](std::int64_t begin, std::int32_t i) HWY_ATTR {
    const T product = static_cast<T>(first + static_cast<std::int32_t>(begin) + i) * delta;
    const T value = start + product;
    std::memcpy(to + (begin + i) * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
  };
  std::int64_t n = 0;
  for (; n + kStep <= count; n += kStep) {
    ANYDML_INDEPENDENT
    for (std::int32_t i = 0; i < kStep; ++i) {
      put(n, i);
    }
  }
  for (; n < count; ++n) {
    put(n, 0);
  }
}

#include "backend/cpu/halves-inl.h"

template <class T>
void put_row(const Sequence<T>& sequence, u64 first, std::int64_t count, std::byte* to) noexcept {
  constexpr u64 kNarrowIndices = (u64{1} << 31) - 256;  // leaves room for the padding of the last chunk of halves
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  if constexpr (!is_float<T>) {
    using Bits = std::make_unsigned_t<T>;
    const auto delta = static_cast<Bits>(sequence.delta);
    alignas(64) Bits ahead[kStep];  // the difference between each element of a step and the first
    for (std::int64_t i = 0; i < kStep; ++i) {
      ahead[i] = static_cast<Bits>(static_cast<Bits>(i) * static_cast<wrapping_t<Bits>>(delta));
    }
    const auto step = static_cast<Bits>(ahead[kStep - 1] + delta);
    auto value = static_cast<Bits>(sequence(first));
    std::int64_t n = 0;
    for (; n + kStep <= count; n += kStep) {
      ANYDML_INDEPENDENT
      for (std::int64_t i = 0; i < kStep; ++i) {
        const auto element = static_cast<Bits>(value + ahead[i]);
        std::memcpy(to + (n + i) * kSize, &element, sizeof(element));
      }
      value = static_cast<Bits>(value + step);
    }
    for (; n < count; ++n) {
      std::memcpy(to + n * kSize, &value, sizeof(value));
      value = static_cast<Bits>(value + delta);
    }
  } else if (first + static_cast<u64>(count) > kNarrowIndices) {
    for (std::int64_t i = 0; i < count; ++i) {
      const T value = sequence(first + static_cast<u64>(i));
      std::memcpy(to + i * kSize, &value, sizeof(value));
    }
  } else if constexpr (std::is_same_v<T, f16>) {
    constexpr std::int64_t kSome = 256;
    alignas(64) f32 wide[kSome];
    alignas(64) std::byte narrowed[sizeof(wide) / 2];
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<f32>()));
    for (std::int64_t n = 0; n < count; n += kSome) {
      const std::int64_t some = std::min(kSome, count - n);
      put_floats(widen(sequence.start), widen(sequence.delta), static_cast<std::int32_t>(first) + static_cast<i32>(n),
                 kSome, reinterpret_cast<std::byte*>(wide));
      std::byte* const at = some == kSome ? to + n * kSize : narrowed;
      for (std::int64_t i = 0; i < kSome; i += lanes) {
        narrow_vector(wide + i, at + i * kSize);
      }
      if (some != kSome) {
        std::memcpy(to + n * kSize, narrowed, static_cast<std::size_t>(some * kSize));
      }
    }
  } else {
    put_floats(sequence.start, sequence.delta, static_cast<std::int32_t>(first), count, to);
  }
}

}  // namespace

template <class T>
SequenceRow<T> sequence_row() {
  return put_row<T>;
}
#define ANYDML_SEQUENCE(T, name, value) template SequenceRow<T> sequence_row<T>();
ANYDML_FOR_EACH_TYPE(ANYDML_SEQUENCE)
#undef ANYDML_SEQUENCE

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

template <class T>
SequenceRow<T> vector_sequence_row(cpu::Target target) {
  return ANYDML_FOR_TARGET(target, nullptr, sequence_row<T>());
}
#define ANYDML_SEQUENCE(T, name, value) template SequenceRow<T> vector_sequence_row<T>(cpu::Target);
ANYDML_FOR_EACH_TYPE(ANYDML_SEQUENCE)
#undef ANYDML_SEQUENCE

}  // namespace anydml

#endif
