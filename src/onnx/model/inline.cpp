// SPDX-License-Identifier: MIT
// Replaces calls to a model's functions with the nodes of the functions.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "onnx/model/functions.h"
#include "onnx/model/message.h"
#include "onnx/values/errors.h"

namespace anydml::onnx {
namespace {

// The names of a function's values in one call, or of the values of a graph inside the function. The scope of a graph
// ends in the scope of its function.
struct NameScope {
  NameScope* parent = nullptr;
  std::uint64_t call = 0;
  std::unordered_map<std::string, std::string> names;  // new names by old names
};

// One call of a function.
struct FunctionCall {
  std::size_t position = 0;  // of the function
  NodeMessage node;          // the call, with the names and attributes of the model
  std::unordered_map<std::string_view, const AttributeMessage*> attributes;
  NameScope scope;
  // Outputs that are inputs or other outputs too. An Identity copies each of them: from the function's name, to the
  // name in the model.
  std::vector<std::pair<std::string, std::string>> copies;
};

// Where nodes are: in a call, and in a number of graphs. Nodes of the model's own graphs have neither call nor scope.
struct Place {
  FunctionCall* call = nullptr;
  NameScope* scope = nullptr;
  int nesting = 1;
};

class Inliner {
 public:
  Inliner(ModelMessage& model, const FunctionTable& table)
      : model_(model), table_(table), is_checked_(model.functions.size()), defaults_(model.functions.size()) {
    add_names(model.graph);
  }

  void run();

 private:
  void expand(const std::vector<NodeMessage>& nodes, Place place, std::vector<NodeMessage>& to);
  void add_copies(const FunctionCall& call, std::vector<NodeMessage>& to);
  [[nodiscard]] std::unique_ptr<FunctionCall> enter(std::size_t position, NodeMessage node);
  void check_opsets(const FunctionMessage& function);

  [[nodiscard]] NodeMessage placed(const NodeMessage& node, Place place);
  void place_graphs(AttributeMessage& attribute, Place place);
  [[nodiscard]] const AttributeMessage* referred(const std::string& name, const FunctionCall& call);
  [[nodiscard]] std::shared_ptr<const GraphMessage> placed_graph(const GraphMessage& graph, Place place);

  void add_names(const GraphMessage& graph);
  [[nodiscard]] std::string new_name(const std::string& name, std::uint64_t call);
  [[nodiscard]] std::string defined(const std::string& name, NameScope& scope);
  [[nodiscard]] std::string used(const std::string& name, NameScope& scope);

  void count(std::uint64_t nodes, std::uint64_t bytes);
  void count_graph(const GraphMessage& graph, int nesting);

  ModelMessage& model_;
  const FunctionTable& table_;
  std::vector<bool> is_checked_;  // for each function, whether its opsets are
  std::vector<std::optional<std::unordered_map<std::string_view, const AttributeMessage*>>> defaults_;
  std::unordered_set<std::string> taken_;  // names that exist in the model
  std::uint64_t calls_ = 0;
  std::uint64_t collisions_ = 0;
  std::uint64_t nodes_ = 0;
  std::uint64_t bytes_ = 0;
};

// ---- Limits ---------------------------------------------------------------------------------------------------------

// check_functions has checked the sizes already, except for attributes of calls that are used several times.
void Inliner::count(std::uint64_t nodes, std::uint64_t bytes) {
  nodes_ += nodes;
  bytes_ += bytes;
  check_inlined_size(nodes_, bytes_, "the model's graph");
}

void Inliner::count_graph(const GraphMessage& graph, int nesting) {
  if (nesting > kMaxGraphNesting) {
    fail("the graphs of the model are nested more than {} levels deep once functions are replaced by their nodes",
         kMaxGraphNesting);
  }
  count(graph.nodes.size(), own_bytes(graph));
  for (const NodeMessage& node : graph.nodes) {
    count(0, own_bytes(node));
    for (const AttributeMessage& attribute : node.attributes) {
      visit_graphs(attribute, [&](const GraphMessage& inner) { count_graph(inner, nesting + 1); });
    }
  }
}

// ---- Names ----------------------------------------------------------------------------------------------------------

void Inliner::add_names(const GraphMessage& graph) {
  for (const auto* const values : {&graph.inputs, &graph.outputs}) {
    for (const ValueMessage& value : *values) {
      taken_.insert(value.name);
    }
  }
  for (const TensorMessage& tensor : graph.initializers) {
    taken_.insert(tensor.name);
  }
  taken_.insert(graph.sparse_initializers.begin(), graph.sparse_initializers.end());
  for (const NodeMessage& node : graph.nodes) {
    taken_.insert(node.inputs.begin(), node.inputs.end());
    taken_.insert(node.outputs.begin(), node.outputs.end());
    for (const AttributeMessage& attribute : node.attributes) {
      visit_graphs(attribute, [this](const GraphMessage& inner) { add_names(inner); });
    }
  }
}

std::string Inliner::new_name(const std::string& name, std::uint64_t call) {
  const std::string first = name + "__" + std::to_string(call);
  std::string result = first;
  // No number is tried twice, so all names together collide at most once with each name in the model.
  while (!taken_.insert(result).second) {
    result = first + "_" + std::to_string(collisions_++);
  }
  return result;
}

// The new name of a value that a node or a graph defines in this scope.
std::string Inliner::defined(const std::string& name, NameScope& scope) {
  if (name.empty()) {
    return name;
  }
  const auto [found, is_new] = scope.names.try_emplace(name);
  if (is_new) {
    found->second = new_name(name, scope.call);
  }
  return found->second;
}

// The new name of a value that is used in this scope. A name without a definition counts as one of the function's, so
// it never means a value of the model that has the same name by accident.
std::string Inliner::used(const std::string& name, NameScope& scope) {
  if (name.empty()) {
    return name;
  }
  NameScope* last = &scope;
  for (NameScope* one = &scope; one != nullptr; one = one->parent) {
    if (const auto found = one->names.find(name); found != one->names.end()) {
      return found->second;
    }
    last = one;
  }
  return defined(name, *last);
}

// ---- Calls ----------------------------------------------------------------------------------------------------------

void Inliner::check_opsets(const FunctionMessage& function) {
  for (const OpsetImport& wanted : function.opset_imports) {
    const bool is_default = is_default_domain(wanted.domain);
    const auto own =
        std::find_if(model_.opset_imports.begin(), model_.opset_imports.end(), [&](const OpsetImport& one) {
          return is_default ? is_default_domain(one.domain) : one.domain == wanted.domain;
        });
    if (own == model_.opset_imports.end()) {
      model_.opset_imports.push_back(wanted);
    } else if ((is_default || wanted.domain == "ai.onnx.ml") && own->version != wanted.version) {
      const std::string name = function_text(function);
      throw Unsupported(
          format_text("function {} uses opset {} of {} operators, but the model uses opset {}; anydml supports only "
                      "functions with the model's opset",
                      onnx::quoted(name), wanted.version, is_default ? "ONNX's" : "ai.onnx.ml's", own->version),
          {name});
    }
  }
}

std::unique_ptr<FunctionCall> Inliner::enter(std::size_t position, NodeMessage node) {
  const FunctionMessage& function = model_.functions[position];
  if (!is_checked_[position]) {
    check_opsets(function);
    is_checked_[position] = true;
  }
  if (node.inputs.size() > function.inputs.size()) {
    fail("{} has {} inputs; expected {} at most, as its function has", label_of(node), node.inputs.size(),
         function.inputs.size());
  }
  if (node.outputs.size() > function.outputs.size()) {
    fail("{} has {} outputs; expected {} at most, as its function has", label_of(node), node.outputs.size(),
         function.outputs.size());
  }
  auto call = std::make_unique<FunctionCall>();
  call->position = position;
  call->node = std::move(node);
  call->scope.call = ++calls_;
  for (const AttributeMessage& attribute : call->node.attributes) {
    call->attributes.emplace(attribute.name, &attribute);
  }
  auto& names = call->scope.names;
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    names.emplace(function.inputs[i], i < call->node.inputs.size() ? call->node.inputs[i] : "");
  }
  for (std::size_t i = 0; i < call->node.outputs.size(); ++i) {
    const std::string& given = call->node.outputs[i];
    if (!given.empty() && !names.emplace(function.outputs[i], given).second) {
      call->copies.emplace_back(function.outputs[i], given);
    }
  }
  return call;
}

void Inliner::add_copies(const FunctionCall& call, std::vector<NodeMessage>& to) {
  for (const auto& [from, given] : call.copies) {
    NodeMessage& copy = to.emplace_back();
    copy.op_type = "Identity";
    copy.inputs = {call.scope.names.at(from)};
    copy.outputs = {given};
    count(1, own_bytes(copy));
  }
}

// Appends nodes to a list, and the nodes of functions in place of calls. A stack replaces recursion, because functions
// may call functions to any depth.
void Inliner::expand(const std::vector<NodeMessage>& nodes, Place place, std::vector<NodeMessage>& to) {
  struct Frame {
    const std::vector<NodeMessage>* nodes;
    std::size_t next;
    Place place;
    std::unique_ptr<FunctionCall> call;  // that ends with these nodes
  };
  std::vector<Frame> frames;
  frames.push_back({&nodes, 0, place, nullptr});
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.next == frame.nodes->size()) {
      if (frame.call) {
        add_copies(*frame.call, to);
      }
      frames.pop_back();
      continue;
    }
    const NodeMessage& node = (*frame.nodes)[frame.next++];
    NodeMessage own = placed(node, frame.place);
    const auto function = table_.called_by(node);
    count(function ? 0 : 1, own_bytes(own));
    if (function) {
      auto call = enter(*function, std::move(own));
      const Place inside{.call = call.get(), .scope = &call->scope, .nesting = place.nesting};
      frames.push_back({&model_.functions[*function].nodes, 0, inside, std::move(call)});
    } else {
      to.push_back(std::move(own));
    }
  }
}

// ---- Nodes ----------------------------------------------------------------------------------------------------------

// The attribute that a function's node refers to: the call's, or the function's default, or null.
const AttributeMessage* Inliner::referred(const std::string& name, const FunctionCall& call) {
  if (const auto found = call.attributes.find(name); found != call.attributes.end()) {
    return found->second;
  }
  auto& defaults = defaults_[call.position];
  if (!defaults) {
    defaults.emplace();
    for (const AttributeMessage& attribute : model_.functions[call.position].default_attributes) {
      defaults->emplace(attribute.name, &attribute);
    }
  }
  const auto found = defaults->find(name);
  return found == defaults->end() ? nullptr : found->second;
}

// A node with the names and attributes that it has in the model, and with its graphs expanded.
NodeMessage Inliner::placed(const NodeMessage& node, Place place) {
  NodeMessage result;
  result.name =
      node.name.empty() || place.scope == nullptr ? node.name : node.name + "__" + std::to_string(place.scope->call);
  result.op_type = node.op_type;
  result.domain = node.domain;
  result.overload = node.overload;
  result.inputs = node.inputs;
  result.outputs = node.outputs;
  result.attributes.reserve(node.attributes.size());
  for (const AttributeMessage& attribute : node.attributes) {
    const bool is_reference = place.call != nullptr && !attribute.ref_attr_name.empty();
    const AttributeMessage* const value = is_reference ? referred(attribute.ref_attr_name, *place.call) : &attribute;
    if (value == nullptr) {
      continue;
    }
    AttributeMessage& copy = result.attributes.emplace_back(*value);
    copy.name = attribute.name;
    if (is_reference && place.call->attributes.contains(attribute.ref_attr_name)) {
      // The graphs are the call's own. They have the model's names already.
      visit_graphs(copy, [&](const GraphMessage& graph) { count_graph(graph, place.nesting + 1); });
    } else {
      place_graphs(copy, place);
    }
  }
  if (place.scope != nullptr) {
    for (std::string& name : result.inputs) {
      name = used(name, *place.scope);
    }
    for (std::string& name : result.outputs) {
      name = defined(name, *place.scope);
    }
  }
  return result;
}

void Inliner::place_graphs(AttributeMessage& attribute, Place place) {
  if (attribute.g) {
    attribute.g = placed_graph(*attribute.g, place);
  }
  for (auto& graph : attribute.graphs) {
    graph = placed_graph(*graph, place);
  }
}

std::shared_ptr<const GraphMessage> Inliner::placed_graph(const GraphMessage& graph, Place place) {
  if (++place.nesting > kMaxGraphNesting) {
    fail("the graphs of the model are nested more than {} levels deep once functions are replaced by their nodes",
         kMaxGraphNesting);
  }
  count(0, own_bytes(graph));
  auto result = std::make_shared<GraphMessage>();
  result->name = graph.name;
  result->initializers = graph.initializers;
  result->sparse_initializers = graph.sparse_initializers;
  result->inputs = graph.inputs;
  result->outputs = graph.outputs;
  if (place.scope == nullptr) {
    expand(graph.nodes, place, result->nodes);
    return result;
  }
  NameScope scope{.parent = place.scope, .call = place.scope->call, .names = {}};
  place.scope = &scope;
  for (ValueMessage& value : result->inputs) {
    value.name = defined(value.name, scope);
  }
  for (TensorMessage& tensor : result->initializers) {
    tensor.name = defined(tensor.name, scope);
  }
  expand(graph.nodes, place, result->nodes);
  for (ValueMessage& value : result->outputs) {
    value.name = used(value.name, scope);
  }
  return result;
}

void Inliner::run() {
  std::vector<NodeMessage> nodes;
  expand(model_.graph.nodes, {}, nodes);
  model_.graph.nodes = std::move(nodes);
}

}  // namespace

void inline_functions(ModelMessage& model) {
  if (model.functions.empty()) {
    return;
  }
  {
    const FunctionTable table(model);
    check_functions(model, table);
    Inliner(model, table).run();
  }
  model.functions.clear();
}

}  // namespace anydml::onnx
