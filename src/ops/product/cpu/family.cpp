// SPDX-License-Identifier: MIT
// Products on the CPU. A piece is a tile of one output matrix. For each block, the required rows of A are packed next
// to each other and multiplied by each panel of B while both are in the caches; the totals stay in a buffer until the
// last block is done. Then they are scaled and written to the output or passed to the step that consumes them.
#include "backend/cpu/family.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/element.h"
#include "base/float_bits.h"
#include "ops/product/coded.h"
#include "ops/product/cpu/coded_dots.h"
#include "ops/product/cpu/coded_kernels.h"
#include "ops/product/cpu/coded_pack.h"
#include "ops/product/cpu/convolution.h"
#include "ops/product/cpu/double_kernels.h"
#include "ops/product/cpu/integer.h"
#include "ops/product/cpu/integer_convolution.h"
#include "ops/product/cpu/kernels.h"
#include "ops/product/cpu/pack.h"
#include "ops/product/cpu/tile.h"
#include "ops/product/cpu/tiles.h"
#include "ops/product/cpu/vector_kernels.h"
#include "ops/product/operands.h"
#include "ops/product/step.h"

namespace anydml {
namespace {

constexpr auto kBytes = static_cast<std::int64_t>(sizeof(f32));
// Limits for a tile. Its totals and the factors of its rows fill part of the second-level cache, and rows are packed
// once for all of its columns.
constexpr TileLimits kMax = {.rows = 96, .columns = 512, .min_work = kMinWork};
constexpr std::int64_t kMaxDepth = 1 << 14;  // rows up to this depth are packed as a whole

using namespace product_operands;

template <class T = f32>
f32 load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return widen(value);
}

f32 load(const std::byte* from, bool is_half) { return is_half ? load<f16>(from) : load<f32>(from); }

// The scratch memory of a thread, in FLOAT32 elements.
struct Buffers {
  std::int64_t totals = 0;
  std::int64_t of_a = 0;  // packed factors of a block
  std::int64_t of_b = 0;

  bool is_strip = false;  // a single strip of rows, whose factors are packed as a whole

  Buffers(const ProductStep& step, const CodedForm& form, const ProductKernels* kernels, const Tiles& tiles)
      : totals(tiles.rows * tiles.columns) {
    if (form.activation_bits != 0) {
      of_a = tiles.rows * ActivationRow::bytes(form) / kBytes;
      of_b = step.depth;  // a row of A as numbers
    } else if (kernels != nullptr) {
      const std::int64_t depth = std::min(kProductBlock, step.depth);
      is_strip = tiles.rows <= kernels->strip && step.depth <= kMaxDepth;
      of_a = step.strip != 0 ? 0 : tiles.rows * (is_strip ? step.depth : depth);
      of_b = step.panel == 0 || (step.halves & kHalfB) != 0 ? kernels->panel * depth : 0;
    }
  }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>((totals + of_a + of_b) * kBytes); }
};

class ProductRun final : public cpu::PreparedStep {
 public:
  // `kernels` is null to use the scalar definition. form: of B; without bits if B is not in codes.
  ProductRun(const ProductStep& step, const CodedForm& form, const ProductKernels* kernels, bool has_c,
             const Tiles& tiles, const cpu::StepContext& context, cpu::Neighbor after)
      : PreparedStep(static_cast<std::uint64_t>(tiles.of_matrix() * step.batches), 1,
                     Buffers(step, form, kernels, tiles).bytes()),
        step_(step),
        form_(form),
        kernels_(kernels),
        tiles_(tiles),
        buffers_(step, form, kernels, tiles),
        dots_(form.activation_bits != 0 ? &coded_dot_kernels(context.target) : nullptr),
        coded_(kernels != nullptr && form.bits != 0 ? coded_kernels(context.target, form) : nullptr),
        vectors_(kernels != nullptr ? vector_kernels(context.target) : nullptr),
        row_product_(find_row_product()),
        panel_row_(vectors_ != nullptr && step.rows == 1 && step.panel != 0 && step.strip == 0 &&
                           (step.halves & kHalfB) != 0 && buffers_.is_strip
                       ? vectors_->half_panel_row
                       : nullptr),
        after_(std::move(after)),
        target_(context.target),
        has_c_(has_c) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const Bounds bounds = bounds_of(step_, tiles_, static_cast<std::int64_t>(piece.number));
    auto* const totals = reinterpret_cast<f32*>(piece.scratch);
    if (dots_ != nullptr) {
      multiply_codes(bounds, operands, totals);
    } else if (kernels_ == nullptr || step_.depth == 0) {
      compute_by_definition(bounds, operands, totals);
    } else if (step_.strip != 0) {
      PackedStrips a{.first = reinterpret_cast<const f32*>(operands[kA] + batch_offset(step_, step_.a, bounds.batch)) +
                              bounds.row * step_.depth,
                     .depth = step_.depth};
      compute(bounds, operands, totals, a);
    } else {
      MatrixRows a{.run = *this, .bounds = bounds, .operands = operands, .packed = totals + buffers_.totals};
      if (buffers_.is_strip) {
        a.begin(0, step_.depth);
      }
      if (coded_ != nullptr && buffers_.is_strip && bounds.rows <= kCodedRows) {
        coded_->rows[bounds.rows - 1](form_, a.packed, operands[kB], bounds.column, bounds.columns, totals,
                                      tiles_.columns);
      } else if (panel_row_ != nullptr) {
        for (std::int64_t column = 0; column < bounds.columns; column += kernels_->panel) {
          panel_row_(a.packed, column_of(bounds.batch, operands, bounds.column + column).first, step_.depth,
                     totals + column);
        }
      } else if (row_product_ != nullptr) {
        row_product_(a.packed, at(operands, kB, step_.b, bounds.batch, 0, bounds.column),
                     is_along() ? step_.b.row : step_.b.column, step_.depth, bounds.columns, totals);
      } else {
        compute(bounds, operands, totals, a);
      }
    }
    finish(bounds, operands, totals);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "tiles of %lld x %lld, %s, %s kernel", static_cast<long long>(tiles_.rows),
                  static_cast<long long>(tiles_.columns),
                  step_.panel != 0  ? "packed"
                  : form_.bits == 4 ? "packed in four bits"
                  : form_.bits == 8 ? "packed in eight bits"
                                    : "not packed",
                  cpu::target_name(kernels_ != nullptr ? target_ : cpu::Target::generic));
  }

 private:
  using Bounds = TileBounds;

  // The address of the element at a row and a column of the tile's matrix.
  [[nodiscard]] std::byte* at(std::byte* const* operands, std::size_t operand, const MatrixStrides& strides,
                              std::int64_t batch, std::int64_t row, std::int64_t column) const {
    return operands[operand] + batch_offset(step_, strides, batch) + row * strides.row + column * strides.column;
  }

  // For one row and an unpacked B: whether the elements of one k are adjacent.
  [[nodiscard]] bool is_along() const { return step_.b.column == bytes_of_b() || step_.columns == 1; }
  [[nodiscard]] std::int64_t bytes_of_b() const {
    return (step_.halves & kHalfB) != 0 ? static_cast<std::int64_t>(sizeof(f16)) : kBytes;
  }
  [[nodiscard]] RowProduct find_row_product() const {
    if (vectors_ == nullptr || form_.bits != 0 || step_.rows != 1 || step_.panel != 0 || step_.strip != 0 ||
        !buffers_.is_strip) {
      return nullptr;
    }
    const RowKernels& of_type = (step_.halves & kHalfB) != 0 ? vectors_->halves : vectors_->singles;
    if (is_along()) {
      return of_type.along;
    }
    return step_.b.row == bytes_of_b() || step_.depth == 1 ? of_type.across : nullptr;
  }

  // Packs factors of one operand; `half` is the bit that indicates its type.
  void pack(std::uint32_t half, const std::byte* from, std::int64_t k_stride, std::int64_t stride, std::int64_t depth,
            std::int64_t count, std::int64_t width, f32* to) const {
    if ((step_.halves & half) != 0) {
      pack_halves(kernels_, vectors_, from, k_stride, stride, depth, count, width, to);
    } else {
      pack_panel(kernels_, from, k_stride, stride, depth, count, width, to);
    }
  }

  // The address of a column's factors in B, and the distance from one k to the next.
  struct Column {
    const std::byte* first;
    std::int64_t k_stride;
  };
  [[nodiscard]] Column column_of(std::int64_t batch, std::byte* const* operands, std::int64_t column) const {
    if (step_.panel == 0) {
      return {.first = at(operands, kB, step_.b, batch, 0, column), .k_stride = step_.b.row};
    }
    const auto panel = static_cast<std::int64_t>(step_.panel);
    const std::int64_t offset = column / panel * panel * step_.depth + column % panel;
    return {.first = operands[kB] + batch_offset(step_, step_.b, batch) + offset * bytes_of_b(),
            .k_stride = panel * bytes_of_b()};
  }

  void compute_by_definition(const Bounds& bounds, std::byte* const* operands, f32* totals) const {
    const bool b_is_half = (step_.halves & kHalfB) != 0;
    for (std::int64_t row = 0; row < bounds.rows; ++row) {
      for (std::int64_t column = 0; column < bounds.columns; ++column) {
        const std::byte* const a = at(operands, kA, step_.a, bounds.batch, bounds.row + row, 0);
        const Column b = column_of(bounds.batch, operands, bounds.column + column);
        const auto of_a = [&](std::int64_t k) {
          return step_.strip == 0
                     ? load(a + k * step_.a.column, (step_.halves & kHalfA) != 0)
                     : packed_factor(reinterpret_cast<const f32*>(at(operands, kA, step_.a, bounds.batch, 0, 0)),
                                     step_.rows, step_.strip, step_.depth, bounds.row + row, k);
        };
        const auto of_b = [&](std::int64_t k) {
          return form_.bits != 0 ? coded_element(form_, operands[kB], k, bounds.column + column)
                                 : load(b.first + k * b.k_stride, b_is_half);
        };
        totals[row * tiles_.columns + column] = sum_of_products(step_.depth, of_a, of_b);
      }
    }
  }

  // Rounds the rows of A to codes, and multiplies panel by panel.
  void multiply_codes(const Bounds& bounds, std::byte* const* operands, f32* totals) const {
    auto* const codes = reinterpret_cast<std::byte*>(totals + buffers_.totals);
    f32* const numbers = totals + buffers_.totals + buffers_.of_a;
    const std::int64_t bytes = ActivationRow::bytes(form_);
    for (std::int64_t row = 0; row < bounds.rows; ++row) {
      const std::byte* const a = at(operands, kA, step_.a, bounds.batch, bounds.row + row, 0);
      const bool is_in_place = (step_.halves & kHalfA) == 0 && step_.a.column == kBytes &&
                               reinterpret_cast<std::uintptr_t>(a) % alignof(f32) == 0;
      if (!is_in_place) {
        pack(kHalfA, a, step_.a.column, step_.a.row, step_.depth, 1, 1, numbers);
      }
      dots_->make_codes(form_, is_in_place ? reinterpret_cast<const f32*>(a) : numbers,
                        ActivationRow::at(form_, codes + row * bytes));
    }
    const auto width = static_cast<std::int64_t>(form_.width);
    for (std::int64_t column = 0; column < bounds.columns; column += width) {
      for (std::int64_t row = 0; row < bounds.rows; row += kDotRows) {
        ActivationRow rows[kDotRows];
        const std::int64_t count = std::min(kDotRows, bounds.rows - row);
        for (std::int64_t i = 0; i < count; ++i) {
          rows[i] = ActivationRow::at(form_, codes + (row + i) * bytes);
        }
        dots_->rows[count - 1](form_, rows, operands[kB], bounds.column + column, width,
                               totals + row * tiles_.columns + column, tiles_.columns);
      }
    }
  }

  // The rows of an unpacked A. They are packed one block at a time, or for all blocks together if they form a single
  // strip.
  struct MatrixRows {
    static constexpr bool kAreFar = false;

    const ProductRun& run;
    const Bounds& bounds;
    std::byte* const* operands;
    f32* packed;

    void begin(std::int64_t first, std::int64_t depth) const {
      const ProductStep& step = run.step_;
      for (std::int64_t row = 0; row < bounds.rows; row += run.kernels_->strip) {
        const std::int64_t rows = std::min(run.kernels_->strip, bounds.rows - row);
        run.pack(kHalfA, run.at(operands, kA, step.a, bounds.batch, bounds.row + row, first), step.a.column, step.a.row,
                 depth, rows, rows, packed + row * depth);
      }
    }
    [[nodiscard]] const f32* strip(std::int64_t row, std::int64_t rows, std::int64_t first, std::int64_t depth) const {
      return run.buffers_.is_strip ? packed + first * rows : packed + row * depth;
    }
  };

  struct MatrixColumns {
    const ProductRun& run;
    const Bounds& bounds;
    std::byte* const* operands;
    f32* buffer;

    void begin(std::int64_t, std::int64_t) {}
    [[nodiscard]] Panel panel(std::int64_t column, std::int64_t first, std::int64_t depth) const {
      return run.panel_of(bounds, operands, bounds.column + column, first, depth, buffer);
    }
  };

  template <class Rows>
  void compute(const Bounds& bounds, std::byte* const* operands, f32* totals, Rows& a) const {
    MatrixColumns b{
        .run = *this, .bounds = bounds, .operands = operands, .buffer = totals + buffers_.totals + buffers_.of_a};
    const TileTotals tile{.first = totals, .row_step = tiles_.columns, .rows = bounds.rows, .columns = bounds.columns};
    if (buffers_.is_strip) {
      add_strip(*kernels_, step_.depth, a, b, tile);
    } else {
      add_products(*kernels_, step_.depth, a, b, tile);
    }
  }

  // The elements of B for one panel and block as FLOAT32, either in place or packed into the buffer. In a wide matrix
  // these elements are far apart, on more pages than the TLB covers, so packing them pays off if several strips use
  // them.
  [[nodiscard]] Panel panel_of(const Bounds& bounds, std::byte* const* operands, std::int64_t column,
                               std::int64_t first, std::int64_t depth, f32* buffer) const {
    if (coded_ != nullptr) {
      coded_->widen(form_, operands[kB], column, first, depth, buffer);
      return {.first = buffer, .step = kernels_->panel};
    }
    if (step_.panel != 0 && (step_.halves & kHalfB) != 0) {
      const Column of_column = column_of(bounds.batch, operands, column);
      vectors_->widen(of_column.first + first * of_column.k_stride, depth * kernels_->panel, buffer);
      return {.first = buffer, .step = kernels_->panel};
    }
    if (step_.panel != 0) {
      const std::byte* const matrix = operands[kB] + batch_offset(step_, step_.b, bounds.batch);
      const auto* const elements = reinterpret_cast<const f32*>(matrix);
      Panel panel{.first = elements + column * step_.depth + first * kernels_->panel, .step = kernels_->panel};
      if (column + kernels_->panel < bounds.column + bounds.columns) {
        panel.next = panel.first + kernels_->panel * step_.depth;
      } else if (first + 2 * kProductBlock <= step_.depth) {  // a whole block follows this one
        panel.next = elements + bounds.column * step_.depth + (first + kProductBlock) * kernels_->panel;
      }
      return panel;
    }
    const std::byte* const from = at(operands, kB, step_.b, bounds.batch, first, column);
    const std::int64_t columns = std::min(kernels_->panel, step_.columns - column);
    const bool is_aligned = (reinterpret_cast<std::uintptr_t>(from) | static_cast<std::uintptr_t>(step_.b.row)) %
                                static_cast<std::uintptr_t>(kBytes) ==
                            0;
    const bool is_read_once = step_.strip == 0 || bounds.rows <= 2 * kernels_->strip;
    if (is_read_once && columns == kernels_->panel && step_.b.column == kBytes && is_aligned &&
        (step_.halves & kHalfB) == 0) {
      return {.first = reinterpret_cast<const f32*>(from), .step = step_.b.row / kBytes};
    }
    pack(kHalfB, from, step_.b.row, step_.b.column, depth, columns, kernels_->panel, buffer);
    return {.first = buffer, .step = kernels_->panel};
  }

  void scale_row(const f32* totals, const std::byte* c, std::int64_t count, std::byte* to) const {
    if (kernels_ != nullptr) {
      kernels_->scale_row(step_.scale, totals, c, step_.c.column, count, to);
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const f32 value = c == nullptr ? step_.scale(totals[i]) : step_.scale(totals[i], load(c + i * step_.c.column));
      std::memcpy(to + i * kBytes, &value, sizeof(value));
    }
  }

  void finish(const Bounds& bounds, std::byte* const* operands, f32* totals) const {
    const bool is_forwarded = after_.step != nullptr;
    const bool is_contiguous = step_.output.column == kBytes || bounds.columns == 1;
    for (std::int64_t row = 0; row < bounds.rows; ++row) {
      f32* const row_totals = totals + row * tiles_.columns;
      const std::byte* const c =
          has_c_ ? at(operands, kC, step_.c, bounds.batch, bounds.row + row, bounds.column) : nullptr;
      if (is_forwarded) {
        scale_row(row_totals, c, bounds.columns, reinterpret_cast<std::byte*>(row_totals));
        continue;
      }
      std::byte* const to = at(operands, kOutput, step_.output, bounds.batch, bounds.row + row, bounds.column);
      if (is_contiguous) {
        scale_row(row_totals, c, bounds.columns, to);
        continue;
      }
      scale_row(row_totals, c, bounds.columns, reinterpret_cast<std::byte*>(row_totals));
      for (std::int64_t column = 0; column < bounds.columns; ++column) {
        std::memcpy(to + column * step_.output.column, row_totals + column, sizeof(f32));
      }
    }
    if (is_forwarded) {
      after_.run({.first = (bounds.batch * step_.rows + bounds.row) * step_.columns + bounds.column,
                  .rows = bounds.rows,
                  .columns = bounds.columns,
                  .row_step = step_.columns,
                  .buffer_row_step = tiles_.columns * kBytes},
                 reinterpret_cast<std::byte*>(totals), operands);
    }
  }

  ProductStep step_;
  CodedForm form_;
  const ProductKernels* kernels_;
  Tiles tiles_;
  Buffers buffers_;
  const CodedDotKernels* dots_;   // null unless the activations are codes too
  const CodedKernels* coded_;     // null if B is not in codes, or without kernels
  const VectorKernels* vectors_;  // null if kernels_ is null
  RowProduct row_product_;        // null if tiles are computed from strips and panels
  PanelRow panel_row_;            // null unless this is one row, and B is packed as FLOAT16
  cpu::Neighbor after_;
  cpu::Target target_;
  bool has_c_;
};

class PackRun final : public cpu::PreparedStep {
 public:
  PackRun(const ProductStep& step, const ProductKernels* kernels, std::int64_t panels)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(step.batches * step.panels(), panels))),
        step_(step),
        kernels_(kernels),
        panels_(panels) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * panels_;
    const std::int64_t end = std::min(first + panels_, step_.batches * step_.panels());
    const auto width = static_cast<std::int64_t>(step_.panel);
    for (std::int64_t number = first; number < end; ++number) {
      const std::int64_t batch = number / step_.panels();
      const std::int64_t column = number % step_.panels() * width;
      const bool is_half = (step_.halves & kHalfB) != 0;
      const auto bytes = is_half ? static_cast<std::int64_t>(sizeof(f16)) : kBytes;
      std::byte* const to = operands[1] + batch_offset(step_, step_.output, batch) + column * step_.depth * bytes;
      const std::byte* const from = operands[0] + batch_offset(step_, step_.b, batch) + column * step_.b.column;
      const std::int64_t count = std::min(width, step_.columns - column);
      if (is_half) {
        pack_half_panel(from, step_.b.row, step_.b.column, step_.depth, count, width, to);
      } else {
        pack_panel(kernels_, from, step_.b.row, step_.b.column, step_.depth, count, width, reinterpret_cast<f32*>(to));
      }
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "panels of %u columns", step_.panel);
  }

 private:
  ProductStep step_;
  const ProductKernels* kernels_;
  std::int64_t panels_;  // per piece
};

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context,
                                           cpu::Neighbors neighbors) {
  const ProductKernels* const kernels = product_kernels(context.target);
  ProductKind kind;
  std::memcpy(&kind, flat.parameters.data(), sizeof(kind));
  if (kind == ProductKind::filter) {
    return prepare_filter(flat, kernels);
  }
  if (kind == ProductKind::convolution) {
    return prepare_convolution(flat, kernels, context, std::move(neighbors.after));
  }
  if (kind == ProductKind::integer_filter || kind == ProductKind::integer_convolution) {
    return prepare_integer_convolution(flat, context, std::move(neighbors.after));
  }
  if (kind == ProductKind::integer_pack || kind == ProductKind::integer_product) {
    return prepare_integer_product(flat, context, std::move(neighbors));
  }
  if (kind == ProductKind::double_product) {
    return prepare_double_product(flat, context);
  }
  if (kind == ProductKind::double_convolution) {
    return prepare_double_convolution(flat, context);
  }
  if (kind == ProductKind::half_product) {
    return nullptr;  // inexact results would not be faster on the CPU
  }
  if (kind == ProductKind::coded_pack) {
    return prepare_coded_pack(flat);
  }
  ProductStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  CodedForm form{};
  if (kind == ProductKind::coded_product) {
    std::memcpy(&form, flat.parameters.data() + offsetof(CodedStep, form), sizeof(form));
  }
  if (step.kind == ProductKind::pack) {
    constexpr std::int64_t kElementsOfPiece = 1 << 16;
    const std::int64_t of_panel = std::max<std::int64_t>(1, step.depth * step.panel);
    return std::make_unique<PackRun>(step, kernels, std::max<std::int64_t>(1, kElementsOfPiece / of_panel));
  }
  if (step.panel != 0 && kernels != nullptr && kernels->panel != step.panel) {
    return nullptr;
  }
  if (step.strip != 0 && kernels != nullptr && kernels->strip != step.strip) {
    return nullptr;
  }
  TileLimits maximum = kMax;
  if (step.rows == 1 && step.panel == 0 && form.bits == 0) {  // B is read once, preferably in long rows
    maximum.columns =
        std::clamp(ceil_div(step.columns, 2 * std::int64_t{context.threads}), kMax.columns, 8 * kMax.columns);
  }
  if (form.bits != 0) {  // the rows of a usual prompt together, because each tile converts the codes again
    maximum.rows = 144;
  }
  if (form.activation_bits != 0) {  // the codes of the rows stay in the second-level cache
    constexpr std::int64_t kCacheBytes = 1 << 18;
    maximum.rows = std::clamp(kCacheBytes / ActivationRow::bytes(form), kDotRows, maximum.rows);
  }
  const std::int64_t unit = form.bits != 0 ? form.width : kernels != nullptr ? kernels->panel : 1;
  const Tiles tiles = cut(step, kernels != nullptr ? kernels->strip : 1, unit, maximum, context.threads);
  return std::make_unique<ProductRun>(step, form, kernels, flat.operands[kC].slot != kAbsentSlot, tiles, context,
                                      std::move(neighbors.after));
}

}  // namespace

namespace cpu {
extern const FamilyKernels product_family;
const FamilyKernels product_family = {.open = nullptr, .prepare = prepare, .prepare_joined = nullptr};
}  // namespace cpu

}  // namespace anydml
