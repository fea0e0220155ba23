// SPDX-License-Identifier: MIT
// Runs QUANTIZE and DEQUANTIZE on a device with Vulkan.
#include <cstdio>
#include <cstring>

#include "backend/vulkan/family.h"
#include "backend/vulkan/spirv/functions.h"
#include "ops/quantize/scalar/codes.h"
#include "ops/quantize/step.h"
#include "shaders/codes.h"

namespace anydml::vulkan {
namespace {

constexpr u32 kThreads = 256;
constexpr u32 kRun = 8;           // elements of a thread
constexpr u64 kOperations = 512;  // of a thread, roughly
constexpr u64 kVectorBytes = 16;
constexpr i64 kMaxElements = (i64{1} << 32) - kRun;

// The parameters and constants in codes.comp.
struct LoopParameters {
  u32 size;
  u32 unused;
  i64 strides[kQuantizeOperands];
};
struct CodeParameters {
  u32 count;
  u32 rank;
  i32 zero;
  u32 unused;
  LoopParameters loops[kMaxQuantizeLoops];
};
struct CodeConstants {
  u32 numbers_are_aligned;
  u32 scales_are_aligned;
  u32 are_in_runs;
};
static_assert(kQuantizeInput == 0 && kQuantizeScale == 1 && kQuantizeZero == 2 && kQuantizeOutput == 3);

class QuantizeRun final : public PreparedStep {
 public:
  QuantizeRun(const QuantizeStep& step, Kernels& kernels)
      : numbers_(step.is_quantize != 0 ? kQuantizeInput : kQuantizeOutput),
        codes_(step.is_quantize != 0 ? kQuantizeOutput : kQuantizeInput),
        number_bytes_(static_cast<u32>(element_size(step.numbers))),
        scale_bytes_(static_cast<u32>(element_size(step.scales))),
        is_in_order_(is_in_order(step, kQuantizeInput) && is_in_order(step, kQuantizeOutput)) {
    parameters_.count = static_cast<u32>(step.count);
    parameters_.rank = step.rank;
    parameters_.zero = step.zero;
    for (u32 i = 0; i < step.rank; ++i) {
      parameters_.loops[i].size = static_cast<u32>(step.loops[i].size);
      std::memcpy(parameters_.loops[i].strides, step.loops[i].strides, sizeof(step.loops[i].strides));
    }
    const u32 constants[] = {step.is_quantize, is_four_bits(step.codes) ? 1U : 0U,        number_bytes_, scale_bytes_,
                             step.has_zero,    code_range(step.codes).flip != 0 ? 1U : 0U};
    kernel_ = kernels.find(spirv::linked_kernel("codes", k_codes, kernels.gpu()), constants);
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&parameters_, 1));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand == kQuantizeOutput};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return {kernel_}; }
  void record(Recorder& recorder) const override {
    // Strides are in elements, so only addresses matter.
    const u32 numbers = recorder.low_bits(numbers_);
    const bool is_in_runs = is_in_order_ && numbers % kVectorBytes == 0 && recorder.low_bits(codes_) % sizeof(u32) == 0;
    const CodeConstants constants{.numbers_are_aligned = numbers % number_bytes_ == 0 ? 1U : 0U,
                                  .scales_are_aligned = recorder.low_bits(kQuantizeScale) % scale_bytes_ == 0 ? 1U : 0U,
                                  .are_in_runs = is_in_runs ? 1U : 0U};
    if (parameters_.count != 0) {
      const u32 threads = ceil_div(parameters_.count, kRun);
      recorder.dispatch(*kernel_, ceil_div(threads, kThreads), std::as_bytes(std::span(&constants, 1)),
                        kThreads * kOperations);
    }
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "runs of eight, %u loop%s", parameters_.rank, parameters_.rank == 1 ? "" : "s");
  }

 private:
  CodeParameters parameters_{};
  std::size_t numbers_;  // the operands
  std::size_t codes_;
  u32 number_bytes_;
  u32 scale_bytes_;
  bool is_in_order_;
  KernelRef kernel_;
};

}  // namespace

extern const FamilyKernels quantize_family;
const FamilyKernels quantize_family = {
    .lacks = [](const GpuProperties&, const AskedOperator&) -> const char* { return nullptr; },
    .prepare = [](const Step& flat, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      QuantizeStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (step.count > kMaxElements) {
        *why = "the Vulkan kernels for quantization have up to 4,294,967,288 elements";
        return nullptr;
      }
      return std::make_unique<QuantizeRun>(step, kernels);
    },
};

}  // namespace anydml::vulkan
