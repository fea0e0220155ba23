// SPDX-License-Identifier: MIT
// Runs scans on a device with Vulkan. If there are many rows, a chain is a row, and each element is read once.
// Otherwise a chain is a block of a row: kernels first compute the totals of all blocks, then the carries before them,
// and then the outputs.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "backend/vulkan/family.h"
#include "backend/vulkan/spirv/functions.h"
#include "ops/scan/scalar/scan.h"
#include "ops/scan/step.h"
#include "shaders/scan_carries.h"
#include "shaders/scan_carries_wide.h"
#include "shaders/scan_chains.h"
#include "shaders/scan_chains_wide.h"

namespace anydml::vulkan {
namespace {

constexpr u32 kChains = 64;        // of a group
constexpr u64 kManyRows = 16'384;  // that occupy a large GPU
constexpr u64 kOperations = 32;    // for each element, roughly
constexpr u64 kMaxGroups = 0xffffffff;

// The layouts in scan.glsl.
struct ScanParameters {
  i64 input_offset;
  i64 output_offset;
  i64 along_input;
  i64 along_output;
  u64 count;
  u32 rows;
  u32 chains_of_row;
  u32 kept_rank;
  u32 is_exclusive;
  AxisLoop kept[kMaxRank];
};
struct ScanConstants {
  u32 input_is_aligned;
  u32 output_is_aligned;
};
static_assert(kScanBlock == 4096 && offsetof(ScanParameters, kept) == 56 && sizeof(AxisLoop) == 24);

// The chains of a row.
u64 chains_of(const ScanStep& step, const GpuProperties& gpu) {
  const auto count = static_cast<u64>(step.loops.count);
  const bool are_rows = static_cast<u64>(step.loops.outputs) >= kManyRows && 4 * count <= gpu.max_iterations;
  return are_rows ? 1 : (count + kScanBlock - 1) / kScanBlock;
}
u64 groups_of(const ScanStep& step, u64 chains_of_row) {
  return (static_cast<u64>(step.loops.outputs) * chains_of_row + kChains - 1) / kChains;
}

class ScanRun final : public PreparedStep {
 public:
  ScanRun(const ScanStep& step, Kernels& kernels) : bytes_(static_cast<u32>(element_size(step.type))) {
    const AxisLoops& loops = step.loops;
    parameters_ = {.input_offset = loops.input_offset,
                   .output_offset = loops.output_offset,
                   .along_input = step.along().input,
                   .along_output = step.along().output,
                   .count = static_cast<u64>(loops.count),
                   .rows = static_cast<u32>(loops.outputs),
                   .chains_of_row = static_cast<u32>(chains_of(step, kernels.gpu())),
                   .kept_rank = loops.kept_rank,
                   .is_exclusive = step.is_exclusive,
                   .kept = {}};
    groups_ = static_cast<u32>(groups_of(step, parameters_.chains_of_row));
    input_steps_ = static_cast<u64>(loops.input_offset) | static_cast<u64>(step.along().input);
    output_steps_ = static_cast<u64>(loops.output_offset) | static_cast<u64>(step.along().output);
    for (u32 i = 0; i < loops.kept_rank; ++i) {
      parameters_.kept[i] = loops.kept[i];
      input_steps_ |= static_cast<u64>(loops.kept[i].input);
      output_steps_ |= static_cast<u64>(loops.kept[i].output);
    }
    const AxisLoop& column = loops.kept[loops.kept_rank - 1];
    const bool is_across =
        column.size > 1 && column.input != 0 && std::abs(column.input) < std::abs(step.along().input);
    const bool is_wide = bytes_ == sizeof(u64);
    const auto find = [&](bool to_totals, bool has_carries) {
      const u32 constants[] = {bytes_,
                               is_float_type(step.type) ? 1U : 0U,
                               step.function == ScanFunction::product ? 1U : 0U,
                               is_across ? 1U : 0U,
                               to_totals ? 1U : 0U,
                               has_carries ? 1U : 0U};
      return kernels.find(is_wide ? spirv::linked_kernel("scan_chains_wide", k_scan_chains_wide, kernels.gpu())
                                  : spirv::linked_kernel("scan_chains", k_scan_chains, kernels.gpu()),
                          constants);
    };
    scan_ = find(false, in_blocks());
    if (in_blocks()) {
      totals_ = find(true, false);
      const u32 constants[] = {bytes_, is_float_type(step.type) ? 1U : 0U,
                               step.function == ScanFunction::product ? 1U : 0U};
      carries_ = kernels.find(is_wide ? spirv::linked_kernel("scan_carries_wide", k_scan_carries_wide, kernels.gpu())
                                      : spirv::linked_kernel("scan_carries", k_scan_carries, kernels.gpu()),
                              constants);
    }
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&parameters_, 1));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand != 0};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override {
    return in_blocks() ? std::vector{totals_, carries_, scan_} : std::vector{scan_};
  }
  void record(Recorder& recorder) const override {
    const auto is_aligned = [&](u64 steps, std::size_t operand) {
      return ((steps | recorder.low_bits(operand)) & (bytes_ - 1)) == 0 ? 1U : 0U;
    };
    const ScanConstants constants{.input_is_aligned = is_aligned(input_steps_, 0),
                                  .output_is_aligned = is_aligned(output_steps_, 1)};
    const auto dispatch = [&](const Kernel& kernel, u32 groups, u64 elements) {
      recorder.dispatch(kernel, groups, std::as_bytes(std::span(&constants, 1)), elements * kOperations);
    };
    if (groups_ == 0 || parameters_.count == 0) {
      return;
    }
    const u64 elements = in_blocks() ? u64{kScanBlock} * kChains : parameters_.count * kChains;
    if (in_blocks()) {
      dispatch(*totals_, groups_, elements);
      recorder.barrier();
      dispatch(*carries_, parameters_.rows, parameters_.chains_of_row);
      recorder.barrier();
    }
    dispatch(*scan_, groups_, elements);
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "rows%s", in_blocks() ? " in blocks" : "");
  }

 private:
  [[nodiscard]] bool in_blocks() const { return parameters_.chains_of_row > 1; }

  u32 bytes_;
  u32 groups_ = 0;
  ScanParameters parameters_{};
  u64 input_steps_ = 0;  // the OR of the offset and the strides
  u64 output_steps_ = 0;
  KernelRef scan_;
  KernelRef totals_;
  KernelRef carries_;
};

}  // namespace

extern const FamilyKernels scan_family;
const FamilyKernels scan_family = {
    .lacks = [](const GpuProperties&, const AskedOperator&) -> const char* { return nullptr; },
    .prepare = [](const Step& flat, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      ScanStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      const u64 chains = chains_of(step, kernels.gpu());
      if (static_cast<u64>(step.loops.outputs) > UINT32_MAX || chains > UINT32_MAX - kChains ||
          groups_of(step, chains) > kMaxGroups) {
        *why = "the Vulkan kernels for scans have at most 4,294,967,295 rows, and groups of 64 blocks";
        return nullptr;
      }
      if (2 * chains > kernels.gpu().max_iterations) {
        *why = "rows are so long that this software driver would end the loops over their blocks too early";
        return nullptr;
      }
      return std::make_unique<ScanRun>(step, kernels);
    },
};

}  // namespace anydml::vulkan
