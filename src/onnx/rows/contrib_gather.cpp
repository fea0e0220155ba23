// SPDX-License-Identifier: MIT
// GatherBlockQuantized of com.microsoft: slices of a quantized tensor are gathered first and then dequantized.
#include <cstdint>
#include <string>
#include <vector>

#include "onnx/rows/checks.h"
#include "onnx/rows/exact.h"
#include "onnx/rows/expansion.h"
#include "onnx/rows/gathers.h"
#include "onnx/rows/row.h"
#include "onnx/values/halves.h"

namespace anydml::onnx {
namespace {

enum BlockInput : std::size_t { kData, kIndices, kScales, kZeros };

struct BlockGatherOptions {
  std::int64_t gather_axis = 0, quantize_axis = 1, block = 128;
  std::int64_t bits = 8;    // of a number in a byte: 8 if there is one
  std::int64_t middle = 0;  // the zero point if there is no tensor of zero points
  std::int64_t flip = 0;    // the bits of numbers and zero points that are inverted
};

// The numbers in bytes along the last axis, the first one in the lowest bits.
Array unpacked_bytes(const BlockGatherOptions& options, const Array& bytes) {
  const std::int64_t bits = options.bits;
  if (bits == 8) {
    return bytes;
  }
  const int rank = bytes.rank();
  const Array mask = Array::scalar(Kind::kUint8, (std::int64_t{1} << bits) - 1);
  Arrays parts;
  for (std::int64_t shift = 0; shift < 8; shift += bits) {
    const Array moved =
        shift == 0 ? bytes : dispatch("ELEMENT_WISE_BIT_SHIFT_RIGHT", {bytes, Array::scalar(Kind::kUint8, shift)});
    parts.push_back(dispatch("ELEMENT_WISE_BIT_AND", {moved, mask}).insert_axis(rank));
  }
  Sizes shape = bytes.shape();
  shape.back() *= 8 / bits;
  const Array numbers = join(parts, rank).reshape(shape);
  return options.flip == 0 ? numbers
                           : dispatch("ELEMENT_WISE_BIT_XOR", {numbers, Array::scalar(Kind::kUint8, options.flip)});
}

// Repeats a number for each block along an axis, for each of `count` elements.
Array for_elements(const Array& blocks, int axis, std::int64_t block, std::int64_t count) {
  if (blocks.size(axis) == count && block == 1) {
    return blocks;
  }
  Sizes repeated = blocks.insert_axis(axis + 1).shape();
  repeated[static_cast<std::size_t>(axis) + 1] = block;
  Sizes shape = blocks.shape();
  shape[static_cast<std::size_t>(axis)] *= block;
  return blocks.insert_axis(axis + 1).broadcast_to(repeated).reshape(shape).slice(axis, 0, count);
}

// (numbers - zeros) * scales, where each block along an axis has a scale and a zero point.
Array dequantized_blocks(const BlockGatherOptions& options, const Array& numbers, const Array& scales,
                         const Array& zeros, int axis) {
  const std::int64_t count = numbers.size(axis);
  const Kind kind = scales.kind();
  const Array zero =
      zeros ? for_elements(cast(zeros, kind), axis, options.block, count) : Array::scalar(kind, options.middle);
  return multiply(subtract(cast(numbers, kind), zero), for_elements(scales, axis, options.block, count));
}

void check_blocks(const BlockGatherOptions& options, const Array& blocks, const Array& data, int quantize_axis,
                  std::int64_t packed, const char* what) {
  Sizes expected = data.shape();
  expected.back() *= packed;
  auto& size = expected[static_cast<std::size_t>(quantize_axis)];
  size = divide_up(size, options.block);
  if (blocks.shape() != expected) {
    fail("{} has the shape {}; expected {}", what, listed(blocks.shape()), listed(expected));
  }
}

// Numbers that were kept in four bits (four_bits.h) as bytes with two of them each. Signed ones are 8 larger then.
Array bytes_of(const Array& array) {
  return array && kFourBitKinds.contains(array.kind()) ? bytes_of_halves(array) : array;
}

Arrays run_block_gather(const BlockGatherOptions& given, std::span<const Array> inputs) {
  BlockGatherOptions options = given;
  const Array data = bytes_of(inputs[kData]);
  if (data.kind() != inputs[kData].kind()) {
    options.bits = 4;
    options.flip = inputs[kData].kind() == Kind::kInt4 ? 8 : 0;
    options.middle = options.flip;
  }
  const Array& indices = inputs[kIndices];
  const Array& scales = inputs[kScales];
  check_min_rank(data, 1, "data");
  const int gathered = axis_of(options.gather_axis, data.rank(), "gather_axis");
  const int quantized = axis_of(options.quantize_axis, data.rank(), "quantize_axis");
  const std::int64_t packed = 8 / options.bits;
  check_blocks(options, scales, data, quantized, packed, "scales");
  Array zeros = input(inputs, kZeros);
  if (zeros) {  // the last of them may fill only a part of a byte
    zeros = unpacked_bytes(options, bytes_of(zeros));
    const int last = zeros.rank() - 1;
    if (zeros.rank() == scales.rank() && zeros.size(last) >= scales.size(last)) {
      zeros = zeros.slice(last, 0, scales.size(last));
    }
    check_blocks(options, zeros, data, quantized, packed, "zero_points");
  }
  if (gathered == quantized || (gathered == data.rank() - 1 && packed != 1)) {
    const Array whole = dequantized_blocks(options, unpacked_bytes(options, data), scales, zeros, quantized);
    return one(taken_slices(whole, indices, gathered));
  }
  const Array numbers = unpacked_bytes(options, taken_slices(data, indices, gathered));
  const int axis = quantized < gathered ? quantized : quantized + indices.rank() - 1;
  return one(dequantized_blocks(options, numbers, taken_slices(scales, indices, gathered),
                                zeros ? taken_slices(zeros, indices, gathered) : zeros, axis));
}

Compute make_block_gather(const NodeMessage& node, const std::vector<Kind>& kinds, std::vector<Kind>& results) {
  const Expansion given(node, kinds, 0);
  given.require({{kData, "data"}, {kIndices, "indices"}, {kScales, "scales"}});
  BlockGatherOptions options;
  options.gather_axis = given.integer("gather_axis");
  options.quantize_axis = given.integer("quantize_axis", 1);
  options.block = given.integer("block_size", 128);
  const std::int64_t bits = given.integer("bits", 4);
  const Kind kind = given.kind(kData);
  constexpr KindSet kData4{Kind::kUint8, Kind::kUint4, Kind::kInt4};
  if (!kData4.contains(kind) || !kRoundedKinds.contains(given.kind(kScales))) {
    given.refuse(format_text("of {} with scales of {}", kind_name(kind), kind_name(given.kind(kScales))));
  }
  if (options.block < 1 || (bits != 2 && bits != 4 && bits != 8)) {
    fail("{}: block_size is {} and bits is {}; expected 1 or more, and 2, 4 or 8", label_of(node), options.block, bits);
  }
  if (!given.input(kZeros).empty() && given.kind(kZeros) != kind) {
    given.refuse(format_text("of {} with zero points of {}", kind_name(kind), kind_name(given.kind(kZeros))));
  }
  if (kind == Kind::kUint8) {
    options.bits = bits;
    options.middle = std::int64_t{1} << (bits - 1);
  }
  results.push_back(given.kind(kScales));
  return [options](std::span<const Array> inputs) { return run_block_gather(options, inputs); };
}

constexpr DomainRow kBlockGatherRows[] = {
    {.domain = "com.microsoft",
     .op = "GatherBlockQuantized",
     .make = make_block_gather,
     .uses = "GATHER BIT_AND BIT_SHIFT_RIGHT BIT_XOR CAST IDENTITY JOIN MULTIPLY SUBTRACT"},
};

}  // namespace

std::span<const DomainRow> block_gather_rows() { return kBlockGatherRows; }

}  // namespace anydml::onnx
