// SPDX-License-Identifier: MIT
// MultiHeadAttention and Attention from com.microsoft, computed by MULTIHEAD_ATTENTION1.
//
// A mask becomes numbers that are added to the scores, 0 or mask_filter_value, as in ONNX Runtime's own CPU kernels.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/rows/attention.h"
#include "onnx/rows/checks.h"
#include "onnx/rows/row.h"

namespace anydml::onnx {
namespace {

constexpr std::string_view kContribAttentionUses =
    "MULTIHEAD_ATTENTION1 ADD CAST FILL_VALUE_SEQUENCE GEMM IF JOIN LOGICAL_AND LOGICAL_GREATER_THAN "
    "LOGICAL_GREATER_THAN_OR_EQUAL LOGICAL_LESS_THAN";

[[noreturn]] void refuse_contrib_attention(const NodeMessage& node, const std::string& what) {
  const std::string name = format_text("com.microsoft.{} {}", node.op_type, what);
  throw Unsupported(format_text("{}: anydml does not support {}", label_of(node), name), {name});
}

void refuse_contrib_input(const NodeMessage& node, std::size_t position) {
  if (position < node.inputs.size() && !node.inputs[position].empty()) {
    refuse_contrib_attention(node, format_text("with input {}", position));
  }
}

[[noreturn]] void wrong_contrib_type(const NodeMessage& node, const char* name, const char* expected) {
  fail("{}: the attribute {} has a wrong type; expected {}", label_of(node), name, expected);
}

std::int64_t contrib_integer(const NodeMessage& node, const char* name) {
  const AttributeMessage* found = node.find(name);
  if (found != nullptr && found->type != AttributeType::kInt) {
    wrong_contrib_type(node, name, "an integer");
  }
  return found == nullptr ? 0 : found->i;
}

double contrib_number(const NodeMessage& node, const char* name, double otherwise) {
  const AttributeMessage* found = node.find(name);
  if (found != nullptr && found->type != AttributeType::kFloat) {
    wrong_contrib_type(node, name, "a float");
  }
  return found == nullptr ? otherwise : static_cast<double>(found->f);
}

// What a node's attributes and types determine.
struct ContribAttention {
  std::int64_t heads = 0;
  double scale = 0;  // 0: the default
  double filter = 0;
  bool is_causal = false;
  Kind kind = Kind::kUndefined;  // of all tensors that are not integers
  std::size_t outputs = 0;
  bool wants_first_present = false, wants_second_present = false;
};

// The only type of the inputs that are not signed integers.
Kind contrib_float_kind(const NodeMessage& node, const std::vector<Kind>& kinds) {
  std::set<std::string> names;
  Kind found = Kind::kUndefined;
  for (const Kind kind : kinds) {
    const std::string_view name = kind == Kind::kUndefined ? std::string_view() : kind_name(kind);
    if (!name.empty() && !name.starts_with("int")) {
      names.emplace(name);
      found = kind;
    }
  }
  if (names.size() != 1 || !kRoundedKinds.contains(found)) {
    refuse_contrib_attention(node, "of " + joined({names.begin(), names.end()}));
  }
  return found;
}

bool wants_output(const NodeMessage& node, std::size_t position) {
  return position < node.outputs.size() && !node.outputs[position].empty();
}

ContribAttention contrib_options(const NodeMessage& node, const std::vector<Kind>& kinds, std::vector<Kind>& results) {
  ContribAttention options;
  options.heads = contrib_integer(node, "num_heads");
  if (options.heads < 1) {
    fail("{}: num_heads is {}; expected 1 or more", label_of(node), options.heads);
  }
  options.scale = contrib_number(node, "scale", 0);
  options.is_causal = contrib_integer(node, "unidirectional") != 0;
  options.filter = contrib_number(node, "mask_filter_value", -10000);
  options.kind = contrib_float_kind(node, kinds);
  options.outputs = node.outputs.size();
  options.wants_first_present = wants_output(node, 1);
  options.wants_second_present = wants_output(node, 2);
  results.insert(results.end(), options.outputs, kinds[0]);
  return options;
}

// The tensors of MULTIHEAD_ATTENTION1 before RelativePositionBiasTensor, and the past.
struct ContribTensors {
  Array query, key, value, query_key, key_value, query_key_value, bias;
  Array past_key, past_value;
};

// The sizes of one call.
struct ContribSizes {
  std::int64_t batch = 0, queries = 0;
  std::int64_t keys = 0, past = 0;  // all keys, and those of the past
  std::int64_t elements = 0;        // of a head
};

// Which keys a mask with one dimension shows. It contains the number of keys for each batch, or the end indices of the
// keys followed by their start indices.
Array seen_by_ends(const Array& mask, std::int64_t batch, std::int64_t keys) {
  const std::int64_t count = mask.size(0);
  if (count != batch && count != 2 * batch) {
    fail("the mask has the shape {}; expected [{}], [{}], [{}, {}], or one for each query", listed(mask.shape()), batch,
         2 * batch, batch, keys);
  }
  const Out truths{.kind = Kind::kUint8};
  const Array positions = sequence(std::int64_t{0}, std::int64_t{1}, keys, Kind::kInt32).reshape({1, 1, 1, keys});
  const Array ends = mask.slice(0, 0, batch).reshape({batch, 1, 1, 1});
  const Array seen = dispatch("ELEMENT_WISE_LOGICAL_LESS_THAN", {positions, ends}, {}, truths);
  if (count != 2 * batch) {
    return seen;
  }
  const Array starts = mask.slice(0, batch, batch).reshape({batch, 1, 1, 1});
  const Array after = dispatch("ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", {positions, starts}, {}, truths);
  return dispatch("ELEMENT_WISE_LOGICAL_AND", {seen, after}, {}, truths);
}

// Which keys a mask shows, as truths {batch, 1, 1 or queries, keys}.
Array seen_keys(const Array& mask, std::int64_t batch, std::int64_t keys) {
  if (mask.rank() == 1) {
    return seen_by_ends(mask, batch, keys);
  }
  const int last = mask.rank() - 1;
  if ((last != 1 && last != 2) || mask.size(0) != batch || mask.size(last) != keys) {
    fail("the mask has the shape {}; expected [{}, {}], or [{}, queries, {}]", listed(mask.shape()), batch, keys, batch,
         keys);
  }
  const Array shown =
      dispatch("ELEMENT_WISE_LOGICAL_GREATER_THAN", {mask, Array::scalar(mask.kind(), 0)}, {}, {.kind = Kind::kUint8});
  return shown.reshape({batch, 1, last == 1 ? 1 : mask.size(1), keys});
}

// The sum of everything that is added to the scores; absent if there is nothing.
Array contrib_bias(const ContribAttention& options, const ContribSizes& sizes, const Array& scores, const Array& mask) {
  Arrays terms;
  if (scores) {
    terms.push_back(with_four_axes(scores));
  }
  if (mask) {
    const Array seen = seen_keys(mask, sizes.batch, sizes.keys);
    terms.push_back(dispatch("ELEMENT_WISE_IF",
                             {seen, Array::scalar(options.kind, 0), Array::scalar(options.kind, options.filter)}));
  }
  if (options.is_causal) {
    const Array hidden = as_bias(causal(sizes.queries, sizes.keys, sizes.past), options.kind);
    terms.push_back(hidden.reshape({1, 1, sizes.queries, sizes.keys}));
  }
  Array total;
  for (const Array& term : terms) {
    total = total ? add(total, term) : term;
  }
  return total ? total.broadcast_to({sizes.batch, options.heads, sizes.queries, sizes.keys}) : total;
}

// Returns the result and the presents, which may be absent.
Arrays contrib_attend(const ContribAttention& options, const ContribSizes& sizes, const ContribTensors& given,
                      const Array& scores, const Array& mask) {
  const Array total = contrib_bias(options, sizes, scores, mask);
  const bool has_presents = options.wants_first_present || options.wants_second_present;
  const double scale = options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<double>(sizes.elements));
  return dispatch_all("MULTIHEAD_ATTENTION1",
                      {given.query, given.key, given.value, given.query_key, given.key_value, given.query_key_value,
                       given.bias, Array(), total, given.past_key, given.past_value, Array()},
                      {{"Scale", scale},
                       {"MaskFilterValue", 0},
                       {"QueryHeadCount", options.heads},
                       {"KeyValueHeadCount", options.heads},
                       {"MaskType", "NONE"}},
                      {Out{}, Out{.is_wanted = has_presents}, Out{.is_wanted = has_presents}});
}

void check_contrib_input(const Array& array, const char* what, int rank) {
  if (!array) {
    fail("{} is missing", what);
  }
  check_min_rank(array, rank, what);
}

// ---- MultiHeadAttention ---------------------------------------------------------------------------------------------

// Distributes the query, key and value over the operator's tensors. Returns the number of new keys.
std::int64_t place_heads(const ContribAttention& options, std::span<const Array> inputs, ContribTensors& given) {
  const Array& query = inputs[0];
  const Array key = input(inputs, 1);
  if (query.rank() == 5) {
    given.query_key_value = query;
    return query.size(1);
  }
  given.query = query;
  if (!key) {
    fail("key is missing; expected one with a query of three dimensions");
  }
  check_min_rank(key, 2, "key");
  if (key.rank() == 5) {
    given.key_value = key;
    return key.size(1);
  }
  if (key.rank() == 4) {  // split by heads, like the past: treat all of it as the past
    if (given.bias || given.past_key || options.is_causal) {
      fail("key has four dimensions; expected no bias, no past and no unidirectional with it");
    }
    given.past_key = key;
    given.past_value = input(inputs, 2);
    return key.size(2);
  }
  given.key = key;
  given.value = input(inputs, 2);
  return key.size(1);
}

// inputs: query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value.
Arrays run_multi_head_attention(const ContribAttention& options, std::span<const Array> inputs) {
  const Array query = input(inputs, 0);
  check_contrib_input(query, "query", 2);
  ContribTensors given;
  given.bias = input(inputs, 3);
  given.past_key = input(inputs, 6);
  given.past_value = input(inputs, 7);
  ContribSizes sizes;
  sizes.batch = query.size(0);
  sizes.queries = query.size(1);
  if (given.past_key) {
    check_min_rank(given.past_key, 3, "past_key");
    sizes.past = given.past_key.size(2);
  }
  sizes.keys = sizes.past + place_heads(options, inputs, given);
  const std::int64_t last = query.size(query.rank() - 1);
  sizes.elements = query.rank() == 5 ? last : last / options.heads;
  Arrays results = contrib_attend(options, sizes, given, input(inputs, 5), input(inputs, 4));
  results.resize(std::min(results.size(), std::max<std::size_t>(1, options.outputs)));
  return results;
}

Compute make_multi_head_attention(const NodeMessage& node, const std::vector<Kind>& kinds, std::vector<Kind>& results) {
  const ContribAttention options = contrib_options(node, kinds, results);
  refuse_contrib_input(node, 8);
  refuse_contrib_input(node, 9);
  if (wants_output(node, 3)) {
    refuse_contrib_attention(node, "with its scores");
  }
  return [options](std::span<const Array> inputs) { return run_multi_head_attention(options, inputs); };
}

// ---- Attention ------------------------------------------------------------------------------------------------------

// The number of columns of the weights for the query, the key and the value. sizes: qkv_hidden_sizes, or nothing.
std::vector<std::int64_t> weight_columns(const std::vector<std::int64_t>& sizes, const Array& weights,
                                         std::int64_t heads) {
  const std::int64_t width = weights.size(1);
  const std::vector<std::int64_t> columns = sizes.empty() ? std::vector<std::int64_t>(3, width / 3) : sizes;
  bool is_valid = columns.size() == 3;
  std::int64_t left = width;
  for (const std::int64_t size : columns) {
    is_valid = is_valid && size >= 0 && size <= left && size % heads == 0;
    left -= is_valid ? size : 0;
  }
  if (!is_valid || left != 0) {
    fail("the weights have the shape {}; expected columns for query, key and value, each a multiple of {}",
         listed(weights.shape()), heads);
  }
  return columns;
}

// Splits the past keys and values, which are in one tensor. Returns the number of past keys.
std::int64_t place_past(const Array& past, ContribTensors& given) {
  if (!past) {
    return 0;
  }
  check_rank(past, 5, "past");
  if (past.size(0) != 2) {
    fail("past has the shape {}; expected 2 as its first size", listed(past.shape()));
  }
  given.past_key = past.at(0, 0);
  given.past_value = past.at(0, 1);
  return past.size(3);
}

// Attention also multiplies the input by the weights, and stores the past keys and values in one tensor. inputs: input,
// weights, bias, mask_index, past, attention_bias.
Arrays run_contrib_attention(const ContribAttention& options, const std::vector<std::int64_t>& hidden_sizes,
                             std::span<const Array> inputs) {
  const Array x = input(inputs, 0);
  const Array weights = input(inputs, 1);
  const Array bias = input(inputs, 2);
  check_contrib_input(x, "input", 3);
  check_contrib_input(weights, "weights", 2);
  const std::vector<std::int64_t> columns = weight_columns(hidden_sizes, weights, options.heads);
  Array projected = multiply_matrices(x, weights, gemm);
  projected = bias ? add(projected, bias) : projected;
  check_rank(projected, 3, "the product of input and weights");
  ContribTensors given;
  given.query = projected.slice(2, 0, columns[0]);
  given.key = projected.slice(2, columns[0], columns[1]);
  given.value = projected.slice(2, columns[0] + columns[1], columns[2]);
  ContribSizes sizes;
  sizes.batch = x.size(0);
  sizes.queries = x.size(1);
  sizes.past = place_past(input(inputs, 4), given);
  sizes.keys = sizes.past + sizes.queries;
  sizes.elements = columns[0] / options.heads;
  Arrays results = contrib_attend(options, sizes, given, input(inputs, 5), input(inputs, 3));
  if (!options.wants_first_present) {
    results.resize(1);
    return results;
  }
  const Array present = dispatch("JOIN", {results[1].insert_axis(0), results[2].insert_axis(0)}, {{"Axis", 0}});
  return {results[0], present};
}

Compute make_contrib_attention(const NodeMessage& node, const std::vector<Kind>& kinds, std::vector<Kind>& results) {
  const ContribAttention options = contrib_options(node, kinds, results);
  refuse_contrib_input(node, 6);
  for (const char* name : {"do_rotary", "past_present_share_buffer"}) {
    if (contrib_integer(node, name) != 0) {
      refuse_contrib_attention(node, format_text("with {}", name));
    }
  }
  const AttributeMessage* found = node.find("qkv_hidden_sizes");
  const std::vector<std::int64_t> sizes = found == nullptr ? std::vector<std::int64_t>() : found->ints;
  return [options, sizes](std::span<const Array> inputs) { return run_contrib_attention(options, sizes, inputs); };
}

constexpr std::array kContribAttentionRows = {
    DomainRow{
        .domain = "com.microsoft", .op = "Attention", .make = make_contrib_attention, .uses = kContribAttentionUses},
    DomainRow{.domain = "com.microsoft",
              .op = "MultiHeadAttention",
              .make = make_multi_head_attention,
              .uses = kContribAttentionUses},
};

}  // namespace

std::span<const DomainRow> contrib_attention_rows() { return kContribAttentionRows; }

}  // namespace anydml::onnx
