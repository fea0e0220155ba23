// SPDX-License-Identifier: MIT
// The primitives of a device: its own operations where a trial found them exact, and ours otherwise.
//
// A primitive has up to three versions in the function library: native_NAME is the device's own operation, exact_NAME
// is composed of FLOAT64's operations, and integer_NAME uses integers only, which the specification makes exact. The
// first of them that is available and exact is used. The fused multiply-add of FLOAT32 has a fourth version, the
// device's own operation where a guard shows that it is exact.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/vulkan/family.h"
#include "backend/vulkan/spirv/builder.h"
#include "backend/vulkan/spirv/primitive_list.h"
#include "backend/vulkan/trials.h"

namespace anydml::vulkan::spirv {

enum class Primitive : std::uint32_t {
#define ANYDML_PRIMITIVE_NAME(result, name, parameters) name,
  ANYDML_IMPORTED_PRIMITIVES(ANYDML_PRIMITIVE_NAME)
#undef ANYDML_PRIMITIVE_NAME
      count_,
};
inline constexpr std::uint32_t kPrimitiveCount = static_cast<std::uint32_t>(Primitive::count_);

// A set of primitives is a number (GpuProperties::primitives) with one bit for each native version, and then one for
// each composed version.
[[nodiscard]] constexpr std::uint64_t primitive_bit(Primitive primitive) {
  return std::uint64_t{1} << static_cast<std::uint32_t>(primitive);
}
// The composed versions (library/primitives_exact.cpp), and the primitives that must be the device's own for one to be
// worth its operations.
struct Composed {
  Primitive primitive;
  std::uint64_t parts;
};
inline constexpr std::uint32_t kComposedCount = 5;
extern const Composed kComposed[kComposedCount];
[[nodiscard]] constexpr std::uint64_t composed_bit(std::ptrdiff_t index) {
  return std::uint64_t{1} << (kPrimitiveCount + static_cast<std::uint32_t>(index));
}
// The device's fused multiply-add of FLOAT32 is exact wherever no number is subnormal: shaders/quick_fused.glsl.
inline constexpr std::uint64_t kFusedFlushes = std::uint64_t{1} << (kPrimitiveCount + kComposedCount);
// For tests: kernels act as if it were so.
inline constexpr std::uint64_t kFusedPretends = kFusedFlushes << 1;
static_assert(kPrimitiveCount + kComposedCount + 2 <= 64);
[[nodiscard]] std::string_view primitive_name(Primitive primitive);

// The function of the library that a kernel calls for each import, on a device on which these primitives are native.
[[nodiscard]] std::string resolve_primitive(std::string_view import, std::uint64_t native);

// The execution modes that a kernel has to request for the floats that it uses.
[[nodiscard]] std::vector<FloatMode> float_modes(const Builder& builder, const GpuProperties& gpu);

// How kernels may use the device's own fused multiply-add of FLOAT32: the constant of shaders/quick_fused.glsl.
enum class FusedKind : std::uint32_t { exact, flushes, pretends, none };
[[nodiscard]] FusedKind fused_kind(const GpuProperties& gpu);
// The constant for a kernel that has no other version: without such an operation, it calls f32_fused.
[[nodiscard]] inline std::uint32_t quick_fused_constant(const GpuProperties& gpu) {
  const FusedKind kind = fused_kind(gpu);
  return static_cast<std::uint32_t>(kind == FusedKind::none ? FusedKind::exact : kind);
}

// Whether threads must be short: the driver computes on the CPU and fused multiply-adds are in integers, whose
// functions have loops. llvmpipe ends the loops of a thread after 65,535 iterations of all of them together.
[[nodiscard]] bool needs_short_threads(const GpuProperties& gpu);

// Tries one version of a primitive, such as "native_f32_add", on a device: whether it exists and all results have the
// bits of base/integer_floats.h. It may call other primitives, of which these are native. If it may flush, results do
// not count where a number is subnormal or nearly so.
[[nodiscard]] bool is_exact(const std::string& function, Primitive primitive, std::uint64_t native,
                            const GpuProperties& gpu, TrialRunner& runner, bool may_flush = false);

// For people: which primitives are the device's own, which are composed, and which are integers.
[[nodiscard]] std::string describe_primitives(std::uint64_t native);

}  // namespace anydml::vulkan::spirv
