// SPDX-License-Identifier: MIT
// Primitives in integer arithmetic, for the definitions of our own primitives in primitives_integer.cpp. Only
// leading_zeros may be the device's own.
#pragma once

#include "base/integer_floats.h"

extern "C" __attribute__((const)) anydml::i32 import_leading_zeros(anydml::u64);

namespace anydml {

struct MachinePrimitives : IntegerMachine {
  static int leading_zeros(u64 value) { return import_leading_zeros(value); }
};
struct Float32Primitives : IntegerFloat<Float32Format, MachinePrimitives> {};
struct Float64Primitives : IntegerFloat<Float64Format, MachinePrimitives> {};

}  // namespace anydml
