// SPDX-License-Identifier: MIT
// The primitives of a device that has no floating-point arithmetic (base/primitives.h). None of them is constexpr, as
// if they were linked later, so a definition that needs one at compile time does not compile here.
#pragma once

#include "base/integer_floats.h"

namespace anydml {

struct MachinePrimitives : IntegerMachine {
#if defined(ANYDML_LIKE_A_GPU)
  static constexpr bool kOnGpu = true;
#endif
  static int leading_zeros(u64 value) { return IntegerMachine::leading_zeros(value); }
};

template <class Format>
struct PrimitivesAtRunTime : IntegerFloat<Format, IntegerMachine> {
  using In = IntegerFloat<Format, IntegerMachine>;
  using typename In::Bits;
  using Other = typename In::OtherFormat::Bits;

#define ANYDML_ONE(name) \
  static Bits name(Bits x) { return In::name(x); }
#define ANYDML_TWO(result, name) \
  static result name(Bits a, Bits b) { return In::name(a, b); }
#define ANYDML_CONVERSION(result, name, from) \
  static result name(from x) { return In::name(x); }
  ANYDML_TWO(Bits, add)
  ANYDML_TWO(Bits, subtract)
  ANYDML_TWO(Bits, multiply)
  ANYDML_TWO(Bits, divide)
  ANYDML_TWO(Bits, near_quotient)
  ANYDML_TWO(bool, equal)
  ANYDML_TWO(bool, less)
  ANYDML_TWO(bool, less_or_equal)
  ANYDML_ONE(square_root)
  ANYDML_ONE(round_down)
  ANYDML_ONE(round_up)
  ANYDML_ONE(round_towards_zero)
  ANYDML_ONE(round_away)
  ANYDML_ONE(round_even)
  ANYDML_ONE(inverse_estimate)
  ANYDML_ONE(inverse_root_estimate)
  ANYDML_CONVERSION(Bits, of_i32, i32)
  ANYDML_CONVERSION(Bits, of_u32, u32)
  ANYDML_CONVERSION(Bits, of_i64, i64)
  ANYDML_CONVERSION(Bits, of_u64, u64)
  ANYDML_CONVERSION(Bits, of_float, Other)
  ANYDML_CONVERSION(i32, to_i32, Bits)
  ANYDML_CONVERSION(u32, to_u32, Bits)
  ANYDML_CONVERSION(i64, to_i64, Bits)
  ANYDML_CONVERSION(u64, to_u64, Bits)
#undef ANYDML_ONE
#undef ANYDML_TWO
#undef ANYDML_CONVERSION
  static Bits fused(Bits a, Bits b, Bits c) { return In::fused(a, b, c); }
};
struct Float32Primitives : PrimitivesAtRunTime<Float32Format> {};
struct Float64Primitives : PrimitivesAtRunTime<Float64Format> {};

}  // namespace anydml
