// SPDX-License-Identifier: MIT
// The attention family. Bias, stacked tensors and the past become operators in front of the core. In a graph most of
// these operators are free: slices become views, and additions are fused as element-wise operators. A JOIN produces the
// present keys and values. The core is an operator internal to this family. On devices with
// DeviceTraits::has_fused_attention it is a single step that keeps the scores of some queries in the caches. On other
// devices it consists of two products with a step between them.
#include "ops/family.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/arguments.h"
#include "ops/attention/geometry.h"
#include "ops/attention/step.h"
#include "ops/decomposition.h"
#include "ops/op_desc.h"
#include "text/format.h"

namespace anydml {
namespace {

using attentions::Geometry;
using attentions::geometry_of;
using attentions::has_tensor;
using attentions::size_from_end;

constexpr std::string_view kNames[] = {
#define ANYDML_ATTENTION_ENTRY(op) #op,
#include "ops/attention/attention.def"
};

constexpr facts::Operator internal_operator(std::string_view name) {
  facts::Operator op{};
  op.name = name;
  return op;
}
constexpr facts::Operator kAttend = internal_operator("ATTENTION");
constexpr facts::Operator kRows = internal_operator("ATTENTION_ROWS");
constexpr facts::Operator kScores = internal_operator("ATTENTION_SCORES");
constexpr facts::Operator kWeigh = internal_operator("ATTENTION_WEIGH");
constexpr facts::Operator kAppend = [] {
  facts::Operator op = internal_operator("ATTENTION_APPEND");
  op.in_place = facts::InPlace::first_input;  // the past
  return op;
}();
constexpr facts::Operator kPackKeys = internal_operator("ATTENTION_PACK_KEYS");
constexpr facts::Operator kPackValues = internal_operator("ATTENTION_PACK_VALUES");

// With at most this many queries, packing keys and values takes longer than computing the products.
constexpr std::int64_t kFewQueries = 4;
// The product path limits the scores in memory to this many bytes, unless a single query needs more.
constexpr std::int64_t kMaxScoreBytes = std::int64_t{256} << 20;

// The parameters that internal operators inherit from the whole operator, without tensor strides.
AttentionStep parameters_of(const OpDesc& internal) {
  AttentionStep step;
  std::memcpy(&step, internal.internal.data(), sizeof(step));
  return step;
}

std::span<const std::byte> bytes_of(const AttentionStep& step) { return std::as_bytes(std::span(&step, 1)); }

// ---- Tensor views ---------------------------------------------------------------------------------------------------

using Sizes = std::vector<std::int64_t>;

TensorDesc result_tensor(DataType type, const Sizes& sizes, const Sizes& strides = {}) {
  TensorDesc built;
  built.type = type;
  built.rank = static_cast<std::uint32_t>(sizes.size());
  std::ranges::copy(sizes, built.sizes);
  std::ranges::copy(strides, built.strides);
  return built;
}

// Callers guarantee that the number of elements does not overflow.
TensorDesc packed_tensor(DataType type, const Sizes& sizes) {
  TensorDesc built = result_tensor(type, sizes);
  static_cast<void>(set_packed_strides(built));
  return built;
}

bool fits(const Sizes& sizes) {
  TensorDesc built = result_tensor(DataType::FLOAT32, sizes);
  std::int64_t bytes = sizeof(f32);
  for (const std::int64_t size : sizes) {
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(1, size), &bytes)) {
      return false;
    }
  }
  return set_packed_strides(built);
}

std::int64_t stride_from_end(const TensorDesc& tensor, std::uint32_t from_end) {
  return from_end <= tensor.rank && tensor.sizes[tensor.rank - from_end] != 1 ? tensor.strides[tensor.rank - from_end]
                                                                              : 0;
}

// Views {batch, row, heads * elements} as {batch, head, row, element}.
TensorDesc heads_of_tokens(const TensorDesc& tokens, std::int64_t heads) {
  const std::int64_t elements = size_from_end(tokens, 1) / heads;
  const std::int64_t column = stride_from_end(tokens, 1);
  return result_tensor(tokens.type, {size_from_end(tokens, 3), heads, size_from_end(tokens, 2), elements},
                       {stride_from_end(tokens, 3), elements * column, stride_from_end(tokens, 2), column});
}

// Views {batch, row, head, 1, element} as {batch, head, row, element}.
TensorDesc heads_of_stacked(const TensorDesc& stacked) {
  const auto size = [&](std::uint32_t from_end) { return size_from_end(stacked, from_end); };
  const auto stride = [&](std::uint32_t from_end) { return stride_from_end(stacked, from_end); };
  return result_tensor(stacked.type, {size(5), size(3), size(4), size(1)},
                       {stride(5), stride(3), stride(4), stride(1)});
}

// Broadcasts the last dimensions to these sizes; missing dimensions count as size 1.
TensorDesc repeated(const TensorDesc& tensor, const Sizes& sizes) {
  Sizes strides;
  for (auto from_end = static_cast<std::uint32_t>(sizes.size()); from_end > 0; --from_end) {
    strides.push_back(stride_from_end(tensor, from_end));
  }
  return result_tensor(tensor.type, sizes, strides);
}

TensorDesc last_four(const TensorDesc& tensor) {
  return repeated(
      tensor, {size_from_end(tensor, 4), size_from_end(tensor, 3), size_from_end(tensor, 2), size_from_end(tensor, 1)});
}

// Splits the heads of {batch, head, row, element} into groups. is_shared: each group has one head, which is repeated.
TensorDesc grouped(const TensorDesc& heads, std::int64_t group, bool is_shared) {
  const std::int64_t count = is_shared ? heads.sizes[1] : heads.sizes[1] / group;
  return result_tensor(heads.type, {heads.sizes[0], count, group, heads.sizes[2], heads.sizes[3]},
                       {heads.strides[0], is_shared ? heads.strides[1] : group * heads.strides[1],
                        is_shared ? 0 : heads.strides[1], heads.strides[2], heads.strides[3]});
}

HeadStrides bytes_of_heads(const TensorDesc& tensor) {
  const auto bytes = static_cast<std::int64_t>(element_size(tensor.type));
  const auto stride = [&](std::uint32_t dimension) {
    return tensor.sizes[dimension] == 1 ? 0 : tensor.strides[dimension] * bytes;
  };
  return {.batch = stride(0), .head = stride(1), .row = stride(2), .column = stride(3)};
}

// ---- Steps ----------------------------------------------------------------------------------------------------------

void set_lengths(const PlacedTensor& lengths, AttentionStep& step) {
  if (lengths.slot != kAbsentSlot) {
    step.length_type = lengths.tensor.type;
    step.length_stride = stride_from_end(lengths.tensor, 1) * static_cast<std::int64_t>(element_size(step.length_type));
  }
}

// Sets the parameters for mask and lengths, which most kinds of steps use.
void set_masks(std::span<const PlacedTensor> masks, AttentionStep& step) {
  const bool is_given = masks[0].slot != kAbsentSlot;
  if (is_given && step.mask_kind == MaskKind::boolean) {
    step.mask = bytes_of_heads(masks[0].tensor);
  } else if (is_given) {
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(i32));
    step.mask = {.batch = 0,
                 .head = 0,
                 .row = stride_from_end(masks[0].tensor, 2) * kBytes,
                 .column = stride_from_end(masks[0].tensor, 1) * kBytes};
  }
  set_lengths(masks[1], step);
}

void set_bias(const PlacedTensor& bias, AttentionStep& step) {
  if (bias.slot != kAbsentSlot) {
    step.bias = bytes_of_heads(bias.tensor);
  }
}

HeadStrides bytes_if_given(const PlacedTensor& tensor) {
  return tensor.slot != kAbsentSlot ? bytes_of_heads(tensor.tensor) : HeadStrides{};
}

AttentionStep step_of(const OpDesc& desc, std::span<const PlacedTensor> tensors, std::uint32_t temporary_slot) {
  AttentionStep step = parameters_of(desc);
  if (desc.op == &kAttend) {
    step.q = bytes_of_heads(tensors[0].tensor);
    if (step.is_packed == 0) {
      step.k = bytes_of_heads(tensors[1].tensor);
      step.v = bytes_of_heads(tensors[2].tensor);
    }
    set_bias(tensors[3], step);
    set_masks(tensors.subspan(4), step);
    step.output = bytes_of_heads(heads_of_tokens(tensors[6].tensor, step.heads));
  } else if (desc.op == &kRows) {
    set_bias(tensors[1], step);
    set_masks(tensors.subspan(2), step);
  } else if (desc.op == &kScores) {
    step.q = bytes_of_heads(tensors[0].tensor);
    step.k = bytes_of_heads(tensors[1].tensor);
    set_masks(tensors.subspan(2), step);
  } else if (desc.op == &kWeigh) {
    step.v = bytes_of_heads(tensors[2].tensor);
    set_masks(tensors.subspan(3), step);
    step.output = bytes_of_heads(tensors[5].tensor);
  } else if (desc.op == &kAppend) {
    step.q = bytes_if_given(tensors[0]);
    step.k = bytes_if_given(tensors[1]);
    set_lengths(tensors[2], step);
    step.output = bytes_of_heads(tensors[3].tensor);
    // Only the outputs of a graph have bytes to keep. The slots of all other values come after theirs.
    step.has_zeros = step.has_zeros != 0 && tensors[3].slot >= temporary_slot ? 1 : 0;
  } else {
    step.k = bytes_of_heads(tensors[0].tensor);
    if (desc.op == &kPackValues) {
      std::swap(step.k.row, step.k.column);
    }
    set_masks(tensors.subspan(1), step);
  }
  return step;
}

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  const AttentionStep step = step_of(desc, tensors, plan.temporary_slot());
  std::vector<Operand> operands;
  for (const PlacedTensor& tensor : tensors) {
    operands.push_back(tensor.operand());
  }
  plan.add(static_cast<std::uint32_t>(FamilyId::attention), operands, bytes_of(step));
}

// ---- Decomposition --------------------------------------------------------------------------------------------------

class Composition {
 public:
  Composition(const OpDesc& desc, const DeviceTraits& device, const Geometry& geometry)
      : desc_(desc), device_(device), sizes_(geometry), list_(desc), type_(desc.output().tensor.type) {
    step_.mask_kind = sizes_.mask;
    step_.type = type_;
    step_.has_lengths = has(attentions::kLengths) ? 1 : 0;
    step_.scale = number_of(desc, "Scale").as<f32>();
    step_.filter = number_of(desc, "MaskFilterValue").as<f32>();
    const bool is_list = sizes_.mask != MaskKind::none && sizes_.mask != MaskKind::boolean;
    step_.hides_masked = is_list && step_.filter == -std::numeric_limits<f32>::infinity() ? 1 : 0;
    step_.batches = sizes_.batches;
    step_.heads = sizes_.heads;
    step_.group = sizes_.heads / sizes_.shared_heads;
    step_.queries = sizes_.queries;
    step_.rows = sizes_.queries;
    step_.keys = sizes_.keys;
    step_.depth = sizes_.depth;
    step_.width = sizes_.width;
    step_.past_keys = sizes_.past_keys;
    step_.new_keys = sizes_.new_keys;
  }

  Result<Decomposition> make() {
    for (const std::int64_t elements : {sizes_.depth, sizes_.width}) {
      if (!fits({sizes_.batches, sizes_.heads, sizes_.keys, elements}) ||
          !fits({sizes_.batches, sizes_.heads, sizes_.keys})) {
        return Error{ErrorKind::out_of_memory, format_text("{}: an intermediate tensor is too large", desc_.op->name)};
      }
    }
    const std::int64_t of_queries = sizes_.heads * sizes_.depth;
    const std::int64_t of_keys = sizes_.shared_heads * sizes_.depth;
    const std::uint32_t q = rows_of(sizes_.query, sizes_.heads, 0);
    const std::uint32_t k =
        with_past(rows_of(sizes_.key, sizes_.shared_heads, of_queries), attentions::kPastKey, 1, sizes_.depth);
    const std::uint32_t v = with_past(rows_of(sizes_.value, sizes_.shared_heads, of_queries + of_keys),
                                      attentions::kPastValue, 2, sizes_.width);
    const Sizes all = {sizes_.batches, sizes_.heads, sizes_.queries, sizes_.keys};
    if (has(attentions::kRelativeBias)) {
      list_.see(attentions::kRelativeBias, repeated(list_.tensor(attentions::kRelativeBias), all));
    }
    if (sizes_.mask == MaskKind::boolean) {
      list_.see(attentions::kMask, repeated(list_.tensor(attentions::kMask), all));
    }
    if (sizes_.keys == 0 || element_count(desc_.output().tensor) == 0) {
      list_.add_output("FILL_VALUE_CONSTANT", {}, 0,  // NaN, because 0 is divided by 0
                       {{.field = "ValueDataType", .numbers = {Scalar(static_cast<u64>(type_))}},
                        {.field = "Value", .numbers = {Scalar(std::numeric_limits<f64>::quiet_NaN())}}});
    } else if (device_.has_fused_attention) {
      add_step(q, k, v);
    } else {
      add_products(q, k, v);
    }
    return list_.finish();
  }

 private:
  [[nodiscard]] bool has(attentions::Position position) const { return has_tensor(desc_, position); }
  [[nodiscard]] std::uint32_t given(attentions::Position position) const {
    return has(position) ? static_cast<std::uint32_t>(position) : kNoValue;
  }
  [[nodiscard]] std::uint32_t mask() const {
    return sizes_.mask == MaskKind::none ? kNoValue : given(attentions::kMask);
  }

  // Whether queries may see only some of the keys.
  [[nodiscard]] bool hides_keys() const { return has(attentions::kLengths) || step_.hides_masked != 0; }
  [[nodiscard]] std::uint32_t hiding_mask() const { return step_.hides_masked != 0 ? mask() : kNoValue; }

  // Slices a tensor along one dimension.
  std::uint32_t slice(std::uint32_t value, std::uint32_t dimension, std::int64_t first, std::int64_t count) {
    TensorDesc window = list_.tensor(value);
    std::vector<Scalar> offsets(window.rank, Scalar(u64{0}));
    std::vector<Scalar> strides(window.rank, Scalar(i64{1}));
    offsets[dimension] = Scalar(static_cast<u64>(first));
    window.sizes[dimension] = count;
    std::vector<Scalar> counts;
    for (std::uint32_t i = 0; i < window.rank; ++i) {
      counts.emplace_back(static_cast<u64>(window.sizes[i]));
    }
    return list_.add("SLICE1", {value}, window.type, window,
                     {{.field = "InputWindowOffsets", .numbers = offsets},
                      {.field = "InputWindowSizes", .numbers = counts},
                      {.field = "InputWindowStrides", .numbers = strides}});
  }

  // Queries, keys or values as {batch, head, row, element}, with their slice of the bias added; kNoValue if absent.
  std::uint32_t rows_of(const attentions::Source& source, std::int64_t heads, std::int64_t first_bias) {
    if (!source.is_given) {
      return kNoValue;
    }
    std::uint32_t value = source.tensor;
    if (source.stacked == 0) {
      list_.see(value, heads_of_tokens(list_.tensor(value), heads));
    } else {
      value = slice(value, list_.tensor(value).rank - 2, source.index, 1);
      list_.see(value, heads_of_stacked(list_.tensor(value)));
    }
    if (!has(attentions::kBias)) {
      return value;
    }
    const TensorDesc rows = list_.tensor(value);
    const TensorDesc bias = desc_.tensors[attentions::kBias].tensor;
    list_.see(attentions::kBias, result_tensor(bias.type, {size_from_end(bias, 1)}, {stride_from_end(bias, 1)}));
    const std::uint32_t added = slice(attentions::kBias, 0, first_bias, heads * rows.sizes[3]);
    list_.see(added, result_tensor(bias.type, {heads, 1, rows.sizes[3]}, {rows.sizes[3], 0, 1}));
    return list_.add("ELEMENT_WISE_ADD", {value, added}, type_, rows);
  }

  // Concatenates the past rows and the new rows, and also writes them to the output for present rows if it was
  // requested.
  std::uint32_t with_past(std::uint32_t fresh, attentions::Position past, std::uint32_t output, std::int64_t elements) {
    const bool is_wanted = desc_.outputs()[output].present;
    const TensorDesc present = last_four(desc_.outputs()[output].tensor);
    const auto finish = [&](std::uint32_t value) {
      list_.set_output(output, value);
      return value;
    };
    if (has(past)) {
      list_.see(past, last_four(list_.tensor(past)));
    }
    const TensorDesc all = packed_tensor(type_, {sizes_.batches, sizes_.shared_heads, sizes_.keys, elements});
    if (has(attentions::kLengths)) {
      AttentionStep step = step_;
      step.kind = AttentionKind::append;
      step.heads = sizes_.shared_heads;
      step.rows = sizes_.keys;
      step.width = elements;
      step.has_zeros = is_wanted ? 1 : 0;
      const TensorDesc& target = is_wanted ? present : all;
      const std::uint32_t value = list_.add_internal(kAppend, {given(past), fresh, attentions::kLengths},
                                                     std::span(&target, 1), bytes_of(step));
      return is_wanted ? finish(value) : value;
    }
    const bool has_past = has(past) && sizes_.past_keys != 0;
    const bool has_fresh = fresh != kNoValue && sizes_.new_keys != 0;
    const bool is_new_alone = is_wanted && present.sizes[2] != sizes_.keys;
    std::uint32_t value = has_past ? static_cast<std::uint32_t>(past) : fresh;
    if (has_past && has_fresh) {
      const std::vector<OpAttribute> axis = {{.field = "Axis", .numbers = {Scalar(u64{2})}}};
      const std::vector<std::uint32_t> both = {static_cast<std::uint32_t>(past), fresh};
      if (is_wanted && !is_new_alone) {
        return finish(list_.add_as("JOIN", both, present, axis));
      }
      value = list_.add("JOIN", both, type_, all, axis);
    }
    if (is_wanted) {
      finish(list_.add_as("ELEMENT_WISE_IDENTITY", {is_new_alone ? fresh : value}, present, {}));
    }
    return value;
  }

  // Adds the core as a single step.
  void add_step(std::uint32_t q, std::uint32_t k, std::uint32_t v) {
    AttentionStep step = step_;
    step.kind = AttentionKind::attend;
    const auto is_along = [&](std::uint32_t value) {
      const TensorDesc& rows = list_.tensor(value);
      return rows.sizes[3] == 1 || rows.strides[3] == 1;
    };
    const bool has_few = sizes_.queries <= kFewQueries && is_along(k) && is_along(v);
    if (device_.packs_weights() && !has_few) {
      step.is_packed = 1;
      k = add_pack(kPackKeys, k, sizes_.keys, sizes_.depth);
      v = add_pack(kPackValues, v, sizes_.width, sizes_.keys);
    }
    const TensorDesc& output = desc_.output().tensor;
    const std::uint32_t value =
        list_.add_internal(kAttend, {q, k, v, given(attentions::kRelativeBias), mask(), given(attentions::kLengths)},
                           std::span(&output, 1), bytes_of(step));
    list_.set_output(0, value);
  }

  std::uint32_t add_pack(const facts::Operator& op, std::uint32_t value, std::int64_t rows, std::int64_t depth) {
    AttentionStep step = step_;
    step.kind = &op == &kPackKeys ? AttentionKind::pack_keys : AttentionKind::pack_values;
    step.heads = sizes_.shared_heads;
    step.rows = rows;
    step.depth = depth;
    const TensorDesc packed = packed_tensor(DataType::FLOAT32, {sizes_.batches, sizes_.shared_heads, rows, depth});
    return list_.add_internal(op, {value, hiding_mask(), given(attentions::kLengths)}, std::span(&packed, 1),
                              bytes_of(step), true);
  }

  std::uint32_t wide(std::uint32_t value) {
    return type_ == DataType::FLOAT32 ? value : list_.add("CAST", {value}, DataType::FLOAT32, list_.tensor(value));
  }

  // Adds the core as two products with a step between them, for some queries at a time.
  void add_products(std::uint32_t q, std::uint32_t k, std::uint32_t v) {
    if (!hides_keys()) {
      q = wide(q);
      k = wide(k);
      v = wide(v);
      list_.see(k, grouped(list_.tensor(k), step_.group, true));
      list_.see(v, grouped(list_.tensor(v), step_.group, true));
    }
    const std::int64_t bytes_of_query = sizes_.batches * sizes_.heads * sizes_.keys * 4;
    const std::int64_t maximum = std::max<std::int64_t>(1, kMaxScoreBytes / std::max<std::int64_t>(1, bytes_of_query));
    if (maximum >= sizes_.queries) {
      const std::uint32_t value =
          add_queries(q, k, v, 0, sizes_.queries, heads_of_tokens(desc_.output().tensor, sizes_.heads));
      list_.set_output(0, value);
      return;
    }
    std::vector<std::uint32_t> pieces;
    for (std::int64_t first = 0; first < sizes_.queries; first += maximum) {
      const std::int64_t count = std::min(maximum, sizes_.queries - first);
      const TensorDesc tokens = packed_tensor(type_, {sizes_.batches, count, sizes_.heads * sizes_.width});
      pieces.push_back(
          add_queries(slice(q, 2, first, count), k, v, first, count, heads_of_tokens(tokens, sizes_.heads)));
      list_.see(pieces.back(), tokens);
    }
    const TensorDesc& output = desc_.output().tensor;
    const TensorDesc joined =
        repeated(output, {size_from_end(output, 3), size_from_end(output, 2), size_from_end(output, 1)});
    list_.set_output(0, list_.add_as("JOIN", pieces, joined, {{.field = "Axis", .numbers = {Scalar(u64{1})}}}));
  }

  std::uint32_t add_queries(std::uint32_t q, std::uint32_t k, std::uint32_t v, std::int64_t first, std::int64_t count,
                            const TensorDesc& result) {
    if (hides_keys()) {
      return add_seen(q, k, v, first, count, result);
    }
    list_.see(q, grouped(list_.tensor(q), step_.group, false));
    const Sizes rows = {sizes_.batches, sizes_.shared_heads, step_.group, count};
    const auto like = [&](std::int64_t columns) {
      Sizes sizes = rows;
      sizes.push_back(columns);
      return packed_tensor(DataType::FLOAT32, sizes);
    };
    const auto multiply = [&](std::uint32_t a, std::uint32_t b, bool is_transposed, f64 alpha, std::int64_t columns) {
      return list_.add("GEMM", {a, b, kNoValue}, DataType::FLOAT32, like(columns),
                       {{.field = "TransA", .numbers = {Scalar(u64{0})}},
                        {.field = "TransB", .numbers = {Scalar(u64{is_transposed ? 1U : 0U})}},
                        {.field = "Alpha", .numbers = {Scalar(alpha)}},
                        {.field = "Beta", .numbers = {Scalar(f64{0})}}});
    };
    const std::uint32_t scores = multiply(q, k, true, step_.scale, sizes_.keys);
    AttentionStep step = step_;
    step.kind = AttentionKind::rows;
    step.first = first;
    step.rows = count;
    const std::uint32_t exponentials = add_rows(scores, step, like(sizes_.keys), like(1));
    const std::uint32_t sums = multiply(exponentials, v, false, 1, sizes_.width);
    const TensorDesc grouped_result = grouped(result, step_.group, false);
    if (type_ == DataType::FLOAT32) {
      return list_.add_as("ELEMENT_WISE_DIVIDE", {sums, exponentials + 1}, grouped_result, {});
    }
    return list_.add_as("CAST",
                        {list_.add("ELEMENT_WISE_DIVIDE", {sums, exponentials + 1}, DataType::FLOAT32, grouped_result)},
                        grouped_result, {});
  }

  std::uint32_t add_rows(std::uint32_t scores, const AttentionStep& step, const TensorDesc& exponentials,
                         const TensorDesc& totals) {
    const TensorDesc results[] = {exponentials, totals};
    return list_.add_internal(kRows, {scores, given(attentions::kRelativeBias), mask(), given(attentions::kLengths)},
                              results, bytes_of(step));
  }

  // Like add_queries, but multiplies only the keys and values that a query sees.
  std::uint32_t add_seen(std::uint32_t q, std::uint32_t k, std::uint32_t v, std::int64_t first, std::int64_t count,
                         const TensorDesc& result) {
    const auto like = [&](std::int64_t columns) {
      return packed_tensor(DataType::FLOAT32, {sizes_.batches, sizes_.heads, count, columns});
    };
    const auto step_of_kind = [&](AttentionKind kind) {
      AttentionStep step = step_;
      step.kind = kind;
      step.first = first;
      step.rows = count;
      return step;
    };
    const TensorDesc scores_like = like(sizes_.keys);
    const std::uint32_t scores =
        list_.add_internal(kScores, {q, k, hiding_mask(), given(attentions::kLengths)}, std::span(&scores_like, 1),
                           bytes_of(step_of_kind(AttentionKind::scores)));
    const std::uint32_t exponentials = add_rows(scores, step_of_kind(AttentionKind::rows), scores_like, like(1));
    return list_.add_internal(kWeigh, {exponentials, exponentials + 1, v, hiding_mask(), given(attentions::kLengths)},
                              std::span(&result, 1), bytes_of(step_of_kind(AttentionKind::weigh)));
  }

  const OpDesc& desc_;
  const DeviceTraits& device_;
  const Geometry& sizes_;
  DecompositionBuilder list_;
  DataType type_;
  AttentionStep step_{};
};

TypeSet types(const facts::Operator& op, std::size_t position) {
  constexpr TypeSet kFloats = type_bit(DataType::FLOAT32) | type_bit(DataType::FLOAT16);
  const bool has_lengths = op.name == "MULTIHEAD_ATTENTION1";
  return position == attentions::kMask                     ? type_bit(DataType::INT32)
         : has_lengths && position == attentions::kLengths ? kFloats | type_bit(DataType::INT32)
                                                           : kFloats;
}

}  // namespace

extern const Family attention_family;
const Family attention_family = {
    .id = FamilyId::attention,
    .has = [](const facts::Operator& op) { return std::ranges::find(kNames, op.name) != std::end(kNames); },
    .types = types,
    .by_element = false,
    .check = [](const OpDesc& desc) -> Status {
      ANYDML_TRY(geometry_of(desc));
      return {};
    },
    .lower = lower,
    .lower_together = nullptr,
    .joins = nullptr,
    .decompose = [](const OpDesc& desc, const DeviceTraits& device, const KnownInputs&) -> Result<Decomposition> {
      if (!desc.internal.empty()) {
        return Decomposition();
      }
      const auto geometry = geometry_of(desc);
      ANYDML_TRY(geometry);
      return Composition(desc, device, geometry.value()).make();
    },
    .in_place = [](const OpDesc& desc, std::size_t) { return desc.op == &kAppend; },
    .keeps_elements = [](const facts::Operator& op) { return op.name == "MULTIHEAD_ATTENTION1"; },
};

}  // namespace anydml
