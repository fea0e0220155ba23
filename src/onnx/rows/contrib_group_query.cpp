// SPDX-License-Identifier: MIT
// GroupQueryAttention of com.microsoft: attention over keys and values in a cache, to which each call adds rows.
//
// The numbers of rows in the cache are data: they are computed from seqlens_k by operators, so that one compiled graph
// serves all tokens of a text. MULTIHEAD_ATTENTION1 with PastSequenceLengths adds the rows to the cache. It also
// computes the result, unless the scores are capped, a head has a sink or queries see later keys.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "onnx/rows/checks.h"
#include "onnx/rows/expansion.h"
#include "onnx/rows/rotary.h"
#include "onnx/rows/row.h"
#include "onnx/rows/scored_attention.h"

namespace anydml::onnx {
namespace {

enum GroupQueryInput : std::size_t {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kLastPositions,  // seqlens_k
  kTotalLength,
  kCosines,
  kSines,
  kPositions,
  kBias,
  kSink,
  kKeyScale,
  kValueScale,
  kQueryNorm,
  kKeyNorm,
};

// What a node's attributes and types determine.
struct GroupQueryOptions {
  std::int64_t heads = 0, shared = 0;  // of the queries, and of the keys and values
  std::int64_t window = -1;            // how many keys a query sees, counted back from its own; -1: all
  double scale = 0;                    // 0: the default
  double softcap = 0;                  // 0: none
  double norm_epsilon = 0;
  bool is_rotary = false, is_interleaved = false;
  bool is_causal = true;
  bool has_zero_sinks = false;  // smooth_softmax
  bool is_sliding = false;      // sliding_window_cache: the cache keeps only the last rows
  std::size_t outputs = 0;
};

// The tensors and sizes of one call.
struct GroupQueryCall {
  Array query, key, value;  // the new rows, {batch, rows, heads, elements}
  Array past_key, past_value;
  // INT32 {batch}: for each sequence, the number of its tokens before and after the call, and of its rows in the cache
  // before the new ones.
  Array before, after, past;
  std::int64_t batch = 0, queries = 0, elements = 0;
  std::int64_t capacity = 0;  // rows of the cache before the call
  std::int64_t keys = 0;      // rows of the cache after the call, before a sliding cache drops some
};

// Splits the query into heads. A packed query contains the keys and values behind the queries.
void split_heads(const GroupQueryOptions& options, std::span<const Array> inputs, GroupQueryCall& call) {
  const Array& query = inputs[kQuery];
  check_rank(query, 3, "query");
  call.batch = query.size(0);
  call.queries = query.size(1);
  const Array key = input(inputs, kKey);
  const Array value = input(inputs, kValue);
  const std::int64_t width = query.size(2);
  const std::int64_t all_heads = key ? options.heads : options.heads + 2 * options.shared;
  if (bool{key} != bool{value}) {
    fail("{} is missing; expected key and value, or neither of them with a packed query", key ? "value" : "key");
  }
  if (width == 0 || width % all_heads != 0) {
    fail("query has {} elements for each position; expected a multiple of {} for {} heads{}", width, all_heads,
         options.heads, key ? "" : format_text(" and {} heads of keys and of values", options.shared));
  }
  call.elements = width / all_heads;
  const auto heads_of = [&call](const Array& tokens, std::int64_t heads) {
    return tokens.reshape({call.batch, call.queries, heads, call.elements});
  };
  const std::int64_t own = options.heads * call.elements;
  const std::int64_t shared = options.shared * call.elements;
  for (const Array* each : {&key, &value}) {
    if (*each && each->shape() != Sizes{call.batch, call.queries, shared}) {
      fail("{} has the shape {}; expected [{}, {}, {}]", each == &key ? "key" : "value", listed(each->shape()),
           call.batch, call.queries, shared);
    }
  }
  call.query = heads_of(query.slice(2, 0, own), options.heads);
  call.key = heads_of(key ? key : query.slice(2, own, shared), options.shared);
  call.value = heads_of(value ? value : query.slice(2, own + shared, shared), options.shared);
}

void set_cache(const GroupQueryOptions& options, std::span<const Array> inputs, GroupQueryCall& call) {
  call.past_key = input(inputs, kPastKey);
  call.past_value = input(inputs, kPastValue);
  if (bool{call.past_key} != bool{call.past_value}) {
    fail("{} is missing; expected past_key and past_value, or neither of them",
         call.past_key ? "past_value" : "past_key");
  }
  for (const auto& [past, what] : {std::pair(&call.past_key, "past_key"), std::pair(&call.past_value, "past_value")}) {
    if (!*past) {
      continue;
    }
    check_rank(*past, 4, what);
    call.capacity = call.past_key.size(2);
    if (past->shape() != Sizes{call.batch, options.shared, call.capacity, call.elements}) {
      fail("{} has the shape {}; expected [{}, {}, {}, {}]", what, listed(past->shape()), call.batch, options.shared,
           call.capacity, call.elements);
    }
  }
  if (call.capacity == 0) {  // operators do not take empty tensors
    call.past_key = Array();
    call.past_value = Array();
  }
  if (options.is_sliding && call.capacity < options.window) {
    fail("past_key has {} rows and local_window_size is {}; expected at least as many rows with sliding_window_cache",
         call.capacity, options.window);
  }
}

// How many rows a sliding cache has after this many tokens. If it is full, it drops some rows at once.
Array resident_rows(const GroupQueryOptions& options, const GroupQueryCall& call, const Array& tokens) {
  const auto number = [](std::int64_t value) { return Array::scalar(Kind::kInt32, value).reshape({1}); };
  const std::int64_t dropped = call.capacity - options.window + 1;
  const Array excess = dispatch("ELEMENT_WISE_MAX", {subtract(tokens, number(call.capacity)), number(0)});
  const Array times = divide(add(excess, number(dropped - 1)), number(dropped));
  return subtract(tokens, multiply(times, number(dropped)));
}

// The limit of total_sequence_length. It may be data and determines the size of the cache, so the tensors of the call
// must account for it: the tables of angles have a row for each position of a text, and other texts grow by the new
// rows.
std::int64_t longest_text(const GroupQueryOptions& options, std::span<const Array> inputs, const GroupQueryCall& call) {
  constexpr std::int64_t kLongest = std::numeric_limits<std::int32_t>::max();
  if (options.is_sliding) {
    return kLongest;
  }
  const Array table = options.is_rotary ? inputs[kCosines] : input(inputs, kBias);
  const std::int64_t rows = !table || table.rank() == 0 ? 0 : table.size(options.is_rotary ? 0 : table.rank() - 1);
  return std::min(kLongest, std::max(call.capacity + call.queries, rows));
}

// Sets the sizes of the cache and the number of rows in it. A call that has all tokens of the text is its beginning,
// even if the sequences have different lengths.
void set_past(const GroupQueryOptions& options, std::span<const Array> inputs, GroupQueryCall& call) {
  set_cache(options, inputs, call);
  const Array total = input(inputs, kTotalLength);
  const Array last = input(inputs, kLastPositions);
  if (!total || !last || total.count() != 1 || last.count() != call.batch) {
    fail(
        "seqlens_k has the shape {} and total_sequence_length {}; expected a number for each of {} sequences, and one "
        "number",
        last ? listed(last.shape()) : "of nothing", total ? listed(total.shape()) : "of nothing", call.batch);
  }
  const std::int64_t length = total.integer();
  const std::int64_t most = longest_text(options, inputs, call);
  if (length < call.queries || length > most) {
    fail("total_sequence_length is {}, with {} new positions and {} rows in past_key; expected {} to {}", length,
         call.queries, call.capacity, call.queries, most);
  }
  const auto number = [](std::int64_t value) { return Array::scalar(Kind::kInt32, value).reshape({1}); };
  call.after = add(cast(last.reshape({call.batch}), Kind::kInt32), number(1));
  call.before = length == call.queries
                    ? fill(0, {call.batch}, Kind::kInt32)
                    : dispatch("ELEMENT_WISE_MAX", {subtract(call.after, number(call.queries)), number(0)});
  call.past = options.is_sliding ? resident_rows(options, call, call.before) : call.before;
  call.keys = options.is_sliding ? call.capacity + call.queries : std::max(call.capacity, length);
}

// The rows that a sliding cache keeps of the rows of a call: those of the last tokens.
Array kept_rows(const GroupQueryOptions& options, const GroupQueryCall& call, const Array& rows) {
  const Array all = add(call.past, subtract(call.after, call.before));
  const Array first = subtract(all, resident_rows(options, call, call.after)).reshape({call.batch, 1, 1, 1});
  const Array steps = sequence(std::int64_t{0}, std::int64_t{1}, call.capacity, Kind::kInt32);
  const Sizes shape{call.batch, options.shared, call.capacity, call.elements};
  const Array indices = add(first, steps.reshape({1, 1, call.capacity, 1})).broadcast_to(shape);
  return dispatch("GATHER_ELEMENTS", {rows, indices}, {{"Axis", std::int64_t{2}}}, {.shape = shape});
}

// x over the root of the mean of its squares, for each head, times a weight for each element.
Array normalized_heads(const Array& x, const Array& weight, double epsilon) {
  const Array wide = cast(x, Kind::kFloat);
  const Array mean = reduce("AVERAGE", multiply(wide, wide), {3});
  const Array root = dispatch("ELEMENT_WISE_SQRT", {add(mean, Array::scalar(Kind::kFloat, epsilon))});
  return multiply(cast(divide(wide, root), x.kind()), weight);
}

void normalize_heads(const GroupQueryOptions& options, std::span<const Array> inputs, GroupQueryCall& call) {
  const Array query = input(inputs, kQueryNorm);
  const Array key = input(inputs, kKeyNorm);
  if (bool{query} != bool{key}) {
    fail("{} is missing; expected q_norm_weight and k_norm_weight, or neither of them",
         query ? "k_norm_weight" : "q_norm_weight");
  }
  if (!query) {
    return;
  }
  for (const Array& weight : {query, key}) {
    if (weight.shape() != Sizes{call.elements}) {
      fail("q_norm_weight and k_norm_weight have the shapes {} and {}; expected [{}]", listed(query.shape()),
           listed(key.shape()), call.elements);
    }
  }
  call.query = normalized_heads(call.query, query, options.norm_epsilon);
  call.key = normalized_heads(call.key, key, options.norm_epsilon);
}

// The positions of the new rows, INT32 {batch, rows}. first: {batch}, the positions of the first of them.
Array new_positions(const GroupQueryCall& call, const Array& first) {
  const Array steps = sequence(std::int64_t{0}, std::int64_t{1}, call.queries, Kind::kInt32);
  return add(first.reshape({call.batch, 1}), steps.reshape({1, call.queries}));
}

void rotate_heads(const GroupQueryOptions& options, std::span<const Array> inputs, GroupQueryCall& call) {
  const Array given = input(inputs, kPositions);
  if (given && given.shape() != Sizes{call.batch, call.queries}) {
    fail("position_ids has the shape {}; expected [{}, {}]", listed(given.shape()), call.batch, call.queries);
  }
  const RotaryAngles angles =
      angles_at({inputs[kCosines], inputs[kSines]}, given ? given : new_positions(call, call.before));
  call.query = rotated_heads(call.query, angles, options.is_interleaved);
  call.key = rotated_heads(call.key, angles, options.is_interleaved);
}

Array compare_positions(const char* op, const Array& a, const Array& b) {
  return dispatch(op, {a, b}, {}, {.kind = Kind::kUint8});
}

// The rows of queries and keys in the cache, for comparisons that give {batch, 1, queries, keys}.
struct ComparedPositions {
  Array queries, keys;
};

ComparedPositions compared_positions(const GroupQueryCall& call) {
  return {new_positions(call, call.past).reshape({call.batch, 1, call.queries, 1}),
          sequence(std::int64_t{0}, std::int64_t{1}, call.keys, Kind::kInt32).reshape({1, 1, 1, call.keys})};
}

// Which keys are at most window - 1 positions before a query.
Array keys_in_window(const ComparedPositions& positions, std::int64_t window) {
  const Array first = subtract(positions.queries, Array::scalar(Kind::kInt32, window - 1).with_rank(4));
  return compare_positions("ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", positions.keys, first);
}

// Which keys each query sees.
Array seen_by_queries(const GroupQueryOptions& options, const GroupQueryCall& call) {
  const ComparedPositions positions = compared_positions(call);
  if (!options.is_causal) {
    const Array rows = Array::scalar(Kind::kInt32, call.queries).with_rank(4);
    const Array ends = add(call.past.reshape({call.batch, 1, 1, 1}), rows);
    const Array seen = compare_positions("ELEMENT_WISE_LOGICAL_LESS_THAN", positions.keys, ends);
    return seen.broadcast_to({call.batch, 1, call.queries, call.keys});
  }
  const Array seen = compare_positions("ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", positions.queries, positions.keys);
  return options.window < 0
             ? seen
             : compare_positions("ELEMENT_WISE_LOGICAL_AND", seen, keys_in_window(positions, options.window));
}

// The bias of the node, with a number for every row of the cache. The rows behind it are hidden in any case.
Array padded_bias(const GroupQueryCall& call, const Array& bias) {
  if (!bias) {
    return bias;
  }
  check_rank(bias, 4, "attention_bias");
  if (bias.size(2) != call.queries || bias.size(3) > call.keys) {
    fail("attention_bias has the shape {}; expected {} queries and up to {} keys", listed(bias.shape()), call.queries,
         call.keys);
  }
  if (bias.size(3) == call.keys) {
    return bias;
  }
  Sizes shape = bias.shape();
  shape[3] = call.keys - bias.size(3);
  return join({bias, fill(0, shape, bias.kind())}, 3);
}

// Calls MULTIHEAD_ATTENTION1, which returns the result and the cache with the new rows.
Arrays append_and_attend(const GroupQueryCall& call, const Array& query, std::int64_t shared, double scale,
                         const Array& bias) {
  const auto tokens = [&call](const Array& x) { return x.reshape({call.batch, x.size(1), x.size(2) * call.elements}); };
  const Array none;
  const Out cache{.shape = Sizes{call.batch, shared, call.keys, call.elements}, .kind = query.kind()};
  return dispatch_all("MULTIHEAD_ATTENTION1",
                      {tokens(query), tokens(call.key), tokens(call.value), none, none, none, none, none, bias,
                       call.past_key, call.past_value, call.past},
                      {{"Scale", scale},
                       {"MaskFilterValue", 0},
                       {"QueryHeadCount", query.size(2)},
                       {"KeyValueHeadCount", shared},
                       {"MaskType", "NONE"}},
                      {Out{}, cache, cache});
}

// The result by products and element-wise operators, over the cache with the new rows. One query of few heads suffices
// to add these rows.
Arrays append_and_score(const GroupQueryOptions& options, const GroupQueryCall& call, double scale, const Array& bias,
                        const Array& sink) {
  Arrays results =
      append_and_attend(call, call.query.slice(1, 0, 1).slice(2, 0, options.shared), options.shared, scale, Array());
  const Array y = attend_by_scores({.query = call.query.transpose({0, 2, 1, 3}),
                                    .key = results[1],
                                    .value = results[2],
                                    .seen = seen_by_queries(options, call),
                                    .bias = bias,
                                    .sink = sink,
                                    .scale = scale,
                                    .softcap = options.softcap});
  results[0] = y.transpose({0, 2, 1, 3}).reshape({call.batch, call.queries, options.heads * call.elements});
  return results;
}

Arrays run_group_query(const GroupQueryOptions& options, std::span<const Array> inputs) {
  GroupQueryCall call;
  split_heads(options, inputs, call);
  set_past(options, inputs, call);
  normalize_heads(options, inputs, call);
  if (options.is_rotary) {
    rotate_heads(options, inputs, call);
  }
  const double scale = options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<double>(call.elements));
  const Kind kind = call.query.kind();
  Array bias = padded_bias(call, input(inputs, kBias));
  const Array sink = input(inputs, kSink)     ? input(inputs, kSink)
                     : options.has_zero_sinks ? Array::scalar(kind, 0)
                                              : Array();
  if (sink && sink.count() != options.heads && !options.has_zero_sinks) {
    fail("head_sink has the shape {}; expected [{}]", listed(sink.shape()), options.heads);
  }
  Arrays results;
  if (options.softcap != 0 || sink || !options.is_causal) {
    results = append_and_score(options, call, scale, bias, sink);
  } else {
    if (options.window >= 0) {
      const Array shown = keys_in_window(compared_positions(call), options.window);
      const Array hidden = dispatch("ELEMENT_WISE_IF", {shown, Array::scalar(kind, 0),
                                                        Array::scalar(kind, -std::numeric_limits<double>::infinity())});
      bias = bias ? add(bias, hidden) : hidden;
    }
    results = append_and_attend(call, call.query, options.shared, scale, bias);
  }
  results.resize(std::min(results.size(), std::max<std::size_t>(1, options.outputs)));
  for (std::size_t i = 1; options.is_sliding && i < results.size(); ++i) {
    results[i] = kept_rows(options, call, results[i]);
  }
  return results;
}

void refuse_caches(const Expansion& given) {
  for (const char* name : {"k_quant_type", "v_quant_type"}) {
    if (given.text(name, "NONE") != "NONE") {
      given.refuse(format_text("with {}", name));
    }
  }
  if (given.integer("qk_output") != 0 || !given.output(3).empty()) {
    given.refuse("with qk_output");
  }
  if (given.integer("sliding_window_cache") != 0 && !given.input(kBias).empty()) {
    given.refuse("with sliding_window_cache and attention_bias");
  }
}

GroupQueryOptions group_query_options(const Expansion& given) {
  GroupQueryOptions options;
  options.heads = given.integer("num_heads");
  options.shared = given.integer("kv_num_heads");
  options.window = given.integer("local_window_size", -1);
  options.scale = given.number("scale");
  options.softcap = given.number("softcap");
  options.norm_epsilon = given.number("qk_norm_epsilon", static_cast<double>(1e-6F));
  options.is_rotary = given.integer("do_rotary") != 0;
  options.is_interleaved = given.integer("rotary_interleaved") != 0;
  options.is_causal = given.integer("causal", 1) != 0;
  options.has_zero_sinks = given.input(kSink).empty() && given.integer("smooth_softmax", -1) > 0;
  options.is_sliding = given.integer("sliding_window_cache") != 0;
  options.outputs = given.node().outputs.size();
  const std::string label = label_of(given.node());
  constexpr std::int64_t kMaxHeads = std::numeric_limits<std::int32_t>::max();
  if (options.heads < 1 || options.shared < 1 || options.heads % options.shared != 0 || options.heads > kMaxHeads) {
    fail("{}: num_heads is {} and kv_num_heads is {}; expected a multiple of kv_num_heads, up to {}", label,
         options.heads, options.shared, kMaxHeads);
  }
  if (options.window == 0 || options.window < -1 || options.window > std::numeric_limits<std::int32_t>::max()) {
    fail("{}: local_window_size is {}; expected -1, or 1 or more", label, options.window);
  }
  if (options.is_rotary) {
    given.require({{kCosines, "cos_cache"}, {kSines, "sin_cache"}});
  }
  if (options.is_sliding && options.window < 0) {
    fail("{}: local_window_size is {}; expected 1 or more with sliding_window_cache", label, options.window);
  }
  if (options.window > 0 && !options.is_causal) {
    fail("{}: local_window_size is {} and causal is 0; expected -1 with it", label, options.window);
  }
  return options;
}

Compute make_group_query(const NodeMessage& node, const std::vector<Kind>& kinds, std::vector<Kind>& results) {
  const Expansion given(node, kinds, 0);
  given.require({{kQuery, "query"}, {kLastPositions, "seqlens_k"}, {kTotalLength, "total_sequence_length"}});
  const GroupQueryOptions options = group_query_options(given);
  refuse_caches(given);
  const Kind kind = given.kind(kQuery);
  if (!kRoundedKinds.contains(kind)) {
    given.refuse("of " + std::string(kind_name(kind)));
  }
  for (const std::size_t i :
       {kKey, kValue, kPastKey, kPastValue, kCosines, kSines, kBias, kSink, kQueryNorm, kKeyNorm}) {
    if (const Kind other = given.kind(i); !given.input(i).empty() && other != kind) {
      given.refuse(format_text("of {} with input {} of {}", kind_name(kind), i, kind_name(other)));
    }
  }
  results.insert(results.end(), options.outputs, kind);
  return [options](std::span<const Array> inputs) { return run_group_query(options, inputs); };
}

constexpr DomainRow kGroupQueryRows[] = {
    {.domain = "com.microsoft",
     .op = "GroupQueryAttention",
     .make = make_group_query,
     .uses = "MULTIHEAD_ATTENTION1 ADD CAST DIVIDE EXP FILL_VALUE_SEQUENCE GATHER GEMM IDENTITY IF JOIN LOGICAL_AND "
             "LOGICAL_GREATER_THAN_OR_EQUAL LOGICAL_LESS_THAN MAX MULTIPLY REDUCE SQRT SUBTRACT TANH"},
};

}  // namespace

std::span<const DomainRow> group_query_rows() { return kGroupQueryRows; }

}  // namespace anydml::onnx
