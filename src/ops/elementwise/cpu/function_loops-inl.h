// SPDX-License-Identifier: MIT
// Computes rows of a function (ops/scalar/functions) for each of Highway's targets. One loop computes the ordinary case
// and is vectorized by the compiler; a second loop computes the hard elements of a stretch. FLOAT16 has so few values
// that one table covers all results.
#if defined(ANYDML_FUNCTION_LOOPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ANYDML_FUNCTION_LOOPS_INL
#undef ANYDML_FUNCTION_LOOPS_INL
#else
#define ANYDML_FUNCTION_LOOPS_INL
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "backend/cpu/loops.h"
#include "ops/elementwise/cpu/tiles-inl.h"
#include "ops/scalar/functions/function.h"
#include "ops/scalar/signature.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

inline constexpr std::size_t kFunctionStage = 512;  // elements, few enough for the L1 cache
inline constexpr std::size_t kMaxTogether = 16;
static_assert(kFunctionStage % kMaxTogether == 0);
#if defined(__aarch64__)
template <class Of>
inline constexpr std::size_t kTogether = kIsLongFunction<Of> ? 8 : kMaxTogether;
#else
template <class Of>
inline constexpr std::size_t kTogether = kMaxTogether;
#endif

// Rounds the final result only once: FLOAT16 results pass through FLOAT32 with rounding to odd.
template <class T>
HWY_INLINE f32 stage_result(f64 y) {
  if constexpr (sizeof(T) == sizeof(f32)) {
    return static_cast<f32>(y);
  } else {
    return round_to_odd(y);
  }
}

// Flags the hard elements of a stretch, for functions that detect them from the inputs. Returns whether any are hard.
template <class Of, class... Inputs>
HWY_FLATTEN HWY_NOINLINE bool find_hard(const Of& of, u32* HWY_RESTRICT flags, std::size_t count,
                                        const Inputs* HWY_RESTRICT... from) {
  const Of own = of;
  u32 any = 0;
  ANYDML_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) {
    flags[i] = own.is_hard(from[i]...) ? 1 : 0;
    any |= flags[i];
  }
  return any != 0;
}

// Computes one stretch. Returns whether any element is hard, for functions that detect this from the results. For all
// other functions, the loop processes a fixed number of elements at a time: compilers then interleave the instructions
// of several vectors and hide their latency. Elements beyond the count are also computed, but never used. This is a
// separate function, so that `flatten` inlines everything that it calls, regardless of size.
template <class T, class Of, class... Inputs>
HWY_FLATTEN HWY_NOINLINE bool run_ordinary(const Of& of, f32* HWY_RESTRICT to, [[maybe_unused]] u32* HWY_RESTRICT flags,
                                           std::size_t count, const Inputs* HWY_RESTRICT... from) {
  const Of own = of;
  if constexpr (HasHard<Of, Inputs...> && !IsHardByInput<Of, Inputs...>) {
    u32 any = 0;
    ANYDML_INDEPENDENT
    for (std::size_t i = 0; i < count; ++i) {
      const f64 y = own.ordinary(from[i]...);
      const u32 flag = asks_for_more<T>(own, y, from[i]...) ? 1 : 0;
      to[i] = stage_result<T>(y);
      flags[i] = flag;
      any |= flag;
    }
    return any != 0;
  } else {
    for (std::size_t first = 0; first < count; first += kTogether<Of>) {
      for (std::size_t i = first; i < first + kTogether<Of>; ++i) {
        to[i] = stage_result<T>(own.ordinary(from[i]...));
      }
    }
    return false;
  }
}

// Selected elements of a stretch, packed so that their computation can be vectorized too.
template <std::size_t kInputs>
struct Packed {
  alignas(64) f32 inputs[kInputs][kFunctionStage];
  alignas(64) f32 results[kFunctionStage];
  u32 positions[kFunctionStage];
  std::size_t count = 0;

  Packed(const u32* flags, std::size_t of, const std::array<const f32*, kInputs>& from) {
    for (std::size_t i = 0; i < of; ++i) {
      for (std::size_t input = 0; input < kInputs; ++input) {
        inputs[input][count] = from[input][i];
      }
      positions[count] = static_cast<u32>(i);
      count += flags[i];
    }
  }
  void put_results(f32* to) const {
    for (std::size_t i = 0; i < count; ++i) {
      to[positions[i]] = results[i];
    }
  }
};

template <class T, class Of, std::size_t... kInputs>
HWY_FLATTEN HWY_NOINLINE void run_hard(const Of& of, f32* to, const u32* flags, std::size_t count,
                                       const std::array<const f32*, sizeof...(kInputs)>& from,
                                       std::index_sequence<kInputs...>) {
  Packed<sizeof...(kInputs)> hard(flags, count, from);
  const Of own = of;
  ANYDML_INDEPENDENT
  for (std::size_t i = 0; i < hard.count; ++i) {
    hard.results[i] = stage_result<T>(own.hard(hard.inputs[kInputs][i]...));
  }
  hard.put_results(to);
}

// Computes a stretch in FLOAT64.
template <class T, class Of, std::size_t... kInputs>
HWY_INLINE void run_slowly(const Of& of, f32* to, u32* flags, std::size_t count,
                           const std::array<const f32*, sizeof...(kInputs)>& from,
                           std::index_sequence<kInputs...> indices) {
  [[maybe_unused]] bool any = run_ordinary<T>(of, to, flags, count, from[kInputs]...);
  if constexpr (HasHard<Of, decltype(*from[kInputs])...>) {
    if constexpr (IsHardByInput<Of, decltype(*from[kInputs])...>) {
      any = find_hard(of, flags, count, from[kInputs]...);
    }
    if (any) {
      run_hard<T>(of, to, flags, count, from, indices);
    }
  }
}

// Computes a stretch with the quick path that some FLOAT16 functions have; returns whether any element is unclear.
template <class Of, class... Inputs>
HWY_FLATTEN HWY_NOINLINE bool run_quick(const Of& of, f32* HWY_RESTRICT to, u32* HWY_RESTRICT flags, std::size_t count,
                                        const Inputs* HWY_RESTRICT... from) {
  const Of own = of;
  u32 any = 0;
  ANYDML_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = own.quick(from[i]...);
    flags[i] = own.is_unclear(to[i]) ? 1 : 0;
    any |= flags[i];
  }
  return any != 0;
}
template <class T, class Of, std::size_t... kInputs>
HWY_INLINE void run_quickly(const Of& of, f32* to, u32* flags, std::size_t count,
                            const std::array<const f32*, sizeof...(kInputs)>& from,
                            std::index_sequence<kInputs...> indices) {
  if (run_quick(of, to, flags, count, from[kInputs]...)) {
    Packed<sizeof...(kInputs)> unclear(flags, count, from);
    run_slowly<T>(of, unclear.results, flags, unclear.count, {unclear.inputs[kInputs]...}, indices);
    unclear.put_results(to);
  }
}

// Computes the elements starting with `first`, up to one stage. If kStaged is set, inputs and results pass through
// buffers in the L1 cache, which have room for extra elements.
template <bool kStaged, class Scalar, std::size_t... kInputs>
HWY_INLINE void run_stretch(const Scalar& scalar, const std::byte* const* inputs, std::byte* output, std::size_t first,
                            std::size_t part, std::index_sequence<kInputs...> indices) {
  using T = typename Signature<Scalar>::Output;
  using Of = typename Scalar::Of;
  constexpr bool kHalf = std::is_same_v<T, f16>;
  constexpr std::size_t kCopied = kStaged ? kFunctionStage : 1;
  alignas(64) f32 staged[sizeof...(kInputs)][kCopied];
  alignas(64) f32 results[kCopied];
  alignas(64) u32 flags[kFunctionStage];
  std::byte* const to = output + first * sizeof(T);
  std::array<const f32*, sizeof...(kInputs)> from = {
      reinterpret_cast<const f32*>(inputs[kInputs] + first * sizeof(T))...};
  f32* computed = reinterpret_cast<f32*>(to);
  if constexpr (kStaged) {
    const auto stage = [&]<std::size_t i>() HWY_ATTR {
      const std::byte* const bytes = inputs[i] + first * sizeof(T);
      if constexpr (kHalf) {
        widen_halves(bytes, staged[i], part);
      } else {
        std::memcpy(staged[i], bytes, part * sizeof(f32));
      }
      std::fill(staged[i] + part, staged[i] + hwy::RoundUpTo(part, kMaxTogether), 0.0F);
    };
    (stage.template operator()<kInputs>(), ...);
    from = {staged[kInputs]...};
    computed = results;
  }
  if constexpr (kIsQuick<T, Of, decltype(*from[kInputs])...>) {
    run_quickly<T>(scalar.of, computed, flags, part, from, indices);
  } else {
    run_slowly<T>(scalar.of, computed, flags, part, from, indices);
  }
  if constexpr (kStaged && kHalf) {
    narrow_halves(results, to, part);
  } else if constexpr (kStaged) {
    std::memcpy(to, results, part * sizeof(f32));
  }
}

// FLOAT32 is computed directly from memory to memory, so that memory accesses overlap with computation, unless the
// output overlaps an input or a pointer is misaligned. The last few elements are staged.
template <class Scalar, std::size_t... kInputs>
HWY_INLINE void run_function(const Scalar& scalar, const std::byte* const* inputs, std::byte* output, std::size_t count,
                             std::index_sequence<kInputs...> indices) {
  std::size_t first = 0;
  if constexpr (std::is_same_v<typename Signature<Scalar>::Output, f32>) {
    const auto address = reinterpret_cast<std::uintptr_t>(output);
    const std::uintptr_t bytes = count * sizeof(f32);
    const auto is_apart = [&](const std::byte* input) HWY_ATTR {
      const auto other = reinterpret_cast<std::uintptr_t>(input);
      return (other + bytes <= address || address + bytes <= other) && other % alignof(f32) == 0;
    };
    if (address % alignof(f32) == 0 && (is_apart(inputs[kInputs]) && ...)) {
      const std::size_t whole = count / kMaxTogether * kMaxTogether;
      for (; first < whole; first += std::min(kFunctionStage, whole - first)) {
        run_stretch<false>(scalar, inputs, output, first, std::min(kFunctionStage, whole - first), indices);
      }
    }
  }
  for (; first < count; first += std::min(kFunctionStage, count - first)) {
    run_stretch<true>(scalar, inputs, output, first, std::min(kFunctionStage, count - first), indices);
  }
}

inline constexpr std::size_t kHalves = 65536;
// A row of at least this length justifies building a table. After that, shorter rows use the table too. The limit is
// higher for functions with attributes, since the attributes may change.
template <class Of>
inline constexpr std::size_t kWorthTable = std::is_empty_v<Of> ? 4096 : 16384;

// The table for one function with one set of attributes.
template <class Of>
struct HalfTable {
  Of of;
  u16 results[kHalves];
};
inline constexpr std::size_t kMaxTables = 8;  // per function with attributes

// The results for all FLOAT16 values, computed once and never destroyed. Null if no table exists and this row does not
// justify building one, or if the number of tables has reached its limit.
template <class Scalar>
const u16* half_table(const Scalar& scalar, std::size_t count) {
  using Of = typename Scalar::Of;
  static_assert(std::is_trivially_copyable_v<Of>);
  static std::atomic<const HalfTable<Of>*> tables[std::is_empty_v<Of> ? 1 : kMaxTables] = {};
  for (std::atomic<const HalfTable<Of>*>& entry : tables) {
    const HalfTable<Of>* existing = entry.load(std::memory_order_acquire);
    if (existing == nullptr) {
      if (count < kWorthTable<Of>) {
        return nullptr;
      }
      std::unique_ptr<HalfTable<Of>> fresh(new (std::nothrow) HalfTable<Of>{scalar.of, {}});
      if (fresh == nullptr) {
        return nullptr;
      }
      for (std::size_t i = 0; i < kHalves; ++i) {
        fresh->results[i] = static_cast<u16>(i);
      }
      auto* const bytes = reinterpret_cast<std::byte*>(fresh->results);
      const std::byte* const inputs[] = {bytes};
      run_function(scalar, inputs, bytes, kHalves, std::make_index_sequence<1>{});
      if (entry.compare_exchange_strong(existing, fresh.get(), std::memory_order_acq_rel)) {
        return fresh.release()->results;
      }
    }
    // Another thread may have built this table. Attributes are compared bitwise, since -0 and 0 differ here.
    if (std::is_empty_v<Of> || std::memcmp(&existing->of, &scalar.of, sizeof(Of)) == 0) {
      return existing->results;
    }
  }
  return nullptr;
}

HWY_INLINE void look_up(const u16* table, const std::byte* from, std::byte* to, std::size_t count) {
  ANYDML_INDEPENDENT
#pragma GCC unroll 8
  for (std::size_t i = 0; i < count; ++i) {
    u16 index = 0;
    std::memcpy(&index, from + i * sizeof(u16), sizeof(u16));
    std::memcpy(to + i * sizeof(u16), &table[index], sizeof(u16));
  }
}

template <class Scalar>
HWY_INLINE void run_function_row(const Scalar& scalar, const std::byte* const* inputs, std::byte* output,
                                 std::size_t count) {
  using Types = Signature<Scalar>;
  if constexpr (std::is_same_v<typename Types::Output, f16> && Types::kInputs == 1) {
    if (const u16* const table = half_table(scalar, count)) {
      look_up(table, inputs[0], output, count);
      return;
    }
  }
  run_function(scalar, inputs, output, count, std::make_index_sequence<Types::kInputs>{});
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
