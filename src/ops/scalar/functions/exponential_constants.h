// SPDX-License-Identifier: MIT
// Made by data/functions/generate_functions.py from data/functions/exponential.sollya.
#pragma once

#include "base/float_bits.h"

// clang-format off
namespace anydml::exponential {

inline constexpr f64 kLog2OfE = 0x1.71547652b82fep0;
inline constexpr f64 kLn2High = 0x1.62e42fefa39efp-1;
inline constexpr f64 kLn2Low = 0x1.abc9e3b39803fp-56;
inline constexpr f64 kLn2Short = 0x1.62e4p-1;
inline constexpr f64 kLn2Rest = 0x1.7f7d1cf79abcap-20;
inline constexpr f64 kExp2 = 0x1.ffffffffffe0ep-2;
inline constexpr f64 kExp3 = 0x1.5555555551a63p-3;
inline constexpr f64 kExp4 = 0x1.55555555e0349p-5;
inline constexpr f64 kExp5 = 0x1.111111282f6a6p-7;
inline constexpr f64 kExp6 = 0x1.6c16c010d91ddp-10;
inline constexpr f64 kExp7 = 0x1.a0197499e7e55p-13;
inline constexpr f64 kExp8 = 0x1.a01ba937ad555p-16;
inline constexpr f64 kExp9 = 0x1.7310f37c9c52cp-19;
inline constexpr f64 kExp10 = 0x1.285bf184bced6p-22;

}  // namespace anydml::exponential
// clang-format on
