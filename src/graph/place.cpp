// SPDX-License-Identifier: MIT
#include <algorithm>
#include <numeric>
#include <set>

#include "base/checked.h"
#include "graph/compile.h"
#include "graph/passes.h"
#include "plan/reshape.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::uint64_t kEnd = static_cast<std::uint64_t>(-1);

// One or more values, each computed in place of the previous one.
struct Chain {
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

// Whether a node in the group comes before the main node, is the main node, or comes after it. Elements are computed
// together within each of these regions, but different regions read and write them at different times.
int region_of(const GraphGroup& group, std::size_t position) {
  return group.main == kNoPosition || position == group.main ? 0 : position < group.main ? -1 : 1;
}

bool has_in_place(const OpDesc& op) {
  for (std::size_t input = 0; input < op.input_count; ++input) {
    if (may_be_in_place(op, input)) {
      return true;
    }
  }
  return false;
}

// For each lifetime, the lifetime whose bytes it may reuse. This must be a value that its group reads for the last
// time, and each element of that value must be read only to compute the element that replaces it.
std::vector<std::uint32_t> find_predecessors(std::span<const GraphGroup> groups, const ValueNumbers& values,
                                             const Graph& graph, std::span<const Lifetime> lifetimes) {
  std::vector<std::uint32_t> number(values.count(), kNoNumber);
  for (std::uint32_t i = 0; i < lifetimes.size(); ++i) {
    number[lifetimes[i].value] = i;
  }
  std::vector<std::uint32_t> predecessors(lifetimes.size(), kNoNumber);
  for (std::uint32_t at = 0; at < groups.size(); ++at) {
    const GraphGroup& group = groups[at];
    // Whether every reader of that value in the group reads each element no later than its replacement is written.
    const auto may_take = [&](std::uint32_t read, std::size_t writer, const TensorDesc& written) {
      for (std::size_t node = 0; node < group.nodes.size(); ++node) {
        const GraphNode& of = graph.nodes[group.nodes[node]];
        for (std::size_t input = 0; input < of.sources.size(); ++input) {
          const GraphSource& source = of.sources[input];
          if (source.kind != SourceKind::none && values.root(values.of(source)) == read &&
              (values.of(source) != read || source.offset != 0 || region_of(group, node) != region_of(group, writer) ||
               !may_be_in_place(*of.op, input) || !same_layout(group.view(graph, node, input), written))) {
            return false;
          }
        }
      }
      return true;
    };
    std::vector<std::uint32_t> free;
    for (const std::uint32_t value : group.reads) {
      if (number[value] != kNoNumber && lifetimes[number[value]].last == at) {
        free.push_back(number[value]);
      }
    }
    for (std::size_t node = 0; node < group.nodes.size(); ++node) {
      const GraphNode& of = graph.nodes[group.nodes[node]];
      for (std::uint32_t output = 0; output < of.outputs.size(); ++output) {
        const std::uint32_t result = number[values.of_node(group.nodes[node], output)];
        if (result == kNoNumber || lifetimes[result].first != at || !has_in_place(*of.op)) {
          continue;
        }
        const TensorDesc& written = group.view(graph, node, of.op->input_count + output);
        const auto taken = std::ranges::find_if(
            free, [&](std::uint32_t one) { return may_take(lifetimes[one].value, node, written); });
        if (taken != free.end()) {
          predecessors[result] = *taken;
          free.erase(taken);
        }
      }
    }
  }
  return predecessors;
}

std::uint64_t align(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// The bytes of the chains that are alive at the same time, at most: no placement needs fewer.
std::uint64_t most_at_once(std::span<const Chain> chains) {
  std::uint32_t end = 0;
  for (const Chain& chain : chains) {
    end = std::max(end, chain.last);
  }
  std::vector<std::uint64_t> begun(std::size_t{end} + 2), ended(std::size_t{end} + 2);
  for (const Chain& chain : chains) {
    begun[chain.first] += chain.bytes;
    ended[std::size_t{chain.last} + 1] += chain.bytes;
  }
  std::uint64_t alive = 0;
  std::uint64_t most = 0;
  for (std::size_t at = 0; at < begun.size(); ++at) {
    alive += begun[at] - ended[at];
    most = std::max(most, alive);
  }
  return most;
}

// Places one chain after another at the lowest offset that is free during its whole lifetime.
std::uint64_t first_fit(std::span<const Chain> chains, std::span<const std::uint32_t> turns,
                        std::vector<std::uint64_t>& offsets) {
  std::uint64_t end = 0;
  // For each turn, the earliest beginning of its chain and of the chains after it.
  std::vector<std::uint32_t> begins(turns.size());
  for (std::size_t turn = turns.size(); turn-- > 0;) {
    const std::uint32_t first = chains[turns[turn]].first;
    begins[turn] = turn + 1 < turns.size() ? std::min(begins[turn + 1], first) : first;
  }
  std::vector<std::uint32_t> placed;  // sorted by offset; without chains that ended before all that are left
  for (std::size_t turn = 0; turn < turns.size(); ++turn) {
    const std::uint32_t one = turns[turn];
    const Chain& chain = chains[one];
    std::uint64_t at = 0;
    std::erase_if(placed, [&](std::uint32_t other) { return chains[other].last < begins[turn]; });
    for (const std::uint32_t other : placed) {
      const Chain& lies = chains[other];
      if (lies.first > chain.last || lies.last < chain.first) {
        continue;
      }
      if (at + chain.bytes <= offsets[other]) {
        break;
      }
      at = std::max(at, align(offsets[other] + lies.bytes, chain.alignment));
    }
    offsets[one] = at;
    end = std::max(end, at + chain.bytes);
    placed.insert(std::ranges::lower_bound(placed, at, {}, [&](std::uint32_t other) { return offsets[other]; }), one);
  }
  return end;
}

// Used for a very large number of values. Places them in order of appearance, in the holes that earlier values left.
std::uint64_t place_many(std::span<const Chain> chains, std::vector<std::uint64_t>& offsets) {
  std::vector<std::uint32_t> by_end(chains.size());
  std::iota(by_end.begin(), by_end.end(), 0U);
  std::vector<std::uint32_t> by_begin = by_end;
  std::ranges::stable_sort(by_begin, {}, [&](std::uint32_t i) { return chains[i].first; });
  std::ranges::stable_sort(by_end, {}, [&](std::uint32_t i) { return chains[i].last; });
  // Holes sorted by size. A hole that is large enough is used completely, which keeps the list short.
  std::set<std::pair<std::uint64_t, std::uint64_t>> holes;  // bytes, offset
  std::vector<std::uint64_t> room(chains.size());
  std::uint64_t end = 0;
  std::size_t ended = 0;
  for (const std::uint32_t one : by_begin) {
    const Chain& chain = chains[one];
    while (ended < by_end.size() && chains[by_end[ended]].last < chain.first) {
      const std::uint32_t gone = by_end[ended++];
      holes.emplace(room[gone], offsets[gone]);
    }
    auto hole = holes.lower_bound(std::pair(chain.bytes, std::uint64_t{0}));
    while (hole != holes.end() && hole->second % chain.alignment != 0) {
      ++hole;
    }
    if (hole != holes.end() && hole->first <= 2 * chain.bytes) {
      room[one] = hole->first;
      offsets[one] = hole->second;
      holes.erase(hole);
    } else {
      room[one] = chain.bytes;
      offsets[one] = align(end, chain.alignment);
      end = offsets[one] + chain.bytes;
    }
  }
  return end;
}

}  // namespace

Placement place(const Graph& graph, const ValueNumbers& values, std::span<const GraphGroup> groups,
                std::span<const Lifetime> lifetimes) {
  constexpr std::size_t kMany = 4096;
  const std::vector<std::uint32_t> predecessors = find_predecessors(groups, values, graph, lifetimes);
  std::vector<Chain> chains;
  std::vector<std::uint32_t> chain_of(lifetimes.size());
  for (std::uint32_t i = 0; i < lifetimes.size(); ++i) {  // a predecessor is computed earlier, so it comes first
    const Lifetime& lifetime = lifetimes[i];
    if (predecessors[i] == kNoNumber) {
      chain_of[i] = static_cast<std::uint32_t>(chains.size());
      chains.push_back({.bytes = 0, .alignment = kTemporaryAlignment, .first = lifetime.first, .last = lifetime.last});
    } else {
      chain_of[i] = chain_of[predecessors[i]];
    }
    Chain& chain = chains[chain_of[i]];
    chain.alignment = std::max(chain.alignment, lifetime.extent.alignment);
    chain.bytes = std::max(chain.bytes, align(lifetime.extent.bytes, kTemporaryAlignment));
    chain.last = std::max(chain.last, lifetime.last);
  }
  Placement placement;
  std::vector<std::uint64_t> offsets(chains.size());
  if (chains.size() > kMany) {
    placement.bytes = place_many(chains, offsets);
  } else {
    std::vector<std::uint32_t> turns(chains.size());
    std::iota(turns.begin(), turns.end(), 0U);
    placement.bytes = kEnd;
    const auto take_turns = [&] {
      std::vector<std::uint64_t> tried(chains.size());
      if (const std::uint64_t bytes = first_fit(chains, turns, tried); bytes < placement.bytes) {
        placement.bytes = bytes;
        offsets = std::move(tried);
      }
    };
    const std::uint64_t bound = most_at_once(chains);
    take_turns();  // in order of appearance
    if (placement.bytes > bound) {
      std::ranges::stable_sort(turns, std::ranges::greater{}, [&](std::uint32_t i) { return chains[i].bytes; });
      take_turns();  // the largest first
    }
    if (placement.bytes > bound) {
      std::ranges::stable_sort(turns, std::ranges::greater{},
                               [&](std::uint32_t i) { return chains[i].last - chains[i].first; });
      take_turns();  // the longest first
    }
  }
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    placement.offsets.push_back(offsets[chain_of[i]]);
  }
  return placement;
}

Status check_bytes(const Graph& graph, const ValueNumbers& values, std::span<const std::uint32_t> sorted,
                   const ValueSet& results) {
  std::uint64_t total = 0;
  const auto add = [&](const Extent& extent) {
    const auto aligned = checked_align_bytes(extent.bytes, std::max(extent.alignment, kPersistentAlignment));
    const auto padded = aligned ? checked_add_bytes(*aligned, extent.alignment) : std::nullopt;
    const auto sum = padded ? checked_add_bytes(total, *padded) : std::nullopt;
    total = sum.value_or(0);
    return sum.has_value() && total >> 62 == 0;
  };
  const auto too_much = [](std::string_view what, std::uint64_t bytes) -> Error {
    return {ErrorKind::out_of_memory,
            format_text("{}: with its {} bytes the values of the graph have more bytes than can be "
                        "counted; expected less than 2^62 in all",
                        what, bytes)};
  };
  bool has_known = !graph.constants.empty();
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const GraphInput& input = graph.inputs[i];
    has_known = has_known || input.owned;
    if (input.owned && !add(input.extent)) {
      return too_much(format_text("input {}", i), input.extent.bytes);
    }
  }
  for (std::size_t i = 0; i < graph.constants.size(); ++i) {
    if (!add(graph.constants[i])) {
      return too_much(format_text("constant {}", i), graph.constants[i].bytes);
    }
  }
  // An output of the graph is in the caller's memory, unless it can be computed in advance.
  for (const std::uint32_t node : sorted) {
    for (std::uint32_t output = 0; output < graph.nodes[node].outputs.size(); ++output) {
      if ((has_known || !results[values.of_node(node, output)]) && !add(graph.nodes[node].outputs[output])) {
        return too_much(node_label(graph, node), graph.nodes[node].outputs[output].bytes);
      }
    }
  }
  return {};
}

}  // namespace anydml
