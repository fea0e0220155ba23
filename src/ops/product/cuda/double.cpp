// SPDX-License-Identifier: MIT
// Prepares the kernels of FLOAT64 products and convolutions.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/product/cuda/run.h"
#include "ops/product/double.h"
#include "ops/product/operands.h"

namespace anydml::cuda {
namespace {

using namespace product_operands;

class DoubleRun final : public PreparedStep {
 public:
  DoubleRun(const DoubleStep& step, bool has_c) : step_(step.product), has_c_(has_c) {
    launch_.rows = step_.rows;
    launch_.columns = step_.columns;
    launch_.depth = step_.depth;
    launch_.across = ceil_div(step_.columns, kDoubleTile);
    launch_.tiles = launch_.across * ceil_div(step_.rows, kDoubleTile);
    std::copy_n(step_.batch_sizes, kBatchRank, launch_.batch_sizes);
    launch_.batch_rank = step_.batch_rank;
    launch_.scale = step.scale;
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    DoubleLaunch launch = launch_;
    launch.a = matrix(step_.a, bases[kA]);
    launch.b = matrix(step_.b, bases[kB]);
    launch.c = matrix(step_.c, has_c_ ? bases[kC] : nullptr);
    launch.output = matrix(step_.output, bases[kOutput]);
    return start_double_product(launch, static_cast<u32>(launch_.tiles * step_.batches), stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "FLOAT64, tiles of %u x %u", kDoubleTile, kDoubleTile);
  }

 private:
  [[nodiscard]] DoubleMatrixLaunch matrix(const MatrixStrides& strides, std::byte* at) const {
    DoubleMatrixLaunch matrix{
        .at = at, .row_stride = strides.row, .column_stride = strides.column, .batch = {}, .is_aligned = false};
    auto all = static_cast<std::uint64_t>(strides.row) | static_cast<std::uint64_t>(strides.column);
    for (u32 i = 0; i < step_.batch_rank; ++i) {
      matrix.batch[i] = strides.batch[i];
      all |= static_cast<std::uint64_t>(strides.batch[i]);
    }
    matrix.is_aligned = is_multiple(at, all, sizeof(f64));
    return matrix;
  }

  ProductStep step_;
  bool has_c_;
  DoubleLaunch launch_{};
};

// The operands are the input, the filter, the bias and the output.
class DoubleConvolutionRun final : public PreparedStep {
 public:
  DoubleConvolutionRun(const ConvolutionStep& step, bool has_bias) : has_bias_(has_bias) {
    static_assert(kWindowAxes == 3);
    for (u32 i = 0; i < kWindowAxes; ++i) {
      const WindowAxis& axis = step.windows.axes[i];
      launch_.axes[i] = {.input = axis.input,
                         .output = axis.output,
                         .taps = axis.taps,
                         .stride = axis.stride,
                         .dilation = axis.dilation,
                         .padding = axis.padding,
                         .input_step = axis.input_step,
                         .output_step = axis.output_step,
                         .filter_step = axis.filter_step};
      add_bits(axis.input_step, axis.output_step, axis.filter_step);
    }
    launch_.groups = step.groups;
    launch_.rows = step.rows;
    launch_.channels = step.channels;
    launch_.outputs = step.images * step.groups * step.rows * step.pixels();
    launch_.input_image = step.input_image;
    launch_.input_channel = step.input_channel;
    launch_.filter_group = step.filter_group;
    launch_.filter_row = step.filter_row;
    launch_.filter_channel = step.filter_channel;
    launch_.bias_channel = step.bias_channel;
    launch_.output_image = step.output_image;
    launch_.output_channel = step.output_channel;
    launch_.is_backward = step.windows.is_backward != 0;
    launch_.is_flipped = step.windows.is_flipped != 0;
    add_bits(step.input_image, step.input_channel, step.filter_group, step.filter_row, step.filter_channel,
             step.bias_channel, step.output_image, step.output_channel);
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    DoubleWindowLaunch launch = launch_;
    launch.input = bases[kA];
    launch.filter = bases[kB];
    launch.bias = has_bias_ ? bases[kC] : nullptr;
    launch.output = bases[kOutput];
    launch.is_aligned = is_multiple(launch.input, strides_, sizeof(f64)) &&
                        is_multiple(launch.filter, 0, sizeof(f64)) && is_multiple(launch.bias, 0, sizeof(f64)) &&
                        is_multiple(launch.output, 0, sizeof(f64));
    return start_double_convolution(launch, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "FLOAT64 convolution, one output per thread");
  }

 private:
  template <class... Strides>
  void add_bits(Strides... strides) {
    ((strides_ |= static_cast<std::uint64_t>(strides)), ...);
  }

  bool has_bias_;
  std::uint64_t strides_ = 0;  // all combined with OR; only the low bits matter
  DoubleWindowLaunch launch_{};
};

}  // namespace

std::unique_ptr<PreparedStep> prepare_double_convolution(const Step& flat) {
  ConvolutionStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  return std::make_unique<DoubleConvolutionRun>(step, flat.operands[kC].slot != kAbsentSlot);
}

std::unique_ptr<PreparedStep> prepare_double_product(const Step& flat, const char** why) {
  DoubleStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const ProductStep& product = step.product;
  if (product.rows > kMaxElements / product.columns ||
      product.rows * product.columns > kMaxElements / product.batches ||
      TiledOutputs{
          .rows = product.rows, .columns = product.columns, .matrices = product.batches, .depth = product.depth}
              .tiles(kDoubleTile, kDoubleTile) > kMaxBlocks) {
    *why = kTooManyElements;
    return nullptr;
  }
  return std::make_unique<DoubleRun>(step, flat.operands[kC].slot != kAbsentSlot);
}

}  // namespace anydml::cuda
