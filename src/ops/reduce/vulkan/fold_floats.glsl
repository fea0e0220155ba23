// SPDX-License-Identifier: MIT
// Sums and products of floats whose order matters.
#define DOUBLE (FLOATS == 2)
#include "backend/vulkan/shaders/floats.glsl"

Total total_of(Value value) { return Total(uint64_t(value), 0); }

Total neutral() { return total_of(kFold == kProduct ? kOneOfValue : kSignOfValue); }  // -0 for sums

Total lift(uint64_t bits, uint element, uint count) {
  Value x = value_of(bits, kBytes);
  if (kFold == kAbsoluteSum) {
    x &= ~kSignOfValue;
  } else if (kFold == kSquareSum) {
    x = multiply_floats(x, x);
  }
  return total_of(x);
}

Total combine(Total a, Total b) {
  const Value x = Value(a.bits);
  const Value y = Value(b.bits);
  return total_of(kFold == kProduct ? multiply_floats(x, y) : add_floats(x, y));
}

// The bits of the result for the combination of all elements.
uint64_t result_of(Total total, uint count) {
  Value x = Value(total.bits);
  if (kFinish == kAverage) {
    x = divide_floats(x, float_of_integer(int64_t(count)));
  } else if (kFinish == kSquareRoot) {
    x = root_of_float(x);
  }
  return element_of(x, kBytes);
}
uint64_t result_of_block(Total total, uint count) { return result_of(total, count); }
