// SPDX-License-Identifier: MIT
// The table of the ONNX operators that anydml runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "anydml/anydml.h"
#include "onnx/rows/row.h"
#include "onnx/schema/schema.h"

namespace anydml::onnx {

namespace {

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, separator);) {
    parts.push_back(part);
  }
  return parts;
}

bool is_built(const std::string& name) {
  for (const char* prefix : {"", "ELEMENT_WISE_", "ACTIVATION_"}) {
    const anydml_operator_info* found = anydml_find_operator((prefix + name).c_str());
    if (found != nullptr && found->is_built != 0) {
      return true;
    }
  }
  return false;
}

TEST(OnnxTable, HasOnlyOperatorsOfOnnx) {
  for (const Row* row : all_rows()) {
    const Schema* schema = find_schema(row->op, row->last_opset == 0 ? newest_opset() : row->last_opset);
    ASSERT_NE(schema, nullptr) << row->op;
    EXPECT_GE(schema->since, row->first_opset) << row->op;
    EXPECT_TRUE(has_rows(row->op));
  }
  EXPECT_FALSE(has_rows(""));
  EXPECT_FALSE(has_rows("Abs "));
  EXPECT_TRUE(rows_of("NoOperator", 1).empty());
}

TEST(OnnxTable, NamesOperatorsThatExist) {
  for (const Row* row : all_rows()) {
    EXPECT_TRUE(row->make != nullptr || row->expand != nullptr) << row->op;
    if (row->is_on_host) {
      EXPECT_NE(row->make, nullptr) << row->op;
      EXPECT_FALSE(row->uses.empty()) << row->op;  // a description
      continue;
    }
    for (const std::string& word : parts_of(row->uses, ' ')) {
      EXPECT_TRUE(is_built(word)) << row->op << " uses " << word;
    }
  }
}

TEST(OnnxTable, HasOneRowOfEachKindForAVersion) {
  std::set<std::string_view> ops;
  for (const Row* row : all_rows()) {
    ops.insert(row->op);
  }
  for (const std::string_view op : ops) {
    for (int opset = 1; opset <= newest_opset(); ++opset) {
      const Schema* schema = find_schema(op, opset);
      if (schema == nullptr) {
        continue;
      }
      const std::vector<const Row*> rows = rows_of(op, schema->since);
      const auto is_on_host = [](const Row* row) { return row->is_on_host; };
      EXPECT_LE(std::count_if(rows.begin(), rows.end(), is_on_host), 1) << op << " " << opset;
      EXPECT_LE(std::count_if(rows.begin(), rows.end(), std::not_fn(is_on_host)), 1) << op << " " << opset;
      EXPECT_TRUE(std::is_partitioned(rows.begin(), rows.end(), std::not_fn(is_on_host))) << op;
    }
  }
}

TEST(OnnxTable, FindsOperatorsOfOtherDomains) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const DomainRow* row : all_domain_rows()) {
    EXPECT_TRUE(names.emplace(row->domain, row->op).second) << row->op;
    EXPECT_EQ(find_domain_row(row->domain, row->op), row);
    const int steps = (row->make != nullptr) + (row->make_product != nullptr);
    EXPECT_TRUE(steps == 1 || (steps == 0 && row->expand != nullptr)) << row->op;
    // ONNX Runtime keeps some operators in ONNX's domain that ONNX does not have.
    EXPECT_TRUE(!is_default_domain(row->domain) || find_schema(row->op, newest_opset()) == nullptr) << row->op;
  }
  EXPECT_NE(find_domain_row("com.microsoft", "FusedConv"), nullptr);
  EXPECT_EQ(find_domain_row("com.microsoft", "Fused"), nullptr);
  EXPECT_EQ(find_domain_row("", "FusedConv"), nullptr);
  EXPECT_EQ(find_domain_row("zzz", "zzz"), nullptr);
}

TEST(OnnxTable, IsWrittenAsText) {
  const std::vector<std::string> lines = parts_of(rows_as_text(), '\n');
  EXPECT_EQ(lines.size(), all_rows().size() + all_domain_rows().size());
  for (const std::string& line : lines) {
    const bool is_domain = line.starts_with("domain\t");
    EXPECT_EQ(std::count(line.begin(), line.end(), '\t'), is_domain ? 3 : 5) << line;
  }
  const auto conv = std::find_if(lines.begin(), lines.end(),
                                 [](const std::string& line) { return line.starts_with("operators\tConv\t"); });
  ASSERT_NE(conv, lines.end());
  EXPECT_TRUE(conv->ends_with("\tCONVOLUTION\tfloat16 float")) << *conv;
}

}  // namespace

}  // namespace anydml::onnx
