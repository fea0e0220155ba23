// SPDX-License-Identifier: MIT
// DYNAMIC_QUANTIZE_LINEAR: scale and zero point are computed from the minimum and maximum element, and each element is
// quantized with them. It belongs to this family because its first half is a reduction; it is decomposed into other
// operators.
#pragma once

#include "ops/decomposition.h"
#include "ops/family.h"

namespace anydml {

inline constexpr std::string_view kDynamicQuantize = "DYNAMIC_QUANTIZE_LINEAR";

[[nodiscard]] TypeSet dynamic_quantize_types(std::size_t position);
[[nodiscard]] Status check_dynamic_quantize(const OpDesc& desc);
[[nodiscard]] Result<Decomposition> decompose_dynamic_quantize(const OpDesc& desc);

}  // namespace anydml
