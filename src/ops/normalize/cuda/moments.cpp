// SPDX-License-Identifier: MIT
// Chooses the kernel for a step that computes mean and variance, or sums of windows.
#include "ops/normalize/cuda/moments.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/normalize/cuda/launch.h"
#include "ops/normalize/cuda/quads.cuh"
#include "ops/scalar/fold_order.h"

namespace anydml::cuda {
namespace {

DeviceLoops device_loops(const AxisLoop* loops, u32 rank) {
  DeviceLoops result{};
  result.rank = rank;
  for (u32 i = 0; i < rank; ++i) {
    result.sizes[i] = make_divisor(static_cast<u32>(loops[i].size));
    result.first[i] = loops[i].input;
    result.second[i] = loops[i].output;
  }
  return result;
}

// The OR of all strides. Only its lowest bits matter.
u64 low_bits(const AxisLoop* loops, u32 rank, std::int64_t AxisLoop::*stride) {
  u64 low = 0;
  for (u32 i = 0; i < rank; ++i) {
    low |= static_cast<u64>(loops[i].*stride);
  }
  return low;
}

bool is_multiple(const void* address, u64 strides, u64 of) {
  return (reinterpret_cast<std::uintptr_t>(address) | strides) % of == 0;
}

class MomentRun final : public PreparedStep {
 public:
  explicit MomentRun(const MomentStep& step) : step_(step), size_(element_size(step.type)) {
    const AxisLoops& loops = step_.loops;
    const AxisLoops& affine = step_.affine;
    launch_.rows = static_cast<u32>(loops.outputs);
    launch_.count = static_cast<u32>(loops.count);
    launch_.divisor = static_cast<f32>(loops.count);
    launch_.epsilon = step.epsilon;
    launch_.uses_mean = step.uses_mean != 0;
    launch_.uses_variance = step.uses_variance != 0;
    launch_.kept = device_loops(loops.kept, loops.kept_rank);
    launch_.kept_affine = device_loops(affine.kept, affine.kept_rank);
    launch_.reduced = device_loops(loops.reduced, loops.reduced_rank);
    launch_.reduced_affine = device_loops(affine.reduced, affine.reduced_rank);
    const AxisLoop& inner = loops.reduced[0];
    const auto element = static_cast<std::int64_t>(size_);
    is_contiguous_ =
        loops.reduced_rank == 1 && inner.input == element && inner.output == element && loops.count % 2 == 0;
    fits_shared_memory_ =
        is_contiguous_ && loops.count % kTogether == 0 && loops.count >= kMinInShared && loops.count <= kMaxInShared;
    has_lanes_ = loops.has_lanes != 0 && loops.count > 1;
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    const AxisLoops& loops = step_.loops;
    const AxisLoops& affine = step_.affine;
    MomentLaunch launch = launch_;
    launch.input = bases[0] + loops.input_offset;
    launch.output = bases[3] + loops.output_offset;
    launch.scale = bases[1] == nullptr ? nullptr : bases[1] + affine.input_offset;
    launch.bias = bases[2] == nullptr ? nullptr : bases[2] + affine.output_offset;
    const u64 kept_input = low_bits(loops.kept, loops.kept_rank, &AxisLoop::input);
    const u64 kept_output = low_bits(loops.kept, loops.kept_rank, &AxisLoop::output);
    launch.input_is_aligned =
        is_multiple(launch.input, kept_input | low_bits(loops.reduced, loops.reduced_rank, &AxisLoop::input), size_);
    launch.output_is_aligned =
        is_multiple(launch.output, kept_output | low_bits(loops.reduced, loops.reduced_rank, &AxisLoop::output), size_);
    launch.is_plain = is_contiguous_ && is_multiple(launch.input, kept_input, 2 * size_) &&
                      is_multiple(launch.output, kept_output, 2 * size_);
    launch.scale_reading = reading_of(launch.scale, launch.is_plain, &AxisLoop::input);
    launch.bias_reading = reading_of(launch.bias, launch.is_plain, &AxisLoop::output);
    launch.affine_is_aligned = is_aligned(launch.scale, &AxisLoop::input) && is_aligned(launch.bias, &AxisLoop::output);
    const u64 four = kTogether * size_;
    const auto blocks = static_cast<u32>((loops.count + kReduceBlock - 1) / kReduceBlock);
    launch.reads_pairs = launch.scale_reading != Reading::any && launch.bias_reading != Reading::any;
    const bool fits = launch.is_plain && launch.reads_pairs && blocks <= kMaxWarpsOfRow;
    launch.warps_of_row = fits ? blocks : blocks == 1 ? 1 : kMomentThreads / 32;
    const bool by_quads = fits_shared_memory_ && launch.reads_pairs && is_multiple(launch.input, kept_input, four) &&
                          is_multiple(launch.output, kept_output, four) &&
                          (launch.scale_reading == Reading::one || is_aligned(launch.scale, &AxisLoop::input, four)) &&
                          (launch.bias_reading == Reading::one || is_aligned(launch.bias, &AxisLoop::output, four));
    const MomentKernel kernel = !has_lanes_ ? MomentKernel::chains
                                : by_quads  ? MomentKernel::shared_memory
                                : fits      ? MomentKernel::registers
                                            : MomentKernel::memory;
    return step_.type == DataType::FLOAT16 ? start_moments_of_halves(kernel, launch, stream)
                                           : start_moments_of_floats(kernel, launch, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "mean and variance of rows, %s", has_lanes_ ? "with lanes" : "in chains");
  }

 private:
  [[nodiscard]] bool is_aligned(const std::byte* memory, std::int64_t AxisLoop::*stride) const {
    const AxisLoops& loops = step_.affine;
    const u64 strides =
        low_bits(loops.kept, loops.kept_rank, stride) | low_bits(loops.reduced, loops.reduced_rank, stride);
    return memory == nullptr || is_multiple(memory, strides, size_);
  }
  // Whether all rows of a contiguous scale or bias are aligned to `of` bytes.
  [[nodiscard]] bool is_aligned(const std::byte* memory, std::int64_t AxisLoop::*stride, u64 of) const {
    return is_multiple(memory, low_bits(step_.affine.kept, step_.affine.kept_rank, stride), of);
  }
  [[nodiscard]] Reading reading_of(const std::byte* memory, bool is_plain, std::int64_t AxisLoop::*stride) const {
    const AxisLoops& loops = step_.affine;
    if (memory == nullptr || low_bits(loops.reduced, loops.reduced_rank, stride) == 0) {
      return Reading::one;
    }
    const bool pairs = is_plain && loops.reduced_rank == 1 &&
                       loops.reduced[0].*stride == static_cast<std::int64_t>(size_) &&
                       is_multiple(memory, low_bits(loops.kept, loops.kept_rank, stride), 2 * size_);
    return pairs ? Reading::pairs : Reading::any;
  }

  MomentStep step_;
  u64 size_;  // size of an element
  MomentLaunch launch_{};
  bool is_contiguous_ = false;  // whether rows are contiguous in both the input and the output
  bool has_lanes_ = false;
  bool fits_shared_memory_ = false;
};

class WindowRun final : public PreparedStep {
 public:
  WindowRun(const WindowStep& step, u32 count) : step_(step), size_(element_size(step.type)) {
    launch_.count = count;
    launch_.rank = step.rank;
    launch_.windowed = step.windowed;
    const std::int64_t longest = *std::max_element(step.sizes, step.sizes + step.rank);
    launch_.before = static_cast<u32>(std::min(step.before, longest));
    launch_.after = static_cast<u32>(std::min(step.after, longest));
    for (u32 i = 0; i < step.rank; ++i) {
      launch_.sizes[i] = make_divisor(static_cast<u32>(step.sizes[i]));
      launch_.strides[i] = step.strides[i];
      low_ |= static_cast<u64>(step.strides[i]);
    }
    set_middle();
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    WindowLaunch launch = launch_;
    launch.input = bases[0];
    launch.output = reinterpret_cast<f32*>(bases[1]);
    launch.input_is_aligned = is_multiple(bases[0], low_, size_);
    if (is_middle_ && launch.input_is_aligned) {
      return start_middle_windows(step_, middle_of(bases[0], launch.output), stream);
    }
    return start_windows(step_, launch, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s",
                  step_.function == NormalizeFunction::window_sums ? "sums of windows" : "sums of squares of windows");
  }

 private:
  // Dimensions without windows have already been merged where possible.
  void set_middle() {
    const u32 after = step_.windowed == 2 ? 2 : 1;  // dimensions up to and including the windows
    is_middle_ = (step_.windowed == 1 || step_.windowed == 2) && step_.rank <= after + 1;
    if (!is_middle_) {
      return;
    }
    const bool has_inner = step_.rank > after;
    outer_stride_ = after == 2 ? step_.strides[0] : 0;
    middle_ = after - 1;
    inner_ = has_inner ? step_.sizes[after] : 1;
    inner_stride_ = has_inner ? step_.strides[after] : 0;
    low_of_quads_ = static_cast<u64>(outer_stride_) | static_cast<u64>(step_.strides[middle_]);
  }

  [[nodiscard]] MiddleWindows middle_of(const std::byte* input, f32* output) const {
    const bool by_quads = inner_stride_ == static_cast<std::int64_t>(size_) && inner_ % kWindowsTogether == 0 &&
                          is_multiple(input, low_of_quads_, kWindowsTogether * size_) &&
                          is_multiple(output, 0, kWindowsTogether * sizeof(f32));
    const u32 together = by_quads ? kWindowsTogether : 1;
    return {.input = input,
            .output = output,
            .threads = launch_.count / together,
            .together = together,
            .before = launch_.before,
            .after = launch_.after,
            .middle = launch_.sizes[middle_],
            .inner = make_divisor(static_cast<u32>(inner_) / together),
            .outer_stride = outer_stride_,
            .middle_stride = step_.strides[middle_],
            .inner_stride = inner_stride_ * together};
  }

  WindowStep step_;
  u64 size_;  // size of an element
  WindowLaunch launch_{};
  u64 low_ = 0;
  bool is_middle_ = false;  // windows extend along one dimension, with at most one dimension before it and one after it
  u32 middle_ = 0;          // index of that dimension
  std::int64_t outer_stride_ = 0;
  std::int64_t inner_ = 1;  // in elements
  std::int64_t inner_stride_ = 0;
  u64 low_of_quads_ = 0;
};

}  // namespace

std::unique_ptr<PreparedStep> prepare_moments(const Step& flat, const char** why) {
  MomentStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  if (step.loops.outputs > kMaxElements / std::max<std::int64_t>(step.loops.count, 1)) {
    *why = kTooManyElements;
    return nullptr;
  }
  return std::make_unique<MomentRun>(step);
}

std::unique_ptr<PreparedStep> prepare_windows(const Step& flat, const char** why) {
  WindowStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  std::int64_t count = 1;
  for (u32 i = 0; i < step.rank; ++i) {
    if (step.sizes[i] > kMaxElements / count) {
      *why = kTooManyElements;
      return nullptr;
    }
    count *= step.sizes[i];
  }
  return std::make_unique<WindowRun>(step, static_cast<u32>(count));
}

}  // namespace anydml::cuda
