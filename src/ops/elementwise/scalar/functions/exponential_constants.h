// SPDX-License-Identifier: MIT
// Made by data/generate_functions.py from data/functions/exponential.sollya.
#pragma once

#include "base/float_bits.h"

// clang-format off
namespace anydml::exponential {

inline constexpr f64 kExp2 = 0x1.0000000000011p-1;
inline constexpr f64 kExp3 = 0x1.55555555554bp-3;
inline constexpr f64 kExp4 = 0x1.555555554f003p-5;
inline constexpr f64 kExp5 = 0x1.111111112e672p-7;
inline constexpr f64 kExp6 = 0x1.6c16c1880acdfp-10;
inline constexpr f64 kExp7 = 0x1.a01a011bd039bp-13;
inline constexpr f64 kExp8 = 0x1.a01991a72f1abp-16;
inline constexpr f64 kExp9 = 0x1.71df2d84f0cfep-19;
inline constexpr f64 kExp10 = 0x1.28b3f9cd6798ep-22;
inline constexpr f64 kExp11 = 0x1.ad899d2f16cc1p-26;

}  // namespace anydml::exponential
// clang-format on
