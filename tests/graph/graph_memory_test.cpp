// SPDX-License-Identifier: MIT
// Compares the temporary memory of three familiar graphs with the minimum, found by an exhaustive search over every
// order of their steps, every choice of in-place results, and every assignment of offsets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "graph/compile.h"
#include "graph/passes.h"
#include "plan/reshape.h"
#include "support/graph_text.h"

namespace anydml::test {
namespace {

// x + y * gate(mean of y over its rows), y = relu(x * scale + shift): 64 channels of 256 elements.
constexpr char kGatedResidual[] =
    "x = input 65536\n"
    "scale = input 256\n"
    "shift = input 256\n"
    "a = MULTIPLY x:f32[64,256] scale:f32[64,256/1,0] -> f32[64,256]\n"
    "b = ADD a:f32[64,256] shift:f32[64,256/1,0] -> f32[64,256]\n"
    "y = ACTIVATION_RELU b:f32[64,256] -> f32[64,256]\n"
    "mean = REDUCE y:f32[64,256] -> f32[64,1] Function=AVERAGE Axes=[1]\n"
    "peak = REDUCE y:f32[64,256] -> f32[64,1] Function=MAX Axes=[1]\n"
    "sum = ADD mean:f32[64,1] peak:f32[64,1] -> f32[64,1]\n"
    "gate = ACTIVATION_HARD_SIGMOID sum:f32[64,1] -> f32[64,1] Alpha=0.2 Beta=0.5\n"
    "c = MULTIPLY y:f32[64,256] gate:f32[64,256/1,0] -> f32[64,256]\n"
    "z = ADD x:f32[64,256] c:f32[64,256] -> f32[64,256]\n"
    "out z\n";

// Two layer normalizations in sequence, with weights: 128 rows of 64 elements.
constexpr char kLayerNormalization[] =
    "x = input 32768\n"
    "gamma = input 256\n"
    "beta = input 256\n"
    "epsilon = input 4\n"
    "m = REDUCE x:f32[128,64] -> f32[128,1] Function=AVERAGE Axes=[1]\n"
    "d = SUBTRACT x:f32[128,64] m:f32[128,64/1,0] -> f32[128,64]\n"
    "q = MULTIPLY d:f32[128,64] d:f32[128,64] -> f32[128,64]\n"
    "v = REDUCE q:f32[128,64] -> f32[128,1] Function=AVERAGE Axes=[1]\n"
    "e = ADD v:f32[128,1] epsilon:f32[128,1/0,0] -> f32[128,1]\n"
    "s = SQRT e:f32[128,1] -> f32[128,1]\n"
    "n = DIVIDE d:f32[128,64] s:f32[128,64/1,0] -> f32[128,64]\n"
    "g = MULTIPLY n:f32[128,64] gamma:f32[128,64/0,1] -> f32[128,64]\n"
    "y = ADD g:f32[128,64] beta:f32[128,64/0,1] -> f32[128,64]\n"
    "m2 = REDUCE y:f32[128,64] -> f32[128,1] Function=AVERAGE Axes=[1]\n"
    "d2 = SUBTRACT y:f32[128,64] m2:f32[128,64/1,0] -> f32[128,64]\n"
    "q2 = MULTIPLY d2:f32[128,64] d2:f32[128,64] -> f32[128,64]\n"
    "v2 = REDUCE q2:f32[128,64] -> f32[128,1] Function=AVERAGE Axes=[1]\n"
    "s2 = SQRT v2:f32[128,1] -> f32[128,1]\n"
    "z = DIVIDE d2:f32[128,64] s2:f32[128,64/1,0] -> f32[128,64]\n"
    "out z\n";

// Attention of one query to 64 keys of 32 elements, in two heads whose results are added. In the first head, each
// weight is the square of a score's excess over the mean score, divided by the sum of these squares. In the second
// head, each weight is a score divided by the largest score.
constexpr char kAttention[] =
    "q = input 128\n"
    "k = input 8192\n"
    "w = input 8192\n"
    "p = MULTIPLY k:f32[64,32] q:f32[64,32/0,1] -> f32[64,32]\n"
    "score = REDUCE p:f32[64,32] -> f32[64,1] Function=SUM Axes=[1]\n"
    "mean = REDUCE score:f32[64] -> f32[1] Function=AVERAGE Axes=[0]\n"
    "above = SUBTRACT score:f32[64] mean:f32[64/0] -> f32[64]\n"
    "cut = ACTIVATION_RELU above:f32[64] -> f32[64]\n"
    "square = MULTIPLY cut:f32[64] cut:f32[64] -> f32[64]\n"
    "total = REDUCE square:f32[64] -> f32[1] Function=SUM Axes=[0]\n"
    "weight = DIVIDE square:f32[64] total:f32[64/0] -> f32[64]\n"
    "part = MULTIPLY w:f32[64,32] weight:f32[64,32/1,0] -> f32[64,32]\n"
    "one = REDUCE part:f32[64,32] -> f32[1,32] Function=SUM Axes=[0]\n"
    "p2 = MULTIPLY w:f32[64,32] q:f32[64,32/0,1] -> f32[64,32]\n"
    "score2 = REDUCE p2:f32[64,32] -> f32[64,1] Function=SUM Axes=[1]\n"
    "most2 = REDUCE score2:f32[64] -> f32[1] Function=MAX Axes=[0]\n"
    "weight2 = DIVIDE score2:f32[64] most2:f32[64/0] -> f32[64]\n"
    "part2 = MULTIPLY k:f32[64,32] weight2:f32[64,32/1,0] -> f32[64,32]\n"
    "two = REDUCE part2:f32[64,32] -> f32[1,32] Function=SUM Axes=[0]\n"
    "both = ADD one:f32[32] two:f32[32] -> f32[32]\n"
    "y = ADD both:f32[32] q:f32[32] -> f32[32]\n"
    "out y\n";

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kTemporaryAlignment - 1) / kTemporaryAlignment * kTemporaryAlignment;
}

class Search {
 public:
  Search(const Graph& graph, const DeviceTraits& device)
      : graph_(graph), values_(graph), temporary_(values_.count()), result_(values_.count()) {
    ValueSet kept(values_.count());
    for (const GraphSource& output : graph.outputs) {
      kept[values_.of(output)] = true;
    }
    groups_ = fuse(graph, values_, prune(graph, sorted_nodes(graph).value()), kept, device);
    for (const GraphGroup& group : groups_) {
      for (const std::uint32_t value : group.writes) {
        temporary_[value] = !kept[value];
      }
    }
    for (std::uint32_t i = 0; i < graph.inputs.size(); ++i) {
      result_[values_.of_input(i)] = true;
    }
  }

  // `known` is a size that is known to suffice.
  std::uint64_t minimum(std::uint64_t known) {
    minimum_ = known;
    try_orders();
    return minimum_;
  }
  [[nodiscard]] std::size_t orders() const { return orders_; }

 private:
  void try_orders() {
    if (order_.size() == groups_.size()) {
      ++orders_;
      lives_ = lifetimes(graph_, values_, order_, temporary_);
      taken_.assign(lives_.size(), kNoNumber);
      try_layouts_of(0);
      return;
    }
    for (const GraphGroup& group : groups_) {
      if (result_[group.writes.front()] ||
          !std::ranges::all_of(group.reads, [&](std::uint32_t value) { return result_[value]; })) {
        continue;
      }
      const auto mark = [&](bool result) {
        for (const std::uint32_t value : group.writes) {
          result_[value] = result;
        }
      };
      mark(true);
      order_.push_back(group);
      try_orders();
      order_.pop_back();
      mark(false);
    }
  }

  // Whether `result` may overwrite `read`: the step that computes it is the last reader of `read`, and each element
  // depends only on the element that it replaces.
  [[nodiscard]] bool may_take(const Lifetime& result, const Lifetime& read) const {
    const GraphGroup& group = order_[result.first];
    if (read.last != result.first || read.first >= result.first) {
      return false;
    }
    const TensorDesc* written = nullptr;
    for (std::size_t i = 0; i < group.nodes.size(); ++i) {
      if (values_.of_node(group.nodes[i], 0) == result.value && graph_.nodes[group.nodes[i]].op->family->by_element) {
        written = &group.view(graph_, i, graph_.nodes[group.nodes[i]].op->tensors.size() - 1);
      }
    }
    for (std::size_t i = 0; i < group.nodes.size() && written != nullptr; ++i) {
      const auto& sources = graph_.nodes[group.nodes[i]].sources;
      for (std::size_t input = 0; input < sources.size(); ++input) {
        if (sources[input].kind != SourceKind::none && values_.of(sources[input]) == read.value &&
            (!graph_.nodes[group.nodes[i]].op->family->by_element ||
             !same_layout(group.view(graph_, i, input), *written))) {
          return false;
        }
      }
    }
    return written != nullptr;
  }

  // For this value and each later one, tries separate memory and the memory of each value that it may overwrite.
  void try_layouts_of(std::size_t value) {
    if (value == lives_.size()) {
      return try_placing();
    }
    try_layouts_of(value + 1);
    for (std::uint32_t other = 0; other < lives_.size(); ++other) {
      if (std::ranges::find(taken_, other) == taken_.end() && may_take(lives_[value], lives_[other])) {
        taken_[value] = other;
        try_layouts_of(value + 1);
        taken_[value] = kNoNumber;
      }
    }
  }

  // Tries all orders of placing the values, each at the lowest free offset. The best result is the minimum for these
  // lifetimes.
  void try_placing() {
    std::vector<Lifetime> chains;
    std::vector<std::size_t> chain_of(lives_.size());
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      if (taken_[i] == kNoNumber) {
        chain_of[i] = chains.size();
        chains.push_back(lives_[i]);
      } else {
        chain_of[i] = chain_of[taken_[i]];
      }
      Lifetime& chain = chains[chain_of[i]];
      chain.last = std::max(chain.last, lives_[i].last);
      chain.extent.bytes = std::max(chain.extent.bytes, aligned(lives_[i].extent.bytes));
    }
    if (peak_bytes(chains) < minimum_) {  // a lower bound for every placement
      std::vector<std::uint64_t> offsets(chains.size());
      std::vector<std::size_t> placed;
      place_remaining(chains, placed, offsets, 0);
    }
  }

  void place_remaining(const std::vector<Lifetime>& chains, std::vector<std::size_t>& placed,
                       std::vector<std::uint64_t>& offsets, std::uint64_t end) {
    if (end >= minimum_) {
      return;
    }
    if (placed.size() == chains.size()) {
      minimum_ = end;
      return;
    }
    for (std::size_t one = 0; one < chains.size(); ++one) {
      if (std::ranges::find(placed, one) != placed.end()) {
        continue;
      }
      std::vector<std::size_t> by_offset = placed;
      std::ranges::sort(by_offset, {}, [&](std::size_t other) { return offsets[other]; });
      std::uint64_t at = 0;
      for (const std::size_t other : by_offset) {
        if (chains[other].first <= chains[one].last && chains[one].first <= chains[other].last &&
            at + chains[one].extent.bytes > offsets[other]) {
          at = std::max(at, offsets[other] + chains[other].extent.bytes);
        }
      }
      offsets[one] = at;
      placed.push_back(one);
      place_remaining(chains, placed, offsets, std::max(end, at + chains[one].extent.bytes));
      placed.pop_back();
    }
  }

  const Graph& graph_;
  const ValueNumbers values_;
  ValueSet temporary_;
  ValueSet result_;
  std::vector<GraphGroup> groups_;
  std::vector<GraphGroup> order_;
  std::vector<Lifetime> lives_;
  std::vector<std::uint32_t> taken_;  // for each value, the value whose memory it reuses
  std::uint64_t minimum_ = 0;
  std::size_t orders_ = 0;
};

void expect_the_best(const char* name, const char* text) {
  const Graph graph = parse_graph(text);
  std::uint64_t all = 0;
  for (const GraphNode& node : graph.nodes) {
    all += node.outputs[0].bytes;
  }
  all -= extent_of(graph, graph.outputs[0]).bytes;
  for (const bool joins_steps : {false, true}) {
    const DeviceTraits device{.joins_from = joins_steps ? 1U : 0U};
    std::string steps;
    const auto plans = compile_graph(graph, device, &steps).value();
    Search search(graph, device);
    const std::uint64_t minimum = search.minimum(plans.run.temporary_bytes());
    std::printf(
        "%-22s %-6s %3zu nodes %3u steps; bytes: all values %7llu, temporary %7llu, best of %5zu orders %7llu\n", name,
        joins_steps ? "joined" : "apart", graph.nodes.size(), plans.steps, static_cast<unsigned long long>(all),
        static_cast<unsigned long long>(plans.run.temporary_bytes()), search.orders(),
        static_cast<unsigned long long>(minimum));
    EXPECT_EQ(plans.run.temporary_bytes(), minimum) << steps;
  }
}

TEST(GraphMemory, IsTheBestThereIs) {
  expect_the_best("gated residual block", kGatedResidual);
  expect_the_best("layer normalizations", kLayerNormalization);
  expect_the_best("attention, two heads", kAttention);
}

}  // namespace
}  // namespace anydml::test
