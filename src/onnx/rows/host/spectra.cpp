// SPDX-License-Identifier: MIT
// Fourier transforms of any length. They are computed in double, and rounded once.
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>

#include "onnx/rows/host/host.h"

namespace anydml::onnx {
namespace {

using Complex = std::complex<double>;
using Spectrum = std::vector<Complex>;

constexpr std::size_t kMaxPlainTransform = 16;  // up to this length, the definition is as fast and more exact

// The product, without the special cases for infinities that std::complex has.
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// exp(i * pi * part / whole), for 0 <= part < 2 * whole. The angle is reduced to an eighth of a turn, where sine and
// cosine are exact to the last bit or so.
Complex half_turns(std::uint64_t part, std::uint64_t whole) {
  if (part >= whole) {
    return -half_turns(part - whole, whole);
  }
  if (2 * part >= whole) {  // a quarter of a turn, and the rest
    const Complex rest = half_turns(2 * part - whole, 2 * whole);
    return {-rest.imag(), rest.real()};
  }
  if (4 * part > whole) {
    const Complex mirrored = half_turns(whole - 2 * part, 2 * whole);
    return {mirrored.imag(), mirrored.real()};
  }
  const double angle = std::numbers::pi * static_cast<double>(part) / static_cast<double>(whole);
  return {std::cos(angle), std::sin(angle)};
}

// A transform of one length. `run` computes sum x[k] * exp(-2 * pi * i * j * k / n) for each j, in place.
class Transform {
 public:
  explicit Transform(std::size_t length);

  void run(Spectrum& values) const;
  // The inverse, including the division by the length.
  void run_inverse(Spectrum& values) const;

 private:
  void run_plain(Spectrum& values) const;
  void run_powers(Spectrum& values) const;
  void run_convolution(Spectrum& values) const;

  std::size_t length_;
  Spectrum roots_;  // exp(-2 * pi * i * k / n), for the plain transform and for powers of 2
  // Bluestein's algorithm for other lengths: a convolution, computed by transforms of a larger power of 2.
  std::vector<Transform> larger_;
  Spectrum chirp_;           // exp(-pi * i * k * k / n)
  Spectrum chirp_spectrum_;  // the transform of its conjugate
};

Transform::Transform(std::size_t length) : length_(length) {
  if (length <= kMaxPlainTransform || std::has_single_bit(length)) {
    for (std::size_t k = 0; k < length; ++k) {
      roots_.push_back(std::conj(half_turns(2 * k, length)));
    }
    return;
  }
  const std::size_t size = std::bit_ceil(2 * length - 1);
  larger_.emplace_back(size);
  chirp_spectrum_.resize(size);
  std::uint64_t square = 0;  // k * k modulo 2 * n
  for (std::size_t k = 0; k < length; ++k) {
    chirp_.push_back(std::conj(half_turns(square, length)));
    chirp_spectrum_[k] = std::conj(chirp_[k]);
    if (k != 0) {
      chirp_spectrum_[size - k] = chirp_spectrum_[k];
    }
    square = (square + 2 * k + 1) % (2 * length);
  }
  larger_[0].run(chirp_spectrum_);
}

void Transform::run(Spectrum& values) const {
  if (!larger_.empty()) {
    run_convolution(values);
  } else if (std::has_single_bit(length_)) {
    run_powers(values);
  } else {
    run_plain(values);
  }
}

void Transform::run_inverse(Spectrum& values) const {
  for (Complex& one : values) {
    one = std::conj(one);
  }
  run(values);
  const auto count = static_cast<double>(length_);
  for (Complex& one : values) {
    one = {one.real() / count, -one.imag() / count};
  }
}

void Transform::run_plain(Spectrum& values) const {
  Spectrum result(length_);
  for (std::size_t j = 0; j < length_; ++j) {
    for (std::size_t k = 0; k < length_; ++k) {
      result[j] += times(values[k], roots_[j * k % length_]);
    }
  }
  values = std::move(result);
}

void Transform::run_powers(Spectrum& values) const {
  for (std::size_t i = 0, j = 0; i < length_; ++i) {
    if (i < j) {
      std::swap(values[i], values[j]);
    }
    std::size_t bit = length_ / 2;
    while (bit != 0 && (j & bit) != 0) {
      j ^= bit;
      bit /= 2;
    }
    j |= bit;
  }
  for (std::size_t half = 1; half < length_; half *= 2) {
    const std::size_t step = length_ / (2 * half);
    for (std::size_t start = 0; start < length_; start += 2 * half) {
      for (std::size_t k = 0; k < half; ++k) {
        const Complex odd = times(values[start + half + k], roots_[k * step]);
        values[start + half + k] = values[start + k] - odd;
        values[start + k] += odd;
      }
    }
  }
}

void Transform::run_convolution(Spectrum& values) const {
  Spectrum padded(chirp_spectrum_.size());
  for (std::size_t k = 0; k < length_; ++k) {
    padded[k] = times(values[k], chirp_[k]);
  }
  larger_[0].run(padded);
  for (std::size_t k = 0; k < padded.size(); ++k) {
    padded[k] = times(padded[k], chirp_spectrum_[k]);
  }
  larger_[0].run_inverse(padded);
  for (std::size_t k = 0; k < length_; ++k) {
    values[k] = times(padded[k], chirp_[k]);
  }
}

// ---- Tensors --------------------------------------------------------------------------------------------------------

// Complex numbers. The last axis contains real numbers, or real and imaginary parts.
Spectrum complex_numbers(const Array& x) {
  const std::int64_t parts = x.shape().back();
  if (parts != 1 && parts != 2) {
    fail("the tensor has the shape {}; expected 1 or 2 numbers along the last axis", listed(x.shape()));
  }
  const std::vector<double> numbers = x.to_numbers();
  Spectrum values;
  values.reserve(numbers.size() / static_cast<std::size_t>(parts));
  for (std::size_t i = 0; i < numbers.size(); i += static_cast<std::size_t>(parts)) {
    values.emplace_back(numbers[i], parts == 2 ? numbers[i + 1] : 0.0);
  }
  return values;
}

// Writes numbers into an array, rounded to its type.
class FloatWriter {
 public:
  explicit FloatWriter(Array& array) : kind_(array.kind()), memory_(array.writable()) {}

  void write(std::int64_t position, double value) const {
    if (kind_ == Kind::kDouble) {
      static_cast<double*>(memory_)[position] = value;
    } else if (kind_ == Kind::kFloat) {
      static_cast<float*>(memory_)[position] = static_cast<float>(value);
    } else {
      static_cast<f16*>(memory_)[position] = round_to<f16>(value);
    }
  }

 private:
  Kind kind_;
  void* memory_;
};

struct DftOptions {
  bool is_inverse = false;
  bool is_one_sided = false;
  // The second half of the elements follows from the first.
  [[nodiscard]] bool is_half() const { return is_inverse && is_one_sided; }
};

// Restores the spectrum of real numbers from its first half. The imaginary parts of numbers that must be real do not
// count.
void restore_half(Spectrum& line) {
  const std::size_t count = line.size();
  line[0] = line[0].real();
  for (std::size_t k = 1; k < count - k; ++k) {
    line[count - k] = std::conj(line[k]);
  }
  if (count % 2 == 0) {
    line[count / 2] = line[count / 2].real();
  }
}

Array dft_of(const Array& x, int axis, std::int64_t count, const DftOptions& options) {
  Sizes shape = x.shape();
  const std::int64_t size = x.size(axis);
  const std::int64_t kept = options.is_one_sided && !options.is_inverse ? count / 2 + 1 : count;
  shape[static_cast<std::size_t>(axis)] = kept;
  shape.back() = options.is_half() ? 1 : 2;
  Array result = Array::empty(x.kind(), shape);
  const Spectrum values = complex_numbers(x);
  if (result.count() == 0) {
    return result;
  }
  std::int64_t inner = 1;
  for (int i = axis + 1; i < x.rank() - 1; ++i) {
    inner *= x.size(i);
  }
  const std::int64_t outer = result.count() / (kept * inner * shape.back());
  const std::int64_t used = std::min(size, options.is_half() ? count / 2 + 1 : count);
  const Transform transform(static_cast<std::size_t>(count));
  const FloatWriter writer(result);
  Spectrum line;
  for (std::int64_t i = 0; i < outer * inner; ++i) {
    const std::int64_t from = i / inner * size * inner + i % inner;
    const std::int64_t to = i / inner * kept * inner + i % inner;
    line.assign(static_cast<std::size_t>(count), Complex());
    for (std::int64_t k = 0; k < used; ++k) {
      line[static_cast<std::size_t>(k)] = values[static_cast<std::size_t>(from + k * inner)];
    }
    if (options.is_half()) {
      restore_half(line);
    }
    if (options.is_inverse) {
      transform.run_inverse(line);
    } else {
      transform.run(line);
    }
    for (std::int64_t k = 0; k < kept; ++k) {
      const Complex value = line[static_cast<std::size_t>(k)];
      const std::int64_t at = (to + k * inner) * shape.back();
      writer.write(at, value.real());
      if (!options.is_half()) {
        writer.write(at + 1, value.imag());
      }
    }
  }
  return result;
}

Array stft_of(const Array& signal, std::int64_t step, const Array& window, std::int64_t count, bool is_one_sided) {
  const std::int64_t length = signal.size(1);
  if (step < 1 || count < 1 || count > length) {
    fail("the frames have {} elements and the step is {}; expected 1 or more, and frames of at most {} elements", count,
         step, length);
  }
  if (window && (window.rank() != 1 || (window.count() != count && window.count() != 1))) {
    fail("the window has the shape {}, but the frames have {} elements", listed(window.shape()), count);
  }
  const Spectrum values = complex_numbers(signal.rank() == 3 ? signal : signal.insert_axis(2));
  const std::vector<double> weights = window ? window.to_numbers() : std::vector<double>{1.0};
  const std::int64_t frames = (length - count) / step + 1;
  const std::int64_t kept = is_one_sided ? count / 2 + 1 : count;
  Array result = Array::empty(signal.kind(), {signal.size(0), frames, kept, 2});
  if (result.count() == 0) {
    return result;
  }
  const Transform transform(static_cast<std::size_t>(count));
  const FloatWriter writer(result);
  Spectrum line(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < signal.size(0) * frames; ++i) {
    const std::int64_t start = i / frames * length + i % frames * step;
    for (std::size_t k = 0; k < line.size(); ++k) {
      line[k] = values[static_cast<std::size_t>(start) + k] * weights[weights.size() == 1 ? 0 : k];
    }
    transform.run(line);
    for (std::int64_t k = 0; k < kept; ++k) {
      const Complex value = line[static_cast<std::size_t>(k)];
      writer.write((i * kept + k) * 2, value.real());
      writer.write((i * kept + k) * 2 + 1, value.imag());
    }
  }
  return result;
}

}  // namespace

Compute host_dft(const Node& node) {
  const DftOptions options{node.integer("inverse") != 0, node.integer("onesided") != 0};
  // Since opset 20, the axis is an input.
  return [options, otherwise = node.integer("axis", -2)](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Array length = input(inputs, 1);
    const Array given = input(inputs, 2);
    const int axis = axis_of(given ? given.integer() : otherwise, x.rank());
    if (axis == x.rank() - 1) {
      fail("axis is the last one, which contains the parts of a number");
    }
    const std::int64_t own = options.is_half() ? 2 * (x.size(axis) - 1) : x.size(axis);
    const std::int64_t count = length ? length.integer() : own;
    if (count < 1) {
      fail("the transform has {} elements; expected 1 or more", count);
    }
    return one(dft_of(x, axis, count, options));
  };
}

Compute host_stft(const Node& node) {
  return [is_one_sided = node.integer("onesided", 1) != 0](std::span<const Array> inputs) {
    const Array& signal = inputs[0];
    const Array window = input(inputs, 2);
    const Array length = input(inputs, 3);
    if (signal.rank() != 2 && signal.rank() != 3) {
      fail("the signal has the shape {}; expected a batch, samples, and 1 or 2 numbers", listed(signal.shape()));
    }
    if (!window && !length) {
      fail("neither window nor frame_length is given");
    }
    const std::int64_t count = length ? length.integer() : window.rank() == 0 ? 1 : window.size(0);
    return one(stft_of(signal, inputs[1].integer(), window, count, is_one_sided));
  };
}

}  // namespace anydml::onnx
