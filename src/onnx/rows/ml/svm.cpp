// SPDX-License-Identifier: MIT
// Support vector machines.
#include <algorithm>
#include <cmath>
#include <string>

#include "onnx/rows/ml/ml.h"

namespace anydml::onnx {
namespace {

enum class Kernel : std::uint8_t { kLinear, kPoly, kRbf, kSigmoid };

struct KernelOptions {
  Kernel kernel = Kernel::kLinear;
  double gamma = 0, coef0 = 0, degree = 0;
};

KernelOptions kernel_of(const Node& node) {
  check_choice(node, "kernel_type", {"LINEAR", "POLY", "RBF", "SIGMOID"});
  const std::string name = node.text("kernel_type");
  KernelOptions options;
  options.kernel = name == "POLY"      ? Kernel::kPoly
                   : name == "RBF"     ? Kernel::kRbf
                   : name == "SIGMOID" ? Kernel::kSigmoid
                                       : Kernel::kLinear;
  const std::vector<double> params = node.numbers("kernel_params");
  if (params.size() == 3) {
    options.gamma = params[0];
    options.coef0 = params[1];
    options.degree = params[2];
  } else if (!params.empty() || options.kernel != Kernel::kLinear) {
    wrong(node, "kernel_params", "gamma, coef0 and degree");
  }
  return options;
}

// The vectors of a machine. Kernels are sums over the features, in order.
struct SupportVectors {
  KernelOptions options;
  std::size_t count = 0;
  std::int64_t width = 0;
  std::vector<double> transposed;

  // Element [row, vector] is the kernel of a row and a vector.
  [[nodiscard]] std::vector<double> kernels(const FeatureRows& x) const;
};

SupportVectors support_vectors(const Node& node, std::string_view attribute, std::size_t count,
                               const KernelOptions& options) {
  const std::vector<double> numbers = node.numbers(attribute);
  if (numbers.empty() || numbers.size() % count != 0) {
    fail("{}: {} has {} numbers for {} vectors; expected equally many for each, 1 or more", node.label, attribute,
         numbers.size(), count);
  }
  return {options, count, static_cast<std::int64_t>(numbers.size() / count), transposed_vectors(numbers, count)};
}

// A power. Whole exponents of usual models are products, x * x * x, which take less time.
double kernel_power(double base, double degree) {
  constexpr double kMostFactors = 16;
  if (!(degree >= 1 && degree <= kMostFactors && degree == std::floor(degree))) {
    return std::pow(base, degree);
  }
  double product = base;
  for (int factors = 1; factors < static_cast<int>(degree); ++factors) {
    product *= base;
  }
  return product;
}

// The squared distance of each row and each vector.
std::vector<double> squared_distances(const FeatureRows& x, std::span<const double> transposed, std::size_t count) {
  std::vector<double> sums(static_cast<std::size_t>(x.count) * count);
  for (std::int64_t row = 0; row < x.count; ++row) {
    double* const to = sums.data() + static_cast<std::size_t>(row) * count;
    for (std::size_t k = 0; k < static_cast<std::size_t>(x.width); ++k) {
      const double feature = x.row(row)[k];
      const double* const column = transposed.data() + k * count;
      for (std::size_t i = 0; i < count; ++i) {
        to[i] += (feature - column[i]) * (feature - column[i]);
      }
    }
  }
  return sums;
}

std::vector<double> SupportVectors::kernels(const FeatureRows& x) const {
  check_width(x.width, width);
  const bool is_rbf = options.kernel == Kernel::kRbf;
  std::vector<double> sums = is_rbf ? squared_distances(x, transposed, count) : dot_products(x, transposed, count);
  for (double& sum : sums) {
    switch (options.kernel) {
      case Kernel::kLinear:
        break;
      case Kernel::kPoly:
        sum = kernel_power(options.gamma * sum + options.coef0, options.degree);
        break;
      case Kernel::kRbf:
        sum = std::exp(-options.gamma * sum);
        break;
      case Kernel::kSigmoid:
        sum = std::tanh(options.gamma * sum + options.coef0);
        break;
    }
  }
  return sums;
}

void check_rho(const Node& node, std::size_t expected) {
  const std::size_t count = node.numbers("rho").size();
  if (count < expected) {
    fail("{}: rho has {} numbers; expected {}", node.label, count, expected);
  }
}

// ---- Classifier -----------------------------------------------------------------------------------------------------

struct SvmClassifier {
  SupportVectors vectors;
  std::size_t classes = 0;
  std::vector<std::size_t> begins;  // the first vector of each class, and the end; empty for a linear machine
  std::vector<double> coefficients, rho, prob_a, prob_b;
  PostTransform transform = PostTransform::kNone;

  [[nodiscard]] bool is_linear() const { return begins.empty(); }
  [[nodiscard]] std::size_t pairs() const { return classes * (classes - 1) / 2; }
  // The number of scores of a row.
  [[nodiscard]] std::size_t width() const { return is_linear() || !prob_a.empty() || classes == 2 ? classes : pairs(); }
};

// The score of each pair of classes, the first of which wins if it is above 0: the coefficients times the kernels of
// the vectors of the first class, then of the second one, then rho.
std::vector<double> pair_scores(const SvmClassifier& svm, std::span<const double> kernels) {
  std::vector<double> scores;
  for (std::size_t i = 0; i + 1 < svm.classes; ++i) {
    for (std::size_t j = i + 1; j < svm.classes; ++j) {
      double sum = 0;
      for (std::size_t k = svm.begins[i]; k < svm.begins[i + 1]; ++k) {
        sum += svm.coefficients[(j - 1) * svm.vectors.count + k] * kernels[k];
      }
      for (std::size_t k = svm.begins[j]; k < svm.begins[j + 1]; ++k) {
        sum += svm.coefficients[i * svm.vectors.count + k] * kernels[k];
      }
      scores.push_back(sum + svm.rho[scores.size()]);
    }
  }
  return scores;
}

// The class that wins most pairs; the first one if there are several.
std::int64_t winner_of(const SvmClassifier& svm, std::span<const double> scores) {
  std::vector<int> votes(svm.classes);
  std::size_t pair = 0;
  for (std::size_t i = 0; i + 1 < svm.classes; ++i) {
    for (std::size_t j = i + 1; j < svm.classes; ++j) {
      ++votes[scores[pair++] > 0 ? i : j];
    }
  }
  return std::max_element(votes.begin(), votes.end()) - votes.begin();
}

// The probabilities of the classes, given those of each pair: element [i * classes + j] is the probability of i among i
// and j. This is the second method of T.-F. Wu, C.-J. Lin and R. C. Weng (2004), with libsvm's precision and limit.
std::vector<double> coupled(const std::vector<double>& pairwise, std::size_t classes) {
  std::vector<double> q(classes * classes);
  for (std::size_t i = 0; i < classes; ++i) {
    for (std::size_t j = 0; j < classes; ++j) {
      const double against = pairwise[j * classes + i];
      if (i != j) {
        q[i * classes + i] += against * against;
        q[i * classes + j] = -against * pairwise[i * classes + j];
      }
    }
  }
  const double precision = 0.005 / static_cast<double>(classes);
  const std::size_t rounds = std::max<std::size_t>(100, classes);
  std::vector<double> p(classes, 1.0 / static_cast<double>(classes));
  std::vector<double> products(classes);
  for (std::size_t round = 0; round < rounds; ++round) {
    double whole = 0;
    for (std::size_t i = 0; i < classes; ++i) {
      products[i] = 0;
      for (std::size_t j = 0; j < classes; ++j) {
        products[i] += q[i * classes + j] * p[j];
      }
      whole += p[i] * products[i];
    }
    double error = 0;
    for (const double product : products) {
      error = larger(error, std::abs(product - whole));
    }
    if (error < precision) {
      break;
    }
    for (std::size_t i = 0; i < classes; ++i) {
      const double change = (whole - products[i]) / q[i * classes + i];
      p[i] += change;
      whole = (whole + change * (change * q[i * classes + i] + 2 * products[i])) / (1 + change) / (1 + change);
      for (std::size_t j = 0; j < classes; ++j) {
        products[j] = (products[j] + change * q[i * classes + j]) / (1 + change);
        p[j] /= 1 + change;
      }
    }
  }
  return p;
}

std::vector<double> probabilities(const SvmClassifier& svm, std::span<const double> scores) {
  constexpr double kSmallest = 1e-7;
  std::vector<double> pairwise(svm.classes * svm.classes);
  std::size_t pair = 0;
  for (std::size_t i = 0; i + 1 < svm.classes; ++i) {
    for (std::size_t j = i + 1; j < svm.classes; ++j, ++pair) {
      const double p = logistic(-(scores[pair] * svm.prob_a[pair] + svm.prob_b[pair]));
      pairwise[i * svm.classes + j] = smaller(larger(p, kSmallest), 1 - kSmallest);
      pairwise[j * svm.classes + i] = 1 - pairwise[i * svm.classes + j];
    }
  }
  return coupled(pairwise, svm.classes);
}

// Writes the scores of a row, and returns the position of its label.
std::int64_t classify(const SvmClassifier& svm, std::span<const double> kernels, std::span<double> scores) {
  if (svm.is_linear()) {
    std::transform(kernels.begin(), kernels.end(), scores.begin(), [&](double one) { return one + svm.rho[0]; });
    const std::int64_t best = largest_score(scores);
    transform_scores(svm.transform, scores);
    return best;
  }
  const std::vector<double> pairs = pair_scores(svm, kernels);
  if (svm.classes == 2 && svm.prob_a.empty()) {
    transform_binary(svm.transform, pairs[0], false, scores);
  } else {
    const std::vector<double> all = svm.prob_a.empty() ? pairs : probabilities(svm, pairs);
    std::copy(all.begin(), all.end(), scores.begin());
    transform_scores(svm.transform, scores);
  }
  return winner_of(svm, pairs);
}

SvmClassifier svm_classifier(const Node& node, std::int64_t classes) {
  SvmClassifier svm;
  svm.classes = static_cast<std::size_t>(classes);
  svm.coefficients = node.numbers("coefficients");
  svm.rho = node.numbers("rho");
  svm.prob_a = node.numbers("prob_a");
  svm.prob_b = node.numbers("prob_b");
  svm.transform = post_transform_of(node);
  check_minimum(node, "vectors_per_class", 0);
  std::size_t count = 0;
  const std::vector<std::int64_t> given = node.integers("vectors_per_class");
  const std::size_t most = node.numbers("support_vectors").size();
  for (const std::int64_t one : given) {
    if (static_cast<std::size_t>(one) > most - count) {
      wrong(node, "vectors_per_class", "no more vectors than support_vectors has");
    }
    svm.begins.push_back(count);
    count += static_cast<std::size_t>(one);
  }
  if (count == 0) {  // a linear machine, as liblinear's: a vector of coefficients for each class
    svm.begins.clear();
    svm.prob_a.clear();
    check_rho(node, 1);
    svm.vectors = support_vectors(node, "coefficients", svm.classes, {});
    return svm;
  }
  svm.begins.push_back(count);
  if (svm.classes < 2 || given.size() != svm.classes) {
    wrong(node, "vectors_per_class", format_text("{} numbers, one for each label, and 2 labels or more", classes));
  }
  svm.vectors = support_vectors(node, "support_vectors", count, kernel_of(node));
  // Every coefficient belongs to a vector, so this also limits the number of classes.
  if (svm.coefficients.size() / count < svm.classes - 1) {
    fail("{}: coefficients has {} numbers; expected {} for each of {} vectors", node.label, svm.coefficients.size(),
         svm.classes - 1, count);
  }
  check_rho(node, svm.pairs());
  if (svm.prob_a.size() != svm.prob_b.size() || (!svm.prob_a.empty() && svm.prob_a.size() < svm.pairs())) {
    fail("{}: prob_a has {} numbers and prob_b has {}; expected none or {} each", node.label, svm.prob_a.size(),
         svm.prob_b.size(), svm.pairs());
  }
  return svm;
}

}  // namespace

Compute ml_svm_classifier(const Node& node) {
  const Array labels = labels_of(node, "classlabels_ints", "classlabels_strings");
  return [svm = svm_classifier(node, labels.count()), labels](std::span<const Array> inputs) {
    const FeatureRows x = feature_rows(inputs[0]);
    const std::vector<double> kernels = svm.vectors.kernels(x);
    const std::size_t width = svm.width();
    std::vector<double> scores(static_cast<std::size_t>(x.count) * width);
    std::vector<std::int64_t> best;
    for (std::size_t row = 0; row < static_cast<std::size_t>(x.count); ++row) {
      best.push_back(classify(svm, std::span(kernels).subspan(row * svm.vectors.count, svm.vectors.count),
                              std::span(scores).subspan(row * width, width)));
    }
    Arrays results = one(picked(labels, best, {x.count}));
    results.push_back(floats_of(Kind::kFloat, {x.count, static_cast<std::int64_t>(width)}, scores));
    return results;
  };
}

Compute ml_svm_regressor(const Node& node) {
  const std::int64_t supports = node.integer("n_supports");
  check_minimum(node, "n_supports", 0);
  check_rho(node, 1);
  const bool is_linear = supports == 0;
  std::vector<double> coefficients = node.numbers("coefficients");
  if (!is_linear && coefficients.size() != static_cast<std::size_t>(supports)) {
    fail("{}: coefficients has {} numbers; expected {}, one for each vector", node.label, coefficients.size(),
         supports);
  }
  const SupportVectors vectors =
      is_linear ? support_vectors(node, "coefficients", 1, {})
                : support_vectors(node, "support_vectors", static_cast<std::size_t>(supports), kernel_of(node));
  if (is_linear) {
    coefficients.assign(1, 1.0);
  }
  return [vectors, coefficients, rho = node.numbers("rho")[0], transform = post_transform_of(node),
          is_one_class = node.integer("one_class") != 0](std::span<const Array> inputs) {
    const FeatureRows x = feature_rows(inputs[0]);
    const std::vector<double> kernels = vectors.kernels(x);
    std::vector<double> results;
    for (std::size_t row = 0; row < static_cast<std::size_t>(x.count); ++row) {
      double sum = 0;
      for (std::size_t k = 0; k < vectors.count; ++k) {
        sum += coefficients[k] * kernels[row * vectors.count + k];
      }
      sum += rho;
      if (is_one_class) {
        sum = sum > 0 ? 1 : -1;
      } else {
        transform_scores(transform, std::span(&sum, 1));
      }
      results.push_back(sum);
    }
    return one(floats_of(Kind::kFloat, {x.count, 1}, results));
  };
}

}  // namespace anydml::onnx
