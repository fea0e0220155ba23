// SPDX-License-Identifier: MIT
// Views a tensor's elements with different sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "plan/tensor.h"

namespace anydml {

// Views the elements, in row-major order, with the given sizes. Returns no value if strides cannot describe the view,
// or if the element counts differ.
[[nodiscard]] std::optional<TensorDesc> reshaped(const TensorDesc& tensor, std::span<const std::int64_t> sizes);

// Whether both tensors have the same sizes and element sizes, and each index has the same offset in both tensors. The
// strides of dimensions of size 1 are ignored.
[[nodiscard]] bool same_layout(const TensorDesc& a, const TensorDesc& b);

// Whether the elements fill all bytes from the first to the last.
[[nodiscard]] bool is_dense(const TensorDesc& tensor);

// Whether the elements are contiguous and row-major.
[[nodiscard]] bool is_packed(const TensorDesc& tensor);

// A tensor that reads the memory of another tensor, translated to the memory of a view.
struct SeenTensor {
  TensorDesc tensor;
  std::int64_t offset;  // in bytes, to the element at index 0
};
// `read` reads the memory of `result`, starting `offset` bytes after the element at index 0 of `result`. Each element
// of `result` is also stored in the memory of `view`, at the same index. The returned tensor locates the elements of
// `read` in the memory of `view`. Returns no value if strides cannot describe these locations.
[[nodiscard]] std::optional<SeenTensor> seen_through(const TensorDesc& read, std::int64_t offset,
                                                     const TensorDesc& result, const TensorDesc& view);

}  // namespace anydml
