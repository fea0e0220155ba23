// SPDX-License-Identifier: MIT
// If, Loop and Scan. Their bodies are separate Programs, which can use values from the enclosing graph. While a graph
// is recorded, the branch of an If whose condition is known becomes part of that graph. Loops run on the host, and
// their bodies are compiled graphs that all iterations share.
#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "onnx/program/builder.h"

namespace anydml::onnx {
namespace {

const GraphMessage& body_of(const NodeMessage& node, const char* name) {
  const AttributeMessage* const found = node.find(name);
  if (found == nullptr) {
    fail("{}: {} is missing", label_of(node), name);
  }
  if (found->g == nullptr) {
    fail("{}: {} is not a graph", label_of(node), name);
  }
  return *found->g;
}

bool condition_of(const Array& array, const char* what = "the condition") {
  if (array.count() != 1) {
    fail("{} must be a single boolean, but has the shape {}", what, listed(array.shape()));
  }
  return array.integer() != 0;
}

std::string kinds_text(const std::vector<Kind>& kinds) {
  std::vector<std::string> words;
  for (const Kind kind : kinds) {
    words.emplace_back(kind_name(kind));
  }
  return joined(words);
}

void append_named(NamedArrays& to, const std::vector<std::string>& names, std::span<const Array> values) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    to.emplace_back(names[i], values[i]);
  }
}

// ---- If -------------------------------------------------------------------------------------------------------------

struct Branch {
  Builder::Body body;
  std::vector<std::size_t> positions;  // the values that it takes, among the step's inputs after the condition
};

Arrays run_branch(const Branch& branch, std::span<const Array> values) {
  NamedArrays given;
  bool has_symbols = false;
  for (std::size_t i = 0; i < branch.positions.size(); ++i) {
    given.emplace_back(branch.body.around[i], values[branch.positions[i]]);
  }
  for (const Array& one : values) {
    has_symbols = has_symbols || (one && one.is_symbol());
  }
  return has_symbols ? branch.body.program->trace(given) : branch.body.program->run(given);
}

Step if_step(const NodeMessage& node, Builder& builder) {
  if (node.inputs.empty() || node.inputs[0].empty()) {
    fail("{}: input cond is missing", label_of(node));
  }
  std::vector<Branch> branches;
  std::set<std::string> around;
  for (const char* const name : {"then_branch", "else_branch"}) {
    const GraphMessage& graph = body_of(node, name);
    if (graph.outputs.size() != node.outputs.size()) {
      fail("{}: {} has {} outputs; expected {}", label_of(node), name, graph.outputs.size(), node.outputs.size());
    }
    branches.push_back({builder.inner(graph), {}});
    around.insert(branches.back().body.around.begin(), branches.back().body.around.end());
  }
  const std::vector<Kind>& kinds = branches[0].body.program->kinds();
  if (kinds != branches[1].body.program->kinds()) {
    throw WrongType(format_text("{}: its branches return {} and {}; expected the same types", label_of(node),
                                kinds_text(kinds), kinds_text(branches[1].body.program->kinds())));
  }
  Step step;
  step.label = label_of(node);
  step.op = "If";
  step.inputs = {node.inputs[0]};
  step.inputs.insert(step.inputs.end(), around.begin(), around.end());
  step.outputs = node.outputs;
  step.kinds = kinds;
  step.uses = "a graph for each branch";
  for (Branch& branch : branches) {
    for (const std::string& name : branch.body.around) {
      branch.positions.push_back(static_cast<std::size_t>(std::distance(around.begin(), around.find(name))));
    }
    step.bodies.push_back(branch.body.program);
  }
  step.compute = [branches = std::move(branches)](std::span<const Array> inputs) {
    return run_branch(branches[condition_of(inputs[0]) ? 0 : 1], inputs.subspan(1));
  };
  return step;
}

// ---- Loop -----------------------------------------------------------------------------------------------------------

// For each state of a loop's body, whether every iteration returns it unchanged.
std::vector<bool> unchanged_states(const GraphMessage& graph) {
  std::unordered_map<std::string, std::string> same;
  for (const NodeMessage& node : graph.nodes) {
    if (node.op_type == "Identity" && !node.inputs.empty() && !node.outputs.empty()) {
      same[node.outputs[0]] = node.inputs[0];
    }
  }
  std::vector<bool> result;
  for (std::size_t i = 2; i < graph.inputs.size() && i - 1 < graph.outputs.size(); ++i) {
    const std::string& after = graph.outputs[i - 1].name;
    const auto found = same.find(after);
    result.push_back((found == same.end() ? after : found->second) == graph.inputs[i].name);
  }
  return result;
}

Sizes declared_sizes(const ValueMessage& value) {
  Sizes sizes;
  for (const Dimension& one : value.shape) {
    sizes.push_back(std::max<std::int64_t>(one.size, 0));
  }
  return sizes;
}

// The results of all iterations along a new first axis.
Array stacked(const Arrays& kept, const Sizes& sizes, Kind kind) {
  if (kept.empty()) {
    Sizes shape = sizes;
    shape.insert(shape.begin(), 0);
    return Array::empty(array_kind(kind), shape);
  }
  Arrays parts;
  for (const Array& one : kept) {
    if (one.shape() != kept.front().shape()) {
      fail("the iterations return the shapes {} and {}; expected equal shapes", listed(kept.front().shape()),
           listed(one.shape()));
    }
    parts.push_back(one.packed().insert_axis(0));
  }
  return join(parts, 0);
}

// The body of a loop was checked for the types of the initial states, so it must return states of the same types.
void check_states(const NodeMessage& node, std::span<const Kind> given, std::span<const Kind> returned) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (array_kind(given[i]) != array_kind(returned[i])) {
      throw WrongType(format_text("{}: state {} is {}, but the body returns {}; expected the same type", label_of(node),
                                  i, kind_name(given[i]), kind_name(returned[i])));
    }
  }
}

struct LoopPlan {
  std::size_t count = 0;           // the number of states
  std::vector<std::string> names;  // of the states, in the body
  std::vector<bool> stays;         // whether no iteration changes the state
  std::vector<bool> is_fixed;      // whether the state is a constant of the body
  std::vector<std::string> around;
  std::shared_ptr<Program> before, body;
  std::set<std::string> wanted;  // the values that the body needs
  std::vector<Sizes> declared;   // the sizes of the scanned outputs
  std::vector<Kind> kinds;       // of the states and the scanned outputs
};

// The values that are the same in every iteration.
NamedArrays values_around(const LoopPlan& plan, std::span<const Array> states, std::span<const Array> outer) {
  NamedArrays seen;
  append_named(seen, plan.around, outer);
  for (std::size_t i = 0; i < plan.count; ++i) {
    if (plan.stays[i] && !plan.is_fixed[i]) {
      seen.emplace_back(plan.names[i], states[i]);
    }
  }
  append_named(seen, plan.before->outputs(), plan.before->run(seen));
  std::erase_if(seen, [&plan](const auto& one) { return !plan.wanted.contains(one.first); });
  return seen;
}

// Asks whether to end, at most every 50 ms: the operators of an iteration rarely take long enough to ask.
class LoopInterrupt {
 public:
  void ask() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ >= kInterval) {
      last_ = now;
      check_status(anydml_ask_interrupt());
    }
  }

 private:
  static constexpr auto kInterval = std::chrono::milliseconds(50);
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Arrays run_loop(const LoopPlan& plan, std::span<const Array> inputs) {
  Arrays states(inputs.begin() + 2, inputs.begin() + 2 + static_cast<std::ptrdiff_t>(plan.count));
  const NamedArrays seen = values_around(plan, states, inputs.subspan(2 + plan.count));
  const std::int64_t max_trips = inputs[0] ? inputs[0].integer() : std::numeric_limits<std::int64_t>::max();
  bool goes_on = !inputs[1] || condition_of(inputs[1]);
  std::vector<Arrays> scanned(plan.kinds.size() - plan.count);
  LoopInterrupt interrupt;
  for (std::int64_t turn = 0; goes_on && turn < max_trips; ++turn) {
    interrupt.ask();
    NamedArrays given = seen;
    given.emplace_back(plan.body->inputs()[0], Array::scalar(Kind::kInt64, turn));
    given.emplace_back(plan.body->inputs()[1], Array::scalar(Kind::kBool, 1));
    for (std::size_t i = 0; i < plan.count; ++i) {
      if (!plan.stays[i]) {
        given.emplace_back(plan.names[i], states[i]);
      }
    }
    Arrays results = plan.body->run(given);
    goes_on = condition_of(results[0]);
    for (std::size_t i = 0; i < plan.count; ++i) {
      if (!plan.stays[i]) {
        states[i] = results[1 + i];
      }
    }
    for (std::size_t i = 0; i < scanned.size(); ++i) {
      scanned[i].push_back(results[1 + plan.count + i]);
    }
  }
  for (std::size_t i = 0; i < scanned.size(); ++i) {
    states.push_back(stacked(scanned[i], plan.declared[i], plan.kinds[plan.count + i]));
  }
  return states;
}

Step loop_step(const NodeMessage& node, Builder& builder) {
  const GraphMessage& graph = body_of(node, "body");
  LoopPlan plan;
  plan.count = node.inputs.size() < 2 ? 0 : node.inputs.size() - 2;
  if (graph.inputs.size() != plan.count + 2 || graph.outputs.size() != node.outputs.size() + 1 ||
      node.outputs.size() < plan.count) {
    fail("{}: its body has {} inputs and {} outputs; expected {} and {}", label_of(node), graph.inputs.size(),
         graph.outputs.size(), plan.count + 2, node.outputs.size() + 1);
  }
  plan.stays = unchanged_states(graph);
  BuildOptions options;
  options.is_repeated = true;
  options.given = {Kind::kInt64, Kind::kBool};
  for (std::size_t i = 0; i < plan.count; ++i) {
    const std::string& outer = node.inputs[i + 2];
    plan.names.push_back(graph.inputs[i + 2].name);
    options.given.push_back(builder.kind_of(outer));
    const Array constant = builder.constant(outer);
    plan.is_fixed.push_back(plan.stays[i] && constant);
    if (plan.is_fixed.back()) {
      options.fixed.emplace(plan.names.back(), constant);
    }
  }
  const Builder::Body body = builder.inner(graph, options);
  check_states(node, std::span(options.given).subspan(2), std::span(body.program->kinds()).subspan(1));
  std::vector<std::string> fixed = body.around;
  for (std::size_t i = 0; i < plan.count; ++i) {
    if (plan.stays[i]) {
      fixed.push_back(plan.names[i]);
    }
  }
  std::tie(plan.before, plan.body) = body.program->split(fixed);
  plan.around = body.around;
  const std::vector<std::string> wanted = plan.body->wanted();
  plan.wanted.insert(wanted.begin(), wanted.end());
  plan.kinds.assign(plan.body->kinds().begin() + 1, plan.body->kinds().end());
  for (std::size_t i = 1 + plan.count; i < graph.outputs.size(); ++i) {
    plan.declared.push_back(declared_sizes(graph.outputs[i]));
  }
  Step step;
  step.label = label_of(node);
  step.op = "Loop";
  step.inputs = node.inputs;
  step.inputs.resize(std::max<std::size_t>(step.inputs.size(), 2));
  step.inputs.insert(step.inputs.end(), body.around.begin(), body.around.end());
  step.outputs = node.outputs;
  step.kinds = plan.kinds;
  step.uses = "a graph of the body";
  step.on_host = "a loop runs on the host";
  step.bodies = {plan.before, plan.body};
  step.compute = [plan = std::move(plan)](std::span<const Array> inputs) { return run_loop(plan, inputs); };
  return step;
}

// ---- Scan -----------------------------------------------------------------------------------------------------------

std::vector<std::int64_t> integers_or_zeros(const NodeMessage& node, const char* name, std::size_t count) {
  const AttributeMessage* const found = node.find(name);
  std::vector<std::int64_t> result = found == nullptr ? std::vector<std::int64_t>(count) : found->ints;
  if (result.size() != count) {
    fail("{}: {} is {}; expected {} numbers", label_of(node), name, listed(result), count);
  }
  return result;
}

// Moves an axis to another position, as numpy.moveaxis does.
Array moved_axis(const Array& x, int from, int to) {
  std::vector<int> order = all_axes(x.rank());
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return x.transpose(order);
}

struct ScanPlan {
  std::size_t states = 0, scans = 0, outputs = 0;
  std::vector<std::int64_t> backwards, axes, out_backwards, out_axes;
  std::vector<Sizes> declared;
  std::vector<std::string> around;
  std::shared_ptr<Program> body;
};

Array reversed_if(const Array& x, std::int64_t is_backward) {
  return is_backward != 0 && x.size(0) > 0 ? x.slice(0, x.size(0) - 1, x.size(0), -1) : x;
}

Arrays run_scan(const ScanPlan& plan, std::span<const Array> inputs) {
  Arrays states(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(plan.states));
  NamedArrays seen;
  append_named(seen, plan.around, inputs.subspan(plan.states + plan.scans));
  Arrays rows;
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < plan.scans; ++i) {
    const Array& x = inputs[plan.states + i];
    rows.push_back(reversed_if(moved_axis(x, axis_of(plan.axes[i], x.rank()), 0), plan.backwards[i]));
    counts.push_back(rows.back().size(0));
  }
  if (counts.empty() || std::any_of(counts.begin(), counts.end(), [&](std::int64_t one) { return one != counts[0]; })) {
    std::string text = listed(counts);
    fail("the inputs have {} elements along their axes; expected equal numbers", text.substr(1, text.size() - 2));
  }
  std::vector<Arrays> scanned(plan.outputs);
  LoopInterrupt interrupt;
  for (std::int64_t turn = 0; turn < counts[0]; ++turn) {
    interrupt.ask();
    NamedArrays given = seen;
    for (std::size_t i = 0; i < plan.states + plan.scans; ++i) {
      given.emplace_back(plan.body->inputs()[i], i < plan.states ? states[i] : rows[i - plan.states].at(0, turn));
    }
    Arrays results = plan.body->run(given);
    for (std::size_t i = 0; i < plan.outputs; ++i) {
      scanned[i].push_back(results[plan.states + i]);
    }
    results.resize(plan.states);
    states = std::move(results);
  }
  for (std::size_t i = 0; i < plan.outputs; ++i) {
    const Array whole = stacked(scanned[i], plan.declared[i], plan.body->kinds()[plan.states + i]);
    states.push_back(moved_axis(reversed_if(whole, plan.out_backwards[i]), 0, axis_of(plan.out_axes[i], whole.rank())));
  }
  return states;
}

Step scan_step(const NodeMessage& node, Builder& builder) {
  constexpr int kFirstScan = 9;
  if (builder.opset() < kFirstScan) {
    throw Unsupported(label_of(node) +
                          ": anydml does not support Scan before opset 9: that version also scans over a "
                          "batch axis",
                      {"Scan before opset 9"});
  }
  const GraphMessage& graph = body_of(node, "body");
  const AttributeMessage* const scans = node.find("num_scan_inputs");
  if (scans == nullptr) {
    fail("{}: num_scan_inputs is missing", label_of(node));
  }
  const auto input_count = static_cast<std::int64_t>(node.inputs.size());
  if (scans->i < 1 || scans->i > input_count ||
      static_cast<std::int64_t>(node.outputs.size()) < input_count - scans->i) {
    fail("{}: num_scan_inputs is {}, but the node has {} inputs and {} outputs", label_of(node), scans->i, input_count,
         node.outputs.size());
  }
  BuildOptions options;
  options.is_repeated = true;
  for (const std::string& name : node.inputs) {
    options.given.push_back(builder.kind_of(name));
  }
  const Builder::Body body = builder.inner(graph, options);
  if (body.program->inputs().size() != node.inputs.size() || body.program->outputs().size() != node.outputs.size()) {
    fail("{}: its body has {} inputs and {} outputs; expected {} and {}", label_of(node), body.program->inputs().size(),
         body.program->outputs().size(), node.inputs.size(), node.outputs.size());
  }
  ScanPlan plan;
  plan.scans = static_cast<std::size_t>(scans->i);
  plan.states = node.inputs.size() - plan.scans;
  plan.outputs = node.outputs.size() - plan.states;
  check_states(node, std::span(options.given).first(plan.states), body.program->kinds());
  plan.backwards = integers_or_zeros(node, "scan_input_directions", plan.scans);
  plan.axes = integers_or_zeros(node, "scan_input_axes", plan.scans);
  plan.out_backwards = integers_or_zeros(node, "scan_output_directions", plan.outputs);
  plan.out_axes = integers_or_zeros(node, "scan_output_axes", plan.outputs);
  for (std::size_t i = plan.states; i < graph.outputs.size(); ++i) {
    plan.declared.push_back(declared_sizes(graph.outputs[i]));
  }
  plan.around = body.around;
  plan.body = body.program;
  Step step;
  step.label = label_of(node);
  step.op = "Scan";
  step.inputs = node.inputs;
  step.inputs.insert(step.inputs.end(), body.around.begin(), body.around.end());
  step.outputs = node.outputs;
  step.kinds = body.program->kinds();
  step.uses = "a graph of the body";
  step.on_host = "a scan runs on the host";
  step.bodies = {body.program};
  step.compute = [plan = std::move(plan)](std::span<const Array> inputs) { return run_scan(plan, inputs); };
  return step;
}

}  // namespace

bool is_control(std::string_view op) { return op == "If" || op == "Loop" || op == "Scan"; }

Step control_step(const NodeMessage& node, Builder& builder) {
  return node.op_type == "If"     ? if_step(node, builder)
         : node.op_type == "Loop" ? loop_step(node, builder)
                                  : scan_step(node, builder);
}

}  // namespace anydml::onnx
