// SPDX-License-Identifier: MIT
// Everything is computed in FLOAT32, as in MULTIHEAD_ATTENTION1, and each operation is rounded.
#include "onnx/rows/scored_attention.h"

#include <limits>
#include <vector>

#include "onnx/values/dispatch.h"

namespace anydml::onnx {
namespace {

constexpr int kKeyAxis = 3;

// scale times the products of matrices that have the same leading sizes.
Array scaled_products(const Array& a, const Array& b, bool is_transposed, double scale) {
  Sizes shape = a.shape();
  shape.back() = b.size(is_transposed ? 2 : 3);
  return dispatch(
      "GEMM", {a, b, Array()},
      {{"TransA", "NONE"}, {"TransB", is_transposed ? "TRANSPOSE" : "NONE"}, {"Alpha", scale}, {"Beta", 0.0}},
      {.shape = shape, .kind = a.kind()});
}

// The scores of every query and key. The queries whose heads share keys are the rows of one product.
Array attention_scores(const ScoredAttention& given) {
  const Sizes& shape = given.query.shape();
  const std::int64_t shared = given.key.size(1);
  const Array query =
      cast(given.query, Kind::kFloat).reshape({shape[0], shared, shape[1] / shared * shape[2], shape[3]});
  const Array scores = scaled_products(query, cast(given.key, Kind::kFloat), true, given.scale);
  return scores.reshape({shape[0], shape[1], shape[2], given.key.size(2)});
}

Array capped_scores(const Array& scores, double cap) {
  const Array limit = Array::scalar(Kind::kFloat, cap);
  return multiply(dispatch("ELEMENT_WISE_TANH", {divide(scores, limit)}), limit);
}

// The values, with 0 in the rows that no query sees, whatever they contain.
Array seen_values(const ScoredAttention& given) {
  const Array seen = reduce("MAX", given.seen, {2});
  return dispatch("ELEMENT_WISE_IF",
                  {seen.transpose({0, 1, 3, 2}), cast(given.value, Kind::kFloat), Array::scalar(Kind::kFloat, 0)});
}

}  // namespace

Array attend_by_scores(const ScoredAttention& given) {
  Array scores = attention_scores(given);
  if (given.softcap != 0) {
    scores = capped_scores(scores, given.softcap);
  }
  if (given.bias) {
    scores = add(scores, cast(given.bias, Kind::kFloat));
  }
  const Array lowest = Array::scalar(Kind::kFloat, -std::numeric_limits<double>::infinity());
  scores = dispatch("ELEMENT_WISE_IF", {given.seen, scores, lowest});
  Array highest = reduce("MAX", scores, {kKeyAxis});
  const Array sink = given.sink ? cast(given.sink, Kind::kFloat).reshape({1, given.sink.count(), 1, 1}) : Array();
  if (sink) {
    highest = dispatch("ELEMENT_WISE_MAX", {highest, sink});
  }
  const Array exponentials = dispatch("ELEMENT_WISE_EXP", {subtract(scores, highest)});
  Array total = reduce("SUM", exponentials, {kKeyAxis});
  if (sink) {
    total = add(total, dispatch("ELEMENT_WISE_EXP", {subtract(sink, highest)}));
  }
  const Sizes& shape = given.query.shape();
  const Array value = seen_values(given);
  const std::int64_t shared = value.size(1);
  const Array grouped = exponentials.reshape({shape[0], shared, shape[1] / shared * shape[2], value.size(2)});
  const Array sums = scaled_products(grouped, value, false, 1).reshape({shape[0], shape[1], shape[2], value.size(3)});
  return cast(divide(sums, total), given.query.kind());
}

}  // namespace anydml::onnx
