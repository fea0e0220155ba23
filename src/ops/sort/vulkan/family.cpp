// SPDX-License-Identifier: MIT
// Runs TOP_K and TOP_K1 on a device with Vulkan. If K is at most half a tile of shared memory, or a row fits into one,
// parts of rows are sorted there and reduced to their first K words, again and again until one part of each row is
// left. Otherwise all words of a row are sorted in the workspace.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include "backend/vulkan/family.h"
#include "base/integers.h"
#include "ops/sort/step.h"
#include "shaders/sort_narrow.h"
#include "shaders/sort_wide.h"

namespace anydml::vulkan {
namespace {

constexpr u32 kThreads = 256;
constexpr u64 kOperations = 64;                   // of a thread for each word, roughly
constexpr u64 kMaxWorkspace = u64{256} << 20;     // bytes, if rows can be processed in several groups
constexpr i64 kMaxElements = (i64{1} << 32) - 1;  // indices are less than that of padding
constexpr i64 kMaxRow = i64{1} << 31;             // whose padded size has 32 bits

// The layouts and constants in sort.comp.
struct LoopParameters {
  u32 size;
  u32 unused;
  i64 input;
  i64 values;
  i64 indices;
};
struct SortParameters {
  i64 input_offset;
  i64 values_offset;
  i64 indices_offset;
  i64 axis_input;
  i64 axis_values;
  i64 axis_indices;
  u32 rank;
  u32 k;
  LoopParameters rest[kMaxRank];
};
struct SortConstants {
  u64 from;
  u64 to;
  u64 total;
  u64 size;
  u64 stride;
  u32 first_row;
  u32 rows;
  u32 count;
  u32 pitch;
  u32 part;
  u32 parts;
  u32 padded;
  u32 writes_results;
  u32 are_aligned;
};
static_assert(offsetof(SortConstants, are_aligned) + sizeof(u32) <= kMaxConstantBytes);
enum class Pass : u32 { parts, parts_of_words, load, tiles, exchange, write };
constexpr std::size_t kPasses = 6;
enum class Kind : u32 { unsigned_integer, signed_integer, floating };

Kind kind_of(DataType type) {
  return visit_type(type, []<class T>() {
    return is_float<T> ? Kind::floating : std::is_signed_v<T> ? Kind::signed_integer : Kind::unsigned_integer;
  });
}

class SortRun final : public PreparedStep {
 public:
  SortRun(const SortStep& step, Kernels& kernels)
      : bytes_(static_cast<u32>(element_size(step.type))),
        index_bytes_(step.index_size),
        word_(bytes_ == 8 ? 16 : 8),
        rows_(static_cast<u32>(step.rows)),
        count_(static_cast<u32>(step.axis.size)),
        k_(static_cast<u32>(step.k)) {
    // Half of 16 KiB, the least that devices have, or all of it; words of 16 bytes need 12 there.
    constexpr u32 kMuch = 32 << 10;
    tile_ = (kernels.gpu().shared_bytes >= kMuch ? 16384 : 8192) / word_;
    parameters_ = {.input_offset = step.input_offset,
                   .values_offset = step.values_offset,
                   .indices_offset = step.indices_offset,
                   .axis_input = step.axis.input,
                   .axis_values = step.axis.values,
                   .axis_indices = step.axis.indices,
                   .rank = step.rank,
                   .k = k_,
                   .rest = {}};
    input_steps_ = static_cast<u64>(step.input_offset);
    values_steps_ = static_cast<u64>(step.values_offset);
    indices_steps_ = static_cast<u64>(step.indices_offset);
    add_steps(step.axis);
    for (u32 i = 0; i < step.rank; ++i) {
      const SortLoop& loop = step.rest[i];
      parameters_.rest[i] = {.size = static_cast<u32>(loop.size),
                             .unused = 0,
                             .input = loop.input,
                             .values = loop.values,
                             .indices = loop.indices};
      add_steps(loop);
    }
    choose();
    find_kernels(step, kernels);
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override {
    return rows_at_once_ * (first_words_ + second_words_) * word_;
  }
  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&parameters_, 1));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand != 0};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override {
    std::vector<KernelRef> all;
    std::ranges::copy_if(kernels_, std::back_inserter(all), [](const KernelRef& one) { return one != nullptr; });
    return all;
  }
  void record(Recorder& recorder) const override {
    SortConstants constants{};
    constants.are_aligned = ((input_steps_ | recorder.low_bits(0)) % bytes_ == 0 ? 1U : 0U) |
                            ((values_steps_ | recorder.low_bits(1)) % bytes_ == 0 ? 2U : 0U) |
                            ((indices_steps_ | recorder.low_bits(2)) % index_bytes_ == 0 ? 4U : 0U);
    constants.count = count_;
    for (u64 row = 0; row < rows_; row += rows_at_once_) {
      constants.first_row = static_cast<u32>(row);
      constants.rows = static_cast<u32>(std::min<u64>(rows_at_once_, rows_ - row));
      if (sorts_whole_) {
        record_whole(recorder, constants);
      } else {
        record_parts(recorder, constants);
      }
      recorder.barrier();
    }
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "sorted %s, tiles of %u", sorts_whole_ ? "whole" : "in parts", tile_);
  }

 private:
  void add_steps(const SortLoop& loop) {
    input_steps_ |= static_cast<u64>(loop.input);
    values_steps_ |= static_cast<u64>(loop.values);
    indices_steps_ |= static_cast<u64>(loop.indices);
  }

  void choose() {
    sorts_whole_ = count_ > tile_ && k_ > tile_ / 2;
    if (sorts_whole_) {
      first_words_ = std::bit_ceil(u64{count_});
    } else if (count_ > tile_) {
      first_words_ = u64{ceil_div(count_, tile_)} * k_;
      second_words_ = ceil_div(first_words_, u64{tile_}) * k_;
    }
    const u64 of_row = (first_words_ + second_words_) * word_;
    rows_at_once_ = of_row == 0 ? rows_ : std::clamp<u64>(kMaxWorkspace / of_row, 1, rows_);
  }

  void find_kernels(const SortStep& step, Kernels& kernels) {
    const auto find = [&](Pass pass) {
      const u32 constants[] = {static_cast<u32>(pass), bytes_,       static_cast<u32>(kind_of(step.type)),
                               step.largest,           index_bytes_, tile_};
      const KernelCode code = bytes_ == 8 ? KernelCode{.key = "sort_wide", .words = k_sort_wide, .make = {}}
                                          : KernelCode{.key = "sort_narrow", .words = k_sort_narrow, .make = {}};
      kernels_[static_cast<std::size_t>(pass)] = kernels.find(code, constants);
    };
    if (sorts_whole_) {
      find(Pass::load);
      find(Pass::tiles);
      find(Pass::exchange);
      find(Pass::write);
    } else {
      find(Pass::parts);
      if (count_ > tile_) {
        find(Pass::parts_of_words);
      }
    }
  }

  void dispatch(Recorder& recorder, Pass pass, u64 groups, const SortConstants& constants, u64 words) const {
    recorder.dispatch(*kernels_[static_cast<std::size_t>(pass)], static_cast<u32>(groups),
                      std::as_bytes(std::span(&constants, 1)), words * kOperations);
  }
  // The operations of a group that sorts a tile, in words: a bitonic sort has log2(size)^2 / 2 steps.
  [[nodiscard]] u64 tile_cost(u32 padded) const {
    const auto levels = static_cast<u64>(std::bit_width(padded));
    return u64{tile_} * levels * levels / 2;
  }

  void record_parts(Recorder& recorder, SortConstants constants) const {
    // Words move between the two halves of the workspace.
    u64 next = 0;
    u64 other = rows_at_once_ * first_words_ * word_;
    for (bool is_first = true;; is_first = false) {
      constants.part = std::min(constants.count, tile_);
      constants.parts = ceil_div(constants.count, constants.part);
      constants.padded = std::bit_ceil(constants.part);
      constants.writes_results = constants.parts == 1 ? 1 : 0;
      constants.from = other;
      constants.to = next;
      const u64 units = u64{constants.rows} * constants.parts;
      dispatch(recorder, is_first ? Pass::parts : Pass::parts_of_words, ceil_div(units, u64{tile_ / constants.padded}),
               constants, tile_cost(constants.padded));
      if (constants.parts == 1) {
        return;
      }
      recorder.barrier();
      constants.count = constants.pitch = constants.parts * k_;
      std::swap(next, other);
    }
  }

  void record_whole(Recorder& recorder, SortConstants constants) const {
    constants.pitch = static_cast<u32>(first_words_);
    const u64 words = constants.rows * first_words_;
    const auto over_words = [&](Pass pass, u64 total) {
      constants.total = total;
      dispatch(recorder, pass, ceil_div(total, u64{kThreads}), constants, kThreads);
      recorder.barrier();
    };
    const auto over_tiles = [&](u64 size) {
      constants.size = size;
      dispatch(recorder, Pass::tiles, words / tile_, constants, tile_cost(tile_));
      recorder.barrier();
    };
    over_words(Pass::load, words);
    over_tiles(0);
    for (u64 size = u64{tile_} * 2; size <= first_words_; size *= 2) {
      constants.size = size;
      for (constants.stride = size / 2; constants.stride >= tile_; constants.stride /= 2) {
        over_words(Pass::exchange, words / 2);
      }
      over_tiles(size);
    }
    over_words(Pass::write, u64{constants.rows} * k_);
  }

  SortParameters parameters_{};
  u32 bytes_;
  u32 index_bytes_;
  u32 word_;  // bytes
  u32 rows_;
  u32 count_;
  u32 k_;
  u32 tile_ = 0;  // words that are sorted in shared memory
  bool sorts_whole_ = false;
  u64 rows_at_once_ = 1;
  u64 first_words_ = 0;  // of a row in the workspace
  u64 second_words_ = 0;
  u64 input_steps_ = 0;  // the OR of the offset and the strides
  u64 values_steps_ = 0;
  u64 indices_steps_ = 0;
  KernelRef kernels_[kPasses];
};

}  // namespace

extern const FamilyKernels sort_family;
const FamilyKernels sort_family = {
    .lacks = [](const GpuProperties&, const AskedOperator&) -> const char* { return nullptr; },
    .prepare = [](const Step& flat, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      SortStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (step.rows > kMaxElements / step.axis.size || step.axis.size > kMaxRow) {
        *why = "the Vulkan kernels sort at most 4,294,967,295 elements, and rows of at most 2,147,483,648";
        return nullptr;
      }
      return std::make_unique<SortRun>(step, kernels);
    },
};

}  // namespace anydml::vulkan
