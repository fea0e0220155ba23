// SPDX-License-Identifier: MIT
// Decision trees, in a form that is checked once and then evaluated fast.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace anydml::onnx {

// The comparisons of a feature with the node's value; the numbers are those of TreeEnsemble's nodes_modes.
enum class Branch : std::uint8_t { kLeq = 0, kLt = 1, kGte = 2, kGt = 3, kEq = 4, kNeq = 5, kMember = 6 };

// A node or a leaf: the position in its list, plus the bit kLeafBit for a leaf.
using TreePlace = std::uint32_t;
inline constexpr TreePlace kLeafBit = TreePlace{1} << 31;
inline constexpr std::size_t kMaxPlaces = std::size_t{1} << 30;  // of all trees; positions with leaves fit into 31 bits

// Trees as a model describes them. Nodes may share children, as converted models do.
struct TreeNode {
  Branch branch = Branch::kLeq;
  bool nan_is_true = false;  // where NaN goes
  std::int64_t feature = 0;
  double value = 0;
  TreePlace yes = 0, no = 0;
  std::size_t set = 0;  // of kMember: the position of its set
};
// An addition to the score of a target.
struct TreeVote {
  std::uint32_t target;
  double weight;
};
struct TreeModel {
  std::vector<TreeNode> nodes;
  std::vector<TreePlace> roots;           // of each tree, in the order in which the trees add to the scores
  std::vector<std::size_t> leaf_begins;   // the first vote of each leaf, and the number of votes at the end
  std::vector<TreeVote> votes;            // of all leaves
  std::vector<std::vector<double>> sets;  // sorted
};

enum class Aggregate : std::uint8_t { kAverage = 0, kSum = 1, kMin = 2, kMax = 3 };

// Evaluates trees. T: float if the features and the values of the nodes are floats, otherwise double; comparisons have
// the same results in both.
template <class T>
class Trees {
 public:
  // Raises Invalid if a path through the nodes returns to a node; `label` begins the message.
  Trees(const TreeModel& model, Aggregate aggregate, std::size_t targets, const std::string& label);

  // The number of features that a row must have.
  [[nodiscard]] std::int64_t width() const { return width_; }
  // The scores of each row and target: the votes of the leaves that the row reaches, in the order of the trees and then
  // of the votes, aggregated in double. A target without a vote has the score 0. Rows have `stride` features each.
  void score(std::span<const T> x, std::int64_t stride, std::span<double> scores) const;

 private:
  struct Node {
    T value;
    std::uint32_t feature;  // with kNanBit if NaN goes to the true branch
    std::uint32_t next[2];  // the nodes after yes and no; a leaf leads to itself
  };
  struct Rule {
    Branch branch;
    std::uint32_t set;
  };
  // What the nodes have in common. Most models compare with BRANCH_LEQ only; a comparison with NaN is false.
  enum class Style : std::uint8_t { kLeq, kLeqOrNan, kAny };
  static constexpr std::uint32_t kNanBit = std::uint32_t{1} << 31;
  static constexpr std::size_t kTogether = 8;  // rows that walk through a tree at the same time
  static constexpr std::size_t kBlock = 64;    // rows that walk through all trees before the next ones

  template <Style kStyle>
  void walk(std::uint32_t root, const T* x, std::int64_t stride, std::size_t count, std::uint32_t* leaves) const;
  [[nodiscard]] bool follows(std::uint32_t node, T x) const;
  void add(std::uint32_t leaf, double* scores, unsigned char* has_vote) const;

  std::vector<Node> nodes_;  // and after them, the leaves
  std::vector<Rule> rules_;  // of the nodes
  std::vector<std::uint32_t> roots_;
  std::vector<std::size_t> leaf_begins_;
  std::vector<TreeVote> votes_;
  std::vector<std::vector<T>> sets_;
  std::uint32_t leaves_begin_ = 0;
  std::int64_t width_ = 0;
  Style style_ = Style::kLeq;
  Aggregate aggregate_;
  std::size_t targets_;
};

extern template class Trees<float>;
extern template class Trees<double>;

}  // namespace anydml::onnx
