// SPDX-License-Identifier: MIT
// Rules that the expressions in data/facts/rules.txt cannot express, because they combine parts of several shapes.
#include <algorithm>
#include <optional>

#include "base/shape.h"
#include "schema/infer.h"
#include "schema/rules.h"
#include "text/format.h"

namespace anydml::schema {
namespace {

using Sizes = std::vector<std::int64_t>;

// Looks up, by name, the fields that a function reads. A field is returned only if it is present and has no errors.
class Fields {
 public:
  Fields(const Described& described, const Findings& findings) : described_(described), findings_(findings) {}

  [[nodiscard]] std::size_t find(std::string_view name) const {
    const auto& fields = described_.op->fields;
    return static_cast<std::size_t>(std::ranges::find(fields, name, &facts::Field::name) - fields.begin());
  }

  [[nodiscard]] std::optional<Sizes> sizes(std::string_view name) const {
    const Argument* argument = right(find(name));
    if (argument == nullptr || argument->tensors.empty()) {
      return std::nullopt;
    }
    const GivenTensor& tensor = argument->tensors.front();
    if (!tensor.has_desc || !tensor.has_sizes || tensor.rank > kMaxRank) {
      return std::nullopt;
    }
    Sizes sizes(tensor.sizes, tensor.sizes + tensor.rank);
    return std::ranges::find(sizes, kUnknownSize) == sizes.end() ? std::optional(std::move(sizes)) : std::nullopt;
  }

  // A number up to `maximum`. Other rules report larger numbers.
  [[nodiscard]] std::optional<std::size_t> number(std::string_view name, std::size_t maximum) const {
    const Argument* argument = right(find(name));
    if (argument == nullptr || argument->numbers.empty()) {
      return std::nullopt;
    }
    const auto found = argument->numbers.front().as<u64>();
    return found <= maximum ? std::optional(static_cast<std::size_t>(found)) : std::nullopt;
  }

 private:
  [[nodiscard]] const Argument* right(std::size_t field) const {
    return field < described_.arguments.size() && described_.arguments[field].present && !findings_.is_wrong(field)
               ? &described_.arguments[field]
               : nullptr;
  }

  const Described& described_;
  const Findings& findings_;
};

Sizes last(const Sizes& sizes, std::size_t count) {
  return {sizes.end() - static_cast<std::ptrdiff_t>(count), sizes.end()};
}

void append(Sizes& sizes, const Sizes& more, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    sizes.push_back(more[i]);
  }
}

std::string text_of(const Sizes& sizes) { return shape_text(sizes.data(), static_cast<std::uint32_t>(sizes.size())); }

// Whether the sizes are equal when aligned on the right: the extra leading sizes of the longer one must be 1.
bool same_but_for_leading_ones(const Sizes& a, const Sizes& b) {
  const Sizes& longer = a.size() > b.size() ? a : b;
  const Sizes& shorter = a.size() > b.size() ? b : a;
  const auto surplus = static_cast<std::ptrdiff_t>(longer.size() - shorter.size());
  return std::all_of(longer.begin(), longer.begin() + surplus, [](std::int64_t size) { return size == 1; }) &&
         std::equal(shorter.begin(), shorter.end(), longer.begin() + surplus);
}

void expect_sizes(std::size_t field, const Sizes& given, Sizes wanted, std::string_view why, Findings& findings) {
  if (same_but_for_leading_ones(given, wanted)) {
    return;
  }
  while (wanted.size() > given.size() && wanted.front() == 1) {
    wanted.erase(wanted.begin());
  }
  while (wanted.size() < given.size()) {
    wanted.insert(wanted.begin(), 1);
  }
  findings.violations.push_back(
      {{.field = field}, format_text("sizes are {}; expected {}, {}", text_of(given), text_of(wanted), why)});
}

std::optional<SizesByFunction> gather_shape(const Described& described, const Findings& findings) {
  const Fields fields(described, findings);
  const auto input = fields.sizes("InputTensor");
  const auto indices = fields.sizes("IndicesTensor");
  if (!input || !indices || input->empty()) {
    return std::nullopt;
  }
  const auto axis = fields.number("Axis", input->size() - 1);
  const auto dimensions = fields.number("IndexDimensions", indices->size());
  if (!axis || !dimensions) {
    return std::nullopt;
  }
  Sizes wanted;
  append(wanted, *input, 0, *axis);
  append(wanted, last(*indices, *dimensions), 0, *dimensions);
  append(wanted, *input, *axis + 1, input->size());
  return SizesByFunction{
      fields.find("OutputTensor"), std::move(wanted),
      format_text("the sizes of InputTensor with the last {} sizes of IndicesTensor in place of dimension {}, its Axis",
                  *dimensions, *axis),
      std::nullopt};
}

// For GATHER_ND, GATHER_ND1 and SCATTER_ND. `slices` names the tensor that contains the slices: the output or the
// updates.
std::optional<SizesByFunction> nd_shape(const Described& described, std::string_view slices, const Findings& findings) {
  const Fields fields(described, findings);
  const auto all_input = fields.sizes("InputTensor");
  const auto all_indices = fields.sizes("IndicesTensor");
  if (!all_input || !all_indices) {
    return std::nullopt;
  }
  const auto input_count = fields.number("InputDimensionCount", all_input->size());
  const auto indices_count = fields.number("IndicesDimensionCount", all_indices->size());
  if (!input_count || !indices_count || *input_count == 0 || *indices_count == 0) {
    return std::nullopt;
  }
  const bool has_batch = fields.find("BatchDimensionCount") < described.op->fields.size();
  const auto batch = has_batch ? fields.number("BatchDimensionCount", std::min(*input_count, *indices_count) - 1)
                               : std::optional<std::size_t>(0);
  const Sizes input = last(*all_input, *input_count);
  const Sizes indices = last(*all_indices, *indices_count);
  if (!batch || indices.empty() || indices.back() < 0 || indices.back() > static_cast<std::int64_t>(input.size())) {
    return std::nullopt;  // another rule reports this
  }
  const auto coordinates = static_cast<std::size_t>(indices.back());
  SizesByFunction result{fields.find(slices), Sizes(indices.begin(), indices.end() - 1), {}, std::nullopt};
  if (coordinates + *batch > input.size()) {
    result.fault =
        Violation{{.field = fields.find("IndicesTensor"), .part = Part::sizes, .part_index = all_indices->size() - 1},
                  format_text("is {}; expected at most InputDimensionCount - BatchDimensionCount, which is {}",
                              coordinates, input.size() - *batch)};
    return result;
  }
  append(result.sizes, input, *batch + coordinates, input.size());
  result.why = format_text(
      "the sizes of IndicesTensor except its last, then those of InputTensor that the {} coordinates do not index",
      coordinates);
  return result;
}

}  // namespace

std::optional<SizesByFunction> sizes_by_function(facts::RuleFunction function, const Described& described,
                                                 const Findings& findings) {
  switch (function) {
    case facts::RuleFunction::gather_shape:
      return gather_shape(described, findings);
    case facts::RuleFunction::gather_nd_shape:
      return nd_shape(described, "OutputTensor", findings);
    case facts::RuleFunction::scatter_nd_shape:
      return nd_shape(described, "UpdatesTensor", findings);
    case facts::RuleFunction::fused_activation:  // check_fields checks this for every nested operator
    case facts::RuleFunction::none:
      break;
  }
  return std::nullopt;
}

void check_by_function(facts::RuleFunction function, const Described& described, Findings& findings) {
  auto wanted = sizes_by_function(function, described, findings);
  const auto given =
      wanted ? Fields(described, findings).sizes(described.op->fields[wanted->field].name) : std::nullopt;
  if (!given) {
    return;
  }
  if (wanted->fault) {
    findings.violations.push_back(std::move(*wanted->fault));
    return;
  }
  expect_sizes(wanted->field, *given, std::move(wanted->sizes), wanted->why, findings);
}

}  // namespace anydml::schema
