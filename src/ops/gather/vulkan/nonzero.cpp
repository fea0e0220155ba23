// SPDX-License-Identifier: MIT
#include "ops/gather/vulkan/nonzero.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/integers.h"
#include "ops/gather/step.h"
#include "shaders/nonzero.h"

namespace anydml::vulkan {
namespace {

constexpr u32 kThreads = 256;
constexpr u32 kTile = kThreads * 8;  // elements of a group
constexpr u64 kOperations = 128;     // for each element, roughly

// The parameters and constants in nonzero.comp.
struct NonzeroParameters {
  u64 mask;
  i64 row_stride;
  i64 column_stride;
  u32 count;
  u32 tiles;
  u32 rank;
  u32 columns;
  i64 strides[kMaxRank];
  u32 sizes[kMaxRank];
};
struct NonzeroConstants {
  u32 has_total;
  u32 elements_are_aligned;
  u32 total_is_aligned;
  u32 rows_are_aligned;
};
enum class Pass : u32 { count, add_up, write };
// The marks of the blocks are for the CPU.
enum NonzeroOperand : std::size_t { kInput, kTotal, kRows, kMarks };

class NonzeroRun final : public PreparedStep {
 public:
  // Without an operand's address, nothing reads it.
  NonzeroRun(const NonzeroStep& step, bool has_total, bool has_rows, Kernels& kernels)
      : element_(step.element),
        has_total_(has_total),
        row_steps_(static_cast<u64>(step.row_stride) | static_cast<u64>(step.column_stride)) {
    parameters_.mask = step.mask;
    parameters_.row_stride = step.row_stride;
    parameters_.column_stride = step.column_stride;
    parameters_.count = static_cast<u32>(step.count);
    parameters_.tiles = static_cast<u32>(ceil_div(step.count, i64{kTile}));
    parameters_.rank = step.rank;
    parameters_.columns = step.columns;
    for (u32 i = 0; i < step.rank; ++i) {
      parameters_.sizes[i] = static_cast<u32>(step.sizes[i]);
      parameters_.strides[i] = step.strides[i];
      steps_ |= static_cast<u64>(step.strides[i]);
    }
    const auto find = [&](Pass pass) {
      const u32 constants[] = {static_cast<u32>(pass), element_};
      return kernels.find({.key = "nonzero", .words = k_nonzero, .make = {}}, constants);
    };
    if (parameters_.tiles != 0) {
      count_ = find(Pass::count);
    }
    add_up_ = find(Pass::add_up);
    if (parameters_.tiles != 0 && parameters_.columns != 0 && has_rows) {
      write_ = find(Pass::write);
    }
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override {
    return std::max<u64>(1, parameters_.tiles) * sizeof(u32);
  }
  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&parameters_, 1));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    if (operand == kMarks) {
      return {.begin = 0, .end = 0, .is_written = false};
    }
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand != kInput};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override {
    std::vector<KernelRef> all;
    std::ranges::copy_if(std::vector{count_, add_up_, write_}, std::back_inserter(all),
                         [](const KernelRef& one) { return one != nullptr; });
    return all;
  }
  void record(Recorder& recorder) const override {
    const bool writes = write_ != nullptr;
    const NonzeroConstants constants{
        .has_total = has_total_ ? 1U : 0U,
        .elements_are_aligned = (steps_ | recorder.low_bits(kInput)) % element_ == 0 ? 1U : 0U,
        .total_is_aligned = has_total_ && recorder.low_bits(kTotal) % sizeof(u32) == 0 ? 1U : 0U,
        .rows_are_aligned = writes && (row_steps_ | recorder.low_bits(kRows)) % sizeof(u32) == 0 ? 1U : 0U};
    const auto dispatch = [&](const KernelRef& kernel, u32 groups, u64 elements) {
      if (kernel != nullptr) {
        recorder.dispatch(*kernel, groups, std::as_bytes(std::span(&constants, 1)), elements * kOperations);
        recorder.barrier();
      }
    };
    dispatch(count_, parameters_.tiles, kTile);
    dispatch(add_up_, 1, parameters_.tiles);
    dispatch(write_, parameters_.tiles, kTile);
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%u tile%s of elements", parameters_.tiles, parameters_.tiles == 1 ? "" : "s");
  }

 private:
  NonzeroParameters parameters_{};
  u32 element_;  // bytes
  bool has_total_;
  u64 steps_ = 0;
  u64 row_steps_;
  KernelRef count_;  // null for passes without work
  KernelRef add_up_;
  KernelRef write_;
};

}  // namespace

std::unique_ptr<PreparedStep> prepare_nonzero(const Step& flat, Kernels& kernels) {
  NonzeroStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  return std::make_unique<NonzeroRun>(step, has_address(flat.operands[kTotal].slot),
                                      has_address(flat.operands[kRows].slot), kernels);
}

}  // namespace anydml::vulkan
