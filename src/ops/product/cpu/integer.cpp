// SPDX-License-Identifier: MIT
// Integer products on the CPU. A piece is a tile of one output matrix. The bytes of its rows are packed into strips,
// which are multiplied by each panel of B while both are in the caches. The kernels ignore the zero points. These are
// applied afterwards, using the sums of rows and columns, since modulo 2^32
//   sum((a - za) * (b - zb)) = sum(a * b) - za * sum(b) - zb * (sum(a) - depth * za).
// The rows of totals are converted to outputs while they are in a cache.
#include "ops/product/cpu/integer.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "ops/product/cpu/integer_kernels.h"
#include "ops/product/cpu/integer_pack.h"
#include "ops/product/cpu/load.h"
#include "ops/product/cpu/tiles.h"
#include "ops/product/integer_step.h"
#include "ops/product/scalar/integer.h"

namespace anydml {
namespace {

// Limits for a tile. For a block of k, its rows stay in the first-level cache while panels stream through.
constexpr TileLimits kMax = {.rows = 24, .columns = 1024, .min_work = 2'000'000};
constexpr std::int64_t kMaxDepth = 16 * 1024;  // for few rows, so that panels are read from end to end
constexpr std::int64_t kColumnsTogether = 64;  // columns of an unpacked B that are packed together: a cache line
constexpr std::size_t kAlignment = 64;

// The number of values of k in a block, for tiles with this many rows: a multiple of kDepthBlock.
std::int64_t depth_block(std::int64_t rows) {
  const std::int64_t maximum = kMax.rows * kDepthBlock / std::max<std::int64_t>(rows, 1);
  return std::clamp(maximum / kDepthBlock * kDepthBlock, kDepthBlock, kMaxDepth);
}

// The scratch memory of a piece. Offsets are in bytes and multiples of kAlignment.
struct Buffers {
  std::size_t totals = 0;
  std::size_t of_a = 0;  // a block of the rows, packed
  std::size_t of_b = 0;  // a block of a panel, if B is not packed
  std::size_t ones = 0;
  std::size_t start = 0;     // initial totals of a panel
  std::size_t sums = 0;      // products of a strip and a panel, if only one row or one column is used
  std::size_t row_sums = 0;  // sums of the rows of A
  std::size_t row_zeros = 0;
  std::size_t column_sums = 0;
  std::size_t column_zeros = 0;
  std::size_t factors = 0;
  std::size_t zeros = 0;  // zero points of the output
  std::size_t row = 0;    // outputs that are not contiguous
  std::size_t bias = 0;
  std::size_t bytes = 0;

  Buffers(const IntegerStep& step, const IntegerKernels& kernels, const Tiles& tiles) {
    const std::int64_t rows = kernels.padded_rows(tiles.rows);
    const std::int64_t depth = padded_depth(std::min(depth_block(rows), step.product.depth));
    const auto take = [&](std::int64_t count) {
      const std::size_t at = bytes;
      bytes += (static_cast<std::size_t>(count) + kAlignment - 1) / kAlignment * kAlignment;
      return at;
    };
    totals = take(rows * tiles.columns * kWord);
    of_a = take(rows * depth);
    of_b = take(step.product.panel == 0 ? std::max(kColumnsTogether, kernels.panel) * depth : 0);
    ones = take(std::max(kernels.panel, kernels.row_unit) * std::min(depth, kDepthBlock));
    start = take(kernels.panel * kWord);
    sums = take(kernels.strip * kernels.panel * kWord);
    row_sums = take(rows * kWord);
    row_zeros = take(rows * kWord);
    column_sums = take(tiles.columns * kWord);
    column_zeros = take(tiles.columns * kWord);
    factors = take(tiles.columns * kWord);
    zeros = take(tiles.columns * kWord);
    row = take(tiles.columns * kWord);
    bias = take(tiles.columns * kWord);
  }
};

class IntegerRun final : public cpu::PreparedStep {
 public:
  IntegerRun(const IntegerStep& step, const IntegerKernels& kernels, const Tiles& tiles,
             const cpu::StepContext& context, cpu::Neighbor after)
      : PreparedStep(static_cast<std::uint64_t>(tiles.of_matrix() * step.product.batches), 1,
                     Buffers(step, kernels, tiles).bytes),
        step_(step),
        product_(step_.product),
        kernels_(kernels),
        rows_(integer_rows(context.target)),
        tiles_(tiles),
        depth_(depth_block(kernels.padded_rows(tiles.rows))),
        buffers_(step, kernels, tiles),
        after_(std::move(after)),
        pack_a_(packing_of_a(kernels, rows_, step.signed_a != 0)),
        pack_b_(packing_of_b(kernels, rows_, step.signed_b != 0)) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    Work work{.bounds = bounds_of(product_, tiles_, static_cast<std::int64_t>(piece.number)),
              .operands = operands,
              .scratch = piece.scratch,
              .totals = reinterpret_cast<u32*>(piece.scratch + buffers_.totals),
              .totals_step = tiles_.columns,
              .has_row_zeros = false,
              .has_column_zeros = false,
              .starts = false};
    work.has_row_zeros =
        gather_zeros(work, IntegerOperand::a_zero, step_.a_zero.row, step_.signed_a != 0, !kernels_.unsigned_a,
                     work.bounds.row, work.bounds.rows, at<u32>(work, buffers_.row_zeros));
    work.has_column_zeros = gather_zeros(work, IntegerOperand::b_zero, step_.b_zero.column, step_.signed_b != 0, true,
                                         work.bounds.column, work.bounds.columns, at<u32>(work, buffers_.column_zeros));
    work.starts = work.has_row_zeros && !work.has_column_zeros && step_.a_zero.row == 0;
    const bool is_final = !work.has_column_zeros && (work.starts || !work.has_row_zeros);
    if (is_final && can_be_totals(work)) {
      work.totals = reinterpret_cast<u32*>(
          element(work, IntegerOperand::output, product_.output, work.bounds.row, work.bounds.column));
      work.totals_step = product_.output.row / kWord;
      multiply(work);
      return;
    }
    multiply(work);
    finish(work);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "tiles of %lld x %lld, %s, %s kernel", static_cast<long long>(tiles_.rows),
                  static_cast<long long>(tiles_.columns), product_.panel != 0 ? "packed" : "not packed", kernels_.name);
  }

 private:
  struct Work {
    TileBounds bounds;
    std::byte* const* operands;
    std::byte* scratch;
    u32* totals;  // the output itself, if possible
    std::int64_t totals_step;
    bool has_row_zeros;  // whether any zero point is not 0, after adjusting for the signs that the kernels require
    bool has_column_zeros;
    bool starts;  // the correction is the same for all rows, so the kernels start from it
  };
  template <class T>
  [[nodiscard]] static T* at(const Work& work, std::size_t offset) {
    return reinterpret_cast<T*>(work.scratch + offset);
  }
  [[nodiscard]] static std::byte* operand(const Work& work, IntegerOperand which) {
    return work.operands[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] std::byte* element(const Work& work, IntegerOperand which, const MatrixStrides& strides,
                                   std::int64_t row, std::int64_t column) const {
    return operand(work, which) + batch_offset(product_, strides, work.bounds.batch) + row * strides.row +
           column * strides.column;
  }

  // Whether the kernels may write the totals of this tile directly to the output. The output must be aligned INT32 with
  // contiguous rows, and the tile must consist of whole row units and panels.
  [[nodiscard]] bool can_be_totals(const Work& work) const {
    const std::byte* const output = operand(work, IntegerOperand::output);
    auto bits = reinterpret_cast<std::uintptr_t>(output) | static_cast<std::uintptr_t>(product_.output.row);
    for (std::uint32_t i = 0; i < product_.batch_rank; ++i) {
      bits |= static_cast<std::uintptr_t>(product_.output.batch[i]);
    }
    return output != nullptr && step_.finish == IntegerFinish::int32 && product_.output.column == kWord &&
           bits % kWord == 0 && work.bounds.rows % kernels_.row_unit == 0 && work.bounds.columns % kernels_.panel == 0;
  }

  bool gather_zeros(const Work& work, IntegerOperand which, std::int64_t stride, bool is_signed, bool wants_signed,
                    std::int64_t first, std::int64_t count, u32* to) const {
    const std::byte* const from = operand(work, which);
    const i32 shift = byte_shift(is_signed, wants_signed);
    u32 any = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::byte* const zero = from + (first + i) * stride;
      const i32 value = from == nullptr ? 0 : is_signed ? load<i8>(zero) : load<u8>(zero);
      to[i] = static_cast<u32>(value + shift);
      any |= to[i];
    }
    return any != 0;
  }

  void multiply(const Work& work) const {
    const TileBounds& bounds = work.bounds;
    u32* const sums = at<u32>(work, buffers_.column_sums);
    if (product_.depth == 0) {
      for (std::int64_t row = 0; row < bounds.rows; ++row) {
        std::fill_n(work.totals + row * work.totals_step, bounds.columns, 0U);
      }
    }
    if (work.has_column_zeros || (work.has_row_zeros && product_.panel == 0)) {
      fill_ones(at<u8>(work, buffers_.ones),
                std::max(kernels_.panel, kernels_.row_unit) * padded_depth(std::min(kDepthBlock, product_.depth)));
    }
    std::fill_n(at<u32>(work, buffers_.row_sums), bounds.rows, 0U);
    std::fill_n(sums, tiles_.columns, 0U);
    if (product_.panel != 0 && work.has_row_zeros && product_.depth != 0) {
      for (std::int64_t column = 0; column < bounds.columns; column += kernels_.panel) {
        std::memcpy(sums + column, packed_panel(work, column) + kernels_.panel * padded_depth(product_.depth),
                    static_cast<std::size_t>(kernels_.panel * kWord));
      }
    }
    u8* const of_a = at<u8>(work, buffers_.of_a);
    for (std::int64_t first = 0; first < product_.depth; first += depth_) {
      const std::int64_t depth = std::min(depth_, product_.depth - first);
      const bool starts = work.starts && first + depth == product_.depth;  // all column sums are known
      u32* const start = at<u32>(work, buffers_.start);
      pack_rows(work, first, depth, of_a);
      for (std::int64_t column = 0; column < bounds.columns; column += kernels_.panel) {
        const u8* const panel = panel_of(work, column, first, depth);
        if (starts) {
          const u32 zero = at<u32>(work, buffers_.row_zeros)[0];
          for (std::int64_t i = 0; i < kernels_.panel; ++i) {
            start[i] = 0U - zero * sums[column + i];
          }
        }
        kernels_.multiply(bounds.rows, {.a = of_a,
                                        .b = panel,
                                        .groups = ceil_div(depth, kernels_.group),
                                        .start = starts ? start : kNoStart,
                                        .totals = work.totals + column,
                                        .totals_step = work.totals_step,
                                        .is_first = first == 0});
      }
    }
  }

  // Packs a block of the tile's rows into strips and adds it to the row sums.
  void pack_rows(const Work& work, std::int64_t first, std::int64_t depth, u8* of_a) const {
    const TileBounds& bounds = work.bounds;
    const std::int64_t groups = ceil_div(depth, kernels_.group);
    for (std::int64_t row = 0; row < bounds.rows; row += kernels_.strip) {
      const std::int64_t rows = std::min(kernels_.strip, bounds.rows - row);
      const std::int64_t width = kernels_.padded_rows(rows);
      u8* const strip = of_a + row * groups * kernels_.group;
      pack_bytes(pack_a_, element(work, IntegerOperand::a, product_.a, bounds.row + row, first), product_.a.column,
                 product_.a.row, depth, rows, {.first = strip, .width = width, .step = 0});
      if (work.has_column_zeros) {
        u32* const sums = at<u32>(work, buffers_.sums);
        add_up(kernels_, rows, strip, width, at<u8>(work, buffers_.ones), 0, depth, sums);
        for (std::int64_t i = 0; i < rows; ++i) {
          at<u32>(work, buffers_.row_sums)[row + i] += sums[i * kernels_.panel];
        }
      }
    }
  }

  [[nodiscard]] const u8* packed_panel(const Work& work, std::int64_t column) const {
    const std::byte* const matrix =
        operand(work, IntegerOperand::b) + batch_offset(product_, product_.b, work.bounds.batch);
    return reinterpret_cast<const u8*>(matrix) +
           (work.bounds.column + column) / kernels_.panel * integer_panel_bytes(kernels_.panel, product_.depth);
  }
  // The bytes of B for one panel and a block of k: in place, or packed in the buffer together with the panels that
  // follow. Must be called for consecutive panels.
  [[nodiscard]] const u8* panel_of(const Work& work, std::int64_t column, std::int64_t first,
                                   std::int64_t depth) const {
    if (product_.panel != 0) {
      return packed_panel(work, column) + first * kernels_.panel;
    }
    const std::int64_t panel_bytes = kernels_.panel * padded_depth(depth);
    const std::int64_t together = std::max(kColumnsTogether, kernels_.panel);
    u8* const panels = at<u8>(work, buffers_.of_b);
    u8* const panel = panels + column % together / kernels_.panel * panel_bytes;
    if (column % together == 0) {
      pack_bytes(pack_b_, element(work, IntegerOperand::b, product_.b, first, work.bounds.column + column),
                 product_.b.row, product_.b.column, depth, std::min(together, work.bounds.columns - column),
                 {.first = panels, .width = kernels_.panel, .step = panel_bytes});
    }
    if (work.has_row_zeros) {
      u32* const sums = at<u32>(work, buffers_.sums);
      add_up(kernels_, 1, at<u8>(work, buffers_.ones), 0, panel, kernels_.panel, depth, sums);
      for (std::int64_t i = 0; i < kernels_.panel; ++i) {
        at<u32>(work, buffers_.column_sums)[column + i] += sums[i];
      }
    }
    return panel;
  }

  [[nodiscard]] f32 scale_at(const Work& work, IntegerOperand which, const SideStrides& strides, std::int64_t row,
                             std::int64_t column) const {
    return load<f32>(operand(work, which) + row * strides.row + column * strides.column);
  }
  // Computes the factors of a row and the zero points of its outputs.
  void set_scales(const Work& work, std::int64_t row) const {
    f32* const factors = at<f32>(work, buffers_.factors);
    i32* const zeros = at<i32>(work, buffers_.zeros);
    const std::byte* const zero_points = operand(work, IntegerOperand::output_zero);
    const bool varies = step_.a_scale.column != 0 || step_.b_scale.column != 0 || step_.output_scale.column != 0 ||
                        step_.output_zero.column != 0;
    const std::int64_t count = varies ? work.bounds.columns : 1;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t column = work.bounds.column + i;
      const f32 a = scale_at(work, IntegerOperand::a_scale, step_.a_scale, row, column);
      const f32 b = scale_at(work, IntegerOperand::b_scale, step_.b_scale, row, column);
      if (step_.finish == IntegerFinish::float32) {
        factors[i] = float_factor(a, b);
        zeros[i] = 0;
        continue;
      }
      factors[i] =
          quantized_factor(a, b, scale_at(work, IntegerOperand::output_scale, step_.output_scale, row, column));
      const std::byte* const zero = zero_points + row * step_.output_zero.row + column * step_.output_zero.column;
      zeros[i] = zero_points == nullptr ? 0 : step_.signed_output != 0 ? load<i8>(zero) : load<u8>(zero);
    }
    std::fill(factors + count, factors + work.bounds.columns, factors[0]);
    std::fill(zeros + count, zeros + work.bounds.columns, zeros[0]);
  }

  void finish_row(const Work& work, const IntegerRow& row, const std::byte* bias, std::byte* to) const {
    switch (step_.finish) {
      case IntegerFinish::int32:
        rows_.to_int32(row, to);
        return;
      case IntegerFinish::quantized:
        (step_.signed_output != 0 ? rows_.to_int8 : rows_.to_uint8)(row, to);
        return;
      case IntegerFinish::float32:
        break;
    }
    if (bias != nullptr && product_.c.column != kWord) {
      f32* const beside = at<f32>(work, buffers_.bias);
      for (std::int64_t i = 0; i < row.count; ++i) {
        beside[i] = load<f32>(bias + i * product_.c.column);
      }
      bias = reinterpret_cast<const std::byte*>(beside);
    }
    rows_.to_float32(row, bias, to);
  }

  void finish(const Work& work) const {
    const TileBounds& bounds = work.bounds;
    const bool is_forwarded = after_.step != nullptr;
    const std::int64_t bytes = step_.finish == IntegerFinish::quantized ? 1 : kWord;
    const bool is_contiguous = product_.output.column == bytes || bounds.columns == 1;
    const bool has_scales = step_.finish != IntegerFinish::int32;
    const bool scales_vary =
        step_.a_scale.row != 0 || step_.b_scale.row != 0 || step_.output_scale.row != 0 || step_.output_zero.row != 0;
    const bool has_bias = operand(work, IntegerOperand::bias) != nullptr;
    const bool corrects = (work.has_row_zeros && !work.starts) || work.has_column_zeros;
    u32* const totals = work.totals;
    IntegerRow row{.totals = nullptr,
                   .column_sums = corrects ? at<u32>(work, buffers_.column_sums) : nullptr,
                   .column_zeros = work.has_column_zeros ? at<u32>(work, buffers_.column_zeros) : nullptr,
                   .zero = 0,
                   .rest = 0,
                   .plus = 0,
                   .factors = at<f32>(work, buffers_.factors),
                   .zeros = at<i32>(work, buffers_.zeros),
                   .count = bounds.columns};
    for (std::int64_t i = 0; i < bounds.rows; ++i) {
      if (has_scales && (i == 0 || scales_vary)) {
        set_scales(work, bounds.row + i);
      }
      row.totals = totals + i * tiles_.columns;
      row.zero = at<u32>(work, buffers_.row_zeros)[i];
      row.rest = at<u32>(work, buffers_.row_sums)[i] - static_cast<u32>(product_.depth) * row.zero;
      const std::byte* const bias =
          has_bias ? element(work, IntegerOperand::bias, product_.c, bounds.row + i, bounds.column) : nullptr;
      if (is_forwarded) {
        finish_row(work, row, bias, reinterpret_cast<std::byte*>(totals + i * tiles_.columns));
        continue;
      }
      std::byte* const to = element(work, IntegerOperand::output, product_.output, bounds.row + i, bounds.column);
      if (is_contiguous) {
        finish_row(work, row, bias, to);
        continue;
      }
      std::byte* const computed = at<std::byte>(work, buffers_.row);
      finish_row(work, row, bias, computed);
      for (std::int64_t column = 0; column < bounds.columns; ++column) {
        std::memcpy(to + column * product_.output.column, computed + column * bytes, static_cast<std::size_t>(bytes));
      }
    }
    if (is_forwarded) {
      after_.run({.first = (bounds.batch * product_.rows + bounds.row) * product_.columns + bounds.column,
                  .rows = bounds.rows,
                  .columns = bounds.columns,
                  .row_step = product_.columns,
                  .buffer_row_step = tiles_.columns * kWord},
                 reinterpret_cast<std::byte*>(totals), work.operands);
    }
  }

  IntegerStep step_;
  const ProductStep& product_;
  const IntegerKernels& kernels_;
  const IntegerRows& rows_;
  Tiles tiles_;
  std::int64_t depth_;  // per block
  Buffers buffers_;
  cpu::Neighbor after_;
  BytePacking pack_a_;
  BytePacking pack_b_;
};

// Packs panels of B once for all executions, and computes the sums of their columns.
class IntegerPackRun final : public cpu::PreparedStep {
 public:
  IntegerPackRun(const IntegerStep& step, const IntegerKernels& kernels, const IntegerRows& rows, std::int64_t panels)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(step.product.batches * step.product.panels(), panels)), 1,
                     static_cast<std::size_t>(kernels.row_unit * (kDepthBlock + kernels.panel * kWord))),
        product_(step.product),
        kernels_(kernels),
        pack_(packing_of_b(kernels, rows, step.signed_b != 0)),
        panels_(panels) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * panels_;
    const std::int64_t end = std::min(first + panels_, product_.batches * product_.panels());
    auto* const ones = reinterpret_cast<u8*>(piece.scratch);
    auto* const sums = reinterpret_cast<u32*>(piece.scratch + kernels_.row_unit * kDepthBlock);
    fill_ones(ones, kernels_.row_unit * std::min(kDepthBlock, padded_depth(product_.depth)));
    const std::int64_t width = kernels_.panel;
    const std::int64_t bytes = integer_panel_bytes(width, product_.depth);
    for (std::int64_t number = first; number < end;) {
      // Processes the panels of one matrix together.
      const std::int64_t batch = number / product_.panels();
      const std::int64_t panel = number % product_.panels();
      const std::int64_t panels = std::min(end - number, product_.panels() - panel);
      auto* to = reinterpret_cast<u8*>(operands[1] + batch_offset(product_, product_.output, batch)) + panel * bytes;
      pack_bytes(pack_, operands[0] + batch_offset(product_, product_.b, batch) + panel * width * product_.b.column,
                 product_.b.row, product_.b.column, product_.depth,
                 std::min(panels * width, product_.columns - panel * width),
                 {.first = to, .width = width, .step = bytes});
      for (const std::int64_t after = number + panels; number < after; ++number, to += bytes) {
        add_up(kernels_, 1, ones, 0, to, width, product_.depth, sums);
        std::memcpy(to + width * padded_depth(product_.depth), sums, static_cast<std::size_t>(width * kWord));
      }
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "panels of %u columns, %s kernel", product_.panel, kernels_.name);
  }

 private:
  ProductStep product_;
  const IntegerKernels& kernels_;
  BytePacking pack_;
  std::int64_t panels_;  // per piece
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_integer_product(const Step& flat, const cpu::StepContext& context,
                                                           cpu::Neighbors neighbors) {
  IntegerStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const IntegerKernels& kernels = integer_kernels(context.target);
  if (step.product.panel != 0 && kernels.panel != step.product.panel) {
    return nullptr;
  }
  if (step.product.kind == ProductKind::integer_pack) {
    constexpr std::int64_t kBytesOfPiece = 1 << 18;
    const std::int64_t of_panel = integer_panel_bytes(kernels.panel, step.product.depth);
    return std::make_unique<IntegerPackRun>(step, kernels, integer_rows(context.target),
                                            std::max<std::int64_t>(1, kBytesOfPiece / of_panel));
  }
  // Allows more rows if they are shorter than a block, as long as the totals fit into a second-level cache.
  TileLimits maximum = kMax;
  const std::int64_t columns = std::min(step.product.columns, kMax.columns);
  maximum.rows *= std::clamp<std::int64_t>(
      std::min(kDepthBlock / std::max<std::int64_t>(1, step.product.depth), 2 * kMax.columns / columns), 1, 8);
  const Tiles tiles = cut(step.product, kernels.strip, kernels.panel, maximum, context.threads);
  return std::make_unique<IntegerRun>(step, kernels, tiles, context, std::move(neighbors.after));
}

}  // namespace anydml
