// SPDX-License-Identifier: MIT
#include "schema/check.h"

#include <algorithm>
#include <bit>
#include <utility>

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

// The level from which the operator's field takes the type, for messages; empty when none after `level` does.
std::string taken_from(const facts::Operator& op, std::size_t field, std::uint32_t type, facts::FeatureLevel level) {
  const facts::Support* first = nullptr;
  for (const facts::Support& row : op.support) {
    if (row.field == field && row.level > level && type < 16 && (row.types >> type & 1) != 0 &&
        (first == nullptr || row.level < first->level)) {
      first = &row;
    }
  }
  return first == nullptr ? std::string()
                          : format_text(" (it takes this one from {})", facts::level_name(first->level));
}

// The documents have it among the sentences of an operator that an array must not be empty.
bool may_be_empty(const facts::Operator& op, const facts::Field& array) {
  const std::string_view count = op.fields[static_cast<std::size_t>(array.count_field)].name;
  return std::ranges::find(op.constraints, format_text("value: {} > 0", count)) == op.constraints.end();
}

// What is known of a given tensor, and which of its faults were told.
struct Seen {
  Place place;
  bool type_fits = false;  // the operator takes it
  bool rank_fits = false;
  bool has_shape = false;     // its sizes are there, and none is 0
  bool is_countable = false;  // and its reach fits
  bool size_told = false;
  bool rank_told = false;
  std::int64_t sizes[kMaxRank] = {};
};

class Checker {
 public:
  Checker(const facts::Operator& op, facts::FeatureLevel level, std::span<const FlatTensor> tensors)
      : op_(op), level_(level), tensors_(tensors), seen_(tensors.size()) {}

  std::vector<Violation> run() {
    if (auto newer = check_level(op_, level_)) {
      violations_.push_back(std::move(*newer));
    }
    std::size_t next = 0;
    for (std::size_t field = 0; field < op_.fields.size(); ++field) {
      const std::size_t first = next;
      for (; next < tensors_.size() && tensors_[next].field == field; ++next) {
        seen_[next].place = {field, facts::is_array(op_.fields[field].kind) ? next - first : kNone};
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
    return std::move(violations_);
  }

 private:
  void report(std::size_t tensor, std::string reason) {
    violations_.push_back({seen_[tensor].place, std::move(reason)});
  }

  [[nodiscard]] std::span<const std::int64_t> sizes_of(std::size_t tensor) const {
    return std::span(seen_[tensor].sizes, tensors_[tensor].rank);
  }

  void check_absent(std::size_t index) {
    const facts::Field& field = op_.fields[index];
    const Place place{.field = index};
    if (facts::is_attribute(field.kind)) {
      return;
    }
    if (facts::is_array(field.kind)) {
      if (!may_be_empty(op_, field)) {
        violations_.push_back({place, "holds no tensor; expected 1 or more"});
      }
    } else if (field.kind == facts::FieldKind::input || field.kind == facts::FieldKind::output) {
      violations_.push_back({place, "the tensor is null; expected a DML_TENSOR_DESC, since it is not optional"});
    } else if (level_ < field.optional_since) {
      violations_.push_back(
          {place, format_text("the tensor is null; expected a DML_TENSOR_DESC, since it is optional only "
                              "from feature level {}",
                              facts::level_name(field.optional_since))});
    }
  }

  void check_alone(std::size_t i) {
    const FlatTensor& tensor = tensors_[i];
    if (tensor.tensor_type != kBufferTensor) {
      return report(i, format_text("Type is {}; expected DML_TENSOR_TYPE_BUFFER (1)", tensor.tensor_type));
    }
    if (!tensor.has_desc) {
      return report(i, "Desc is null; expected a DML_BUFFER_TENSOR_DESC");
    }
    const auto admitted = facts::admitted(op_, tensor.field, level_);
    check_type(i, admitted);
    check_flags(i);
    check_rank(i, admitted);
    check_shape(i);
    check_alignment(i);
  }

  [[nodiscard]] std::string at_level() const { return format_text(" at feature level {}", facts::level_name(level_)); }

  void check_type(std::size_t i, const std::optional<facts::Admitted>& admitted) {
    const std::uint32_t type = tensors_[i].type;
    const TypeSet types = admitted ? admitted->types : 0;
    Seen& seen = seen_[i];
    seen.type_fits = types == 0 ? element_bits(type) != 0 : type < 16 && (types >> type & 1) != 0;
    if (seen.type_fits) {
      return;
    }
    if (types == 0) {  // the documents say nothing, but this is no type at all
      return report(i, format_text("DataType is {}; expected one of DirectML's, 1 (FLOAT32) to 13 (INT4)", type));
    }
    report(i, format_text("DataType is {}; expected {}{}{}", type_text(type), type_names(types), at_level(),
                          taken_from(op_, tensors_[i].field, type, level_)));
  }

  void check_flags(std::size_t i) {
    const std::uint32_t flags = tensors_[i].flags;
    if ((flags & ~kOwnedByDml) != 0) {
      report(i, format_text("Flags is {:#x}; expected NONE (0) or OWNED_BY_DML (1)", flags));
    }
    if ((flags & kOwnedByDml) != 0 && facts::is_output(op_.fields[tensors_[i].field].kind)) {
      report(i, "Flags is OWNED_BY_DML; expected NONE, since only inputs can be owned");
    }
  }

  void check_rank(std::size_t i, const std::optional<facts::Admitted>& admitted) {
    const std::uint32_t rank = tensors_[i].rank;
    const std::uint32_t least = admitted ? admitted->min_rank : 1;
    const std::uint32_t most = admitted ? admitted->max_rank : kMaxRank;
    seen_[i].rank_fits = rank >= least && rank <= most;
    if (!seen_[i].rank_fits) {
      const std::string where = admitted ? at_level() : std::string();
      report(i, least == most ? format_text("DimensionCount is {}; expected {}{}", rank, least, where)
                              : format_text("DimensionCount is {}; expected {} to {}{}", rank, least, most, where));
    }
  }

  void check_shape(std::size_t i) {
    const FlatTensor& tensor = tensors_[i];
    Seen& seen = seen_[i];
    if (tensor.rank == 0 || tensor.rank > kMaxRank) {
      return;  // what Sizes points to may hold fewer
    }
    if (tensor.sizes == nullptr) {
      return report(i, format_text("Sizes is null; expected {} sizes", tensor.rank));
    }
    seen.has_shape = true;
    for (std::uint32_t k = 0; k < tensor.rank; ++k) {
      seen.sizes[k] = tensor.sizes[k];
      if (tensor.sizes[k] == 0) {
        seen.has_shape = false;
        report(i, format_text("Sizes[{}] is 0; expected 1 or more", k));
      }
    }
    if (!seen.has_shape || element_bits(tensor.type) == 0) {
      return;
    }
    const auto least = implied_bytes(tensor.type, std::span(tensor.sizes, tensor.rank), tensor.strides);
    if (!least || *least > kMaxTensorBytes) {
      return report(i, format_text("Sizes {} {}reach further than {} bytes, the most a tensor may have",
                                   shape_text(seen.sizes, tensor.rank), strides_text(tensor), kMaxTensorBytes));
    }
    seen.is_countable = true;
    if (tensor.total_bytes > kMaxTensorBytes) {
      return report(
          i, format_text("TotalTensorSizeInBytes is {}; expected {} at most", tensor.total_bytes, kMaxTensorBytes));
    }
    if (tensor.total_bytes < *least || tensor.total_bytes % 4 != 0) {
      report(i, format_text("TotalTensorSizeInBytes is {}; expected {} or more, which the elements reach, and a "
                            "multiple of 4",
                            tensor.total_bytes, *least));
    }
  }

  static std::string strides_text(const FlatTensor& tensor) {
    if (tensor.strides == nullptr) {
      return {};
    }
    std::int64_t strides[kMaxRank] = {};
    std::copy_n(tensor.strides, tensor.rank, strides);
    return format_text("with Strides {} ", shape_text(strides, tensor.rank));
  }

  void check_alignment(std::size_t i) {
    const std::uint32_t alignment = tensors_[i].alignment;
    const std::uint32_t bits = element_bits(tensors_[i].type);
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
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (auto reason = seen_[i].is_countable ? too_many_elements(sizes_of(i)) : std::nullopt) {
        report(i, std::move(*reason));
      }
    }
  }

  void check_types() {
    std::vector<TensorType> types;  // those that are wrong by themselves would only be so again
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (seen_[i].type_fits) {
        types.push_back({seen_[i].place, tensors_[i].type});
      }
    }
    for (Violation& violation : check_same_types(op_, types)) {
      violations_.push_back(std::move(violation));
    }
  }

  // The tensor whose sizes the others of the group must have: an output, which broadcasting starts from, if there is
  // one; rather one whose rank the operator takes.
  [[nodiscard]] std::size_t model_of(const facts::SameGroup& group) const {
    const auto worth = [&](std::size_t i) {
      return seen_[i].rank_fits * 2 + facts::is_output(op_.fields[tensors_[i].field].kind);
    };
    std::size_t best = tensors_.size();
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (in_group(group, tensors_[i].field) && seen_[i].has_shape &&
          (best == tensors_.size() || worth(i) > worth(best))) {
        best = i;
      }
    }
    return best;
  }

  // Whether the tensor can be repeated to the sizes, for those who expect NumPy's rule.
  [[nodiscard]] bool may_repeat(std::size_t i, std::span<const std::int64_t> sizes) const {
    return facts::is_input(op_.fields[tensors_[i].field].kind) &&
           std::ranges::equal(sizes_of(i), sizes,
                              [](std::int64_t size, std::int64_t wanted) { return size == wanted || size == 1; });
  }

  void check_sizes() {
    for (const facts::SameGroup& group : op_.same) {
      const std::size_t model = group.what == facts::Same::sizes ? model_of(group) : tensors_.size();
      if (model == tensors_.size()) {
        continue;
      }
      const auto wanted = sizes_of(model);
      for (std::size_t i = 0; i < tensors_.size(); ++i) {
        Seen& seen = seen_[i];
        if (!in_group(group, tensors_[i].field) || !seen.has_shape || seen.size_told ||
            std::ranges::equal(sizes_of(i), wanted)) {
          continue;
        }
        if (!seen.rank_fits && tensors_[i].rank != tensors_[model].rank) {
          continue;  // the rank was told, and with another the sizes are others
        }
        seen.size_told = true;
        report(i, format_text(
                      "sizes are {}; expected exactly {}, the sizes of {}{}", shape_text(seen.sizes, tensors_[i].rank),
                      shape_text(wanted.data(), tensors_[model].rank), place_name(op_, seen_[model].place),
                      may_repeat(i, wanted) ? "; to repeat it, give those sizes and a stride of 0 where it is 1" : ""));
      }
    }
  }

  void check_ranks() {
    for (const facts::SameGroup& group : op_.same) {
      if (group.what != facts::Same::dimension_count) {
        continue;
      }
      std::size_t first = tensors_.size();
      for (std::size_t i = 0; i < tensors_.size(); ++i) {
        Seen& seen = seen_[i];
        if (!in_group(group, tensors_[i].field) || !seen.rank_fits || seen.size_told || seen.rank_told) {
          continue;
        }
        if (first == tensors_.size()) {
          first = i;
        } else if (tensors_[i].rank != tensors_[first].rank) {
          seen.rank_told = true;
          report(i, format_text("DimensionCount is {}; expected {}, the DimensionCount of {}", tensors_[i].rank,
                                tensors_[first].rank, place_name(op_, seen_[first].place)));
        }
      }
    }
  }

  const facts::Operator& op_;
  facts::FeatureLevel level_;
  std::span<const FlatTensor> tensors_;
  std::vector<Seen> seen_;
  std::vector<Violation> violations_;
};

}  // namespace

std::string place_name(const facts::Operator& op, Place place) {
  if (place.field == kNone) {
    return {};
  }
  const std::string_view field = op.fields[place.field].name;
  return place.index == kNone ? std::string(field) : format_text("{}[{}]", field, place.index);
}

std::vector<std::size_t> positions_of(const facts::Operator& op, std::span<const FlatTensor> tensors) {
  std::vector<std::size_t> positions;
  positions.reserve(tensors.size());
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  for (std::size_t field = 0; field < op.fields.size(); ++field) {
    const facts::FieldKind kind = op.fields[field].kind;
    if (facts::is_attribute(kind)) {
      continue;
    }
    std::size_t& next = facts::is_output(kind) ? outputs : inputs;
    const std::size_t before = next;
    while (positions.size() < tensors.size() && tensors[positions.size()].field == field) {
      positions.push_back(next++);
    }
    if (next == before && !facts::is_array(kind)) {
      ++next;  // it is absent, and its place stays empty
    }
  }
  return positions;
}

std::optional<Violation> check_level(const facts::Operator& op, facts::FeatureLevel level) {
  if (op.introduced <= level) {
    return std::nullopt;
  }
  return Violation{.place = {},
                   .reason = format_text("is of feature level {}; this device offers {}",
                                         facts::level_name(op.introduced), facts::level_name(level))};
}

std::vector<Violation> check_same_types(const facts::Operator& op, std::span<const TensorType> tensors) {
  std::vector<Violation> violations;
  for (const facts::SameGroup& group : op.same) {
    const TensorType* first = nullptr;
    for (const TensorType& tensor : tensors) {
      if (group.what != facts::Same::datatype || !in_group(group, tensor.place.field)) {
        continue;
      }
      if (first == nullptr) {
        first = &tensor;
      } else if (tensor.type != first->type &&
                 std::ranges::find(violations, tensor.place, &Violation::place) == violations.end()) {
        violations.push_back(
            {tensor.place, format_text("type is {}; expected {}, the type of {}", type_text(tensor.type),
                                       type_text(first->type), place_name(op, first->place))});
      }
    }
  }
  return violations;
}

std::vector<Violation> check_operator(const facts::Operator& op, facts::FeatureLevel level,
                                      std::span<const FlatTensor> tensors) {
  return Checker(op, level, tensors).run();
}

}  // namespace anydml::schema
