// SPDX-License-Identifier: MIT
// The values of reductions and how they are combined, as in ops/reduce/scalar: integers and keys in 64 bits, FLOAT32 in
// its bits, and exact sums of FLOAT16 in units of 2^-24.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/kernel.glsl"
#include "backend/vulkan/shaders/soft_float.glsl"

// As in family.cpp.
layout(constant_id = 0) const uint kFold = 0;
layout(constant_id = 1) const uint kFinish = 0;
layout(constant_id = 2) const uint kKind = 0;
layout(constant_id = 3) const uint kBytes = 4;        // of an element
layout(constant_id = 4) const uint kOutputBytes = 4;  // of a result
layout(constant_id = 5) const bool kToPartials = false;
layout(constant_id = 6) const bool kTakesLast = false;

const uint kSum = 0, kAbsoluteSum = 1, kSquareSum = 2, kProduct = 3, kMax = 4, kMin = 5, kArgMax = 6, kArgMin = 7;
const uint kNothing = 0, kAverage = 1, kSquareRoot = 2;
const uint kUnsigned = 0, kSigned = 1, kFloat = 2;
const uint kBlock = 4096;

struct Loop {
  uint size;
  uint unused;
  int64_t from;
  int64_t to;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  int64_t input_offset;
  int64_t output_offset;
  uint outputs;
  uint count;
  uint blocks;
  uint kept_rank;
  uint reduced_rank;
  uint unused;
  Loop kept[8];
  Loop reduced[8];
};
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint units;  // of work
  uint input_is_aligned;
  uint output_is_aligned;
} push;

layout(buffer_reference, scalar, buffer_reference_align = 1) buffer Bits8 { uint8_t bits; };
layout(buffer_reference, scalar, buffer_reference_align = 2) buffer Bits16 { uint16_t bits; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Bits32 { uint bits; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Bits64 { uint64_t bits; };

uint64_t load_bits(uint64_t address) {
  if (push.input_is_aligned != 0) {
    switch (kBytes) {
      case 1:
        return uint64_t(Bits8(address).bits);
      case 2:
        return uint64_t(Bits16(address).bits);
      case 4:
        return uint64_t(Bits32(address).bits);
      default:
        return Bits64(address).bits;
    }
  }
  uint64_t bits = 0;
  for (uint i = 0; i < kBytes; ++i) {
    bits |= uint64_t(Bits8(address + i).bits) << (8 * i);
  }
  return bits;
}

void store_bits(uint64_t address, uint64_t bits) {
  if (push.output_is_aligned != 0) {
    switch (kOutputBytes) {
      case 1:
        Bits8(address).bits = uint8_t(bits);
        return;
      case 2:
        Bits16(address).bits = uint16_t(bits);
        return;
      case 4:
        Bits32(address).bits = uint(bits);
        return;
      default:
        Bits64(address).bits = bits;
        return;
    }
  }
  for (uint i = 0; i < kOutputBytes; ++i) {
    Bits8(address + i).bits = uint8_t(bits >> (8 * i));
  }
}

// `bits` is an accumulator or a key. `more` is the rank of an extreme, or the flags of an exact sum.
struct Value {
  uint64_t bits;
  uint more;
};

bool is_arg() { return kFold >= kArgMax; }
bool is_extreme() { return kFold >= kMax; }
bool is_maximum() { return kFold == kMax || kFold == kArgMax; }
bool is_exact_half() { return kKind == kFloat && kBytes == 2 && (kFold == kSum || kFold == kAbsoluteSum); }

// The flags of exact sums: which elements there were.
const uint kPlusInfinity = 1, kMinusInfinity = 2, kNotANumber = 4, kNotMinusZero = 8;
const uint64_t kMiddle = uint64_t(1) << 63;

Value neutral() {
  if (is_extreme()) {
    return Value(is_maximum() ? 0 : ~uint64_t(0), 0xffffffffu);
  }
  if (is_exact_half()) {
    return Value(0, 0);
  }
  if (kFold == kProduct) {
    return Value(kKind == kFloat ? uint64_t(0x3f800000u) : uint64_t(1), 0);
  }
  return Value(kKind == kFloat ? uint64_t(kSign32) : uint64_t(0), 0);
}

int64_t extended(uint64_t bits) {
  const uint unused_bits = 64 - 8 * kBytes;
  return int64_t(bits << unused_bits) >> unused_bits;
}

// Extremes are compared as unsigned keys. NaN is the extreme; +0 is above -0, or equal for the index of an extreme.
uint64_t key_of(uint64_t bits) {
  if (kKind == kUnsigned) {
    return bits;
  }
  if (kKind == kSigned) {
    return uint64_t(extended(bits)) ^ kMiddle;
  }
  const uint64_t sign = uint64_t(1) << (8 * kBytes - 1);
  const uint64_t magnitude = bits & (sign - 1);
  const uint64_t infinity = kBytes == 2 ? uint64_t(0x7c00u) : kBytes == 4 ? uint64_t(kInfinity32) : uint64_t(0x7ff) << 52;
  if (magnitude > infinity) {
    return is_maximum() ? ~uint64_t(0) : uint64_t(0);
  }
  if ((bits & sign) == 0) {
    return kMiddle + magnitude;
  }
  return is_arg() ? kMiddle - magnitude : kMiddle - 1 - magnitude;
}

uint64_t element_of_key(uint64_t key) {
  if (kKind == kUnsigned) {
    return key;
  }
  if (kKind == kSigned) {
    return key ^ kMiddle;
  }
  if (key == (is_maximum() ? ~uint64_t(0) : uint64_t(0))) {
    return kBytes == 2 ? uint64_t(0x7e00u) : kBytes == 4 ? uint64_t(kNan32) : uint64_t(0x7ff8) << 48;
  }
  return key >= kMiddle ? key - kMiddle : (kMiddle - 1 - key) | uint64_t(1) << (8 * kBytes - 1);
}

// element: its number among the reduced ones.
Value lift(uint64_t bits, uint element, uint count) {
  if (is_extreme()) {
    return Value(key_of(bits), kTakesLast ? count - 1 - element : element);
  }
  if (kKind != kFloat) {
    uint64_t x = kKind == kSigned ? uint64_t(extended(bits)) : bits;
    x = kFold == kAbsoluteSum && kKind == kSigned && int64_t(x) < 0 ? uint64_t(0) - x : x;
    return Value(kFold == kSquareSum ? x * x : x, 0);
  }
  uint x = uint(bits);
  if (kFold == kAbsoluteSum) {
    x &= kBytes == 2 ? 0x7fffu : 0x7fffffffu;
  }
  if (is_exact_half()) {
    const uint magnitude = x & 0x7fffu;
    const bool is_negative = x >= 0x8000u;
    if (magnitude >= 0x7c00u) {
      return Value(0, magnitude > 0x7c00u ? kNotANumber : is_negative ? kMinusInfinity : kPlusInfinity);
    }
    const uint exponent = magnitude >> 10;
    const uint64_t units =
        exponent == 0 ? uint64_t(magnitude) : uint64_t((magnitude & 0x3ffu) | 0x400u) << (exponent - 1);
    return Value(is_negative ? uint64_t(0) - units : units, x == 0x8000u ? 0 : kNotMinusZero);
  }
  x = kBytes == 2 ? widen16(x) : x;
  return Value(uint64_t(kFold == kSquareSum ? multiply32(x, x) : x), 0);
}

Value combine(Value a, Value b) {
  if (is_arg()) {
    const bool beyond = is_maximum() ? b.bits > a.bits : b.bits < a.bits;
    if (beyond || (a.bits == b.bits && b.more < a.more)) {
      return b;
    }
    return a;
  }
  if (is_extreme()) {
    return Value(is_maximum() ? max(a.bits, b.bits) : min(a.bits, b.bits), 0);
  }
  if (is_exact_half()) {
    return Value(a.bits + b.bits, a.more | b.more);
  }
  if (kKind != kFloat) {
    return Value(kFold == kProduct ? a.bits * b.bits : a.bits + b.bits, 0);
  }
  return Value(uint64_t(kFold == kProduct ? multiply32(uint(a.bits), uint(b.bits)) : add32(uint(a.bits), uint(b.bits))),
               0);
}

// An exact sum of FLOAT16 in units of 2^-24, divided by a count and rounded once. high and low are a signed number.
uint64_t element_of_units(int64_t high, uint64_t low, uint flags, uint count) {
  if ((flags & kNotANumber) != 0 || (flags & (kPlusInfinity | kMinusInfinity)) == (kPlusInfinity | kMinusInfinity)) {
    return uint64_t(0x7e00u);
  }
  if ((flags & (kPlusInfinity | kMinusInfinity)) != 0) {
    return uint64_t((flags & kMinusInfinity) != 0 ? 0xfc00u : 0x7c00u);
  }
  const bool is_negative = high < 0;
  if (is_negative) {
    low = uint64_t(0) - low;
    high = ~high + (low == 0 ? 1 : 0);
  }
  const uint sign = is_negative || (flags & kNotMinusZero) == 0 ? 0x8000u : 0u;
  // Two bits more than the last place of any FLOAT16, the lower of which is also set if any bit below it is.
  const uint64_t top = (uint64_t(high) << 2) | (low >> 62);
  low <<= 2;
  const uint64_t rest = top % count;
  if (top / count != 0) {
    return uint64_t(sign | 0x7c00u);  // above 2^38
  }
  const uint64_t upper = (rest << 32) | (low >> 32);
  const uint64_t lower = ((upper % count) << 32) | (low & 0xffffffffUL);
  uint64_t quotient = ((upper / count) << 32) | (lower / count);
  const bool is_exact = lower % count == 0;
  if (quotient >= (uint64_t(1) << 62)) {
    return uint64_t(sign | 0x7c00u);
  }
  quotient |= uint64_t(is_exact ? 0 : 1);
  return uint64_t(quotient == 0 ? sign : pack16(sign, -26, quotient));
}

// The bits of the result for the combination of all elements, except for exact sums.
uint64_t element_of(Value total, uint count) {
  if (is_arg()) {
    return uint64_t(kTakesLast ? count - 1 - total.more : total.more);
  }
  if (is_extreme()) {
    return element_of_key(total.bits);
  }
  if (kKind != kFloat) {
    return total.bits;
  }
  uint x = uint(total.bits);
  x = kFinish == kAverage ? divide32(x, of_integer32(uint64_t(count))) : kFinish == kSquareRoot ? square_root32(x) : x;
  return uint64_t(kBytes == 2 ? narrow16(x) : is_nan32(x) ? kNan32 : x);
}

int64_t output_position(Parameters parameters, uint output_number) {
  int64_t to = parameters.output_offset;
  for (uint loop = parameters.kept_rank; loop-- > 0;) {
    to += int64_t(output_number % parameters.kept[loop].size) * parameters.kept[loop].to;
    output_number /= parameters.kept[loop].size;
  }
  return to;
}

int64_t input_position(Parameters parameters, uint output_number) {
  int64_t from = parameters.input_offset;
  for (uint loop = parameters.kept_rank; loop-- > 0;) {
    from += int64_t(output_number % parameters.kept[loop].size) * parameters.kept[loop].from;
    output_number /= parameters.kept[loop].size;
  }
  return from;
}

int64_t element_position(Parameters parameters, uint element) {
  int64_t from = 0;
  for (uint loop = parameters.reduced_rank; loop-- > 1;) {
    from += int64_t(element % parameters.reduced[loop].size) * parameters.reduced[loop].from;
    element /= parameters.reduced[loop].size;
  }
  return from + int64_t(element) * parameters.reduced[0].from;
}

// Stores the result of a block, as a partial result or as the output's element.
void put(Parameters parameters, uint output_number, uint block, Value value) {
  if (kToPartials) {
    const uint64_t number = uint64_t(output_number) * parameters.blocks + block;
    if (is_arg()) {
      const uint64_t address = operand_address(1) + number * 16;
      Bits64(address).bits = value.bits;
      Bits64(address + 8).bits = uint64_t(value.more);
    } else {
      // A block of exact sums has at most 53 bits.
      Bits64(operand_address(1) + number * 8).bits =
          is_exact_half() ? (value.bits << 4) | uint64_t(value.more) : value.bits;
    }
    return;
  }
  const uint64_t address = operand_address(1) + uint64_t(output_position(parameters, output_number));
  if (is_exact_half()) {
    store_bits(address, element_of_units(int64_t(value.bits) >> 63, value.bits, value.more,
                                         kFinish == kAverage ? parameters.count : 1));
  } else {
    store_bits(address, element_of(value, parameters.count));
  }
}
