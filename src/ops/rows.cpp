// SPDX-License-Identifier: MIT
#include "ops/rows.h"

#include <algorithm>
#include <array>

#include "facts/facts_tables.h"

namespace anydml {
namespace {

consteval const facts::Operator* facts_of(std::string_view name) {
  for (const facts::Operator& op : facts::tables::kOperators) {
    if (op.name == name) {
      return &op;
    }
  }
  throw "elementwise.def names an operator that DirectML does not have";
}

template <template <class> class ScalarOp>
consteval std::uint8_t inputs_of() {
  std::size_t inputs = 0;
#define ANYDML_COUNT(T, name, value) inputs = std::max(inputs, scalar_inputs<ScalarOp<T>, T>());
  ANYDML_FOR_EACH_TYPE(ANYDML_COUNT)
#undef ANYDML_COUNT
  return static_cast<std::uint8_t>(inputs);
}

consteval std::array<std::string_view, kMaxInputs + 1> tensors_of(const facts::Operator& op) {
  std::array<std::string_view, kMaxInputs + 1> names;
  names.fill("tensor");  // one too many is spoken of too
  std::size_t position = 0;
  for (const auto wanted : {facts::is_input, facts::is_output}) {
    for (const facts::Field& field : op.fields) {
      if (wanted(field.kind)) {
        names.at(position++) = field.name;
      }
    }
  }
  return names;
}

constexpr std::array<Row, kRowCount> kRows = {{
#define ANYDML_ROW(op, Scalar, ulp) \
  {RowId::op, #op, facts_of(#op), scalar_types<Scalar>(), inputs_of<Scalar>(), ulp, tensors_of(*facts_of(#op))},
#define ANYDML_INTERNAL_ROW(op, Scalar, ulp) \
  {RowId::op, #op, nullptr, scalar_types<Scalar>(), inputs_of<Scalar>(), ulp, {}},
#include "ops/elementwise/elementwise.def"
}};

// Whether the facts want the sizes of all tensors the same: plans go by NumPy's rule, so DirectML's must come from
// them.
consteval bool wants_same_sizes(const facts::Operator& op) {
  std::uint32_t tensors = 0;
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    tensors |= facts::is_attribute(op.fields[i].kind) ? 0U : 1U << i;
  }
  return std::ranges::any_of(op.same, [tensors](const facts::SameGroup& group) {
    return group.what == facts::Same::sizes && group.fields == tensors;
  });
}

// A row must define a scalar for each type the facts promise, and take as many tensors as the facts list.
template <template <class> class ScalarOp>
consteval bool keeps_promises(const facts::Operator& op) {
  const auto inputs = std::ranges::count_if(op.fields, facts::is_input, &facts::Field::kind);
  const auto outputs = std::ranges::count_if(op.fields, facts::is_output, &facts::Field::kind);
  const auto attributes = std::ranges::count_if(op.fields, facts::is_attribute, &facts::Field::kind);
  const bool has_types = std::ranges::all_of(
      op.support, [](const facts::Support& support) { return (support.types & ~scalar_types<ScalarOp>()) == 0; });
  return has_types && wants_same_sizes(op) && inputs == inputs_of<ScalarOp>() && outputs == 1 &&
         attributes <= static_cast<std::ptrdiff_t>(Attributes::kMost);
}
#define ANYDML_ROW(op, Scalar, ulp) static_assert(keeps_promises<Scalar>(*facts_of(#op)));
#define ANYDML_INTERNAL_ROW(op, Scalar, ulp)
#include "ops/elementwise/elementwise.def"

}  // namespace

std::span<const Row> rows() { return kRows; }

const Row& row(RowId id) { return kRows[static_cast<std::size_t>(id)]; }

const Row* find_row(const facts::Operator& op) {
  const auto found = std::ranges::find(kRows, &op, &Row::facts);
  return found == kRows.end() ? nullptr : &*found;
}

}  // namespace anydml
