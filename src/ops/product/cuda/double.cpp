// SPDX-License-Identifier: MIT
// From the step of a FLOAT64 product to its kernel.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/product/cuda/run.h"
#include "ops/product/double.h"

namespace anydml::cuda {
namespace {

constexpr std::size_t kA = 0;
constexpr std::size_t kB = 1;
constexpr std::size_t kC = 2;
constexpr std::size_t kOutput = 3;

class DoubleRun final : public PreparedStep {
 public:
  DoubleRun(const DoubleStep& step, bool has_c) : step_(step.product), has_c_(has_c) {
    launch_.rows = step_.rows;
    launch_.columns = step_.columns;
    launch_.depth = step_.depth;
    launch_.across = parts_of(step_.columns, kDoubleTile);
    launch_.tiles = launch_.across * parts_of(step_.rows, kDoubleTile);
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
    DoubleMatrixLaunch made{
        .at = at, .row_stride = strides.row, .column_stride = strides.column, .batch = {}, .is_aligned = false};
    auto all = static_cast<std::uint64_t>(strides.row) | static_cast<std::uint64_t>(strides.column);
    for (u32 i = 0; i < step_.batch_rank; ++i) {
      made.batch[i] = strides.batch[i];
      all |= static_cast<std::uint64_t>(strides.batch[i]);
    }
    made.is_aligned = is_multiple(at, all, sizeof(f64));
    return made;
  }

  ProductStep step_;
  bool has_c_;
  DoubleLaunch launch_{};
};

}  // namespace

std::unique_ptr<PreparedStep> prepare_double_product(const Step& flat, const char** why) {
  DoubleStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const ProductStep& product = step.product;
  if (product.rows > kMostElements / product.columns ||
      product.rows * product.columns > kMostElements / product.batches ||
      TiledOutputs{
          .rows = product.rows, .columns = product.columns, .matrices = product.batches, .depth = product.depth}
              .tiles(kDoubleTile, kDoubleTile) > kMostBlocks) {
    *why = kTooManyElements;
    return nullptr;
  }
  return std::make_unique<DoubleRun>(step, flat.operands[kC].slot != kAbsentSlot);
}

}  // namespace anydml::cuda
