// SPDX-License-Identifier: MIT
// Made by data/functions/generate_functions.py from data/functions/power.sollya.
#pragma once

#include "base/float_bits.h"

// clang-format off
namespace anydml::power {

inline constexpr f64 kLog2 = -0x1.fffffffffff21p-2;
inline constexpr f64 kLog3 = 0x1.555555555c433p-2;
inline constexpr f64 kLog4 = -0x1.00000000245b8p-2;
inline constexpr f64 kLog5 = 0x1.9999998b6a6c1p-3;
inline constexpr f64 kLog6 = -0x1.5555551f477b5p-3;
inline constexpr f64 kLog7 = 0x1.24924dfe84d94p-3;
inline constexpr f64 kLog8 = -0x1.000011d8d0ee3p-3;
inline constexpr f64 kLog9 = 0x1.c71ae92af0953p-4;
inline constexpr f64 kLog10 = -0x1.99938228c7e08p-4;
inline constexpr f64 kLog11 = 0x1.747c4f331b2e9p-4;
inline constexpr f64 kLog12 = -0x1.55e749d0d7d1bp-4;
inline constexpr f64 kLog13 = 0x1.39f095755783dp-4;
inline constexpr f64 kLog14 = -0x1.1d1ffc4958b83p-4;
inline constexpr f64 kLog15 = 0x1.1260d2cb76871p-4;
inline constexpr f64 kLog16 = -0x1.2fb0fa5e04954p-4;
inline constexpr f64 kLog17 = 0x1.21dce2d052b2bp-4;
inline constexpr f64 kLog18 = -0x1.1188650230a64p-5;
inline constexpr f64 kExp2 = 0x1.ffffffffe76cfp-2;
inline constexpr f64 kExp3 = 0x1.55555555bf07p-3;
inline constexpr f64 kExp4 = 0x1.5555558851c8bp-5;
inline constexpr f64 kExp5 = 0x1.11111056b96b4p-7;
inline constexpr f64 kExp6 = 0x1.6c162c8ed5f11p-10;
inline constexpr f64 kExp7 = 0x1.a01bcbead3862p-13;
inline constexpr f64 kExp8 = 0x1.a17cf8632b4f9p-16;
inline constexpr f64 kExp9 = 0x1.70d55c810796ap-19;
inline constexpr f64 kLn2High = 0x1.62e42fefa38p-1;
inline constexpr f64 kLn2Middle = 0x1.ef35793c7673p-45;
inline constexpr f64 kLn2Low = 0x1.f97b57a079a19p-103;
inline constexpr f32 kShortLog2OfE = 0x1.716p0f;
inline constexpr f32 kShortLog2OfERest = -0x1.7135a8p-13f;
inline constexpr f32 kShortLog0 = -0x1.715476p-1f;
inline constexpr f32 kShortLog1 = 0x1.ec7098p-2f;
inline constexpr f32 kShortLog2 = -0x1.7156dcp-2f;
inline constexpr f32 kShortLog3 = 0x1.277c1ap-2f;
inline constexpr f32 kShortLog4 = -0x1.eb5ca8p-3f;
inline constexpr f32 kShortLog5 = 0x1.a39facp-3f;
inline constexpr f32 kShortLog6 = -0x1.82efe8p-3f;
inline constexpr f32 kShortLog7 = 0x1.783726p-3f;
inline constexpr f32 kShortLog8 = -0x1.caed2p-4f;
inline constexpr f32 kShortExp1 = 0x1.62e43p-1f;
inline constexpr f32 kShortExp2 = 0x1.ebfbd8p-3f;
inline constexpr f32 kShortExp3 = 0x1.c6af78p-5f;
inline constexpr f32 kShortExp4 = 0x1.3b30bp-7f;
inline constexpr f32 kShortExp5 = 0x1.5f0a66p-10f;
inline constexpr f32 kShortExp6 = 0x1.3f9068p-13f;

}  // namespace anydml::power
// clang-format on
