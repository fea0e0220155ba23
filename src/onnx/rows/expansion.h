// SPDX-License-Identifier: MIT
// Writes the nodes that replace one node: for operators that ONNX defines in terms of other operators, and for
// operators of other domains.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "onnx/model/message.h"
#include "onnx/values/array.h"

namespace anydml::onnx {

using AttributeList = std::vector<
    std::pair<const char*, std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                                        std::vector<double>, std::vector<std::string>, Array, AttributeMessage>>>;

class Expansion {
 public:
  // kinds: the types of the node's inputs. opset: the version of ONNX's operators in the model. The expanded nodes use
  // `written_opset`: the newest opset, unless the writer changes it.
  Expansion(const NodeMessage& node, std::vector<Kind> kinds, int opset);

  // Adds a node and returns the name of its first result. Trailing empty inputs are dropped.
  std::string add(const char* op, std::vector<std::string> inputs, AttributeList attributes = {});
  // The same, with the names of the results.
  void add_to(const char* op, std::vector<std::string> inputs, std::vector<std::string> outputs,
              AttributeList attributes = {});
  // A Constant.
  std::string constant(Array value);
  std::string constant(const std::vector<std::int64_t>& numbers);  // a list
  std::string constant(std::initializer_list<std::int64_t> numbers) { return constant(std::vector(numbers)); }
  // Without dimensions, int64. A template, so that constant({1}) is a list.
  template <std::integral Integer>
  std::string constant(Integer number) {
    return constant(Array::scalar(Kind::kInt64, static_cast<std::int64_t>(number)));
  }
  std::string constant_float(double number);  // without dimensions, float
  // Gives a value the name of an output of the node.
  void finish(const std::string& value, std::size_t position = 0);

  [[nodiscard]] std::string input(std::size_t position) const;   // "" if it is absent
  [[nodiscard]] std::string output(std::size_t position) const;  // "" if it is absent
  [[nodiscard]] Kind kind(std::size_t position) const;           // kUndefined if the input is absent
  [[nodiscard]] const NodeMessage& node() const { return node_; }
  [[nodiscard]] int opset() const { return opset_; }
  // The node's own attributes, or a default. They raise Invalid if an attribute is of another type.
  [[nodiscard]] bool has(std::string_view name) const { return node_.find(name) != nullptr; }
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const;
  [[nodiscard]] double number(std::string_view name, double otherwise = 0) const;
  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise = {}) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name) const;
  [[nodiscard]] std::vector<double> numbers(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  // Copies of the node's attributes that have these names, for the attributes of a new node.
  [[nodiscard]] AttributeList passed_on(std::initializer_list<const char*> names) const;
  // Raises Invalid if a required input is absent: positions and names.
  void require(std::initializer_list<std::pair<std::size_t, const char*>> inputs) const;
  // Raises Unsupported: "Attention 'a': anydml does not support com.microsoft.Attention <what>".
  [[noreturn]] void refuse(const std::string& what) const;

  // A name that no other value of the model has.
  [[nodiscard]] std::string fresh_name();
  std::vector<NodeMessage> nodes;
  int written_opset;

 private:
  const NodeMessage& node_;
  std::vector<Kind> kinds_;
  int opset_;
  std::string label_;
  std::string prefix_;       // of the names of new values
  std::uint64_t names_ = 0;  // the number of names so far
};

}  // namespace anydml::onnx
