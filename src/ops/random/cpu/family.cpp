// SPDX-License-Identifier: MIT
// RANDOM_GENERATOR on the CPU. Counters are independent, so the output can be divided among threads in any way.
#include "backend/cpu/family.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/random/cpu/blocks.h"
#include "ops/random/step.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kTile = 64 << 10;  // in elements, a multiple of the four elements per counter

PhiloxState load_state(const std::byte* from, std::int64_t stride) {
  u32 words[kPhiloxStateWords];
  for (std::int64_t i = 0; i < std::int64_t{kPhiloxStateWords}; ++i) {
    std::memcpy(words + i, from + i * stride, sizeof(u32));
  }
  return PhiloxState::of(words);
}

class Generating final : public cpu::PreparedStep {
 public:
  Generating(const RandomStep& step, const Tiling& tiling, cpu::Target target)
      : PreparedStep(static_cast<std::uint64_t>(std::max<std::int64_t>(1, tiling.tiles))),
        step_(step),
        tiling_(tiling),
        blocks_(find_philox_blocks(target)),
        target_(target) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const PhiloxState state = load_state(operands[0], step_.from);
    if (piece.number == 0 && operands[2] != nullptr) {
      const PhiloxState next = state.after((static_cast<u64>(step_.nest.count) + kPhiloxWords - 1) / kPhiloxWords);
      for (u32 i = 0; i < kPhiloxStateWords; ++i) {
        const u32 word = next.word(i);
        std::memcpy(operands[2] + i * step_.to, &word, sizeof(word));
      }
    }
    if (step_.nest.count == 0) {
      return;
    }
    const auto tile = static_cast<std::int64_t>(piece.number);
    const Loop& inner = step_.nest.innermost();
    const Loop& outer = step_.nest.loops[step_.nest.rank >= 2 ? step_.nest.rank - 2 : 0];
    for_each_tile(step_.nest, tiling_, tile, tile + 1, [&](const Block& block) {
      for (std::int64_t row = 0; row < block.rows; ++row) {
        const auto first = static_cast<u64>(block.offsets[0] + row * outer.strides[0]);
        put_row(state, first, inner, block.columns, operands[1] + block.offsets[1] + row * outer.strides[1]);
      }
    });
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "Philox, %u loop%s, %s kernel", step_.nest.rank, step_.nest.rank == 1 ? "" : "s",
                  cpu::target_name(target_));
  }

 private:
  // Writes elements, starting with `first`, with the stride of the loop.
  void put_row(const PhiloxState& state, u64 first, const Loop& loop, std::int64_t count, std::byte* to) const {
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(u32));
    std::int64_t done = 0;
    const auto put = [&](std::int64_t end) {
      for (; done < end; ++done) {
        const u32 word = philox_element(state, first + static_cast<u64>(done * loop.strides[0]));
        std::memcpy(to + done * loop.strides[1], &word, sizeof(word));
      }
    };
    if (loop.strides[0] == 1 && loop.strides[1] == kBytes) {
      put(std::min<std::int64_t>(count,
                                 static_cast<std::int64_t>((kPhiloxWords - first % kPhiloxWords) % kPhiloxWords)));
      const std::int64_t blocks = (count - done) / std::int64_t{kPhiloxWords};
      if (blocks > 0) {
        blocks_(state.after((first + static_cast<u64>(done)) / kPhiloxWords), blocks, to + done * kBytes);
        done += blocks * std::int64_t{kPhiloxWords};
      }
    }
    put(count);
  }

  RandomStep step_;
  Tiling tiling_;
  PhiloxBlocks blocks_;
  cpu::Target target_;
};

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context, cpu::Neighbors) {
  RandomStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  return std::make_unique<Generating>(step, make_tiling(step.nest, kTile), context.target);
}

}  // namespace

namespace cpu {
extern const FamilyKernels random_family;
const FamilyKernels random_family = {.open = nullptr, .prepare = prepare, .prepare_joined = nullptr};
}  // namespace cpu

}  // namespace anydml
