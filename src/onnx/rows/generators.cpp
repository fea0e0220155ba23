// SPDX-License-Identifier: MIT
// Nodes that create tensors from numbers and indices.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "onnx/rows/row.h"
#include "onnx/rows/sizes.h"

namespace anydml::onnx {
namespace {

// The type that an attribute names.
Kind generated_kind(const Node& node, std::string_view attribute, Kind otherwise) {
  return node.has(attribute) ? node.named_kind(attribute) : otherwise;
}

// ---- ConstantOfShape ------------------------------------------------------------------------------------------------

// Repeats one element. The element is copied as bits, because not every integer is a double.
Array repeated_element(const Array& element, Sizes shape) {
  Array result = Array::empty(element.kind(), std::move(shape));
  const std::size_t total = result.bytes();
  if (total == 0) {
    return result;
  }
  auto* const to = static_cast<std::byte*>(result.writable());
  std::size_t done = item_size(element.kind());
  std::memcpy(to, element.data(), done);
  while (done < total) {
    const std::size_t more = std::min(done, total - done);
    std::memcpy(to + done, to, more);
    done += more;
  }
  return result;
}

Compute make_constant_of_shape(const Node& node) {
  const Array given = node.tensor("value");
  const Array value = given ? given : Array::zeros(Kind::kFloat, {1});
  if (value.count() != 1) {
    fail("{}: value must have one element, but has {}", node.label, value.count());
  }
  return [value](std::span<const Array> inputs) {
    Sizes sizes = inputs[0].to_integers();
    if (inputs[0].rank() != 1 || std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 0; })) {
      fail("the shape must be a list of sizes of 0 or more, but is {}",
           inputs[0].rank() == 0 ? std::to_string(sizes[0]) : listed(sizes));
    }
    check_rank(sizes);
    return one(repeated_element(value, std::move(sizes)));
  };
}

std::vector<Kind> constant_of_shape_kinds(const Node& node) { return {generated_kind(node, "value", Kind::kFloat)}; }

// ---- Range ----------------------------------------------------------------------------------------------------------

// The type in which a Range computes: float16 in FLOAT32, or in another type that the node names.
Kind range_kind(const Node& node) {
  if (node.kinds[0] != Kind::kFloat16) {
    return node.kinds[0];
  }
  const std::int64_t stash = node.integer("stash_type", 1);
  if (stash != static_cast<std::int64_t>(Kind::kFloat) && stash != static_cast<std::int64_t>(Kind::kDouble)) {
    refuse(node, format_text("with stash_type {}", stash), "it computes in float or double");
  }
  return static_cast<Kind>(stash);
}

std::int64_t range_count(std::int64_t start, std::int64_t limit, std::int64_t delta) {
  if (delta == 0) {
    fail("a range from {} to {} by {} has no end", start, limit, delta);
  }
  if (delta > 0 ? limit <= start : limit >= start) {
    return 0;
  }
  // Unsigned, because the distance may be up to 2^64 - 1.
  const auto from = static_cast<std::uint64_t>(delta > 0 ? start : limit);
  const auto to = static_cast<std::uint64_t>(delta > 0 ? limit : start);
  const std::uint64_t step = delta > 0 ? static_cast<std::uint64_t>(delta) : 0 - static_cast<std::uint64_t>(delta);
  const std::uint64_t count = (to - from - 1) / step + 1;
  if (count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    throw NoMemory(format_text("a range of {} elements is more than can be addressed", count));
  }
  return static_cast<std::int64_t>(count);
}

std::int64_t range_count(double start, double limit, double delta) {
  const double steps = (limit - start) / delta;
  if (delta == 0 || !std::isfinite(start) || !std::isfinite(limit) || !std::isfinite(delta) || !std::isfinite(steps)) {
    fail("a range from {} to {} by {} has no end", number_text(start), number_text(limit), number_text(delta));
  }
  const double count = std::max(0.0, std::ceil(steps));
  if (count >= 0x1p63) {
    throw NoMemory(format_text("a range of {} elements is more than can be addressed", number_text(count)));
  }
  return static_cast<std::int64_t>(count);
}

template <class Number>
Array range_of(Number start, Number limit, Number delta, Kind kind) {
  return sequence(start, delta, range_count(start, limit, delta), kind);
}

// start + i * delta. The product and the sum are rounded.
Compute make_range(const Node& node) {
  return [kind = node.kinds[0], inner = range_kind(node)](std::span<const Array> inputs) {
    constexpr const char* kNames[] = {"start", "limit", "delta"};
    for (std::size_t i = 0; i < 3; ++i) {
      if (inputs[i].count() != 1) {
        fail("{} must be one number, but has the shape {}", kNames[i], listed(inputs[i].shape()));
      }
    }
    const Array result = is_float(kind)
                             ? range_of(inputs[0].number(), inputs[1].number(), inputs[2].number(), inner)
                             : range_of(inputs[0].integer(), inputs[1].integer(), inputs[2].integer(), inner);
    return one(cast(result, kind));
  };
}

// ---- Trilu, EyeLike -------------------------------------------------------------------------------------------------

Array column_indices(const Array& x) {
  return sequence(std::int64_t{0}, std::int64_t{1}, x.shape().back(), Kind::kInt64);
}

// For each row, the column of its element on a diagonal, as a column that broadcasts to the matrix.
Array diagonal_of(const Array& x, std::int64_t offset) {
  const std::int64_t rows = x.size(x.rank() - 2);
  const Array indices = sequence(std::int64_t{0}, std::int64_t{1}, rows, Kind::kInt64).reshape({rows, 1});
  return add(indices, Array::scalar(Kind::kInt64, offset));
}

Compute make_trilu(const Node& node) {
  const char* const keeps = node.integer("upper", 1) != 0 ? "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL"
                                                          : "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL";
  return [keeps](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    if (x.rank() < 2) {
      fail("the tensor has {} dimensions; expected 2 or more", x.rank());
    }
    const Array k = input(inputs, 1);
    const Array diagonal = diagonal_of(x, k ? k.integer() : 0);
    const Array kept = dispatch(keeps, {column_indices(x), diagonal});
    return one(dispatch("ELEMENT_WISE_IF", {kept, x, Array::scalar(x.plain().kind(), 0)}));
  };
}

Compute make_eye_like(const Node& node) {
  return [kind = array_kind(node.results[0]), offset = node.integer("k")](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    if (x.rank() != 2) {
      fail("the tensor has {} dimensions; expected 2", x.rank());
    }
    const Array diagonal = diagonal_of(x, offset);
    const Array ones = dispatch("ELEMENT_WISE_LOGICAL_EQUALS", {column_indices(x), diagonal});
    return one(kind == Kind::kBool ? ones : cast(ones, kind));
  };
}

std::vector<Kind> eye_like_kinds(const Node& node) { return {generated_kind(node, "dtype", node.kinds[0])}; }

constexpr Row kGeneratorRows[] = {
    {.op = "ConstantOfShape",
     .make = make_constant_of_shape,
     .uses = "FILL_VALUE_CONSTANT",
     .result = constant_of_shape_kinds},
    {.op = "EyeLike",
     .make = make_eye_like,
     .uses = "FILL_VALUE_SEQUENCE ADD LOGICAL_EQUALS CAST",
     .result = eye_like_kinds},
    {.op = "Range", .make = make_range, .uses = "FILL_VALUE_SEQUENCE CAST"},
    {.op = "Trilu",
     .make = make_trilu,
     .uses = "FILL_VALUE_SEQUENCE ADD LOGICAL_GREATER_THAN_OR_EQUAL LOGICAL_LESS_THAN_OR_EQUAL IF"},
};

}  // namespace

std::span<const Row> generator_rows() { return kGeneratorRows; }

}  // namespace anydml::onnx
