// SPDX-License-Identifier: MIT
// The operators of ai.onnx.ml, and what they have in common. All of them run on the host. They compute in double and
// round each result once, to the type of the output. Sums begin with 0 and add in the order of the features, of the
// support vectors or of the trees, so the bits do not depend on the machine.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "onnx/rows/host/host.h"

namespace anydml::onnx {

[[nodiscard]] Compute ml_array_feature_extractor(const Node& node);  // features.cpp
[[nodiscard]] Compute ml_binarizer(const Node& node);
[[nodiscard]] Compute ml_feature_vectorizer(const Node& node);
[[nodiscard]] Compute ml_imputer(const Node& node);
[[nodiscard]] Compute ml_normalizer(const Node& node);
[[nodiscard]] Compute ml_scaler(const Node& node);
[[nodiscard]] Compute ml_category_mapper(const Node& node);  // labels.cpp
[[nodiscard]] Compute ml_label_encoder(const Node& node);
[[nodiscard]] Compute ml_one_hot_encoder(const Node& node);
[[nodiscard]] Compute ml_zip_map(const Node& node);
[[nodiscard]] Compute ml_linear_classifier(const Node& node);  // linear.cpp
[[nodiscard]] Compute ml_linear_regressor(const Node& node);
[[nodiscard]] Compute ml_svm_classifier(const Node& node);  // svm.cpp
[[nodiscard]] Compute ml_svm_regressor(const Node& node);
[[nodiscard]] Compute ml_tree_classifier(const Node& node);  // ensembles.cpp
[[nodiscard]] Compute ml_tree_ensemble(const Node& node);
[[nodiscard]] Compute ml_tree_regressor(const Node& node);

[[nodiscard]] std::vector<Kind> ml_encoder_kinds(const Node& node);  // of LabelEncoder's output
[[nodiscard]] std::vector<Kind> ml_mapper_kinds(const Node& node);   // of CategoryMapper's output
[[nodiscard]] std::vector<Kind> ml_classifier_kinds(const Node& node);

// The keys of the maps that a ZipMap returns.
[[nodiscard]] Array map_keys(const Node& node);

// ---- Numbers --------------------------------------------------------------------------------------------------------

// The numbers of a tensor as rows of features. A tensor of one dimension is a single row.
struct FeatureRows {
  std::int64_t count = 0;
  std::int64_t width = 0;
  std::vector<double> numbers;

  [[nodiscard]] std::span<const double> row(std::int64_t index) const {
    return std::span(numbers).subspan(static_cast<std::size_t>(index * width), static_cast<std::size_t>(width));
  }
};
// Raises Invalid if the tensor has other than one or two dimensions.
void check_features(const Array& x);
[[nodiscard]] FeatureRows feature_rows(const Array& x);
// Raises Invalid if the rows have another number of features than the model expects.
void check_width(std::int64_t width, std::int64_t expected);

// A matrix of sums of products: for each row of `x` and each vector, the products of their elements in order. The
// vectors have x.width elements each. Element [row, vector] begins with `first`, if that is not empty.
[[nodiscard]] std::vector<double> dot_products(const FeatureRows& x, std::span<const double> transposed,
                                               std::size_t vectors);
// The vectors' elements in the order in which dot_products needs them: all first elements, then all second ones.
[[nodiscard]] std::vector<double> transposed_vectors(std::span<const double> numbers, std::size_t vectors);

// ---- Scores (scores.cpp) --------------------------------------------------------------------------------------------

// The numbers are those of TreeEnsemble's attribute.
enum class PostTransform { kNone = 0, kSoftmax = 1, kLogistic = 2, kSoftmaxZero = 3, kProbit = 4 };

// Checks and returns the attribute post_transform, which is a text or a number.
[[nodiscard]] PostTransform post_transform_of(const Node& node);
// 1 / (1 + exp(-x))
[[nodiscard]] double logistic(double x);
// Transforms the scores of one row.
void transform_scores(PostTransform transform, std::span<double> scores);
// Writes the scores of both classes, given the score of the second one, and transforms them. The scores are 1 - score
// and score if they are probabilities, as PROBIT needs them too; otherwise -score and score.
void transform_binary(PostTransform transform, double score, bool is_probability, std::span<double> scores);
// The position of the largest score. Of equal ones, it is the first; NaN counts as larger than any number.
[[nodiscard]] std::int64_t largest_score(std::span<const double> scores);

// ---- Labels (labels.cpp) --------------------------------------------------------------------------------------------

// The labels of a classifier or the keys of a map, as int64 numbers or strings. Raises Invalid unless the node has
// exactly one of the attributes.
[[nodiscard]] Array labels_of(const Node& node, std::string_view integers, std::string_view texts);
// The elements of a list at these positions, which must be valid.
[[nodiscard]] Array picked(const Array& list, std::span<const std::int64_t> positions, Sizes shape);

}  // namespace anydml::onnx
