// SPDX-License-Identifier: MIT
// Prepares the kernels of an integer convolution.
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "ops/product/cuda/run.h"
#include "ops/product/integer_step.h"

namespace anydml::cuda {
namespace {

constexpr std::int64_t kWordBytes = 4;
constexpr auto kSplitWords = static_cast<std::int64_t>(kProductBlock) / kWordBytes;
static_assert(kSplitWords % kWordStep == 0);

class IntegerWindowRun final : public PreparedStep {
 public:
  IntegerWindowRun(const IntegerConvolutionStep& step, const GpuProperties& gpu, const Step& flat, Neighbor after)
      : step_(step), after_(std::move(after)), is_direct_(is_direct(step.convolution, gpu)) {
    const ConvolutionStep& convolution = step.convolution;
    for (std::size_t i = 0; i < kIntegerOperands; ++i) {
      is_there_[i] = flat.operands[i].slot != kAbsentSlot;
    }
    const WindowPart windows = set_windows(convolution, {0, 0, 0}, launch_);
    const std::int64_t words = ceil_div(convolution.channels, kWordBytes) * convolution.taps();
    launch_.words = static_cast<u32>(words);
    launch_.words_of_part = launch_.words;
    launch_.parts = 1;
    launch_.finish = static_cast<u32>(step.finish);
    launch_.filter_is_signed = step.signed_filter != 0;
    launch_.input_is_signed = step.signed_input != 0;
    launch_.output_is_signed = step.signed_output != 0;
    if (is_direct_) {
      const DirectShape shape = direct_shape(windows.columns);
      threads_ = shape.threads;
      blocks_ = set_blocks(windows, convolution.rows, shape.across, launch_);
      return;
    }
    const TileChoice choice = choose_tiles({.rows = convolution.rows,
                                            .columns = windows.columns,
                                            .matrices = convolution.groups,
                                            .depth = words * kWordBytes},
                                           kByteTiles, true, gpu);
    tile_ = choice.tile;
    threads_ = byte_threads(tile_);
    blocks_ = set_blocks(windows, ceil_div(convolution.rows, tile_), ceil_div(windows.columns, tile_), launch_);
    if (choice.splits > 1) {
      launch_.parts = choice.splits;
      launch_.words_of_part = static_cast<u32>(choice.split.blocks_of_split * kSplitWords);
      launch_.split.outputs = choice.split.outputs;
    }
  }

  [[nodiscard]] bool fits_grid() const { return blocks_ != 0; }
  // Compiles a kernel that includes the following step. Returns null on success, or the reason why the steps cannot be
  // joined.
  [[nodiscard]] const char* join(const GpuProperties& gpu) {
    return after_.compile<IntegerWindowLaunch>("integer_windows.cuh", "IntegerWindowLaunch",
                                               is_direct_ ? "integer_convolution_direct<"
                                               : launch_.parts > 1
                                                   ? "integer_convolution_sums<"
                                                   : "integer_convolution_tiles<" + std::to_string(tile_) + "u, ",
                                               0, gpu);
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override {
    return launch_.parts == 1 ? 0 : std::uint64_t{launch_.parts} * launch_.split.outputs * sizeof(u32);
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte* workspace,
                                   cudaStream_t stream) const noexcept override {
    IntegerWindowLaunch launch = launch_;
    set_addresses(launch, bases);
    launch.totals = launch.parts > 1 ? reinterpret_cast<u32*>(workspace) : nullptr;
    const bool is_joined = after_.is_there();
    if (is_joined && launch.parts == 1) {
      return after_.launch(launch, {.blocks = {.x = blocks_}, .threads = {.x = threads_}}, bases, stream);
    }
    if (is_direct_) {
      return start_direct_integer_convolution(launch, blocks_, threads_, stream);
    }
    const TileGrid grid{.tile = tile_, .blocks = blocks_, .splits = launch.parts};
    if (const cudaError_t error = start_integer_convolution(launch, grid, stream);
        error != cudaSuccess || launch.parts == 1) {
      return error;
    }
    const u32 blocks = (launch.split.outputs - 1) / kSumThreads + 1;
    return is_joined ? after_.launch(launch, {.blocks = {.x = blocks}, .threads = {.x = kSumThreads}}, bases, stream)
                     : start_integer_convolution_sums(launch, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    const char* const joined = after_.is_there() ? "joined, " : "";
    if (is_direct_) {
      std::snprintf(text, capacity, "%sconvolution of bytes, %u threads", joined, threads_);
    } else {
      std::snprintf(text, capacity, "%sconvolution, tiles of %u x %u bytes, k in %u part%s", joined, tile_, tile_,
                    launch_.parts, launch_.parts == 1 ? "" : "s");
    }
  }

 private:
  void set_addresses(IntegerWindowLaunch& launch, std::byte* const* bases) const {
    const ConvolutionStep& convolution = step_.convolution;
    const auto base = [&](IntegerOperand operand) {
      const auto i = static_cast<std::size_t>(operand);
      return is_there_[i] ? bases[i] : nullptr;
    };
    const auto number = [&](IntegerOperand operand, std::int64_t stride) {
      return NumberLaunch{.at = base(operand),
                          .row_stride = stride,
                          .column_stride = 0,
                          .is_aligned = is_multiple(base(operand), static_cast<std::uint64_t>(stride), sizeof(f32))};
    };
    ConvolutionStep others = convolution;  // a copy without the strides between channels
    others.filter_channel = 0;
    others.input_channel = 0;
    launch.filter = base(IntegerOperand::a);
    launch.input = base(IntegerOperand::b);
    launch.bias = base(IntegerOperand::bias);
    launch.output = after_.is_there() ? nullptr : base(IntegerOperand::output);
    launch.bias_is_aligned =
        is_multiple(launch.bias, static_cast<std::uint64_t>(convolution.bias_channel), sizeof(u32));
    launch.output_is_aligned = is_multiple(launch.output, output_strides(convolution), sizeof(u32));
    launch.has_vectors =
        has_pixel_vectors(convolution, launch.output, step_.finish == IntegerFinish::quantized ? 1 : sizeof(u32));
    const bool is_whole = convolution.channels % kWordBytes == 0;
    launch.filter_has_words =
        is_whole && convolution.filter_channel == 1 && is_multiple(launch.filter, filter_strides(others), kWordBytes);
    launch.input_has_words =
        is_whole && convolution.input_channel == 1 && is_multiple(launch.input, input_strides(others), kWordBytes);
    launch.filter_zero = number(IntegerOperand::a_zero, step_.filter_zero);
    launch.input_zero = number(IntegerOperand::b_zero, 0);
    launch.a_scale = number(IntegerOperand::a_scale, step_.filter_scale);
    launch.b_scale = number(IntegerOperand::b_scale, 0);
    launch.output_scale = number(IntegerOperand::output_scale, 0);
    launch.output_zero = number(IntegerOperand::output_zero, 0);
  }

  IntegerConvolutionStep step_;
  JoinedKernel after_;
  bool is_direct_;
  bool is_there_[kIntegerOperands] = {};
  u32 tile_ = kSmallTile;
  u32 blocks_ = 0;
  u32 threads_ = 0;
  IntegerWindowLaunch launch_{};
};

}  // namespace

std::unique_ptr<PreparedStep> prepare_integer_convolution(const Step& flat, const GpuProperties& gpu,
                                                          Neighbors neighbors, const char** why) {
  IntegerConvolutionStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  if (!windows_fit(step.convolution)) {
    *why = kTooManyElements;
    return nullptr;
  }
  auto run = std::make_unique<IntegerWindowRun>(step, gpu, flat, std::move(neighbors.after));
  *why = run->fits_grid() ? run->join(gpu) : kTooManyElements;
  if (*why != nullptr) {
    return nullptr;
  }
  return run;
}

}  // namespace anydml::cuda
