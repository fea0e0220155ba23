// SPDX-License-Identifier: MIT
// Operators of ai.onnx.ml that map elements to others: numbers or strings to labels, categories or maps.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "onnx/rows/ml/ml.h"

namespace anydml::onnx {
namespace {

// A number in a form in which equal ones have equal bits: -0 equals 0, and all NaNs are equal.
std::uint64_t key_of(double number) {
  return std::bit_cast<std::uint64_t>(std::isnan(number) ? std::numeric_limits<double>::quiet_NaN() : number + 0.0);
}
std::uint64_t key_of(std::int64_t number) { return static_cast<std::uint64_t>(number); }

// Finds the position of an element in a list of keys. Of equal keys, the last one counts.
class KeyTable {
 public:
  explicit KeyTable(Array keys) : keys_(keys.packed()) {
    std::int64_t position = 0;
    if (keys_.kind() == Kind::kString) {
      for (const std::string_view text : keys_.elements<std::string_view>()) {
        texts_[text] = position++;
      }
    } else {
      for (const std::uint64_t key : number_keys(keys_)) {
        numbers_[key] = position++;
      }
    }
  }

  // The position of each element of a tensor of the keys' type; `otherwise` for one that is not a key.
  [[nodiscard]] std::vector<std::int64_t> positions(const Array& x, std::int64_t otherwise) const {
    std::vector<std::int64_t> result;
    result.reserve(static_cast<std::size_t>(x.count()));
    const auto add = [&](const auto& table, const auto& key) {
      const auto found = table.find(key);
      result.push_back(found == table.end() ? otherwise : found->second);
    };
    if (x.kind() == Kind::kString) {
      const Array packed = x.packed();
      for (const std::string_view text : packed.elements<std::string_view>()) {
        add(texts_, text);
      }
    } else {
      for (const std::uint64_t key : number_keys(x)) {
        add(numbers_, key);
      }
    }
    return result;
  }

 private:
  static std::vector<std::uint64_t> number_keys(const Array& x) {
    std::vector<std::uint64_t> keys;
    keys.reserve(static_cast<std::size_t>(x.count()));
    if (is_float(x.kind())) {
      for (const double number : x.to_numbers()) {
        keys.push_back(key_of(number));
      }
    } else {
      for (const std::int64_t number : x.to_integers()) {
        keys.push_back(key_of(number));
      }
    }
    return keys;
  }

  Array keys_;  // the strings that the table refers to
  // Ordered, so that no choice of keys makes them slow.
  std::map<std::string_view, std::int64_t> texts_;
  std::map<std::uint64_t, std::int64_t> numbers_;
};

Array text_list(const std::vector<std::string>& texts) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return Array::strings({static_cast<std::int64_t>(views.size())}, views);
}

Array float_list(const std::vector<double>& numbers) {
  return Array::of(Kind::kFloat, {static_cast<std::int64_t>(numbers.size())},
                   std::vector<float>(numbers.begin(), numbers.end()));
}

// A list with one more element at its end.
Array extended(const Array& list, const Array& more) { return join({list, more.reshape({1})}, 0); }

Array integer_range(std::int64_t count) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(i);
  }
  return Array::integers(numbers);
}

// ---- LabelEncoder ---------------------------------------------------------------------------------------------------

// A list of an encoder, `keys` or `values`, in the attribute of its type. Exactly one must be present.
Array encoder_list(const Node& node, const std::string& what) {
  Arrays found;
  if (node.has(what + "_strings")) {
    found.push_back(text_list(node.texts(what + "_strings")));
  }
  if (node.has(what + "_int64s")) {
    found.push_back(Array::integers(node.integers(what + "_int64s")));
  }
  if (node.has(what + "_floats")) {
    found.push_back(float_list(node.numbers(what + "_floats")));
  }
  if (node.has(what + "_tensor")) {
    const Array tensor = node.tensor(what + "_tensor");
    if (!tensor || tensor.rank() != 1) {
      fail("{}: {}_tensor must be a list of numbers or strings", node.label, what);
    }
    found.push_back(tensor);
  }
  if (found.size() != 1) {
    fail("{}: {} lists of {} are given; expected exactly one attribute {}_...", node.label, found.size(), what, what);
  }
  return found[0];
}

// The value for elements that are not keys.
Array encoder_default(const Node& node, Kind kind) {
  if (node.has("default_tensor")) {
    const Array value = node.tensor("default_tensor");
    if (!value || value.kind() != kind || value.count() != 1) {
      fail("{}: default_tensor must have one element, of type {} as the values", node.label, kind_name(kind));
    }
    return value;
  }
  if (kind == Kind::kString) {
    return text_list({node.text("default_string")});
  }
  return is_float(kind) ? Array::scalar(kind, node.number("default_float"))
                        : Array::scalar(kind, node.integer("default_int64"));
}

// Before opset 2, the classes are strings, and the numbers are their positions.
struct Encoding {
  Array keys, values;
};

Encoding encoding_of(const Node& node) {
  if (!node.declares("classes_strings")) {
    return {encoder_list(node, "keys"), encoder_list(node, "values")};
  }
  const Array texts = text_list(node.texts("classes_strings"));
  const Array numbers = integer_range(texts.count());
  return node.kinds[0] == Kind::kString ? Encoding{texts, numbers} : Encoding{numbers, texts};
}

// Maps elements to values, the last of which is for elements that are not keys.
Compute mapping_of(const Array& keys, const Array& values, const Array& otherwise) {
  return [table = std::make_shared<const KeyTable>(keys),
          all = extended(values, otherwise)](std::span<const Array> inputs) {
    const std::vector<std::int64_t> positions = table->positions(inputs[0], all.count() - 1);
    return one(picked(all, positions, inputs[0].shape()));
  };
}

// ---- CategoryMapper -------------------------------------------------------------------------------------------------

Encoding categories_of(const Node& node) {
  const Encoding encoding{text_list(node.texts("cats_strings")), Array::integers(node.integers("cats_int64s"))};
  if (encoding.keys.count() != encoding.values.count()) {
    fail("{}: cats_strings has {} categories and cats_int64s has {}; expected equally many", node.label,
         encoding.keys.count(), encoding.values.count());
  }
  return encoding;
}

}  // namespace

Array picked(const Array& list, std::span<const std::int64_t> positions, Sizes shape) {
  const Array packed = list.packed();
  if (list.kind() == Kind::kString) {
    const std::span<const std::string_view> texts = packed.elements<std::string_view>();
    std::vector<std::string_view> views;
    views.reserve(positions.size());
    for (const std::int64_t position : positions) {
      views.push_back(texts[static_cast<std::size_t>(position)]);
    }
    return Array::strings(std::move(shape), views);
  }
  Array result = Array::empty(list.kind(), std::move(shape));
  const std::size_t item = item_size(list.kind());
  auto* to = static_cast<std::byte*>(result.writable());
  for (const std::int64_t position : positions) {
    std::memcpy(to, static_cast<const std::byte*>(packed.data()) + static_cast<std::size_t>(position) * item, item);
    to += item;
  }
  return result;
}

Array labels_of(const Node& node, std::string_view integers, std::string_view texts) {
  const std::vector<std::int64_t> numbers = node.integers(integers);
  const std::vector<std::string> words = node.texts(texts);
  if (numbers.empty() == words.empty()) {
    fail("{}: expected either {} or {}, with 1 label or more", node.label, integers, texts);
  }
  return words.empty() ? Array::integers(numbers) : text_list(words);
}

std::vector<Kind> ml_classifier_kinds(const Node& node) {
  return {node.texts("classlabels_strings").empty() ? Kind::kInt64 : Kind::kString, Kind::kFloat};
}

std::vector<Kind> ml_encoder_kinds(const Node& node) { return {encoding_of(node).values.kind()}; }

Compute ml_label_encoder(const Node& node) {
  const Encoding encoding = encoding_of(node);
  if (encoding.keys.kind() != node.kinds[0]) {
    throw WrongType(format_text("{}: X is {}, but the keys are {}", node.label, kind_name(node.kinds[0]),
                                kind_name(encoding.keys.kind())));
  }
  if (encoding.keys.count() != encoding.values.count()) {
    fail("{}: there are {} keys and {} values; expected equally many", node.label, encoding.keys.count(),
         encoding.values.count());
  }
  return mapping_of(encoding.keys, encoding.values, encoder_default(node, encoding.values.kind()));
}

std::vector<Kind> ml_mapper_kinds(const Node& node) {
  return {node.kinds[0] == Kind::kString ? Kind::kInt64 : Kind::kString};
}

Compute ml_category_mapper(const Node& node) {
  const Encoding encoding = categories_of(node);
  return node.kinds[0] == Kind::kString
             ? mapping_of(encoding.keys, encoding.values, encoder_default(node, Kind::kInt64))
             : mapping_of(encoding.values, encoding.keys, encoder_default(node, Kind::kString));
}

Compute ml_one_hot_encoder(const Node& node) {
  const Array categories = labels_of(node, "cats_int64s", "cats_strings");
  if ((categories.kind() == Kind::kString) != (node.kinds[0] == Kind::kString)) {
    throw WrongType(format_text("{}: X is {}, but the categories are {}", node.label, kind_name(node.kinds[0]),
                                kind_name(categories.kind())));
  }
  return [table = std::make_shared<const KeyTable>(categories), count = categories.count(),
          allows_zeros = node.integer("zeros") != 0](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    // Floats are truncated to integers, as ONNX says.
    const Array keys = is_float(x.kind()) ? Array::integers(x.to_integers()) : x;
    std::vector<std::int64_t> positions = table->positions(keys, -1);
    if (is_float(x.kind())) {
      const std::vector<double> numbers = x.to_numbers();
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        positions[i] = std::isfinite(numbers[i]) ? positions[i] : -1;  // no integer, and so no category
      }
    }
    if (const auto missing = std::find(positions.begin(), positions.end(), -1);
        !allows_zeros && missing != positions.end()) {
      fail("element {} of X is none of the {} categories, and zeros is 0", missing - positions.begin(), count);
    }
    Sizes shape = x.shape();
    shape.push_back(count);
    Array result = Array::zeros(Kind::kFloat, shape);
    const std::span<float> to = writable_elements<float>(result);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      if (positions[i] >= 0) {
        to[i * static_cast<std::size_t>(count) + static_cast<std::size_t>(positions[i])] = 1;
      }
    }
    return one(result);
  };
}

Array map_keys(const Node& node) { return labels_of(node, "classlabels_int64s", "classlabels_strings"); }

Compute ml_zip_map(const Node& node) {
  return [count = map_keys(node).count()](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    check_features(x);
    if (x.shape().back() != count) {
      fail("X has {} columns; expected {}, one for each key", x.shape().back(), count);
    }
    return one((x.rank() == 1 ? x.insert_axis(0) : x).packed());
  };
}

}  // namespace anydml::onnx
