// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "onnx/rows/resize.h"
#include "onnx/values/dispatch.h"

namespace anydml::onnx {
namespace {

constexpr std::size_t kSequentialSum = 8;  // NumPy adds fewer numbers one after another
constexpr std::size_t kUnrolledSum = 128;  // and up to this many in eight sums

// Adds in the order of numpy.sum, which determines the last bits. Longer lists are divided in two; the depth is
// logarithmic.
double pairwise_sum(std::span<const double> numbers) {
  if (numbers.size() < kSequentialSum) {
    double sum = 0;
    for (const double one : numbers) {
      sum += one;
    }
    return sum;
  }
  if (numbers.size() <= kUnrolledSum) {
    double sums[8];
    std::copy_n(numbers.begin(), 8, sums);
    const std::size_t whole = numbers.size() - numbers.size() % 8;
    for (std::size_t i = 8; i < whole; ++i) {
      sums[i % 8] += numbers[i];
    }
    double sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    for (std::size_t i = whole; i < numbers.size(); ++i) {
      sum += numbers[i];
    }
    return sum;
  }
  const std::size_t half = numbers.size() / 2 - numbers.size() / 2 % 8;
  return pairwise_sum(numbers.first(half)) + pairwise_sum(numbers.subspan(half));
}

// Maps the elements of the result to coordinates along an axis of the tensor, as ONNX defines them.
class CubicPositions {
 public:
  CubicPositions(const std::string& transformation, std::int64_t size, const ResizedAxis& to)
      : size_(static_cast<double>(size)), scale_(to.scale), length_(to.scale * size_), start_(to.start) {
    if (transformation == "align_corners") {
      form_ = Form::kAlignCorners;
    } else if (transformation == "asymmetric") {
      form_ = Form::kAsymmetric;
    } else if (transformation == "tf_crop_and_resize") {
      form_ = Form::kCrop;
      span_ = (to.end - to.start) * (size_ - 1);
    } else if (transformation == "pytorch_half_pixel" && length_ == 1) {
      form_ = Form::kSingle;
    } else if (transformation == "half_pixel_symmetric") {
      moved_ = size_ / 2 * (1 - static_cast<double>(to.size) / length_);
    }
  }

  [[nodiscard]] double operator()(std::int64_t index) const {
    const auto at = static_cast<double>(index);
    switch (form_) {
      case Form::kAlignCorners:
        return length_ == 1 ? 0 : at * (size_ - 1) / (length_ - 1);
      case Form::kAsymmetric:
        return at / scale_;
      case Form::kCrop:
        return start_ * (size_ - 1) + (length_ == 1 ? span_ / 2 : at * span_ / (length_ - 1));
      case Form::kSingle:
        return -0.5;
      default:
        return moved_ + (at + 0.5) / scale_ - 0.5;
    }
  }
  [[nodiscard]] bool is_outside(double position) const {
    return form_ == Form::kCrop && (position < 0 || position > size_ - 1);
  }

 private:
  enum class Form { kHalfPixel, kAlignCorners, kAsymmetric, kCrop, kSingle };
  Form form_ = Form::kHalfPixel;
  double size_, scale_, length_, start_;
  double span_ = 0;
  double moved_ = 0;
};

// Keys' cubic convolution kernel.
double cubic_kernel(double x, double a) {
  x = std::abs(x);
  if (x <= 1) {
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  }
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// The next lower integer. Numbers that have none become the smallest integer, as in NumPy; their weights are 0.
std::int64_t lower_integer(double position) {
  const double low = std::floor(position);
  return low >= -0x1p63 && low < 0x1p63 ? static_cast<std::int64_t>(low) : std::numeric_limits<std::int64_t>::min();
}

// The weights of the elements along an axis for each element of the result, and the numbers to add where a coordinate
// is outside the tensor.
struct CubicMatrix {
  Array factors, added;
  bool adds = false;
};

CubicMatrix cubic_matrix(const CubicOptions& options, std::int64_t size, const ResizedAxis& to) {
  const CubicPositions position_of(options.transformation, size, to);
  const double narrow = options.is_antialiased ? std::min(to.scale, 1.0) : 1.0;  // downsampling stretches the kernel
  const std::int64_t first = lower_integer(-2 / narrow) + 1;
  if (first < -4 * size - 4) {  // a result with elements has a scale of at least half an element
    fail("scales has {}, but the axis has only {} elements", number_text(to.scale), size);
  }
  const auto width = static_cast<std::size_t>(2 - 2 * first);
  CubicMatrix result{Array::zeros(Kind::kDouble, {to.size, size}), Array::zeros(Kind::kDouble, {to.size})};
  auto* row = static_cast<double*>(result.factors.writable());
  auto* const added = static_cast<double*>(result.added.writable());
  std::vector<double> shares(width);
  for (std::int64_t at = 0; at < to.size; ++at, row += size) {
    const double position = position_of(at);
    if (position_of.is_outside(position)) {
      added[at] = options.extrapolation_value;
      result.adds = result.adds || added[at] != 0;
      continue;
    }
    const std::int64_t low = lower_integer(position);
    const double part = position - static_cast<double>(low);
    // Unsigned, because the sum may exceed the range if the coordinate does.
    const auto index_of = [low, first](std::size_t i) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + static_cast<std::uint64_t>(first) + i);
    };
    for (std::size_t i = 0; i < width; ++i) {
      const std::int64_t offset = first + static_cast<std::int64_t>(i);
      const bool is_excluded = options.excludes_outside && (index_of(i) < 0 || index_of(i) >= size);
      shares[i] = is_excluded ? 0 : cubic_kernel(narrow * (static_cast<double>(offset) - part), options.coefficient);
    }
    const double sum = options.excludes_outside || options.is_antialiased ? pairwise_sum(shares) : 1;
    for (std::size_t i = 0; i < width; ++i) {
      row[std::clamp<std::int64_t>(index_of(i), 0, size - 1)] += shares[i] / sum;
    }
  }
  return result;
}

// Multiplies the tensor with a matrix along an axis.
Array multiplied_along(const Array& x, int axis, const Array& factors, std::int64_t out_size) {
  const std::span<const std::int64_t> sizes = x.shape();
  const auto position = static_cast<std::size_t>(axis);
  const std::int64_t size = x.size(axis);
  const std::int64_t rows = product(sizes.first(position));
  const std::int64_t columns = product(sizes.subspan(position + 1));
  Sizes shape = x.shape();
  shape[position] = out_size;
  if (columns == 1) {  // along the last axis, the tensor is the left factor
    return gemm(x.reshape({rows, size}), factors.transpose(), {rows, out_size}).reshape(std::move(shape));
  }
  const Array left = factors.broadcast_to({rows, out_size, size});
  return gemm(left, x.reshape({rows, size, columns}), {rows, out_size, columns}).reshape(std::move(shape));
}

}  // namespace

Array resize_cubic(Array x, const CubicOptions& options, const std::vector<ResizedAxis>& axes) {
  for (const ResizedAxis& to : axes) {
    const std::int64_t size = x.size(to.axis);
    if (to.size == size && to.scale == 1 && options.transformation != "tf_crop_and_resize") {
      continue;  // nothing changes along this axis
    }
    const CubicMatrix matrix = cubic_matrix(options, size, to);
    x = multiplied_along(x, to.axis, cast(matrix.factors, x.kind()), to.size);
    if (matrix.adds) {
      Sizes shape(x.shape().size(), 1);
      shape[static_cast<std::size_t>(to.axis)] = to.size;
      x = add(x, cast(matrix.added, x.kind()).reshape(std::move(shape)));
    }
  }
  return identity(x);
}

}  // namespace anydml::onnx
