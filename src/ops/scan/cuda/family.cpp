// SPDX-License-Identifier: MIT
// Chooses the kernels for a step that scans rows. If there are enough rows for the whole GPU, a chain is a row, and
// each element is read once. Otherwise a chain is a block of a row: kernels first compute the totals of all blocks,
// then the carries before them, and then the outputs.
#include "backend/cuda/family.h"
#include "base/integers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ops/scan/cuda/launch.h"
#include "ops/scan/scalar/scan.h"

namespace anydml::cuda {
namespace {

constexpr std::int64_t kMaxRows = 0xffffffff;    // kernels use 32-bit row indices
constexpr std::int64_t kMaxGroups = 0x7fffffff;  // blocks of threads per launch
constexpr u64 kVector = 16;                      // bytes

// Whether a chain is a row or a block, and how chains are grouped.
struct ScanShape {
  bool across;
  bool in_blocks;
  std::int64_t blocks;         // per row
  std::int64_t tiles_of_loop;  // across: groups per innermost kept loop
  std::int64_t groups;
};

ScanShape shape_of(const ScanStep& step, const GpuProperties& gpu) {
  const AxisLoops& loops = step.loops;
  const AxisLoop& column = loops.kept[loops.kept_rank - 1];
  ScanShape shape{};
  shape.blocks = ceil_div(loops.count, kScanBlock);
  shape.across = column.size > 1 && column.input != 0 && std::abs(column.input) < std::abs(step.along().input);
  shape.tiles_of_loop = ceil_div(column.size, kScanChains);
  const std::int64_t groups =
      shape.across ? loops.outputs / column.size * shape.tiles_of_loop : ceil_div(loops.outputs, kScanChains);
  // Blocks read the input twice, which takes 1.5 times as long. Whole rows take longer than that if their groups occupy
  // less than two thirds of the multiprocessors.
  shape.in_blocks = shape.blocks > 1 && 3 * groups < 2 * static_cast<std::int64_t>(gpu.multiprocessors);
  if (!shape.in_blocks) {
    shape.groups = groups;
  } else if (shape.across) {
    shape.groups = groups * shape.blocks;
  } else {
    shape.groups = ceil_div(loops.outputs * shape.blocks, kScanChains);
  }
  return shape;
}

class ScanRun final : public PreparedStep {
 public:
  ScanRun(const ScanStep& step, const ScanShape& shape) : function_(step.function), type_(step.type), shape_(shape) {
    const AxisLoops& loops = step.loops;
    input_offset_ = loops.input_offset;
    output_offset_ = loops.output_offset;
    launch_.count = static_cast<u64>(loops.count);
    launch_.rows = static_cast<u32>(loops.outputs);
    launch_.chains_of_row = shape.in_blocks ? static_cast<u32>(shape.blocks) : 1;
    launch_.tiles_of_loop = static_cast<u32>(shape.tiles_of_loop);
    launch_.kept_rank = loops.kept_rank;
    launch_.along_input = step.along().input;
    launch_.along_output = step.along().output;
    launch_.is_exclusive = step.is_exclusive != 0;
    launch_.first_is_zero = first_is_zero(step);
    for (u32 i = 0; i < loops.kept_rank; ++i) {
      launch_.kept_sizes[i] = make_divisor(static_cast<u32>(loops.kept[i].size));
      launch_.kept_input[i] = loops.kept[i].input;
      launch_.kept_output[i] = loops.kept[i].output;
    }
    const auto size = static_cast<std::int64_t>(element_size(type_));
    const auto side = [&](std::int64_t AxisLoop::*stride) {
      Side computed{};
      for (u32 i = 0; i < loops.kept_rank; ++i) {
        // Across, the columns of a vector are adjacent.
        const bool is_column = shape.across && i + 1 == loops.kept_rank;
        computed.low |= static_cast<u64>(loops.kept[i].*stride);
        computed.rows_low |= is_column || loops.kept[i].size == 1 ? 0 : static_cast<u64>(loops.kept[i].*stride);
      }
      const std::int64_t along = step.along().*stride;
      computed.low |= static_cast<u64>(along);
      computed.rows_low |= shape.across ? static_cast<u64>(along) : 0;
      computed.is_contiguous = (shape.across ? loops.kept[loops.kept_rank - 1].*stride : along) == size;
      return computed;
    };
    input_ = side(&AxisLoop::input);
    output_ = side(&AxisLoop::output);
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    ScanLaunch launch = launch_;
    launch.input = bases[0] + input_offset_;
    launch.output = bases[1] + output_offset_;
    launch.totals = shape_.in_blocks ? bases[2] : nullptr;
    const u64 size = element_size(type_);
    const auto from = reinterpret_cast<std::uintptr_t>(launch.input);
    const auto to = reinterpret_cast<std::uintptr_t>(launch.output);
    launch.input_is_aligned = (from | input_.low) % size == 0;
    launch.output_is_aligned = (to | output_.low) % size == 0;
    launch.input_has_vectors = input_.is_contiguous && (from | input_.rows_low) % kVector == 0;
    launch.output_has_vectors = output_.is_contiguous && (to | output_.rows_low) % kVector == 0;
    if (shape_.in_blocks) {
      ScanLaunch totals = launch;
      totals.output = nullptr;
      if (const cudaError_t error = start(totals, stream); error != cudaSuccess) {
        return error;
      }
      const cudaError_t error =
          function_ == ScanFunction::sum ? carry_sums(type_, launch, stream) : carry_products(type_, launch, stream);
      if (error != cudaSuccess) {
        return error;
      }
    }
    return start(launch, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "rows %s%s", shape_.across ? "across" : "along",
                  shape_.in_blocks ? " in blocks" : "");
  }

 private:
  // The ORs of the strides of one tensor; only their lowest bits matter.
  struct Side {
    u64 low;             // all strides
    u64 rows_low;        // strides between vectors
    bool is_contiguous;  // whether the elements of a vector are contiguous
  };

  [[nodiscard]] cudaError_t start(const ScanLaunch& launch, cudaStream_t stream) const noexcept {
    const auto groups = static_cast<u32>(shape_.groups);
    return function_ == ScanFunction::sum ? start_sums(type_, shape_.across, groups, launch, stream)
                                          : start_products(type_, shape_.across, groups, launch, stream);
  }

  ScanFunction function_;
  DataType type_;
  ScanShape shape_;
  ScanLaunch launch_{};
  std::int64_t input_offset_ = 0;
  std::int64_t output_offset_ = 0;
  Side input_{};
  Side output_{};
};

}  // namespace

extern const FamilyKernels scan_family;
const FamilyKernels scan_family = {
    .prepare = [](const Step& flat, const GpuProperties& gpu, Neighbors,
                  const char** why) -> std::unique_ptr<PreparedStep> {
      ScanStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      const ScanShape shape = shape_of(step, gpu);
      if (step.loops.outputs > kMaxRows || shape.blocks > kMaxRows || shape.groups > kMaxGroups) {
        *why = "the CUDA backend scans at most 4,294,967,295 rows, and at most 68,719,476,704 chains of 4,096 elements";
        return nullptr;
      }
      return std::make_unique<ScanRun>(step, shape);
    },
};

}  // namespace anydml::cuda
