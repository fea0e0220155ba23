// SPDX-License-Identifier: MIT
// Converts rows between FLOAT16 and FLOAT32, because compilers vectorize these conversions poorly. Include this file
// inside a namespace: after each_target.h in a file that is compiled for a target, and without each_target.h in a file
// that is compiled for any machine. It has no include guard, because it is included again for each target. Include
// <cstring> and base/element.h first.

#if defined(HWY_NAMESPACE)

HWY_INLINE void widen_vector(const std::byte* from, f32* to) {
  const hwy::HWY_NAMESPACE::ScalableTag<f32> d;
  const hwy::HWY_NAMESPACE::Rebind<hwy::float16_t, decltype(d)> d_half;
  const hwy::HWY_NAMESPACE::Repartition<u8, decltype(d_half)> d_bytes;
  const auto bytes = hwy::HWY_NAMESPACE::LoadU(d_bytes, reinterpret_cast<const u8*>(from));
  hwy::HWY_NAMESPACE::StoreU(hwy::HWY_NAMESPACE::PromoteTo(d, hwy::HWY_NAMESPACE::BitCast(d_half, bytes)), d, to);
}

HWY_INLINE void narrow_vector(const f32* from, std::byte* to) {
  const hwy::HWY_NAMESPACE::ScalableTag<f32> d;
  const hwy::HWY_NAMESPACE::Rebind<hwy::float16_t, decltype(d)> d_half;
  const hwy::HWY_NAMESPACE::Repartition<u8, decltype(d_half)> d_bytes;
  const auto halves = hwy::HWY_NAMESPACE::DemoteTo(d_half, hwy::HWY_NAMESPACE::LoadU(d, from));
  hwy::HWY_NAMESPACE::StoreU(hwy::HWY_NAMESPACE::BitCast(d_bytes, halves), d_bytes, reinterpret_cast<u8*>(to));
}

[[maybe_unused]] HWY_NOINLINE void widen_halves(const std::byte* from, std::int64_t count, f32* to) {
  const auto lanes = static_cast<std::int64_t>(hwy::HWY_NAMESPACE::Lanes(hwy::HWY_NAMESPACE::ScalableTag<f32>()));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    widen_vector(from + i * 2, to + i);
  }
  if (i < count) {
    alignas(64) std::byte some[HWY_MAX_BYTES] = {};
    alignas(64) f32 wide[HWY_MAX_BYTES / sizeof(f32)];
    std::memcpy(some, from + i * 2, static_cast<std::size_t>(count - i) * 2);
    widen_vector(some, wide);
    std::memcpy(to + i, wide, static_cast<std::size_t>(count - i) * sizeof(f32));
  }
}

[[maybe_unused]] HWY_NOINLINE void narrow_halves(const f32* from, std::int64_t count, std::byte* to) {
  const auto lanes = static_cast<std::int64_t>(hwy::HWY_NAMESPACE::Lanes(hwy::HWY_NAMESPACE::ScalableTag<f32>()));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    narrow_vector(from + i, to + i * 2);
  }
  if (i < count) {
    alignas(64) f32 some[HWY_MAX_BYTES / sizeof(f32)] = {};
    alignas(64) std::byte narrowed[HWY_MAX_BYTES];
    std::memcpy(some, from + i, static_cast<std::size_t>(count - i) * sizeof(f32));
    narrow_vector(some, narrowed);
    std::memcpy(to + i * 2, narrowed, static_cast<std::size_t>(count - i) * 2);
  }
}

#else

[[maybe_unused]] inline void widen_halves(const std::byte* from, std::int64_t count, f32* to) {
  struct __attribute__((packed, may_alias)) Half {
    u16 bits;
  };
  const auto* halves = reinterpret_cast<const Half*>(from);
  for (std::int64_t i = 0; i < count; ++i) {
    // A FLOAT16's bits, shifted to the top of a FLOAT32, represent 2^-112 times its value, even for subnormals. The
    // multiplication is exact.
    const u32 magnitude = halves[i].bits & 0x7fffU;
    const u32 sign = static_cast<u32>(halves[i].bits & 0x8000U) << 16;
    const u32 finite = to_bits(from_bits<f32>(magnitude << 13) * 0x1p112F);
    const u32 other = magnitude << 13 | 0x7f800000U;  // infinity or NaN
    to[i] = from_bits<f32>((magnitude >= 0x7c00U ? other : finite) | sign);
  }
}

[[maybe_unused]] inline void narrow_halves(const f32* from, std::int64_t count, std::byte* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    const f16 half = narrow<f16>(from[i]);
    std::memcpy(to + 2 * i, &half, sizeof(half));
  }
}

#endif
