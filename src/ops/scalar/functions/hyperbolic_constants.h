// SPDX-License-Identifier: MIT
// Made by data/functions/generate_functions.py from data/functions/hyperbolic.sollya.
#pragma once

#include "base/float_bits.h"

// clang-format off
namespace anydml::hyperbolic {

inline constexpr f64 kSinh3 = 0x1.5555555555559p-3;
inline constexpr f64 kSinh5 = 0x1.111111110f656p-7;
inline constexpr f64 kSinh7 = 0x1.a01a01b002734p-13;
inline constexpr f64 kSinh9 = 0x1.71ddf81399e24p-19;
inline constexpr f64 kSinh11 = 0x1.af5f22506d8ccp-26;
inline constexpr f64 kCosh2 = 0x1.000000000000cp-1;
inline constexpr f64 kCosh4 = 0x1.555555554fe0ap-5;
inline constexpr f64 kCosh6 = 0x1.6c16c18605d94p-10;
inline constexpr f64 kCosh8 = 0x1.a01995be7b47dp-16;
inline constexpr f64 kCosh10 = 0x1.28b0f3034c3a3p-22;

}  // namespace anydml::hyperbolic
// clang-format on
