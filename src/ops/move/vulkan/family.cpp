// SPDX-License-Identifier: MIT
// Runs copies and reversals on a device with Vulkan.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <utility>

#include "backend/vulkan/family.h"
#include "backend/vulkan/fast_divisor.h"
#include "backend/vulkan/strided.h"
#include "ops/move/step.h"
#include "shaders/reverse_words_1.h"
#include "shaders/reverse_words_16.h"
#include "shaders/reverse_words_2.h"
#include "shaders/reverse_words_4.h"
#include "shaders/reverse_words_8.h"

namespace anydml::vulkan {
namespace {

class MoveRun final : public PreparedStep {
 public:
  MoveRun(const Step& flat, Kernels& kernels) : copies_(kernels) {
    const MoveTable table(flat.parameters);
    for (const MoveCopy& copy : table.copies()) {
      StridedCopy strided{.from = copy.from,
                          .to = copy.to,
                          .from_offset = copy.from_offset,
                          .to_offset = copy.to_offset,
                          .run = copy.run,
                          .constant = copy.constant};
      for (const MoveLoop& loop : table.loops(copy)) {
        strided.loops.push_back({.size = loop.size, .from = loop.from, .to = loop.to});
      }
      copies_.add(strided);
    }
    copies_.finish();
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override { return copies_.parameters(); }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override { return copies_.use_of(operand); }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return copies_.kernels(); }
  void record(Recorder& recorder) const override { copies_.record(recorder); }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%zu cop%s", copies_.count(), copies_.count() == 1 ? "y" : "ies");
  }

 private:
  StridedCopies copies_;
};
static_assert(kFromConstant == anydml::kFromConstant && kMaxStridedLoops == kMaxMoveRank);

constexpr std::uint32_t kThreads = 256;

// The layouts in reverse_words.comp.
struct LineLoop {
  FastDivisor size;
  std::uint32_t unused;
  std::int64_t from;
  std::int64_t to;
  std::int64_t lengths;
};
struct Lines {
  std::int64_t from_offset;
  std::int64_t to_offset;
  std::int64_t lengths_offset;
  std::int64_t axis_from;
  std::uint64_t axis_size;
  std::uint32_t rank;
  std::uint32_t axis;
  std::uint32_t length_bytes;
  std::uint32_t unused;
  LineLoop loops[kMaxRank + 1];
};
struct LineConstants {
  std::uint32_t count;
  FastDivisor run;
};

class Reversal final : public PreparedStep {
 public:
  Reversal(const ReversalStep& step, std::uint64_t bytes, Kernels& kernels)
      : bytes_(bytes), run_(static_cast<std::uint64_t>(step.run)) {
    lines_ = {.from_offset = step.from_offset,
              .to_offset = step.to_offset,
              .lengths_offset = step.lengths_offset,
              .axis_from = step.axis.from,
              .axis_size = static_cast<std::uint64_t>(step.axis.size),
              .rank = 0,
              .axis = 0,
              .length_bytes = step.length_bytes,
              .unused = 0,
              .loops = {}};
    steps_ = run_ | static_cast<std::uint64_t>(step.from_offset | step.to_offset | step.axis.from | step.axis.to);
    const auto add = [&](std::int64_t size, std::int64_t from, std::int64_t to, std::int64_t lengths) {
      lines_.loops[lines_.rank++] = {.size = make_divisor(static_cast<std::uint32_t>(size)),
                                     .unused = 0,
                                     .from = from,
                                     .to = to,
                                     .lengths = lengths};
      steps_ |= static_cast<std::uint64_t>(from) | static_cast<std::uint64_t>(to);
    };
    // The loops are ordered by output strides, so that adjacent threads write adjacent memory.
    std::uint32_t next = 0;
    const std::int64_t along = step.axis.to < 0 ? -step.axis.to : step.axis.to;
    for (; next < step.rank && step.loops[next].to > along; ++next) {
      add(step.loops[next].size, step.loops[next].from, step.loops[next].to, step.loops[next].lengths);
    }
    lines_.axis = lines_.rank;
    add(step.axis.size, 0, step.axis.to, 0);
    for (; next < step.rank; ++next) {
      add(step.loops[next].size, step.loops[next].from, step.loops[next].to, step.loops[next].lengths);
    }
    const std::pair<const char*, std::span<const std::uint32_t>> codes[] = {{"reverse_words_1", k_reverse_words_1},
                                                                            {"reverse_words_2", k_reverse_words_2},
                                                                            {"reverse_words_4", k_reverse_words_4},
                                                                            {"reverse_words_8", k_reverse_words_8},
                                                                            {"reverse_words_16", k_reverse_words_16}};
    for (std::size_t i = 0; i < std::size(codes) && (1U << i) <= word_of(steps_); ++i) {
      kernels_.push_back(kernels.find({.key = codes[i].first, .words = codes[i].second, .make = {}}, {}));
    }
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&lines_, 1));
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return kernels_; }
  void record(Recorder& recorder) const override {
    const std::uint32_t word = word_of(steps_ | recorder.low_bits(0) | recorder.low_bits(2));
    const LineConstants constants{.count = static_cast<std::uint32_t>(bytes_ / word),
                                  .run = make_divisor(static_cast<std::uint32_t>(run_ / word))};
    constexpr std::uint64_t kOperations = 64;  // of a thread, roughly
    recorder.dispatch(*kernels_[static_cast<std::size_t>(std::countr_zero(word))],
                      (constants.count + kThreads - 1) / kThreads, std::as_bytes(std::span(&constants, 1)),
                      kThreads * kOperations);
  }
  void explain(char* text, std::size_t capacity) const noexcept override { std::snprintf(text, capacity, "reversal"); }

 private:
  Lines lines_{};
  std::uint64_t steps_ = 0;  // the OR of the strides, offsets and the run: a word divides them if it divides this
  std::uint64_t bytes_;
  std::uint64_t run_;
  std::vector<KernelRef> kernels_;
};

std::unique_ptr<PreparedStep> prepare_reversal(const Step& flat, Kernels& kernels, const char** why) {
  ReversalStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  auto bytes = static_cast<std::uint64_t>(step.run) * static_cast<std::uint64_t>(step.axis.size);
  for (std::uint32_t i = 0; i < step.rank; ++i) {
    bytes *= static_cast<std::uint64_t>(step.loops[i].size);  // at most the size of a tensor
  }
  if (bytes >= kMaxDividend) {
    *why = "the Vulkan kernels for reversals move less than 2 GiB";
    return nullptr;
  }
  return std::make_unique<Reversal>(step, bytes, kernels);
}

}  // namespace

extern const FamilyKernels move_family;
const FamilyKernels move_family = {
    .lacks = [](const GpuProperties&, const AskedOperator&) -> const char* { return nullptr; },
    .prepare = [](const Step& flat, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      if (kind_of(flat.parameters) == MoveKind::reversal) {
        return prepare_reversal(flat, kernels, why);
      }
      return std::make_unique<MoveRun>(flat, kernels);
    },
};

}  // namespace anydml::vulkan
