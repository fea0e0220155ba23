// SPDX-License-Identifier: MIT
// The caller's description of a tensor, and its validated form. Neither contains an address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/element.h"
#include "base/result.h"
#include "base/shape.h"

namespace anydml {

// The maximum number of tensors in a loop nest or a fused element-wise step. Other steps have up to kMaxStepOperands.
inline constexpr std::size_t kMaxOperands = 16;

// The caller's description, which is untrusted.
struct TensorSpec {
  std::uint32_t type;
  std::int64_t rank;
  const std::int64_t* sizes;
  const std::int64_t* strides;  // in elements; null if packed with the last dimension fastest
};

// A validated tensor: a known type, at most eight dimensions, no negative size, and an extent below 2^63 bytes.
struct TensorDesc {
  DataType type = DataType::unknown;
  std::uint32_t rank = 0;
  std::int64_t sizes[kMaxRank] = {};
  std::int64_t strides[kMaxRank] = {};  // in elements
};

// The tensor and operator that a message refers to.
struct Where {
  std::string_view op;
  std::string_view tensor;
};

// The bytes that a tensor touches, [first, end), relative to the address of its element at index 0. Both are 0 if the
// tensor is empty.
struct Reach {
  std::int64_t first = 0;
  std::int64_t end = 0;
};

[[nodiscard]] Error invalid(Where where, std::string text);

Result<TensorDesc> make_tensor(Where where, const TensorSpec& spec);

// Sets packed strides, last dimension fastest. Returns false if a stride does not fit.
[[nodiscard]] bool set_packed_strides(TensorDesc& tensor);

// These functions require a validated tensor. A tensor broadcast with stride 0 counts every element that it represents.
[[nodiscard]] std::int64_t element_count(const TensorDesc& tensor);
// The size of the tensor's elements in bytes, without gaps.
[[nodiscard]] std::int64_t packed_bytes(const TensorDesc& tensor);
[[nodiscard]] Reach reach_of(const TensorDesc& tensor);

}  // namespace anydml
