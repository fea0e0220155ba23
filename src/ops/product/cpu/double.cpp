// SPDX-License-Identifier: MIT
// FLOAT64 products on the CPU. A piece is a tile of one output matrix. For each block of k, the tile's rows of A are
// packed into strips, which are multiplied by one panel of B after another. Panels are packed too, unless only a few
// rows use them.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/product/cpu/double_kernels.h"
#include "ops/product/cpu/load.h"
#include "ops/product/cpu/tile.h"
#include "ops/product/cpu/tiles.h"
#include "ops/product/double.h"
#include "ops/product/operands.h"

namespace anydml {
namespace {

constexpr auto kBytes = static_cast<std::int64_t>(sizeof(f64));
constexpr TileLimits kMax = {.rows = 96, .columns = 256, .min_work = kMinWork / 2};
constexpr std::int64_t kMaxOfRow = 1 << 14;  // rows up to this depth are copied as a whole

using namespace product_operands;

// to[k * width + i] = the element at from + k * k_stride + i * stride, for i below `count`; other elements of `to` are
// +0, and their sums are unused. Reads along the contiguous dimension.
void pack(const std::byte* from, std::int64_t k_stride, std::int64_t stride, std::int64_t depth, std::int64_t count,
          std::int64_t width, f64* to) {
  if (count < width) {
    std::fill_n(to, depth * width, 0.0);
  }
  if (stride == kBytes) {
    for (std::int64_t k = 0; k < depth; ++k) {
      std::memcpy(to + k * width, from + k * k_stride, static_cast<std::size_t>(count * kBytes));
    }
    return;
  }
  constexpr std::int64_t kTogether = 8;  // values of k, enough to fill a cache line for each i
  for (std::int64_t first = 0; first < depth; first += kTogether) {
    const std::int64_t end = std::min(depth, first + kTogether);
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t k = first; k < end; ++k) {
        to[k * width + i] = load<f64>(from + k * k_stride + i * stride);
      }
    }
  }
}

// The scratch memory of a thread, in elements.
struct Buffers {
  std::int64_t row_step = 0;  // distance between rows of the totals: a whole number of panels
  std::int64_t totals = 0;
  std::int64_t of_a = 0;
  std::int64_t of_b = 0;

  Buffers(const ProductStep& step, const DoubleKernels* kernels, const Tiles& tiles, bool is_row) {
    row_step = kernels == nullptr ? tiles.columns : ceil_div(tiles.columns, kernels->panel) * kernels->panel;
    totals = tiles.rows * row_step;
    if (kernels != nullptr) {
      const std::int64_t depth = std::min(kProductBlock, step.depth);
      of_a = is_row ? step.depth : tiles.rows * depth;
      of_b = is_row ? 0 : kernels->panel * depth;
    }
  }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>((totals + of_a + of_b) * kBytes); }
};

class DoubleRun final : public cpu::PreparedStep {
 public:
  // `kernels` is null to use the scalar definition. `row` is null unless a single row is multiplied by an unpacked B.
  DoubleRun(const DoubleStep& step, const DoubleKernels* kernels, bool has_c, const Tiles& tiles, DoubleRow row,
            cpu::Target target)
      : PreparedStep(static_cast<std::uint64_t>(tiles.of_matrix() * step.product.batches), 1,
                     Buffers(step.product, kernels, tiles, row != nullptr).bytes()),
        step_(step.product),
        scale_(step.scale),
        kernels_(kernels),
        tiles_(tiles),
        buffers_(step.product, kernels, tiles, row != nullptr),
        target_(target),
        row_(row),
        has_c_(has_c) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const TileBounds bounds = bounds_of(step_, tiles_, static_cast<std::int64_t>(piece.number));
    auto* const totals = reinterpret_cast<f64*>(piece.scratch);
    if (kernels_ == nullptr || step_.depth == 0) {
      compute_by_definition(bounds, operands, totals);
    } else if (row_ != nullptr) {
      f64* const factors = totals + buffers_.totals;
      pack(at(operands, kA, step_.a, bounds.batch, bounds.row, 0), step_.a.column, 0, step_.depth, 1, 1, factors);
      row_(factors, at(operands, kB, step_.b, bounds.batch, 0, bounds.column),
           row_ == kernels_->along ? step_.b.row : step_.b.column, step_.depth, bounds.columns, totals);
    } else {
      compute(bounds, operands, totals);
    }
    finish(bounds, operands, totals);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "FLOAT64, tiles of %lld x %lld, %s kernel", static_cast<long long>(tiles_.rows),
                  static_cast<long long>(tiles_.columns),
                  cpu::target_name(kernels_ != nullptr ? target_ : cpu::Target::generic));
  }

 private:
  [[nodiscard]] std::byte* at(std::byte* const* operands, std::size_t operand, const MatrixStrides& strides,
                              std::int64_t batch, std::int64_t row, std::int64_t column) const {
    return operands[operand] + batch_offset(step_, strides, batch) + row * strides.row + column * strides.column;
  }

  void compute_by_definition(const TileBounds& bounds, std::byte* const* operands, f64* totals) const {
    for (std::int64_t row = 0; row < bounds.rows; ++row) {
      for (std::int64_t column = 0; column < bounds.columns; ++column) {
        const std::byte* const a = at(operands, kA, step_.a, bounds.batch, bounds.row + row, 0);
        const std::byte* const b = at(operands, kB, step_.b, bounds.batch, 0, bounds.column + column);
        totals[row * buffers_.row_step + column] = sum_of_products<f64>(
            step_.depth, [&](std::int64_t k) { return load<f64>(a + k * step_.a.column); },
            [&](std::int64_t k) { return load<f64>(b + k * step_.b.row); });
      }
    }
  }

  void compute(const TileBounds& bounds, std::byte* const* operands, f64* totals) const {
    f64* const of_a = totals + buffers_.totals;
    f64* const of_b = of_a + buffers_.of_a;
    const std::int64_t strip = kernels_->strip;
    const std::int64_t panel = kernels_->panel;
    for (std::int64_t first = 0; first < step_.depth; first += kProductBlock) {
      const std::int64_t depth = std::min(kProductBlock, step_.depth - first);
      for (std::int64_t row = 0; row < bounds.rows; row += strip) {
        const std::int64_t rows = std::min(strip, bounds.rows - row);
        pack(at(operands, kA, step_.a, bounds.batch, bounds.row + row, first), step_.a.column, step_.a.row, depth, rows,
             rows, of_a + row * depth);
      }
      for (std::int64_t column = 0; column < bounds.columns; column += panel) {
        const std::byte* const from = at(operands, kB, step_.b, bounds.batch, first, bounds.column + column);
        const std::int64_t columns = std::min(panel, bounds.columns - column);
        const bool is_aligned = (reinterpret_cast<std::uintptr_t>(from) | static_cast<std::uintptr_t>(step_.b.row)) %
                                    static_cast<std::uintptr_t>(kBytes) ==
                                0;
        const bool is_in_place = bounds.rows <= strip && columns == panel && step_.b.column == kBytes && is_aligned;
        if (!is_in_place) {
          pack(from, step_.b.row, step_.b.column, depth, columns, panel, of_b);
        }
        const f64* const b = is_in_place ? reinterpret_cast<const f64*>(from) : of_b;
        const std::int64_t b_step = is_in_place ? step_.b.row / kBytes : panel;
        for (std::int64_t row = 0; row < bounds.rows; row += strip) {
          kernels_->blocks[std::min(strip, bounds.rows - row) - 1](of_a + row * depth, b, b_step, depth,
                                                                   totals + row * buffers_.row_step + column,
                                                                   buffers_.row_step, first == 0);
        }
      }
    }
  }

  void finish(const TileBounds& bounds, std::byte* const* operands, const f64* totals) const {
    for (std::int64_t row = 0; row < bounds.rows; ++row) {
      const f64* const row_totals = totals + row * buffers_.row_step;
      std::byte* const to = at(operands, kOutput, step_.output, bounds.batch, bounds.row + row, bounds.column);
      const std::byte* const c =
          has_c_ ? at(operands, kC, step_.c, bounds.batch, bounds.row + row, bounds.column) : nullptr;
      for (std::int64_t column = 0; column < bounds.columns; ++column) {
        const f64 value = c == nullptr ? scale_(row_totals[column])
                                       : scale_(row_totals[column], load<f64>(c + column * step_.c.column));
        std::memcpy(to + column * step_.output.column, &value, sizeof(value));
      }
    }
  }

  ProductStep step_;
  ProductScaleOf<f64> scale_;
  const DoubleKernels* kernels_;
  Tiles tiles_;
  Buffers buffers_;
  cpu::Target target_;
  DoubleRow row_;  // null if tiles are computed from strips and panels
  bool has_c_;
};

[[nodiscard]] DoubleRow find_row(const ProductStep& step, const DoubleKernels* kernels) {
  if (kernels == nullptr || step.rows != 1 || step.depth > kMaxOfRow) {
    return nullptr;
  }
  if (step.b.column == kBytes || step.columns == 1) {
    return kernels->along;
  }
  return step.b.row == kBytes || step.depth == 1 ? kernels->across : nullptr;
}

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_double_product(const Step& flat, const cpu::StepContext& context) {
  DoubleStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const ProductStep& product = step.product;
  const DoubleKernels* const kernels = double_kernels(context.target);
  const DoubleRow row = find_row(product, kernels);
  TileLimits maximum = kMax;
  if (row != nullptr) {  // B is read once, preferably in long rows
    maximum.columns =
        std::clamp(ceil_div(product.columns, 2 * std::int64_t{context.threads}), kMax.columns, 8 * kMax.columns);
  }
  const Tiles tiles = cut(product, kernels != nullptr ? kernels->strip : 1, kernels != nullptr ? kernels->panel : 1,
                          maximum, context.threads);
  return std::make_unique<DoubleRun>(step, kernels, flat.operands[kC].slot != kAbsentSlot, tiles, row, context.target);
}

}  // namespace anydml
