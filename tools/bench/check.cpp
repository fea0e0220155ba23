// SPDX-License-Identifier: MIT
#include "check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "elements.h"

namespace anydml::bench {
namespace {

// The remainder is exact in every format. The floor correction is rounded once, in that format.
template <class T>
T expected(T a, T b, bool floor) {
  if constexpr (std::is_same_v<T, Half>) {
    // The sum of two FLOAT16 values is exact as a double.
    const double divisor = to_double(b);
    double m = std::fmod(to_double(a), divisor);
    if (floor) {
      m = m == 0 ? std::copysign(0.0, divisor) : std::signbit(m) != std::signbit(divisor) ? m + divisor : m;
    }
    return to_half(m);
  } else if constexpr (is_float<T>) {
    const T m = std::fmod(a, b);
    if (!floor) {
      return m;
    }
    return m == 0 ? std::copysign(T{0}, b) : std::signbit(m) != std::signbit(b) ? m + b : m;
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    const Wide divisor = b;
    if (divisor == 0 || (std::is_signed_v<T> && divisor == static_cast<Wide>(-1))) {  // MIN % -1 would trap
      return 0;
    }
    Wide m = static_cast<Wide>(a) % divisor;
    if (floor && m != 0 && (m < 0) != (divisor < 0)) {
      m += divisor;
    }
    return static_cast<T>(m);
  }
}

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return (value.bits & 0x7fff) > 0x7c00;
  } else if constexpr (is_float<T>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

template <class T>
std::string show(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return fmt::format("{} (0x{:04x})", to_double(value), value.bits);
  } else {
    return fmt::format("{}", value);
  }
}

template <class T>
T read(const void* from, std::int64_t element) {
  T value;
  std::memcpy(&value, static_cast<const T*>(from) + element, sizeof(T));
  return value;
}

// Returns the indices of the elements to check. An odd step reaches every lane of a vector and every position in a
// chunk.
std::vector<std::int64_t> sample_of(std::int64_t elements, std::int64_t samples) {
  constexpr std::int64_t kEnd = 64;
  const std::int64_t step = std::max<std::int64_t>(1, elements / std::max<std::int64_t>(1, samples)) | 1;
  std::vector<std::int64_t> chosen;
  for (std::int64_t element = 0; element < elements; element += step) {
    chosen.push_back(element);
  }
  for (std::int64_t element = std::max<std::int64_t>(0, elements - kEnd); step > 1 && element < elements; ++element) {
    chosen.push_back(element);
  }
  return chosen;
}

// Returns a few outputs of a reduction: the first, the last and some in between.
std::vector<std::int64_t> outputs_of(std::int64_t count) {
  constexpr std::int64_t kMax = 16;
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < std::min(kMax, count); ++i) {
    chosen.push_back(count <= kMax ? i : i * (count - 1) / (kMax - 1));
  }
  return chosen;
}

using Bytes = std::vector<std::byte>;

void append(Bytes& to, const void* from, std::int64_t element, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(from) + element * static_cast<std::int64_t>(size);
  to.insert(to.end(), first, first + size);
}

// The packed inputs for the reference, and the offsets of its results in the operator's own output.
struct Question {
  Placement placement;
  std::vector<Bytes> inputs;
  std::vector<std::int64_t> offsets;
};

Question question_of(const Case& of, const Placement& placement, std::span<const void* const> inputs,
                     std::int64_t samples) {
  const Row& row = *of.row;
  const Layout layout = of.layout;
  Question question;
  question.inputs.resize(inputs.size());
  std::vector<std::int64_t> elements;  // indices into the inputs
  if (row.family == RowKind::reduce) {
    const std::int64_t columns = placement.sizes[1];
    Extents sizes = placement.sizes;
    question.offsets = outputs_of(placement.output_elements);
    if (layout != Layout::whole) {
      sizes[layout == Layout::inner ? 0 : 1] = static_cast<std::int64_t>(question.offsets.size());
    }
    for (std::int64_t i = 0; layout != Layout::whole && i < sizes[0]; ++i) {
      for (std::int64_t j = 0; j < sizes[1]; ++j) {
        const std::int64_t line = layout == Layout::inner ? question.offsets[static_cast<std::size_t>(i)] : i;
        const std::int64_t column = layout == Layout::outer ? question.offsets[static_cast<std::size_t>(j)] : j;
        elements.push_back(line * columns + column);
      }
    }
    question.placement = place_packed(row, placement.rank, sizes, placement.is_reduced);
  } else if (row.family == RowKind::fill) {
    // An element's value depends on its index, so the reference computes all of them.
    question.placement = place_packed(row, placement.rank, placement.sizes, {});
    for (std::int64_t element = 0; element < placement.elements; ++element) {
      question.offsets.push_back(placement.offset(placement.output.strides, element));
    }
  } else {
    elements = sample_of(placement.elements, samples);
    question.placement = place_packed(row, 1, {static_cast<std::int64_t>(elements.size())}, {});
    for (const std::int64_t element : elements) {
      question.offsets.push_back(placement.offset(placement.output.strides, element));
    }
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t size = anydml_type_size(row.input_type(i, of.type));
    if (row.inputs[i].single) {
      append(question.inputs[i], inputs[i], 0, size);
      continue;
    }
    if (layout == Layout::whole) {
      const auto* first = static_cast<const std::byte*>(inputs[i]);
      question.inputs[i].assign(first, first + static_cast<std::size_t>(placement.elements) * size);
      continue;
    }
    question.inputs[i].reserve(elements.size() * size);
    for (const std::int64_t element : elements) {
      append(question.inputs[i], inputs[i], placement.offset(placement.inputs[i].strides, element), size);
    }
  }
  return question;
}

}  // namespace

Check check_modulus(const Case& of, const Placement& placement, const void* a, const void* b, const void* out,
                    std::int64_t samples) {
  Check result;
  with_type(of.type, [&]<class T>() {
    for (const std::int64_t element : sample_of(placement.elements, samples)) {
      const T x = read<T>(a, placement.offset(placement.inputs[0].strides, element));
      const T y = read<T>(b, placement.offset(placement.inputs[1].strides, element));
      const T actual = read<T>(out, placement.offset(placement.output.strides, element));
      const T right = expected(x, y, of.row->name == "modulus_floor");
      ++result.checked;
      if ((is_nan(actual) && is_nan(right)) || std::memcmp(&actual, &right, sizeof(T)) == 0) {
        continue;
      }
      if (result.wrong++ == 0) {
        result.first_wrong = fmt::format("element {}: {} of {} and {} is {}, expected {}", element, of.row->name,
                                         show(x), show(y), show(actual), show(right));
      }
    }
  });
  return result;
}

namespace {

// `offsets` has the positions in `out` that correspond to the reference's results.
Check compare(const Row& row, anydml_type type, const Placement& placement, std::span<const Bytes> inputs,
              const void* out, const std::vector<std::int64_t>& offsets, Reference& reference) {
  Check result;
  Bytes answer;
  if (!reference.run(row, type, placement, inputs, answer)) {
    result.wrong = 1;
    result.first_wrong = "the reference gave no answer";
    return result;
  }
  with_type(row.output_type(type), [&]<class T>() {
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const T actual = read<T>(out, offsets[i]);
      const T right = read<T>(answer.data(), static_cast<std::int64_t>(i));
      ++result.checked;
      if ((is_nan(actual) && is_nan(right)) || std::memcmp(&actual, &right, sizeof(T)) == 0) {
        continue;
      }
      if (result.wrong++ == 0) {
        result.first_wrong =
            fmt::format("{} of the output is {}, but the plain kernels give {}", offsets[i], show(actual), show(right));
      }
    }
  });
  return result;
}

}  // namespace

Check check(const Case& of, const Placement& placement, std::span<const void* const> inputs, const void* out,
            std::int64_t samples, Reference& reference) {
  if (of.row->is_modulus()) {
    return check_modulus(of, placement, inputs[0], inputs[1], out, samples);
  }
  const Question question = question_of(of, placement, inputs, samples);
  return compare(*of.row, of.type, question.placement, question.inputs, out, question.offsets, reference);
}

Check check_packed(const Row& row, anydml_type type, const Placement& placement, std::span<const Bytes> inputs,
                   std::span<const std::byte> out, Reference& reference) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(placement.output_elements));
  std::iota(offsets.begin(), offsets.end(), 0);
  return compare(row, type, placement, inputs, out.data(), offsets, reference);
}

}  // namespace anydml::bench
