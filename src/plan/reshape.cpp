// SPDX-License-Identifier: MIT
#include "plan/reshape.h"

#include <algorithm>

namespace anydml {
namespace {

struct Run {
  std::int64_t size;
  std::int64_t stride;
};

}  // namespace

std::optional<TensorDesc> reshaped(const TensorDesc& tensor, std::span<const std::int64_t> sizes) {
  // Dimensions of size 1 say nothing, and neighbours that continue one another are one.
  Run old[kMaxRank];
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    const Run next{.size = tensor.sizes[i], .stride = tensor.strides[i]};
    if (next.size == 1) {
      continue;
    }
    if (count != 0 && old[count - 1].stride == next.stride * next.size) {
      old[count - 1] = {.size = old[count - 1].size * next.size, .stride = next.stride};
    } else {
      old[count++] = next;
    }
  }
  TensorDesc result;
  result.type = tensor.type;
  result.rank = static_cast<std::uint32_t>(sizes.size());
  std::ranges::copy(sizes, result.sizes);
  if (element_count(tensor) == 0 || element_count(result) != element_count(tensor)) {
    return std::nullopt;
  }
  // From the last: each new dimension takes its part of the old one it lies in.
  std::int64_t rest = 1;  // of the old dimension's size
  std::int64_t stride = 0;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    result.strides[i] = 0;
    if (sizes[i] == 1) {
      continue;
    }
    if (rest == 1) {
      --count;
      rest = old[count].size;
      stride = old[count].stride;
    }
    if (rest % sizes[i] != 0) {
      return std::nullopt;
    }
    result.strides[i] = stride;
    stride *= sizes[i];
    rest /= sizes[i];
  }
  return result;
}

bool same_layout(const TensorDesc& a, const TensorDesc& b) {
  if (a.rank != b.rank || element_size(a.type) != element_size(b.type)) {
    return false;
  }
  for (std::uint32_t i = 0; i < a.rank; ++i) {
    if (a.sizes[i] != b.sizes[i] || (a.sizes[i] != 1 && a.strides[i] != b.strides[i])) {
      return false;
    }
  }
  return true;
}

bool is_dense(const TensorDesc& tensor) {
  const Reach reach = reach_of(tensor);
  return reach.end - reach.first == element_count(tensor) * static_cast<std::int64_t>(element_size(tensor.type));
}

bool is_packed(const TensorDesc& tensor) {
  TensorDesc packed = tensor;
  return set_packed_strides(packed) && same_layout(packed, tensor);
}

}  // namespace anydml
