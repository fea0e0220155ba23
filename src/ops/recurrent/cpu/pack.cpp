// SPDX-License-Identifier: MIT
#include "ops/recurrent/cpu/pack.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/element.h"
#include "base/float_bits.h"
#include "ops/product/cpu/kernels.h"
#include "ops/product/cpu/pack.h"
#include "ops/product/cpu/vector_kernels.h"
#include "ops/recurrent/cpu/codes.h"

namespace anydml {
namespace {

// Packs the recurrence matrix. A piece is one panel of one gate.
class RecurrentPack final : public cpu::PreparedStep {
 public:
  RecurrentPack(const RecurrentStep& step, const cpu::StepContext& context)
      : PreparedStep(static_cast<std::uint64_t>(step.directions * step.panels() * step.gates)),
        step_(step),
        products_(product_kernels(context.target)),
        vectors_(vector_kernels(context.target)),
        is_plain_(products_ != nullptr ? products_->panel != step.panel : step.panel > kMaxColumns) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const auto number = static_cast<std::int64_t>(piece.number);
    const std::int64_t gate = number % step_.gates;
    const std::int64_t panel = number / step_.gates % step_.panels();
    const std::int64_t direction = number / step_.gates / step_.panels();
    const auto width = static_cast<std::int64_t>(step_.panel);
    const RecurrentStrides& strides = step_.strides[0];
    const std::byte* const from =
        operands[0] + direction * strides.direction + (gate * step_.units + panel * width) * strides.unit;
    const std::int64_t count = std::min(width, step_.units - panel * width);
    f32* const to = reinterpret_cast<f32*>(operands[1]) + number * step_.packed_rows() * width;
    if (step_.strip > 1) {
      to[step_.units * width] = 0;  // there is no compact form
    }
    if (is_plain_) {
      copy_units(from, count, to);
    } else if (step_.is_half != 0) {
      pack_halves(products_, vectors_, from, strides.time, strides.unit, step_.units, count, width, to);
    } else {
      pack_panel(products_, from, strides.time, strides.unit, step_.units, count, width, to);
      if (step_.strip > 1) {
        compact(to, to + step_.units * width);
      }
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "panels of %u units", step_.panel);
  }

 private:
  static constexpr std::uint32_t kMaxColumns = 32;  // widest panel on devices with vectors

  // Copies element by element, for a panel of any width.
  void copy_units(const std::byte* from, std::int64_t count, f32* to) const {
    const RecurrentStrides& strides = step_.strides[0];
    for (std::int64_t k = 0; k < step_.units; ++k) {
      for (std::int64_t i = 0; i < step_.panel; ++i) {
        *to++ = i < count ? load(from + k * strides.time + i * strides.unit) : 0.0F;
      }
    }
  }
  [[nodiscard]] f32 load(const std::byte* from) const {
    if (step_.is_half != 0) {
      f16 half;
      std::memcpy(&half, from, sizeof(half));
      return widen(half);
    }
    f32 value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }

  // Adds the compact form of a gate if it has one. The smallest factor is a multiple of the scale, and nearly always
  // the scale itself.
  void compact(const f32* factors, f32* to) const {
    const std::int64_t width = step_.panel;
    const std::int64_t count = step_.units * width;
    f32 scale = std::numeric_limits<f32>::infinity();
    for (std::int64_t i = 0; i < count; ++i) {
      const f32 size = std::fabs(factors[i]);
      scale = size > 0.0F && size < scale ? size : scale;
    }
    if (!std::isfinite(scale)) {
      return;
    }
    auto* const words = reinterpret_cast<u32*>(to + width);
    for (std::int64_t k = 0; k < step_.units; ++k) {
      for (std::int64_t i = 0; i < width; ++i) {
        const f32 factor = factors[k * width + i];
        const f32 quotient = factor / scale;
        if (!(std::fabs(quotient) <= kMaxInteger)) {
          return;
        }
        const f32 integer = std::nearbyint(quotient);
        if (bits_of(integer * scale) != bits_of(factor)) {
          return;
        }
        u32& word = words[k / 2 * width + i];
        word = k % 2 == 0 ? bits_of(integer) >> 16 : word | bits_of(integer);
      }
    }
    to[0] = scale;
  }
  static u32 bits_of(f32 value) { return std::bit_cast<u32>(value); }
  static constexpr f32 kMaxInteger = 256;  // BFLOAT16 represents all smaller integers

  RecurrentStep step_;
  const ProductKernels* products_;
  const VectorKernels* vectors_;
  bool is_plain_;
};

// The same for a matrix of integers.
class RecurrentCodePack final : public cpu::PreparedStep {
 public:
  RecurrentCodePack(const RecurrentStep& step, const cpu::StepContext& context)
      : PreparedStep(static_cast<std::uint64_t>(step.directions * step.panels() * step.gates)),
        step_(step),
        states_(step, context.target, generic_recurrent_kernels(), 0) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const auto number = static_cast<std::int64_t>(piece.number);
    const std::int64_t gate = number % step_.gates;
    const std::int64_t first_unit = number / step_.gates % step_.panels() * step_.panel;
    const std::int64_t direction = number / step_.gates / step_.panels();
    const RecurrentStrides& strides = step_.strides[0];
    states_.pack(operands[0] + direction * strides.direction + (gate * step_.units + first_unit) * strides.unit,
                 strides.time, strides.unit, std::min<std::int64_t>(step_.panel, step_.units - first_unit),
                 operands[1] + number * code_bytes(step_));
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "integers in panels of %u units", step_.panel);
  }

 private:
  RecurrentStep step_;
  CodedStates states_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_recurrent_pack(const RecurrentStep& step, const cpu::StepContext& context) {
  if (step.codes != RecurrentCodes::none) {
    return std::make_unique<RecurrentCodePack>(step, context);
  }
  return std::make_unique<RecurrentPack>(step, context);
}

}  // namespace anydml
