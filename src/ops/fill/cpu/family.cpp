// SPDX-License-Identifier: MIT
// Fills on the CPU. Memory is all that binds them, so plain stores of a repeated pattern do.
#include "backend/cpu/family.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/fill/step.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kTileBytes = 256 << 10;

class FillRun final : public cpu::Prepared {
 public:
  FillRun(const FillStep& step, const Tiling& tiling)
      : Prepared(static_cast<std::uint64_t>(tiling.tiles)), step_(step), tiling_(tiling) {
    for (std::size_t at = 0; at < sizeof(pattern_); at += step.element_bytes) {
      std::memcpy(pattern_ + at, &step.bits, step.element_bytes);
    }
  }

  void run(std::uint64_t piece, std::byte* const* operands) const noexcept override {
    const auto tile = static_cast<std::int64_t>(piece);
    for_each_tile(step_.nest, tiling_, tile, tile + 1, [&](const Block& block) {
      const std::int64_t stride = step_.nest.innermost().strides[0];
      const std::int64_t rows = step_.nest.rank >= 2 ? step_.nest.loops[step_.nest.rank - 2].strides[0] : 0;
      for (std::int64_t row = 0; row < block.rows; ++row) {
        std::byte* const to = operands[0] + block.offsets[0] + row * rows;
        if (stride == step_.element_bytes) {
          fill_row(to, static_cast<std::size_t>(block.columns) * step_.element_bytes);
        } else {
          scatter_row(to, block.columns, stride);
        }
      }
    });
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s, %u loop%s, pattern", layout_name(step_.nest.inner), step_.nest.rank,
                  step_.nest.rank == 1 ? "" : "s");
  }

 private:
  void fill_row(std::byte* to, std::size_t bytes) const noexcept {
    for (; bytes >= sizeof(pattern_); to += sizeof(pattern_), bytes -= sizeof(pattern_)) {
      std::memcpy(to, pattern_, sizeof(pattern_));
    }
    std::memcpy(to, pattern_, bytes);
  }

  void scatter_row(std::byte* to, std::int64_t count, std::int64_t stride) const noexcept {
    const auto each = [&]<class T>(T value) {
      for (std::int64_t i = 0; i < count; ++i, to += stride) {
        std::memcpy(to, &value, sizeof(value));
      }
    };
    switch (step_.element_bytes) {
      case 1:
        return each(static_cast<std::uint8_t>(step_.bits));
      case 2:
        return each(static_cast<std::uint16_t>(step_.bits));
      case 4:
        return each(static_cast<std::uint32_t>(step_.bits));
      default:
        return each(step_.bits);
    }
  }

  FillStep step_;
  Tiling tiling_;
  alignas(64) std::byte pattern_[64];
};

std::unique_ptr<cpu::Prepared> prepare(const Step& flat, const cpu::Machine&) {
  FillStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  return std::make_unique<FillRun>(step, make_tiling(step.nest, kTileBytes / step.element_bytes));
}

}  // namespace

namespace cpu {
extern const Family fill_family;
const Family fill_family = {.name = "fill", .open = nullptr, .prepare = prepare};
}  // namespace cpu

}  // namespace anydml
