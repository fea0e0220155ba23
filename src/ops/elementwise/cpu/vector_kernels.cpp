// SPDX-License-Identifier: MIT
// Both modulus operators in vectors, once for each target that Highway compiles this file for. The same bits as the
// scalar definition: what a lane cannot prove it hands to that.
//
// Floats. With x = |a|, y = |b| and q any integer, r = fma(-q, y, x) is x - q * y rounded once. If 0 <= r < y it is
// exact, because the true value is a multiple of y's last place and smaller than y, and then it is the remainder. A
// quotient that was rounded up to the next integer gives -y < r < 0, also exact, and r + y is the remainder. Everything
// else fails the test: quotients beyond the float's integers, zeros, infinities, NaN.
//
// Integers of up to 16 bits in FLOAT32, of 32 bits in FLOAT64. The quotient rounds to nearest, but a / b is at least
// 1 / b away from the next integer, which is more than half a last place: truncating it is exact. b = 0 becomes 1,
// which gives 0.
#include "ops/elementwise/cpu/vector_kernels.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

// Enabled is what was run: NEON, AVX2 and AVX-512. Without a fused multiply-add the proof above does not hold.
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

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// How elements of T become lanes to compute in, and back. D is the tag of the lanes computed in.
template <class T>
struct LaneOf {
  using Element = std::conditional_t<std::is_same_v<T, f16>, hwy::float16_t, T>;
  using Compute = std::conditional_t<sizeof(T) <= 2, f32, std::conditional_t<std::is_integral_v<T>, f64, T>>;
};

template <class T>
using Tag = hn::ScalableTag<typename LaneOf<T>::Compute>;

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

template <class T, class D>
HWY_INLINE hn::Vec<D> load(D d, const std::byte* address) {
  using Element = typename LaneOf<T>::Element;
  const hn::Rebind<Element, D> d_element;
  const auto elements = load_bytes(d_element, address);
  if constexpr (std::is_same_v<Element, typename LaneOf<T>::Compute>) {
    return elements;
  } else if constexpr (std::is_same_v<T, u32>) {
    const hn::Rebind<i32, D> d_signed;
    const auto shifted = hn::Xor(hn::BitCast(d_signed, elements), hn::Set(d_signed, i32(0x8000'0000U)));
    return hn::Add(hn::PromoteTo(d, shifted), hn::Set(d, 2147483648.0));
  } else if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, i32>) {
    return hn::PromoteTo(d, elements);
  } else {
    return hn::ConvertTo(d, hn::PromoteTo(hn::Rebind<i32, D>(), elements));
  }
}

template <class T, class D>
HWY_INLINE void store(D d, hn::Vec<D> lanes, std::byte* address) {
  using Element = typename LaneOf<T>::Element;
  const hn::Rebind<Element, D> d_element;
  if constexpr (std::is_same_v<Element, typename LaneOf<T>::Compute>) {
    store_bytes(d_element, lanes, address);
  } else if constexpr (std::is_same_v<T, u32>) {
    const hn::Rebind<i32, D> d_signed;
    const auto shifted = hn::DemoteTo(d_signed, hn::Sub(lanes, hn::Set(d, 2147483648.0)));
    store_bytes(d_element, hn::BitCast(d_element, hn::Xor(shifted, hn::Set(d_signed, i32(0x8000'0000U)))), address);
  } else if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, i32>) {
    store_bytes(d_element, hn::DemoteTo(d_element, lanes), address);
  } else {
    store_bytes(d_element, hn::DemoteTo(d_element, hn::ConvertTo(hn::Rebind<i32, D>(), lanes)), address);
  }
}

// The result, and in `unproven` the lanes it does not hold for.
template <class T, bool kFloor, class D>
HWY_INLINE hn::Vec<D> modulus(D d, hn::Vec<D> a, hn::Vec<D> b, hn::Mask<D>& unproven) {
  const auto zero = hn::Zero(d);
  if constexpr (is_float<T>) {
    const auto x = hn::Abs(a);
    const auto y = hn::Abs(b);
    auto r = hn::NegMulAdd(hn::Trunc(hn::Div(x, y)), y, x);
    r = hn::Add(r, hn::IfThenElseZero(hn::Lt(r, zero), y));
    unproven = hn::Not(hn::And(hn::Ge(r, zero), hn::Lt(r, y)));
    const auto sign = hn::SignBit(d);
    const auto m = hn::Or(r, hn::And(a, sign));
    if constexpr (!kFloor) {
      return m;
    } else {
      const auto b_sign = hn::And(b, sign);
      const auto differ = hn::MaskFromVec(hn::BroadcastSignBit(hn::BitCast(hn::RebindToSigned<D>(), hn::Xor(a, b))));
      const auto added = hn::IfThenElse(hn::RebindMask(d, differ), hn::Add(m, b), m);
      return hn::IfThenElse(hn::Eq(r, zero), b_sign, added);
    }
  } else {
    unproven = hn::FirstN(d, 0);  // none: an integer quotient is always right
    const auto divisor = hn::IfThenElse(hn::Eq(b, zero), hn::Set(d, 1), b);
    const auto r = hn::NegMulAdd(hn::Trunc(hn::Div(a, divisor)), divisor, a);
    if constexpr (kFloor && std::is_signed_v<T>) {
      // r * divisor < 0 where both are not zero and their signs differ; the product is far from underflow.
      return hn::Add(r, hn::IfThenElseZero(hn::Lt(hn::Mul(r, divisor), zero), divisor));
    } else {
      return r;
    }
  }
}

template <class T, bool kFloor>
T scalar_modulus(T a, T b) {
  if constexpr (kFloor) {
    return ModulusFloor<T>{}(a, b);
  } else {
    return ModulusTruncate<T>{}(a, b);
  }
}

// Lanes that could not be proven, one by one. Out of line: it is rare, and the loop must stay small.
template <class T, bool kFloor, class D>
HWY_NOINLINE void repair(D d, const std::byte* a, const std::byte* b, std::size_t a_step, std::size_t b_step,
                         hn::Mask<D> unproven, std::byte* out) {
  alignas(64) u8 bits[(64 + 7) / 8 + 8] = {};
  hn::StoreMaskBits(d, unproven, bits);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    if ((bits[i / 8] >> (i % 8) & 1) != 0) {
      T x;
      T y;
      std::memcpy(&x, a + i * a_step, sizeof(T));
      std::memcpy(&y, b + i * b_step, sizeof(T));
      const T result = scalar_modulus<T, kFloor>(x, y);
      std::memcpy(out + i * sizeof(T), &result, sizeof(T));
    }
  }
}

// One row of contiguous elements; an input with step 0 is a single element.
template <class T, bool kFloor, std::size_t kAStep, std::size_t kBStep>
HWY_NOINLINE void run_row(const std::byte* a, const std::byte* b, std::byte* out, std::size_t count) {
  const Tag<T> d;
  using D = Tag<T>;
  using V = hn::Vec<D>;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t kUnroll = 4;
  // A repeated element stands in a vector of its own.
  alignas(64) std::byte a_repeated[64 * sizeof(T)];
  alignas(64) std::byte b_repeated[64 * sizeof(T)];
  for (std::size_t i = 0; i < lanes; ++i) {
    std::memcpy(a_repeated + i * sizeof(T), a, kAStep == 0 ? sizeof(T) : 0);
    std::memcpy(b_repeated + i * sizeof(T), b, kBStep == 0 ? sizeof(T) : 0);
  }
  const auto load_a = [&](std::size_t n) { return load<T>(d, kAStep == 0 ? a_repeated : a + n * kAStep); };
  const auto load_b = [&](std::size_t n) { return load<T>(d, kBStep == 0 ? b_repeated : b + n * kBStep); };
  // Results wait in a block of their own until the unproven ones are repaired, since the output may be an input.
  const auto finish = [&](std::size_t n, V result, hn::Mask<D> unproven) {
    if (!is_float<T> || HWY_LIKELY(hn::AllFalse(d, unproven))) {
      store<T>(d, result, out + n * sizeof(T));
      return;
    }
    alignas(64) std::byte block[64 * sizeof(T)];
    store<T>(d, result, block);
    repair<T, kFloor>(d, a + n * kAStep, b + n * kBStep, kAStep, kBStep, unproven, block);
    std::memcpy(out + n * sizeof(T), block, lanes * sizeof(T));
  };
  std::size_t n = 0;
  for (; n + kUnroll * lanes <= count; n += kUnroll * lanes) {
    // Several in lock step, so that their divisions overlap.
    V results[kUnroll];
    hn::Mask<D> unproven[kUnroll];
    for (std::size_t k = 0; k < kUnroll; ++k) {
      results[k] = modulus<T, kFloor>(d, load_a(n + k * lanes), load_b(n + k * lanes), unproven[k]);
    }
    for (std::size_t k = 0; k < kUnroll; ++k) {
      finish(n + k * lanes, results[k], unproven[k]);
    }
  }
  for (; n + lanes <= count; n += lanes) {
    hn::Mask<D> unproven;
    const V result = modulus<T, kFloor>(d, load_a(n), load_b(n), unproven);
    finish(n, result, unproven);
  }
  for (; n < count; ++n) {  // fewer than a vector
    T x;
    T y;
    std::memcpy(&x, a + n * kAStep, sizeof(T));
    std::memcpy(&y, b + n * kBStep, sizeof(T));
    const T result = scalar_modulus<T, kFloor>(x, y);
    std::memcpy(out + n * sizeof(T), &result, sizeof(T));
  }
}

template <class T, bool kFloor, InnerLayout kLayout>
void kernel(const KernelArguments& arguments) noexcept {
  constexpr std::size_t kAStep = kLayout == InnerLayout::first_broadcast ? 0 : sizeof(T);
  constexpr std::size_t kBStep = kLayout == InnerLayout::second_broadcast ? 0 : sizeof(T);
  const auto& a = arguments.inputs[0];
  const auto& b = arguments.inputs[1];
  for (std::size_t row = 0; row < arguments.rows; ++row) {
    const auto nth = static_cast<std::ptrdiff_t>(row);
    run_row<T, kFloor, kAStep, kBStep>(a.data + nth * a.row_stride, b.data + nth * b.row_stride,
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
      run_row<T, kFloor, sizeof(T), sizeof(T)>(a_tile, b_tile, a_tile, count);
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
  slots[static_cast<std::size_t>(InnerLayout::contiguous)] = kernel<T, kFloor, InnerLayout::contiguous>;
  slots[static_cast<std::size_t>(InnerLayout::first_broadcast)] = kernel<T, kFloor, InnerLayout::first_broadcast>;
  slots[static_cast<std::size_t>(InnerLayout::second_broadcast)] = kernel<T, kFloor, InnerLayout::second_broadcast>;
  slots[static_cast<std::size_t>(InnerLayout::strided)] = strided_kernel<T, kFloor>;
}

template <class... Types>
void replace_types(KernelTable& table) {
  (replace_type<Types, true>(table), ...);
  (replace_type<Types, false>(table), ...);
}

void replace(KernelTable& table) { replace_types<f16, f32, f64, i8, u8, i16, u16, i32, u32>(table); }

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
