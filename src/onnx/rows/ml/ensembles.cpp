// SPDX-License-Identifier: MIT
// Tree ensembles: reads the attributes of the three operators, checks every index, and computes scores and labels.
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "onnx/rows/ml/ml.h"
#include "onnx/rows/ml/trees.h"

namespace anydml::onnx {
namespace {

// A list of numbers in the attribute `name`, or in `name`_as_tensor if it is of doubles.
std::vector<double> float_or_double_list(const Node& node, const std::string& name, bool& is_double) {
  const std::vector<double> floats = node.numbers(name);
  const std::string tensor_name = name + "_as_tensor";
  if (!node.has(tensor_name)) {
    return floats;
  }
  const Array tensor = node.tensor(tensor_name);
  if (!tensor || !is_float(tensor.kind()) || tensor.rank() > 1 || !floats.empty()) {
    fail("{}: {} must be a list of floats, without {}", node.label, tensor_name, name);
  }
  is_double = is_double || tensor.kind() == Kind::kDouble;
  return tensor.to_numbers();
}

void check_length(const Node& node, const std::string& name, std::size_t length, std::size_t expected) {
  if (length != expected) {
    fail("{}: {} has {} elements; expected {}, as the lists beside it have", node.label, name, length, expected);
  }
}

void check_feature(const Node& node, std::int64_t feature) {
  constexpr std::int64_t kMaxFeature = std::int64_t{1} << 30;
  if (feature < 0 || feature >= kMaxFeature) {
    fail("{}: nodes_featureids has {}; expected 0 to {}", node.label, feature, kMaxFeature - 1);
  }
}

std::size_t target_in(const Node& node, const char* name, std::int64_t target, std::size_t count) {
  if (target < 0 || static_cast<std::size_t>(target) >= count) {
    fail("{}: {} has {}; expected 0 to {}", node.label, name, target, static_cast<std::int64_t>(count) - 1);
  }
  return static_cast<std::size_t>(target);
}

// ---- TreeEnsembleClassifier, TreeEnsembleRegressor ------------------------------------------------------------------

// The nodes by the number of their tree and their own number.
class NodeNumbers {
 public:
  NodeNumbers(const Node& node, std::vector<std::int64_t> trees, std::vector<std::int64_t> numbers)
      : node_(node), trees_(std::move(trees)), numbers_(std::move(numbers)) {
    check_length(node, "nodes_nodeids", numbers_.size(), trees_.size());
    for (std::size_t i = 0; i < trees_.size(); ++i) {
      sorted_.push_back(i);
    }
    const auto is_less = [this](std::size_t a, std::size_t b) { return key(a) < key(b); };
    if (!std::is_sorted(sorted_.begin(), sorted_.end(), is_less)) {
      std::sort(sorted_.begin(), sorted_.end(), is_less);
    }
    const auto same = std::adjacent_find(sorted_.begin(), sorted_.end(),
                                         [this](std::size_t a, std::size_t b) { return key(a) == key(b); });
    if (same != sorted_.end()) {
      fail("{}: tree {} has two nodes with the number {}", node.label, trees_[*same], numbers_[*same]);
    }
  }

  [[nodiscard]] std::size_t count() const { return trees_.size(); }
  [[nodiscard]] std::int64_t tree(std::size_t position) const { return trees_[position]; }
  // The position of a node; raises Invalid if the tree has no such node. `name` is the list that refers to it.
  [[nodiscard]] std::size_t find(const char* name, std::int64_t tree, std::int64_t number) const {
    const auto found =
        std::lower_bound(sorted_.begin(), sorted_.end(), std::tuple(tree, number),
                         [this](std::size_t position, const auto& wanted) { return key(position) < wanted; });
    if (found == sorted_.end() || key(*found) != std::tuple(tree, number)) {
      fail("{}: {} refers to node {} of tree {}, which does not exist", node_.label, name, number, tree);
    }
    return *found;
  }

 private:
  [[nodiscard]] std::tuple<std::int64_t, std::int64_t> key(std::size_t position) const {
    return {trees_[position], numbers_[position]};
  }

  const Node& node_;
  std::vector<std::int64_t> trees_, numbers_;
  std::vector<std::size_t> sorted_;
};

// What the names of the lists of votes begin with: "target" in a regressor, "class" in a classifier.
struct VoteLists {
  std::vector<std::int64_t> trees, numbers, targets;
  std::vector<double> weights;
};

// A model with what the checks of its operator need.
struct ReadTrees {
  TreeModel model;
  VoteLists votes;
  bool needs_double = false;  // whether a value of a node may not be a float
};

Branch branch_of(const Node& node, const std::string& mode) {
  static constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), mode);
  if (found == std::end(kNames)) {
    fail("{}: nodes_modes has {}; expected LEAF, or BRANCH_ with LEQ, LT, GTE, GT, EQ or NEQ", node.label,
         onnx::quoted(mode));
  }
  return static_cast<Branch>(found - std::begin(kNames));
}

// The place of each node: nodes and leaves are counted apart.
std::vector<TreePlace> places_of(const std::vector<std::string>& modes, std::size_t& leaves) {
  std::vector<TreePlace> places;
  TreePlace nodes = 0;
  leaves = 0;
  for (const std::string& mode : modes) {
    places.push_back(mode == "LEAF" ? kLeafBit | static_cast<TreePlace>(leaves++) : nodes++);
  }
  return places;
}

void read_nodes(const Node& node, const NodeNumbers& numbers, const std::vector<TreePlace>& places, ReadTrees& read) {
  const std::size_t count = numbers.count();
  const std::vector<std::string> modes = node.texts("nodes_modes");
  const std::vector<std::int64_t> features = node.integers("nodes_featureids");
  const std::vector<double> values = float_or_double_list(node, "nodes_values", read.needs_double);
  const std::vector<std::int64_t> yes = node.integers("nodes_truenodeids");
  const std::vector<std::int64_t> no = node.integers("nodes_falsenodeids");
  std::vector<std::int64_t> nan_is_true = node.integers("nodes_missing_value_tracks_true");
  nan_is_true.resize(nan_is_true.empty() ? count : nan_is_true.size());
  check_length(node, "nodes_featureids", features.size(), count);
  check_length(node, "nodes_values", values.size(), count);
  check_length(node, "nodes_truenodeids", yes.size(), count);
  check_length(node, "nodes_falsenodeids", no.size(), count);
  check_length(node, "nodes_missing_value_tracks_true", nan_is_true.size(), count);
  std::set<std::int64_t> seen;  // trees; the first listed node of a tree is its root
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t tree = numbers.tree(i);
    if ((i == 0 || tree != numbers.tree(i - 1)) && seen.insert(tree).second) {
      read.model.roots.push_back(places[i]);
    }
    if ((places[i] & kLeafBit) != 0) {
      continue;
    }
    check_feature(node, features[i]);
    read.model.nodes.push_back({.branch = branch_of(node, modes[i]),
                                .nan_is_true = nan_is_true[i] != 0,
                                .feature = features[i],
                                .value = values[i],
                                .yes = places[numbers.find("nodes_truenodeids", tree, yes[i])],
                                .no = places[numbers.find("nodes_falsenodeids", tree, no[i])],
                                .set = 0});
  }
}

// Groups the votes by their leaf; those of a leaf stay in their order. Votes of other nodes never count.
void read_votes(const Node& node, const NodeNumbers& numbers, const std::vector<TreePlace>& places, std::size_t leaves,
                const std::string& prefix, std::size_t targets, ReadTrees& read) {
  VoteLists& votes = read.votes;
  votes.trees = node.integers(prefix + "_treeids");
  votes.numbers = node.integers(prefix + "_nodeids");
  votes.targets = node.integers(prefix + "_ids");
  bool is_double = false;
  votes.weights = float_or_double_list(node, prefix + "_weights", is_double);
  check_length(node, prefix + "_nodeids", votes.numbers.size(), votes.trees.size());
  check_length(node, prefix + "_ids", votes.targets.size(), votes.trees.size());
  check_length(node, prefix + "_weights", votes.weights.size(), votes.trees.size());
  const std::string nodes_name = prefix + "_nodeids";
  const std::string ids_name = prefix + "_ids";
  std::vector<std::size_t> leaf_of(votes.trees.size(), leaves);
  std::vector<std::size_t>& begins = read.model.leaf_begins;
  begins.assign(leaves + 1, 0);
  for (std::size_t i = 0; i < votes.trees.size(); ++i) {
    static_cast<void>(target_in(node, ids_name.c_str(), votes.targets[i], targets));
    const TreePlace place = places[numbers.find(nodes_name.c_str(), votes.trees[i], votes.numbers[i])];
    if ((place & kLeafBit) != 0) {
      leaf_of[i] = place & ~kLeafBit;
      ++begins[leaf_of[i] + 1];
    }
  }
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
    begins[leaf + 1] += begins[leaf];
  }
  std::vector<std::size_t> next(begins.begin(), begins.end() - 1);
  read.model.votes.resize(begins.back());
  for (std::size_t i = 0; i < leaf_of.size(); ++i) {
    if (leaf_of[i] != leaves) {
      read.model.votes[next[leaf_of[i]]++] = {static_cast<std::uint32_t>(votes.targets[i]), votes.weights[i]};
    }
  }
}

ReadTrees read_trees(const Node& node, const std::string& prefix, std::size_t targets) {
  const NodeNumbers numbers(node, node.integers("nodes_treeids"), node.integers("nodes_nodeids"));
  if (numbers.count() == 0 || numbers.count() > kMaxPlaces) {
    fail("{}: nodes_treeids has {} elements; expected 1 to {}", node.label, numbers.count(), kMaxPlaces);
  }
  const std::vector<std::string> modes = node.texts("nodes_modes");
  check_length(node, "nodes_modes", modes.size(), numbers.count());
  std::size_t leaves = 0;
  const std::vector<TreePlace> places = places_of(modes, leaves);
  ReadTrees read;
  read_nodes(node, numbers, places, read);
  read_votes(node, numbers, places, leaves, prefix, targets, read);
  return read;
}

// ---- TreeEnsemble ---------------------------------------------------------------------------------------------------

// A list in an attribute that is a tensor.
Array tensor_list(const Node& node, std::string_view name) {
  const Array tensor = node.tensor(name);
  if (!tensor || tensor.rank() != 1 || tensor.kind() == Kind::kString) {
    fail("{}: {} must be a list of numbers", node.label, name);
  }
  return tensor;
}

// The sets of the nodes with BRANCH_MEMBER, in their order. A NaN ends each set.
std::vector<std::vector<double>> member_sets(const Node& node, std::size_t expected) {
  std::vector<std::vector<double>> sets;
  if (node.has("membership_values")) {
    std::vector<double> set;
    for (const double one : tensor_list(node, "membership_values").to_numbers()) {
      if (!std::isnan(one)) {
        set.push_back(one);
        continue;
      }
      std::sort(set.begin(), set.end());
      sets.push_back(std::move(set));
      set.clear();
    }
    if (!set.empty()) {
      fail("{}: membership_values does not end with NaN, which ends each set", node.label);
    }
  }
  if (sets.size() != expected) {
    fail("{}: membership_values has {} sets; expected {}, one for each node with BRANCH_MEMBER", node.label,
         sets.size(), expected);
  }
  return sets;
}

TreePlace place_in(const Node& node, const char* name, std::int64_t index, bool is_leaf, std::size_t nodes,
                   std::size_t leaves) {
  const std::size_t count = is_leaf ? leaves : nodes;
  if (index < 0 || static_cast<std::size_t>(index) >= count) {
    fail("{}: {} has {}; there are {} {}", node.label, name, index, count, is_leaf ? "leaves" : "nodes");
  }
  return static_cast<TreePlace>(index) | (is_leaf ? kLeafBit : 0);
}

TreeModel read_ensemble(const Node& node, std::size_t targets) {
  const std::vector<std::int64_t> modes = tensor_list(node, "nodes_modes").to_integers();
  const std::vector<double> values = tensor_list(node, "nodes_splits").to_numbers();
  const std::vector<double> weights = tensor_list(node, "leaf_weights").to_numbers();
  const std::vector<std::int64_t> ids = node.integers("leaf_targetids");
  const std::size_t count = modes.size();
  if (count > kMaxPlaces || weights.size() > kMaxPlaces) {
    fail("{}: there are {} nodes and {} leaves; expected {} at most", node.label, count, weights.size(), kMaxPlaces);
  }
  const auto list = [&](const char* name) {
    std::vector<std::int64_t> numbers = node.integers(name);
    check_length(node, name, numbers.size(), count);
    return numbers;
  };
  const std::vector<std::int64_t> features = list("nodes_featureids");
  const std::vector<std::int64_t> yes = list("nodes_truenodeids");
  const std::vector<std::int64_t> no = list("nodes_falsenodeids");
  const std::vector<std::int64_t> yes_leafs = list("nodes_trueleafs");
  const std::vector<std::int64_t> no_leafs = list("nodes_falseleafs");
  std::vector<std::int64_t> nan_is_true(count);
  if (!node.integers("nodes_missing_value_tracks_true").empty()) {
    nan_is_true = list("nodes_missing_value_tracks_true");
  }
  check_length(node, "nodes_splits", values.size(), count);
  check_length(node, "leaf_targetids", ids.size(), weights.size());
  TreeModel model;
  std::size_t sets = 0;
  for (std::size_t i = 0; i < count; ++i) {
    check_feature(node, features[i]);
    if (modes[i] < 0 || modes[i] > static_cast<std::int64_t>(Branch::kMember)) {
      fail("{}: nodes_modes has {}; expected 0 to {}", node.label, modes[i], static_cast<int>(Branch::kMember));
    }
    const auto branch = static_cast<Branch>(modes[i]);
    model.nodes.push_back({.branch = branch,
                           .nan_is_true = nan_is_true[i] != 0,
                           .feature = features[i],
                           .value = values[i],
                           .yes = place_in(node, "nodes_truenodeids", yes[i], yes_leafs[i] != 0, count, weights.size()),
                           .no = place_in(node, "nodes_falsenodeids", no[i], no_leafs[i] != 0, count, weights.size()),
                           .set = branch == Branch::kMember ? sets++ : 0});
  }
  model.sets = member_sets(node, sets);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    model.leaf_begins.push_back(i);
    model.votes.push_back({static_cast<std::uint32_t>(target_in(node, "leaf_targetids", ids[i], targets)), weights[i]});
  }
  model.leaf_begins.push_back(weights.size());
  for (const std::int64_t root : node.integers("tree_roots")) {
    model.roots.push_back(place_in(node, "tree_roots", root, false, count, 0));
  }
  return model;
}

// ---- Scores ---------------------------------------------------------------------------------------------------------

// An ensemble for the type of its features.
class Ensemble {
 public:
  Ensemble(const Node& node, const TreeModel& model, bool needs_double, Aggregate aggregate, std::size_t targets)
      : targets_(targets) {
    if (needs_double || (node.kinds[0] != Kind::kFloat && node.kinds[0] != Kind::kFloat16)) {
      doubles_ = std::make_shared<const Trees<double>>(model, aggregate, targets, node.label);
    } else {
      floats_ = std::make_shared<const Trees<float>>(model, aggregate, targets, node.label);
    }
  }

  // The scores of each row and target.
  [[nodiscard]] std::vector<double> scores(const Array& x) const {
    check_features(x);
    const std::int64_t rows = x.rank() == 1 ? 1 : x.size(0);
    const std::int64_t width = x.shape().back();
    const std::int64_t expected = floats_ ? floats_->width() : doubles_->width();
    if (width < expected) {
      fail("X has {} features; the trees use {}", width, expected);
    }
    if (width == 0 && rows != 0) {
      fail("X has no features; expected 1 or more");
    }
    std::vector<double> result(static_cast<std::size_t>(product(Sizes{rows, static_cast<std::int64_t>(targets_)})));
    if (doubles_) {
      doubles_->score(x.to_numbers(), width, result);
    } else if (x.kind() == Kind::kFloat) {
      floats_->score(x.packed().elements<float>(), width, result);
    } else {
      const std::vector<double> numbers = x.to_numbers();
      floats_->score(std::vector<float>(numbers.begin(), numbers.end()), width, result);
    }
    return result;
  }

 private:
  std::shared_ptr<const Trees<float>> floats_;
  std::shared_ptr<const Trees<double>> doubles_;
  std::size_t targets_;
};

// A number that is added to each target's score; empty if there are none.
std::vector<double> base_values(const Node& node, std::size_t targets) {
  bool is_double = false;
  std::vector<double> values = float_or_double_list(node, "base_values", is_double);
  if (values.size() > 1 && values.size() != targets) {
    fail("{}: base_values has {} numbers; expected none, 1 or {}", node.label, values.size(), targets);
  }
  return values;
}

// Adds one number for each score, or the same number to all.
void add_base(std::span<const double> base, std::span<double> scores) {
  for (std::size_t i = 0; !base.empty() && i < scores.size(); ++i) {
    scores[i] += base[base.size() == 1 ? 0 : i];
  }
}

std::size_t target_count(const Node& node) {
  constexpr std::int64_t kMaxTargets = std::int64_t{1} << 31;
  const std::int64_t count = node.integer("n_targets");
  if (count < 1 || count > kMaxTargets) {
    wrong(node, "n_targets", format_text("1 to {}", kMaxTargets));
  }
  return static_cast<std::size_t>(count);
}

Compute regressor_of(const Ensemble& ensemble, std::size_t targets, const std::vector<double>& base,
                     PostTransform transform, Kind kind) {
  return [=](std::span<const Array> inputs) {
    std::vector<double> scores = ensemble.scores(inputs[0]);
    const std::size_t rows = scores.size() / targets;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::span<double> own = std::span(scores).subspan(row * targets, targets);
      add_base(base, own);
      transform_scores(transform, own);
    }
    return one(floats_of(kind, {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(targets)}, scores));
  };
}

}  // namespace

Compute ml_tree_regressor(const Node& node) {
  check_choice(node, "aggregate_function", {"AVERAGE", "SUM", "MIN", "MAX"});
  const std::string name = node.text("aggregate_function");
  const Aggregate aggregate = name == "AVERAGE" ? Aggregate::kAverage
                              : name == "MIN"   ? Aggregate::kMin
                              : name == "MAX"   ? Aggregate::kMax
                                                : Aggregate::kSum;
  const std::size_t targets = target_count(node);
  const ReadTrees read = read_trees(node, "target", targets);
  return regressor_of(Ensemble(node, read.model, read.needs_double, aggregate, targets), targets,
                      base_values(node, targets), post_transform_of(node), Kind::kFloat);
}

Compute ml_tree_ensemble(const Node& node) {
  check_choice(node, "aggregate_function", {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3}});
  const std::size_t targets = target_count(node);
  const bool needs_double =
      tensor_list(node, "nodes_splits").kind() == Kind::kDouble ||
      (node.has("membership_values") && tensor_list(node, "membership_values").kind() == Kind::kDouble);
  const Ensemble ensemble(node, read_ensemble(node, targets), needs_double,
                          static_cast<Aggregate>(node.integer("aggregate_function")), targets);
  return regressor_of(ensemble, targets, {}, post_transform_of(node), node.results[0]);
}

Compute ml_tree_classifier(const Node& node) {
  const Array labels = labels_of(node, "classlabels_int64s", "classlabels_strings");
  const auto classes = static_cast<std::size_t>(labels.count());
  const ReadTrees read = read_trees(node, "class", classes);
  const std::vector<std::int64_t>& ids = read.votes.targets;
  const std::vector<double>& weights = read.votes.weights;
  // If all votes of a model with two labels are for the first one, they are the score of the second one.
  const bool is_binary =
      classes == 2 && !ids.empty() && std::all_of(ids.begin(), ids.end(), [](std::int64_t id) { return id == 0; });
  // Votes for only one of two labels are a probability if none is negative, otherwise a distance.
  const bool has_one_class = classes == 2 && !ids.empty() &&
                             std::all_of(ids.begin(), ids.end(), [&](std::int64_t id) { return id == ids[0]; });
  const bool is_probability = std::all_of(weights.begin(), weights.end(), [](double one) { return one >= 0; });
  return [ensemble = Ensemble(node, read.model, read.needs_double, Aggregate::kSum, classes),
          base = base_values(node, classes), transform = post_transform_of(node), labels, classes, is_binary,
          has_one_class, is_probability](std::span<const Array> inputs) {
    std::vector<double> scores = ensemble.scores(inputs[0]);
    const std::size_t rows = scores.size() / classes;
    std::vector<std::int64_t> best;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::span<double> own = std::span(scores).subspan(row * classes, classes);
      add_base(base, own);
      if (has_one_class) {
        best.push_back(own[is_binary ? 0 : 1] > (is_probability ? 0.5 : 0.0) ? 1 : 0);
      } else {
        best.push_back(largest_score(own));
      }
      if (is_binary) {
        transform_binary(transform, own[0], is_probability, own);
      } else {
        transform_scores(transform, own);
      }
    }
    const auto count = static_cast<std::int64_t>(rows);
    Arrays results = one(picked(labels, best, {count}));
    results.push_back(floats_of(Kind::kFloat, {count, labels.count()}, scores));
    return results;
  };
}

}  // namespace anydml::onnx
