// SPDX-License-Identifier: MIT
#include "backend/vulkan/spirv/primitives.h"

#include <algorithm>
#include <iterator>

namespace anydml::vulkan::spirv {
namespace {

constexpr std::string_view kNames[] = {
#define ANYDML_PRIMITIVE_NAME(result, name, parameters) #name,
    ANYDML_IMPORTED_PRIMITIVES(ANYDML_PRIMITIVE_NAME)
#undef ANYDML_PRIMITIVE_NAME
};
static_assert(std::size(kNames) == kPrimitiveCount);

constexpr std::uint64_t kFloat64Sums =
    primitive_bit(Primitive::f64_add) | primitive_bit(Primitive::f64_subtract) | primitive_bit(Primitive::f64_multiply);

const char* version_of(Primitive primitive, std::uint64_t native) {
  if ((native & primitive_bit(primitive)) != 0) {
    return "native_";
  }
  const auto* const found = std::ranges::find(kComposed, primitive, &Composed::primitive);
  return found != std::end(kComposed) && (native & composed_bit(found - kComposed)) != 0 ? "exact_" : "integer_";
}

}  // namespace

// In an order in which each finds its own parts decided.
const Composed kComposed[kComposedCount] = {
    {Primitive::f64_of_f32, primitive_bit(Primitive::f64_multiply)},
    {Primitive::f32_divide, primitive_bit(Primitive::f64_divide)},
    {Primitive::f32_square_root, primitive_bit(Primitive::f64_square_root)},
    {Primitive::f32_fused, kFloat64Sums},
    {Primitive::f64_fused, kFloat64Sums},
};

std::string_view primitive_name(Primitive primitive) { return kNames[static_cast<std::uint32_t>(primitive)]; }

std::string resolve_primitive(std::string_view import, std::uint64_t native) {
  constexpr std::string_view kPrefix = "import_";
  if (!import.starts_with(kPrefix)) {
    return std::string(import);  // a function that names a particular version
  }
  std::string_view name = import.substr(kPrefix.size());
  if (name == "f32_quick_fused") {  // of shaders/quick_fused.glsl
    if ((native & kFusedFlushes) != 0) {
      return "native_f32_fused";
    }
    name = "f32_fused";
  } else if (name == "f32_slowly_fused") {  // of library/primitives_exact.cpp
    name = "f32_fused";
  } else if (name == "f32_fused" && (native & kFusedFlushes) != 0) {
    return "quick_f32_fused";
  }
  const auto* const found = std::ranges::find(kNames, name);
  const auto index = static_cast<std::uint32_t>(found - std::begin(kNames));
  return (index < kPrimitiveCount ? version_of(static_cast<Primitive>(index), native) : "") + std::string(name);
}

std::vector<FloatMode> float_modes(const Builder& builder, const GpuProperties& gpu) {
  struct Width {
    std::uint32_t bits;
    const FloatModes& offered;
  };
  const Width widths[] = {{16, gpu.modes_16}, {32, gpu.modes_32}, {64, gpu.modes_64}};
  const auto add = [&](std::vector<FloatMode>& modes, bool FloatModes::*offers, Mode mode, Capability capability) {
    // If widths are not independent, all of them must have the same mode.
    const bool all = std::ranges::all_of(widths, [&](const Width& width) { return width.offered.*offers; });
    for (const Width& width : widths) {
      const bool used = gpu.modes_are_independent ? width.offered.*offers && builder.uses_float(width.bits) : all;
      if (used) {
        modes.push_back({mode, capability, width.bits});
      }
    }
  };
  std::vector<FloatMode> modes;
  if (!builder.uses_float(16) && !builder.uses_float(32) && !builder.uses_float(64)) {
    return modes;
  }
  add(modes, &FloatModes::keeps_special_values, Mode::signed_zero_inf_nan_preserve,
      Capability::signed_zero_inf_nan_preserve);
  add(modes, &FloatModes::rounds_to_even, Mode::rounding_mode_rte, Capability::rounding_mode_rte);
  add(modes, &FloatModes::keeps_subnormals, Mode::denorm_preserve, Capability::denorm_preserve);
  return modes;
}

FusedKind fused_kind(const GpuProperties& gpu) {
  if ((gpu.primitives & kFusedPretends) != 0) {
    return FusedKind::pretends;
  }
  if ((gpu.primitives & primitive_bit(Primitive::f32_fused)) != 0) {
    return FusedKind::exact;
  }
  return (gpu.primitives & kFusedFlushes) != 0 ? FusedKind::flushes : FusedKind::none;
}

bool needs_short_threads(const GpuProperties& gpu) {
  return gpu.is_cpu && std::string_view(version_of(Primitive::f32_fused, gpu.primitives)) == "integer_";
}

std::string describe_primitives(std::uint64_t native) {
  std::string text;
  for (const char* version : {"native_", "exact_", "integer_"}) {
    std::string names;
    for (std::uint32_t i = 0; i < kPrimitiveCount; ++i) {
      if (version_of(static_cast<Primitive>(i), native) == std::string_view(version)) {
        names.append(names.empty() ? "" : ", ").append(kNames[i]);
      }
    }
    if (!names.empty()) {
      const std::string_view kind = *version == 'n' ? "native: " : *version == 'e' ? "composed: " : "in integers: ";
      text.append(text.empty() ? "" : "; ").append(kind).append(names);
    }
  }
  if ((native & kFusedFlushes) != 0) {
    text += "; native where guarded: f32_fused";
  }
  if ((native & kFusedPretends) != 0) {
    text += "; f32_fused pretends to flush subnormals";
  }
  return text;
}

}  // namespace anydml::vulkan::spirv
