// SPDX-License-Identifier: MIT
// Expresses Adam from ai.onnx.preview.training as ONNX nodes. Its rate is a tensor, and its first step is step 0;
// DirectML's ADAM_OPTIMIZER supports neither. The nodes are element-wise, so a graph computes them in one pass.
#include "onnx/rows/expansion.h"
#include "onnx/rows/row.h"

namespace anydml::onnx {
namespace {

// The rate of the first step, or the rate that is corrected for the moments' start at 0.
std::string corrected_rate(Expansion& e, float alpha, float beta) {
  const std::string rate = e.input(0);
  const std::string step = e.input(1);
  const std::string count = e.add("Cast", {step}, {{"to", static_cast<std::int64_t>(Kind::kFloat)}});
  const auto rest_of = [&](float base) {
    const std::string one = e.constant_float(1);
    return e.add("Sub", {one, e.add("Pow", {e.constant_float(base), count})});
  };
  const std::string second = rest_of(beta);
  const std::string first = rest_of(alpha);
  const std::string ratio = e.add("Div", {e.add("Sqrt", {second}), first});
  const std::string corrected = e.add("Mul", {rate, ratio});
  const std::string is_later = e.add("Greater", {step, e.constant(std::int64_t{0})});
  return e.add("Where", {is_later, corrected, rate});
}

// Adds a node whose result is an output of the whole node.
std::string add_result(Expansion& e, const char* op, std::vector<std::string> inputs, std::size_t position) {
  const std::string name = e.output(position).empty() ? e.fresh_name() : e.output(position);
  e.add_to(op, std::move(inputs), {name});
  return name;
}

void write_adam(Expansion& e) {
  const std::size_t count = e.node().inputs.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (e.kind(i) == Kind::kDouble) {
      e.refuse("of double");
    }
  }
  if (count < 6 || (count - 2) % 4 != 0) {
    fail("{} has {} inputs; expected a rate, a step, and four for each tensor", label_of(e.node()), count);
  }
  const auto alpha = static_cast<float>(e.number("alpha", 0.9));
  const auto beta = static_cast<float>(e.number("beta", 0.999));
  const double norm = e.number("norm_coefficient");
  const std::string rate = corrected_rate(e, alpha, beta);
  const std::size_t several = (count - 2) / 4;
  const auto scaled = [&](const std::string& value, double factor) {
    return e.add("Mul", {value, e.constant_float(factor)});
  };
  for (std::size_t i = 0; i < several; ++i) {
    std::string x = e.input(2 + i);
    std::string gradient = e.input(2 + several + i);
    if (norm != 0) {
      gradient = e.add("Add", {scaled(x, norm), gradient});
    }
    const std::string old_first = scaled(e.input(2 + 2 * several + i), alpha);
    const std::string first = add_result(e, "Add", {old_first, scaled(gradient, 1 - alpha)}, several + i);
    const std::string square = e.add("Mul", {scaled(gradient, 1 - beta), gradient});
    const std::string old_second = scaled(e.input(2 + 3 * several + i), beta);
    const std::string second = add_result(e, "Add", {old_second, square}, 2 * several + i);
    const std::string root = e.add("Add", {e.add("Sqrt", {second}), e.constant_float(e.number("epsilon"))});
    x = e.add("Sub", {x, e.add("Div", {e.add("Mul", {first, rate}), root})});
    e.finish(scaled(x, 1 - static_cast<float>(e.number("norm_coefficient_post"))), i);
  }
}

const DomainRow kTrainingRows[] = {
    {"ai.onnx.preview.training", "Adam", write_adam},
};

}  // namespace

std::span<const DomainRow> training_rows() { return kTrainingRows; }

}  // namespace anydml::onnx
