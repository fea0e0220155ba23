// SPDX-License-Identifier: MIT
// The accumulators of reductions and how they are combined, as in ops/reduce/scalar. FLOATS: 1 for sums and products of
// FLOAT32, and of FLOAT16 in FLOAT32; 2 for those of FLOAT64; 0 for everything else, which is computed with integers.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/axis_loops.glsl"
#include "backend/vulkan/shaders/elements.glsl"

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

layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint units;   // of work
  uint blocks;  // of an output
  uint input_is_aligned;
  uint output_is_aligned;
} push;

// `bits` is an accumulator or a key. `more` is the rank of an extreme, or the flags of an exact sum.
struct Total {
  uint64_t bits;
  uint more;
};

bool is_arg() { return kFold >= kArgMax; }
bool is_exact_half() { return kKind == kFloat && kBytes == 2 && (kFold == kSum || kFold == kAbsoluteSum); }

#if FLOATS
#include "ops/reduce/vulkan/fold_floats.glsl"
#else
#include "ops/reduce/vulkan/fold_integers.glsl"
#endif

Total load_element(uint64_t row, AxisLoops loops, uint element) {
  const uint64_t address = row + uint64_t(element_offsets(loops, element).from);
  return lift(load_bits(address, kBytes, push.input_is_aligned != 0), element, loops.count);
}
void store_result(uint64_t address, uint64_t bits) {
  store_bits(address, bits, kOutputBytes, push.output_is_aligned != 0);
}

// Stores the result of a block, as a partial result or as the output's element.
void put(AxisLoops loops, uint output_number, uint block, Total total) {
  if (kToPartials) {
    const uint64_t number = uint64_t(output_number) * push.blocks + block;
    if (is_arg()) {
      const uint64_t address = operand_address(1) + number * 16;
      Bits64(address).bits = total.bits;
      Bits64(address + 8).bits = uint64_t(total.more);
    } else {
      // A block of exact sums has at most 53 bits.
      Bits64(operand_address(1) + number * 8).bits =
          is_exact_half() ? (total.bits << 4) | uint64_t(total.more) : total.bits;
    }
    return;
  }
  const uint64_t address = operand_address(1) + uint64_t(row_offsets(loops, output_number).to);
  store_result(address, result_of_block(total, loops.count));
}
