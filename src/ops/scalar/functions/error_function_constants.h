// SPDX-License-Identifier: MIT
// Made by data/functions/generate_functions.py from data/functions/error_function.sollya.
#pragma once

#include "base/float_bits.h"

// clang-format off
namespace anydml::error_function {

inline constexpr f64 kErf0 = 0x1.75df29e2cb60bp-2;
inline constexpr f64 kErf1 = -0x1.8e1d6663bc45bp-6;
inline constexpr f64 kErf2 = 0x1.3bc3e36c13992p-9;
inline constexpr f64 kErf3 = -0x1.1168b49172425p-12;
inline constexpr f64 kErf4 = 0x1.e147613872cp-16;
inline constexpr f64 kErf5 = -0x1.9f7e03d504779p-19;
inline constexpr f64 kErf6 = 0x1.583639e7c629cp-22;
inline constexpr f64 kErf7 = -0x1.0e05b6dd5bf81p-25;
inline constexpr f64 kErf8 = 0x1.8e38fa30a4882p-29;
inline constexpr f64 kErf9 = -0x1.131c32597dbaap-32;
inline constexpr f64 kErf10 = 0x1.63d9e00f8de37p-36;
inline constexpr f64 kErf11 = -0x1.af388a46d945cp-40;
inline constexpr f64 kErf12 = 0x1.ea7789d9eb946p-44;
inline constexpr f64 kErf13 = -0x1.068459e3d32adp-47;
inline constexpr f64 kErf14 = 0x1.08b71a06bc00bp-51;
inline constexpr f64 kErf15 = -0x1.f5d42138cb08fp-56;
inline constexpr f64 kErf16 = 0x1.c4ca0f7aa0fbcp-60;
inline constexpr f64 kErf17 = -0x1.90e0f9978f178p-64;
inline constexpr f64 kErf18 = 0x1.4a19ae34128e6p-68;
inline constexpr f64 kErf19 = -0x1.b525b3136af9dp-73;
inline constexpr f64 kErf20 = 0x1.266449cfddbb4p-77;
inline constexpr f64 kErf21 = -0x1.52d0cd5534efap-81;
inline constexpr f64 kErf22 = 0x1.2bdd0731e30dep-85;
inline constexpr f64 kErf23 = -0x1.905dbf3f901f5p-91;
inline constexpr f64 kGelu0 = 0x1.888f29b5b3c1dp-3;
inline constexpr f64 kGelu1 = -0x1.4233e230f71ep-3;
inline constexpr f64 kGelu2 = 0x1.5a7b35ea44dcdp-5;
inline constexpr f64 kGelu3 = 0x1.7c153df039704p-12;
inline constexpr f64 kGelu4 = -0x1.328c6f1c5b1b7p-9;
inline constexpr f64 kGelu5 = 0x1.3e4e30deef9f1p-12;
inline constexpr f64 kGelu6 = 0x1.ed2879b8c2cabp-15;
inline constexpr f64 kGelu7 = -0x1.1e04ec74909eep-16;
inline constexpr f64 kGelu8 = -0x1.602bb427b1a45p-23;
inline constexpr f64 kGelu9 = 0x1.fea608357c6aap-22;
inline constexpr f64 kGelu10 = -0x1.1803b4ea676dbp-25;
inline constexpr f64 kGelu11 = -0x1.16ef37eb29948p-27;
inline constexpr f64 kGelu12 = 0x1.385ac49328214p-30;
inline constexpr f64 kGelu13 = 0x1.936b32e86ed69p-34;
inline constexpr f64 kGelu14 = -0x1.b9f52f4b18adfp-36;
inline constexpr f64 kGelu15 = -0x1.4b391d776cbc9p-42;
inline constexpr f64 kGelu16 = 0x1.db7d3a916509fp-42;
inline constexpr f64 kGelu17 = -0x1.16b279586e986p-46;
inline constexpr f64 kGelu18 = -0x1.5fdc371313bc4p-48;
inline constexpr f64 kGelu19 = 0x1.d035423f8e6cbp-56;
inline constexpr f64 kGelu20 = 0x1.0548806033662p-54;
inline constexpr f64 kGelu21 = 0x1.8d09f1524685ep-57;
inline constexpr f64 kGeluTail0 = 0x1.9884533d428ecp-2;
inline constexpr f64 kGeluTail1 = -0x1.9884533a227a5p-2;
inline constexpr f64 kGeluTail2 = 0x1.32633d2381c7p0;
inline constexpr f64 kGeluTail3 = -0x1.7efbbddc71e3ep2;
inline constexpr f64 kGeluTail4 = 0x1.4f161cc444da8p5;
inline constexpr f64 kGeluTail5 = -0x1.78a2ae2fc6688p8;
inline constexpr f64 kGeluTail6 = 0x1.013bc65c0f7cp12;
inline constexpr f64 kGeluTail7 = -0x1.953df0ce3d18fp15;
inline constexpr f64 kGeluTail8 = 0x1.5800f8be13e82p19;
inline constexpr f64 kGeluTail9 = -0x1.21171d507d32dp23;
inline constexpr f64 kGeluTail10 = 0x1.b8aa57c026fb1p26;
inline constexpr f64 kGeluTail11 = -0x1.1959f3bb005f8p30;
inline constexpr f64 kGeluTail12 = 0x1.177c07a046a17p33;
inline constexpr f64 kGeluTail13 = -0x1.8d30111dc58ddp35;
inline constexpr f64 kGeluTail14 = 0x1.6333964c7f37dp37;
inline constexpr f64 kGeluTail15 = -0x1.2a5a47ea56799p38;
inline constexpr f64 kPower2 = 0x1.0000000000011p-1;
inline constexpr f64 kPower3 = 0x1.55555555554bp-3;
inline constexpr f64 kPower4 = 0x1.555555554f003p-5;
inline constexpr f64 kPower5 = 0x1.111111112e672p-7;
inline constexpr f64 kPower6 = 0x1.6c16c1880acdfp-10;
inline constexpr f64 kPower7 = 0x1.a01a011bd039bp-13;
inline constexpr f64 kPower8 = 0x1.a01991a72f1abp-16;
inline constexpr f64 kPower9 = 0x1.71df2d84f0cfep-19;
inline constexpr f64 kPower10 = 0x1.28b3f9cd6798ep-22;
inline constexpr f64 kPower11 = 0x1.ad899d2f16cc1p-26;

}  // namespace anydml::error_function
// clang-format on
