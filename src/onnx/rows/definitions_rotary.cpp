// SPDX-License-Identifier: MIT
// RotaryEmbedding: pairs of elements of each head are rotated by angles whose cosines and sines are inputs. The nodes
// are those of ONNX's definition, so that each product and each sum is rounded.
#include "onnx/rows/checks.h"
#include "onnx/rows/definitions.h"
#include "onnx/rows/row.h"

namespace anydml::onnx {
namespace {

enum RotaryInput : std::size_t { kRotated, kCosines, kSines, kPositions };

// The two elements of each pair: the halves of a head, or its even and its odd elements.
struct RotaryPairs {
  std::string first, second;
};

RotaryPairs rotary_pairs(Expansion& e, const std::string& x, const std::string& dim, bool is_interleaved) {
  if (!is_interleaved) {
    const RotaryPairs halves{e.fresh_name(), e.fresh_name()};
    e.add_to("Split", {x}, {halves.first, halves.second}, {{"axis", -1}, {"num_outputs", 2}});
    return halves;
  }
  const std::string axis = e.constant(Integers{3});
  const std::string step = e.constant(Integers{2});
  return {e.add("Slice", {x, e.constant(Integers{0}), dim, axis, step}),
          e.add("Slice", {x, e.constant(Integers{1}), dim, axis, step})};
}

// The cosines or sines of each position of the sequence, with a dimension for the heads.
std::string rotary_angles(Expansion& e, RotaryInput input, const std::string& half) {
  const std::string positions = e.input(kPositions);
  const std::string all = positions.empty() ? e.input(input) : e.add("Gather", {e.input(input), positions});
  const std::string two = e.constant(Integers{2});
  return e.add("Unsqueeze", {e.add("Slice", {all, e.constant(Integers{0}), half, two}), two});
}

}  // namespace

Compute check_rotary_embedding(const Node& node) {
  return
      [heads = node.integer("num_heads"), given = node.integer("rotary_embedding_dim")](std::span<const Array> inputs) {
        const Array& x = inputs[0];
        if (x.rank() != (heads > 0 ? 3 : 4)) {
          fail("num_heads is {}, but the tensor has {} dimensions; expected {}", heads, x.rank(),
               heads > 0 ? "3, or 4 without num_heads" : "4, or 3 with num_heads");
        }
        if (heads > 0 && x.shape().back() % heads != 0) {
          fail("num_heads is {}, which does not divide the last size, {}", heads, x.shape().back());
        }
        const std::int64_t size = heads > 0 ? x.shape().back() / heads : x.shape().back();
        const std::int64_t dim = given != 0 ? given : size;
        if (dim < 0 || dim > size || dim % 2 != 0) {
          fail("rotary_embedding_dim is {}; expected an even number from 0 to {}, the size of a head", dim, size);
        }
        const int rank = input(inputs, kPositions) ? 2 : 3;
        for (const std::size_t position : {kCosines, kSines}) {
          const Array& angles = inputs[position];
          check_rank(angles, rank, position == kCosines ? "cos_cache" : "sin_cache");
          if (angles.shape().back() != dim / 2) {
            fail("{} has the shape {}; expected {} numbers for each position",
                 position == kCosines ? "cos_cache" : "sin_cache", listed(angles.shape()), dim / 2);
          }
        }
        return Arrays();
      };
}

void expand_rotary_embedding(Expansion& e) {
  const std::int64_t heads = e.integer("num_heads");
  const std::int64_t given = e.integer("rotary_embedding_dim");
  const bool is_interleaved = e.integer("interleaved") != 0;
  const std::string minus_one = e.constant(Integers{-1});
  // The heads come after the positions.
  const std::string x =
      heads > 0 ? e.add("Reshape", {e.input(kRotated), e.constant(Integers{0, 0, heads, -1})}, {{"allowzero", 0}})
                : e.add("Transpose", {e.input(kRotated)}, {{"perm", Integers{0, 2, 1, 3}}});
  const std::string size = sizes_between(e, x, 3, 4);
  const std::string dim = given != 0 ? e.constant(Integers{given}) : size;
  const std::string lengths = joined_sizes(e, {dim, e.add("Sub", {size, dim})});
  const std::string part = e.fresh_name();
  const std::string rest = e.fresh_name();
  e.add_to("Split", {x, lengths}, {part, rest}, {{"axis", -1}});
  const std::string half = e.add("Div", {dim, e.constant(Integers{2})});
  const std::string cosines = rotary_angles(e, kCosines, half);
  const std::string sines = rotary_angles(e, kSines, half);
  const auto [first, second] = rotary_pairs(e, part, dim, is_interleaved);
  std::string real = e.add("Sub", {e.add("Mul", {cosines, first}), e.add("Mul", {sines, second})});
  std::string imaginary = e.add("Add", {e.add("Mul", {sines, first}), e.add("Mul", {cosines, second})});
  if (is_interleaved) {
    real = e.add("Unsqueeze", {real, minus_one});
    imaginary = e.add("Unsqueeze", {imaginary, minus_one});
  }
  std::string rotated = e.add("Concat", {real, imaginary}, {{"axis", -1}});
  if (is_interleaved) {
    rotated = e.add("Reshape", {rotated, e.add("Shape", {part})});
  }
  const std::string whole = e.add("Concat", {rotated, rest}, {{"axis", -1}});
  if (heads > 0) {
    e.add_to("Reshape", {whole, e.add("Shape", {e.input(kRotated)})}, {result_name(e, 0)});
  } else {
    e.add_to("Transpose", {whole}, {result_name(e, 0)}, {{"perm", Integers{0, 2, 1, 3}}});
  }
}

}  // namespace anydml::onnx
