// SPDX-License-Identifier: MIT
// QUANTIZE and DEQUANTIZE on the CPU. The elements of the output are divided among threads in whole chunks.
#include "backend/cpu/family.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/quantize/cpu/rows.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kMinChunks = 16;  // per piece
constexpr std::int64_t kMaxChunks = 256;
constexpr std::int64_t kPartsOfThread = 8;

std::int64_t chunks_of_piece(const QuantizeStep& step, std::int64_t threads) {
  return std::clamp(ceil_div(step.count, kQuantizeChunk * threads * kPartsOfThread), kMinChunks, kMaxChunks);
}

class Quantizing final : public cpu::PreparedStep {
 public:
  Quantizing(const QuantizeStep& step, std::int64_t chunks, cpu::Target target)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(step.count, chunks * kQuantizeChunk)), 1, kQuantizeScratch),
        step_(step),
        elements_(chunks * kQuantizeChunk),
        kernel_(find_quantize_run(target)),
        target_(target) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * elements_;
    kernel_(step_, first, std::min(step_.count, first + elements_), operands, piece.scratch);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%u loop%s, %s kernel", step_.rank, step_.rank == 1 ? "" : "s",
                  cpu::target_name(target_));
  }

 private:
  QuantizeStep step_;
  std::int64_t elements_;  // per piece
  QuantizeRun kernel_;
  cpu::Target target_;
};

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context, cpu::Neighbors) {
  QuantizeStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  return std::make_unique<Quantizing>(step, chunks_of_piece(step, context.threads), context.target);
}

}  // namespace

namespace cpu {
extern const FamilyKernels quantize_family;
const FamilyKernels quantize_family = {.open = nullptr, .prepare = prepare, .prepare_joined = nullptr};
}  // namespace cpu

}  // namespace anydml
