// SPDX-License-Identifier: MIT
#include "onnx/rows/ml/trees.h"

#include <algorithm>
#include <cmath>

#include "onnx/rows/host/host.h"

namespace anydml::onnx {
namespace {

// Checks that no path returns to a node. Every node is visited once, even if several nodes lead to it.
void check_no_cycle(const TreeModel& model, const std::string& label) {
  enum class State : std::uint8_t { kNew, kOpen, kDone };
  std::vector<State> states(model.nodes.size(), State::kNew);
  std::vector<std::pair<std::size_t, int>> path;  // nodes, and how many of their children were visited
  const auto open = [&](TreePlace place) {
    if ((place & kLeafBit) != 0 || states[place] == State::kDone) {
      return;
    }
    if (states[place] == State::kOpen) {
      fail("{}: the branches of node {} lead back to it; expected trees", label, place);
    }
    states[place] = State::kOpen;
    path.emplace_back(place, 0);
  };
  for (const TreePlace root : model.roots) {
    open(root);
    while (!path.empty()) {
      auto& [node, visited] = path.back();
      if (visited == 2) {
        states[node] = State::kDone;
        path.pop_back();
        continue;
      }
      const TreeNode& one = model.nodes[node];
      open(visited++ == 0 ? one.yes : one.no);  // `node` may be gone afterwards
    }
  }
}

}  // namespace

template <class T>
Trees<T>::Trees(const TreeModel& model, Aggregate aggregate, std::size_t targets, const std::string& label)
    : leaf_begins_(model.leaf_begins), votes_(model.votes), aggregate_(aggregate), targets_(targets) {
  check_no_cycle(model, label);
  leaves_begin_ = static_cast<std::uint32_t>(model.nodes.size());
  const auto position = [this](TreePlace place) {
    return (place & kLeafBit) != 0 ? leaves_begin_ + (place & ~kLeafBit) : place;
  };
  for (const TreeNode& node : model.nodes) {
    const Style own = node.branch != Branch::kLeq ? Style::kAny : node.nan_is_true ? Style::kLeqOrNan : Style::kLeq;
    style_ = std::max(style_, own);
    width_ = std::max(width_, node.feature + 1);
    nodes_.push_back({static_cast<T>(node.value),
                      static_cast<std::uint32_t>(node.feature) | (node.nan_is_true ? kNanBit : 0),
                      {position(node.yes), position(node.no)}});
    rules_.push_back({node.branch, static_cast<std::uint32_t>(node.set)});
  }
  for (std::size_t leaf = 0; leaf + 1 < leaf_begins_.size(); ++leaf) {
    const std::uint32_t own = leaves_begin_ + static_cast<std::uint32_t>(leaf);
    nodes_.push_back({T{0}, 0, {own, own}});
  }
  for (const TreePlace root : model.roots) {
    roots_.push_back(position(root));
  }
  for (const std::vector<double>& set : model.sets) {
    sets_.emplace_back(set.begin(), set.end());
  }
}

template <class T>
bool Trees<T>::follows(std::uint32_t node, T x) const {
  const T value = nodes_[node].value;
  const Rule& rule = rules_[node];
  if (std::isnan(x)) {
    return (nodes_[node].feature & kNanBit) != 0;
  }
  switch (rule.branch) {
    case Branch::kLeq:
      return x <= value;
    case Branch::kLt:
      return x < value;
    case Branch::kGte:
      return x >= value;
    case Branch::kGt:
      return x > value;
    case Branch::kEq:
      return x == value;
    case Branch::kNeq:
      return x != value;
    case Branch::kMember:
      return std::binary_search(sets_[rule.set].begin(), sets_[rule.set].end(), x);
  }
  return false;
}

// Several rows take a step each in turn, so that the processor does not wait for the memory of one row's node. Rows
// that have reached a leaf stay there.
template <class T>
template <typename Trees<T>::Style kStyle>
void Trees<T>::walk(std::uint32_t root, const T* x, std::int64_t stride, std::size_t count,
                    std::uint32_t* leaves) const {
  std::fill_n(leaves, count, root);
  std::uint32_t nearest = root;
  while (nearest < leaves_begin_) {
    nearest = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t at = leaves[i];
      const Node& node = nodes_[at];
      const T feature = x[static_cast<std::int64_t>(i) * stride + (node.feature & ~kNanBit)];
      bool is_yes = false;
      if constexpr (kStyle == Style::kAny) {
        is_yes = at < leaves_begin_ && follows(at, feature);
      } else {
        is_yes = feature <= node.value;
      }
      if constexpr (kStyle == Style::kLeqOrNan) {
        // Without a branch: the processor could not predict it.
        const unsigned is_nan = feature != feature ? 1 : 0;
        is_yes = ((is_yes ? 1U : 0U) | (is_nan & node.feature >> 31U)) != 0;
      }
      const std::uint32_t next = node.next[is_yes ? 0 : 1];
      leaves[i] = next;
      nearest = std::min(nearest, next);
    }
  }
}

template <class T>
void Trees<T>::add(std::uint32_t leaf, double* scores, unsigned char* has_vote) const {
  for (std::size_t i = leaf_begins_[leaf]; i < leaf_begins_[leaf + 1]; ++i) {
    const auto [target, weight] = votes_[i];
    double& score = scores[target];
    if (aggregate_ == Aggregate::kSum || aggregate_ == Aggregate::kAverage) {
      score += weight;
    } else if (has_vote[target] == 0) {
      has_vote[target] = 1;
      score = weight;
    } else {
      score = aggregate_ == Aggregate::kMin ? smaller(score, weight) : larger(score, weight);
    }
  }
}

template <class T>
void Trees<T>::score(std::span<const T> x, std::int64_t stride, std::span<double> scores) const {
  const std::size_t rows = targets_ == 0 ? 0 : scores.size() / targets_;
  const bool needs_votes = aggregate_ == Aggregate::kMin || aggregate_ == Aggregate::kMax;
  std::vector<unsigned char> has_vote(needs_votes ? scores.size() : 0);
  std::uint32_t leaves[kTogether];
  for (std::size_t block = 0; block < rows; block += kBlock) {
    const std::size_t end = std::min(rows, block + kBlock);
    for (const std::uint32_t root : roots_) {
      for (std::size_t row = block; row < end; row += kTogether) {
        const std::size_t count = std::min(kTogether, end - row);
        const T* const from = x.data() + static_cast<std::int64_t>(row) * stride;
        if (style_ == Style::kLeq) {
          walk<Style::kLeq>(root, from, stride, count, leaves);
        } else if (style_ == Style::kLeqOrNan) {
          walk<Style::kLeqOrNan>(root, from, stride, count, leaves);
        } else {
          walk<Style::kAny>(root, from, stride, count, leaves);
        }
        for (std::size_t i = 0; i < count; ++i) {
          const std::size_t first = (row + i) * targets_;
          add(leaves[i] - leaves_begin_, scores.data() + first, needs_votes ? has_vote.data() + first : nullptr);
        }
      }
    }
  }
  if (aggregate_ == Aggregate::kAverage) {
    for (double& score : scores) {
      score /= static_cast<double>(roots_.size());
    }
  }
}

template class Trees<float>;
template class Trees<double>;

}  // namespace anydml::onnx
