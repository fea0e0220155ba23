// SPDX-License-Identifier: MIT
// Prints the facts about DirectML's operators: what each accepts at each level, and whether it is implemented here.
#include <algorithm>
#include <cstdio>

#include "base/ascii.h"
#include "commands.h"
#include "cursor.h"
#include "json_writer.h"
#include "operator_reader.h"
#include "ops/operators.h"
#include "table.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

// Type families by width: "FLOAT16-32 INT8-64", or "UINT8/32" if widths in between are missing.
std::string type_families(std::uint32_t types) {
  struct FamilyRows {
    std::string_view name;
    std::vector<std::pair<int, int>> widths;  // width, DML_TENSOR_DATA_TYPE
  };
  const FamilyRows families[] = {{"FLOAT", {{16, 2}, {32, 1}, {64, 9}}},
                                 {"INT", {{4, 13}, {8, 8}, {16, 7}, {32, 6}, {64, 11}}},
                                 {"UINT", {{4, 12}, {8, 5}, {16, 4}, {32, 3}, {64, 10}}}};
  std::string text;
  for (const FamilyRows& family : families) {
    std::vector<std::size_t> present;
    for (std::size_t i = 0; i < family.widths.size(); ++i) {
      if ((types >> family.widths[i].second & 1) != 0) {
        present.push_back(i);
      }
    }
    if (present.empty()) {
      continue;
    }
    text += text.empty() ? "" : " ";
    text += family.name;
    const bool gapless = present.back() - present.front() + 1 == present.size();
    if (gapless && present.size() > 1) {
      text += format_text("{}-{}", family.widths[present.front()].first, family.widths[present.back()].first);
    } else {
      for (std::size_t i = 0; i < present.size(); ++i) {
        text += format_text("{}{}", i == 0 ? "" : "/", family.widths[present[i]].first);
      }
    }
  }
  return text.empty() ? "not documented" : text;
}

std::string rank_text(std::uint8_t minimum, std::uint8_t maximum) {
  return minimum == maximum ? format_text("{}", minimum) : format_text("{}-{}", minimum, maximum);
}

std::string_view in_place_text(facts::InPlace in_place) {
  switch (in_place) {
    case facts::InPlace::none:
      return "no";
    case facts::InPlace::first_input:
      return "over InputTensor";
    case facts::InPlace::one_input:
      return "over one input";
    case facts::InPlace::any_input:
      return "over any input";
    case facts::InPlace::each_output_but_training_step:
      break;
  }
  return "each output over any input but TrainingStepTensor";
}

std::string_view kind_text(facts::FieldKind kind) {
  switch (kind) {
    case facts::FieldKind::input:
      return "input";
    case facts::FieldKind::optional_input:
      return "optional input";
    case facts::FieldKind::output:
      return "output";
    case facts::FieldKind::optional_output:
      return "optional output";
    case facts::FieldKind::input_array:
      return "array of inputs";
    case facts::FieldKind::output_array:
      return "array of outputs";
    case facts::FieldKind::attribute:
      return "attribute";
    case facts::FieldKind::optional_attribute:
      break;
  }
  return "optional attribute";
}

bool is_built(const facts::Operator& op) { return find_family(op) != nullptr; }

std::vector<std::string> type_list(std::uint32_t types) {
  std::vector<std::string> names;
  const facts::Enum& all = *facts::find_enum("DML_TENSOR_DATA_TYPE");
  for (const facts::EnumValue& type : all.values) {
    if (type.value != 0 && (types >> type.value & 1) != 0) {
      names.emplace_back(type.name.substr(all.prefix.size()));
    }
  }
  return names;
}

// Other names for an operator or a struct in the header.
std::vector<std::string> aliases_of(std::span<const facts::Alias> aliases, std::string_view target) {
  std::vector<std::string> names;
  for (const facts::Alias& alias : aliases) {
    if (alias.target == target) {
      names.emplace_back(alias.name);
    }
  }
  return names;
}

void write_operator(JsonWriter& json, const facts::Operator& op) {
  json.begin_object().key("name").text(op.name).key("number").number(op.value).key("built").boolean(is_built(op));
  json.key("featureLevel").text(facts::level_name(op.introduced)).key("inPlace").text(in_place_text(op.in_place));
  json.key("formula").text(op.formula).key("descStruct").text(op.desc_struct);
  for (const auto& [key, names] :
       {std::pair{"aliases", aliases_of(facts::operator_aliases(), op.name)},
        std::pair{"descStructAliases", aliases_of(facts::struct_aliases(), op.desc_struct)}}) {
    if (!names.empty()) {
      json.one_line(true).key(key).begin_array();
      for (const std::string& name : names) {
        json.text(name);
      }
      json.end_array().one_line(false);
    }
  }
  json.key("fields").begin_array();
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    const facts::Field& field = op.fields[i];
    json.begin_object().key("name").text(field.name).key("kind").text(kind_text(field.kind));
    json.key("type").text(field.spelling);
    if (!facts::is_attribute(field.kind)) {
      json.key("support").begin_array();
      for (const facts::Support& support : op.support) {
        if (support.field != i) {
          continue;
        }
        json.begin_object().key("featureLevel").text(facts::level_name(support.level));
        json.key("dimensions").text(rank_text(support.min_rank, support.max_rank));
        if (!support.only_for.empty()) {
          json.key("onlyFor").text(support.only_for);
        }
        json.one_line(true).key("dataTypes").begin_array();
        for (const std::string& name : type_list(support.types)) {
          json.text(name);
        }
        json.end_array().one_line(false).end_object();
      }
      json.end_array();
    }
    json.end_object();
  }
  json.end_array().end_object();
}

void show_table(std::span<const facts::Operator* const> operators) {
  Table table({{"operator"},
               {"built", Table::Align::left, true},
               {"since"},
               {"in place", Table::Align::left, true},
               {"dimensions", Table::Align::left, true},
               {"types"}});
  for (const facts::Operator* op : operators) {
    // The types and dimensions of the first tensor, at the newest level.
    const auto first =
        std::ranges::find_if(op->fields, [](const facts::Field& field) { return !facts::is_attribute(field.kind); });
    const auto newest = facts::admitted(*op, static_cast<std::size_t>(first - op->fields.begin()), facts::kNewestLevel);
    table.add({std::string(op->name), is_built(*op) ? "yes" : "-", std::string(facts::level_name(op->introduced)),
               op->in_place == facts::InPlace::none ? "-" : "yes",
               newest ? rank_text(newest->min_rank, newest->max_rank) : "-",
               newest ? type_families(newest->types) : "-"});
  }
  table.print(stdout);
}

void show_one(const facts::Operator& op) {
  const auto text = [](std::string_view view) { return std::string(view); };
  std::printf("%s\n", text(op.name).c_str());
  if (!op.formula.empty()) {
    std::printf("  computes       %s\n", text(op.formula).c_str());
  }
  for (const std::string& alias : aliases_of(facts::operator_aliases(), op.name)) {
    std::printf("  also called    %s\n", alias.c_str());
  }
  std::printf("  built here     %s\n", is_built(op) ? "yes" : "not yet");
  std::printf("  feature level  %s and newer\n", text(facts::level_name(op.introduced)).c_str());
  std::printf("  in place       %s\n", text(in_place_text(op.in_place)).c_str());
  std::string structs = text(op.desc_struct);
  for (const std::string& alias : aliases_of(facts::struct_aliases(), op.desc_struct)) {
    structs += " or " + alias;
  }
  std::printf("  desc           %s, %u bytes\n\n", structs.c_str(), op.desc_size);
  Table fields({{"field"}, {"kind"}, {"type"}});
  for (const facts::Field& field : op.fields) {
    fields.add({text(field.name), text(kind_text(field.kind)), text(field.spelling)});
  }
  fields.print(stdout);
  for (const facts::Field& field : op.fields) {
    if (const facts::Enum* values = facts::is_attribute(field.kind) ? facts::find_enum(field.spelling) : nullptr) {
      std::string names;
      for (const facts::EnumValue& value : values->values) {
        names += (names.empty() ? "" : ", ") + text(value.name.substr(values->prefix.size()));
      }
      std::printf("%s: %s\n", text(field.name).c_str(), names.c_str());
    }
  }
  std::printf("\n");
  // Tensors that accept the same types are shown together.
  std::vector<std::pair<std::string, std::vector<std::vector<std::string>>>> groups;
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    std::vector<std::vector<std::string>> rows;
    for (const facts::Support& row : op.support) {
      if (row.field == i) {
        rows.push_back({text(facts::level_name(row.level)), rank_text(row.min_rank, row.max_rank),
                        type_families(row.types) +
                            (row.only_for.empty() ? std::string() : format_text(" (for {})", row.only_for))});
      }
    }
    if (rows.empty()) {
      continue;
    }
    const auto same = std::ranges::find(groups, rows, &decltype(groups)::value_type::second);
    if (same == groups.end()) {
      groups.emplace_back(text(op.fields[i].name), std::move(rows));
    } else {
      same->first += ", " + text(op.fields[i].name);
    }
  }
  Table support({{"tensor"}, {"from level"}, {"dimensions"}, {"types"}});
  for (const auto& [names, rows] : groups) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      support.add({i == 0 ? names : "", rows[i][0], rows[i][1], rows[i][2]});
    }
  }
  support.print(stdout);
  for (const std::string_view constraint : op.constraints) {
    std::printf("%s- %s\n", constraint == op.constraints.front() ? "\n" : "", text(constraint).c_str());
  }
}

}  // namespace

int show_operators(const OperatorsArguments& arguments) {
  // Finds one operator by its name, with or without a prefix, or all operators whose names contain the text.
  std::vector<const facts::Operator*> chosen;
  const std::string upper = to_upper(arguments.name);
  const facts::Operator* one = facts::find_operator(upper);
  one = one == nullptr ? facts::find_operator("ELEMENT_WISE_" + upper) : one;
  bool any_named = false;
  for (const facts::Operator& op : facts::operators()) {
    const bool named = one != nullptr ? &op == one : op.name.find(upper) != std::string_view::npos;
    any_named = any_named || named;
    if (named && !(arguments.missing && is_built(op)) && !(arguments.built && !is_built(op))) {
      chosen.push_back(&op);
    }
  }
  if (chosen.empty() && one != nullptr) {
    return report_error(format_text("{} is {}", one->name, arguments.missing ? "built" : "not built here yet"), kWrong);
  }
  if (chosen.empty() && any_named && !arguments.json) {
    const std::string which =
        arguments.name.empty() ? std::string() : format_text(" with {} in its name", in_quotes(arguments.name));
    std::printf("No operator%s is %s.\n", which.c_str(), arguments.missing ? "missing" : "built here yet");
    return kDone;
  }
  if (chosen.empty() && !any_named) {
    return report_error(format_text("{} is not an operator of DirectML{}", in_quotes(arguments.name),
                                    operator_suggestion(arguments.name)),
                        kWrong);
  }
  if (arguments.json) {
    JsonWriter json;
    json.begin_array();
    for (const facts::Operator* op : chosen) {
      write_operator(json, *op);
    }
    json.end_array().print(stdout);
  } else if (chosen.size() == 1) {
    show_one(*chosen.front());
  } else {
    show_table(chosen);
    const auto all = facts::operators();
    std::printf(
        "\n%td of DirectML's %zu operators are built. Types and dimensions are those of the first tensor at the "
        "newest level;\ndmlrun operators NAME shows the details of one.\n",
        std::ranges::count_if(all, is_built), all.size());
  }
  return kDone;
}

}  // namespace anydml::dmlrun
