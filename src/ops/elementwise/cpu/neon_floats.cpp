// SPDX-License-Identifier: MIT
// Processes rows of floats with Arm's instructions (neon_floats-inl.h). Entries that compute FLOAT16 in FLOAT32 convert
// it in registers; neon_halves.cpp has the entries that need no FLOAT32.
#include "ops/elementwise/cpu/vector_kernels.h"
#include "ops/scalar/signature.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/neon_floats.cpp"
#include "backend/cpu/each_target.h"

#if HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64

#include <cstring>

#include "ops/elementwise/cpu/neon_floats-inl.h"
#include "ops/elementwise/cpu/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {

// 16 bytes of elements, converted to the type that the entry computes in.
template <class T>
struct Pack {
  Floats<T> parts[sizeof(compute_t<T>) / sizeof(T)];
};

template <class T>
HWY_INLINE Pack<T> load_pack(const std::byte* from) {
  const uint8x16_t bytes = vld1q_u8(reinterpret_cast<const u8*>(from));
  if constexpr (std::is_same_v<T, f16>) {
    const float16x8_t halves = vreinterpretq_f16_u8(bytes);
    return {{vcvt_f32_f16(vget_low_f16(halves)), vcvt_high_f32_f16(halves)}};
  } else if constexpr (std::is_same_v<T, f32>) {
    return {{vreinterpretq_f32_u8(bytes)}};
  } else {
    return {{vreinterpretq_f64_u8(bytes)}};
  }
}

template <class T>
HWY_INLINE void store_pack(const Pack<T>& pack, std::byte* to) {
  if constexpr (std::is_same_v<T, f16>) {
    const float16x8_t halves = vcvt_high_f16_f32(vcvt_f16_f32(pack.parts[0]), pack.parts[1]);
    vst1q_u8(reinterpret_cast<u8*>(to), vreinterpretq_u8_f16(halves));
  } else {
    std::memcpy(to, pack.parts, sizeof(pack.parts));
  }
}

template <class Scalar, class T, std::size_t kInputs>
HWY_INLINE void compute(const Scalar& scalar, const std::byte* const* from, std::size_t at, std::byte* to) {
  Pack<T> first = load_pack<T>(from[0] + at);
  if constexpr (kInputs == 1) {
    for (Floats<T>& part : first.parts) {
      part = FloatOp<Scalar>::apply(scalar, part);
    }
  } else {
    const Pack<T> second = load_pack<T>(from[1] + at);
    for (std::size_t i = 0; i < std::size(first.parts); ++i) {
      first.parts[i] = FloatOp<Scalar>::apply(scalar, first.parts[i], second.parts[i]);
    }
  }
  store_pack<T>(first, to);
}

template <class Scalar, class T, std::size_t kInputs>
void run_rows(const RowBlock& block) noexcept {
  constexpr std::size_t kStep = 16;
  const Scalar scalar = *static_cast<const Scalar*>(block.scalar);  // a copy that no store below can alias
  const std::size_t bytes = block.columns * sizeof(T);
  RowCursor<kInputs> row(block);
  do {
    std::size_t n = 0;
#pragma GCC unroll 4
    for (; n + kStep <= bytes; n += kStep) {
      compute<Scalar, T, kInputs>(scalar, row.inputs, n, row.output + n);
    }
    if (n < bytes) {
      alignas(kStep) std::byte rest[kInputs][kStep] = {};
      const std::byte* from[kInputs];
      for (std::size_t i = 0; i < kInputs; ++i) {
        std::memcpy(rest[i], row.inputs[i] + n, bytes - n);
        from[i] = rest[i];
      }
      compute<Scalar, T, kInputs>(scalar, from, 0, rest[0]);
      std::memcpy(row.output + n, rest[0], bytes - n);
    }
  } while (row.next());
}

template <class Scalar, class T>
void kernel(const KernelArguments& arguments) noexcept {
  constexpr std::size_t kInputs = Signature<Scalar>::kInputs;
  static constexpr TiledRow kRow{run_rows<Scalar, T, kInputs>, nullptr, kInputs, {sizeof(T), sizeof(T), sizeof(T)}};
  const auto scalar = make_scalar<Scalar>(*arguments.attributes);
  run_tiled(kRow, arguments, &scalar);
}

template <template <class> class Definition, class... Types>
void replace_entry(KernelTable& table, EntryId id) {
  (table.at(entry(id), find_variant(entry(id), kDataTypeOf<Types>)).fill(kernel<Definition<Types>, Types>), ...);
}

}  // namespace

void replace_floats(KernelTable& table) {
  replace_entry<Max, f32, f64>(table, EntryId::ELEMENT_WISE_MAX);
  replace_entry<Min, f32, f64>(table, EntryId::ELEMENT_WISE_MIN);
  replace_entry<Threshold, f32, f64>(table, EntryId::ELEMENT_WISE_THRESHOLD);
  replace_entry<Relu, f32, f64>(table, EntryId::ACTIVATION_RELU);
  replace_entry<HardSigmoid, f16, f32, f64>(table, EntryId::ACTIVATION_HARD_SIGMOID);
  replace_entry<HardSwish, f16, f32, f64>(table, EntryId::ACTIVATION_HARD_SWISH);
  replace_entry<Mean, f16>(table, EntryId::ELEMENT_WISE_MEAN);
  replace_entry<DifferenceSquare, f16>(table, EntryId::ELEMENT_WISE_DIFFERENCE_SQUARE);
  replace_entry<Linear, f16>(table, EntryId::ACTIVATION_LINEAR);
  replace_entry<LeakyRelu, f16>(table, EntryId::ACTIVATION_LEAKY_RELU);
  replace_entry<ThresholdedRelu, f16>(table, EntryId::ACTIVATION_THRESHOLDED_RELU);
  replace_entry<Shrink, f16>(table, EntryId::ACTIVATION_SHRINK);
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
