// SPDX-License-Identifier: MIT
// The products of a recurrence whose matrix consists of 8-bit integers. Each row of hidden states is rounded to 8 bits,
// and multiplied by the loops of integer products.
#pragma once

#include <cstddef>

#include "backend/cpu/target.h"
#include "ops/product/cpu/integer_kernels.h"
#include "ops/product/cpu/integer_pack.h"
#include "ops/product/integer_step.h"
#include "ops/recurrent/cpu/kernels.h"
#include "ops/recurrent/step.h"

namespace anydml {

// The bytes of a gate of a panel in the packed form of integers.
[[nodiscard]] inline std::int64_t code_bytes(const RecurrentStep& step) {
  return integer_panel_bytes(step.panel, step.units);
}

class CodedStates {
 public:
  // max_rows: of a tile.
  CodedStates(const RecurrentStep& step, cpu::Target target, const RecurrentKernels& kernels, std::int64_t max_rows);

  // The scratch memory that holds the codes of a tile's rows, and the totals of its products.
  [[nodiscard]] std::size_t scratch_bytes() const { return bytes_; }

  // Rounds the hidden states of some rows; each row follows the one before it.
  void quantize(const f32* hidden, std::int64_t rows, std::byte* scratch) const noexcept;

  // The scales of the matrix, and the zero points as load_zeros writes them, for the units of a panel. Those of a gate
  // are `step` elements after those of the previous gate.
  struct Columns {
    const f32* scales;
    const u32* zeros;
    std::int64_t step;
  };
  // Multiplies the rows by the matrices of consecutive gates, the first of which is at `packed`. The products of a gate
  // are sums_step elements after those of the previous gate.
  void multiply(const TileSize& size, const std::byte* packed, std::int64_t gates, const Columns& columns, f32* sums,
                std::int64_t sums_step, std::byte* scratch) const noexcept;

  // Converts `count` zero points of a panel, `stride` bytes apart, for multiply. All are 0 if `from` is null.
  void load_zeros(const std::byte* from, std::int64_t stride, std::int64_t count, u32* to) const noexcept;

  // Packs a gate of a panel. from: the first element; the strides are in bytes, along the factors and along the units.
  void pack(const std::byte* from, std::int64_t factor_stride, std::int64_t unit_stride, std::int64_t count,
            std::byte* to) const noexcept;

  [[nodiscard]] const char* name() const { return integers_.name; }

 private:
  // What the corrections for zero points need of a row.
  struct RowCodes {
    f32 scale;
    u32 zero;  // as the kernels read the bytes
    u32 rest;  // the sum of the codes, each minus the zero point
  };
  void finish(const TileSize& size, const u8* panels, std::int64_t gates, const Columns& columns, f32* sums,
              std::int64_t sums_step, std::byte* scratch) const noexcept;
  [[nodiscard]] RowCodes* rows_at(std::byte* scratch) const { return reinterpret_cast<RowCodes*>(scratch); }

  const IntegerKernels& integers_;
  const IntegerRows& packs_;
  const RecurrentKernels& kernels_;
  BytePacking pack_states_;
  BytePacking pack_matrix_;
  std::int64_t units_;
  std::int64_t panel_;
  std::int64_t code_bytes_;
  std::int64_t groups_;
  bool is_signed_;
  // Offsets in the scratch memory.
  std::size_t row_;
  std::size_t strips_;
  std::size_t totals_;
  std::size_t bytes_ = 0;
};

}  // namespace anydml
