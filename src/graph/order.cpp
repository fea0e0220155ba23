// SPDX-License-Identifier: MIT
#include <algorithm>
#include <numeric>
#include <queue>

#include "graph/passes.h"

namespace anydml {
namespace {

std::vector<Extent> extents_of(const Graph& graph, const ValueNumbers& values) {
  std::vector<Extent> extents(values.count());
  for (std::uint32_t i = 0; i < graph.inputs.size(); ++i) {
    extents[values.of_input(i)] = graph.inputs[i].extent;
  }
  for (std::uint32_t i = 0; i < graph.constants.size(); ++i) {
    extents[values.of_constant(i)] = graph.constants[i];
  }
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (std::uint32_t output = 0; output < graph.nodes[i].outputs.size(); ++output) {
      extents[values.of_node(i, output)] = graph.nodes[i].outputs[output];
    }
  }
  return extents;
}

std::vector<Lifetime> lifetimes_in(const ValueNumbers& values, std::span<const Extent> extents,
                                   std::span<const GraphGroup> groups, std::span<const std::uint32_t> order,
                                   const ValueSet& temporary) {
  std::vector<Lifetime> result;
  std::vector<std::uint32_t> number(temporary.size(), kNoNumber);
  for (std::uint32_t at = 0; at < order.size(); ++at) {
    const GraphGroup& group = groups[order[at]];
    for (const std::uint32_t value : group.reads) {
      if (const std::uint32_t root = values.root(value); number[root] != kNoNumber) {
        result[number[root]].last = at;
      }
    }
    for (const std::uint32_t value : group.writes) {
      const std::uint32_t root = values.root(value);
      if (temporary[root] && number[root] == kNoNumber) {
        number[root] = static_cast<std::uint32_t>(result.size());
        result.push_back({.value = root, .extent = extents[root], .first = at, .last = at});
      } else if (temporary[root]) {
        result[number[root]].last = at;
      }
    }
  }
  return result;
}

// Always picks the ready group that adds the least to the live memory. If several groups add the same, picks the one
// that became ready last.
std::vector<std::uint32_t> frugal_order(std::span<const Extent> extents, std::span<const GraphGroup> groups,
                                        const ValueSet& temporary) {
  const auto bytes_of = [&](std::uint32_t value) {
    return temporary[value] ? static_cast<std::int64_t>(extents[value].bytes) : 0;
  };
  std::vector<std::uint32_t> maker(temporary.size(), kNoNumber);
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    for (const std::uint32_t value : groups[i].writes) {
      maker[value] = i;
    }
  }
  std::vector<std::uint32_t> unmet(groups.size());
  std::vector<std::uint32_t> readers(temporary.size());  // readers that have not run yet
  std::vector<std::uint64_t> sums(temporary.size());     // the sum of the readers' numbers, to identify the last reader
  std::vector<InlineVector<std::uint32_t, 4>> followers(groups.size());
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    for (const std::uint32_t value : groups[i].reads) {
      ++readers[value];
      sums[value] += i;
      if (maker[value] != kNoNumber) {
        ++unmet[i];
        followers[maker[value]].push_back(i);
      }
    }
  }
  // The bytes that each group adds, given the readers that have not run yet.
  std::vector<std::int64_t> growth(groups.size());
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    for (const std::uint32_t value : groups[i].writes) {
      growth[i] += bytes_of(value);
    }
    for (const std::uint32_t value : groups[i].reads) {
      growth[i] -= readers[value] == 1 ? bytes_of(value) : 0;
    }
  }
  // If a group now adds less than when it became ready, it is queued again, and its first entry is ignored.
  struct Ready {
    std::int64_t growth;
    std::uint32_t turn;  // the turn in which the group became ready
    std::uint32_t group;
    bool operator<(const Ready& other) const {
      return growth != other.growth ? growth > other.growth : turn < other.turn;
    }
  };
  std::priority_queue<Ready> ready;
  std::vector<std::uint32_t> turns(groups.size(), kNoNumber);
  std::uint32_t turn = 0;
  const auto add = [&](std::uint32_t group) {
    turns[group] = turn++;
    ready.push({.growth = growth[group], .turn = turns[group], .group = group});
  };
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    if (unmet[i] == 0) {
      add(i);
    }
  }
  std::vector<bool> done(groups.size());
  std::vector<std::uint32_t> order;
  order.reserve(groups.size());
  while (!ready.empty()) {
    const std::uint32_t group = ready.top().group;
    ready.pop();
    if (done[group]) {
      continue;
    }
    done[group] = true;
    order.push_back(group);
    for (const std::uint32_t value : groups[group].reads) {
      sums[value] -= group;
      if (--readers[value] == 1 && bytes_of(value) != 0) {
        const auto last = static_cast<std::uint32_t>(sums[value]);
        growth[last] -= bytes_of(value);
        if (turns[last] != kNoNumber) {
          ready.push({.growth = growth[last], .turn = turns[last], .group = last});
        }
      }
    }
    for (const std::uint32_t follower : followers[group]) {
      if (--unmet[follower] == 0) {
        add(follower);
      }
    }
  }
  return order;
}

}  // namespace

std::uint64_t peak_bytes(std::span<const Lifetime> lifetimes) {
  std::uint32_t end = 0;
  for (const Lifetime& lifetime : lifetimes) {
    end = std::max(end, lifetime.last + 1);
  }
  std::vector<std::uint64_t> begun(end), ended(end);
  for (const Lifetime& lifetime : lifetimes) {
    begun[lifetime.first] += lifetime.extent.bytes;
    ended[lifetime.last] += lifetime.extent.bytes;
  }
  // A group's new values are alive at the same time as the values that it reads for the last time.
  std::uint64_t alive = 0;
  std::uint64_t peak = 0;
  for (std::uint32_t at = 0; at < end; ++at) {
    alive += begun[at];
    peak = std::max(peak, alive);
    alive -= ended[at];
  }
  return peak;
}

std::vector<Lifetime> lifetimes(const Graph& graph, const ValueNumbers& values, std::span<const GraphGroup> groups,
                                const ValueSet& temporary) {
  std::vector<std::uint32_t> as_given(groups.size());
  std::iota(as_given.begin(), as_given.end(), 0U);
  return lifetimes_in(values, extents_of(graph, values), groups, as_given, temporary);
}

std::vector<std::uint32_t> order(const Graph& graph, const ValueNumbers& values, std::span<const GraphGroup> groups,
                                 const ValueSet& temporary) {
  const std::vector<Extent> extents = extents_of(graph, values);
  std::vector<std::uint32_t> best(groups.size());
  std::iota(best.begin(), best.end(), 0U);
  std::vector<std::uint32_t> frugal = frugal_order(extents, groups, temporary);
  const auto peak = [&](std::span<const std::uint32_t> one) {
    return peak_bytes(lifetimes_in(values, extents, groups, one, temporary));
  };
  return peak(frugal) < peak(best) ? frugal : best;
}

}  // namespace anydml
