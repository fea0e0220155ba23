// SPDX-License-Identifier: MIT
// Builds a Program from a model's graph: checks and types each node, computes constants, and expands nodes that other
// nodes define.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/model/message.h"
#include "onnx/program/program.h"
#include "onnx/program/quantized.h"
#include "onnx/program/recipes.h"
#include "onnx/rows/row.h"

namespace anydml::onnx {

// What all builders of a model share.
struct BuildContext {
  const ModelMessage& model;
  int opset;
  int ml_opset;     // of ai.onnx.ml; 0 if the model does not declare it
  bool is_literal;  // whether quantized models run as they are written
  Activations activations;
  ProgramOptions program;
};

// How a graph is built; the defaults are for the model's own graph.
struct BuildOptions {
  std::set<std::string> replaced = {};  // initializers that a run passes as inputs
  std::vector<Kind> given = {};         // the types of the first inputs, which a body need not declare
  bool is_repeated = false;             // whether it is the body of a loop
  Constants fixed = {};                 // inputs that are constants
};

class Builder {
 public:
  // outer: the builder of the enclosing graph, whose values a body can use; null for the model's graph.
  Builder(const BuildContext& context, Builder* outer);

  // Raises Invalid, WrongType, NoMemory, or Unsupported with everything that the graph needs.
  [[nodiscard]] std::shared_ptr<Program> program(const GraphMessage& graph, const BuildOptions& options = {});

  // For nodes with bodies. Returns the program of a body, and the names of the outer values that it needs when it runs.
  struct Body {
    std::shared_ptr<Program> program;
    std::vector<std::string> around;
  };
  [[nodiscard]] Body inner(const GraphMessage& graph, const BuildOptions& options = {});
  [[nodiscard]] int opset() const { return context_.opset; }
  // kUndefined if the value does not exist.
  [[nodiscard]] Kind kind_of(const std::string& name) const;
  // Absent if the value is not a constant.
  [[nodiscard]] Array constant(const std::string& name) const;

 private:
  void add(const NodeMessage& node, int opset);
  void add_all(const std::vector<NodeMessage>& nodes, int opset, const std::vector<std::string>& results);
  void add_by_rows(const NodeMessage& node, int opset);
  void add_by(const Row& row, const NodeMessage& node, int opset);
  [[nodiscard]] bool add_domain_node(const NodeMessage& node);
  [[nodiscard]] bool add_integers(const NodeMessage& node, int opset);
  void keep(Step step, bool may_postpone = true);
  [[nodiscard]] bool may_postpone(const Step& step) const;
  [[nodiscard]] int postponed_depth(const Step& step) const;
  [[nodiscard]] bool fold(const Step& step);
  void emit(const std::string& name);
  void compute(const std::string& name);
  void compute_postponed();
  [[nodiscard]] std::vector<Kind> kinds_of(const NodeMessage& node) const;
  void add_initializers(const GraphMessage& graph, const BuildOptions& options, const Counts& uses);
  void add_inputs(const GraphMessage& graph, const BuildOptions& options);
  void forget(const NodeMessage& node, std::unordered_map<std::string, std::int64_t>& left);
  void set_kind(const std::string& name, Kind kind) { kinds_[name] = kind; }
  void set_constant(const std::string& name, const Array& array) { constants_[name] = array; }
  void drop_constant(const std::string& name);
  void mark_taken(const std::vector<std::string>& names) { taken_.insert(names.begin(), names.end()); }
  void raise_refusals() const;
  [[nodiscard]] Constants all_constants(const std::vector<Step>& steps, const std::vector<std::string>& outputs) const;

  const BuildContext& context_;
  Builder* const outer_;
  std::unordered_map<std::string, Kind> kinds_;
  std::unordered_map<std::string, std::optional<Array>> constants_;  // nothing: a value that hides an outer constant
  std::vector<Step> steps_;
  std::vector<Unsupported> refusals_;
  std::vector<std::string> folded_;
  std::unordered_map<std::string, Array> keys_;  // of the sequences of maps
  QuantizedFloats quantized_;
  std::vector<std::string> patterns_;
  std::unordered_set<std::string> taken_;  // constants that steps use
  // Steps that convert byte constants to floats, by the name of their result, and in their order.
  struct Postponed {
    Step step;
    int depth;  // the number of postponed steps in the longest chain that ends here
  };
  std::unordered_map<std::string, Postponed> postponed_;
  std::vector<std::string> postponed_order_;
  Recipes recipes_;
};

// Reports all unsupported operators with their nodes, so that the error lists everything that the model needs.
void refuse_unknown(const ModelMessage& model);
// The version of ONNX's own operators that the model uses.
[[nodiscard]] int opset_of(const ModelMessage& model);
// The same for the operators of ai.onnx.ml; 0 if the model does not declare it and has no such node.
[[nodiscard]] int ml_opset_of(const ModelMessage& model);
// Calls a function for each node, including the nodes in bodies.
void for_each_node(const std::vector<NodeMessage>& nodes, const std::function<void(const NodeMessage&)>& use);

// If, Loop and Scan (control.cpp).
[[nodiscard]] bool is_control(std::string_view op);
[[nodiscard]] Step control_step(const NodeMessage& node, Builder& builder);

}  // namespace anydml::onnx
