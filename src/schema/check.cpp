// SPDX-License-Identifier: MIT
#include "schema/check.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/shape.h"
#include "schema/rules.h"
#include "schema/tensor_rules.h"
#include "schema/words.h"
#include "text/format.h"

namespace anydml::schema {
namespace {

bool in_group(const facts::SameGroup& group, std::size_t field) { return (group.fields >> field & 1) != 0; }

std::string type_text(std::uint32_t type) {
  const facts::Enum& types = *facts::find_enum("DML_TENSOR_DATA_TYPE");
  const auto known = std::ranges::find(types.values, type, &facts::EnumValue::value);
  return known == types.values.end() ? format_text("{}", type) : std::string(known->name.substr(types.prefix.size()));
}

// The first level after `level` at which the operator's field accepts the type, for messages; empty if there is none.
std::string taken_from(const facts::Operator& op, std::size_t field, std::uint32_t type, facts::FeatureLevel level) {
  const facts::Support* first = nullptr;
  for (const facts::Support& row : op.support) {
    if (row.field == field && row.level > level && type < 16 && (row.types >> type & 1) != 0 &&
        (first == nullptr || row.level < first->level)) {
      first = &row;
    }
  }
  return first == nullptr ? std::string() : format_text(" (accepted since {})", facts::level_name(first->level));
}

// The known facts about a tensor, and the faults that were already reported.
struct Seen {
  const GivenTensor* tensor = nullptr;
  Location location;
  bool type_fits = false;  // the operator accepts it
  bool rank_fits = false;
  bool has_shape = false;     // it has sizes, and no size is 0
  bool is_countable = false;  // in addition, its byte size does not overflow
  bool reports_size = false;
  bool rank_told = false;
};

class Checker {
 public:
  Checker(const Described& described, facts::FeatureLevel level)
      : described_(described), op_(*described.op), level_(level) {
    for (std::size_t field = 0; field < op_.fields.size(); ++field) {
      const auto& tensors = described.arguments[field].tensors;
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        seen_.push_back(
            {.tensor = &tensors[i], .location = {field, facts::is_array(op_.fields[field].kind) ? i : kNone}});
      }
    }
  }

  void check_tensors() {
    if (auto newer = check_level(op_, level_)) {
      findings_.add(newer->location, std::move(newer->reason));
    }
    std::size_t next = 0;
    for (std::size_t field = 0; field < op_.fields.size(); ++field) {
      const std::size_t first = next;
      for (; next < seen_.size() && seen_[next].location.field == field; ++next) {
        check_alone(next);
      }
      if (next == first) {
        check_absent(field);
      }
    }
    check_counts();
    check_types();
    check_sizes();
    check_ranks();
  }

  void check_relations(bool sizes_broadcast) {
    for (Seen& seen : seen_) {
      seen.type_fits = true;
      seen.rank_fits = true;
      seen.has_shape = seen.tensor->has_desc && seen.tensor->has_sizes && seen.tensor->rank <= kMaxRank;
    }
    check_types();
    if (!sizes_broadcast) {
      check_sizes();
      check_ranks();
    }
  }

  void check_rules() {
    check_fields(described_, level_, findings_);
    schema::check_rules(described_, level_, findings_);
  }

  std::vector<Violation> take() { return std::move(findings_.violations); }

 private:
  void report(std::size_t tensor, std::string reason) { findings_.add(seen_[tensor].location, std::move(reason)); }

  [[nodiscard]] const GivenTensor& tensor(std::size_t i) const { return *seen_[i].tensor; }
  [[nodiscard]] std::size_t field_of(std::size_t i) const { return seen_[i].location.field; }
  [[nodiscard]] std::span<const std::int64_t> sizes_of(std::size_t i) const {
    return std::span(tensor(i).sizes, tensor(i).rank);
  }

  // Only some operators require nonempty arrays. Their rules check that.
  void check_absent(std::size_t index) {
    const facts::Field& field = op_.fields[index];
    const Location location{.field = index};
    if (field.kind == facts::FieldKind::input || field.kind == facts::FieldKind::output) {
      findings_.add(location, "the tensor is null; expected a DML_TENSOR_DESC, since it is not optional");
    } else if ((field.kind == facts::FieldKind::optional_input || field.kind == facts::FieldKind::optional_output) &&
               level_ < field.optional_since) {
      findings_.add(location, format_text("the tensor is null; expected a DML_TENSOR_DESC, since it is optional only "
                                          "from feature level {}",
                                          facts::level_name(field.optional_since)));
    }
  }

  void check_alone(std::size_t i) {
    const GivenTensor& given = tensor(i);
    if (given.tensor_type != kBufferTensor) {
      return report(i, format_text("Type is {}; expected DML_TENSOR_TYPE_BUFFER (1)", given.tensor_type));
    }
    if (!given.has_desc) {
      return report(i, "Desc is null; expected a DML_BUFFER_TENSOR_DESC");
    }
    const auto admitted = facts::admitted(op_, field_of(i), level_);
    check_type(i, admitted);
    check_flags(i);
    check_rank(i, admitted);
    check_shape(i);
    check_alignment(i);
  }

  [[nodiscard]] std::string at_level() const { return format_text(" at feature level {}", facts::level_name(level_)); }

  void check_type(std::size_t i, const std::optional<facts::Admitted>& admitted) {
    const std::uint32_t type = tensor(i).type;
    const TypeSet types = admitted ? admitted->types : 0;
    Seen& seen = seen_[i];
    seen.type_fits = types == 0 ? element_bits(type) != 0 : type < 16 && (types >> type & 1) != 0;
    if (seen.type_fits) {
      return;
    }
    if (types == 0) {  // the documentation lists no types for this tensor, but this value is not a type
      return report(i, format_text("DataType is {}; expected a DirectML type, 1 (FLOAT32) to 13 (INT4)", type));
    }
    report(i, format_text("DataType is {}; expected {}{}{}", type_text(type), type_names(types), at_level(),
                          taken_from(op_, field_of(i), type, level_)));
  }

  void check_flags(std::size_t i) {
    const std::uint32_t flags = tensor(i).flags;
    if ((flags & ~kOwnedByDml) != 0) {
      report(i, format_text("Flags is {:#x}; expected NONE (0) or OWNED_BY_DML (1)", flags));
    }
    if ((flags & kOwnedByDml) != 0 && facts::is_output(op_.fields[field_of(i)].kind)) {
      report(i, "Flags is OWNED_BY_DML; expected NONE, since only inputs can be owned");
    }
  }

  void check_rank(std::size_t i, const std::optional<facts::Admitted>& admitted) {
    const std::uint32_t rank = tensor(i).rank;
    const std::uint32_t minimum = admitted ? admitted->min_rank : 1;
    const std::uint32_t maximum = admitted ? admitted->max_rank : kMaxRank;
    seen_[i].rank_fits = rank >= minimum && rank <= maximum;
    if (!seen_[i].rank_fits) {
      const std::string where = admitted ? at_level() : std::string();
      report(i, minimum == maximum
                    ? format_text("DimensionCount is {}; expected {}{}", rank, minimum, where)
                    : format_text("DimensionCount is {}; expected {} to {}{}", rank, minimum, maximum, where));
    }
  }

  void check_shape(std::size_t i) {
    const GivenTensor& given = tensor(i);
    Seen& seen = seen_[i];
    if (given.rank == 0 || given.rank > kMaxRank) {
      return;  // the array that Sizes points to may contain fewer numbers
    }
    if (!given.has_sizes) {
      return report(i, format_text("Sizes is null; expected {} sizes", given.rank));
    }
    seen.has_shape = true;
    for (std::uint32_t k = 0; k < given.rank; ++k) {
      if (given.sizes[k] <= 0) {
        seen.has_shape = false;
        report(i, format_text("Sizes[{}] is {}; expected 1 or more", k, given.sizes[k]));
      }
    }
    for (std::uint32_t k = 0; given.has_strides && k < given.rank; ++k) {
      if (given.strides[k] < 0) {
        return report(i, format_text("Strides[{}] is {}; expected 0 or more", k, given.strides[k]));
      }
    }
    if (!seen.has_shape || element_bits(given.type) == 0) {
      return;
    }
    const auto minimum = implied_bytes(given.type, sizes_of(i), given.has_strides ? given.strides : nullptr);
    if (!minimum || *minimum > kMaxTensorBytes) {
      return report(i, format_text("Sizes {} {}span more than {} bytes, the most a tensor may have",
                                   shape_text(given.sizes, given.rank), strides_text(given), kMaxTensorBytes));
    }
    seen.is_countable = true;
    if (given.total_bytes > kMaxTensorBytes) {
      return report(
          i, format_text("TotalTensorSizeInBytes is {}; expected {} at most", given.total_bytes, kMaxTensorBytes));
    }
    if (given.total_bytes < *minimum || given.total_bytes % 4 != 0) {
      report(i, format_text("TotalTensorSizeInBytes is {}; expected {} or more, the extent of the elements, and a "
                            "multiple of 4",
                            given.total_bytes, *minimum));
    }
  }

  static std::string strides_text(const GivenTensor& given) {
    return given.has_strides ? format_text("with Strides {} ", shape_text(given.strides, given.rank)) : std::string();
  }

  void check_alignment(std::size_t i) {
    const std::uint32_t alignment = tensor(i).alignment;
    const std::uint32_t bits = element_bits(tensor(i).type);
    if (bits == 0 || alignment == 0) {
      return;
    }
    const std::uint32_t element = std::max(bits / 8, 1U);
    if (!std::has_single_bit(alignment) || alignment < element) {
      report(i, format_text("GuaranteedBaseOffsetAlignment is {}; expected 0 or a power of two from {}, the size of an "
                            "element",
                            alignment, element));
    }
  }

  void check_counts() {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (auto reason = seen_[i].is_countable ? too_many_elements(sizes_of(i)) : std::nullopt) {
        report(i, std::move(*reason));
      }
    }
  }

  void check_types() {
    std::vector<TensorType> types;  // without tensors that have their own errors, which were already reported
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i].type_fits) {
        types.push_back({seen_[i].location, tensor(i).type});
      }
    }
    for (Violation& violation : check_same_types(op_, types)) {
      findings_.add(violation.location, std::move(violation.reason));
    }
  }

  // The tensor whose sizes the other tensors in the group must have. A tensor with a rank that the operator accepts is
  // preferred, then an output, because inputs are broadcast to its sizes.
  [[nodiscard]] std::size_t model_of(const facts::SameGroup& group) const {
    const auto worth = [&](std::size_t i) {
      return seen_[i].rank_fits * 2 + facts::is_output(op_.fields[field_of(i)].kind);
    };
    std::size_t best = seen_.size();
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (in_group(group, field_of(i)) && seen_[i].has_shape && (best == seen_.size() || worth(i) > worth(best))) {
        best = i;
      }
    }
    return best;
  }

  // Whether NumPy's rule would broadcast the tensor to the sizes. If so, the message explains how to do that in
  // DirectML.
  [[nodiscard]] bool may_repeat(std::size_t i, std::span<const std::int64_t> sizes) const {
    return facts::is_input(op_.fields[field_of(i)].kind) &&
           std::ranges::equal(sizes_of(i), sizes,
                              [](std::int64_t size, std::int64_t wanted) { return size == wanted || size == 1; });
  }

  void check_sizes() {
    for (const facts::SameGroup& group : op_.same) {
      const std::size_t model = group.what == facts::Same::sizes ? model_of(group) : seen_.size();
      if (model == seen_.size()) {
        continue;
      }
      const auto wanted = sizes_of(model);
      for (std::size_t i = 0; i < seen_.size(); ++i) {
        Seen& seen = seen_[i];
        if (!in_group(group, field_of(i)) || !seen.has_shape || seen.reports_size ||
            std::ranges::equal(sizes_of(i), wanted)) {
          continue;
        }
        if (!seen.rank_fits && tensor(i).rank != tensor(model).rank) {
          continue;  // the wrong rank was already reported, and a correct rank would change the sizes
        }
        seen.reports_size = true;
        report(i,
               format_text(
                   "sizes are {}; expected exactly {}, the sizes of {}{}", shape_text(tensor(i).sizes, tensor(i).rank),
                   shape_text(wanted.data(), tensor(model).rank), location_name(op_, seen_[model].location),
                   may_repeat(i, wanted) ? "; to repeat it, give those sizes and a stride of 0 where it is 1" : ""));
      }
    }
  }

  void check_ranks() {
    for (const facts::SameGroup& group : op_.same) {
      if (group.what != facts::Same::dimension_count) {
        continue;
      }
      std::size_t first = seen_.size();
      for (std::size_t i = 0; i < seen_.size(); ++i) {
        Seen& seen = seen_[i];
        if (!in_group(group, field_of(i)) || !seen.rank_fits || seen.reports_size || seen.rank_told) {
          continue;
        }
        if (first == seen_.size()) {
          first = i;
        } else if (tensor(i).rank != tensor(first).rank) {
          seen.rank_told = true;
          report(i, format_text("DimensionCount is {}; expected {}, the DimensionCount of {}", tensor(i).rank,
                                tensor(first).rank, location_name(op_, seen_[first].location)));
        }
      }
    }
  }

  const Described& described_;
  const facts::Operator& op_;
  facts::FeatureLevel level_;
  std::vector<Seen> seen_;
  Findings findings_;
};

}  // namespace

std::string location_name(const facts::Operator& op, Location location) {
  if (location.field == kNone) {
    return {};
  }
  const facts::Field& field = op.fields[location.field];
  std::string name(field.name);
  if (location.index != kNone) {
    name += format_text("[{}]", location.index);
  }
  const bool is_size = field.type == facts::FieldType::size_2d;
  switch (location.part) {
    case Part::whole:
      return name;
    case Part::sizes:
      return location.part_index == kNone ? name + ".Sizes" : name + format_text(".Sizes[{}]", location.part_index);
    case Part::dimension_count:
      return name + ".DimensionCount";
    case Part::data_type:
      return name + ".DataType";
    case Part::flags:
      return name + ".Flags";
    case Part::first:
      return name + (is_size ? ".Width" : ".Scale");
    case Part::second:
      return name + (is_size ? ".Height" : ".Bias");
  }
  return name;
}

std::string sentence(const facts::Operator& op, const Violation& violation) {
  const std::string where = location_name(op, violation.location);
  if (where.empty()) {
    return violation.reason;
  }
  const bool has_subject =
      std::ranges::none_of(std::array<std::string_view, 5>{"is ", "holds ", "does ", "divides ", "would "},
                           [&](std::string_view verb) { return violation.reason.starts_with(verb); });
  return format_text("{}{}{}", where, has_subject ? ": " : " ", violation.reason);
}

std::vector<std::size_t> positions_of(const Described& described) {
  std::vector<std::size_t> positions;
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  for (std::size_t field = 0; field < described.arguments.size(); ++field) {
    const facts::FieldKind kind = described.op->fields[field].kind;
    if (facts::is_attribute(kind)) {
      continue;
    }
    std::size_t& next = facts::is_output(kind) ? outputs : inputs;
    const std::size_t count = described.arguments[field].tensors.size();
    for (std::size_t i = 0; i < count; ++i) {
      positions.push_back(next++);
    }
    if (count == 0 && !facts::is_array(kind)) {
      ++next;  // the tensor is absent, and its position stays empty
    }
  }
  return positions;
}

std::optional<Violation> check_level(const facts::Operator& op, facts::FeatureLevel level) {
  if (op.introduced <= level) {
    return std::nullopt;
  }
  return Violation{.location = {},
                   .reason = format_text("is of feature level {}; this device offers {}",
                                         facts::level_name(op.introduced), facts::level_name(level))};
}

std::vector<Violation> check_same_types(const facts::Operator& op, std::span<const TensorType> tensors) {
  std::vector<Violation> violations;
  std::vector<bool> told(tensors.size());
  for (const facts::SameGroup& group : op.same) {
    const TensorType* first = nullptr;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const TensorType& tensor = tensors[i];
      if (group.what != facts::Same::datatype || !in_group(group, tensor.location.field)) {
        continue;
      }
      if (first == nullptr) {
        first = &tensor;
      } else if (tensor.type != first->type && !told[i]) {
        told[i] = true;
        violations.push_back(
            {tensor.location, format_text("type is {}; expected {}, the type of {}", type_text(tensor.type),
                                          type_text(first->type), location_name(op, first->location))});
      }
    }
  }
  return violations;
}

std::vector<Violation> check_operator(const Described& described, facts::FeatureLevel level) {
  Checker checker(described, level);
  checker.check_tensors();
  checker.check_rules();
  return checker.take();
}

std::vector<Violation> check_tensors(const Described& described, facts::FeatureLevel level) {
  Checker checker(described, level);
  checker.check_tensors();
  return checker.take();
}

std::vector<Violation> check_relations(const Described& described, facts::FeatureLevel level, bool sizes_broadcast) {
  Checker checker(described, level);
  checker.check_relations(sizes_broadcast);
  checker.check_rules();
  return checker.take();
}

}  // namespace anydml::schema
