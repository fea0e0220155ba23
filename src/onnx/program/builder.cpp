// SPDX-License-Identifier: MIT
#include "onnx/program/builder.h"

#include <algorithm>
#include <map>
#include <utility>

#include "onnx/program/checked_node.h"
#include "onnx/program/four_bits.h"
#include "onnx/rows/expansion.h"
#include "onnx/rows/ml/ml.h"
#include "onnx/schema/schema.h"
#include "onnx/values/device_elements.h"

namespace anydml::onnx {
namespace {

// Converting byte weights to floats makes them four times as large. Graphs convert and pack them in one step, unless
// other steps use them.
constexpr std::size_t kMinWidened = std::size_t{1} << 16;  // the smallest weights, in bytes, for which this pays off
constexpr int kMaxPostponed = 32;  // the maximum number of postponed steps that depend on each other

bool is_widening(std::string_view op) { return op == "Cast" || op == "DequantizeLinear"; }

// Steps that may occur between the conversion and the product.
bool may_follow_widening(std::string_view op) {
  return op == "Add" || op == "Mul" || op == "Reshape" || op == "Sub" || op == "Transpose";
}

// Whether a step packs the weights at this input.
bool packs_input(std::string_view op, std::size_t position) {
  if (op == "Conv" || op == "ConvTranspose" || op == "Gemm" || op == "MatMul") {
    return position == 1;
  }
  return (op == "GRU" || op == "LSTM" || op == "RNN") && (position == 1 || position == 2);
}

void count_body_uses(const GraphMessage& graph, Counts& counts) {
  for_each_node(graph.nodes, [&counts](const NodeMessage& node) {
    for (const std::string& name : node.inputs) {
      ++counts[name];
    }
  });
  for (const ValueMessage& value : graph.outputs) {
    ++counts[value.name];
  }
}

// Counts how often nodes use each value. Uses in bodies and outputs also count, so these values are never dropped.
Counts count_uses(const GraphMessage& graph) {
  Counts counts;
  for (const NodeMessage& node : graph.nodes) {
    for (const std::string& name : node.inputs) {
      ++counts[name];
    }
    for (const AttributeMessage& attribute : node.attributes) {
      if (attribute.g != nullptr) {
        count_body_uses(*attribute.g, counts);
      }
      for (const auto& inner : attribute.graphs) {
        count_body_uses(*inner, counts);
      }
    }
  }
  for (const ValueMessage& value : graph.outputs) {
    ++counts[value.name];
  }
  return counts;
}

void check_outputs(const NodeMessage& node) {
  if (node.outputs.empty()) {
    fail("{} has no outputs; expected 1 or more", label_of(node));
  }
  for (const AttributeMessage& attribute : node.attributes) {
    if (!attribute.ref_attr_name.empty()) {
      fail("{}: attribute {} refers to {} of a function, but the node is not in a function", label_of(node),
           quoted(attribute.name), quoted(attribute.ref_attr_name));
    }
  }
}

}  // namespace

Builder::Builder(const BuildContext& context, Builder* outer) : context_(context), outer_(outer), quantized_(*this) {}

Kind Builder::kind_of(const std::string& name) const {
  for (const Builder* builder = this; builder != nullptr; builder = builder->outer_) {
    const auto found = builder->kinds_.find(name);
    if (found != builder->kinds_.end()) {
      return found->second;
    }
  }
  return Kind::kUndefined;
}

Array Builder::constant(const std::string& name) const {
  for (const Builder* builder = this; builder != nullptr; builder = builder->outer_) {
    const auto found = builder->constants_.find(name);
    if (found != builder->constants_.end()) {
      return found->second.value_or(Array());
    }
  }
  return {};
}

void Builder::drop_constant(const std::string& name) {
  if (outer_ == nullptr) {
    constants_.erase(name);
  } else {
    constants_[name] = std::nullopt;
  }
}

void Builder::add_initializers(const GraphMessage& graph, const BuildOptions& options, const Counts& uses) {
  const std::unordered_set<std::string> halves = kept_in_four_bits(graph, uses);
  std::unordered_set<std::string> names;
  for (const TensorMessage& tensor : graph.initializers) {
    if (!names.insert(tensor.name).second) {
      fail("two initializers have the name {}; expected unique names", quoted(tensor.name));
    }
    set_kind(tensor.name, checked_kind(tensor.data_type, "tensor " + quoted(tensor.name) + ": data_type"));
    if (!options.replaced.contains(tensor.name)) {
      set_constant(tensor.name,
                   halves.contains(tensor.name) ? halves_of(tensor, context_.model) : array_of(tensor, context_.model));
    }
  }
}

void Builder::add_inputs(const GraphMessage& graph, const BuildOptions& options) {
  std::unordered_set<std::string> initialized;
  for (const TensorMessage& tensor : graph.initializers) {
    initialized.insert(tensor.name);
  }
  for (const auto& [name, array] : options.fixed) {
    set_constant(name, array);
  }
  std::unordered_set<std::string> names;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const std::string& name = graph.inputs[i].name;
    if (!names.insert(name).second) {
      fail("two inputs have the name {}; expected unique names", quoted(name));
    }
    set_kind(name, i < options.given.size() ? options.given[i] : graph.inputs[i].kind);
    if (options.replaced.contains(name) || !(options.fixed.contains(name) || initialized.contains(name))) {
      drop_constant(name);
    }
  }
}

std::shared_ptr<Program> Builder::program(const GraphMessage& graph, const BuildOptions& options) {
  Counts left = count_uses(graph);
  add_initializers(graph, options, left);
  add_inputs(graph, options);
  if (!context_.is_literal) {
    quantized_.read(graph, left);
  }
  for (const NodeMessage& node : graph.nodes) {
    try {
      if (!quantized_.is_replaced(node)) {
        add(node, context_.opset);
      }
    } catch (const Unsupported& refusal) {
      refusals_.push_back(refusal);
      for (const std::string& name : node.outputs) {
        set_kind(name, Kind::kRejected);
      }
    }
    forget(node, left);
  }
  raise_refusals();
  std::vector<std::string> outputs, inputs;
  std::vector<Kind> kinds;
  for (const ValueMessage& value : graph.outputs) {
    if (value.name.empty()) {
      fail("output {} has no name", outputs.size());
    }
    if (kind_of(value.name) == Kind::kUndefined) {
      fail("output {} is neither computed by a node nor an input of the graph", quoted(value.name));
    }
    compute(value.name);
    outputs.push_back(value.name);
    kinds.push_back(kind_of(value.name));
  }
  for (const ValueMessage& value : graph.inputs) {
    inputs.push_back(value.name);
  }
  const Constants constants = all_constants(steps_, outputs);
  auto built = std::make_shared<Program>(std::move(steps_), std::move(outputs), constants, std::move(inputs),
                                         std::move(kinds), options.is_repeated, context_.program);
  built->folded = std::move(folded_);
  for (const ValueMessage& value : graph.outputs) {
    const auto found = keys_.find(value.name);
    built->keys.push_back(found == keys_.end() ? Array() : found->second);
  }
  built->patterns = std::move(patterns_);
  return built;
}

// The constants that the steps and outputs use.
Constants Builder::all_constants(const std::vector<Step>& steps, const std::vector<std::string>& outputs) const {
  Constants result;
  const auto take = [&](const std::string& name) {
    if (!name.empty() && !result.contains(name)) {
      if (const Array found = constant(name); found) {
        result.emplace(name, found);
      }
    }
  };
  for (const Step& step : steps) {
    std::for_each(step.inputs.begin(), step.inputs.end(), take);
  }
  std::for_each(outputs.begin(), outputs.end(), take);
  return result;
}

void Builder::raise_refusals() const {
  if (refusals_.empty()) {
    return;
  }
  std::vector<std::string> messages, needs;
  std::unordered_set<std::string> seen_messages, seen_needs;
  for (const Unsupported& one : refusals_) {
    if (seen_messages.insert(one.what()).second) {
      messages.emplace_back(one.what());
    }
    for (const std::string& need : one.needs()) {
      if (seen_needs.insert(need).second) {
        needs.push_back(need);
      }
    }
  }
  std::string text;
  for (const std::string& one : messages) {
    text += (text.empty() ? "" : "; ") + one;
  }
  throw Unsupported(text, needs);
}

// Drops constants that no later node and no step uses, such as weights that were converted. Constants that a body uses
// stay.
void Builder::forget(const NodeMessage& node, Counts& left) {
  for (const std::string& name : node.inputs) {
    --left[name];
  }
  for (const std::string& name : node.inputs) {
    if (left[name] == 0 && !taken_.contains(name) && constants_.contains(name)) {
      drop_constant(name);
    }
  }
}

std::vector<Kind> Builder::kinds_of(const NodeMessage& node) const {
  std::vector<Kind> kinds;
  for (const std::string& name : node.inputs) {
    kinds.push_back(name.empty() ? Kind::kUndefined : kind_of(name));
  }
  return kinds;
}

void Builder::add(const NodeMessage& node, int opset) {
  check_outputs(node);
  for (const std::string& name : node.outputs) {
    if (!name.empty() && kinds_.contains(name)) {
      fail("{}: its result {} is computed twice, or is also an input or initializer; expected unique names",
           label_of(node), quoted(name));
    }
  }
  if (node.op_type == "Constant" && is_default_domain(node.domain)) {
    Kind kind = Kind::kUndefined;
    set_constant(node.outputs[0], constant_of(node, context_.model, kind));
    set_kind(node.outputs[0], kind);
    return;
  }
  bool is_rejected = false;
  for (const std::string& name : node.inputs) {
    const Kind kind = name.empty() ? Kind::kNothing : kind_of(name);
    if (kind == Kind::kUndefined) {
      fail("{}: input {} is neither computed by an earlier node nor an input of the graph", label_of(node),
           quoted(name));
    }
    is_rejected = is_rejected || kind == Kind::kRejected;
  }
  if (is_rejected) {  // it depends on a rejected node
    for (const std::string& name : node.outputs) {
      set_kind(name, Kind::kRejected);
    }
    return;
  }
  if (add_domain_node(node)) {
    return;
  }
  if (!is_default_domain(node.domain)) {
    add_by_rows(node, node.domain == kMlDomain ? context_.ml_opset : opset);
    return;
  }
  if (is_control(node.op_type)) {
    compute_postponed();  // the body may use their results
    keep(control_step(node, *this));
    return;
  }
  if (!context_.is_literal && add_integers(node, opset)) {
    return;
  }
  add_by_rows(node, opset);
}

bool Builder::add_domain_node(const NodeMessage& node) {
  const DomainRow* const row = find_domain_row(node);
  if (row == nullptr) {
    return false;
  }
  const std::vector<Kind> kinds = kinds_of(node);
  const bool makes_step = row->make != nullptr || row->make_product != nullptr;
  if (makes_step && (row->expand == nullptr || !context_.is_literal)) {
    Step step;
    step.compute = row->make != nullptr ? row->make(node, kinds, step.kinds)
                                        : row->make_product(node, kinds, context_.activations, step.kinds);
    step.label = label_of(node);
    step.op = node.op_type;
    step.inputs = node.inputs;
    step.outputs = node.outputs;
    step.uses = row->uses;
    step.multiplies_codes = row->make_product != nullptr;
    if (row->needs_cpu && with_own_memory(context_.program.graphs.device) != nullptr) {
      step.on_host = "only the CPU has kernels";
    }
    step.recipe = step.on_host.empty() ? recipes_.number_of(*row, node, kinds) : 0;
    keep(std::move(step));
    return true;
  }
  Expansion expansion(node, kinds, context_.opset);
  expansion.written_opset = newest_opset();
  row->expand(expansion);
  add_all(expansion.nodes, expansion.written_opset, node.outputs);
  return true;
}

// Adds the nodes that compute with the integers of dequantized floats, if there are any.
bool Builder::add_integers(const NodeMessage& node, int opset) {
  if (node.op_type == "DequantizeLinear") {
    if (quantized_.note(node)) {
      mark_taken(node.inputs);
    }
    return false;
  }
  const std::optional<Replacement> found = quantized_.replacement(node, opset);
  if (!found.has_value()) {
    return false;
  }
  add_all(found->nodes, std::max(opset, found->min_opset), found->outputs);
  patterns_.push_back(found->pattern);
  return true;
}

// Adds the nodes that compute the results of another node, and then drops their constants.
void Builder::add_all(const std::vector<NodeMessage>& nodes, int opset, const std::vector<std::string>& results) {
  for (const NodeMessage& inner : nodes) {
    add(inner, opset);
  }
  for (const NodeMessage& inner : nodes) {
    for (const std::string& name : inner.outputs) {
      const bool is_result = std::find(results.begin(), results.end(), name) != results.end();
      if (!is_result && !taken_.contains(name) && constants_.contains(name)) {
        drop_constant(name);
      }
    }
  }
}

// Adds a step for a node, using the first row of the table that accepts it.
void Builder::add_by_rows(const NodeMessage& node, int opset) {
  const std::string name = row_name(node);
  const Schema* const schema = find_schema(name, opset);
  if (!has_rows(name)) {
    throw Unsupported("not an operator that anydml runs: " + printable(node.op_type), {printable(node.op_type)});
  }
  if (schema == nullptr) {
    fail("{}: ONNX has no {} in opset {}", label_of(node), printable(node.op_type), opset);
  }
  std::optional<Unsupported> refusal;
  for (const Row* const row : rows_of(name, schema->since)) {
    try {
      add_by(*row, node, opset);
      return;
    } catch (const Unsupported& error) {
      if (!refusal.has_value()) {
        refusal = error;
      }
    }
  }
  if (refusal.has_value()) {
    throw Unsupported(*refusal);
  }
  throw Unsupported(label_of(node) + ": anydml does not support this version of " + printable(node.op_type),
                    {printable(node.op_type)});
}

void Builder::add_by(const Row& row, const NodeMessage& node, int opset) {
  const Schema& schema = *find_schema(row.op, opset);
  Arrays fixed;
  if (row.reads_constants) {
    for (const std::string& name : node.inputs) {
      fixed.push_back(name.empty() ? Array() : constant(name));
    }
  }
  const Node checked = checked_node(node, row, kinds_of(node), schema, opset, std::move(fixed), context_.model);
  Compute built = row.make == nullptr ? Compute() : row.make(checked);
  Step step;
  step.label = checked.label;
  step.op = node.op_type;
  step.inputs = node.inputs;
  if (built) {
    const auto is_string = [](Kind kind) { return kind == Kind::kString; };
    const bool has_strings = std::any_of(checked.kinds.begin(), checked.kinds.end(), is_string) ||
                             std::any_of(checked.results.begin(), checked.results.end(), is_string);
    if (!checked.results.empty() && checked.results[0] == Kind::kSequence) {
      if (outer_ != nullptr) {
        refuse(checked, "in a body", "only an output of the model can be a sequence");
      }
      keys_[node.outputs[0]] = map_keys(checked);
    }
    step.compute = std::move(built);
    step.outputs = node.outputs;
    step.kinds = checked.results;
    step.uses = row.uses;
    step.on_host = row.is_on_host ? row.uses : has_strings ? "strings" : std::string_view();
    step.recipe = step.on_host.empty() ? recipes_.number_of(row, checked) : 0;
    keep(std::move(step));
    return;
  }
  if (row.check != nullptr) {
    for (const std::string& name : node.inputs) {
      compute(name);
    }
    mark_taken(node.inputs);
    step.compute = row.check(checked);
    steps_.push_back(std::move(step));
  }
  Expansion expansion(node, checked.kinds, opset);
  expansion.written_opset = opset;
  row.expand(expansion);
  add_all(expansion.nodes, expansion.written_opset, node.outputs);
}

// Adds a step, or computes its results as constants if all its inputs are constants.
void Builder::keep(Step step, bool postpones) {
  for (std::size_t i = 0; i < std::min(step.outputs.size(), step.kinds.size()); ++i) {
    if (!step.outputs[i].empty()) {
      set_kind(step.outputs[i], step.kinds[i]);
    }
  }
  if (postpones && may_postpone(step)) {
    mark_taken(step.inputs);
    const std::string name = step.outputs[0];
    postponed_order_.push_back(name);
    const int depth = postponed_depth(step) + 1;
    postponed_.emplace(name, Postponed{std::move(step), depth});
    return;
  }
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (packs_input(step.op, i)) {
      emit(step.inputs[i]);
    } else {
      compute(step.inputs[i]);
    }
  }
  if (fold(step)) {
    return;
  }
  mark_taken(step.inputs);
  steps_.push_back(std::move(step));
}

// Computes the results of a step as constants, if all its inputs are constants. If that fails, the run reports the
// error.
bool Builder::fold(const Step& step) {
  if (step.op == "Loop" || step.op == "Scan") {
    return false;  // it may take any time, so it runs when the model runs, and can be interrupted
  }
  Arrays inputs;
  for (const std::string& name : step.inputs) {
    inputs.push_back(name.empty() ? Array() : constant(name));
    if (!name.empty() && !inputs.back()) {
      return false;
    }
  }
  Arrays results;
  try {
    results = perform(step, inputs);
  } catch (const NoMemory&) {
    throw;
  } catch (const DeviceFailure&) {
    throw;
  } catch (const std::runtime_error&) {
    return false;
  }
  for (std::size_t i = 0; i < std::min(results.size(), step.outputs.size()); ++i) {
    set_constant(step.outputs[i], results[i]);
  }
  folded_.push_back(step.label);
  return true;
}

// Whether the step converts byte weights to floats, or continues to compute with such floats.
bool Builder::may_postpone(const Step& step) const {
  const bool are_constants = std::all_of(step.inputs.begin(), step.inputs.end(), [this](const std::string& name) {
    return name.empty() || postponed_.contains(name) || constant(name);
  });
  if (outer_ != nullptr || step.inputs.empty() || !are_constants) {
    return false;
  }
  const int depth = postponed_depth(step);
  if (may_follow_widening(step.op) && depth > 0) {
    return depth < kMaxPostponed;
  }
  const Array array = is_widening(step.op) ? constant(step.inputs[0]) : Array();
  return array && item_size(array_kind(array.kind())) == 1 && array.bytes() >= kMinWidened &&
         (step.kinds[0] == Kind::kFloat16 || step.kinds[0] == Kind::kFloat);
}

// The longest chain of postponed steps that a step depends on.
int Builder::postponed_depth(const Step& step) const {
  int depth = 0;
  for (const std::string& name : step.inputs) {
    const auto found = postponed_.find(name);
    depth = found == postponed_.end() ? depth : std::max(depth, found->second.depth);
  }
  return depth;
}

// Adds a postponed step before the step that uses its result.
void Builder::emit(const std::string& name) {
  const auto found = postponed_.find(name);
  if (found == postponed_.end()) {
    return;
  }
  Step step = std::move(found->second.step);
  postponed_.erase(found);
  for (const std::string& one : step.inputs) {
    emit(one);
  }
  step.is_of_weights = true;
  steps_.push_back(std::move(step));
}

// Computes the result of a postponed step as a constant.
void Builder::compute(const std::string& name) {
  const auto found = postponed_.find(name);
  if (found == postponed_.end()) {
    return;
  }
  const std::vector<std::string> inputs = found->second.step.inputs;
  for (const std::string& one : inputs) {
    compute(one);
  }
  Step step = std::move(postponed_.at(name).step);
  postponed_.erase(name);
  keep(std::move(step), false);
}

void Builder::compute_postponed() {
  const std::vector<std::string> names = std::move(postponed_order_);
  postponed_order_.clear();
  for (const std::string& name : names) {
    compute(name);
  }
}

Builder::Body Builder::inner(const GraphMessage& graph, const BuildOptions& options) {
  Builder builder(context_, this);
  Body body;
  body.program = builder.program(graph, options);
  const std::set<std::string> own(body.program->inputs().begin(), body.program->inputs().end());
  for (const std::string& name : body.program->wanted()) {
    if (!own.contains(name)) {
      body.around.push_back(name);
    }
  }
  return body;
}

}  // namespace anydml::onnx
