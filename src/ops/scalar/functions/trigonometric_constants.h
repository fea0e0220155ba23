// SPDX-License-Identifier: MIT
// Made by data/functions/generate_functions.py from data/functions/trigonometric.sollya.
#pragma once

#include "base/float_bits.h"

// clang-format off
namespace anydml::trigonometric {

inline constexpr f64 kSin1 = -0x1.555555555551p-3;
inline constexpr f64 kSin2 = 0x1.111111110cfaep-7;
inline constexpr f64 kSin3 = -0x1.a01a019bdb5a6p-13;
inline constexpr f64 kSin4 = 0x1.71de386963c32p-19;
inline constexpr f64 kSin5 = -0x1.ae6370d7b0065p-26;
inline constexpr f64 kSin6 = 0x1.60ea80377648fp-33;
inline constexpr f64 kSin7 = -0x1.9f7e38747b39p-41;
inline constexpr f64 kHugeSin1 = -0x1.5555555555557p-3;
inline constexpr f64 kHugeSin2 = 0x1.11111111110e5p-7;
inline constexpr f64 kHugeSin3 = -0x1.a01a01a01466ap-13;
inline constexpr f64 kHugeSin4 = 0x1.71de3a529bb4ep-19;
inline constexpr f64 kHugeSin5 = -0x1.ae6454dc987abp-26;
inline constexpr f64 kHugeSin6 = 0x1.6123ce47b73adp-33;
inline constexpr f64 kHugeSin7 = -0x1.ae43972e77016p-41;
inline constexpr f64 kHugeSin8 = 0x1.883b4876539ap-49;
inline constexpr f64 kTanAbove1 = -0x1.11111111110f8p-3;
inline constexpr f64 kTanAbove2 = 0x1.c01c01c0190e1p-9;
inline constexpr f64 kTanAbove3 = -0x1.29f6b2072e0d7p-16;
inline constexpr f64 kTanBelow1 = -0x1.ddddddddddddep-2;
inline constexpr f64 kTanBelow2 = 0x1.a41a41a41a41ap-6;
inline constexpr f64 kTanBelow3 = -0x1.45e5d2ba42eap-12;
inline constexpr f64 kTanBelow4 = 0x1.08db48ebe51c7p-21;
inline constexpr f64 kTurn1 = 0x1.45f306dp-3;
inline constexpr f64 kTurn2 = 0x1.9391054p-32;
inline constexpr f64 kTurn3 = 0x1.4fe13abp-61;
inline constexpr f64 kTurn4 = 0x1.d1f534dp-90;
inline constexpr f64 kTurn5 = 0x1.b81b6c5p-119;
inline constexpr f64 kTurn6 = 0x1.5993c4p-150;
inline constexpr f64 kTurn7 = 0x1.c820ff28b1d5fp-177;

}  // namespace anydml::trigonometric
// clang-format on
