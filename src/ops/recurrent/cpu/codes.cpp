// SPDX-License-Identifier: MIT
#include "ops/recurrent/cpu/codes.h"

#include <algorithm>
#include <cstring>

#include "base/integers.h"
#include "ops/recurrent/scalar/recurrent.h"

namespace anydml {
namespace {

// The plan may be for a device with other vectors.
const IntegerKernels& kernels_for(const RecurrentStep& step, cpu::Target target) {
  const IntegerKernels& best = integer_kernels(target);
  return step.panel % best.panel == 0 ? best : integer_kernels(cpu::Target::generic);
}

}  // namespace

CodedStates::CodedStates(const RecurrentStep& step, cpu::Target target, const RecurrentKernels& kernels,
                         std::int64_t max_rows)
    : integers_(kernels_for(step, target)),
      packs_(integer_rows(target)),
      kernels_(kernels),
      pack_states_(packing_of_a(integers_, packs_, false)),
      pack_matrix_(packing_of_b(integers_, packs_, step.codes == RecurrentCodes::signed_bytes)),
      units_(step.units),
      panel_(step.panel),
      code_bytes_(code_bytes(step)),
      groups_(ceil_div(step.units, integers_.group)),
      is_signed_(step.codes == RecurrentCodes::signed_bytes) {
  const auto take = [&](std::int64_t bytes) {
    const std::size_t at = bytes_;
    bytes_ += static_cast<std::size_t>(ceil_div(bytes, std::int64_t{64}) * 64);
    return at;
  };
  const std::int64_t rows = integers_.padded_rows(max_rows);
  take(rows * static_cast<std::int64_t>(sizeof(RowCodes)));
  row_ = take(integers_.strip * units_);
  strips_ = take(rows * groups_ * integers_.group);
  totals_ = take(rows * kMaxGates * panel_ * kWord);
}

void CodedStates::quantize(const f32* hidden, std::int64_t rows, std::byte* scratch) const noexcept {
  const i32 shift = byte_shift(false, !integers_.unsigned_a);
  auto* const codes = reinterpret_cast<u8*>(scratch + row_);
  for (std::int64_t first = 0; first < rows; first += integers_.strip) {
    const std::int64_t count = std::min(integers_.strip, rows - first);
    for (std::int64_t i = 0; i < count; ++i) {
      const f32* const from = hidden + (first + i) * units_;
      f32 lowest = 0;
      f32 highest = 0;
      kernels_.find_range(units_, from, lowest, highest);
      const StateScale scale = state_scale(lowest, highest);
      const u32 sum = kernels_.quantize(units_, from, scale, codes + i * units_);
      rows_at(scratch)[first + i] = {.scale = scale.scale,
                                     .zero = static_cast<u32>(scale.zero + shift),
                                     .rest = sum - static_cast<u32>(units_) * scale.zero};
    }
    pack_bytes(pack_states_, reinterpret_cast<const std::byte*>(codes), 1, units_, units_, count,
               {.first = reinterpret_cast<u8*>(scratch + strips_) + first * groups_ * integers_.group,
                .width = integers_.padded_rows(count),
                .step = 0});
  }
}

void CodedStates::multiply(const TileSize& size, const std::byte* packed, std::int64_t gates, const Columns& columns,
                           f32* sums, std::int64_t sums_step, std::byte* scratch) const noexcept {
  const auto* const strips = reinterpret_cast<const u8*>(scratch + strips_);
  auto* const totals = reinterpret_cast<u32*>(scratch + totals_);
  const std::int64_t width = integers_.panel;
  const std::int64_t panel_bytes = integer_panel_bytes(width, units_);
  const bool has_all_totals = size.rows == 1 && gates == kRowPanels && integers_.row != nullptr;
  for (std::int64_t i = 0; has_all_totals && i < panel_ / width; ++i) {
    integers_.row({.a = strips,
                   .b = reinterpret_cast<const u8*>(packed) + i * panel_bytes,
                   .panel_step = code_bytes_,
                   .groups = groups_,
                   .totals = totals + i * width,
                   .totals_step = panel_});
  }
  for (std::int64_t gate = 0; !has_all_totals && gate < gates; ++gate) {
    const auto* const panels = reinterpret_cast<const u8*>(packed + gate * code_bytes_);
    for (std::int64_t i = 0; i < panel_ / width; ++i) {
      integers_.multiply(size.rows, {.a = strips,
                                     .b = panels + i * panel_bytes,
                                     .groups = groups_,
                                     .start = kNoStart,
                                     .totals = totals + i * width,
                                     .totals_step = panel_,
                                     .is_first = true});
    }
    finish(size, panels, 1, {columns.scales + gate * columns.step, columns.zeros + gate * columns.step, columns.step},
           sums + gate * sums_step, sums_step, scratch);
  }
  if (has_all_totals) {
    finish(size, reinterpret_cast<const u8*>(packed), gates, columns, sums, sums_step, scratch);
  }
}

// Converts the totals of some gates, whose packed panels begin at `panels`.
void CodedStates::finish(const TileSize& size, const u8* panels, std::int64_t gates, const Columns& columns, f32* sums,
                         std::int64_t sums_step, std::byte* scratch) const noexcept {
  const auto* const totals = reinterpret_cast<const u32*>(scratch + totals_);
  const std::int64_t width = integers_.panel;
  for (std::int64_t row = 0; row < size.rows; ++row) {
    const RowCodes& codes = rows_at(scratch)[row];
    for (std::int64_t i = 0; i < panel_; i += width) {
      const u8* const panel = panels + i / width * integer_panel_bytes(width, units_);
      kernels_.finish_codes({.totals = totals + row * panel_ + i,
                             .totals_step = panel_,
                             .column_sums = reinterpret_cast<const std::byte*>(panel + width * padded_depth(units_)),
                             .column_sums_step = code_bytes_,
                             .scales = columns.scales + i,
                             .zeros = columns.zeros + i,
                             .step = columns.step,
                             .scale = codes.scale,
                             .zero = codes.zero,
                             .rest = codes.rest,
                             .gates = gates,
                             .units = width,
                             .to = sums + row * panel_ + i,
                             .to_step = sums_step});
    }
  }
}

void CodedStates::load_zeros(const std::byte* from, std::int64_t stride, std::int64_t count, u32* to) const noexcept {
  const i32 shift = byte_shift(is_signed_, true);
  std::fill(to + count, to + panel_, 0U);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::byte byte = from == nullptr ? std::byte{0} : from[i * stride];
    const i32 zero = is_signed_ ? static_cast<i32>(static_cast<i8>(byte)) : static_cast<i32>(static_cast<u8>(byte));
    to[i] = static_cast<u32>(zero + shift);
  }
}

void CodedStates::pack(const std::byte* from, std::int64_t factor_stride, std::int64_t unit_stride, std::int64_t count,
                       std::byte* to) const noexcept {
  const std::int64_t width = integers_.panel;
  const std::int64_t panel_bytes = integer_panel_bytes(width, units_);
  std::memset(to, 0, static_cast<std::size_t>(code_bytes_));
  pack_bytes(pack_matrix_, from, factor_stride, unit_stride, units_, count,
             {.first = reinterpret_cast<u8*>(to), .width = width, .step = panel_bytes});
  for (std::int64_t unit = 0; unit < count; ++unit) {
    u32 sum = 0;
    for (std::int64_t k = 0; k < units_; ++k) {
      const auto byte = static_cast<u8>(from[k * factor_stride + unit * unit_stride]);
      sum += static_cast<u32>(static_cast<i32>(static_cast<i8>(byte ^ pack_matrix_.flip)));
    }
    std::byte* const panel = to + unit / width * panel_bytes;
    std::memcpy(panel + width * padded_depth(units_) + unit % width * kWord, &sum, sizeof(sum));
  }
}

}  // namespace anydml
