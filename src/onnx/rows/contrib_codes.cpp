// SPDX-License-Identifier: MIT
// MatMulNBits of com.microsoft: a product with a matrix in codes of four or eight bits. DEQUANTIZE reads the codes as
// they are in the file, and GEMM multiplies by its result. A device that reads codes in products joins the two.
#include "onnx/rows/contrib_codes.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "onnx/rows/exact.h"
#include "onnx/rows/expansion.h"
#include "onnx/rows/row.h"
#include "onnx/values/halves.h"
#include "onnx/values/recorder.h"

namespace anydml::onnx {
namespace {

enum CodedInput : std::size_t { kCodedA, kCodedB, kCodedScales, kCodedZeros, kCodedOrder, kCodedBias };

struct CodedOptions {
  std::int64_t depth = 0;    // K
  std::int64_t columns = 0;  // N
  std::int64_t block = 0;
  std::int64_t blocks = 0;
  std::int64_t bits = 4;
  bool has_integer_activations = false;

  // The codes of a column, which end with a whole block.
  [[nodiscard]] std::int64_t padded() const { return blocks * block; }
  [[nodiscard]] std::int64_t bytes_for(std::int64_t codes) const { return (codes * bits + 7) / 8; }
};

// accuracy_level is a permission: 0 and 1 stand for floats, 2 and 3 for smaller floats, which DirectML's operators do
// not use here, and 4 for integers of eight bits.
bool has_integer_activations(const Expansion& given, Activations activations) {
  constexpr std::int64_t kMaxLevel = 4;
  const std::int64_t level = given.integer("accuracy_level");
  if (level < 0 || level > kMaxLevel) {
    fail("{}: accuracy_level is {}; expected 0 to {}", label_of(given.node()), level, kMaxLevel);
  }
  return activations == Activations::kInteger || (activations == Activations::kOfModel && level == kMaxLevel);
}

CodedOptions coded_options(const Expansion& given, Activations activations) {
  constexpr std::int64_t kMaxSize = std::int64_t{1} << 31;
  constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 34;  // the zero points have up to a byte for each block
  CodedOptions options{.depth = given.integer("K"),
                       .columns = given.integer("N"),
                       .block = given.integer("block_size"),
                       .blocks = 0,
                       .bits = given.integer("bits", 4),
                       .has_integer_activations = has_integer_activations(given, activations)};
  const auto& [depth, columns, block, blocks, bits, has_integers] = options;
  if (bits != 4 && bits != 8) {
    given.refuse("with " + std::to_string(bits) + " bits");
  }
  if (!given.input(kCodedOrder).empty()) {
    given.refuse("with g_idx");
  }
  if (given.kind(kCodedB) != Kind::kUint8) {  // the bytes of other numbers are not codes
    given.refuse("with codes in " + std::string(kind_name(given.kind(kCodedB))));
  }
  if (!given.input(kCodedZeros).empty() && given.kind(kCodedZeros) != Kind::kUint8) {
    given.refuse("with zero points of " + std::string(kind_name(given.kind(kCodedZeros))));
  }
  if (!kRoundedKinds.contains(given.kind(kCodedA)) || given.kind(kCodedScales) != given.kind(kCodedA)) {
    given.refuse(
        format_text("of {} with scales of {}", kind_name(given.kind(kCodedA)), kind_name(given.kind(kCodedScales))));
  }
  if (std::min({depth, columns, block}) < 1 || std::max({depth, columns, block}) > kMaxSize) {
    fail("{}: K is {}, N is {} and block_size is {}; expected numbers from 1 to {}", label_of(given.node()), depth,
         columns, block, kMaxSize);
  }
  options.blocks = (depth + block - 1) / block;
  if (columns * blocks > kMaxBlocks) {
    fail("{}: K is {}, N is {} and block_size is {}, which are more than {} blocks", label_of(given.node()), depth,
         columns, block, kMaxBlocks);
  }
  if (bits == 4 && block % 2 != 0) {
    given.refuse("with blocks of " + std::to_string(block) + " codes of four bits");
  }
  return options;
}

// The codes in bytes, a row for each column of the matrix. Each row begins with a byte of its own.
Array codes_in(const CodedOptions& options, const Array& bytes, std::int64_t count, const char* what) {
  const std::int64_t of_row = options.bytes_for(count);
  if (bytes.count() != options.columns * of_row) {
    fail("{} has the shape {}; expected {} bytes for each of {} columns", what, listed(bytes.shape()), of_row,
         options.columns);
  }
  const Array packed = bytes.is_packed() ? bytes : bytes.is_symbol() ? identity(bytes) : bytes.packed();
  return options.bits == 8 ? packed.reshape({options.columns, of_row})
                           : halves_of_bytes(packed, {options.columns, count}, {2 * of_row, 1});
}

Array run_coded_product(const CodedOptions& options, std::span<const Array> inputs);

// Computes a product of arrays in a graph of its own: only a graph joins DEQUANTIZE and GEMM.
Array run_in_graph(const CodedOptions& options, std::span<const Array> inputs) {
  const FixedArrays none({});
  Recorder recorder(none);
  const Array a = inputs[kCodedA].packed();
  Arrays given(inputs.begin(), inputs.end());
  given[kCodedA] = recorder.input(a);
  const Array result = run_coded_product(options, given);
  recorder.output(result);
  const CompiledGraph compiled = recorder.compile({});
  Array output = Array::empty(a.kind(), result.shape());
  const void* const from = a.data();
  void* const to = output.writable();
  check_status(anydml_compiled_run(compiled.get(), &from, 1, &to, 1));
  return output;
}

Array run_coded_product(const CodedOptions& options, std::span<const Array> inputs) {
  const Array& a = inputs[kCodedA];
  const Array& scales = inputs[kCodedScales];
  if (scales.count() != options.columns * options.blocks) {
    fail("scales has the shape {}; expected {} numbers for each of {} columns", listed(scales.shape()), options.blocks,
         options.columns);
  }
  Arrays coded{codes_in(options, inputs[kCodedB], options.padded(), "B"),
               scales.reshape({options.columns, options.blocks})};
  const Array zeros = input(inputs, kCodedZeros);
  if (zeros) {
    coded.push_back(codes_in(options, zeros, options.blocks, "zero_points"));
  }
  // Without zero points, DEQUANTIZE subtracts the middle of the range, as MatMulNBits does.
  Array weights = dispatch_beside(a, "DEQUANTIZE", coded, {{"QuantizationType", zeros ? "SCALE_ZERO_POINT" : "SCALE"}},
                                  {.shape = Sizes{options.columns, options.padded()}, .kind = a.kind()});
  weights = weights.slice(1, 0, options.depth).transpose();
  std::optional<Recorder::IntegerActivations> integers;
  if (options.has_integer_activations && (a.is_symbol() || weights.is_symbol())) {
    integers.emplace(*Recorder::of(a.is_symbol() ? a : weights));
  }
  const Array product = multiply_matrices(
      a, weights, [](const Array& left, const Array& right, const Sizes& shape) { return gemm(left, right, shape); });
  integers.reset();
  const Array bias = input(inputs, kCodedBias);
  return bias ? add(product, bias) : product;
}

}  // namespace

Compute make_coded_product(const NodeMessage& node, const std::vector<Kind>& kinds, Activations activations,
                           std::vector<Kind>& results) {
  const Expansion given(node, kinds, 0);
  given.require({{kCodedA, "A"}, {kCodedB, "B"}, {kCodedScales, "scales"}});
  const CodedOptions options = coded_options(given, activations);
  results.push_back(given.kind(kCodedA));
  return [options](std::span<const Array> inputs) {
    const bool is_alone = std::none_of(inputs.begin(), inputs.end(), [](const Array& x) { return x && x.is_symbol(); });
    const bool has_elements = inputs[kCodedA].count() != 0;
    return one(options.has_integer_activations && is_alone && has_elements ? run_in_graph(options, inputs)
                                                                           : run_coded_product(options, inputs));
  };
}

}  // namespace anydml::onnx
