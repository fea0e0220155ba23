#version 460
// SPDX-License-Identifier: MIT
// QUANTIZE and DEQUANTIZE, as in ops/quantize/scalar/codes.h. A thread computes eight consecutive elements, so that no two
// threads write the same byte of a tensor with four-bit elements.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/elements.glsl"
#include "backend/vulkan/shaders/floats.glsl"

layout(local_size_x = 256) in;
// As in family.cpp.
layout(constant_id = 0) const bool kQuantizes = true;
layout(constant_id = 1) const bool kFourBits = false;
layout(constant_id = 2) const uint kNumberBytes = 4;
layout(constant_id = 3) const uint kScaleBytes = 4;
layout(constant_id = 4) const bool kHasZero = false;
layout(constant_id = 5) const bool kIsSigned = false;

const uint kRun = 8;
const uint kInput = 0, kScale = 1, kZero = 2, kOutput = 3;

struct Loop {
  uint size;
  uint unused;
  int64_t strides[4];  // of the operands, in elements
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  uint count;
  uint rank;
  int zero;  // without a tensor of zero points
  uint unused;
  Loop loops[16];
};
// Four elements of FLOAT32, or eight of FLOAT16.
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Vector { uvec4 bits; };
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint numbers_are_aligned;
  uint scales_are_aligned;
  uint are_in_runs;  // the eight elements are together in aligned words
} push;

struct Position {
  int64_t offsets[4];
  uint left;  // in the innermost loop
};
Position position_of(Parameters parameters, uint element) {
  Position at;
  for (uint i = 0; i < 4; ++i) {
    at.offsets[i] = 0;
  }
  at.left = 0;
  for (uint loop = parameters.rank; loop-- > 0;) {
    const uint size = parameters.loops[loop].size;
    const uint index = element % size;
    element /= size;
    if (loop + 1 == parameters.rank) {
      at.left = size - index;
    }
    for (uint i = 0; i < 4; ++i) {
      at.offsets[i] += int64_t(index) * parameters.loops[loop].strides[i];
    }
  }
  return at;
}

int code_of(uint bits) {
  const int sign = kIsSigned ? (kFourBits ? 8 : 128) : 0;
  return (int(bits) ^ sign) - sign;
}
int load_code(uint operand, int64_t element) {
  const uint bits = uint(Bits8(operand_address(operand) + uint64_t(kFourBits ? element >> 1 : element)).bits);
  return code_of(kFourBits ? (bits >> (4 * uint(element & 1))) & 15u : bits);
}
uint load_float(uint operand, int64_t element, uint bytes, uint is_aligned) {
  const uint64_t address = operand_address(operand) + uint64_t(element * int64_t(bytes));
  return value_of(load_bits(address, bytes, is_aligned != 0), bytes);
}

// x / scale, rounded to the nearest integer, plus the zero point, within the limits. NaN counts as 0.
uint quantized(uint x, uint scale, int zero) {
  const uint kMost = 0x44800000u;   // 1024: beyond the limits with any zero point
  const uint kShift = 0x4b400000u;  // 1.5 * 2^23
  uint quotient = import_f32_divide(x, scale);
  const uint magnitude = quotient & ~kSignOfValue;
  if (magnitude > kInfinityOfValue) {
    quotient = 0;
  } else if (magnitude > kMost) {
    quotient = (quotient & kSignOfValue) | kMost;
  }
  const int code = int(import_f32_add(quotient, kShift)) - int(kShift) + zero;
  const int lowest = kIsSigned ? (kFourBits ? -8 : -128) : 0;
  const int highest = lowest + (kFourBits ? 15 : 255);
  return uint(clamp(code, lowest, highest)) & (kFourBits ? 15u : 255u);
}

void main() {
  Parameters parameters = Parameters(push.header.parameters);
  const uint number = group_index() * 256 + gl_LocalInvocationIndex;
  if (number > (parameters.count - 1) / kRun) {
    return;
  }
  const uint first = number * kRun;
  const uint count = min(kRun, parameters.count - first);
  const bool is_run = push.are_in_runs != 0 && count == kRun;
  const uint64_t run_of_numbers = operand_address(kQuantizes ? kInput : kOutput) + uint64_t(first) * kNumberBytes;
  const uint64_t run_of_codes =
      operand_address(kQuantizes ? kOutput : kInput) + uint64_t(kFourBits ? first / 2 : first);
  uvec4 numbers[2];
  uvec2 codes = uvec2(0);
  if (is_run) {
    if (kQuantizes) {
      numbers[0] = Vector(run_of_numbers).bits;
      numbers[1] = kNumberBytes == 2 ? uvec4(0) : Vector(run_of_numbers + 16).bits;
    } else {
      codes.x = Bits32(run_of_codes).bits;
      codes.y = kFourBits ? 0 : Bits32(run_of_codes + 4).bits;
    }
  }
  Position at = position_of(parameters, first);
  uint scale = 0;
  int zero = parameters.zero;
  bool has_scale = false;
  for (uint i = 0; i < kRun; ++i) {
    if (i >= count) {
      break;
    }
    if (!has_scale) {
      scale = load_float(kScale, at.offsets[kScale], kScaleBytes, push.scales_are_aligned);
      if (kHasZero) {
        zero = load_code(kZero, at.offsets[kZero]);
      }
    }
    if (kQuantizes) {
      uint x;
      if (is_run) {
        const uint word = numbers[kNumberBytes == 2 ? 0 : i / 4][kNumberBytes == 2 ? i / 2 : i % 4];
        x = kNumberBytes == 2 ? import_f32_of_f16((word >> (16 * (i % 2))) & 0xffffu) : word;
      } else {
        x = load_float(kInput, at.offsets[kInput], kNumberBytes, push.numbers_are_aligned);
      }
      const uint code = quantized(x, scale, zero);
      if (kFourBits) {
        codes.x |= code << (4 * i);
      } else if (is_run) {
        codes[i / 4] |= code << (8 * (i % 4));
      } else {
        Bits8(operand_address(kOutput) + uint64_t(at.offsets[kOutput])).bits = uint8_t(code);
      }
    } else {
      int code;
      if (is_run) {
        code = code_of(kFourBits ? (codes.x >> (4 * i)) & 15u : (codes[i / 4] >> (8 * (i % 4))) & 255u);
      } else {
        code = load_code(kInput, at.offsets[kInput]);
      }
      const int difference = code - zero;
      const uint sign = difference < 0 ? kSignOfValue : 0u;
      const uint x = import_f32_multiply(float_of_integer(int64_t(abs(difference))) | sign, scale);
      const uint64_t bits = element_of(x, kNumberBytes);
      if (is_run) {
        const uint word = kNumberBytes == 2 ? i / 2 : i % 4;
        const uint part = kNumberBytes == 2 ? 0 : i / 4;
        const uint before = kNumberBytes == 2 && i % 2 == 1 ? numbers[part][word] : 0;
        numbers[part][word] = before | uint(bits) << (kNumberBytes == 2 ? 16 * (i % 2) : 0);
      } else {
        const uint64_t to = operand_address(kOutput) + uint64_t(at.offsets[kOutput] * int64_t(kNumberBytes));
        store_bits(to, bits, kNumberBytes, push.numbers_are_aligned != 0);
      }
    }
    --at.left;
    if (at.left == 0 && i + 1 < count) {
      at = position_of(parameters, first + i + 1);
      has_scale = false;
    } else {
      const uint innermost = parameters.rank - 1;
      for (uint operand = 0; operand < 4; ++operand) {
        at.offsets[operand] += parameters.loops[innermost].strides[operand];
      }
      has_scale = parameters.loops[innermost].strides[kScale] == 0 && parameters.loops[innermost].strides[kZero] == 0;
    }
  }
  if (is_run && !kQuantizes) {
    Vector(run_of_numbers).bits = numbers[0];
    if (kNumberBytes == 4) {
      Vector(run_of_numbers + 16).bits = numbers[1];
    }
  } else if (is_run) {
    Bits32(run_of_codes).bits = codes.x;
    if (!kFourBits) {
      Bits32(run_of_codes + 4).bits = codes.y;
    }
  } else if (kQuantizes && kFourBits) {
    for (uint byte = 0; byte < (count + 1) / 2; ++byte) {
      Bits8(run_of_codes + byte).bits = uint8_t(codes.x >> (8 * byte));
    }
  }
}
