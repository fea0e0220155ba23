// SPDX-License-Identifier: MIT
// Graphs of the core written as text, one line per value, for tests of graph passes:
//
//   a = input 16              16 bytes; the same for "owned 16" and "constant 16"
//   x = ADD a:f32[4] b:f32[2,2/1,2] -> f32[4] Name=Value
//   s = SPLIT x:f32[4] -> f32[1] -> f32[3] Axis=0
//   out s.1
//
// An operator's name may omit ELEMENT_WISE_; strides follow a slash; "-" is an absent tensor. An array of tensors
// consists of all tensors that no other field uses. Outputs beyond the first are numbered after a dot.
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "ops/operators.h"
#include "support/described_text.h"

namespace anydml::test {

// Removes the strides after the slash from the text of a tensor and returns them.
inline std::vector<std::int64_t> take_strides(std::string& tensor) {
  const std::size_t slash = tensor.find('/');
  std::vector<std::int64_t> strides;
  if (slash != std::string::npos) {
    for (const std::string_view stride :
         split_text(std::string_view(tensor).substr(slash + 1, tensor.size() - slash - 2), ',')) {
      strides.push_back(parse_text_number<std::int64_t>(stride));
    }
    tensor = tensor.substr(0, slash) + "]";
  }
  return strides;
}

// The inputs and the outputs are in the order of the operator's fields.
inline std::shared_ptr<const OpDesc> parse_op(const std::string& name, const std::vector<std::string>& inputs,
                                              const std::vector<std::string>& outputs, const std::string& attributes) {
  const facts::Operator* op = facts::find_operator("ELEMENT_WISE_" + name);
  op = op != nullptr ? op : facts::find_operator(name);
  if (op == nullptr) {
    throw std::invalid_argument("unknown operator: " + name);
  }
  std::string text(op->name);
  std::map<std::size_t, std::vector<std::vector<std::int64_t>>> strides;  // by field
  std::size_t next_input = 0;
  std::size_t next_output = 0;
  for (std::size_t i = 0; i < op->fields.size(); ++i) {
    const facts::FieldKind kind = op->fields[i].kind;
    if (facts::is_attribute(kind)) {
      continue;
    }
    const std::vector<std::string>& tensors = facts::is_input(kind) ? inputs : outputs;
    std::size_t& next = facts::is_input(kind) ? next_input : next_output;
    std::string field;
    for (bool first = true; first || (facts::is_array(kind) && next < tensors.size()); first = false) {
      std::string tensor = tensors.at(next++);
      if (tensor != "-") {
        strides[i].push_back(take_strides(tensor));
        field += (field.empty() ? "" : "|") + tensor;
      }
    }
    text += field.empty() ? "" : " " + std::string(op->fields[i].name) + "=" + field;
  }
  schema::Described described = parse_described(text + attributes);
  for (const auto& [field, lists] : strides) {
    for (std::size_t i = 0; i < lists.size(); ++i) {
      schema::GivenTensor& tensor = described.arguments[field].tensors[i];
      tensor.has_strides = !lists[i].empty();
      std::ranges::copy(lists[i], tensor.strides);
    }
  }
  auto result = make_op_desc(described, SchemaState::unchecked);
  if (!result.ok()) {
    throw std::invalid_argument(result.error().message);
  }
  return std::make_shared<const OpDesc>(std::move(result.value()));
}

inline Graph parse_graph(std::string_view text) {
  Graph graph;
  std::map<std::string, GraphSource, std::less<>> known;
  known["-"] = {};
  for (const std::string_view line : split_text(text, '\n')) {
    const auto words = split_text(line, ' ');
    if (words.empty()) {
      continue;
    }
    if (words[0] == "out") {
      graph.outputs.push_back(known.at(std::string(words[1])));
      continue;
    }
    GraphSource& source = known[std::string(words[0])];
    if (words[2] == "input" || words[2] == "owned" || words[2] == "constant") {
      const Extent extent{.bytes = parse_text_number<std::uint64_t>(words[3])};
      if (words[2] == "constant") {
        source = {.kind = SourceKind::constant, .index = static_cast<std::uint32_t>(graph.constants.size())};
        graph.constants.push_back(extent);
      } else {
        source = {.kind = SourceKind::input, .index = static_cast<std::uint32_t>(graph.inputs.size())};
        graph.inputs.push_back({.extent = extent, .owned = words[2] == "owned"});
      }
      continue;
    }
    GraphNode node;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::string attributes;
    for (std::size_t i = 3; i < words.size(); ++i) {
      const std::string_view word = words[i];
      if (word == "->") {
        outputs.emplace_back(words[++i]);
      } else if (word == "-" || word.find(':') != std::string_view::npos) {
        node.sources.push_back(known.at(std::string(word.substr(0, word.find(':')))));
        inputs.emplace_back(word.substr(std::min(word.find(':') + 1, word.size() - 1)));
      } else {
        attributes += " " + std::string(word);
      }
    }
    node.op = parse_op(std::string(words[2]), inputs, outputs, attributes);
    source = {.kind = SourceKind::node, .index = static_cast<std::uint32_t>(graph.nodes.size())};
    for (std::uint32_t i = 0; i < node.op->output_count; ++i) {
      const OpTensor& output = node.op->outputs()[i];
      node.outputs.push_back({.bytes = (static_cast<std::uint64_t>(output.reach.end) + 3) / 4 * 4, .alignment = 1});
      if (i != 0) {
        known[std::string(words[0]) + "." + std::to_string(i)] = {
            .kind = SourceKind::node, .index = source.index, .output = i};
      }
    }
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

}  // namespace anydml::test
