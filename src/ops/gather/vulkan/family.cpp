// SPDX-License-Identifier: MIT
// Runs gathers, scatters, ONE_HOT and NONZERO_COORDINATES (nonzero.h) on a device with Vulkan.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

#include "backend/vulkan/family.h"
#include "backend/vulkan/fast_divisor.h"
#include "backend/vulkan/strided.h"
#include "base/integers.h"
#include "ops/gather/step.h"
#include "ops/gather/vulkan/nonzero.h"
#include "shaders/one_hot.h"
#include "shaders/select_words_1.h"
#include "shaders/select_words_16.h"
#include "shaders/select_words_2.h"
#include "shaders/select_words_4.h"
#include "shaders/select_words_8.h"

namespace anydml::vulkan {
namespace {

constexpr u32 kThreads = 256;
constexpr u64 kOperations = 128;  // of a thread, roughly

// The layouts in selection.glsl.
struct LoopParameters {
  FastDivisor size;
  u32 unused;
  i64 table;
  i64 indices;
  i64 slices;
  i64 item;
  i64 number;
};
struct SelectionParameters {
  i64 coordinate_stride;
  i64 on_offset;
  u32 rank;
  u32 coordinates;
  u32 index_bytes;
  u32 index_is_signed;
  GatherCoordinate table[kMaxRank];
  LoopParameters loops[kMaxRank + 1];
};
struct SelectionConstants {
  u32 count;
  u32 rank;
  u32 indices_are_aligned;
  u32 elements_are_aligned;
  FastDivisor run;
};

bool is_signed_type(DataType type) { return type == DataType::INT32 || type == DataType::INT64; }

// Whether the iterations can be numbered and divided.
bool fits(std::span<const GatherLoop> loops, i64 run) {
  u64 bytes = static_cast<u64>(run);
  for (const GatherLoop& loop : loops) {
    bytes *= static_cast<u64>(loop.size);  // at most the size of a tensor
  }
  return bytes < kMaxDividend;
}

void set_indices(DataType type, SelectionParameters& parameters) {
  parameters.index_bytes = static_cast<u32>(element_size(type));
  parameters.index_is_signed = is_signed_type(type) ? 1 : 0;
}

class SelectionRun final : public PreparedStep {
 public:
  SelectionRun(const GatherStep& step, Kernels& kernels)
      : is_gather_(step.kind == GatherKind::gather),
        run_(static_cast<u64>(step.run)),
        iterations_(static_cast<u64>(step.iterations(step.rank))),
        items_(static_cast<u64>(step.iterations(step.item_rank))),
        item_rank_(step.item_rank),
        targets_(static_cast<u64>(step.targets)),
        steps_(run_) {
    parameters_.coordinate_stride = step.coordinate_stride;
    parameters_.rank = step.rank;
    parameters_.coordinates = step.coordinates;
    set_indices(step.index_type, parameters_);
    std::ranges::copy(step.table, parameters_.table);
    u64 item = items_;
    index_steps_ = static_cast<u64>(step.coordinate_stride);
    for (u32 i = 0; i < step.rank; ++i) {
      const GatherLoop& loop = step.loops[i];
      item = i < step.item_rank ? item / static_cast<u64>(loop.size) : 0;
      parameters_.loops[i] = {.size = make_divisor(static_cast<u32>(loop.size)),
                              .unused = 0,
                              .table = loop.table,
                              .indices = loop.indices,
                              .slices = loop.slices,
                              .item = static_cast<i64>(item),
                              .number = loop.number};
      steps_ |= static_cast<u64>(loop.table) | static_cast<u64>(loop.slices);
      index_steps_ |= static_cast<u64>(loop.indices);
    }
    for (u32 k = 0; k < step.coordinates; ++k) {
      steps_ |= step.table[k].size == 1 ? 0 : static_cast<u64>(step.table[k].stride);
    }
    const std::pair<const char*, std::span<const u32>> codes[] = {{"select_words_1", k_select_words_1},
                                                                  {"select_words_2", k_select_words_2},
                                                                  {"select_words_4", k_select_words_4},
                                                                  {"select_words_8", k_select_words_8},
                                                                  {"select_words_16", k_select_words_16}};
    const auto find = [&](std::size_t code, Pass pass) {
      const u32 constants[] = {static_cast<u32>(pass)};
      return kernels.find({.key = codes[code].first, .words = codes[code].second, .make = {}}, constants);
    };
    const Pass pass = is_gather_ ? Pass::gather : has_winners() ? Pass::scatter_winners : Pass::scatter;
    for (std::size_t i = 0; i < std::size(codes) && (1U << i) <= word_of(steps_); ++i) {
      words_.push_back(find(i, pass));
    }
    if (has_winners()) {
      reset_ = find(0, Pass::reset);
      find_winners_ = find(0, Pass::find_winners);
    }
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override {
    return has_winners() ? targets_ * sizeof(u32) : 0;
  }
  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&parameters_, 1));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand == (is_gather_ ? 2U : 0U)};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override {
    std::vector<KernelRef> all = words_;
    if (has_winners()) {
      all.push_back(reset_);
      all.push_back(find_winners_);
    }
    return all;
  }

  void record(Recorder& recorder) const override {
    const u32 is_aligned = ((index_steps_ | recorder.low_bits(1)) & (parameters_.index_bytes - 1)) == 0 ? 1 : 0;
    const auto dispatch = [&](const Kernel& kernel, const SelectionConstants& constants) {
      if (constants.count != 0) {
        recorder.dispatch(kernel, (constants.count + kThreads - 1) / kThreads, std::as_bytes(std::span(&constants, 1)),
                          kThreads * kOperations);
      }
    };
    if (has_winners()) {
      const SelectionConstants items{.count = static_cast<u32>(items_),
                                     .rank = item_rank_,
                                     .indices_are_aligned = is_aligned,
                                     .elements_are_aligned = 0,
                                     .run = make_divisor(1)};
      dispatch(*reset_, items);
      recorder.barrier();
      dispatch(*find_winners_, items);
      recorder.barrier();
    }
    const u32 word = word_of(steps_ | recorder.low_bits(0) | recorder.low_bits(2));
    const u64 words = run_ / word;
    dispatch(*words_[static_cast<std::size_t>(std::countr_zero(word))], {.count = static_cast<u32>(iterations_ * words),
                                                                         .rank = parameters_.rank,
                                                                         .indices_are_aligned = is_aligned,
                                                                         .elements_are_aligned = 0,
                                                                         .run = make_divisor(static_cast<u32>(words))});
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s, %u loop%s, runs of %llu bytes", is_gather_ ? "gather" : "scatter",
                  parameters_.rank, parameters_.rank == 1 ? "" : "s", static_cast<unsigned long long>(run_));
  }

 private:
  // As in select_words.comp.
  enum class Pass : u32 { gather, reset, find_winners, scatter_winners, scatter };

  // A single item needs no search for a winner.
  [[nodiscard]] bool has_winners() const { return !is_gather_ && items_ > 1; }

  SelectionParameters parameters_{};
  bool is_gather_;
  u64 run_;
  u64 iterations_;
  u64 items_;
  u32 item_rank_;
  u64 targets_;
  u64 steps_;  // the OR of the strides and the run: a word divides them if it divides this
  u64 index_steps_ = 0;
  std::vector<KernelRef> words_;  // for words of 1, 2, 4, 8 and 16 bytes
  KernelRef reset_;
  KernelRef find_winners_;
};

class OneHotRun final : public PreparedStep {
 public:
  OneHotRun(const OneHotStep& step, Kernels& kernels) : element_(step.element) {
    set_indices(step.index_type, parameters_);
    parameters_.on_offset = step.on_offset;
    parameters_.table[0].size = step.depth;
    std::vector<LoopParameters> loops;
    u64 all = static_cast<u64>(step.axis_stride) | static_cast<u64>(step.on_offset);
    const auto add = [&](i64 size, i64 table, i64 indices, i64 output) {
      loops.push_back({.size = make_divisor(static_cast<u32>(size)),
                       .unused = 0,
                       .table = table,
                       .indices = indices,
                       .slices = output,
                       .item = 0,
                       .number = 0});
      count_ *= static_cast<u64>(size);
      all |= static_cast<u64>(output);
      index_steps_ |= static_cast<u64>(indices);
    };
    for (u32 i = 0; i < step.rank; ++i) {
      add(step.loops[i].size, 0, step.loops[i].indices, step.loops[i].output);
    }
    add(step.depth, 1, 0, step.axis_stride);
    // Adjacent threads write adjacent memory.
    std::ranges::stable_sort(loops, std::ranges::greater(),
                             [](const LoopParameters& loop) { return loop.slices < 0 ? -loop.slices : loop.slices; });
    std::ranges::copy(loops, parameters_.loops);
    parameters_.rank = static_cast<u32>(loops.size());
    steps_ = all;
    const u32 constants[] = {element_};
    kernel_ = kernels.find({.key = "one_hot", .words = k_one_hot, .make = {}}, constants);
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&parameters_, 1));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand == 2};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return {kernel_}; }
  void record(Recorder& recorder) const override {
    const u64 elements = steps_ | recorder.low_bits(1) | recorder.low_bits(2);
    const SelectionConstants constants{
        .count = static_cast<u32>(count_),
        .rank = parameters_.rank,
        .indices_are_aligned = ((index_steps_ | recorder.low_bits(0)) & (parameters_.index_bytes - 1)) == 0 ? 1U : 0U,
        .elements_are_aligned = elements % element_ == 0 ? 1U : 0U,
        .run = make_divisor(1)};
    if (constants.count != 0) {
      recorder.dispatch(*kernel_, (constants.count + kThreads - 1) / kThreads, std::as_bytes(std::span(&constants, 1)),
                        kThreads * kOperations);
    }
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "one-hot of %lld", static_cast<long long>(parameters_.table[0].size));
  }

 private:
  SelectionParameters parameters_{};
  u32 element_;
  u64 count_ = 1;
  u64 steps_ = 0;
  u64 index_steps_ = 0;
  KernelRef kernel_;
};

std::unique_ptr<PreparedStep> prepare_one_hot(const Step& flat, Kernels& kernels, const char** why) {
  OneHotStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  u64 count = static_cast<u64>(step.depth);
  for (u32 i = 0; i < step.rank; ++i) {
    count *= static_cast<u64>(step.loops[i].size);
  }
  if (count >= kMaxDividend) {
    *why = "the Vulkan kernels for ONE_HOT write fewer than 2,147,483,648 elements";
    return nullptr;
  }
  return std::make_unique<OneHotRun>(step, kernels);
}

std::unique_ptr<PreparedStep> prepare_selection(const Step& flat, Kernels& kernels, const char** why) {
  GatherStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  if (!fits(std::span(step.loops, step.rank), step.run)) {
    *why = "the Vulkan kernels for gathers and scatters move less than 2 GiB";
    return nullptr;
  }
  return std::make_unique<SelectionRun>(step, kernels);
}

}  // namespace

extern const FamilyKernels gather_family;
const FamilyKernels gather_family = {
    .lacks = [](const GpuProperties&, const AskedOperator&) -> const char* { return nullptr; },
    .prepare = [](const Step& flat, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      switch (*reinterpret_cast<const GatherKind*>(flat.parameters.data())) {
        case GatherKind::gather:
        case GatherKind::scatter:
          return prepare_selection(flat, kernels, why);
        case GatherKind::one_hot:
          return prepare_one_hot(flat, kernels, why);
        case GatherKind::nonzero:
          break;
      }
      return prepare_nonzero(flat, kernels);
    },
};

}  // namespace anydml::vulkan
