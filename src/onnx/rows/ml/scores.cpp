// SPDX-License-Identifier: MIT
// Scores of classifiers and regressors, and what they have in common.
#include <algorithm>
#include <cmath>

#include "onnx/rows/ml/ml.h"

namespace anydml::onnx {
namespace {

// A polynomial, with the coefficient of the highest power first.
template <std::size_t kCount>
double polynomial(const double (&coefficients)[kCount], double x) {
  double sum = coefficients[0];
  for (std::size_t i = 1; i < kCount; ++i) {
    sum = sum * x + coefficients[i];
  }
  return sum;
}

// The quantile of the normal distribution: the x whose cumulative probability is p. The formulas are those of M. J.
// Wichura's algorithm AS 241 (1988), which has about 16 digits. ONNX's reference and ONNX Runtime approximate the
// inverse of erf by a formula of three digits.
double probit(double p) {
  static constexpr double kInnerTop[] = {2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4,
                                         4.5921953931549871457e+4, 1.3731693765509461125e+4, 1.9715909503065514427e+3,
                                         1.3314166789178437745e+2, 3.3871328727963666080e+0};
  static constexpr double kInnerBottom[] = {
      5.2264952788528545610e+3, 2.8729085735721942674e+4, 3.9307895800092710610e+4, 2.1213794301586595867e+4,
      5.3941960214247511077e+3, 6.8718700749205790830e+2, 4.2313330701600911252e+1, 1.0};
  static constexpr double kOuterTop[] = {
      7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e+0,
      3.64784832476320460504e+0, 5.76949722146069140550e+0, 4.63033784615654529590e+0, 1.42343711074968357734e+0};
  static constexpr double kOuterBottom[] = {
      1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
      6.89767334985100004550e-1, 1.67638483018380384940e+0, 2.05319162663775882187e+0, 1.0};
  static constexpr double kFarTop[] = {2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
                                       2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e+0,
                                       5.46378491116411436990e+0, 6.65790464350110377720e+0};
  static constexpr double kFarBottom[] = {
      2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
      1.48753612908506148525e-2,  1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0};
  if (!(p >= 0 && p <= 1)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (p == 0 || p == 1) {
    return p == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  }
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return polynomial(kInnerTop, r) * q / polynomial(kInnerBottom, r);
  }
  const double r = std::sqrt(-std::log(q <= 0 ? p : 1 - p));
  const double x = r <= 5 ? polynomial(kOuterTop, r - 1.6) / polynomial(kOuterBottom, r - 1.6)
                          : polynomial(kFarTop, r - 5) / polynomial(kFarBottom, r - 5);
  return q < 0 ? -x : x;
}

double largest_of(std::span<const double> scores) {
  double largest = scores[0];
  for (const double score : scores) {
    largest = larger(largest, score);
  }
  return largest;
}

void softmax_scores(std::span<double> scores) {
  const double largest = largest_of(scores);
  double sum = 0;
  for (double& score : scores) {
    score = std::exp(score - largest);
    sum += score;
  }
  for (double& score : scores) {
    score /= sum;
  }
}

// A softmax in which scores of nearly 0 stay nearly 0.
void softmax_zero_scores(std::span<double> scores) {
  constexpr double kNearlyZero = 0.0000001;
  const double largest = largest_of(scores);
  double sum = 0;
  for (double& score : scores) {
    if (score > kNearlyZero || score < -kNearlyZero || std::isnan(score)) {
      score = std::exp(score - largest);
    } else if (score != 0) {
      score *= std::exp(-largest);
    }
    sum += score;
  }
  for (double& score : scores) {
    score = sum == 0 ? 0.5 : score / sum;  // 0.5 as in ONNX's reference
  }
}

}  // namespace

PostTransform post_transform_of(const Node& node) {
  static constexpr std::string_view kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const FormalAttribute* formal = node.find_formal("post_transform");
  if (formal != nullptr && formal->type == static_cast<std::int32_t>(AttributeType::kInt)) {
    check_choice(node, "post_transform",
                 {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{4}});
    return static_cast<PostTransform>(node.integer("post_transform"));
  }
  check_choice(node, "post_transform", {kNames[0], kNames[1], kNames[2], kNames[3], kNames[4]});
  const auto* found = std::find(std::begin(kNames), std::end(kNames), node.text("post_transform", kNames[0]));
  return static_cast<PostTransform>(found - std::begin(kNames));
}

double logistic(double x) {
  const double small = std::exp(-std::abs(x));  // the exponent is never positive, so nothing overflows
  return x < 0 ? small / (1 + small) : 1 / (1 + small);
}

void transform_scores(PostTransform transform, std::span<double> scores) {
  if (scores.empty()) {
    return;
  }
  switch (transform) {
    case PostTransform::kNone:
      return;
    case PostTransform::kSoftmax:
      return softmax_scores(scores);
    case PostTransform::kLogistic:
      std::transform(scores.begin(), scores.end(), scores.begin(), logistic);
      return;
    case PostTransform::kSoftmaxZero:
      return softmax_zero_scores(scores);
    case PostTransform::kProbit:
      std::transform(scores.begin(), scores.end(), scores.begin(), probit);
      return;
  }
}

void transform_binary(PostTransform transform, double score, bool is_probability, std::span<double> scores) {
  const bool is_complement =
      transform == PostTransform::kProbit || (transform == PostTransform::kNone && is_probability);
  if (is_complement) {
    // The weights of a forest add up to nearly 1; rounded, a certain class leaves exactly 0 for the other one.
    score = static_cast<double>(static_cast<float>(score));
  }
  scores[0] = is_complement ? 1 - score : -score;
  scores[1] = score;
  transform_scores(transform, scores);
}

std::int64_t largest_score(std::span<const double> scores) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i) {
    if (scores[i] > scores[best] || (std::isnan(scores[i]) && !std::isnan(scores[best]))) {
      best = i;
    }
  }
  return static_cast<std::int64_t>(best);
}

void check_features(const Array& x) {
  if (x.rank() != 1 && x.rank() != 2) {
    fail("X has the shape {}; expected rows of features, or one row", listed(x.shape()));
  }
}

FeatureRows feature_rows(const Array& x) {
  check_features(x);
  return {x.rank() == 1 ? 1 : x.size(0), x.shape().back(), x.to_numbers()};
}

void check_width(std::int64_t width, std::int64_t expected) {
  if (width != expected) {
    fail("X has {} features; expected {}", width, expected);
  }
}

std::vector<double> transposed_vectors(std::span<const double> numbers, std::size_t vectors) {
  std::vector<double> result(numbers.size());
  const std::size_t width = vectors == 0 ? 0 : numbers.size() / vectors;
  for (std::size_t i = 0; i < vectors; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      result[k * vectors + i] = numbers[i * width + k];
    }
  }
  return result;
}

std::vector<double> dot_products(const FeatureRows& x, std::span<const double> transposed, std::size_t vectors) {
  std::vector<double> sums(static_cast<std::size_t>(x.count) * vectors);
  for (std::int64_t row = 0; row < x.count; ++row) {
    const std::span<const double> features = x.row(row);
    double* const to = sums.data() + static_cast<std::size_t>(row) * vectors;
    for (std::size_t k = 0; k < features.size(); ++k) {
      const double feature = features[k];
      const double* const column = transposed.data() + k * vectors;
      for (std::size_t i = 0; i < vectors; ++i) {  // independent sums, which the compiler adds in vectors
        to[i] += feature * column[i];
      }
    }
  }
  return sums;
}

}  // namespace anydml::onnx
