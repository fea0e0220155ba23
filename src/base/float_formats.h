// SPDX-License-Identifier: MIT
// Constants that describe the IEEE 754 formats, without any arithmetic. This file is for host C++, for CUDA, and for
// devices that supply their own floats (base/primitives.h).
#pragma once

#include "base/integers.h"

namespace anydml {

struct Float16Format {
  using Bits = u16;
  static constexpr int kFractionBits = 10;
  static constexpr int kExponentBits = 5;
};
struct Float32Format {
  using Bits = u32;
  using Literal = float;
  static constexpr int kFractionBits = 23;
  static constexpr int kExponentBits = 8;
};
struct Float64Format {
  using Bits = u64;
  using Literal = double;
  static constexpr int kFractionBits = 52;
  static constexpr int kExponentBits = 11;
};

// The constants of a format that every algorithm needs, defined once.
template <class Format>
struct FormatParts : Format {
  using Format::kExponentBits;
  using Format::kFractionBits;
  using typename Format::Bits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (kFractionBits + kExponentBits));
  static constexpr Bits kMagnitude = static_cast<Bits>(kSign - 1);
  static constexpr Bits kHidden = static_cast<Bits>(Bits{1} << kFractionBits);
  static constexpr Bits kFraction = static_cast<Bits>(kHidden - 1);
  static constexpr Bits kInfinity = static_cast<Bits>(kMagnitude - kFraction);
  static constexpr Bits kQuietNan = static_cast<Bits>(kInfinity | (kHidden >> 1));
};

}  // namespace anydml
