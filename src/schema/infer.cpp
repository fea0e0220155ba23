// SPDX-License-Identifier: MIT
#include "schema/infer.h"

#include <algorithm>
#include <iterator>

#include "base/shape.h"
#include "schema/solver.h"
#include "schema/tensor_rules.h"
#include "schema/words.h"
#include "text/format.h"

namespace anydml::schema {
namespace {

// The types that a caller can choose from.
std::string open_type_text(const facts::Operator& op, std::size_t field, facts::FeatureLevel level) {
  const auto admitted = facts::admitted(op, field, level);
  return format_text("is not determined by the inputs and attributes; DirectML accepts {}",
                     admitted && admitted->types != 0 ? type_names(admitted->types) : "any type");
}

// Finds tensors whose rank is too large. They have no sizes to read.
std::vector<Violation> impossible_ranks(const Described& described) {
  std::vector<Violation> found;
  for (std::size_t field = 0; field < described.arguments.size(); ++field) {
    const auto& tensors = described.arguments[field].tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].rank > kMaxRank) {
        found.push_back(
            {{.field = field, .index = facts::is_array(described.op->fields[field].kind) ? i : kNone},
             format_text("rank is {}; expected 0 to {}", static_cast<std::int32_t>(tensors[i].rank), kMaxRank)});
      }
    }
  }
  return found;
}

class Report {
 public:
  Report(const Described& described, facts::FeatureLevel level, const std::vector<Violation>& faults)
      : described_(described), level_(level), faults_(faults) {}

  void run(Inference& result) {
    std::ranges::copy_if(faults_, std::back_inserter(found_), [&](const Violation& fault) {
      return facts::is_input(described_.op->fields[fault.location.field].kind);
    });
    for (std::size_t field = 0; field < described_.arguments.size(); ++field) {
      const facts::FieldKind kind = described_.op->fields[field].kind;
      const auto& tensors = described_.arguments[field].tensors;
      for (std::size_t i = 0; facts::is_output(kind) && i < tensors.size(); ++i) {
        add({.field = field, .index = facts::is_array(kind) ? i : kNone}, tensors[i]);
      }
    }
    result.unknown = std::move(unknown_);
    result.faults = std::move(found_);
  }

 private:
  void add(Location location, const GivenTensor& tensor) {
    if (tensor.type == 0) {
      location.part = Part::data_type;
      unknown_.push_back({location, open_type_text(*described_.op, location.field, level_)});
    }
    const auto count = std::count(tensor.sizes, tensor.sizes + (tensor.has_sizes ? tensor.rank : 0), kUnknownSize);
    location.part = Part::sizes;
    if (!tensor.has_sizes || (count > 1 && count == tensor.rank)) {
      return add_size(location);
    }
    for (std::uint32_t i = 0; i < tensor.rank; ++i) {
      if (tensor.sizes[i] == kUnknownSize) {
        location.part_index = i;
        add_size(location);
      }
    }
  }

  // If a rule explains why the size could not be determined, its message is more specific than "not determined".
  void add_size(Location location) {
    const auto fault = std::ranges::find_if(faults_, [&](const Violation& known) {
      return known.location.field == location.field && known.location.index == location.index &&
             known.location.part == Part::sizes &&
             (location.part_index == kNone || known.location.part_index == location.part_index);
    });
    if (fault == faults_.end()) {
      unknown_.push_back({location, "is not determined by the inputs and attributes"});
    } else if (std::ranges::find(found_, fault->location, &Violation::location) == found_.end()) {
      found_.push_back(*fault);
    }
  }

  const Described& described_;
  facts::FeatureLevel level_;
  const std::vector<Violation>& faults_;
  std::vector<Violation> unknown_;
  std::vector<Violation> found_;
};

}  // namespace

GivenTensor unknown_tensor() {
  GivenTensor tensor;
  tensor.has_sizes = false;
  return tensor;
}

bool is_unknown(const GivenTensor& tensor) {
  return tensor.type == 0 || !tensor.has_sizes ||
         std::find(tensor.sizes, tensor.sizes + std::min(tensor.rank, kMaxRank), kUnknownSize) !=
             tensor.sizes + std::min(tensor.rank, kMaxRank);
}

Inference infer_outputs(Described partial, facts::FeatureLevel level, SizeRule sizes) {
  for (std::size_t field = 0; field < partial.arguments.size(); ++field) {
    Argument& argument = partial.arguments[field];
    if (partial.op->fields[field].kind == facts::FieldKind::output && argument.tensors.empty()) {
      argument.tensors.push_back(unknown_tensor());
    }
    argument.present = argument.present || !argument.tensors.empty();
  }
  Inference result{std::move(partial), {}, {}};
  result.faults = impossible_ranks(result.described);
  if (!result.faults.empty()) {
    return result;
  }
  Solver solver(result.described, level, sizes);
  solver.run(Solver::Stage::everything);
  Report(result.described, level, solver.faults()).run(result);
  for (std::size_t field = 0; field < result.described.arguments.size(); ++field) {
    for (GivenTensor& tensor : result.described.arguments[field].tensors) {
      if (facts::is_output(result.described.op->fields[field].kind) && !is_unknown(tensor)) {
        tensor.total_bytes = implied_bytes(tensor.type, std::span(tensor.sizes, tensor.rank),
                                           tensor.has_strides ? tensor.strides : nullptr)
                                 .value_or(0);
      }
    }
  }
  return result;
}

}  // namespace anydml::schema
