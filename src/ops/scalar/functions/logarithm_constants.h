// SPDX-License-Identifier: MIT
// Made by data/functions/generate_functions.py from data/functions/logarithm.sollya.
#pragma once

#include "base/float_bits.h"

// clang-format off
namespace anydml::logarithm {

inline constexpr f64 kLog2 = -0x1.fffffffffff21p-2;
inline constexpr f64 kLog3 = 0x1.555555555bdb3p-2;
inline constexpr f64 kLog4 = -0x1.00000000245b8p-2;
inline constexpr f64 kLog5 = 0x1.9999998b717cep-3;
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
inline constexpr f64 kLog1p2 = -0x1.ffffffffffffbp-2;
inline constexpr f64 kLog1p3 = 0x1.55555555551a6p-2;
inline constexpr f64 kLog1p4 = -0x1.00000000008f4p-2;
inline constexpr f64 kLog1p5 = 0x1.9999999a32c7cp-3;
inline constexpr f64 kLog1p6 = -0x1.555555552e9bdp-3;
inline constexpr f64 kLog1p7 = 0x1.249248e05991bp-3;
inline constexpr f64 kLog1p8 = -0x1.ffffff8c8fc6fp-4;
inline constexpr f64 kLog1p9 = 0x1.c71c8f0fbff39p-4;
inline constexpr f64 kLog1p10 = -0x1.9999ca3c9e1bp-4;
inline constexpr f64 kLog1p11 = 0x1.7459ac6de693bp-4;
inline constexpr f64 kLog1p12 = -0x1.554d27578c946p-4;
inline constexpr f64 kLog1p13 = 0x1.3b4c5fede1f91p-4;
inline constexpr f64 kLog1p14 = -0x1.2548a64bb372bp-4;
inline constexpr f64 kLog1p15 = 0x1.0f38385490f61p-4;
inline constexpr f64 kLog1p16 = -0x1.eee49f697f598p-5;
inline constexpr f64 kLog1p17 = 0x1.e95ef60765758p-5;
inline constexpr f64 kLog1p18 = -0x1.15ff6d875f10ap-4;
inline constexpr f64 kLog1p19 = 0x1.030d07e0d044dp-4;
inline constexpr f64 kLog1p20 = -0x1.cf958dd0ae188p-6;
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
inline constexpr f64 kAtanh1 = 0x1.5555555555556p-2;
inline constexpr f64 kAtanh2 = 0x1.999999999962ap-3;
inline constexpr f64 kAtanh3 = 0x1.24924924c7a1dp-3;
inline constexpr f64 kAtanh4 = 0x1.c71c7191b7b8ep-4;
inline constexpr f64 kAtanh5 = 0x1.745d26dfbaa06p-4;
inline constexpr f64 kAtanh6 = 0x1.3b10e1d4335acp-4;
inline constexpr f64 kAtanh7 = 0x1.1161e57be46dfp-4;
inline constexpr f64 kAtanh8 = 0x1.d6e4166d0e4d3p-5;
inline constexpr f64 kAtanh9 = 0x1.0bdc4ac06d722p-4;

}  // namespace anydml::logarithm
// clang-format on
