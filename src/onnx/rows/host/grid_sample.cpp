// SPDX-License-Identifier: MIT
// GridSample on the host: for double tensors, and for samples of many terms. samples.cpp has the other ones.
#include <algorithm>
#include <cmath>

#include "onnx/rows/host/host.h"
#include "onnx/rows/samples.h"

namespace anydml::onnx {
namespace {

// One neighbor of a position along one axis.
template <class T>
struct SampleNeighbor {
  T position;
  T share;
};

template <class T>
T clipped_position(T at, std::int64_t size) {
  return smaller(larger(at, T{0}), static_cast<T>(size - 1));
}

// The remainder of a division by a positive number, which is never negative.
template <class T>
T floored_remainder(T value, T divisor) {
  const T remainder = std::fmod(value, divisor);
  return remainder < 0 ? remainder + divisor : remainder;
}

// Moves a coordinate into the image, unless the padding is zeros.
template <class T>
T inside_position(T at, std::int64_t size, const SampleOptions& options) {
  if (options.padding == SamplePadding::kBorder) {
    return clipped_position(at, size);
  }
  if (options.padding == SamplePadding::kReflection) {
    const double low = options.is_aligned ? 0 : -0.5;
    const double span = options.is_aligned ? static_cast<double>(size - 1) : static_cast<double>(size);
    if (span == 0) {
      return 0;
    }
    const T moved = at - static_cast<T>(low) + static_cast<T>(span);
    const T turned = std::abs(floored_remainder(moved, static_cast<T>(2 * span)) - static_cast<T>(span));
    return clipped_position(turned + static_cast<T>(low), size);
  }
  return at;
}

// The position along an axis that a coordinate between -1 and 1 refers to.
template <class T>
T sample_position(T at, std::int64_t size, const SampleOptions& options) {
  at = options.is_aligned ? (at + 1) / 2 * static_cast<T>(size - 1) : ((at + 1) * static_cast<T>(size) - 1) / 2;
  // A cubic sample keeps its position, and its neighbors move into the image.
  return options.mode == SampleMode::kCubic ? at : inside_position(at, size, options);
}

template <class T>
void sample_neighbors(T at, SampleMode mode, std::vector<SampleNeighbor<T>>& neighbors) {
  neighbors.clear();
  if (mode == SampleMode::kNearest) {
    neighbors.push_back({std::nearbyint(at), 1});
    return;
  }
  const T low = std::floor(at);
  const T part = at - low;
  if (mode == SampleMode::kLinear) {
    neighbors.push_back({low, 1 - part});
    neighbors.push_back({low + 1, part});
    return;
  }
  constexpr T kA = T(kSampleCoefficient);
  const auto near = [](T d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
  const auto far = [](T d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
  neighbors.push_back({low - 1, far(part + 1)});
  neighbors.push_back({low, near(part)});
  neighbors.push_back({low + 1, near(1 - part)});
  neighbors.push_back({low + 2, far(2 - part)});
}

// An element that contributes to a sample, and its weight. An element outside the image counts as 0, whatever its
// weight.
template <class T>
struct SampleTerm {
  std::size_t index;
  T weight;
  bool is_zero;
};

template <class T>
class Sampler {
 public:
  Sampler(const SampleOptions& options, Sizes sizes) : options_(options), sizes_(std::move(sizes)) {
    strides_ = packed_strides(sizes_);
    neighbors_.resize(sizes_.size());
  }

  // Whether the elements are multiplied by weights.
  [[nodiscard]] bool has_weights() const { return options_.mode != SampleMode::kNearest; }

  // The terms of the sample at a point, in the order of their indices. The last coordinate belongs to the first axis.
  const std::vector<SampleTerm<T>>& terms_at(const T* point) {
    for (std::size_t axis = 0; axis < sizes_.size(); ++axis) {
      const T at = sample_position(point[sizes_.size() - 1 - axis], sizes_[axis], options_);
      sample_neighbors(at, options_.mode, neighbors_[axis]);
    }
    terms_.clear();
    std::size_t corners = 1;
    for (const auto& along : neighbors_) {
      corners *= along.size();
    }
    for (std::size_t corner = 0; corner < corners; ++corner) {
      terms_.push_back(term_of(corner, corners));
    }
    return terms_;
  }

 private:
  SampleTerm<T> term_of(std::size_t corner, std::size_t corners) const {
    std::int64_t index = 0;
    T weight = 1;
    bool is_outside = false;
    for (std::size_t axis = 0; axis < sizes_.size(); ++axis) {
      corners /= neighbors_[axis].size();
      const SampleNeighbor<T>& neighbor = neighbors_[axis][corner / corners % neighbors_[axis].size()];
      const std::int64_t size = sizes_[axis];
      const T position =
          options_.mode == SampleMode::kCubic ? inside_position(neighbor.position, size, options_) : neighbor.position;
      is_outside = is_outside || !(position >= 0 && position <= static_cast<T>(size - 1));
      index += std::clamp<std::int64_t>(whole_position(position), 0, size - 1) * strides_[axis];
      weight = axis == 0 ? neighbor.share : weight * neighbor.share;
    }
    return {static_cast<std::size_t>(index), weight, options_.padding == SamplePadding::kZeros && is_outside};
  }

  static std::int64_t whole_position(T position) {
    return std::isnan(position) ? -1 : truncated<std::int64_t>(static_cast<double>(position));
  }

  SampleOptions options_;
  Sizes sizes_, strides_;
  std::vector<std::vector<SampleNeighbor<T>>> neighbors_;
  std::vector<SampleTerm<T>> terms_;
};

// Numbers as float or double.
template <class T>
std::vector<T> sample_numbers(const Array& x) {
  const std::vector<double> numbers = x.to_numbers();
  std::vector<T> result;
  result.reserve(numbers.size());
  for (const double number : numbers) {
    result.push_back(static_cast<T>(number));
  }
  return result;
}

// Stored: the type of the elements, which is f16 or T.
template <class T, class Stored>
Array sampled_grid(const Array& x, const Array& grid, const SampleOptions& options) {
  Array result = Array::empty(x.kind(), sample_shape(x, grid));
  if (result.count() == 0) {
    return result;
  }
  const auto to = writable_elements<Stored>(result);
  const std::vector<T> elements = sample_numbers<T>(x);
  const std::vector<T> points = sample_numbers<T>(grid);
  const auto axes = static_cast<std::size_t>(x.rank() - 2);
  const auto images = static_cast<std::size_t>(x.size(0));
  const auto channels = static_cast<std::size_t>(x.size(1));
  const std::size_t length = elements.size() / (images * channels);
  const std::size_t samples = points.size() / (images * axes);
  Sampler<T> sampler(options, Sizes(x.shape().begin() + 2, x.shape().end()));
  for (std::size_t image = 0; image < images; ++image) {
    for (std::size_t sample = 0; sample < samples; ++sample) {
      const std::vector<SampleTerm<T>>& terms = sampler.terms_at(points.data() + (image * samples + sample) * axes);
      for (std::size_t channel = 0; channel < channels; ++channel) {
        const std::size_t row = image * channels + channel;
        const T* from = elements.data() + row * length;
        T total = 0;
        for (std::size_t i = 0; i < terms.size(); ++i) {
          const T element = from[terms[i].index];
          const T value = terms[i].is_zero ? 0 : sampler.has_weights() ? element * terms[i].weight : element;
          total = i == 0 ? value : total + value;
        }
        to[row * samples + sample] = rounded_number<Stored>(static_cast<double>(total));
      }
    }
  }
  return result;
}

}  // namespace

Array host_samples(const Array& x, const Array& grid, const SampleOptions& options) {
  return x.kind() == Kind::kDouble  ? sampled_grid<double, double>(x, grid, options)
         : x.kind() == Kind::kFloat ? sampled_grid<float, float>(x, grid, options)
                                    : sampled_grid<float, f16>(x, grid, options);
}

Compute host_grid_sample(const Node& node) {
  return [options = sample_options(node)](std::span<const Array> inputs) {
    return one(host_samples(inputs[0], inputs[1], options));
  };
}

}  // namespace anydml::onnx
