// SPDX-License-Identifier: MIT
// Chooses the kernels for a reduction step. Everything that does not depend on the addresses is computed in advance.
#include "backend/cuda/family.h"
#include "base/integers.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "ops/reduce/cuda/joined.h"
#include "ops/reduce/cuda/kernel_set.h"

namespace anydml::cuda {
namespace {

constexpr u32 kVectorBytes = 16;
constexpr u32 kWarp = 32;
constexpr std::int64_t kMaxElements = 0xffffffff;  // kernels use 32-bit counters
// The number of threads per multiprocessor that keeps a GPU's memory busy. Fewer threads are enough if each thread
// loads vectors.
constexpr u64 kEnoughThreads = 960;
constexpr u64 kEnoughVectorThreads = 480;
constexpr u32 kVectorsOfThread = 4;  // along: if the fold has no order
constexpr u32 kRowsOfThread = 8;     // across: if the fold has no order
constexpr u32 kMaxGroups = 32;       // groups of threads that share rows
constexpr u32 kMinStagedRows = 128;  // with fewer rows, shared memory is not worthwhile
constexpr u32 kPartialsOfWarp = kWarp * kPartialsOfThread;
constexpr std::size_t kObjectAlignment = 16;     // alignment of a joined step's object
constexpr std::size_t kMaxJoinedBytes = 16'384;  // maximum size of a parameter with joined steps

void set_team(ReduceLaunch& launch, u32 team) {
  launch.team = team;
  launch.team_shift = static_cast<u32>(std::countr_zero(team));
}

enum class Way { along, across, combine };

// A launch, except for the kernel parameter.
struct Choice {
  ReduceKernel kernel;
  u32 blocks;
  u32 threads;
};

class ReduceRun final : public PreparedStep {
 public:
  ReduceRun(const ReduceStep& step, const GpuProperties& gpu, const ReduceKernels& kernels, Neighbors neighbors)
      : kernels_(kernels),
        enough_threads_(gpu.multiprocessors * kEnoughThreads),
        enough_vector_threads_(gpu.multiprocessors * kEnoughVectorThreads),
        neighbors_(std::move(neighbors)),
        input_offset_(step.input_offset),
        output_offset_(step.output_offset) {
    static_assert(kReduceRank == kMaxRank);
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

  // Compiles a step and its joined steps into one kernel. Returns null on success, and otherwise the reason for the
  // failure.
  [[nodiscard]] const char* join(const ReduceStep& step, const GpuProperties& gpu) {
    if (neighbors_.before.step == nullptr && neighbors_.after.step == nullptr) {
      return nullptr;
    }
    std::vector<ReduceKernel> wanted;
    for (const bool by_vectors : {false, true}) {
      ReduceLaunch launch = launch_;
      const ReduceKernel kernel = choose(launch, by_vectors).kernel;
      if ((!by_vectors || has_vectors_) && std::ranges::find(wanted, kernel) == wanted.end()) {
        positions_[static_cast<u32>(kernel)] = wanted.size();
        wanted.push_back(kernel);
      }
    }
    joined_bytes_ = sizeof(ReduceLaunch);
    before_at_ = add_object(neighbors_.before);
    after_at_ = add_object(neighbors_.after);
    if (joined_bytes_ > kMaxJoinedBytes) {
      return "the joined steps have more attributes than the kernel's parameter can hold";
    }
    joined_ = find_runtime_kernels(write_joined(step, neighbors_, joined_bytes_, wanted), gpu);
    return joined_ != nullptr ? nullptr : "NVRTC could not compile the joined kernel";
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    if (outputs_ == 0) {
      return cudaSuccess;
    }
    ReduceLaunch launch = launch_;
    launch.output = bases[1] + (launch.to_partials ? 0 : output_offset_);
    launch.output_is_aligned =
        (reinterpret_cast<std::uintptr_t>(launch.output) | outputs_low_) % launch.index_bytes == 0;
    if (way_ == Way::combine) {
      launch.input = bases[0];
      return start_combining(launch, bases, stream);
    }
    launch.input = bases[0] + input_offset_;
    launch.lowest = launch.input + lowest_;
    launch.end = launch.input + end_;
    const auto address = reinterpret_cast<std::uintptr_t>(launch.input);
    launch.input_is_aligned = (address | inputs_low_) % kernels_.element_bytes == 0;
    const Neighbor& before = neighbors_.before;
    const bool by_vectors = has_vectors_ && launch.input_is_aligned &&
                            (launch.is_plain || address % kVectorBytes == 0) &&
                            (before.step == nullptr || before.step->fits_vectors(bases + before.first_operand));
    const Choice choice = choose(launch, by_vectors);
    return start(choice, launch, bases, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    const char* const with = way_ == Way::across && has_lanes_ ? "lanes" : has_vectors_ ? "vectors" : "elements";
    const char* const joined = joined_ != nullptr ? "joined, " : "";
    if (way_ == Way::combine) {
      std::snprintf(text, capacity, "%sblocks combined", joined);
    } else {
      std::snprintf(text, capacity, "%s%s, %s", joined, way_ == Way::along ? "along" : "across", with);
    }
  }

 private:
  void add_reach(const ReduceLoop& loop) {
    inputs_low_ |= static_cast<u64>(loop.input);
    (loop.input < 0 ? lowest_ : end_) += (loop.size - 1) * loop.input;
  }

  // Chooses the direction: along an output's elements, or across outputs. The contiguous direction is preferred. If
  // neither is contiguous, the direction with smaller strides is chosen. Also determines whether vectors can be used. A
  // vector must not cross the end of a row.
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
    // An ordered fold without lanes combines an output's elements one by one.
    way_ = in_order_ || (!along_is_contiguous && across_is_nearer) ? Way::across : Way::along;
    const ReduceLoop& contiguous = way_ == Way::along ? inner : column;
    u64 strides = 0;  // the OR of the other loops' strides
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
    if (neighbors_.before.step != nullptr) {
      // No vector may be computed twice, either because two rows share it or because it is searched again for an index.
      has_vectors_ = has_vectors_ && rows_fit && neighbors_.before.step->has_vectors() &&
                     !(way_ == Way::along && is_arg(step.function));
    }
  }

  [[nodiscard]] u32 block_elements() const { return std::min(launch_.count, static_cast<u32>(kReduceBlock)); }
  [[nodiscard]] u32 vector_elements() const { return kVectorBytes / kernels_.element_bytes; }

  // Chooses a kernel, and sets the fields of `launch` that depend on the choice.
  [[nodiscard]] Choice choose(ReduceLaunch& launch, bool by_vectors) const {
    return way_ == Way::along    ? choose_along(launch, by_vectors)
           : way_ == Way::across ? choose_across(launch, by_vectors)
                                 : Choice{.kernel = ReduceKernel::combine, .blocks = 0, .threads = kReduceThreads};
  }

  [[nodiscard]] Choice choose_along(ReduceLaunch& launch, bool by_vectors) const {
    ReduceKernel kernel = by_vectors ? ReduceKernel::along_vectors : ReduceKernel::along_elements;
    launch.units = outputs_ * launch.blocks.divisor;
    u32 team = 0;
    if (kernels_.is_ordered) {
      // Use only as many lanes as there are elements, rounded up to a power of two, because additional lanes would be
      // empty.
      const u32 lanes = std::bit_ceil(std::min(launch.count, static_cast<u32>(kReduceLanes)));
      team = by_vectors ? std::max(1u, lanes / vector_elements()) : std::min(lanes, kWarp);
      if (const u32 fewer = std::max(1u, team / kLaneVectors);
          by_vectors && neighbors_.before.step == nullptr &&
          (u64{launch.units} * fewer >= enough_threads_ || team == 1)) {
        team = fewer;
        kernel = ReduceKernel::along_wide;
      }
    } else {
      const u32 loads =
          by_vectors ? static_cast<u32>(ceil_div<u64>(block_elements(), vector_elements())) : block_elements();
      team = std::min(std::bit_ceil(static_cast<u32>(ceil_div<u64>(loads, kVectorsOfThread))), kWarp);
    }
    set_team(launch, team);
    return {.kernel = kernel,
            .blocks = static_cast<u32>(ceil_div<u64>(u64{launch.units} * team, kReduceThreads)),
            .threads = kReduceThreads};
  }

  [[nodiscard]] Choice choose_across(ReduceLaunch& launch, bool by_vectors) const {
    const u32 columns = launch.kept_sizes[launch.kept_rank - 1].divisor;
    const u32 units = outputs_ * launch.blocks.divisor;
    const u32 vectors = units / vector_elements();
    if (has_lanes_) {
      set_columns(launch, columns, units, kLaneGroups);
      return {.kernel = ReduceKernel::across_lanes,
              .blocks = static_cast<u32>(ceil_div<u64>(units, kReduceThreads / kLaneGroups)),
              .threads = kReduceThreads};
    }
    const bool few = in_order_ && launch.count >= kMinStagedRows;  // enough threads only if there are many outputs
    if (by_vectors && !(few && vectors < enough_vector_threads_)) {
      set_columns(launch, columns / vector_elements(), vectors, 1);
      return choose_groups(launch, ReduceKernel::across_vectors);
    }
    set_columns(launch, columns, units, 1);
    if (few && units < enough_threads_) {
      return {.kernel = ReduceKernel::across_staged,
              .blocks = static_cast<u32>(ceil_div<u64>(units, kStagedColumns)),
              .threads = kReduceThreads};
    }
    return choose_groups(launch, ReduceKernel::across_elements);
  }

  static void set_columns(ReduceLaunch& launch, u32 columns, u32 units, u32 groups) {
    launch.columns = make_divisor(columns);
    launch.units = units;
    set_team(launch, groups);
  }

  [[nodiscard]] Choice choose_groups(ReduceLaunch& launch, ReduceKernel kernel) const {
    u32 groups = 1;
    while (!in_order_ && groups < kMaxGroups && u64{launch.units} * groups < enough_threads_ &&
           block_elements() >= 2 * groups * kRowsOfThread) {
      groups *= 2;
    }
    set_team(launch, groups);
    // If there are few threads, use small blocks to spread them over the device.
    const u32 threads = groups == 1 && launch.units < enough_threads_ ? 2 * kWarp : kReduceThreads;
    return {.kernel = kernel,
            .blocks = static_cast<u32>(ceil_div<u64>(launch.units, threads / groups)),
            .threads = threads};
  }

  // Uses one launch, or two for very long reductions. The first of two launches combines every 4,096 partial results
  // into one.
  [[nodiscard]] cudaError_t start_combining(ReduceLaunch& launch, std::byte* const* bases, cudaStream_t stream) const {
    launch.left = launch.blocks.divisor;
    launch.apart = 1;
    for (;;) {
      const u32 parts = kernels_.has_half_sums ? 1 : static_cast<u32>(ceil_div<u64>(launch.left, kPartialsAtOnce));
      launch.to_partials = parts > 1;
      launch.columns = make_divisor(parts);
      launch.units = outputs_ * parts;
      set_team(launch, launch.left > kPartialsOfWarp ? kReduceThreads : kWarp);
      launch.of_thread =
          parts > 1 ? kPartialsOfThread : std::bit_ceil(static_cast<u32>(ceil_div<u64>(launch.left, launch.team)));
      const Choice choice{.kernel = ReduceKernel::combine,
                          .blocks = static_cast<u32>(ceil_div<u64>(launch.units, kReduceThreads / launch.team)),
                          .threads = kReduceThreads};
      const cudaError_t error = start(choice, launch, bases, stream);
      if (error != cudaSuccess || parts == 1) {
        return error;
      }
      launch.left = parts;
      launch.apart *= kPartialsAtOnce;
    }
  }

  [[nodiscard]] cudaError_t start(const Choice& choice, const ReduceLaunch& launch, std::byte* const* bases,
                                  cudaStream_t stream) const {
    const auto kernel = static_cast<u32>(choice.kernel);
    if (joined_ == nullptr) {
      return kernels_.start[kernel](launch, choice.blocks, choice.threads, stream);
    }
    alignas(kObjectAlignment) std::byte parameter[kMaxJoinedBytes];
    std::memcpy(parameter, &launch, sizeof(launch));
    make_object(neighbors_.before, bases, parameter + before_at_);
    make_object(neighbors_.after, bases, parameter + after_at_);
    void* parameters[] = {parameter};
    const LaunchShape shape{.blocks = {choice.blocks}, .threads = {choice.threads}};
    return joined_->launch(positions_[kernel], shape, parameters, stream);
  }

  // Reserves space in the parameter for a joined step's object and returns its offset. If there is no joined step, the
  // object is an InMemory.
  [[nodiscard]] std::size_t add_object(const Neighbor& neighbor) {
    const std::size_t at = (joined_bytes_ + kObjectAlignment - 1) / kObjectAlignment * kObjectAlignment;
    joined_bytes_ = at + (neighbor.step != nullptr ? neighbor.step->bytes() : kObjectAlignment);
    return at;
  }
  static void make_object(const Neighbor& neighbor, std::byte* const* bases, std::byte* object) {
    if (neighbor.step != nullptr) {
      neighbor.step->make(bases + neighbor.first_operand, object);
    }
  }

  const ReduceKernels& kernels_;
  const u64 enough_threads_;
  const u64 enough_vector_threads_;
  Neighbors neighbors_;
  std::shared_ptr<const RuntimeKernels> joined_;    // null without joined steps
  std::size_t positions_[kReduceKernelCount] = {};  // indices of the kernels in joined_
  std::size_t joined_bytes_ = 0;                    // size of the parameter
  std::size_t before_at_ = 0;
  std::size_t after_at_ = 0;
  ReduceLaunch launch_{};
  u32 outputs_ = 0;
  std::int64_t input_offset_;
  std::int64_t output_offset_;
  std::int64_t lowest_ = 0;  // the tensor's bytes begin and end at these offsets from the first element
  std::int64_t end_ = 0;
  u64 inputs_low_ = 0;  // the OR of all strides; only its lowest bits matter
  u64 outputs_low_ = 0;
  Way way_ = Way::along;
  bool has_lanes_ = false;    // the fold has an order and lanes
  bool in_order_ = false;     // the fold has an order but no lanes
  bool has_vectors_ = false;  // vectors are used if the address allows it
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

extern const FamilyKernels reduce_family;
const FamilyKernels reduce_family = {
    .prepare = [](const Step& flat, const GpuProperties& gpu, Neighbors neighbors,
                  const char** why) -> std::unique_ptr<PreparedStep> {
      ReduceStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (step.outputs > kMaxElements / std::max<std::int64_t>(step.count, 1)) {
        *why = "the CUDA backend runs steps of up to 4,294,967,295 elements";
        return nullptr;
      }
      auto run = std::make_unique<ReduceRun>(step, gpu, kernels_of(step), std::move(neighbors));
      *why = run->join(step, gpu);
      if (*why != nullptr) {
        return nullptr;
      }
      return run;
    },
};

}  // namespace anydml::cuda
