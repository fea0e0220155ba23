// SPDX-License-Identifier: MIT
#include "capi/operator_info.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "capi/call.h"
#include "facts/extensions.h"
#include "ops/operators.h"
#include "schema/described.h"

namespace anydml {
namespace {

// The strings in the facts are literals, so a null character follows their views.

class OperatorList {
 public:
  OperatorList() {
    infos_.reserve(facts::operators().size() + std::size(facts::own::kOperators));
    for (const facts::Operator& op : facts::operators()) {
      add(op);
    }
    for (const facts::Operator& op : facts::own::kOperators) {
      add(op);
    }
  }

  [[nodiscard]] std::span<const anydml_operator_info> infos() const { return infos_; }

 private:
  void add(const facts::Operator& op) {
    const Family* family = find_family(op);
    auto& tensors = tensor_lists_.emplace_back();
    auto& attributes = attribute_lists_.emplace_back();
    std::uint32_t inputs = 0;
    std::uint32_t outputs = 0;
    for (std::size_t i = 0; i < op.fields.size(); ++i) {
      if (facts::is_input(op.fields[i].kind)) {
        ++inputs;
      } else if (facts::is_output(op.fields[i].kind)) {
        ++outputs;
      }
    }
    std::uint32_t seen_inputs = 0;
    std::uint32_t seen_outputs = 0;
    for (std::size_t i = 0; i < op.fields.size(); ++i) {
      const facts::Field& field = op.fields[i];
      if (facts::is_attribute(field.kind)) {
        add_attribute(op, i, attributes);
        continue;
      }
      const bool is_output = facts::is_output(field.kind);
      const std::size_t position = is_output ? inputs + seen_outputs++ : seen_inputs++;
      const auto admitted = facts::admitted(op, i, facts::kNewestLevel);
      tensors.push_back(&tensors_.emplace_back(anydml_tensor_info{
          .name = field.name.data(),
          .is_output = is_output ? 1 : 0,
          .is_optional =
              field.kind == facts::FieldKind::optional_input || field.kind == facts::FieldKind::optional_output ? 1 : 0,
          .is_array = facts::is_array(field.kind) ? 1 : 0,
          .directml_types = admitted ? admitted->types : 0U,
          .types = family != nullptr ? family->types(op, position) : 0U}));
    }
    const anydml_tensor_info* first = nullptr;  // the first input, or the output of an operator without inputs
    for (const anydml_tensor_info* tensor : tensors) {
      if (first == nullptr && (inputs == 0 || tensor->is_output == 0)) {
        first = tensor;
      }
    }
    infos_.push_back({.name = op.name.data(),
                      .directml_value = op.value,
                      .feature_level = facts::level_name(op.introduced).data(),
                      .formula = op.formula.data(),
                      .directml_types = first != nullptr ? first->directml_types : 0U,
                      .is_built = family != nullptr ? 1 : 0,
                      .input_count = family != nullptr ? inputs : 0U,
                      .types = family != nullptr ? family->types(op, 0) : 0U,
                      .output_count = outputs,
                      .tensor_count = tensors.size(),
                      .tensors = tensors.data(),
                      .attribute_count = attributes.size(),
                      .attributes = attributes.data(),
                      .keeps_elements = family != nullptr && keeps_elements(*family, op) ? 1 : 0});
  }

  void add_attribute(const facts::Operator& op, std::size_t i, std::vector<const anydml_attribute_info*>& to) {
    const facts::Field& field = op.fields[i];
    if (facts::is_count(op, i)) {  // the array implies its length
      return;
    }
    anydml_attribute_info info{};
    info.name = field.name.data();
    info.type = attribute_type(field);
    info.count = field.type == facts::FieldType::size_2d ? 2 : 0;
    info.is_optional = is_optional_attribute(op, i) ? 1 : 0;
    info.is_boolean = field.type == facts::FieldType::boolean ? 1 : 0;
    info.spelling = field.spelling.data();
    if (field.type == facts::FieldType::enumeration) {
      if (const facts::Enum* known = facts::find_enum(field.spelling); known != nullptr) {
        const auto& values = values_of(*known);
        info.is_flags = known->flags ? 1 : 0;
        info.enumerator_count = values.size();
        info.enumerators = values.data();
      }
    }
    if (field.type == facts::FieldType::scale_bias) {
      for (const char* name : {"Scale", "Bias"}) {
        info.name = name;
        to.push_back(&attributes_.emplace_back(info));
      }
    } else {
      to.push_back(&attributes_.emplace_back(info));
    }
  }

  const std::vector<const anydml_enumerator*>& values_of(const facts::Enum& known) {
    auto& list = enumerations_[&known];
    if (list.empty()) {
      for (const facts::EnumValue& value : known.values) {
        list.push_back(&enumerators_.emplace_back(
            anydml_enumerator{.name = value.name.data() + known.prefix.size(), .value = value.value}));
      }
    }
    return list;
  }

  // A deque's elements never move.
  std::vector<anydml_operator_info> infos_;
  std::deque<std::vector<const anydml_tensor_info*>> tensor_lists_;
  std::deque<std::vector<const anydml_attribute_info*>> attribute_lists_;
  std::deque<anydml_tensor_info> tensors_;
  std::deque<anydml_attribute_info> attributes_;
  std::deque<anydml_enumerator> enumerators_;
  std::map<const facts::Enum*, std::vector<const anydml_enumerator*>> enumerations_;
};

// Created on the first call, without a lock: if several threads create it at once, the first to finish wins.
// Never destroyed.
const OperatorList& operator_list() {
  static constinit std::atomic<const OperatorList*> process = nullptr;
  const OperatorList* known = process.load(std::memory_order_acquire);
  if (known == nullptr) {
    auto mine = std::make_unique<OperatorList>();
    if (process.compare_exchange_strong(known, mine.get(), std::memory_order_acq_rel)) {
      known = mine.release();
    }
  }
  return *known;
}

}  // namespace

std::span<const anydml_operator_info> operator_infos() {
  return operator_list().infos().first(facts::operators().size());
}

const anydml_operator_info& operator_info(const facts::Operator& op) {
  const auto& own = facts::own::kOperators;
  const auto* const found = std::ranges::find(own, op.value, &facts::Operator::value);
  const auto infos = operator_list().infos();
  return found == std::end(own) ? infos[static_cast<std::size_t>(&op - facts::operators().data())]
                                : infos[facts::operators().size() + static_cast<std::size_t>(found - own)];
}

}  // namespace anydml
