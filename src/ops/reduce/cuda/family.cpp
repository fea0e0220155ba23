// SPDX-License-Identifier: MIT
// From a reduction's step to kernels: what can be known beforehand is worked out once, the rest depends on the
// addresses.
#include "backend/cuda/family.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ops/reduce/cuda/launch.h"

namespace anydml::cuda {
namespace {

constexpr u32 kVectorBytes = 16;
constexpr u32 kWarp = 32;
constexpr std::int64_t kMostElements = 0xffffffff;  // kernels count in 32 bits
// As many threads as keep the memory of a large GPU busy, by how much each has on its way.
constexpr u64 kEnoughThreads = 1 << 17;
constexpr u64 kEnoughVectorThreads = 1 << 16;
constexpr u32 kVectorsOfThread = 4;    // along, where the order leaves it open
constexpr u32 kRowsOfThread = 8;       // across, likewise
constexpr u32 kMostGroups = 32;        // that share the rows
constexpr u32 kLeastStagedRows = 128;  // fewer are not worth shared memory
constexpr u32 kPartialsOfWarp = kWarp * kPartialsOfThread;

[[nodiscard]] constexpr u32 parts_of(u64 whole, u64 part) { return static_cast<u32>((whole + part - 1) / part); }

void set_team(ReduceLaunch& launch, u32 team) {
  launch.team = team;
  launch.team_shift = static_cast<u32>(std::countr_zero(team));
}

enum class Way { along, across, combine };

class ReduceRun final : public PreparedStep {
 public:
  ReduceRun(const ReduceStep& step, const ReduceKernels& kernels)
      : kernels_(kernels), input_offset_(step.input_offset), output_offset_(step.output_offset) {
    launch_.count = static_cast<u32>(step.count);
    outputs_ = static_cast<u32>(step.outputs);
    launch_.blocks = make_divisor(static_cast<u32>(step.blocks()));
    launch_.function = step.function;
    launch_.index_bytes = static_cast<u32>(element_size(step.output_type));
    launch_.to_partials = step.phase == ReducePhase::blocks;
    launch_.takes_last = step.takes_last != 0;
    launch_.kept_rank = step.kept_rank;
    launch_.reduced_rank = step.reduced_rank;
    end_ = kernels.element_bytes;
    for (u32 i = 0; i < step.kept_rank; ++i) {
      const ReduceLoop& loop = step.kept[i];
      launch_.kept_sizes[i] = make_divisor(static_cast<u32>(loop.size));
      launch_.kept_input[i] = loop.input;
      launch_.kept_output[i] = loop.output;
      outputs_low_ |= static_cast<u64>(loop.output);
      add_reach(loop);
    }
    for (u32 i = 0; i < step.reduced_rank; ++i) {
      const ReduceLoop& loop = step.reduced[i];
      launch_.reduced_sizes[i] = make_divisor(static_cast<u32>(loop.size));
      launch_.reduced_input[i] = loop.input;
      add_reach(loop);
    }
    if (step.phase == ReducePhase::combine) {
      way_ = Way::combine;
    } else {
      choose_way(step);
    }
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, cudaStream_t stream) const noexcept override {
    if (outputs_ == 0) {
      return cudaSuccess;
    }
    ReduceLaunch launch = launch_;
    launch.output = bases[1] + (launch.to_partials ? 0 : output_offset_);
    launch.output_is_aligned =
        (reinterpret_cast<std::uintptr_t>(launch.output) | outputs_low_) % launch.index_bytes == 0;
    if (way_ == Way::combine) {
      launch.input = bases[0];
      return kernels_.has_half_sums ? start_half_sums(launch, stream) : start_combining(launch, stream);
    }
    launch.input = bases[0] + input_offset_;
    launch.lowest = launch.input + lowest_;
    launch.end = launch.input + end_;
    const auto address = reinterpret_cast<std::uintptr_t>(launch.input);
    launch.input_is_aligned = (address | inputs_low_) % kernels_.element_bytes == 0;
    const bool by_vectors = has_vectors_ && launch.input_is_aligned && (launch.is_plain || address % kVectorBytes == 0);
    return way_ == Way::along ? start_along(launch, by_vectors, stream) : start_across(launch, by_vectors, stream);
  }

  [[nodiscard]] bool make_small_task(std::byte* const*, SmallTask&) const noexcept override { return false; }

  void explain(char* text, std::size_t capacity) const noexcept override {
    const char* const with = way_ == Way::across && has_lanes_ ? "lanes" : has_vectors_ ? "vectors" : "elements";
    if (way_ == Way::combine) {
      std::snprintf(text, capacity, "blocks combined");
    } else {
      std::snprintf(text, capacity, "%s, %s", way_ == Way::along ? "along" : "across", with);
    }
  }

 private:
  void add_reach(const ReduceLoop& loop) {
    inputs_low_ |= static_cast<u64>(loop.input);
    (loop.input < 0 ? lowest_ : end_) += (loop.size - 1) * loop.input;
  }

  // Along an output's elements or across outputs, by what is contiguous, or else by what is nearer; and whether
  // vectors meet no edge of a row.
  void choose_way(const ReduceStep& step) {
    const ReduceLoop& inner = step.reduced[step.reduced_rank - 1];
    const ReduceLoop& column = step.kept[step.kept_rank - 1];
    const std::int64_t element = kernels_.element_bytes;
    const auto vector = static_cast<std::int64_t>(kVectorBytes) / element;
    const bool along_is_contiguous = inner.size > 1 && inner.input == element;
    const bool across_is_contiguous = column.size > 1 && column.input == element;
    const bool across_is_nearer = across_is_contiguous || (column.size > 1 && column.input != 0 &&
                                                           std::abs(column.input) < std::abs(inner.input));
    has_lanes_ = kernels_.is_ordered && step.has_lanes != 0;
    in_order_ = kernels_.is_ordered && step.has_lanes == 0;
    // An ordered fold without lanes takes an output's elements one after another.
    way_ = in_order_ || (!along_is_contiguous && across_is_nearer) ? Way::across : Way::along;
    const ReduceLoop& contiguous = way_ == Way::along ? inner : column;
    u64 strides = 0;  // of all loops but that one
    for (u32 i = 0; i < step.kept_rank; ++i) {
      strides |= &step.kept[i] == &contiguous ? 0 : static_cast<u64>(step.kept[i].input);
    }
    for (u32 i = 0; i < step.reduced_rank; ++i) {
      strides |= &step.reduced[i] == &contiguous ? 0 : static_cast<u64>(step.reduced[i].input);
    }
    const bool rows_fit = contiguous.size % vector == 0 && strides % kVectorBytes == 0;
    if (way_ == Way::along) {
      launch_.is_plain = along_is_contiguous && step.reduced_rank == 1;
      has_vectors_ = along_is_contiguous && (launch_.is_plain || rows_fit);
    } else {
      has_vectors_ = across_is_contiguous && rows_fit && !has_lanes_;
    }
  }

  [[nodiscard]] u32 block_elements() const { return std::min(launch_.count, static_cast<u32>(kReduceBlock)); }
  [[nodiscard]] u32 vector_elements() const { return kVectorBytes / kernels_.element_bytes; }

  [[nodiscard]] cudaError_t start_along(ReduceLaunch& launch, bool by_vectors, cudaStream_t stream) const {
    StartKernel kernel = by_vectors ? kernels_.along_vectors : kernels_.along_elements;
    launch.units = outputs_ * launch.blocks.divisor;
    u32 team = 0;
    if (kernels_.is_ordered) {
      // As many lanes as there may be elements for: the others would be empty.
      const u32 lanes = std::bit_ceil(std::min(launch.count, static_cast<u32>(kReduceLanes)));
      team = by_vectors ? std::max(1u, lanes / vector_elements()) : std::min(lanes, kWarp);
      if (const u32 fewer = std::max(1u, team / kLaneVectors);
          by_vectors && (u64{launch.units} * fewer >= kEnoughThreads || team == 1)) {
        team = fewer;
        kernel = kernels_.along_wide;
      }
    } else {
      const u32 loads = by_vectors ? parts_of(block_elements(), vector_elements()) : block_elements();
      team = std::min(std::bit_ceil(parts_of(loads, kVectorsOfThread)), kWarp);
    }
    set_team(launch, team);
    return kernel(launch, parts_of(u64{launch.units} * team, kReduceThreads), kReduceThreads, stream);
  }

  [[nodiscard]] cudaError_t start_across(ReduceLaunch& launch, bool by_vectors, cudaStream_t stream) const {
    const u32 columns = launch.kept_sizes[launch.kept_rank - 1].divisor;
    const u32 units = outputs_ * launch.blocks.divisor;
    const u32 vectors = units / vector_elements();
    if (has_lanes_) {
      set_columns(launch, columns, units, kLaneGroups);
      return kernels_.across_lanes(launch, parts_of(units, kReduceThreads / kLaneGroups), kReduceThreads, stream);
    }
    const bool few = in_order_ && launch.count >= kLeastStagedRows;  // threads, unless there are many outputs
    if (by_vectors && !(few && vectors < kEnoughVectorThreads)) {
      set_columns(launch, columns / vector_elements(), vectors, 1);
      return start_groups(launch, kernels_.across_vectors, stream);
    }
    set_columns(launch, columns, units, 1);
    if (few && units < kEnoughThreads) {
      return kernels_.across_staged(launch, parts_of(units, kStagedColumns), kReduceThreads, stream);
    }
    return start_groups(launch, kernels_.across_elements, stream);
  }

  static void set_columns(ReduceLaunch& launch, u32 columns, u32 units, u32 groups) {
    launch.columns = make_divisor(columns);
    launch.units = units;
    set_team(launch, groups);
  }

  [[nodiscard]] cudaError_t start_groups(ReduceLaunch& launch, StartKernel kernel, cudaStream_t stream) const {
    u32 groups = 1;
    while (!in_order_ && groups < kMostGroups && u64{launch.units} * groups < kEnoughThreads &&
           block_elements() >= 2 * groups * kRowsOfThread) {
      groups *= 2;
    }
    set_team(launch, groups);
    // Few threads are spread over the device.
    const u32 threads = groups == 1 && launch.units < kEnoughThreads ? 2 * kWarp : kReduceThreads;
    return kernel(launch, parts_of(launch.units, threads / groups), threads, stream);
  }

  [[nodiscard]] cudaError_t start_half_sums(ReduceLaunch& launch, cudaStream_t stream) const {
    set_team(launch, launch.blocks.divisor > kPartialsOfWarp ? kReduceThreads : kWarp);
    launch.units = outputs_;
    return kernels_.combine(launch, parts_of(outputs_, kReduceThreads / launch.team), kReduceThreads, stream);
  }

  // In one launch, or of very long reductions in two: the first leaves one of every 4,096 partial results.
  [[nodiscard]] cudaError_t start_combining(ReduceLaunch& launch, cudaStream_t stream) const {
    launch.left = launch.blocks.divisor;
    launch.apart = 1;
    for (;;) {
      const u32 parts = parts_of(launch.left, kPartialsAtOnce);
      launch.to_partials = parts > 1;
      launch.columns = make_divisor(parts);
      launch.units = outputs_ * parts;
      set_team(launch, launch.left > kPartialsOfWarp ? kReduceThreads : kWarp);
      launch.of_thread = parts > 1 ? kPartialsOfThread : std::bit_ceil(parts_of(launch.left, launch.team));
      const cudaError_t error =
          kernels_.combine(launch, parts_of(launch.units, kReduceThreads / launch.team), kReduceThreads, stream);
      if (error != cudaSuccess || parts == 1) {
        return error;
      }
      launch.left = parts;
      launch.apart *= kPartialsAtOnce;
    }
  }

  const ReduceKernels& kernels_;
  ReduceLaunch launch_{};
  u32 outputs_ = 0;
  std::int64_t input_offset_;
  std::int64_t output_offset_;
  std::int64_t lowest_ = 0;  // how far from the first element the tensor's bytes begin and end
  std::int64_t end_ = 0;
  u64 inputs_low_ = 0;  // all strides together, of which the lowest bits count
  u64 outputs_low_ = 0;
  Way way_ = Way::along;
  bool has_lanes_ = false;    // and an order
  bool in_order_ = false;     // and no lanes
  bool has_vectors_ = false;  // if the address allows it
};

const ReduceKernels& kernels_of(const ReduceStep& step) {
  const FoldId fold = fold_of(step.function);
  if (is_sum(fold)) {
    return sum_kernels(fold, step.input_type);
  }
  if (is_product(fold)) {
    return product_kernels(fold, step.input_type);
  }
  if (is_extreme(fold)) {
    return extreme_kernels(fold, step.input_type);
  }
  return fold == FoldId::argmax ? argmax_kernels(step.input_type) : argmin_kernels(step.input_type);
}

}  // namespace

extern const Family reduce_family;
const Family reduce_family = {
    .name = "reduce",
    .prepare = [](const Step& flat, const char** why) -> std::unique_ptr<PreparedStep> {
      ReduceStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (step.outputs > kMostElements / std::max<std::int64_t>(step.count, 1)) {
        *why = "the CUDA backend runs steps of up to 4,294,967,295 elements";
        return nullptr;
      }
      return std::make_unique<ReduceRun>(step, kernels_of(step));
    },
    .launch_at_once = nullptr,
    .launch_in_waves = nullptr,
};

}  // namespace anydml::cuda
