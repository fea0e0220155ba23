// SPDX-License-Identifier: MIT
// The same elements seen at other sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "plan/tensor.h"

namespace anydml {

// Row-major element for element; nothing where no strides at these sizes say the same, or the counts differ.
[[nodiscard]] std::optional<TensorDesc> reshaped(const TensorDesc& tensor, std::span<const std::int64_t> sizes);

// Whether both have the same sizes and element sizes, and each index leads to the same offset. Strides of dimensions of
// size 1 do not count.
[[nodiscard]] bool same_layout(const TensorDesc& a, const TensorDesc& b);

// Whether its elements fill all bytes from the first to the last.
[[nodiscard]] bool is_dense(const TensorDesc& tensor);

// Whether the elements lie one after another, row-major.
[[nodiscard]] bool is_packed(const TensorDesc& tensor);

}  // namespace anydml
