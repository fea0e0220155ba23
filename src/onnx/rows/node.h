// SPDX-License-Identifier: MIT
// A node in the form that its row of the table receives: with checked types, and with ONNX's defaults.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "onnx/schema/schema.h"
#include "onnx/values/array.h"
#include "onnx/values/errors.h"

namespace anydml::onnx {

using AttributeData = std::variant<std::monostate, std::int64_t, double, std::string, std::vector<std::int64_t>,
                                   std::vector<double>, std::vector<std::string>, Array>;

// An attribute that the node has itself. Defaults are not copied; they stay in ONNX's schema.
struct GivenAttribute {
  std::string_view name;  // of the schema, so that it lives as long as the program
  AttributeData value;
  Kind named_kind = Kind::kUndefined;  // of a tensor, or the type that to, dtype or output_dtype names
};

struct Node {
  std::string op;
  std::string label;                        // for messages: "Conv 'name'"
  std::span<const FormalAttribute> formal;  // all attributes that ONNX's schema of this opset declares
  std::vector<GivenAttribute> given;
  std::vector<Kind> kinds;    // of the inputs; kUndefined for an absent input
  std::vector<Kind> results;  // of the outputs
  int since = 0;              // the opset in which ONNX introduced this version of the operator
  Arrays fixed;               // the inputs that no run changes, absent for others; only if Row::reads_constants

  // Whether the schema of this opset has the attribute, given or not.
  [[nodiscard]] bool declares(std::string_view name) const { return find_formal(name) != nullptr; }
  // Whether it has a value: the node's own or a default.
  [[nodiscard]] bool has(std::string_view name) const;
  // The value; `otherwise` or nothing if there is none, or if it is of another type.
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const;
  [[nodiscard]] double number(std::string_view name, double otherwise = 0) const;
  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise = {}) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name) const;
  [[nodiscard]] std::vector<double> numbers(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  [[nodiscard]] Array tensor(std::string_view name) const;
  // The type of a tensor, or the type that to, dtype or output_dtype names; kUndefined if the node itself does not have
  // the attribute.
  [[nodiscard]] Kind named_kind(std::string_view name) const;
  // Whether an input is present.
  [[nodiscard]] bool takes(std::size_t position) const {
    return position < kinds.size() && kinds[position] != Kind::kUndefined;
  }

  // Gives an attribute of the schema a value, in place of an earlier one.
  void set(const FormalAttribute& attribute, AttributeData value, Kind named_kind = Kind::kUndefined);

  [[nodiscard]] const FormalAttribute* find_formal(std::string_view name) const;
  [[nodiscard]] const GivenAttribute* find_given(std::string_view name) const;
};

// Raises Unsupported: "Conv 'name': anydml does not support Conv <what>: <why>".
[[noreturn]] void refuse(const Node& node, const std::string& what, const std::string& why);
// Raises Invalid about an attribute that is wrong for any inputs: "Conv 'name': pads is [1]; expected <expected>".
[[noreturn]] void wrong(const Node& node, std::string_view attribute, const std::string& expected);
// Checks that a number, or each number of a list, is not too small. An absent attribute is valid.
void check_minimum(const Node& node, std::string_view attribute, std::int64_t lowest);
// Checks that a text or a number is one of the choices. An absent attribute is valid.
void check_choice(const Node& node, std::string_view attribute, std::initializer_list<std::string_view> choices);
void check_choice(const Node& node, std::string_view attribute, std::initializer_list<std::int64_t> choices);

}  // namespace anydml::onnx
