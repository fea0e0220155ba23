// SPDX-License-Identifier: MIT
// ONNX's Attention as MULTIHEAD_ATTENTION1, which supports everything except options that change the scores before the
// softmax.
#include "onnx/rows/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "onnx/rows/checks.h"
#include "onnx/rows/definitions.h"
#include "onnx/rows/row.h"

namespace anydml::onnx {

Array as_bias(const Array& mask, Kind kind) {
  if (mask.kind() != Kind::kBool) {
    return cast(mask, kind);
  }
  return dispatch("ELEMENT_WISE_IF",
                  {mask, Array::scalar(kind, 0), Array::scalar(kind, -std::numeric_limits<double>::infinity())});
}

Array causal(std::int64_t queries, std::int64_t keys, std::int64_t past) {
  const Array position = sequence(past, std::int64_t{1}, queries, Kind::kInt32).reshape({queries, 1});
  const Array every = sequence(std::int64_t{0}, std::int64_t{1}, keys, Kind::kInt32);
  return dispatch("ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", {position, every}, {}, {.kind = Kind::kUint8})
      .view_as(Kind::kBool);
}

namespace {

constexpr std::int64_t kDoublePrecision = 11;  // TensorProto.DOUBLE: the softmax_precision that exceeds ours

// Rearranges {batch, heads, rows, elements} to {batch, rows, heads * elements}.
Array as_tokens(const Array& x, const char* what) {
  check_rank(x, 4, what);
  return identity(x.transpose({0, 2, 1, 3})).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

// Extends a mask that is shorter than the keys. Keys beyond the end of the mask are hidden.
Array pad_bias(const Array& bias, std::int64_t keys) {
  check_min_rank(bias, 1, "attn_mask");
  const int last = bias.rank() - 1;
  const std::int64_t missing = keys - bias.size(last);
  if (missing <= 0 || bias.size(last) == 1) {
    return bias;
  }
  const std::vector<std::int64_t> zeros(bias.shape().size(), 0);
  std::vector<std::int64_t> after = zeros;
  after.back() = missing;
  Sizes shape = bias.shape();
  shape.back() = keys;
  return dispatch("PADDING1", {bias},
                  {{"PaddingMode", "CONSTANT"},
                   {"PaddingValue", -std::numeric_limits<double>::infinity()},
                   {"StartPadding", zeros},
                   {"EndPadding", after}},
                  {.shape = shape});
}

// Whether MULTIHEAD_ATTENTION1 can compute the node; otherwise, ONNX's own definition is used.
bool takes_attention(const Node& node) {
  const bool changes_scores = node.number("softcap") != 0 || node.integer("softmax_precision") == kDoublePrecision ||
                              node.integer("left_window_size", -1) >= 0 || node.integer("right_window_size", -1) >= 0;
  if (changes_scores || node.results.size() > 3 || node.takes(6)) {
    return false;
  }
  for (const std::size_t i : {0U, 1U, 2U, 4U, 5U}) {
    if (node.takes(i) && node.kinds[i] != node.kinds[0]) {
      return false;
    }
  }
  const bool takes_mask = !node.takes(3) || node.kinds[3] == Kind::kBool || node.kinds[3] == node.kinds[0];
  return takes_mask && kRoundedKinds.contains(node.kinds[0]);
}

// The tensors and sizes of one call.
struct AttentionCall {
  Array q, k, v, past_key, past_value;
  std::int64_t batch = 0, queries = 0, keys = 0, past = 0;
  std::int64_t heads = 0, shared = 0;  // of the queries, and of the keys and values
  bool by_heads = false;               // whether the tensors have an axis of heads
};

std::string optional_number(const Node& node, const char* name) {
  return node.has(name) ? std::to_string(node.integer(name)) : "None";
}

AttentionCall attention_call(const Node& node, std::span<const Array> inputs) {
  AttentionCall call;
  call.q = inputs[0];
  call.k = inputs[1];
  call.v = inputs[2];
  call.past_key = input(inputs, 4);
  call.past_value = input(inputs, 5);
  call.by_heads = call.q.rank() == 4;
  if (!call.by_heads) {
    check_rank(call.q, 3, "Q");
  }
  check_rank(call.k, call.q.rank(), "K");
  call.heads = call.by_heads ? call.q.size(1) : node.integer("q_num_heads");
  call.shared = call.by_heads ? call.k.size(1) : node.integer("kv_num_heads");
  if (call.heads <= 0 || call.shared <= 0 || call.heads % call.shared != 0) {
    fail("there are {} query heads and {} key heads; expected a multiple",
         call.by_heads ? std::to_string(call.heads) : optional_number(node, "q_num_heads"),
         call.by_heads ? std::to_string(call.shared) : optional_number(node, "kv_num_heads"));
  }
  if (call.past_key) {
    check_min_rank(call.past_key, 3, "past_key");
    call.past = call.past_key.size(2);
  }
  const int rows = call.q.rank() - 2;
  call.batch = call.q.size(0);
  call.queries = call.q.size(rows);
  call.keys = call.past + call.k.size(rows);
  return call;
}

// The past is also split by heads. Without a past, keys and values are passed as the past, to avoid a copy.
void arrange_heads(AttentionCall& call) {
  call.q = as_tokens(call.q, "Q");
  const auto arrange = [](Array& fresh, Array& before, const char* what) {
    if (before) {
      fresh = as_tokens(fresh, what);
    } else {
      before = fresh;
      fresh = Array();
    }
  };
  arrange(call.k, call.past_key, "K");
  arrange(call.v, call.past_value, "V");
}

// The numbers that are added to the scores; absent if there are none.
Array attention_bias(const AttentionCall& call, const Array& mask, bool is_causal) {
  const Kind kind = call.q.kind();
  Array bias = mask ? pad_bias(as_bias(mask, kind), call.keys) : Array();
  if (is_causal) {
    const Array hidden = as_bias(causal(call.queries, call.keys, call.past), kind);
    bias = bias ? add(bias, hidden) : hidden;
  }
  return bias ? with_four_axes(bias) : bias;
}

// Which rows have a visible key, as {batch, heads, queries, 1}, each size perhaps 1.
Array visible_rows(const Array& bias) {
  const Array highest = reduce("MAX", bias, {3});
  const Array lowest = Array::scalar(bias.kind(), -std::numeric_limits<double>::infinity());
  return dispatch("ELEMENT_WISE_LOGICAL_GREATER_THAN", {highest, lowest}, {}, {.kind = Kind::kUint8});
}

// Arranges the operator's output. Rows without visible keys are 0, as ONNX defines. DirectML's operator leaves them
// undefined.
Array attention_result(const AttentionCall& call, Array y, const Array& seen) {
  const std::int64_t elements = y.size(2) / call.heads;
  y = y.reshape({call.batch, call.queries, call.heads, elements});
  if (seen) {
    y = dispatch("ELEMENT_WISE_IF", {seen.transpose({0, 2, 1, 3}), y, Array::scalar(y.kind(), 0)});
  }
  return call.by_heads ? y.transpose({0, 2, 1, 3}) : y.reshape({call.batch, call.queries, call.heads * elements});
}

Arrays attend(const Node& node, std::span<const Array> inputs) {
  AttentionCall call = attention_call(node, inputs);
  if (call.by_heads) {
    arrange_heads(call);
  }
  const double scale =
      node.has("scale") ? node.number("scale") : 1 / std::sqrt(static_cast<double>(call.q.size(2) / call.heads));
  Array bias = attention_bias(call, input(inputs, 3), node.integer("is_causal") != 0);
  Array seen;
  if (bias) {
    seen = visible_rows(bias);
    bias = bias.broadcast_to({call.batch, call.heads, call.queries, call.keys});
  }
  const std::size_t count = node.results.size();
  const Array none;
  Arrays results =
      dispatch_all("MULTIHEAD_ATTENTION1",
                   {call.q, call.k, call.v, none, none, none, none, none, bias, call.past_key, call.past_value, none},
                   {{"Scale", scale},
                    {"MaskFilterValue", 0},
                    {"QueryHeadCount", call.heads},
                    {"KeyValueHeadCount", call.shared},
                    {"MaskType", "NONE"}},
                   {Out{}, Out{.is_wanted = count > 1}, Out{.is_wanted = count > 2}});
  results[0] = attention_result(call, results[0], seen);
  results.resize(std::min(results.size(), std::max<std::size_t>(1, count)));
  return results;
}

Compute make_attention(const Node& node) {
  if (!takes_attention(node)) {
    return nullptr;
  }
  return [node](std::span<const Array> inputs) { return attend(node, inputs); };
}

constexpr std::array kAttentionRows = {
    Row{.op = "Attention",
        .make = make_attention,
        .uses = "MULTIHEAD_ATTENTION1 ADD CAST FILL_VALUE_SEQUENCE IDENTITY IF LOGICAL_GREATER_THAN "
                "LOGICAL_GREATER_THAN_OR_EQUAL PADDING1 REDUCE",
        .kinds = kRoundedKinds,
        .expand = expand_attention},
};

}  // namespace

std::span<const Row> attention_rows() { return kAttentionRows; }

}  // namespace anydml::onnx
