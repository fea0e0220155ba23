// SPDX-License-Identifier: MIT
// The kernels of both modulus operators, once for each target that Highway compiles this file for.
#include "ops/elementwise/cpu/vector_kernels.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

// Enabled is what was run: NEON, AVX2 and AVX-512. Without a fused multiply-add the proof of the floats does not hold.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/vector_kernels.cpp"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#pragma GCC diagnostic pop

#if HWY_TARGET == HWY_NEON || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

#include "ops/elementwise/cpu/vector_modulus-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

// Through bytes, since tensors lie at any address.
template <class D>
HWY_INLINE hn::Vec<D> load_bytes(D d, const std::byte* address) {
  const hn::Repartition<u8, D> d_bytes;
  return hn::BitCast(d, hn::LoadU(d_bytes, reinterpret_cast<const u8*>(address)));
}

template <class D>
HWY_INLINE void store_bytes(D d, hn::Vec<D> lanes, std::byte* address) {
  const hn::Repartition<u8, D> d_bytes;
  hn::StoreU(hn::BitCast(d_bytes, lanes), d_bytes, reinterpret_cast<u8*>(address));
  static_cast<void>(d);
}

template <class T>
HWY_INLINE T load_element(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <class T>
HWY_INLINE auto repeated(T value) {
  if constexpr (std::is_same_v<T, f16>) {
    return hn::Set(hn::ScalableTag<u16>(), std::bit_cast<u16>(value));
  } else {
    return hn::Set(hn::ScalableTag<T>(), value);
  }
}

enum class Operand { tensor, repeated };

// One row of contiguous elements; a repeated operand is a single element.
template <class T, bool kFloor, Operand kA, Operand kB>
HWY_NOINLINE void run_row(const std::byte* a, const std::byte* b, std::byte* out, std::size_t count) {
  using A = Arithmetic<T, kFloor>;
  using V = typename A::V;
  const typename A::D d;
  constexpr std::size_t kUnroll = 4;
  const std::size_t step = hn::Lanes(d) * sizeof(T);  // in bytes, as all below
  const std::size_t bytes = count * sizeof(T);
  const V a_repeated = repeated(load_element<T>(a));
  const V b_repeated = repeated(load_element<T>(b));
  const auto load_a = [&](std::size_t n) HWY_ATTR { return kA == Operand::tensor ? load_bytes(d, a + n) : a_repeated; };
  const auto load_b = [&](std::size_t n) HWY_ATTR { return kB == Operand::tensor ? load_bytes(d, b + n) : b_repeated; };
  const auto divisor = [&]() HWY_ATTR {
    if constexpr (kB == Operand::repeated) {
      return typename A::Divisor(load_element<T>(b));
    } else {
      return 0;
    }
  }();
  const auto quick = [&](V x, V y, typename A::Failed& failed) HWY_ATTR {
    if constexpr (kB == Operand::repeated) {
      return A::quick(d, x, divisor, failed);
    } else {
      return A::quick(d, x, y, failed);
    }
  };
  const auto none = hn::FirstN(typename A::FailedTag(), 0);
  const auto any_of = [](typename A::Failed failed) HWY_ATTR {
    return !A::kAlwaysQuick && HWY_UNLIKELY(!hn::AllFalse(typename A::FailedTag(), failed));
  };
  const auto one = [&](V x, V y) HWY_ATTR {
    auto failed = none;
    const V result = quick(x, y, failed);
    return any_of(failed) ? A::thorough(d, x, y) : result;
  };
  if (bytes < step) {  // in a vector of its own, filled up with 0 mod 1
    alignas(HWY_MAX_BYTES) std::byte a_padded[HWY_MAX_BYTES] = {};
    alignas(HWY_MAX_BYTES) std::byte b_padded[HWY_MAX_BYTES];
    store_bytes(d, repeated(T(1)), b_padded);
    std::memcpy(a_padded, a, kA == Operand::tensor ? bytes : 0);
    std::memcpy(b_padded, b, kB == Operand::tensor ? bytes : 0);
    store_bytes(d,
                one(kA == Operand::tensor ? load_bytes(d, a_padded) : a_repeated,
                    kB == Operand::tensor ? load_bytes(d, b_padded) : b_repeated),
                a_padded);
    std::memcpy(out, a_padded, bytes);
    return;
  }
  // The last vector overlaps the one before it. Its operands are loaded first, since the output may be an input.
  const std::size_t last = bytes - step;
  const V a_last = load_a(last);
  const V b_last = load_b(last);
  std::size_t n = 0;
  for (; n + kUnroll * step <= bytes; n += kUnroll * step) {
    V results[kUnroll];
    auto failed = none;
    for (std::size_t k = 0; k < kUnroll; ++k) {  // in lock step, so that their divisions overlap
      results[k] = quick(load_a(n + k * step), load_b(n + k * step), failed);
    }
    if (any_of(failed)) {
      for (std::size_t k = 0; k < kUnroll; ++k) {
        store_bytes(d, A::thorough(d, load_a(n + k * step), load_b(n + k * step)), out + n + k * step);
      }
      continue;
    }
    for (std::size_t k = 0; k < kUnroll; ++k) {
      store_bytes(d, results[k], out + n + k * step);
    }
  }
  for (; n + step <= bytes; n += step) {
    store_bytes(d, one(load_a(n), load_b(n)), out + n);
  }
  if (n < bytes) {
    store_bytes(d, one(a_last, b_last), out + last);
  }
}

template <class T, bool kFloor, Operand kA, Operand kB>
void kernel(const KernelArguments& arguments) noexcept {
  const auto& a = arguments.inputs[0];
  const auto& b = arguments.inputs[1];
  for (std::size_t row = 0; row < arguments.rows; ++row) {
    const auto nth = static_cast<std::ptrdiff_t>(row);
    run_row<T, kFloor, kA, kB>(a.data + nth * a.row_stride, b.data + nth * b.row_stride,
                               arguments.output.data + nth * arguments.output.row_stride, arguments.columns);
  }
}

// Any strides: gathered into tiles, and scattered from them.
template <class T, bool kFloor>
void strided_kernel(const KernelArguments& arguments) noexcept {
  constexpr std::size_t kTile = 256;
  alignas(64) std::byte a_tile[kTile * sizeof(T)];
  alignas(64) std::byte b_tile[kTile * sizeof(T)];
  const auto gather = [](std::byte* tile, const std::byte* from, std::int64_t stride, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(tile + i * sizeof(T), from + static_cast<std::ptrdiff_t>(i) * stride, sizeof(T));
    }
  };
  const auto& a = arguments.inputs[0];
  const auto& b = arguments.inputs[1];
  for (std::size_t row = 0; row < arguments.rows; ++row) {
    const auto nth = static_cast<std::ptrdiff_t>(row);
    for (std::size_t column = 0; column < arguments.columns; column += kTile) {
      const std::size_t count = std::min(kTile, arguments.columns - column);
      const auto first = static_cast<std::ptrdiff_t>(column);
      gather(a_tile, a.data + nth * a.row_stride + first * a.stride, a.stride, count);
      gather(b_tile, b.data + nth * b.row_stride + first * b.stride, b.stride, count);
      run_row<T, kFloor, Operand::tensor, Operand::tensor>(a_tile, b_tile, a_tile, count);
      std::byte* out = arguments.output.data + nth * arguments.output.row_stride + first * arguments.output.stride;
      for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(out + static_cast<std::ptrdiff_t>(i) * arguments.output.stride, a_tile + i * sizeof(T), sizeof(T));
      }
    }
  }
}

template <class T, bool kFloor>
void replace_type(KernelTable& table) {
  const RowId row = kFloor ? RowId::ELEMENT_WISE_MODULUS_FLOOR : RowId::ELEMENT_WISE_MODULUS_TRUNCATE;
  auto& slots = table.kernels[static_cast<std::size_t>(row)][static_cast<std::size_t>(kDataTypeOf<T>)];
  // Unsigned numbers have no sign to round towards: one kernel for both.
  constexpr bool kRounds = kFloor && !std::is_unsigned_v<T>;
  slots[static_cast<std::size_t>(InnerLayout::contiguous)] = kernel<T, kRounds, Operand::tensor, Operand::tensor>;
  slots[static_cast<std::size_t>(InnerLayout::first_broadcast)] =
      kernel<T, kRounds, Operand::repeated, Operand::tensor>;
  slots[static_cast<std::size_t>(InnerLayout::second_broadcast)] =
      kernel<T, kRounds, Operand::tensor, Operand::repeated>;
  slots[static_cast<std::size_t>(InnerLayout::strided)] = strided_kernel<T, kRounds>;
}

template <class... Types>
void replace_types(KernelTable& table) {
  (replace_type<Types, true>(table), ...);
  (replace_type<Types, false>(table), ...);
}

void replace(KernelTable& table) { replace_types<f16, f32, f64, i8, u8, i16, u16, i32, u32, i64, u64>(table); }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

std::span<const KernelTarget> vector_targets() {
#if defined(__aarch64__)
  static constexpr KernelTarget kTargets[] = {{"neon", N_NEON::replace}};
  return kTargets;
#elif defined(__x86_64__)
  static constexpr KernelTarget kTargets[] = {{"avx512", N_AVX3::replace}, {"avx2", N_AVX2::replace}};
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd");
  return std::span(kTargets).subspan(avx512 ? 0 : avx2 ? 1 : 2);
#else
  return {};
#endif
}

}  // namespace anydml

#endif
