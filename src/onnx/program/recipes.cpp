// SPDX-License-Identifier: MIT
#include "onnx/program/recipes.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "onnx/model/message.h"
#include "onnx/values/replay.h"

namespace anydml::onnx {
namespace {

// Appends everything that determines a function. Each part begins with its length or has a fixed one, so that different
// functions have different texts.
class RecipeWriter {
 public:
  // Adds the arrays to `kept` whose addresses are in the text.
  explicit RecipeWriter(Arrays& kept) : kept_(kept) {}

  template <class Number>
  requires std::is_arithmetic_v<Number> || std::is_enum_v<Number> || std::is_pointer_v<Number>
  void add(Number number) { text_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void add(std::string_view text) {
    add(text.size());
    text_ += text;
  }
  template <class Item>
  void add(const std::vector<Item>& items) {
    add(items.size());
    for (const Item& item : items) {
      add(item);
    }
  }
  void add(std::monostate /*nothing*/) {}
  void add(const std::string& text) { add(std::string_view(text)); }
  // Large arrays are not compared by their elements, but by their addresses.
  void add(const Array& array) {
    add(bool{array});
    if (array) {
      const bool is_small = is_compared_by_elements(array);
      add(array.kind());
      add(array.shape());
      add(is_small);
      if (is_small) {
        add(std::string_view(static_cast<const char*>(array.data()), array.bytes()));
      } else {
        add(array.identity());
        kept_.push_back(array);
      }
    }
  }
  void add(const AttributeMessage& attribute) {
    add(attribute.name);
    add(attribute.type);
    add(attribute.f);
    add(attribute.i);
    add(attribute.s);
    add(attribute.floats);
    add(attribute.ints);
    add(attribute.strings);
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
  Arrays& kept_;
};

}  // namespace

std::uint32_t Recipes::number_of(std::string text) {
  const auto next = static_cast<std::uint32_t>(numbers_.size() + 1);
  return numbers_.emplace(std::move(text), next).first->second;
}

std::uint32_t Recipes::number_of(const Row& row, const Node& node) {
  RecipeWriter recipe(kept_);
  recipe.add(&row);
  recipe.add(node.since);
  recipe.add(node.kinds);
  recipe.add(node.results);
  recipe.add(node.given.size());
  for (const GivenAttribute& given : node.given) {
    recipe.add(given.name);
    recipe.add(given.named_kind);
    recipe.add(given.value.index());
    std::visit([&recipe](const auto& value) { recipe.add(value); }, given.value);
  }
  recipe.add(node.fixed);
  return number_of(recipe.take());
}

std::uint32_t Recipes::number_of(const DomainRow& row, const NodeMessage& node, const std::vector<Kind>& kinds) {
  const bool is_comparable = std::all_of(node.attributes.begin(), node.attributes.end(),
                                         [](const AttributeMessage& one) { return !one.t && !one.g; });
  if (!is_comparable) {
    return 0;
  }
  RecipeWriter recipe(kept_);
  recipe.add(&row);
  recipe.add(kinds);
  recipe.add(node.outputs.size());
  for (const std::string& name : node.outputs) {
    recipe.add(name.empty());
  }
  recipe.add(node.attributes);
  return number_of(recipe.take());
}

}  // namespace anydml::onnx
