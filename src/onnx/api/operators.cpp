// SPDX-License-Identifier: MIT
// The table of ONNX operators, for the C interface.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "anydml/onnx.h"
#include "onnx/api/boundary.h"
#include "onnx/rows/row.h"

namespace anydml::onnx {
namespace {

// The texts of a row, which the C interface returns with a terminating null character.
struct OperatorText {
  std::string domain, name, uses;
};

struct OperatorTable {
  std::vector<OperatorText> texts;
  std::vector<anydml_onnx_operator_info> infos;

  void add(std::string_view domain, std::string_view name, std::string_view uses, anydml_onnx_operator_info info) {
    const OperatorText& text =
        texts.emplace_back(OperatorText{std::string(domain), std::string(name), std::string(uses)});
    info.domain = text.domain.c_str();
    info.name = text.name.c_str();
    info.uses = text.uses.c_str();
    infos.push_back(info);
  }
};

std::unique_ptr<OperatorTable> make_operator_table() {
  const std::vector<const Row*> rows = all_rows();
  const std::vector<const DomainRow*> others = all_domain_rows();
  auto table = std::make_unique<OperatorTable>();
  table->texts.reserve(rows.size() + others.size());  // the texts must not move
  for (const Row* row : rows) {
    const bool is_ml = row->op.starts_with(kMlDomain);
    const std::string_view name = is_ml ? row->op.substr(kMlDomain.size() + 1) : row->op;
    table->add(is_ml ? kMlDomain : "", name, row->uses,
               {.domain = nullptr,
                .name = nullptr,
                .first_opset = row->first_opset,
                .last_opset = row->last_opset,
                .types = row->kinds.bits(),
                .is_on_host = row->is_on_host ? 1 : 0,
                .is_expanded = row->expand != nullptr ? 1 : 0,
                .uses = nullptr});
  }
  for (const DomainRow* row : others) {
    table->add(row->domain, row->op, row->uses,
               {.domain = nullptr,
                .name = nullptr,
                .first_opset = 1,
                .last_opset = 0,
                .types = 0,
                .is_on_host = 0,
                .is_expanded = row->expand != nullptr ? 1 : 0,
                .uses = nullptr});
  }
  std::ranges::stable_sort(table->infos, {}, [](const anydml_onnx_operator_info& info) {
    return std::tuple(std::string_view(info.domain), std::string_view(info.name), info.first_opset);
  });
  return table;
}

// Created at the first use and kept until the process exits. There is no lock, which a fork could leave locked; threads
// that create the table at the same time agree on one.
constinit std::atomic<const OperatorTable*> g_operator_table = nullptr;

const OperatorTable& operator_table() {
  const OperatorTable* table = g_operator_table.load(std::memory_order_acquire);
  if (table == nullptr) {
    std::unique_ptr<OperatorTable> created = make_operator_table();
    if (g_operator_table.compare_exchange_strong(table, created.get(), std::memory_order_acq_rel)) {
      return *created.release();
    }
  }
  return *table;
}

}  // namespace
}  // namespace anydml::onnx

size_t anydml_onnx_operator_count(void) {
  std::size_t count = 0;
  anydml::onnx::boundary([&] { count = anydml::onnx::operator_table().infos.size(); });
  return count;
}

const anydml_onnx_operator_info* anydml_onnx_operator_at(size_t index) {
  const anydml_onnx_operator_info* found = nullptr;
  anydml::onnx::boundary([&] {
    const auto& infos = anydml::onnx::operator_table().infos;
    if (index >= infos.size()) {
      anydml::onnx::bad_call("anydml_onnx_operator_at",
                             anydml::format_text("index is {}; there are {} operators", index, infos.size()));
    }
    found = &infos[index];
  });
  return found;
}
