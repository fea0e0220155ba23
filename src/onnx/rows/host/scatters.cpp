// SPDX-License-Identifier: MIT
// Scatters with a reduction. The updates are applied one after another, in the order of the indices. An index out of
// range is skipped.
#include <algorithm>

#include "onnx/rows/host/host.h"

namespace anydml::onnx {
namespace {

enum class ScatterReduction { kAdd, kMultiply, kMax, kMin };

ScatterReduction scatter_reduction(const Node& node) {
  check_choice(node, "reduction", {"add", "mul", "max", "min"});
  const std::string text = node.text("reduction");
  return text == "add"   ? ScatterReduction::kAdd
         : text == "mul" ? ScatterReduction::kMultiply
         : text == "max" ? ScatterReduction::kMax
                         : ScatterReduction::kMin;
}

// Integers wrap, and float16 is computed in float and rounded after each step.
template <ScatterReduction kReduction, class T>
T scatter_combined(T a, T b) {
  if constexpr (std::is_same_v<T, f16>) {
    return round_to<f16>(scatter_combined<kReduction, float>(widen(a), widen(b)));
  } else if constexpr (kReduction == ScatterReduction::kMax) {
    return larger(a, b);
  } else if constexpr (kReduction == ScatterReduction::kMin) {
    return smaller(a, b);
  } else if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    return static_cast<T>(kReduction == ScatterReduction::kAdd ? x + y : x * y);
  } else {
    return kReduction == ScatterReduction::kAdd ? a + b : a * b;
  }
}

// Combines a run of updates with a run of elements.
using ScatterRun = void (*)(void* elements, const void* updates, std::size_t first_element, std::size_t first_update,
                            std::size_t count);

template <ScatterReduction kReduction, class T>
void scatter_run(void* elements, const void* updates, std::size_t first_element, std::size_t first_update,
                 std::size_t count) {
  T* to = static_cast<T*>(elements) + first_element;
  const T* from = static_cast<const T*>(updates) + first_update;
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = scatter_combined<kReduction, T>(to[i], from[i]);
  }
}

ScatterRun scatter_run_of(Kind kind, ScatterReduction reduction) {
  return with_element_type(kind, [reduction](auto type) -> ScatterRun {
    using T = decltype(type);
    switch (reduction) {
      case ScatterReduction::kAdd:
        return scatter_run<ScatterReduction::kAdd, T>;
      case ScatterReduction::kMultiply:
        return scatter_run<ScatterReduction::kMultiply, T>;
      case ScatterReduction::kMax:
        return scatter_run<ScatterReduction::kMax, T>;
      default:
        return scatter_run<ScatterReduction::kMin, T>;
    }
  });
}

void check_scatter_axes(const Array& x, const Array& indices, int axis) {
  bool is_wrong = indices.rank() != x.rank();
  for (int i = 0; !is_wrong && i < x.rank(); ++i) {
    is_wrong = i != axis && indices.size(i) > x.size(i);
  }
  if (is_wrong) {
    fail("the indices have the shape {}, but the tensor has {}; expected no larger sizes except along the axis",
         listed(indices.shape()), listed(x.shape()));
  }
}

Array scattered_elements(const Array& x, const Array& indices, const Array& updates, int axis,
                         ScatterReduction reduction) {
  Array result = copy_of(x);
  if (x.count() == 0) {
    return result;  // the product of the other sizes may overflow
  }
  const ScatterRun run = scatter_run_of(x.kind(), reduction);
  const Array from = updates.packed();
  const Sizes strides = packed_strides(x.shape());
  const auto along = static_cast<std::size_t>(axis);
  const std::int64_t size = x.size(axis);
  Sizes index(indices.shape().size(), 0);
  std::size_t position = 0;
  for (const std::int64_t given : indices.to_integers()) {
    if (given >= -size && given < size) {
      std::int64_t at = (given < 0 ? given + size : given) * strides[along];
      for (std::size_t i = 0; i < index.size(); ++i) {
        at += i == along ? 0 : index[i] * strides[i];
      }
      run(result.writable(), from.data(), static_cast<std::size_t>(at), position, 1);
    }
    ++position;
    advance(index, indices.shape());
  }
  return result;
}

// Checks the shapes, and returns how many coordinates each item has.
std::size_t check_scatter_coordinates(const Array& x, const Array& indices) {
  if (indices.rank() == 0 || x.rank() == 0) {
    fail("the indices have the shape {}, but the tensor has {}; expected 0 equal batch sizes, followed by coordinates",
         listed(indices.shape()), listed(x.shape()));
  }
  const std::int64_t count = indices.shape().back();
  if (count < 1 || count > x.rank()) {
    fail("the indices have the shape {}, but the tensor has {}; expected 1 to {} coordinates", listed(indices.shape()),
         listed(x.shape()), x.rank());
  }
  return static_cast<std::size_t>(count);
}

Array scattered_items(const Array& x, const Array& indices, const Array& updates, std::size_t count,
                      ScatterReduction reduction) {
  Array result = copy_of(x);
  const ScatterRun run = scatter_run_of(x.kind(), reduction);
  const Array from = updates.packed();
  const Sizes strides = packed_strides(x.shape());
  const std::vector<std::int64_t> numbers = indices.to_integers();
  std::int64_t item = 1;
  for (std::size_t i = count; i < x.shape().size(); ++i) {
    item *= x.shape()[i];
  }
  const auto length = static_cast<std::size_t>(item);
  for (std::size_t i = 0; length != 0 && i < numbers.size() / count; ++i) {
    std::int64_t at = 0;
    bool is_within = true;
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t given = numbers[i * count + k];
      const std::int64_t size = x.shape()[k];
      is_within = is_within && given >= -size && given < size;
      at += is_within ? (given < 0 ? given + size : given) * strides[k] : 0;
    }
    if (is_within) {
      run(result.writable(), from.data(), static_cast<std::size_t>(at), i * length, length);
    }
  }
  return result;
}

}  // namespace

Compute host_scatter_elements(const Node& node) {
  return [reduction = scatter_reduction(node), given = node.integer("axis")](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const int axis = axis_of(given, x.rank());
    check_scatter_axes(x, inputs[1], axis);
    if (inputs[2].shape() != inputs[1].shape()) {
      fail("the updates have the shape {}, but the indices have {}", listed(inputs[2].shape()),
           listed(inputs[1].shape()));
    }
    return one(scattered_elements(x, inputs[1], inputs[2], axis, reduction));
  };
}

Compute host_scatter_nd(const Node& node) {
  return [reduction = scatter_reduction(node)](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Array& indices = inputs[1];
    const std::size_t count = check_scatter_coordinates(x, indices);
    Sizes expected(indices.shape().begin(), indices.shape().end() - 1);
    expected.insert(expected.end(), x.shape().begin() + static_cast<std::ptrdiff_t>(count), x.shape().end());
    if (inputs[2].shape() != expected) {
      fail("the updates have the shape {}; expected {}", listed(inputs[2].shape()), listed(expected));
    }
    return one(scattered_items(x, indices, inputs[2], count, reduction));
  };
}

}  // namespace anydml::onnx
