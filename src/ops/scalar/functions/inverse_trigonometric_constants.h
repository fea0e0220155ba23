// SPDX-License-Identifier: MIT
// Made by data/functions/generate_functions.py from data/functions/inverse_trigonometric.sollya.
#pragma once

#include "base/float_bits.h"

// clang-format off
namespace anydml::inverse_trigonometric {

inline constexpr f64 kAtan1 = -0x1.5555555555303p-2;
inline constexpr f64 kAtan2 = 0x1.99999999733d4p-3;
inline constexpr f64 kAtan3 = -0x1.2492491b322bfp-3;
inline constexpr f64 kAtan4 = 0x1.c71c6f3240adap-4;
inline constexpr f64 kAtan5 = -0x1.745cde8a1fdb4p-4;
inline constexpr f64 kAtan6 = 0x1.3b10748ddf2e9p-4;
inline constexpr f64 kAtan7 = -0x1.10f054c3be8e5p-4;
inline constexpr f64 kAtan8 = 0x1.e00ba713e14f8p-5;
inline constexpr f64 kAtan9 = -0x1.a5a7ccb6a9864p-5;
inline constexpr f64 kAtan10 = 0x1.6281df458390dp-5;
inline constexpr f64 kAtan11 = -0x1.03de5239e9afap-5;
inline constexpr f64 kAtan12 = 0x1.187ae1738ad3dp-6;
inline constexpr f64 kAtan13 = -0x1.3ca1b81421c8ap-8;
inline constexpr f64 kAtanAt = 0x1.bfp0;
inline constexpr f64 kAtanThere = 0x1.0cf9d3a5e76f5p0;
inline constexpr f32 kShortAtan1 = -0x1.5554d6p-2f;
inline constexpr f32 kShortAtan2 = 0x1.9977fp-3f;
inline constexpr f32 kShortAtan3 = -0x1.23031ep-3f;
inline constexpr f32 kShortAtan4 = 0x1.b4a728p-4f;
inline constexpr f32 kShortAtan5 = -0x1.34dff2p-4f;
inline constexpr f32 kShortAtan6 = 0x1.60eeccp-5f;
inline constexpr f32 kShortAtan7 = -0x1.0ae84cp-6f;
inline constexpr f32 kShortAtan8 = 0x1.7c5b12p-9f;
inline constexpr f64 kAsin1 = 0x1.555555555538p-3;
inline constexpr f64 kAsin2 = 0x1.333333336fd5bp-4;
inline constexpr f64 kAsin3 = 0x1.6db6db41ce4bdp-5;
inline constexpr f64 kAsin4 = 0x1.f1c72c668963fp-6;
inline constexpr f64 kAsin5 = 0x1.6e89f0a0adad2p-6;
inline constexpr f64 kAsin6 = 0x1.1c6c111dccaf3p-6;
inline constexpr f64 kAsin7 = 0x1.c6fa84b77120cp-7;
inline constexpr f64 kAsin8 = 0x1.8ed60a3002b0ap-7;
inline constexpr f64 kAsin9 = 0x1.ab3a098adc983p-8;
inline constexpr f64 kAsin10 = 0x1.4052136fcd259p-6;
inline constexpr f64 kAsin11 = -0x1.0a5a37896a248p-6;
inline constexpr f64 kAsin12 = 0x1.059859fe6bf5cp-5;
struct LongAtan {
  f64 of[26][2];
};
inline constexpr LongAtan kLongAtan = {{
    {-0x1.5555555555555p-2, -0x1.555555555551dp-56},
    {0x1.999999999999ap-3, -0x1.9999999a06228p-57},
    {-0x1.2492492492492p-3, -0x1.2492480f60f84p-57},
    {0x1.c71c71c71c71cp-4, 0x1.c71a3dae3e575p-58},
    {-0x1.745d1745d1746p-4, 0x1.76bfbdc772483p-59},
    {0x1.3b13b13b13b14p-4, -0x1.a0e0945a6398bp-58},
    {-0x1.111111111110bp-4, -0x1.6cfe445869b1ep-58},
    {0x1.e1e1e1e1e1c4ap-5, 0x1.86f0532e70739p-63},
    {-0x1.af286bca1776dp-5, 0x1.ed4dbf6742765p-59},
    {0x1.86186185c6ff6p-5, -0x1.706c46bd1da28p-62},
    {-0x1.642c858adf391p-5, -0x1.3a66514c23e0cp-60},
    {0x1.47ae1425c5993p-5, -0x1.53312f3eff4bap-61},
    {-0x1.2f6847eca8a14p-5, 0x1.39398e301d405p-59},
    {0x1.1a7b7030328c2p-5, -0x1.caf6463b70fc8p-61},
    {-0x1.0840e400b3c29p-5, 0x1.0d497c0ab1fd4p-59},
    {0x1.f06cb93115631p-6, 0x1.5c54369402967p-61},
    {-0x1.d3c9815986879p-6, 0x1.9508e43411f03p-64},
    {0x1.b9553f488c145p-6, -0x1.48ca3093c5fc7p-61},
    {-0x1.9e8f5d9257469p-6, 0x1.d74116550f304p-60},
    {0x1.7e6115f8fff47p-6, 0x1.372ed20187792p-60},
    {-0x1.50be4d76aecaep-6, -0x1.4da2ebc633f5p-62},
    {0x1.0e4c917c08427p-6, -0x1.fcdbe4c6b90d9p-60},
    {-0x1.722596abf0d89p-7, -0x1.208a2cd426c83p-61},
    {0x1.8abe18d1de59p-8, -0x1.9b3082c413715p-63},
    {-0x1.1cd56f4b551c5p-9, 0x1.7ab787025e2bap-63},
    {0x1.99fbef96fb66cp-12, -0x1.00ea60a5162b7p-66},
}};
inline constexpr f64 kAtanThereRest = 0x1.7331dad66daa4p-63;

}  // namespace anydml::inverse_trigonometric
// clang-format on
