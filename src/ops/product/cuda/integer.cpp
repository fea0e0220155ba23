// SPDX-License-Identifier: MIT
// Prepares the kernel of an integer product.
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "ops/product/cuda/run.h"
#include "ops/product/integer_step.h"

namespace anydml::cuda {
namespace {

static_assert(kFinishInt32 == static_cast<u32>(IntegerFinish::int32) &&
              kFinishQuantized == static_cast<u32>(IntegerFinish::quantized) &&
              kFinishFloat32 == static_cast<u32>(IntegerFinish::float32));

constexpr std::int64_t kVector = 4;  // elements
constexpr auto kBytes = static_cast<std::int64_t>(sizeof(f32));
constexpr std::uint64_t kVectorBytes = 16;
constexpr std::uint64_t kWordBytes = 4;

[[nodiscard]] std::uint64_t low_bits(const ProductStep& step, const MatrixStrides& strides) {
  std::uint64_t all = 0;
  for (u32 i = 0; i < step.batch_rank; ++i) {
    all |= static_cast<std::uint64_t>(strides.batch[i]);
  }
  return all;
}

class IntegerRun final : public PreparedStep {
 public:
  IntegerRun(const IntegerStep& step, const GpuProperties& gpu, const Step& flat, Neighbor after)
      : step_(step), after_(std::move(after)) {
    const ProductStep& product = step.product;
    for (std::size_t i = 0; i < kIntegerOperands; ++i) {
      is_there_[i] = flat.operands[i].slot != kAbsentSlot;
    }
    const TiledOutputs outputs = outputs_of(product);
    tile_ = outputs.tiles(kLargeTile, kLargeTile) >= gpu.multiprocessors ? kLargeTile : kSmallTile;
    blocks_ = static_cast<u32>(outputs.tiles(tile_, tile_));
    launch_.finish = static_cast<u32>(step.finish);
    launch_.output_is_signed = step.signed_output != 0;
    launch_.depth = static_cast<u32>(product.depth);
    launch_.batch_rank = product.batch_rank;
    const auto across = static_cast<u32>(ceil_div(product.columns, tile_));
    launch_.across = make_divisor(across);
    launch_.tiles = make_divisor(across * static_cast<u32>(ceil_div(product.rows, tile_)));
    for (u32 i = 0; i < product.batch_rank; ++i) {
      launch_.batch_sizes[i] = make_divisor(static_cast<u32>(product.batch_sizes[i]));
    }
  }

  [[nodiscard]] static TiledOutputs outputs_of(const ProductStep& step) {
    return {.rows = step.rows, .columns = step.columns, .matrices = step.batches, .depth = step.depth};
  }

  // Compiles a kernel that includes the following step. Returns null on success, or the reason why the steps cannot be
  // joined.
  [[nodiscard]] const char* join(const GpuProperties& gpu) {
    return after_.compile<IntegerLaunch>("integer_tiles.cuh", "IntegerLaunch",
                                         "integer_tiles<" + std::to_string(tile_) + "u, ", 0, gpu);
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    const ProductStep& product = step_.product;
    const auto base = [&](IntegerOperand operand) {
      const auto i = static_cast<std::size_t>(operand);
      return is_there_[i] ? bases[i] : nullptr;
    };
    const auto number = [&](IntegerOperand operand, const SideStrides& strides) {
      const std::byte* const at = base(operand);
      return NumberLaunch{
          .at = at,
          .row_stride = strides.row,
          .column_stride = strides.column,
          .is_aligned = is_multiple(at, static_cast<std::uint64_t>(strides.row | strides.column), sizeof(f32))};
    };
    IntegerLaunch launch = launch_;
    launch.a = factor(base(IntegerOperand::a), product.a, product.a.row, product.a.column, product.rows);
    launch.b = factor(base(IntegerOperand::b), product.b, product.b.column, product.b.row, product.columns);
    launch.a.zeros = base(IntegerOperand::a_zero);
    launch.a.zero_stride = step_.a_zero.row;
    launch.a.is_signed = step_.signed_a != 0;
    launch.b.zeros = base(IntegerOperand::b_zero);
    launch.b.zero_stride = step_.b_zero.column;
    launch.b.is_signed = step_.signed_b != 0;
    launch.c = matrix(base(IntegerOperand::bias), product.c);
    launch.output = matrix(after_.is_there() ? nullptr : base(IntegerOperand::output), product.output);
    launch.a_scale = number(IntegerOperand::a_scale, step_.a_scale);
    launch.b_scale = number(IntegerOperand::b_scale, step_.b_scale);
    launch.output_scale = number(IntegerOperand::output_scale, step_.output_scale);
    launch.output_zero = number(IntegerOperand::output_zero, step_.output_zero);
    return after_.is_there()
               ? after_.launch(launch, {.blocks = {.x = blocks_}, .threads = {.x = byte_threads(tile_)}}, bases, stream)
               : start_integer_product(launch, tile_, blocks_, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%stiles of %u x %u bytes", after_.is_there() ? "joined, " : "", tile_, tile_);
  }

 private:
  [[nodiscard]] ByteFactorLaunch factor(const std::byte* from, const MatrixStrides& strides, std::int64_t side_stride,
                                        std::int64_t k_stride, std::int64_t side) const {
    ByteFactorLaunch factor{};
    factor.from = from;
    factor.side_stride = side_stride;
    factor.k_stride = k_stride;
    std::memcpy(factor.batch, strides.batch, sizeof(factor.batch));
    factor.side = static_cast<u32>(side);
    const std::uint64_t batches = low_bits(step_.product, strides);
    const auto words_along = [&](std::int64_t near, std::int64_t far) {
      return near == 1 && is_multiple(from, batches | static_cast<std::uint64_t>(far), kWordBytes);
    };
    factor.order = words_along(k_stride, side_stride)   ? ByteOrder::words_along_k
                   : words_along(side_stride, k_stride) ? ByteOrder::words_along_side
                                                        : ByteOrder::bytes;
    return factor;
  }
  [[nodiscard]] MatrixLaunch matrix(std::byte* at, const MatrixStrides& strides) const {
    MatrixLaunch matrix{};
    matrix.at = at;
    matrix.row_stride = strides.row;
    matrix.column_stride = strides.column;
    std::memcpy(matrix.batch, strides.batch, sizeof(matrix.batch));
    const std::uint64_t others = low_bits(step_.product, strides) | static_cast<std::uint64_t>(strides.row);
    matrix.is_aligned = is_multiple(at, others | static_cast<std::uint64_t>(strides.column), sizeof(f32));
    matrix.has_vectors =
        strides.column == kBytes && step_.product.columns % kVector == 0 && is_multiple(at, others, kVectorBytes);
    return matrix;
  }

  IntegerStep step_;
  JoinedKernel after_;
  bool is_there_[kIntegerOperands] = {};
  u32 tile_ = kSmallTile;
  u32 blocks_ = 0;
  IntegerLaunch launch_{};
};

}  // namespace

std::unique_ptr<PreparedStep> prepare_integer_product(const Step& flat, const GpuProperties& gpu, Neighbors neighbors,
                                                      const char** why) {
  IntegerStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const ProductStep& product = step.product;
  if (product.panel != 0) {
    *why = "the CUDA backend requires an unpacked B";
    return nullptr;
  }
  if (product.rows > kMaxElements / product.columns ||
      product.rows * product.columns > kMaxElements / product.batches || product.depth > kMaxDepth ||
      IntegerRun::outputs_of(product).tiles(kSmallTile, kSmallTile) > kMaxBlocks) {
    *why = kTooManyElements;
    return nullptr;
  }
  auto run = std::make_unique<IntegerRun>(step, gpu, flat, std::move(neighbors.after));
  *why = run->join(gpu);
  if (*why != nullptr) {
    return nullptr;
  }
  return run;
}

}  // namespace anydml::cuda
