// SPDX-License-Identifier: MIT
// The family of operators that scan an axis: CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT. Neither can be joined with
// other operators yet, because the kernels read and write elements of several rows at a time.
#include "ops/family.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "ops/arguments.h"
#include "ops/scan/scalar/scan.h"
#include "ops/scan/step.h"

namespace anydml {
namespace {

struct ScanEntry {
  std::string_view name;
  ScanFunction function;
};

constexpr ScanEntry kEntries[] = {
#define ANYDML_SCAN_ENTRY(op, function) {#op, ScanFunction::function},
#include "ops/scan/scan.def"
};

const ScanEntry* find_entry(std::string_view name) {
  const auto* const found = std::ranges::find(kEntries, name, &ScanEntry::name);
  return found == std::end(kEntries) ? nullptr : found;
}

bool is_exclusive(const OpDesc& desc, ScanFunction function) {
  return number_of(desc, function == ScanFunction::sum ? "HasExclusiveSum" : "HasExclusiveProduct").as<u64>() != 0;
}

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  const ScanFunction function = find_entry(desc.op->name)->function;
  ScanStep step{.function = function,
                .type = tensors[0].tensor.type,
                .is_exclusive = is_exclusive(desc, function) ? 1U : 0U,
                .unused = 0,
                .loops = split_axes(tensors[0].tensor, tensors[1].tensor, 1U << number_of(desc, "Axis").as<u64>())};
  if (number_of(desc, "AxisDirection").as<u64>() != 0) {
    AxisLoop& along = step.loops.reduced[0];
    step.loops.input_offset += (along.size - 1) * along.input;
    step.loops.output_offset += (along.size - 1) * along.output;
    along.input = -along.input;
    along.output = -along.output;
  }
  // Reserve space for the totals of all blocks and for two carries per row. If threads share a row, they first add up
  // its blocks and then write the outputs.
  const std::int64_t blocks = (step.loops.count + kScanBlock - 1) / kScanBlock;
  const auto bytes = static_cast<std::uint64_t>(blocks == 1 ? 0 : step.loops.outputs * (blocks + 2)) * sizeof(u64);
  const Operand operands[] = {tensors[0].operand(),
                              tensors[1].operand(),
                              {.slot = bytes == 0 ? kAbsentSlot : plan.temporary_slot(),
                               .type = DataType::UINT8,
                               .offset = bytes == 0 ? 0 : plan.take_temporary(bytes)}};
  plan.add(static_cast<std::uint32_t>(FamilyId::scan), operands, std::as_bytes(std::span(&step, 1)));
}

}  // namespace

extern const Family scan_family;
const Family scan_family = {
    .id = FamilyId::scan,
    .has = [](const facts::Operator& op) { return find_entry(op.name) != nullptr; },
    .types = [](const facts::Operator&, std::size_t) { return all_types(); },
    .by_element = false,
    // The documented rules already require equal types and sizes, and a valid axis.
    .check = [](const OpDesc&) -> Status { return {}; },
    .lower = lower,
    .lower_together = nullptr,
    .joins = nullptr,
    .decompose = nullptr,
    // A piece of work reads its elements before it writes them, and no other piece reads the elements that it writes.
    .in_place = [](const OpDesc&, std::size_t) { return true; },
};

}  // namespace anydml
