// SPDX-License-Identifier: MIT
// The positions of the operands in the steps of this family, on every device. Integer steps have different operands
// (integer_step.h).
#pragma once

#include <cstddef>

namespace anydml {

namespace product_operands {
inline constexpr std::size_t kA = 0;
inline constexpr std::size_t kB = 1;
inline constexpr std::size_t kC = 2;
inline constexpr std::size_t kOutput = 3;
}  // namespace product_operands

namespace convolution_operands {
inline constexpr std::size_t kInput = 0;
inline constexpr std::size_t kFilter = 1;
inline constexpr std::size_t kBias = 2;
inline constexpr std::size_t kOutput = 3;
}  // namespace convolution_operands

}  // namespace anydml
