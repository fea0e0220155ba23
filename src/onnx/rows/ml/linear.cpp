// SPDX-License-Identifier: MIT
// Linear models: for each row, the products of features and coefficients are added in the order of the features, and
// then the intercept.
#include <algorithm>

#include "onnx/rows/ml/ml.h"

namespace anydml::onnx {
namespace {

struct LinearModel {
  std::size_t targets = 0;
  std::int64_t width = 0;
  std::vector<double> coefficients;  // transposed
  std::vector<double> intercepts;    // one for each target

  [[nodiscard]] std::vector<double> scores(const FeatureRows& x) const {
    check_width(x.width, width);
    std::vector<double> sums = dot_products(x, coefficients, targets);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += intercepts[i % targets];
    }
    return sums;
  }
};

LinearModel linear_model(const Node& node, std::int64_t targets) {
  const std::vector<double> coefficients = node.numbers("coefficients");
  if (targets < 1 || coefficients.empty() || coefficients.size() % static_cast<std::size_t>(targets) != 0) {
    fail("{}: coefficients has {} numbers for {} targets; expected equally many for each, 1 or more", node.label,
         coefficients.size(), targets);
  }
  LinearModel model;
  model.targets = static_cast<std::size_t>(targets);
  model.width = static_cast<std::int64_t>(coefficients.size() / model.targets);
  model.coefficients = transposed_vectors(coefficients, model.targets);
  model.intercepts = node.numbers("intercepts");
  if (model.intercepts.empty()) {
    model.intercepts.resize(model.targets);
  }
  if (model.intercepts.size() != model.targets) {
    fail("{}: intercepts has {} numbers; expected {}, one for each target", node.label, model.intercepts.size(),
         targets);
  }
  return model;
}

}  // namespace

Compute ml_linear_regressor(const Node& node) {
  return [model = linear_model(node, node.integer("targets")),
          transform = post_transform_of(node)](std::span<const Array> inputs) {
    const FeatureRows x = feature_rows(inputs[0]);
    std::vector<double> scores = model.scores(x);
    for (std::size_t i = 0; i < scores.size(); i += model.targets) {
      transform_scores(transform, std::span(scores).subspan(i, model.targets));
    }
    return one(floats_of(Kind::kFloat, {x.count, static_cast<std::int64_t>(model.targets)}, scores));
  };
}

Compute ml_linear_classifier(const Node& node) {
  const Array labels = labels_of(node, "classlabels_ints", "classlabels_strings");
  const auto classes = static_cast<std::size_t>(labels.count());
  // A model with two labels may have the coefficients of the second class only; its intercepts tell.
  const std::size_t given = node.numbers("intercepts").size();
  const bool is_binary = classes == 2 && given == 1;
  return [model = linear_model(node, is_binary ? 1 : labels.count()), transform = post_transform_of(node), labels,
          classes, is_binary](std::span<const Array> inputs) {
    const FeatureRows x = feature_rows(inputs[0]);
    const std::vector<double> raw = model.scores(x);
    std::vector<double> scores(static_cast<std::size_t>(x.count) * classes);
    std::vector<std::int64_t> best;
    for (std::size_t row = 0; row < static_cast<std::size_t>(x.count); ++row) {
      const std::span<double> to = std::span(scores).subspan(row * classes, classes);
      if (is_binary) {
        best.push_back(raw[row] > 0 ? 1 : 0);
        transform_binary(transform, raw[row], false, to);
      } else {
        std::copy_n(raw.begin() + static_cast<std::ptrdiff_t>(row * classes), classes, to.begin());
        best.push_back(largest_score(to));
        transform_scores(transform, to);
      }
    }
    Arrays results = one(picked(labels, best, {x.count}));
    results.push_back(floats_of(Kind::kFloat, {x.count, labels.count()}, scores));
    return results;
  };
}

}  // namespace anydml::onnx
