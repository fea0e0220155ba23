// SPDX-License-Identifier: MIT
#include "onnx/rows/rotary.h"

#include <string>
#include <vector>

#include "onnx/rows/checks.h"
#include "onnx/rows/expansion.h"
#include "onnx/rows/gathers.h"
#include "onnx/rows/row.h"

namespace anydml::onnx {
namespace {

constexpr int kElementAxis = 3;

// The two elements of each pair: the halves of the rotated elements, or the even and the odd ones.
struct RotatedPairs {
  Array first, second;
};

RotatedPairs pairs_of(const Array& part, bool is_interleaved) {
  const std::int64_t half = part.size(kElementAxis) / 2;
  return is_interleaved ? RotatedPairs{part.slice(kElementAxis, 0, half, 2), part.slice(kElementAxis, 1, half, 2)}
                        : RotatedPairs{part.slice(kElementAxis, 0, half), part.slice(kElementAxis, half, half)};
}

}  // namespace

RotaryAngles angles_at(const RotaryAngles& caches, const Array& positions) {
  const auto at = [&positions](const Array& cache, const char* what) {
    check_rank(cache, 2, what);
    return taken_slices(cache, positions, 0).insert_axis(2);
  };
  RotaryAngles angles;
  angles.cosines = at(caches.cosines, "cos_cache");
  angles.sines = at(caches.sines, "sin_cache");
  return angles;
}

Array rotated_heads(const Array& x, const RotaryAngles& angles, bool is_interleaved) {
  const std::int64_t size = x.size(kElementAxis);
  const std::int64_t half = angles.cosines.shape().back();
  if (half > size / 2 || angles.sines.shape() != angles.cosines.shape()) {
    fail(
        "cos_cache and sin_cache have {} and {} numbers for each position; expected equal numbers, up to {} for {} "
        "elements of a head",
        half, angles.sines.shape().back(), size / 2, size);
  }
  const Array cosines = cast(angles.cosines, x.kind());
  const Array sines = cast(angles.sines, x.kind());
  const auto [first, second] = pairs_of(x.slice(kElementAxis, 0, 2 * half), is_interleaved);
  const Array first_by_cosine = multiply(first, cosines);
  const Array second_by_sine = multiply(second, sines);
  Array real = subtract(first_by_cosine, second_by_sine);
  const Array first_by_sine = multiply(first, sines);
  const Array second_by_cosine = multiply(second, cosines);
  Array imaginary = add(first_by_sine, second_by_cosine);
  const Array rest = x.slice(kElementAxis, 2 * half, size - 2 * half);
  if (!is_interleaved) {
    return join(rest.count() == 0 ? Arrays{real, imaginary} : Arrays{real, imaginary, rest}, kElementAxis);
  }
  real = real.insert_axis(kElementAxis + 1);
  imaginary = imaginary.insert_axis(kElementAxis + 1);
  Sizes shape = x.shape();
  shape[kElementAxis] = 2 * half;
  const Array rotated = join({real, imaginary}, kElementAxis + 1).reshape(shape);
  return rest.count() == 0 ? rotated : join({rotated, rest}, kElementAxis);
}

// ---- RotaryEmbedding of com.microsoft -------------------------------------------------------------------------------

namespace {

enum RotaryEmbeddingInput : std::size_t { kRotated, kPositions, kCosines, kSines };

struct RotaryEmbeddingOptions {
  std::int64_t heads = 0;  // 0: as many as there are elements for
  std::int64_t dim = 0;    // rotary_embedding_dim; 0: whole heads
  bool is_interleaved = false;
};

// The number of heads of tokens with this many elements.
std::int64_t rotary_heads(const RotaryEmbeddingOptions& options, std::int64_t elements, std::int64_t half) {
  if (options.heads == 0 && options.dim != 0) {
    fail("num_heads is 0 and rotary_embedding_dim is {}; expected the number of heads with it", options.dim);
  }
  const std::int64_t size = half == 0 ? 0 : 2 * half;
  const std::int64_t heads = options.heads != 0 ? options.heads : size == 0 ? 0 : elements / size;
  if (heads < 1 || elements % heads != 0 || (options.heads == 0 && heads * size != elements)) {
    fail(
        "the input has {} elements for each position, num_heads is {} and cos_cache has {} columns; expected a "
        "multiple of the size of a head",
        elements, options.heads, half);
  }
  return heads;
}

// The position of each token, {batch or 1, rows}. A single number is the position of the first token.
Array token_positions(const Array& given, std::int64_t batch, std::int64_t rows) {
  if (given.rank() == 2) {
    if (given.shape() != Sizes{batch, rows}) {
      fail("position_ids has the shape {}; expected [{}, {}] or [1]", listed(given.shape()), batch, rows);
    }
    return given;
  }
  if (given.count() != 1) {
    fail("position_ids has the shape {}; expected [{}, {}] or [1]", listed(given.shape()), batch, rows);
  }
  const Array steps = sequence(std::int64_t{0}, std::int64_t{1}, rows, given.kind());
  return add(given.reshape({1, 1}), steps.reshape({1, rows}));
}

Arrays run_rotary_embedding(const RotaryEmbeddingOptions& options, std::span<const Array> inputs) {
  const Array& x = inputs[kRotated];
  const bool has_heads = x.rank() == 4;
  if (!has_heads) {
    check_rank(x, 3, "input");
  }
  const Array& cache = inputs[kCosines];
  check_min_rank(cache, 2, "cos_cache");
  const std::int64_t half = cache.shape().back();
  const std::int64_t batch = x.size(0);
  const std::int64_t rows = x.size(has_heads ? 2 : 1);
  if (options.dim != 0 && options.dim != 2 * half) {
    fail("rotary_embedding_dim is {}, but cos_cache has {} columns; expected {}", options.dim, half, options.dim / 2);
  }
  const std::int64_t heads = has_heads ? x.size(1) : rotary_heads(options, x.size(2), half);
  const RotaryAngles angles = angles_at({cache, inputs[kSines]}, token_positions(inputs[kPositions], batch, rows));
  const Array by_token = has_heads ? x.transpose({0, 2, 1, 3}) : x.reshape({batch, rows, heads, x.size(2) / heads});
  const Array y = rotated_heads(by_token, angles, options.is_interleaved);
  return one(has_heads ? y.transpose({0, 2, 1, 3}) : y.reshape(x.shape()));
}

Compute make_rotary_embedding(const NodeMessage& node, const std::vector<Kind>& kinds, std::vector<Kind>& results) {
  const Expansion given(node, kinds, 0);
  given.require({{kRotated, "input"}, {kPositions, "position_ids"}, {kCosines, "cos_cache"}, {kSines, "sin_cache"}});
  if (!kRoundedKinds.contains(given.kind(kRotated))) {
    given.refuse("of " + std::string(kind_name(given.kind(kRotated))));
  }
  if (given.integer("is_packed_batching") != 0) {
    given.refuse("with is_packed_batching");
  }
  if (given.number("scale", 1) != 1) {
    given.refuse("with a scale");
  }
  results.push_back(given.kind(kRotated));
  return [options = RotaryEmbeddingOptions{given.integer("num_heads"), given.integer("rotary_embedding_dim"),
                                           given.integer("interleaved") != 0}](std::span<const Array> inputs) {
    return run_rotary_embedding(options, inputs);
  };
}

constexpr DomainRow kContribRotaryRows[] = {
    {.domain = "com.microsoft",
     .op = "RotaryEmbedding",
     .make = make_rotary_embedding,
     .uses = "ADD CAST FILL_VALUE_SEQUENCE GATHER IDENTITY JOIN MULTIPLY SUBTRACT"},
};

}  // namespace

std::span<const DomainRow> contrib_rotary_rows() { return kContribRotaryRows; }

}  // namespace anydml::onnx
