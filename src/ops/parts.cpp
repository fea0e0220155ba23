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
  if (made.ok()) {
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

}  // namespace anydml
