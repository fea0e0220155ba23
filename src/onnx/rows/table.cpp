// SPDX-License-Identifier: MIT
// Finds the rows of an operator, and lists all rows for the documentation.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <tuple>
#include <unordered_map>

#include "base/process.h"
#include "onnx/rows/row.h"

namespace anydml::onnx {

namespace {

// All rows, in the order in which they are tried: host_rows and the tables after it are the last ones.
std::vector<const Row*> table_rows() {
  std::vector<const Row*> rows;
  for (const std::span<const Row> part :
       {element_rows(), quantization_rows(), function_rows(), reduction_rows(), product_rows(), convolution_rows(),
        pooling_rows(), normalization_rows(), recurrent_rows(), attention_rows(), image_rows(), shape_rows(),
        moving_rows(), generator_rows(), gather_rows(), definition_rows(), host_rows(), string_rows(), ml_rows()}) {
    for (const Row& row : part) {
      rows.push_back(&row);
    }
  }
  return rows;
}

std::tuple<std::string_view, std::string_view> table_key(const DomainRow* row) { return {row->domain, row->op}; }

// All rows of other domains, sorted.
std::vector<const DomainRow*> table_domain_rows() {
  std::vector<const DomainRow*> rows;
  for (const std::span<const DomainRow> part :
       {contrib_rows(), contrib_quantized_rows(), contrib_attention_rows(), contrib_rotary_rows(), group_query_rows(),
        block_gather_rows(), expert_rows(), training_rows()}) {
    for (const DomainRow& row : part) {
      rows.push_back(&row);
    }
  }
  std::sort(rows.begin(), rows.end(),
            [](const DomainRow* a, const DomainRow* b) { return table_key(a) < table_key(b); });
  return rows;
}

struct Tables {
  std::unordered_map<std::string_view, std::vector<const Row*>> by_op;
  std::vector<const DomainRow*> domain_rows = table_domain_rows();
};

// Created at the first use and never destroyed.
constinit std::atomic<const Tables*> g_tables = nullptr;

const Tables& tables() {
  if (const Tables* const found = g_tables.load(std::memory_order_acquire); found != nullptr) {
    return *found;
  }
  const std::scoped_lock lock(process_mutex());  // a fork waits for it, as it does not for the lock of a local static
  if (g_tables.load(std::memory_order_relaxed) == nullptr) {
    auto created = std::make_unique<Tables>();
    for (const Row* row : table_rows()) {
      created->by_op[row->op].push_back(row);
    }
    g_tables.store(created.release(), std::memory_order_release);
  }
  return *g_tables.load(std::memory_order_relaxed);
}

// The types of the input that determines a node's type, in the newest opset that the row accepts.
KindSet table_kinds(const Row& row) {
  KindSet kinds = row.takes_strings ? kArrayKinds | kStringKinds : kArrayKinds;
  const Schema* schema = find_schema(row.op, row.last_opset == 0 ? newest_opset() : row.last_opset);
  const std::size_t position = row.op == "Where" ? 1 : 0;
  if (row.op == "DequantizeLinear" || row.op == "QuantizeLinear") {
    kinds = kinds | kFourBitKinds;
  }
  if (schema == nullptr || schema->inputs.size() <= position) {
    return {};
  }
  if (row.op != "ConstantOfShape") {  // an attribute determines its type
    kinds = kinds & schema->inputs[position].kinds;
  }
  return row.kinds.empty() ? kinds : kinds & row.kinds;
}

std::string table_kinds_text(KindSet kinds) {
  static constexpr Kind kOrder[] = {Kind::kInt4,   Kind::kUint4,  Kind::kFloat16, Kind::kFloat, Kind::kDouble,
                                    Kind::kInt8,   Kind::kInt16,  Kind::kInt32,   Kind::kInt64, Kind::kUint8,
                                    Kind::kUint16, Kind::kUint32, Kind::kUint64,  Kind::kBool,  Kind::kString};
  std::string text;
  for (const Kind kind : kOrder) {
    if (kinds.contains(kind)) {
      text += text.empty() ? "" : " ";
      text += kind_name(kind);
    }
  }
  return text;
}

}  // namespace

std::string row_name(const NodeMessage& node) {
  if (is_default_domain(node.domain)) {
    return node.op_type.find('.') == std::string::npos ? node.op_type : std::string();
  }
  return node.domain == kMlDomain ? std::string(kMlDomain) + "." + node.op_type : std::string();
}

std::vector<const Row*> rows_of(std::string_view op, int since) {
  std::vector<const Row*> rows;
  if (const auto found = tables().by_op.find(op); found != tables().by_op.end()) {
    for (const Row* row : found->second) {
      if (row->first_opset <= since && (row->last_opset == 0 || since <= row->last_opset)) {
        rows.push_back(row);
      }
    }
  }
  return rows;
}

bool has_rows(std::string_view op) { return tables().by_op.contains(op); }

std::vector<const Row*> all_rows() { return table_rows(); }

const DomainRow* find_domain_row(std::string_view domain, std::string_view op) {
  const std::vector<const DomainRow*>& rows = tables().domain_rows;
  const auto key = std::make_tuple(domain, op);
  const auto found = std::lower_bound(rows.begin(), rows.end(), key,
                                      [](const DomainRow* row, const auto& wanted) { return table_key(row) < wanted; });
  return found != rows.end() && table_key(*found) == key ? *found : nullptr;
}

const DomainRow* find_domain_row(const NodeMessage& node) {
  return has_rows(row_name(node)) ? nullptr
                                  : find_domain_row(is_default_domain(node.domain) ? "" : node.domain, node.op_type);
}

std::vector<const DomainRow*> all_domain_rows() { return tables().domain_rows; }

std::string rows_as_text() {
  std::string text;
  for (const Row* row : all_rows()) {
    const char* how = row->op.starts_with(kMlDomain) ? "ml"
                      : row->is_on_host              ? "host"
                      : row->make == nullptr         ? "definition"
                                                     : "operators";
    text += format_text("{}\t{}\t{}\t{}\t{}\t{}\n", how, row->op, row->first_opset, row->last_opset, row->uses,
                        table_kinds_text(table_kinds(*row)));
  }
  for (const DomainRow* row : all_domain_rows()) {
    text += format_text("domain\t{}\t{}\t{}\n", row->domain, row->op, row->uses);
  }
  return text;
}

}  // namespace anydml::onnx
