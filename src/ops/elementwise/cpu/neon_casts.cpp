// SPDX-License-Identifier: MIT
// CAST from floats to integers on Arm. Arm's instructions convert exactly as CAST requires: they truncate, saturate and
// convert NaN to 0, and saturating to a narrower integer gives the same result before or after truncation. Converting
// between FLOAT16 and integers of up to 16 bits takes a single half-precision instruction on CPUs that have it.
#include "ops/elementwise/cpu/vector_kernels.h"
#include "ops/scalar/scalars.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/neon_casts.cpp"
#include "backend/cpu/each_target.h"

#if HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64

#include <arm_neon.h>

#include <cstring>

#include "ops/elementwise/cpu/neon_halves-inl.h"
#include "ops/elementwise/cpu/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {

// Loads a single vector, because compilers would pass several vectors loaded together through memory.
HWY_INLINE uint8x16_t load_vector(const std::byte* from) { return vld1q_u8(reinterpret_cast<const u8*>(from)); }

// A batch is eight elements. How a batch of integers is converted and stored depends on its width and signedness.
template <class V>
HWY_INLINE void store_vector(V v, std::byte* to) {
  std::memcpy(to, &v, sizeof(v));
}
HWY_INLINE int8x8_t narrowed(int16x8_t v) { return vqmovn_s16(v); }
HWY_INLINE uint8x8_t narrowed(uint16x8_t v) { return vqmovn_u16(v); }
HWY_INLINE int16x8_t narrowed(int32x4_t low, int32x4_t high) { return vqmovn_high_s32(vqmovn_s32(low), high); }
HWY_INLINE uint16x8_t narrowed(uint32x4_t low, uint32x4_t high) { return vqmovn_high_u32(vqmovn_u32(low), high); }
HWY_INLINE int32x4_t narrowed(int64x2_t low, int64x2_t high) { return vqmovn_high_s64(vqmovn_s64(low), high); }
HWY_INLINE uint32x4_t narrowed(uint64x2_t low, uint64x2_t high) { return vqmovn_high_u64(vqmovn_u64(low), high); }

template <class To, class V>  // 16 bits
HWY_INLINE void store_batch(V v, std::byte* to) {
  if constexpr (sizeof(To) == 1) {
    store_vector(narrowed(v), to);
  } else {
    store_vector(v, to);
  }
}
template <class To, class V>  // 32 bits
HWY_INLINE void store_batch(V low, V high, std::byte* to) {
  if constexpr (sizeof(To) < 4) {
    store_batch<To>(narrowed(low, high), to);
  } else {
    store_vector(low, to);
    store_vector(high, to + sizeof(V));
  }
}

template <class To>
HWY_INLINE auto whole(float32x4_t v) {
  if constexpr (std::is_signed_v<To>) {
    return vcvtq_s32_f32(v);
  } else {
    return vcvtq_u32_f32(v);
  }
}
template <class To>
HWY_INLINE auto whole(float64x2_t v) {
  if constexpr (std::is_signed_v<To>) {
    return vcvtq_s64_f64(v);
  } else {
    return vcvtq_u64_f64(v);
  }
}

struct Floats {
  float32x4_t low;
  float32x4_t high;
};
template <class From>
HWY_INLINE Floats load_floats(const std::byte* from) {
  if constexpr (std::is_same_v<From, f16>) {
    const float16x8_t halves = vreinterpretq_f16_u8(load_vector(from));
    return {vcvt_f32_f16(vget_low_f16(halves)), vcvt_high_f32_f16(halves)};
  } else {
    return {vreinterpretq_f32_u8(load_vector(from)), vreinterpretq_f32_u8(load_vector(from + 16))};
  }
}

struct Doubles {
  float64x2_t parts[4];
};
template <class From>
HWY_INLINE Doubles load_doubles(const std::byte* from) {
  if constexpr (std::is_same_v<From, f64>) {
    return {{vreinterpretq_f64_u8(load_vector(from)), vreinterpretq_f64_u8(load_vector(from + 16)),
             vreinterpretq_f64_u8(load_vector(from + 32)), vreinterpretq_f64_u8(load_vector(from + 48))}};
  } else {
    const Floats floats = load_floats<From>(from);
    return {{vcvt_f64_f32(vget_low_f32(floats.low)), vcvt_high_f64_f32(floats.low),
             vcvt_f64_f32(vget_low_f32(floats.high)), vcvt_high_f64_f32(floats.high)}};
  }
}

template <class From, class To>
struct Batch {
  static HWY_INLINE void cast(const std::byte* from, std::byte* to) {
    if constexpr (std::is_same_v<From, f64> || sizeof(To) == 8) {
      const Doubles doubles = load_doubles<From>(from);
      const auto first = whole<To>(doubles.parts[0]), second = whole<To>(doubles.parts[1]);
      const auto third = whole<To>(doubles.parts[2]), fourth = whole<To>(doubles.parts[3]);
      if constexpr (sizeof(To) == 8) {
        store_batch<To>(first, second, to);
        store_batch<To>(third, fourth, to + 4 * sizeof(To));
      } else {
        store_batch<To>(narrowed(first, second), narrowed(third, fourth), to);
      }
    } else {
      const Floats floats = load_floats<From>(from);
      store_batch<To>(whole<To>(floats.low), whole<To>(floats.high), to);
    }
  }
};

#if ANYDML_HALF_INSTRUCTIONS
template <class From, class To>
struct HalvesBatch {
  ANYDML_HALVES static inline void cast(const std::byte* from, std::byte* to) {
    if constexpr (std::is_same_v<From, f16>) {
      float16x8_t halves;
      std::memcpy(&halves, from, sizeof(halves));
      if constexpr (std::is_same_v<To, i8>) {
        store_halves(vqmovn_s16(vcvtq_s16_f16(halves)), to);
      } else if constexpr (std::is_same_v<To, u8>) {
        store_halves(vqmovn_u16(vcvtq_u16_f16(halves)), to);
      } else if constexpr (std::is_same_v<To, i16>) {
        store_halves(vcvtq_s16_f16(halves), to);
      } else {
        store_halves(vcvtq_u16_f16(halves), to);
      }
    } else if constexpr (std::is_same_v<From, i8>) {
      store_halves(vcvtq_f16_s16(vmovl_s8(load_halves_as<int8x8_t>(from))), to);
    } else if constexpr (std::is_same_v<From, u8>) {
      store_halves(vcvtq_f16_u16(vmovl_u8(load_halves_as<uint8x8_t>(from))), to);
    } else if constexpr (std::is_same_v<From, i16>) {
      store_halves(vcvtq_f16_s16(load_halves_as<int16x8_t>(from)), to);
    } else {
      store_halves(vcvtq_f16_u16(load_halves_as<uint16x8_t>(from)), to);
    }
  }

 private:
  template <class V>
  ANYDML_HALVES static inline V load_halves_as(const std::byte* from) {
    V v;
    std::memcpy(&v, from, sizeof(v));
    return v;
  }
  template <class V>
  ANYDML_HALVES static inline void store_halves(V v, std::byte* to) {
    std::memcpy(to, &v, sizeof(v));
  }
};
#endif

inline constexpr std::size_t kBatch = 8;

// The body of one row. It is a macro because rows that use optional instructions need a separate function. The last
// batch overlaps the previous one and is computed first, since the output may be the input.
#define ANYDML_CAST_ROW                                     \
  if (count < kBatch) {                                     \
    std::byte source[kBatch * sizeof(From)] = {};           \
    std::byte result[kBatch * sizeof(To)];                  \
    std::memcpy(source, from, count * sizeof(From));        \
    Op::cast(source, result);                               \
    std::memcpy(to, result, count * sizeof(To));            \
    return;                                                 \
  }                                                         \
  const std::size_t last = count - kBatch;                  \
  std::byte result[kBatch * sizeof(To)];                    \
  Op::cast(from + last * sizeof(From), result);             \
  for (std::size_t n = 0; n < last; n += kBatch) {          \
    Op::cast(from + n * sizeof(From), to + n * sizeof(To)); \
  }                                                         \
  std::memcpy(to + last * sizeof(To), result, sizeof(result));

template <class Op, class From, class To>
HWY_INLINE void cast_row(const std::byte* from, std::byte* to, std::size_t count) {
  ANYDML_CAST_ROW
}
#if ANYDML_HALF_INSTRUCTIONS
template <class Op, class From, class To>
ANYDML_HALVES HWY_NOINLINE void cast_halves_row(const std::byte* from, std::byte* to, std::size_t count) {
  ANYDML_CAST_ROW
}
#endif
#undef ANYDML_CAST_ROW

template <class From, class To, bool kHalves>
void run_casts(const RowBlock& block) noexcept {
  RowCursor<1> row(block);
  do {
    if constexpr (kHalves) {
#if ANYDML_HALF_INSTRUCTIONS
      cast_halves_row<HalvesBatch<From, To>, From, To>(row.inputs[0], row.output, block.columns);
#endif
    } else {
      cast_row<Batch<From, To>, From, To>(row.inputs[0], row.output, block.columns);
    }
  } while (row.next());
}

template <class From, class To, bool kHalves>
void kernel(const KernelArguments& arguments) noexcept {
  static constexpr TiledRow kRow{run_casts<From, To, kHalves>, nullptr, 1, {sizeof(From), sizeof(To)}};
  run_tiled(kRow, arguments, nullptr);
}

template <bool kHalves, class From, class... To>
void replace_from(KernelTable& table) {
  const Entry& cast = entry(EntryId::CAST);
  (table.at(cast, find_variant(cast, Variant{kDataTypeOf<From>, kDataTypeOf<To>})).fill(kernel<From, To, kHalves>),
   ...);
}

}  // namespace

void replace_casts(KernelTable& table) {
  replace_from<false, f32, i8, u8, i16, u16, i32, u32, i64, u64>(table);
  replace_from<false, f64, i8, u8, i16, u16, i32, u32, i64, u64>(table);
  replace_from<false, f16, i32, u32, i64, u64>(table);
  if (ANYDML_HALF_INSTRUCTIONS && machine_has_halves()) {
    replace_from<true, f16, i8, u8, i16, u16>(table);
    replace_from<true, i8, f16>(table);
    replace_from<true, u8, f16>(table);
    replace_from<true, i16, f16>(table);
    replace_from<true, u16, f16>(table);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
