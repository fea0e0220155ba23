// SPDX-License-Identifier: MIT
#include "plan/tensor.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/checked.h"
#include "base/shape.h"
#include "text/format.h"

namespace anydml {
namespace {

// Fails if the byte offset after the last element of a dimension, or the span of all elements, does not fit into 63
// bits.
Status check_reach(Where where, const TensorDesc& tensor) {
  if (element_count(tensor) == 0) {
    return {};
  }
  const auto size = static_cast<std::int64_t>(element_alignment(tensor.type));  // for 4-bit types, more than enough
  std::int64_t below = 0;
  std::int64_t above = size;
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.sizes[i] == 1) {
      continue;
    }
    // Include one step past the last element, because plans compare the end of a dimension with the stride of the next
    // one.
    const auto steps = checked_multiply(tensor.sizes[i], tensor.strides[i]);
    const auto bytes = steps ? checked_multiply(*steps, size) : std::nullopt;
    std::int64_t& side = tensor.strides[i] < 0 ? below : above;
    const auto sum = bytes ? checked_add(side, *bytes) : std::nullopt;
    side = sum.value_or(side);
    if (!sum || !checked_subtract(above, below)) {
      return invalid(where,
                     format_text("strides[{}] is {}; with sizes {} the elements span more than 64 bits can count", i,
                                 tensor.strides[i], shape_text(tensor.sizes, tensor.rank)));
    }
  }
  return {};
}

// The stride of a dimension with a single element is never used and may be any number. It is clamped, with its sign, so
// that sums and products of offsets cannot overflow.
void limit_idle_strides(TensorDesc& tensor) {
  constexpr std::int64_t kMax = std::int64_t{1} << 32;
  if (element_count(tensor) == 0) {
    if (!set_packed_strides(tensor)) {
      std::fill_n(tensor.strides, tensor.rank, 0);
    }
    return;
  }
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.sizes[i] == 1) {
      tensor.strides[i] = std::clamp(tensor.strides[i], -kMax, kMax);
    }
  }
}

}  // namespace

Error invalid(Where where, std::string text) {
  return {ErrorKind::invalid_argument, where.tensor.empty() ? format_text("{}: {}", where.op, text)
                                                            : format_text("{}: {}: {}", where.op, where.tensor, text)};
}

bool set_packed_strides(TensorDesc& tensor) {
  std::int64_t stride = 1;
  for (std::uint32_t i = tensor.rank; i-- > 0;) {
    tensor.strides[i] = stride;
    const auto next = checked_multiply(stride, tensor.sizes[i]);
    if (!next) {
      return false;
    }
    stride = *next;
  }
  return true;
}

Result<TensorDesc> make_tensor(Where where, const TensorSpec& spec) {
  TensorDesc tensor;
  tensor.type = static_cast<DataType>(spec.type);
  if (!is_tensor_type(tensor.type)) {
    return invalid(where,
                   format_text("type is {}; expected one of the element types, 1 (FLOAT32) to 13 (INT4)", spec.type));
  }
  if (spec.rank < 0 || spec.rank > kMaxRank) {
    return invalid(where, format_text("rank is {}; expected 0 to {}", spec.rank, kMaxRank));
  }
  tensor.rank = static_cast<std::uint32_t>(spec.rank);
  if (tensor.rank > 0 && spec.sizes == nullptr) {
    return invalid(where, format_text("sizes is null; expected {} sizes, one for each dimension", tensor.rank));
  }
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    if (spec.sizes[i] < 0) {
      return invalid(where, format_text("sizes[{}] is {}; expected 0 or more", i, spec.sizes[i]));
    }
    tensor.sizes[i] = spec.sizes[i];
  }
  if (auto reason = too_many_elements(std::span(tensor.sizes, tensor.rank))) {
    return invalid(where, std::move(*reason));
  }
  if (spec.strides != nullptr) {
    for (std::uint32_t i = 0; i < tensor.rank; ++i) {
      tensor.strides[i] = spec.strides[i];
    }
  } else {
    (void)set_packed_strides(tensor);  // fails only for an empty tensor, whose strides are set below
  }
  ANYDML_TRY(check_reach(where, tensor));
  limit_idle_strides(tensor);
  return tensor;
}

std::int64_t element_count(const TensorDesc& tensor) {
  std::int64_t count = 1;
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.sizes[i] == 0) {
      return 0;
    }
    count = checked_multiply(count, tensor.sizes[i]).value_or(0);
  }
  return count;
}

std::int64_t packed_bytes(const TensorDesc& tensor) {
  const std::int64_t count = element_count(tensor);
  return is_four_bits(tensor.type) ? count / 2 + count % 2
                                   : count * static_cast<std::int64_t>(element_size(tensor.type));
}

Reach reach_of(const TensorDesc& tensor) {
  if (element_count(tensor) == 0) {
    return {};
  }
  const auto size = static_cast<std::int64_t>(element_alignment(tensor.type));
  Reach reach{.first = 0, .end = size};
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    const std::int64_t bytes = (tensor.sizes[i] - 1) * tensor.strides[i] * size;
    (bytes < 0 ? reach.first : reach.end) += bytes;
  }
  if (is_four_bits(tensor.type)) {  // so far, reach counts elements; convert it to bytes
    reach = {.first = reach.first >> 1, .end = (reach.end >> 1) + (reach.end & 1)};
  }
  return reach;
}

}  // namespace anydml
