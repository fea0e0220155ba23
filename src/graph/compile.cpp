// SPDX-License-Identifier: MIT
#include "graph/compile.h"

#include <algorithm>
#include <iterator>

#include "base/checked.h"
#include "graph/lower.h"
#include "graph/passes.h"
#include "ops/elementwise/copy.h"
#include "plan/reshape.h"
#include "text/format.h"

namespace anydml {
namespace {

// Compiles the needed nodes of a graph. The nodes must be sorted.
class Compiler {
 public:
  Compiler(const Graph& graph, std::vector<std::uint32_t> sorted, const DeviceTraits& device, std::string* text,
           const GraphSharing* sharing)
      : graph_(graph),
        sorted_(std::move(sorted)),
        device_(device),
        text_(text),
        sharing_(sharing),
        values_(graph),
        locations_(values_.count()),
        written_(values_.count()),
        is_absent_(graph.outputs.size()) {
    for (const std::uint32_t output : graph.absent_outputs) {
      is_absent_[output] = true;
    }
    plans_.inputs = static_cast<std::uint32_t>(graph.inputs.size());
    plans_.outputs = static_cast<std::uint32_t>(graph.outputs.size());
  }

  Result<GraphPlans> compile() {
    ValueSet needed(values_.count());
    for_each_output([&](std::uint32_t, const GraphSource& source) { needed[values_.of(source)] = true; });
    ANYDML_TRY(check_bytes(graph_, values_, sorted_, needed));
    const NodeSet folded = fold(graph_, sorted_);
    std::vector<std::uint32_t> before;
    std::vector<std::uint32_t> after;
    for (const std::uint32_t node : sorted_) {
      (folded[node] ? before : after).push_back(node);
    }
    place_given(read_later(folded));
    const ValueSet kept = place_persistent(folded);
    if (sharing_ != nullptr) {
      before = not_computed_yet(before, kept);
    }
    say(sorted_.size() == 1 ? "one node\n" : format_text("{} nodes\n", sorted_.size()));
    plans_.initialize = make_plan(before, kept, "initialize");
    const std::vector<std::uint32_t> copies = place_outputs(folded);
    plans_.run = make_plan(after, needed, "run");
    plans_.writes_last = plans_.writes_last && copies.empty();
    std::vector<bool> is_computed_there(graph_.outputs.size());
    for_each_output([&](std::uint32_t i, const GraphSource& source) {
      is_computed_there[i] = locations_[values_.of(source)].slot == plans_.output_slot(i);
    });
    find_updates(graph_, sorted_, is_computed_there, plans_);
    for (const std::uint32_t output : copies) {
      add_output_copy(output);
    }
    plans_.steps = steps_;
    return std::move(plans_);
  }

 private:
  void say(const std::string& line) {
    if (text_ != nullptr) {
      *text_ += line;
    }
  }

  // Calls function(index, source) for each output that is computed.
  template <class Function>
  void for_each_output(const Function& function) const {
    for (std::uint32_t i = 0; i < graph_.outputs.size(); ++i) {
      if (!is_absent_[i]) {
        function(i, graph_.outputs[i]);
      }
    }
  }

  // The values, including constants, that are read when the graph runs. A value that is read in part counts as read.
  [[nodiscard]] ValueSet read_later(const NodeSet& folded) const {
    ValueSet read(values_.count());
    const auto note = [&](const GraphSource& source) {
      if (source.kind != SourceKind::none) {
        read[values_.root(values_.of(source))] = true;
      }
    };
    for (const std::uint32_t node : sorted_) {
      if (!folded[node]) {
        std::ranges::for_each(graph_.nodes[node].sources, note);
      }
    }
    for_each_output([&](std::uint32_t, const GraphSource& source) { note(source); });
    return read;
  }

  // Constants that only folding reads, such as weights to be packed, come after the other constants, because a run does
  // not need them.
  void place_given(const ValueSet& read) {
    for (std::uint32_t i = 0; i < graph_.inputs.size(); ++i) {
      locations_[values_.of_input(i)] = {.slot = i, .offset = 0};
    }
    plans_.constants.resize(graph_.constants.size());
    for (std::uint32_t i = 0; sharing_ != nullptr && i < graph_.constants.size(); ++i) {
      if (const ConstantKey& key = sharing_->constants[i]; key.is_shared) {
        const std::uint32_t value = values_.of_constant(i);
        locations_[value] = share(
            {.key = key.text, .bytes = graph_.constants[i].bytes, .constant = i, .is_read_later = bool{read[value]}});
      }
    }
    for (const bool is_read : {true, false}) {
      for (std::uint32_t i = 0; i < graph_.constants.size(); ++i) {
        if (const std::uint32_t value = values_.of_constant(i);
            locations_[value].slot == kForwardedSlot && read[value] == is_read) {
          plans_.constants[i] = take(plans_.constant_bytes, graph_.constants[i]);
          locations_[value] = {.slot = plans_.constants_slot(), .offset = plans_.constants[i]};
        }
      }
      plans_.run_constant_bytes = is_read ? plans_.constant_bytes : plans_.run_constant_bytes;
    }
  }

  // Assigns a separate slot to the memory.
  Location share(GraphPlans::Shared memory) {
    plans_.shared.push_back(std::move(memory));
    return {.slot = plans_.shared_slot(static_cast<std::uint32_t>(plans_.shared.size() - 1)), .offset = 0};
  }

  [[nodiscard]] GraphPlans::Shared* shared_of(std::uint32_t value) {
    const std::uint32_t slot = locations_[value].slot;
    return slot >= plans_.shared_slot(0) && slot < plans_.slots() ? &plans_.shared[slot - plans_.shared_slot(0)]
                                                                  : nullptr;
  }

  // The nodes in the first plan that still have work to do: they compute a value that no graph has computed yet, or a
  // value that this graph does not share.
  std::vector<std::uint32_t> not_computed_yet(std::span<const std::uint32_t> nodes, const ValueSet& wanted) {
    NodeSet needed(graph_.nodes.size());
    const auto is_there = [&](std::uint32_t value) {
      const GraphPlans::Shared* memory = shared_of(value);
      return memory != nullptr && !memory->is_new;
    };
    for (std::size_t at = nodes.size(); at-- > 0;) {
      const GraphNode& node = graph_.nodes[nodes[at]];
      bool is_needed = needed[nodes[at]];
      for (std::uint32_t output = 0; output < node.outputs.size(); ++output) {
        const std::uint32_t value = values_.of_node(nodes[at], output);
        is_needed = is_needed || (wanted[value] && !is_there(value));
      }
      needed[nodes[at]] = is_needed;
      if (!is_needed) {
        continue;
      }
      for (std::uint32_t output = 0; output < node.outputs.size(); ++output) {
        if (GraphPlans::Shared* memory = shared_of(values_.of_node(nodes[at], output)); memory != nullptr) {
          memory->is_new = true;  // never write to memory that another graph reads
        }
      }
      for (const GraphSource& source : node.sources) {
        if (source.kind == SourceKind::node && !is_there(values_.of(source))) {
          needed[source.index] = true;
        }
        if (source.kind == SourceKind::constant && is_there(values_.of(source))) {
          shared_of(values_.of(source))->is_read_first = true;
        }
      }
    }
    std::vector<std::uint32_t> left;
    std::ranges::copy_if(nodes, std::back_inserter(left), [&](std::uint32_t node) { return bool{needed[node]}; });
    return left;
  }

  // Allocates the extent's bytes after the space that is already in use, and returns their offset.
  static std::uint64_t take(std::uint64_t& bytes, const Extent& extent) {
    const std::uint64_t alignment = std::max(extent.alignment, kPersistentAlignment);
    const std::uint64_t offset = (bytes + alignment - 1) / alignment * alignment;
    bytes = offset + extent.bytes;
    return offset;
  }

  // Places the values that the first plan stores for later: owned inputs, and results of folded nodes.
  ValueSet place_persistent(const NodeSet& folded) {
    ValueSet wanted(values_.count());
    const auto want = [&](const GraphSource& source) {
      if ((source.kind == SourceKind::input && graph_.inputs[source.index].owned) ||
          (source.kind == SourceKind::node && folded[source.index])) {
        wanted[values_.of(source)] = true;
      }
    };
    for (const std::uint32_t node : sorted_) {
      if (!folded[node]) {
        std::ranges::for_each(graph_.nodes[node].sources, want);
      }
    }
    for_each_output([&](std::uint32_t, const GraphSource& source) { want(source); });
    owned_locations_.resize(graph_.inputs.size());
    for (std::uint32_t i = 0; i < graph_.inputs.size(); ++i) {
      if (wanted[values_.of_input(i)]) {
        const std::uint64_t offset = take(plans_.persistent_bytes, graph_.inputs[i].extent);
        plans_.kept.push_back({.input = i, .offset = offset, .bytes = graph_.inputs[i].extent.bytes});
        owned_locations_[i] = {.slot = plans_.persistent_slot(), .offset = offset};
      }
    }
    const std::vector<std::string> keys = sharing_ != nullptr
                                              ? folded_keys(graph_, sorted_, folded, sharing_->constants, device_)
                                              : std::vector<std::string>(graph_.nodes.size());
    for (const std::uint32_t node : sorted_) {
      place_kept(node, keys[node], wanted);
    }
    return wanted;
  }

  // Places the outputs of a node that the first plan stores. If the node has a key, they are placed in memory that
  // graphs share, otherwise in the persistent memory. A node computes either all of its outputs or none.
  void place_kept(std::uint32_t node, const std::string& key, const ValueSet& wanted) {
    const std::size_t first = plans_.shared.size();
    bool is_there = true;
    for (std::uint32_t output = 0; output < graph_.nodes[node].outputs.size(); ++output) {
      const Extent& extent = graph_.nodes[node].outputs[output];
      const std::uint32_t value = values_.of_node(node, output);
      // If strides are negative, the element at index 0 is not the first one in memory.
      const std::int64_t before = -graph_.nodes[node].op->outputs()[output].reach.first;
      if (wanted[value] && key.empty()) {
        locations_[value] =
            moved({.slot = plans_.persistent_slot(), .offset = take(plans_.persistent_bytes, extent)}, before);
      } else if (wanted[value]) {
        locations_[value] =
            moved(share({.key = std::to_string(output).append(" ").append(key), .bytes = extent.bytes}), before);
        is_there = is_there && sharing_->is_there(plans_.shared.back().key);
      }
    }
    for (std::size_t i = first; i < plans_.shared.size(); ++i) {
      plans_.shared[i].is_new = !is_there;
    }
  }

  // A value that is an output is computed in the output's memory. A value that feeds more than one output, or that has
  // already been computed, is copied. After this, owned inputs are in the persistent memory.
  std::vector<std::uint32_t> place_outputs(const NodeSet& folded) {
    for (std::uint32_t i = 0; i < graph_.inputs.size(); ++i) {
      if (owned_locations_[i].slot != kForwardedSlot) {
        locations_[values_.of_input(i)] = owned_locations_[i];
      }
    }
    std::vector<std::uint32_t> copies;
    for_each_output([&](std::uint32_t i, const GraphSource& source) {
      Location& location = locations_[values_.of(source)];
      if (location.slot == kForwardedSlot && !folded[source.index]) {
        location = {.slot = plans_.output_slot(i), .offset = 0};
      } else {
        copies.push_back(i);
      }
    });
    return copies;
  }

  Plan make_plan(std::span<const std::uint32_t> nodes, const ValueSet& kept, const char* name) {
    Plan plan(plans_.inputs, plans_.outputs);
    std::vector<GraphGroup> groups = fuse(graph_, values_, nodes, kept, device_);
    ValueSet temporary(values_.count());
    for (const GraphGroup& group : groups) {
      for (const std::uint32_t value : group.writes) {
        temporary[value] = values_.root(value) == value && locations_[value].slot == kForwardedSlot;
      }
    }
    std::vector<GraphGroup> ordered;
    ordered.reserve(groups.size());
    for (const std::uint32_t i : order(graph_, values_, groups, temporary)) {
      ordered.push_back(std::move(groups[i]));
    }
    const std::vector<Lifetime> alive = lifetimes(graph_, values_, ordered, temporary);
    const Placement placement = place(graph_, values_, ordered, alive);
    plans_.temporary_values = 0;
    for (std::size_t i = 0; i < alive.size(); ++i) {
      locations_[alive[i].value] = {.slot = plans_.temporary_slot(), .offset = placement.offsets[i]};
      plans_.temporary_values += alive[i].extent.bytes;
    }
    for (std::uint32_t value = 0; value < values_.count(); ++value) {
      if (const std::uint32_t root = values_.root(value); root != value) {
        locations_[value] = moved(locations_[root], values_.offset_in_root(value));
      }
    }
    plans_.writes_last = std::ranges::none_of(
        std::span(ordered).first(ordered.empty() ? 0 : ordered.size() - 1), [&](const GraphGroup& group) {
          return std::ranges::any_of(group.writes,
                                     [&](std::uint32_t value) { return is_in_output(locations_[value]); });
        });
    steps_ = 0;
    plan.reserve_steps(ordered.size());
    Lowering lower(graph_, values_, device_, locations_, written_);
    for (const GraphGroup& group : ordered) {
      for (const std::uint32_t value : group.writes) {
        written_[value] = true;
      }
      plan.begin_temporary(placement.bytes);  // each step may reuse the previous step's private memory
      const std::size_t before = plan.words().size();
      lower.add(group, plan);
      say_group(group, name);
      steps_ += plan.words().size() != before ? 1U : 0U;
    }
    if (!nodes.empty()) {
      say(format_text("{}: {} step{}, {} bytes of temporary for {} bytes of values\n", name, steps_,
                      steps_ == 1 ? "" : "s", plan.temporary_bytes(), plans_.temporary_values));
    }
    return plan;
  }

  [[nodiscard]] bool is_in_output(const Location& location) const {
    return location.slot >= plans_.output_slot(0) && location.slot < plans_.temporary_slot();
  }

  void add_output_copy(std::uint32_t output) {
    const GraphSource& source = graph_.outputs[output];
    const OpTensor& built = graph_.nodes[source.index].op->outputs()[source.output];
    const Location to{.slot = plans_.output_slot(output), .offset = 0};
    add_copy(plans_.run, placed(built.tensor, locations_[values_.of(source)]), placed(built.tensor, to));
    ++steps_;
    say(format_text("run: output{} is a copy of {}\n", output, value_text(values_.of(source))));
  }

  [[nodiscard]] std::string value_text(std::uint32_t value) const {
    const Location& location = locations_[value];
    if (location.slot == plans_.persistent_slot()) {
      return format_text("persistent+{}", location.offset);
    }
    if (location.slot == plans_.constants_slot()) {
      return format_text("constants+{}", location.offset);
    }
    if (location.slot == plans_.temporary_slot()) {
      return format_text("temporary+{}", location.offset);
    }
    if (location.slot >= plans_.shared_slot(0) && location.slot < plans_.slots()) {
      return format_text("shared{}+{}", location.slot - plans_.shared_slot(0), location.offset);
    }
    const std::string offset = location.offset != 0 ? format_text("+{}", location.offset) : std::string();
    return location.slot < plans_.inputs ? format_text("input{}{}", location.slot, offset)
                                         : format_text("output{}{}", location.slot - plans_.output_slot(0), offset);
  }

  void say_group(const GraphGroup& group, const char* name) {
    if (text_ == nullptr) {
      return;
    }
    std::string nodes;
    for (std::uint32_t i = 0; i < group.nodes.size(); ++i) {
      const bool is_joined = group.main != kNoPosition;
      const char* const before = is_joined && i == group.main + 1 ? "; epilogue "
                                 : is_joined && i == group.main   ? (i == 0 ? "" : "; ")
                                 : i != 0                         ? ", "
                                 : is_joined                      ? "prologue "
                                                                  : "";
      nodes += format_text("{}%{} {}", before, group.nodes[i], graph_.nodes[group.nodes[i]].op->op->name);
    }
    const auto list = [&](std::span<const std::uint32_t> values) {
      std::string text;
      for (const std::uint32_t value : values) {
        text += (text.empty() ? "" : ", ") + value_text(value);
      }
      return text.empty() ? std::string("nothing") : text;
    };
    say(format_text("{}: {} | reads {} | writes {}\n", name, nodes, list(group.reads), list(group.writes)));
  }

  const Graph& graph_;
  const std::vector<std::uint32_t> sorted_;
  const DeviceTraits& device_;
  std::string* const text_;
  const GraphSharing* const sharing_;
  const ValueNumbers values_;
  std::vector<Location> locations_;        // for each value
  ValueSet written_;                       // the values that are written by a step of the plans so far
  std::vector<bool> is_absent_;            // for each output of the graph
  std::vector<Location> owned_locations_;  // for each owned input that is kept
  GraphPlans plans_;
  std::uint32_t steps_ = 0;  // in the most recent plan
};

}  // namespace

Result<GraphPlans> compile_graph(const Graph& graph, const DeviceTraits& device, std::string* text,
                                 const GraphSharing* sharing, const LacksOperator& lacks) {
  auto sorted = sorted_nodes(graph);  // errors refer to the caller's nodes
  ANYDML_TRY(sorted);
  auto expanded = expand(graph, device);
  ANYDML_TRY(expanded);
  const Graph& whole = expanded.value() ? *expanded.value() : graph;
  if (expanded.value()) {
    if (text != nullptr) {
      *text += "expanded\n" + graph_text(whole);
    }
    sorted = sorted_nodes(whole);
    ANYDML_TRY(sorted);
  }
  const std::vector<std::uint32_t> needed = prune(whole, sorted.value());
  if (lacks) {
    ANYDML_TRY(ask(graph, whole, needed, lacks));
  }
  if (!has_views(whole, needed)) {
    return Compiler(whole, needed, device, text, sharing).compile();
  }
  const Graph aliased = alias(expanded.value() ? Graph(std::move(*expanded.value())) : graph, needed);
  if (text != nullptr) {
    *text += "with views\n" + graph_text(aliased);
  }
  return Compiler(aliased, prune(aliased, needed), device, text, sharing).compile();
}

}  // namespace anydml
