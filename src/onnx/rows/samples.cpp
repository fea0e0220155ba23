// SPDX-License-Identifier: MIT
// GridSample of float16 and float by operators, so that it is part of a graph and its threads share the work:
// arithmetic of positions and weights, a gather for each neighbor, and a sum. It returns the bits of the loop on the
// host.
#include "onnx/rows/samples.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "onnx/rows/sizes.h"

namespace anydml::onnx {
namespace {

constexpr std::size_t kMaxTerms = 16;  // of a sample; more are added on the host, for which no model is known
// Integers up to here are exact in float.
constexpr std::int64_t kMaxExact = std::int64_t{1} << 24;

Array float_number(double number) { return Array::scalar(Kind::kFloat, number); }

Array moved_by(const Array& x, double number) { return number == 0 ? x : add(x, float_number(number)); }

Array limited(const Array& at, std::int64_t size) {
  return dispatch("ELEMENT_WISE_CLIP", {at},
                  {{"Min", 0.0}, {"Max", static_cast<double>(static_cast<float>(size - 1))}});
}

// Moves positions into the image, unless the padding is zeros.
Array inside_image(const Array& at, std::int64_t size, const SampleOptions& options) {
  if (options.padding == SamplePadding::kBorder) {
    return limited(at, size);
  }
  if (options.padding == SamplePadding::kReflection) {
    const double low = options.is_aligned ? 0 : -0.5;
    const auto span = static_cast<double>(options.is_aligned ? size - 1 : size);
    if (span == 0) {
      return float_number(0).broadcast_to(at.shape());
    }
    const Array moved = moved_by(moved_by(at, -low), span);
    const Array turned = dispatch("ELEMENT_WISE_MODULUS_FLOOR", {moved, float_number(2 * span)});
    const Array distance = dispatch("ELEMENT_WISE_ABS", {subtract(turned, float_number(span))});
    return limited(moved_by(distance, low), size);
  }
  return at;
}

// The positions along an axis that coordinates between -1 and 1 refer to.
Array positions_of(const Array& coordinates, std::int64_t size, const SampleOptions& options) {
  const Array moved = moved_by(coordinates, 1);
  const Array half = float_number(0.5);
  const Array at = options.is_aligned
                       ? multiply(multiply(moved, half), float_number(static_cast<double>(size - 1)))
                       : multiply(moved_by(multiply(moved, float_number(static_cast<double>(size))), -1), half);
  return options.mode == SampleMode::kCubic ? at : inside_image(at, size, options);
}

// One neighbor of every position along an axis.
struct Neighbors {
  Array offset;     // of the element, from the start of the image
  Array share;      // absent: 1
  Array is_inside;  // absent: all of them
};

// A product with a number, for the polynomials of Keys' kernel.
Array scaled(const Array& x, double number) { return multiply(x, float_number(number)); }

// Keys' kernel up to the distance 1, and from there to 2.
Array near_share(const Array& d) {
  constexpr double kA = kSampleCoefficient;
  return moved_by(multiply(multiply(moved_by(scaled(d, kA + 2), -(kA + 3)), d), d), 1);
}

Array far_share(const Array& d) {
  constexpr double kA = kSampleCoefficient;
  return moved_by(multiply(moved_by(multiply(moved_by(scaled(d, kA), -5 * kA), d), 8 * kA), d), -4 * kA);
}

// Offsets are computed in float where they are exact, so that they need no conversions in between.
class Axis {
 public:
  Axis(std::int64_t size, std::int64_t stride, Kind kind, const SampleOptions& options)
      : size_(size), stride_(stride), kind_(kind), options_(options) {}

  [[nodiscard]] std::vector<Neighbors> neighbors(const Array& at) const {
    std::vector<Neighbors> result;
    if (options_.mode == SampleMode::kNearest) {
      const Array nearest = dispatch("ELEMENT_WISE_ROUND", {at}, {{"RoundingMode", "HALVES_TO_NEAREST_EVEN"}});
      result.push_back(neighbor(nearest, Array()));
      return result;
    }
    const Array low = dispatch("ELEMENT_WISE_FLOOR", {at});
    const Array part = subtract(at, low);
    const Array rest = subtract(float_number(1), part);
    if (options_.mode == SampleMode::kLinear) {
      result.push_back(neighbor(low, rest));
      result.push_back(neighbor(moved_by(low, 1), part));
      return result;
    }
    result.push_back(neighbor(moved_by(low, -1), far_share(moved_by(part, 1))));
    result.push_back(neighbor(low, near_share(part)));
    result.push_back(neighbor(moved_by(low, 1), near_share(rest)));
    result.push_back(neighbor(moved_by(low, 2), far_share(subtract(float_number(2), part))));
    return result;
  }

 private:
  [[nodiscard]] Neighbors neighbor(const Array& at, Array share) const {
    const Array position = options_.mode == SampleMode::kCubic ? inside_image(at, size_, options_) : at;
    const Array within = limited(position, size_);
    Neighbors result{cast(within, kind_), std::move(share), Array()};
    if (stride_ != 1) {
      result.offset = multiply(result.offset, Array::scalar(kind_, stride_));
    }
    if (options_.padding == SamplePadding::kZeros) {
      result.is_inside = dispatch("ELEMENT_WISE_LOGICAL_EQUALS", {position, within}, {}, {.kind = Kind::kUint8});
    }
    return result;
  }

  std::int64_t size_, stride_;
  Kind kind_;
  const SampleOptions& options_;
};

// Neighbors of the leading axes, combined with those of the next axis, in the order of their offsets.
std::vector<Neighbors> combined(const std::vector<Neighbors>& all, const std::vector<Neighbors>& along) {
  std::vector<Neighbors> result;
  for (const Neighbors& one : all) {
    for (const Neighbors& other : along) {
      result.push_back({add(one.offset, other.offset), one.share ? multiply(one.share, other.share) : Array(),
                        one.is_inside ? dispatch("ELEMENT_WISE_LOGICAL_AND", {one.is_inside, other.is_inside}, {},
                                                 {.kind = Kind::kUint8})
                                      : Array()});
    }
  }
  return result;
}

// The elements of images {N, C, elements} at these neighbors {N, 1, samples}, with their weights.
Array term_of(const Array& images, const Neighbors& one, Kind index_kind) {
  const Sizes shape{images.size(0), images.size(1), one.offset.size(2)};
  const Array indices = cast(one.offset, index_kind).broadcast_to(shape);
  Array term = cast(dispatch("GATHER_ELEMENTS", {images, indices}, {{"Axis", 2}}, {.shape = shape}), Kind::kFloat);
  term = one.share ? multiply(term, one.share) : term;
  return one.is_inside ? dispatch("ELEMENT_WISE_IF", {one.is_inside, term, float_number(0)}) : term;
}

Array graph_samples(const Array& x, const Array& grid, const SampleOptions& options) {
  const std::span<const std::int64_t> sizes = std::span(x.shape()).subspan(2);
  const std::int64_t elements = product(sizes);
  const std::int64_t samples = grid.count() / (x.size(0) * static_cast<std::int64_t>(sizes.size()));
  const bool is_exact = elements <= kMaxExact;
  const Sizes strides = packed_strides(Sizes(sizes.begin(), sizes.end()));
  std::vector<Neighbors> neighbors;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    // The last coordinate belongs to the first axis.
    const Array coordinates = grid.at(grid.rank() - 1, static_cast<std::int64_t>(sizes.size() - 1 - i));
    const Array at = positions_of(cast(coordinates.reshape({x.size(0), 1, samples}), Kind::kFloat), sizes[i], options);
    const Axis axis(sizes[i], strides[i], is_exact ? Kind::kFloat : Kind::kInt64, options);
    const std::vector<Neighbors> along = axis.neighbors(at);
    neighbors = i == 0 ? along : combined(neighbors, along);
  }
  const Array images = x.reshape({x.size(0), x.size(1), elements});
  Array total;
  for (const Neighbors& one : neighbors) {
    const Array term = term_of(images, one, is_exact ? Kind::kInt32 : Kind::kInt64);
    total = total ? add(total, term) : term;
  }
  return cast(total, x.kind());
}

// The number of neighbors of a sample, up to a number that is more than kMaxTerms.
std::size_t terms_of(std::size_t axes, SampleMode mode) {
  const std::size_t along = mode == SampleMode::kNearest ? 1 : mode == SampleMode::kLinear ? 2 : 4;
  std::size_t terms = 1;
  for (std::size_t i = 0; i < axes && terms <= kMaxTerms; ++i) {
    terms *= along;
  }
  return terms;
}

}  // namespace

SampleOptions sample_options(const Node& node) {
  check_choice(node, "mode", {"linear", "nearest", "cubic", "bilinear", "bicubic"});
  check_choice(node, "padding_mode", {"zeros", "border", "reflection"});
  const std::string mode = node.text("mode", "linear");
  const std::string padding = node.text("padding_mode", "zeros");
  return {mode == "nearest"                      ? SampleMode::kNearest
          : mode == "cubic" || mode == "bicubic" ? SampleMode::kCubic
                                                 : SampleMode::kLinear,
          padding == "border"       ? SamplePadding::kBorder
          : padding == "reflection" ? SamplePadding::kReflection
                                    : SamplePadding::kZeros,
          node.integer("align_corners") != 0};
}

Sizes sample_shape(const Array& x, const Array& grid) {
  const int axes = x.rank() - 2;
  if (axes < 1 || x.rank() > kMaxRank || grid.rank() != x.rank() || grid.shape().back() != axes ||
      grid.size(0) != x.size(0)) {
    fail("X has the shape {} and grid {}; expected equally many images, and {} coordinates", listed(x.shape()),
         listed(grid.shape()), axes);
  }
  Sizes shape{x.size(0), x.size(1)};
  shape.insert(shape.end(), grid.shape().begin() + 1, grid.shape().end() - 1);
  if (product(shape) != 0 && x.count() == 0) {
    fail("X has the shape {}, so there is nothing to sample", listed(x.shape()));
  }
  return shape;
}

Compute make_grid_sample(const Node& node) {
  return [options = sample_options(node)](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Array& grid = inputs[1];
    Sizes shape = sample_shape(x, grid);
    if (has_no_elements(shape)) {
      return one(Array::empty(x.kind(), std::move(shape)));
    }
    if (terms_of(x.shape().size() - 2, options.mode) > kMaxTerms) {
      return one(host_samples(x, grid, options));
    }
    return one(graph_samples(x, grid, options).reshape(std::move(shape)));
  };
}

}  // namespace anydml::onnx
