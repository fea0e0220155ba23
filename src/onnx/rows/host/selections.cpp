// SPDX-License-Identifier: MIT
// Unique and MelWeightMatrix.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "onnx/rows/host/host.h"

namespace anydml::onnx {
namespace {

// ---- Unique ---------------------------------------------------------------------------------------------------------

template <class T>
bool is_unordered(T value) {
  if constexpr (std::is_same_v<T, f16>) {
    return is_nan(value);
  } else {
    return value != value;
  }
}

// -1, 0 or 1, with NaN after all numbers.
template <class T>
int compared(T a, T b) {
  if constexpr (std::is_same_v<T, f16>) {
    return compared(widen(a), widen(b));
  } else {
    return a < b ? -1 : b < a ? 1 : a == b ? 0 : is_unordered(b) ? (is_unordered(a) ? 0 : -1) : 1;
  }
}

// The different slices of a matrix {slices, elements}.
struct UniqueSlices {
  std::vector<std::int64_t> first;    // the first slice of each kind
  std::vector<std::int64_t> inverse;  // the kind of each slice
  std::vector<std::int64_t> counts;
};

template <class T>
UniqueSlices unique_slices(const T* elements, std::size_t slices, std::size_t length, bool is_whole) {
  const auto compare = [&](std::int64_t a, std::int64_t b) {
    const T* x = elements + static_cast<std::size_t>(a) * length;
    const T* y = elements + static_cast<std::size_t>(b) * length;
    for (std::size_t i = 0; i < length; ++i) {
      if (const int found = compared(x[i], y[i]); found != 0) {
        return found;
      }
    }
    return 0;
  };
  // NumPy counts NaNs as equal only if it compares elements, not slices.
  const auto is_equal = [&](std::int64_t a, std::int64_t b) {
    const T* x = elements + static_cast<std::size_t>(a) * length;
    return compare(a, b) == 0 && (!is_whole || std::none_of(x, x + length, [](T one) { return is_unordered(one); }));
  };
  std::vector<std::int64_t> order(slices);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return compare(a, b) < 0; });
  UniqueSlices result;
  result.inverse.resize(slices);
  for (std::size_t i = 0; i < slices; ++i) {
    if (i == 0 || !is_equal(order[i], order[i - 1])) {
      result.first.push_back(order[i]);
      result.counts.push_back(0);
    }
    ++result.counts.back();
    result.inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(result.first.size()) - 1;
  }
  return result;
}

// Sorts by the first occurrence instead of by value.
void sort_by_occurrence(UniqueSlices& slices) {
  std::vector<std::size_t> order(slices.first.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return slices.first[a] < slices.first[b]; });
  std::vector<std::int64_t> positions(order.size());
  UniqueSlices sorted;
  for (std::size_t i = 0; i < order.size(); ++i) {
    positions[order[i]] = static_cast<std::int64_t>(i);
    sorted.first.push_back(slices.first[order[i]]);
    sorted.counts.push_back(slices.counts[order[i]]);
  }
  for (const std::int64_t one : slices.inverse) {
    sorted.inverse.push_back(positions[static_cast<std::size_t>(one)]);
  }
  slices = std::move(sorted);
}

// The slices with these positions along the first axis.
Array taken_slices(const Array& x, const std::vector<std::int64_t>& positions) {
  Sizes shape = x.shape();
  shape[0] = static_cast<std::int64_t>(positions.size());
  Array result = Array::empty(x.kind(), shape);
  if (result.count() == 0) {
    return result;
  }
  const std::size_t bytes = x.bytes() / static_cast<std::size_t>(x.size(0));
  auto* to = static_cast<std::byte*>(result.writable());
  const auto* from = static_cast<const std::byte*>(x.data());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    std::memcpy(to + i * bytes, from + static_cast<std::size_t>(positions[i]) * bytes, bytes);
  }
  return result;
}

// The axes in an order that begins with one of them, and the order that undoes this.
std::vector<int> axis_to_front(int axis, int rank) {
  std::vector<int> order{axis};
  for (int i = 0; i < rank; ++i) {
    if (i != axis) {
      order.push_back(i);
    }
  }
  return order;
}

std::vector<int> axis_from_front(int axis, int rank) {
  std::vector<int> order;
  for (int i = 0; i < rank; ++i) {
    order.push_back(i == axis ? 0 : i < axis ? i + 1 : i);
  }
  return order;
}

Arrays unique_of(const Array& given, bool has_axis, std::int64_t given_axis, bool is_sorted) {
  const int axis = has_axis ? axis_of(given_axis, given.rank()) : 0;
  const Array x = (has_axis ? given.transpose(axis_to_front(axis, given.rank())) : given.flatten()).packed();
  const auto slices = static_cast<std::size_t>(x.size(0));
  if (slices != 0 && x.count() == 0) {  // all slices are equal; their number may exceed the memory
    Sizes shape = given.shape();
    shape[static_cast<std::size_t>(axis)] = 1;
    return {Array::empty(x.kind(), shape), Array::integers({0}), Array::zeros(Kind::kInt64, {x.size(0)}),
            Array::integers({x.size(0)})};
  }
  std::int64_t length = 1;
  for (int i = 1; i < x.rank(); ++i) {
    length *= x.size(i);
  }
  UniqueSlices found = with_element_type(x.kind(), [&](auto type) {
    return unique_slices(x.elements<decltype(type)>().data(), slices, static_cast<std::size_t>(length), has_axis);
  });
  if (!is_sorted) {
    sort_by_occurrence(found);
  }
  Array values = taken_slices(x, found.first);
  if (has_axis) {
    values = values.transpose(axis_from_front(axis, given.rank())).packed();
  }
  return {values, Array::integers(found.first), Array::integers(found.inverse), Array::integers(found.counts)};
}

// ---- MelWeightMatrix ------------------------------------------------------------------------------------------------

double mel_of(double frequency) {
  const double argument = 1 + frequency / 700;
  if (!(argument > 0)) {
    fail("a frequency is {}, which has no logarithm on the mel scale", number_text(frequency));
  }
  return 2595 * std::log10(argument);
}

// Triangles with corners at equal distances on the mel scale, one in each column.
Array mel_weights_of(std::int64_t bands, std::int64_t length, std::int64_t rate, double low, double high) {
  if (bands < 0 || length < 0 || length == std::numeric_limits<std::int64_t>::max()) {
    fail("there are {} mel bands and the transform has {} elements; expected 0 or more", bands, length);
  }
  const std::int64_t rows = length / 2 + 1;
  Array result = Array::zeros(Kind::kFloat, {rows, bands});
  const auto weights = writable_elements<float>(result);
  const double start = mel_of(low);
  const double step = (mel_of(high) - start) / static_cast<double>(bands + 2);
  const auto corner = [&](std::int64_t i) {
    const double mel = start + static_cast<double>(i) * step;
    return truncated<std::int64_t>(std::floor(static_cast<double>(length + 1) *
                                              (700 * (std::pow(10.0, mel / 2595) - 1)) / static_cast<double>(rate)));
  };
  for (std::int64_t band = 0; band < bands; ++band) {
    const std::int64_t first = corner(band);
    const std::int64_t middle = corner(band + 1);
    const std::int64_t last = corner(band + 2);
    if (std::min({first, middle, last}) < 0 || middle >= rows || (last > middle && last > rows)) {
      fail("a mel band has its corners at {}, {} and {}, but the spectrum has {} elements", first, middle, last, rows);
    }
    const auto set = [&](std::int64_t row, double weight) {
      weights[static_cast<std::size_t>(row * bands + band)] = static_cast<float>(weight);
    };
    if (middle == first) {
      set(middle, 1);
    }
    for (std::int64_t row = first; middle != first && row <= middle; ++row) {
      set(row, static_cast<double>(row - first) / static_cast<double>(middle - first));
    }
    for (std::int64_t row = middle; row < last; ++row) {
      set(row, static_cast<double>(last - row) / static_cast<double>(last - middle));
    }
  }
  return result;
}

}  // namespace

Compute host_unique(const Node& node) {
  return [has_axis = node.has("axis"), axis = node.integer("axis"), is_sorted = node.integer("sorted", 1) != 0,
          count = node.results.size()](std::span<const Array> inputs) {
    Arrays results = unique_of(inputs[0], has_axis, axis, is_sorted);
    results.resize(std::min(count, results.size()));
    return results;
  };
}

Compute host_mel_weights(const Node& /*node*/) {
  return [](std::span<const Array> inputs) {
    return one(mel_weights_of(inputs[0].integer(), inputs[1].integer(), inputs[2].integer(), inputs[3].number(),
                              inputs[4].number()));
  };
}

}  // namespace anydml::onnx
