// SPDX-License-Identifier: MIT
#include "ops/attention/geometry.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/shape.h"
#include "ops/arguments.h"
#include "text/format.h"

namespace anydml::attentions {
namespace {

bool is_newer(const OpDesc& desc) { return desc.op->name == "MULTIHEAD_ATTENTION1"; }

std::string sizes_text(const TensorDesc& tensor) { return shape_text(tensor.sizes, tensor.rank); }

// Whether the last dimensions have these sizes and all dimensions before them have size 1.
bool has_sizes(const TensorDesc& tensor, const std::vector<std::int64_t>& sizes) {
  const auto rank = static_cast<std::uint32_t>(sizes.size());
  for (std::uint32_t i = 1; i <= std::max(rank, tensor.rank); ++i) {
    if (size_from_end(tensor, i) != (i <= rank ? sizes[rank - i] : 1)) {
      return false;
    }
  }
  return tensor.rank >= rank;
}

Status check_sizes(const OpDesc& desc, const OpTensor& tensor, const std::vector<std::int64_t>& sizes) {
  if (!tensor.present || has_sizes(tensor.tensor, sizes)) {
    return {};
  }
  return invalid(desc, tensor,
                 format_text("sizes are {}; expected {}", sizes_text(tensor.tensor),
                             shape_text(sizes.data(), static_cast<std::uint32_t>(sizes.size()))));
}

// Each of the last four dimensions must be full-sized or 1, and all dimensions before them must be 1.
Status check_repeated(const OpDesc& desc, const OpTensor& tensor, const std::vector<std::int64_t>& sizes) {
  for (std::uint32_t i = 1; tensor.present && i <= tensor.tensor.rank; ++i) {
    const std::int64_t size = size_from_end(tensor.tensor, i);
    if (size != 1 && (i > sizes.size() || size != sizes[sizes.size() - i])) {
      return invalid(desc, tensor,
                     format_text("sizes are {}; expected {}, or 1 instead of any of them", sizes_text(tensor.tensor),
                                 shape_text(sizes.data(), static_cast<std::uint32_t>(sizes.size()))));
    }
  }
  return {};
}

struct Candidate {
  Position position;
  std::int64_t stacked;
  std::int64_t index;
};

Result<Source> find_source(const OpDesc& desc, std::string_view what, std::initializer_list<Candidate> candidates,
                           bool may_miss) {
  Source found;
  for (const Candidate& one : candidates) {
    if (!has_tensor(desc, one.position)) {
      continue;
    }
    if (found.is_given) {
      return invalid(desc, desc.tensors[one.position],
                     format_text("conflicts with {}; expected only one of them, because each contains the {}",
                                 desc.tensors[found.tensor].name, what));
    }
    found = {.is_given = true, .tensor = one.position, .stacked = one.stacked, .index = one.index};
  }
  if (!found.is_given && !may_miss) {
    return invalid({desc.op->name, desc.tensors[std::data(candidates)->position].name},
                   format_text("is absent, and no stacked tensor contains the {}", what));
  }
  return found;
}

// The number of elements in a row of one head.
Result<std::int64_t> row_elements(const OpDesc& desc, const Source& source, std::int64_t heads) {
  const OpTensor& tensor = desc.tensors[source.tensor];
  const std::int64_t last = size_from_end(tensor.tensor, 1);
  if (source.stacked != 0) {
    return last;
  }
  if (last % heads != 0) {
    return invalid(desc, tensor,
                   format_text("sizes are {}; expected a multiple of {} elements at the end, one row for each head",
                               sizes_text(tensor.tensor), heads));
  }
  return last / heads;
}

Status check_source(const OpDesc& desc, const Source& source, std::int64_t batches, std::int64_t rows,
                    std::int64_t heads, std::int64_t elements) {
  const OpTensor& tensor = desc.tensors[source.tensor];
  return source.stacked == 0 ? check_sizes(desc, tensor, {batches, rows, heads * elements})
                             : check_sizes(desc, tensor, {batches, rows, heads, source.stacked, elements});
}

std::int64_t rows_of(const OpDesc& desc, const Source& source) {
  return !source.is_given ? 0 : size_from_end(desc.tensors[source.tensor].tensor, source.stacked == 0 ? 2 : 4);
}

Status set_heads(const OpDesc& desc, Geometry& geometry) {
  const char* const field = is_newer(desc) ? "QueryHeadCount" : "HeadCount";
  geometry.heads = number_of(desc, field).as<u32>();
  geometry.shared_heads = is_newer(desc) ? number_of(desc, "KeyValueHeadCount").as<u32>() : geometry.heads;
  if (geometry.heads == 0) {
    return invalid({desc.op->name, field}, "is 0; expected at least one head");
  }
  if (geometry.shared_heads == 0 || geometry.heads % geometry.shared_heads != 0) {
    return invalid(
        {desc.op->name, "KeyValueHeadCount"},
        format_text("is {}; expected a divisor of QueryHeadCount, which is {}", geometry.shared_heads, geometry.heads));
  }
  return {};
}

Status set_sources(const OpDesc& desc, Geometry& geometry) {
  auto query = find_source(desc, "queries", {{kQuery, 0, 0}, {kQueryKey, 2, 0}, {kQueryKeyValue, 3, 0}}, false);
  ANYDML_TRY(query);
  auto key = find_source(desc, "keys", {{kKey, 0, 0}, {kQueryKey, 2, 1}, {kKeyValue, 2, 0}, {kQueryKeyValue, 3, 1}},
                         has_tensor(desc, kPastKey));
  ANYDML_TRY(key);
  auto value = find_source(desc, "values", {{kValue, 0, 0}, {kKeyValue, 2, 1}, {kQueryKeyValue, 3, 2}},
                           has_tensor(desc, kPastValue));
  ANYDML_TRY(value);
  geometry.query = query.value();
  geometry.key = key.value();
  geometry.value = value.value();
  return {};
}

Status set_rows(const OpDesc& desc, Geometry& geometry) {
  const auto of_query = row_elements(desc, geometry.query, geometry.heads);
  ANYDML_TRY(of_query);
  geometry.depth = of_query.value();
  geometry.width = size_from_end(desc.tensors[kPastValue].tensor, 1);
  if (geometry.value.is_given) {
    const auto of_value = row_elements(desc, geometry.value, geometry.shared_heads);
    ANYDML_TRY(of_value);
    geometry.width = of_value.value();
  }
  geometry.batches = size_from_end(desc.output().tensor, 3);
  geometry.queries = size_from_end(desc.output().tensor, 2);
  geometry.new_keys = rows_of(desc, geometry.key);
  const auto past = [&](Position position) {
    return has_tensor(desc, position) ? size_from_end(desc.tensors[position].tensor, 2) : 0;
  };
  geometry.past_keys = past(kPastKey);
  if (const std::int64_t values = rows_of(desc, geometry.value);
      values != geometry.new_keys || past(kPastValue) != geometry.past_keys) {
    const OpTensor& tensor = desc.tensors[geometry.value.is_given ? geometry.value.tensor : kPastValue];
    return invalid(desc, tensor,
                   format_text("values have {} rows and {} past rows; expected {} and {}, as for the keys", values,
                               past(kPastValue), geometry.new_keys, geometry.past_keys));
  }
  geometry.keys = geometry.past_keys + geometry.new_keys;
  if (const OpTensor& present = desc.outputs()[1]; has_tensor(desc, kLengths) && present.present) {
    geometry.keys = size_from_end(present.tensor, 2);
  }
  return {};
}

Status check_present(const OpDesc& desc, const Geometry& geometry, const OpTensor& present, std::int64_t elements) {
  const bool is_new_alone = !has_tensor(desc, kLengths) && size_from_end(present.tensor, 2) == geometry.new_keys;
  return check_sizes(
      desc, present,
      {geometry.batches, geometry.shared_heads, is_new_alone ? geometry.new_keys : geometry.keys, elements});
}

Status check_mask(const OpDesc& desc, Geometry& geometry) {
  geometry.mask = static_cast<MaskKind>(number_of(desc, "MaskType").as<u32>());
  if (geometry.mask == MaskKind::none) {
    return {};
  }
  const OpTensor& mask = desc.tensors[kMask];
  if (!mask.present) {
    return invalid(desc, mask, "is absent; expected a mask, because MaskType is not NONE");
  }
  if (geometry.mask == MaskKind::boolean) {
    return check_repeated(desc, mask, {geometry.batches, geometry.heads, geometry.queries, geometry.keys});
  }
  const std::vector<std::int64_t> sizes =
      geometry.mask == MaskKind::key_length      ? std::vector{std::int64_t{1}, geometry.batches}
      : geometry.mask == MaskKind::key_end_start ? std::vector{std::int64_t{2}, geometry.batches}
                                                 : std::vector{3 * geometry.batches + 2};
  return check_sizes(desc, mask, sizes);
}

}  // namespace

bool has_tensor(const OpDesc& desc, Position position) {
  return position < desc.input_count && desc.tensors[position].present;
}

Result<Geometry> geometry_of(const OpDesc& desc) {
  Geometry result;
  ANYDML_TRY(set_heads(desc, result));
  ANYDML_TRY(set_sources(desc, result));
  ANYDML_TRY(set_rows(desc, result));
  ANYDML_TRY(check_source(desc, result.query, result.batches, result.queries, result.heads, result.depth));
  if (result.key.is_given) {
    ANYDML_TRY(check_source(desc, result.key, result.batches, result.new_keys, result.shared_heads, result.depth));
  }
  if (result.value.is_given) {
    ANYDML_TRY(check_source(desc, result.value, result.batches, result.new_keys, result.shared_heads, result.width));
  }
  ANYDML_TRY(check_sizes(desc, desc.output(), {result.batches, result.queries, result.heads * result.width}));
  ANYDML_TRY(check_sizes(desc, desc.tensors[kBias],
                         {result.heads * result.depth + result.shared_heads * (result.depth + result.width)}));
  ANYDML_TRY(
      check_sizes(desc, desc.tensors[kPastKey], {result.batches, result.shared_heads, result.past_keys, result.depth}));
  ANYDML_TRY(check_sizes(desc, desc.tensors[kPastValue],
                         {result.batches, result.shared_heads, result.past_keys, result.width}));
  if (has_tensor(desc, kLengths)) {
    ANYDML_TRY(check_sizes(desc, desc.tensors[kLengths], {result.batches}));
  }
  ANYDML_TRY(check_present(desc, result, desc.outputs()[1], result.depth));
  ANYDML_TRY(check_present(desc, result, desc.outputs()[2], result.width));
  ANYDML_TRY(
      check_repeated(desc, desc.tensors[kRelativeBias], {result.batches, result.heads, result.queries, result.keys}));
  ANYDML_TRY(check_mask(desc, result));
  return result;
}

}  // namespace anydml::attentions
