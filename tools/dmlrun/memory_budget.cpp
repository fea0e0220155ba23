// SPDX-License-Identifier: MIT
#include "memory_budget.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

#include "base/checked.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

struct Words {
  std::string_view wanted;  // "needs 8 MiB for ..."
  std::string_view sum;     // "8 MiB of ..."
};
// These are in the order of MemoryBudget::For.
constexpr Words kWords[] = {
    {"its buffer", "buffers"},
    {"its list of values", "lists of values"},
    {"the tensors that DirectML keeps", "tensors that DirectML keeps"},
    {"its temporary memory", "temporary memory"},
    {"copying a buffer to or from the device", "copies in transit"},
    {"recording and timing dispatches", "records and timings"},
    {"its objects", "objects"},
};

}  // namespace

std::uint64_t MemoryBudget::of_buffer(std::uint64_t bytes) {
  static const auto page = static_cast<std::uint64_t>(std::max(4096L, ::sysconf(_SC_PAGESIZE)));
  return bytes > kEndless - page ? kEndless : (bytes + page - 1) / page * page;
}

std::optional<std::string> MemoryBudget::refuse(For what, std::uint64_t bytes) const {
  static_assert(std::size(kWords) == kKinds);
  auto with = taken_;
  auto& mine = with[static_cast<std::size_t>(what)];
  mine = checked_add_bytes(mine, bytes).value_or(kEndless);
  std::uint64_t total = 0;
  for (const std::uint64_t one : with) {
    total = checked_add_bytes(total, one).value_or(kEndless);
  }
  if (total <= limit_) {
    return std::nullopt;
  }
  std::string parts;
  for (std::size_t i = 0; i < kKinds; ++i) {
    if (with[i] != 0) {
      parts += format_text("{}{} of {}", parts.empty() ? "" : ", ", bytes_text(with[i]), kWords[i].sum);
    }
  }
  return format_text("needs {} for {}; the total is {} ({}), but --max-memory allows {}", bytes_text(bytes),
                     kWords[static_cast<std::size_t>(what)].wanted, bytes_text(total), parts, bytes_text(limit_));
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 10240) {
    return format_text("{} bytes", bytes);
  }
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return format_text("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace anydml::dmlrun
