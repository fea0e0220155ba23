// SPDX-License-Identifier: MIT
// ONNX's definition of Attention in terms of other operators. The nodes and their order are ONNX's, so the results
// match.
#include <cmath>
#include <limits>

#include "onnx/rows/definitions.h"

namespace anydml::onnx {
namespace {

enum AttentionInput : std::size_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kKeyCounts };

constexpr std::int64_t kInt64Type = 7;

bool is_softmax_type(std::int64_t type) {
  return type == static_cast<std::int64_t>(Kind::kFloat) || type == static_cast<std::int64_t>(Kind::kFloat16) ||
         type == static_cast<std::int64_t>(Kind::kDouble) || type == static_cast<std::int64_t>(Kind::kBfloat16);
}

// Writes the nodes. The strings are the names of values that several parts of the definition use.
class AttentionDefinition {
 public:
  explicit AttentionDefinition(Expansion& expansion) : e_(expansion) {}

  void write();

 private:
  [[nodiscard]] bool is_given(AttentionInput input) const { return !e_.input(input).empty(); }
  [[nodiscard]] bool is_valid() const;
  void write_sizes();
  void write_presents();
  void write_bias();
  std::string own_bias();
  std::string with_causal_mask(const std::string& bias);
  std::string with_window(const std::string& bias);
  std::string window_distance(const std::string& rows, const std::string& columns, const std::string& zero,
                              const std::string& one);
  std::string with_key_counts(const std::string& bias);
  void write_repeated_heads();
  void write_scores();
  void write_softmax();
  void write_scores_output();
  void write_result();

  Expansion& e_;
  int version_ = 0;
  std::int64_t type_ = 0;          // of the query, and so of the scores
  std::int64_t softmax_type_ = 0;  // in which the softmax is computed
  bool is_causal_ = false;
  std::int64_t left_ = -1, right_ = -1;  // the window's sizes; -1: no limit
  std::int64_t query_heads_ = 0, key_heads_ = 0;
  bool splits_heads_ = false;  // whether the inputs have three dimensions

  std::string batch_, query_length_, key_length_;
  std::string query_, key_, value_;  // with four dimensions
  std::string query_head_count_, key_head_count_, head_size_, value_head_size_;
  std::string one_, minus_one_, zero_, minus_one_of_heads_;
  std::string scale_root_;
  std::string present_key_, present_value_, past_length_, total_length_;
  std::string causal_offsets_;  // for each batch element; empty if all share one
  std::string bias_shape_, minus_infinity_, zero_float_, bias_;
  std::string whole_key_, whole_value_;  // with as many heads as the query
  std::string products_, capped_, biased_, weights_;
};

bool AttentionDefinition::is_valid() const {
  if (!is_softmax_type(type_) || !is_softmax_type(softmax_type_)) {
    return false;
  }
  if (version_ < 25) {
    return true;
  }
  const bool has_present_key = !e_.output(1).empty();
  const bool has_present_value = !e_.output(2).empty();
  return is_given(kPastKey) == is_given(kPastValue) && has_present_key == has_present_value &&
         !(is_given(kKeyCounts) && (is_given(kPastKey) || has_present_key)) && left_ >= -1 && right_ >= -1;
}

void AttentionDefinition::write() {
  version_ = e_.opset() < 24 ? 23 : e_.opset() < 25 ? 24 : 25;
  e_.written_opset = version_;
  type_ = static_cast<std::int64_t>(e_.kind(kQuery));
  softmax_type_ = e_.integer("softmax_precision", type_);
  is_causal_ = e_.integer("is_causal") == 1;
  left_ = e_.integer("left_window_size", -1);
  right_ = e_.integer("right_window_size", -1);
  query_heads_ = e_.integer("q_num_heads");
  key_heads_ = e_.integer("kv_num_heads");
  splits_heads_ = query_heads_ > 0 && key_heads_ > 0;
  if (!is_valid()) {
    return;  // ONNX has no definition of this node either
  }
  write_sizes();
  write_presents();
  write_bias();
  write_repeated_heads();
  write_scores();
  write_softmax();
  write_scores_output();
  write_result();
}

void AttentionDefinition::write_sizes() {
  batch_ = sizes_between(e_, e_.input(kQuery), 0, 1);
  query_length_ = sizes_between(e_, e_.input(kQuery), -2, -1);
  key_length_ = sizes_between(e_, e_.input(kKey), -2, -1);
  if (splits_heads_) {
    const std::string query_heads = e_.constant(Integers{query_heads_});
    const std::string key_heads = e_.constant(Integers{key_heads_});
    minus_one_of_heads_ = e_.constant(Integers{-1});
    const std::string query_shape = joined_sizes(e_, {batch_, query_length_, query_heads, minus_one_of_heads_});
    const std::string key_shape = joined_sizes(e_, {batch_, key_length_, key_heads, minus_one_of_heads_});
    const std::string query = e_.add("Reshape", {e_.input(kQuery), query_shape});
    const std::string key = e_.add("Reshape", {e_.input(kKey), key_shape});
    const std::string value = e_.add("Reshape", {e_.input(kValue), key_shape});
    query_ = e_.add("Transpose", {query}, {{"perm", Integers{0, 2, 1, 3}}});
    key_ = e_.add("Transpose", {key}, {{"perm", Integers{0, 2, 1, 3}}});
    value_ = e_.add("Transpose", {value}, {{"perm", Integers{0, 2, 1, 3}}});
  } else {
    query_ = e_.add("Identity", {e_.input(kQuery)});
    key_ = e_.add("Identity", {e_.input(kKey)});
    value_ = e_.add("Identity", {e_.input(kValue)});
  }
  query_head_count_ = sizes_between(e_, query_, 1, 2);
  key_head_count_ = sizes_between(e_, key_, 1, 2);
  head_size_ = sizes_between(e_, query_, 3, 4);
  const std::string size = cast_to(e_, head_size_, static_cast<std::int64_t>(Kind::kFloat));
  value_head_size_ = sizes_between(e_, value_, 3, 4);
  const std::string root = e_.add("Sqrt", {size});
  one_ = e_.constant(Integers{1});
  if (version_ > 23) {
    minus_one_ = e_.constant(Integers{-1});
  }
  const std::string one = constant_list(e_, 1);
  zero_ = e_.constant(Integers{0});
  const std::string own_scale = e_.add("Div", {one, root});
  const std::string scale = e_.constant_float(e_.number("scale", 1));
  const std::string factor = e_.add("Identity", {e_.has("scale") ? scale : own_scale});
  scale_root_ = cast_to(e_, e_.add("Sqrt", {factor}), type_);
}

void AttentionDefinition::write_presents() {
  if (is_given(kPastKey)) {
    present_key_ = e_.add("Concat", {e_.input(kPastKey), key_}, {{"axis", 2}});
    past_length_ = sizes_between(e_, e_.input(kPastKey), -2, -1);
  } else {
    present_key_ = e_.add("Identity", {key_});
    past_length_ = e_.constant(Integers{0});
    if (is_causal_ && is_given(kKeyCounts)) {
      causal_offsets_ = e_.add("Sub", {e_.input(kKeyCounts), query_length_});
    }
  }
  if (!e_.output(1).empty()) {
    e_.add_to("Identity", {present_key_}, {e_.output(1)});
  }
  present_value_ = is_given(kPastValue) ? e_.add("Concat", {e_.input(kPastValue), value_}, {{"axis", 2}})
                                        : e_.add("Identity", {value_});
  if (!e_.output(2).empty()) {
    e_.add_to("Identity", {present_value_}, {e_.output(2)});
  }
}

// The bias that is added to the scores: minus infinity where a query does not see a key.
void AttentionDefinition::write_bias() {
  total_length_ = sizes_between(e_, present_key_, -2, -1);
  bias_shape_ = joined_sizes(e_, {query_length_, total_length_});
  minus_infinity_ = constant_list(e_, -std::numeric_limits<float>::infinity());
  zero_float_ = constant_list(e_, 0);
  std::string bias = own_bias();
  bias = is_causal_ ? with_causal_mask(bias) : e_.add("Identity", {bias});
  if (version_ > 24) {
    bias = left_ >= 0 || right_ >= 0 ? with_window(bias) : e_.add("Identity", {bias});
  }
  if (version_ > 23) {
    bias = is_given(kKeyCounts) ? with_key_counts(bias) : e_.add("Identity", {bias});
  }
  bias_ = cast_to(e_, bias, type_);
}

std::string AttentionDefinition::own_bias() {
  if (!is_given(kMask)) {
    return e_.add("ConstantOfShape", {bias_shape_});
  }
  const std::string mask = e_.input(kMask);
  const std::string bias = e_.kind(kMask) == Kind::kBool ? e_.add("Where", {mask, zero_float_, minus_infinity_})
                                                         : e_.add("Identity", {mask});
  if (version_ == 23) {
    return e_.add("Identity", {bias});
  }
  // Keys beyond the end of the mask are hidden.
  const std::string length = e_.add("Shape", {mask}, {{"start", -1}});
  const std::string missing = e_.add("Sub", {total_length_, length});
  const std::string pads = joined_sizes(e_, {zero_, missing});
  const std::string padding = e_.add("CastLike", {minus_infinity_, bias});
  return e_.add("Pad", {bias, pads, padding, minus_one_});
}

std::string AttentionDefinition::with_causal_mask(const std::string& bias) {
  const std::string zero = e_.constant(Integers{0});
  const std::string one = e_.constant(Integers{1});
  const std::string first = e_.add("Squeeze", {zero, zero});
  const std::string step = e_.add("Squeeze", {one, zero});
  const std::string row_count = e_.add("Gather", {bias_shape_, first});
  const std::string column_count = e_.add("Gather", {bias_shape_, step});
  const std::string row_range = e_.add("Range", {first, row_count, step});
  std::string rows = e_.add("Unsqueeze", {row_range, one});
  const std::string column_range = e_.add("Range", {first, column_count, step});
  std::string columns = e_.add("Unsqueeze", {column_range, zero});
  std::string offset = past_length_;
  if (!causal_offsets_.empty()) {
    const std::string leading = e_.constant(Integers{0, 1});
    const std::string trailing = e_.constant(Integers{1, 2, 3});
    rows = e_.add("Unsqueeze", {rows, leading});
    columns = e_.add("Unsqueeze", {columns, leading});
    offset = e_.add("Unsqueeze", {causal_offsets_, trailing});
  }
  const std::string positions = e_.add("Add", {rows, offset});
  const std::string is_later = e_.add("Less", {positions, columns});
  const std::string hidden = e_.add("Where", {is_later, minus_infinity_, zero_float_});
  return e_.add("Add", {bias, e_.add("CastLike", {hidden, bias})});
}

std::string AttentionDefinition::with_window(const std::string& bias) {
  const std::string zero = e_.constant(Integers{0});
  const std::string one = e_.constant(Integers{1});
  const std::string first = e_.add("Squeeze", {zero, zero});
  const std::string step = e_.add("Squeeze", {one, zero});
  const std::string row_count = e_.add("Squeeze", {query_length_, zero});
  const std::string column_count = e_.add("Squeeze", {total_length_, zero});
  const std::string rows = e_.add("Range", {first, row_count, step});
  const std::string columns = e_.add("Range", {first, column_count, step});
  std::string left;
  std::string right;
  if (left_ >= 0) {
    const std::string size = e_.constant(Integers{left_});
    left = e_.add("Squeeze", {size, zero});
  }
  if (right_ >= 0) {
    const std::string size = e_.constant(Integers{right_});
    right = e_.add("Squeeze", {size, zero});
  }
  const std::string distance = window_distance(rows, columns, zero, one);
  std::string is_seen;
  if (!left.empty()) {
    is_seen = e_.add("LessOrEqual", {distance, left});
  }
  if (!right.empty()) {
    const std::string opposite = e_.add("Neg", {distance});
    const std::string is_right = e_.add("LessOrEqual", {opposite, right});
    is_seen = is_seen.empty() ? is_right : e_.add("And", {is_seen, is_right});
  }
  const std::string hidden = e_.add("Where", {is_seen, zero_float_, minus_infinity_});
  return e_.add("Add", {bias, e_.add("CastLike", {hidden, bias})});
}

// How far each query is past each key.
std::string AttentionDefinition::window_distance(const std::string& rows, const std::string& columns,
                                                 const std::string& zero, const std::string& one) {
  if (!is_given(kKeyCounts)) {
    const std::string row = e_.add("Unsqueeze", {rows, one});
    const std::string column = e_.add("Unsqueeze", {columns, zero});
    return e_.add("Sub", {e_.add("Add", {row, past_length_}), column});
  }
  const std::string offset = e_.add("Sub", {e_.input(kKeyCounts), query_length_});
  const std::string trailing = e_.constant(Integers{1, 2, 3});
  const std::string leading = e_.constant(Integers{0, 1});
  const std::string offsets = e_.add("Unsqueeze", {offset, trailing});
  const std::string row = e_.add("Unsqueeze", {e_.add("Unsqueeze", {rows, one}), leading});
  const std::string column = e_.add("Unsqueeze", {e_.add("Unsqueeze", {columns, zero}), leading});
  return e_.add("Sub", {e_.add("Add", {row, offsets}), column});
}

// Hides the keys past each batch element's key count.
std::string AttentionDefinition::with_key_counts(const std::string& bias) {
  const std::string counts = e_.add("Unsqueeze", {e_.input(kKeyCounts), one_});
  const std::string length = e_.add("Squeeze", {key_length_});
  const std::string zero = e_.constant(std::int64_t{0});
  const std::string one = e_.constant(std::int64_t{1});
  const std::string positions = e_.add("Range", {zero, length, one});
  const std::string is_seen = e_.add("Less", {positions, counts});
  const std::string hidden = e_.add("Where", {is_seen, zero_float_, minus_infinity_});
  const std::string with_three = e_.add("Unsqueeze", {hidden, one_});
  const std::string with_four = e_.add("Unsqueeze", {with_three, one_});
  return e_.add("Add", {bias, e_.add("CastLike", {with_four, bias})});
}

// Repeats each head of the keys and values for the heads of the query that share it.
void AttentionDefinition::write_repeated_heads() {
  const std::string is_equal = e_.add("Equal", {query_head_count_, key_head_count_});
  const std::string is_shared = e_.add("Not", {is_equal});
  const std::string ratio = cast_to(e_, e_.add("Div", {query_head_count_, key_head_count_}), kInt64Type);
  const std::string remainder = e_.add("Mod", {query_head_count_, key_head_count_});
  const std::string is_multiple = e_.add("Equal", {remainder, zero_});
  const std::string repeats = e_.add("And", {is_shared, is_multiple});
  const std::string times = e_.add("Where", {repeats, ratio, one_});
  const std::string two = e_.constant(Integers{2});
  const std::string key = e_.add("Unsqueeze", {present_key_, two});
  const std::string value = e_.add("Unsqueeze", {present_value_, two});
  const std::string key_shape = joined_sizes(e_, {batch_, key_head_count_, times, total_length_, head_size_});
  const std::string keys = e_.add("Expand", {key, key_shape});
  const std::string value_shape = joined_sizes(e_, {batch_, key_head_count_, times, total_length_, value_head_size_});
  const std::string values = e_.add("Expand", {value, value_shape});
  const std::string whole_key = joined_sizes(e_, {batch_, query_head_count_, total_length_, head_size_});
  const std::string whole_value = joined_sizes(e_, {batch_, query_head_count_, total_length_, value_head_size_});
  whole_key_ = e_.add("Reshape", {keys, whole_key});
  whole_value_ = e_.add("Reshape", {values, whole_value});
}

void AttentionDefinition::write_scores() {
  const std::string turned = e_.add("Transpose", {whole_key_}, {{"perm", Integers{0, 1, 3, 2}}});
  const std::string query = e_.add("Mul", {query_, scale_root_});
  const std::string key = e_.add("Mul", {turned, scale_root_});
  products_ = e_.add("MatMul", {query, key});
  capped_ = cast_to(e_, products_, type_);
  if (const double cap = e_.number("softcap"); cap != 0) {
    const std::string limit = cast_to(e_, constant_list(e_, static_cast<float>(cap)), type_);
    const std::string part = e_.add("Tanh", {e_.add("Div", {capped_, limit})});
    capped_ = e_.add("Mul", {part, limit});
  }
  biased_ = e_.add("Add", {capped_, bias_});
}

// Rows in which every key is hidden become 0.
void AttentionDefinition::write_softmax() {
  const std::string softmax = e_.add("Softmax", {cast_to(e_, biased_, softmax_type_)});
  const std::string weights = cast_to(e_, softmax, type_);
  const std::string last = e_.constant(Integers{-1});
  const std::string highest = e_.add("ReduceMax", {bias_, last});
  const std::string lowest = e_.add("CastLike", {minus_infinity_, bias_});
  const std::string is_hidden = e_.add("Equal", {highest, lowest});
  const std::string zero = e_.add("CastLike", {zero_float_, weights});
  weights_ = e_.add("Where", {is_hidden, zero, weights});
}

void AttentionDefinition::write_scores_output() {
  if (e_.output(3).empty()) {
    return;
  }
  const std::int64_t mode = e_.integer("qk_matmul_output_mode");
  const std::string& chosen = mode == 1 ? capped_ : mode == 2 ? biased_ : mode == 3 ? weights_ : products_;
  e_.add_to("Identity", {chosen}, {e_.output(3)});
}

void AttentionDefinition::write_result() {
  const std::string y = e_.add("MatMul", {weights_, whole_value_});
  if (!splits_heads_) {
    e_.add_to("Identity", {y}, {result_name(e_, 0)});
    return;
  }
  const std::string moved = e_.add("Transpose", {y}, {{"perm", Integers{0, 2, 1, 3}}});
  const std::string shape = joined_sizes(e_, {zero_, zero_, minus_one_of_heads_});
  e_.add_to("Reshape", {moved, shape}, {result_name(e_, 0)});
}

}  // namespace

void expand_attention(Expansion& expansion) { AttentionDefinition(expansion).write(); }

}  // namespace anydml::onnx
