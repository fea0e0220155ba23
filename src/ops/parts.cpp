// SPDX-License-Identifier: MIT
#include "ops/parts.h"

#include <algorithm>
#include <memory>

#include "plan/reshape.h"
#include "text/format.h"

namespace anydml {
namespace {

schema::GivenTensor given(const TensorDesc& tensor) {
  schema::GivenTensor made;
  made.type = static_cast<std::uint32_t>(tensor.type);
  made.rank = tensor.rank;
  made.has_strides = true;
  std::copy_n(tensor.sizes, tensor.rank, made.sizes);
  std::copy_n(tensor.strides, tensor.rank, made.strides);
  return made;
}

// The offset of a temporary that this part reads as the last one, and that its result may overwrite.
std::optional<std::uint64_t> offset_of_source(const OpDesc& whole, std::size_t part, const PlacedTensor& result,
                                              std::span<const PlacedTensor> values) {
  const OpPart& of = whole.parts[part];
  for (std::size_t i = 0; of.op->family->by_element && i < of.sources.size(); ++i) {
    const std::uint32_t source = of.sources[i];
    const bool is_read_later = std::any_of(
        whole.parts.begin() + static_cast<std::ptrdiff_t>(part) + 1, whole.parts.end(),
        [source](const OpPart& later) { return std::ranges::find(later.sources, source) != later.sources.end(); });
    if (source >= whole.input_count && !is_read_later &&
        element_size(values[source].tensor.type) == element_size(result.tensor.type) &&
        same_layout(values[source].tensor, result.tensor)) {
      return values[source].offset;
    }
  }
  return std::nullopt;
}

}  // namespace

void PartList::add_part(std::string_view op, const std::vector<std::uint32_t>& sources, const TensorDesc& result,
                        const std::vector<PartAttribute>& attributes) {
  if (!status_.ok()) {
    return;
  }
  schema::Described described(*facts::find_operator(op));
  std::size_t next = 0;
  for (std::size_t field = 0; field < described.op->fields.size(); ++field) {
    schema::Argument& argument = described.arguments[field];
    const facts::Field& of = described.op->fields[field];
    if (facts::is_input(of.kind) && next < sources.size()) {
      const std::uint32_t source = sources[next++];
      argument.tensors.push_back(given(source < whole_.input_count
                                           ? whole_.tensors[source].tensor
                                           : parts_[source - whole_.input_count].op->output().tensor));
    } else if (facts::is_output(of.kind)) {
      argument.tensors.push_back(given(result));
    } else if (const auto set = std::ranges::find(attributes, of.name, &PartAttribute::field);
               set != attributes.end()) {
      argument.numbers = set->numbers;
    } else {
      continue;
    }
    argument.present = true;
  }
  auto made = make_op_desc(described, Judged::not_yet);
  if (made.ok() && !made.value().parts.empty()) {
    status_ = Error{ErrorKind::unsupported, format_text("{}: its part {} has parts", whole_.op->name, op)};
  } else if (made.ok()) {
    parts_.push_back({.op = std::make_shared<const OpDesc>(std::move(made.value())), .sources = sources});
  } else {
    status_ = made.error();
  }
}

std::uint32_t PartList::add(std::string_view op, const std::vector<std::uint32_t>& sources, DataType type,
                            const TensorDesc& like, const std::vector<PartAttribute>& attributes) {
  TensorDesc result = like;
  result.type = type;
  if (status_.ok() && !set_packed_strides(result)) {
    status_ = Error{ErrorKind::out_of_memory,
                    format_text("{}: a tensor that it needs besides is too large", whole_.op->name)};
  }
  add_part(op, sources, result, attributes);
  return whole_.input_count + static_cast<std::uint32_t>(parts_.size()) - 1;
}

Result<std::vector<OpPart>> PartList::finish(std::string_view op, const std::vector<std::uint32_t>& sources,
                                             const std::vector<PartAttribute>& attributes) {
  add_part(op, sources, whole_.output().tensor, attributes);
  ANYDML_TRY(status_);
  return std::move(parts_);
}

void lower_parts(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  std::vector<PlacedTensor> values(tensors.begin(), tensors.begin() + desc.input_count);
  for (std::size_t i = 0; i < desc.parts.size(); ++i) {
    const OpDesc& part = *desc.parts[i].op;
    PlacedTensor result{.tensor = part.output().tensor, .slot = plan.temporary_slot()};
    if (i + 1 == desc.parts.size()) {
      result = tensors[desc.input_count];
    } else if (const auto offset = offset_of_source(desc, i, result, values)) {
      result.offset = *offset;
    } else {
      result.offset = plan.take_temporary(static_cast<std::uint64_t>(reach_of(result.tensor).end));
    }
    std::vector<PlacedTensor> own;
    for (std::size_t input = 0; input < part.tensors.size() - 1; ++input) {
      const bool is_present = input < desc.parts[i].sources.size();
      PlacedTensor& seen = own.emplace_back(is_present ? values[desc.parts[i].sources[input]] : PlacedTensor{});
      if (is_present && desc.parts[i].sources[input] >= desc.input_count) {
        seen.tensor = part.tensors[input].tensor;  // perhaps repeated
      }
    }
    own.push_back(result);
    part.family->lower(part, own, plan);
    values.push_back(result);
  }
}

}  // namespace anydml
