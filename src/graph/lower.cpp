// SPDX-License-Identifier: MIT
#include "graph/lower.h"

#include <algorithm>

#include "plan/reshape.h"

namespace anydml {
namespace {

// A value that passes from one step to the next has no memory, only a number.
constexpr Location kFromPrologue{.slot = kForwardedSlot, .offset = 1};
constexpr Location kToEpilogue{.slot = kForwardedSlot, .offset = 2};
constexpr Location kAbsent{.slot = kAbsentSlot, .offset = 0};

// Steps with more tensors are always lowered: comparing their locations would take too long.
constexpr std::size_t kMaxRepeated = 32;

enum KeyKind : std::uint64_t { kOne, kTogether };

constexpr std::uint32_t kNoPlace = 0xffffffff;  // an operand without memory, or with memory that only the steps use

std::uint64_t number_of(const OpDesc* op) { return reinterpret_cast<std::uintptr_t>(op); }

}  // namespace

void Lowering::add(const GraphGroup& group, Plan& plan) {
  const auto count = static_cast<std::uint32_t>(group.nodes.size());
  if (group.main == kNoPosition) {
    const OpDesc& first = *graph_.nodes[group.nodes.front()].op;
    if (!first.empty) {
      first.family->lower_together != nullptr ? add_together(group, 0, count, StepRole::main, plan)
                                              : add_one(group, 0, plan);
    }
    return;
  }
  if (group.main > 0) {
    add_together(group, 0, group.main, StepRole::prologue, plan);
  }
  add_one(group, group.main, plan);
  if (group.main + 1 < count) {
    add_together(group, group.main + 1, count, StepRole::epilogue, plan);
  }
}

// Where a tensor backed by this source is located.
Location Lowering::location_of(const GraphSource& source) const {
  return moved(locations_[values_.of(source)], source.offset);
}

// Whether the value from this source is part of this node's output, so that the value's producer has already written it
// there.
bool Lowering::is_in_place(const GraphSource& source, std::uint32_t node) const {
  if (source.kind != SourceKind::node) {
    return false;
  }
  const auto& inside = graph_.nodes[source.index].inside;
  return source.output < inside.size() && inside[source.output].kind == SourceKind::node &&
         inside[source.output].index == node;
}

// ---- One node -------------------------------------------------------------------------------------------------------

// Lowers the main node, which is at this position. The nodes before it compute one of its inputs, and the nodes after
// it consume one of its outputs.
void Lowering::add_one(const GraphGroup& group, std::uint32_t position, Plan& plan) {
  const GraphNode& node = graph_.nodes[group.nodes[position]];
  const OpDesc& op = *node.op;
  const bool has_prologue = position != 0;
  const bool has_epilogue = position + 1 < group.nodes.size();
  places_.clear();
  for (std::uint32_t i = 0; i < op.input_count; ++i) {
    places_.push_back(!op.tensors[i].present                                ? kAbsent
                      : has_prologue && i == group.computed_input           ? kFromPrologue
                      : is_in_place(node.sources[i], group.nodes[position]) ? kAbsent
                                                                            : location_of(node.sources[i]));
  }
  for (std::uint32_t i = 0; i < op.output_count; ++i) {
    const std::uint32_t value = values_.of_node(group.nodes[position], i);
    places_.push_back(has_epilogue && i == group.forwarded_output ? kToEpilogue
                      : written_[value]                           ? locations_[value]
                                                                  : kAbsent);
  }
  begin_key(StepRole::main, kOne, plan);
  add_to_key(number_of(&op));
  repeat_or(
      [&] {
        std::vector<PlacedTensor> tensors;
        tensors.reserve(op.tensors.size());
        for (std::size_t i = 0; i < op.tensors.size(); ++i) {
          tensors.push_back(placed(op.tensors[i].tensor, places_[i]));
        }
        op.family->lower(op, device_, tensors, plan);
      },
      StepRole::main, plan);
}

// ---- Nodes that are computed element by element ---------------------------------------------------------------------

// Lowers the nodes at the positions [begin, end) as one step.
void Lowering::add_together(const GraphGroup& group, std::uint32_t begin, std::uint32_t end, StepRole role,
                            Plan& plan) {
  places_.clear();
  find_loads(group, begin, end);
  find_stores(group, begin, end);
  begin_key(role, kTogether, plan);
  add_to_key(end - begin);
  for (std::uint32_t position = begin; position < end; ++position) {
    const OpDesc& op = *graph_.nodes[group.nodes[position]].op;
    add_to_key(number_of(&op));
    for (const std::uint32_t number : numbers_[position - begin]) {
      add_to_key(number);
    }
    const bool has_views = group.has_views(position);
    add_to_key(has_views ? 1 : 0);
    for (std::size_t i = 0; has_views && i < op.tensors.size(); ++i) {
      add_to_key(group.views[position][i]);
    }
  }
  for (const std::uint32_t store : stores_) {
    add_to_key(store);
  }
  repeat_or([&] { lower_together(group, begin, plan); }, role, plan);
}

// Finds the values that the step loads. Loads are numbered first, followed by the nodes' results.
void Lowering::find_loads(const GraphGroup& group, std::uint32_t begin, std::uint32_t end) {
  const auto nodes = std::span(group.nodes).subspan(begin, end - begin);
  loads_.clear();
  numbers_.assign(nodes.size(), {});
  const auto maker_of = [&](const GraphSource& source) {
    return source.kind == SourceKind::node ? std::ranges::find(nodes, source.index) : nodes.end();
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const GraphNode& node = graph_.nodes[nodes[i]];
    for (std::size_t input = 0; input < node.sources.size(); ++input) {
      const GraphSource& source = node.sources[input];
      if (source.kind == SourceKind::none || maker_of(source) != nodes.end()) {
        numbers_[i].push_back(kAbsentFromGroup);
        continue;
      }
      const TensorDesc& view = group.view(graph_, begin + i, input);
      const auto same = std::ranges::find_if(loads_, [&](const Load& load) {
        return load.source == source && load.view->type == view.type && same_layout(*load.view, view);
      });
      numbers_[i].push_back(static_cast<std::uint32_t>(same - loads_.begin()));
      if (same == loads_.end()) {
        const bool is_forwarded = begin != 0 && source.kind == SourceKind::node &&
                                  source.index == group.nodes[group.main] && source.output == group.forwarded_output;
        loads_.push_back({.source = source, .view = &view});
        places_.push_back(is_forwarded ? kToEpilogue : location_of(source));
      }
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const GraphNode& node = graph_.nodes[nodes[i]];
    for (std::size_t input = 0; input < node.sources.size(); ++input) {
      if (const auto maker = maker_of(node.sources[input]); maker != nodes.end()) {
        numbers_[i][input] =
            static_cast<std::uint32_t>(loads_.size()) + static_cast<std::uint32_t>(maker - nodes.begin());
      }
    }
  }
}

void Lowering::find_stores(const GraphGroup& group, std::uint32_t begin, std::uint32_t end) {
  stores_.clear();
  for (std::uint32_t position = begin; position < end; ++position) {
    const std::uint32_t node = group.nodes[position];
    if (end == group.main &&
        graph_.nodes[group.nodes[end]].sources[group.computed_input].index == node) {  // a prologue's result
      stores_.push_back(position - begin);
      places_.push_back(kFromPrologue);
    }
    if (const std::uint32_t value = values_.of_node(node, 0); written_[value]) {
      stores_.push_back(position - begin);
      places_.push_back(locations_[value]);
    }
  }
}

void Lowering::lower_together(const GraphGroup& group, std::uint32_t begin, Plan& plan) {
  std::vector<GroupMember> members;
  std::vector<GroupOperand> loads, stores;
  const auto first_result = static_cast<std::uint32_t>(loads_.size());
  for (std::uint32_t i = 0; i < numbers_.size(); ++i) {
    members.push_back(
        {.desc = graph_.nodes[group.nodes[begin + i]].op.get(), .inputs = numbers_[i], .result = first_result + i});
  }
  for (std::uint32_t i = 0; i < loads_.size(); ++i) {
    loads.push_back({.value = i, .placed = placed(*loads_[i].view, places_[i])});
  }
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    const std::uint32_t position = begin + stores_[i];
    const TensorDesc& view = group.view(graph_, position, graph_.nodes[group.nodes[position]].op->input_count);
    stores.push_back({.value = first_result + stores_[i], .placed = placed(view, places_[loads_.size() + i])});
  }
  members.front().desc->family->lower_together({.members = members, .loads = loads, .stores = stores}, plan);
}

// ---- Repeated steps -------------------------------------------------------------------------------------------------

void Lowering::begin_key(StepRole role, std::uint64_t kind, Plan& plan) {
  key_.clear();
  add_to_key(kind << 32 | static_cast<std::uint64_t>(role));
  add_to_key(plan.take_temporary(0));  // where the private memory of the steps begins
}

void Lowering::add_to_key(const TensorDesc& tensor) {
  add_to_key(std::uint64_t{tensor.rank} << 32 | static_cast<std::uint64_t>(tensor.type));
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    add_to_key(static_cast<std::uint64_t>(tensor.sizes[i]));
    add_to_key(static_cast<std::uint64_t>(tensor.strides[i]));
  }
}

// A family may look at the locations as follows: which tensors have none, which ones have the same, and which ones are
// in memory that the caller of a run provides.
void Lowering::add_places_to_key(const Plan& plan) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Location& place = places_[i];
    const auto same = static_cast<std::uint64_t>(std::ranges::find(places_, place) - places_.begin());
    const std::uint64_t kind = !has_address(place.slot) ? place.slot : place.slot < plan.temporary_slot() ? 0 : 1;
    add_to_key(kind << 32 | (has_address(place.slot) ? same : place.offset));
  }
}

template <class Lower>
void Lowering::repeat_or(const Lower& lower, StepRole role, Plan& plan) {
  Lowered* kept = nullptr;
  if (places_.size() <= kMaxRepeated) {
    add_places_to_key(plan);
    const auto [found, is_new] = lowered_.try_emplace(key_);
    if (!is_new && found->second.is_repeatable) {
      return repeat(found->second, role, plan);
    }
    kept = is_new ? &found->second : nullptr;
  }
  const std::size_t first = plan.words().size();
  const std::uint64_t private_begin = plan.take_temporary(0);
  plan.set_role(role);
  lower();
  plan.set_role(StepRole::main);
  if (kept != nullptr) {
    *kept = steps_since(first, private_begin, plan);
  }
}

void Lowering::repeat(const Lowered& lowered, StepRole role, Plan& plan) {
  plan.set_role(role);
  std::size_t next = 0;
  for_each_step(lowered.words, [&](const Step& step) {
    operands_.assign(step.operands.begin(), step.operands.end());
    for (Operand& operand : operands_) {
      if (const std::uint32_t place = lowered.places[next++]; place != kNoPlace) {
        operand.slot = places_[place].slot;
        operand.offset = places_[place].offset;
      }
    }
    plan.add(step.family, operands_, step.parameters);
    return true;
  });
  plan.set_role(StepRole::main);
  plan.begin_temporary(lowered.private_end);
}

// Notes which operands of the plan's last steps have which location.
Lowering::Lowered Lowering::steps_since(std::size_t first, std::uint64_t private_begin, Plan& plan) const {
  const std::span<const std::uint64_t> words = plan.words().subspan(first);
  Lowered lowered{.words = std::vector<std::uint64_t>(words.begin(), words.end()),
                  .places = {},
                  .private_end = plan.take_temporary(0),
                  .is_repeatable = true};
  for_each_step(words, [&](const Step& step) {
    for (const Operand& operand : step.operands) {
      const bool is_private = operand.slot == plan.temporary_slot() && operand.offset >= private_begin;
      if (!has_address(operand.slot) || is_private) {
        lowered.places.push_back(kNoPlace);
        continue;
      }
      const auto place = std::ranges::find(places_, Location{.slot = operand.slot, .offset = operand.offset});
      lowered.is_repeatable = lowered.is_repeatable && place != places_.end();
      lowered.places.push_back(static_cast<std::uint32_t>(place - places_.begin()));
    }
    return true;
  });
  return lowered;
}

}  // namespace anydml
