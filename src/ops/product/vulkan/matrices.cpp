// SPDX-License-Identifier: MIT
// Prepares products of matrices.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "ops/product/double.h"
#include "ops/product/integer_step.h"
#include "ops/product/operands.h"
#include "ops/product/vulkan/run.h"
#include "shaders/product_bytes.h"
#include "shaders/product_f32.h"
#include "shaders/product_f64.h"
#include "shaders/product_wide_128_128_16_8_8_1.h"
#include "shaders/product_wide_128_128_8_8_16_1.h"
#include "shaders/product_wide_128_128_8_8_8_0.h"
#include "shaders/product_wide_128_256_8_16_8_1.h"
#include "shaders/product_wide_128_64_8_8_16_0.h"
#include "shaders/product_wide_256_128_16_8_8_1.h"
#include "shaders/product_wide_64_64_8_4_16_0.h"

namespace anydml::vulkan {
namespace {

// The parameters of product.comp.
struct MatrixParameters {
  MatrixStrides strides[4];  // A, B, C and the output
  std::uint64_t batch_sizes[kBatchRank];
  std::uint64_t depth;
  std::uint64_t alpha;
  std::uint64_t beta;
  SideStrides sides[6];  // the zero points and scales in the order of IntegerStep
  std::uint32_t finish;
  std::uint32_t signed_a;
  std::uint32_t signed_b;
  std::uint32_t signed_output;
  std::uint32_t batch_rank;
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t a_is_along_k;
  std::uint32_t b_is_along_k;
  std::uint32_t unused;
};
static_assert(kBatchRank == 6 && sizeof(MatrixStrides) == 64 && offsetof(MatrixParameters, finish) == 424);

struct MatrixKernel {
  const char* key;
  std::span<const std::uint32_t> words;
};
MatrixKernel kernel_for(Numbers numbers) {
  switch (numbers) {
    case Numbers::f32:
      return {"product_f32", k_product_f32};
    case Numbers::f64:
      return {"product_f64", k_product_f64};
    default:
      return {"product_bytes", k_product_bytes};
  }
}

// Whether neighboring k are nearer to each other in memory than neighboring rows or columns.
std::uint32_t is_along_k(std::int64_t k, std::int64_t side, std::int64_t sides) {
  return sides == 1 || std::abs(k) < std::abs(side) ? 1 : 0;
}

// The kernels of the shapes in wide.cpp.
constexpr std::span<const std::uint32_t> kWideKernels[kWideShapes] = {
    k_product_wide_128_256_8_16_8_1, k_product_wide_256_128_16_8_8_1, k_product_wide_128_128_8_8_16_1,
    k_product_wide_128_128_8_8_8_0,  k_product_wide_128_128_16_8_8_1, k_product_wide_128_64_8_8_16_0,
    k_product_wide_64_64_8_4_16_0};

std::optional<WideTiles> wide_tiles(const ProductStep& step, Kernels& kernels) {
  const std::uint32_t index = choose_wide(step.rows, step.columns, step.depth, step.batches, kernels.gpu());
  const auto is_stride = [](std::int64_t stride) { return stride >= 0 && stride <= UINT32_MAX; };
  if (index == kWideShapes || !is_stride(step.a.column) || !is_stride(step.b.row)) {
    return std::nullopt;
  }
  const WideShape& shape = kWideShape[index];
  const std::int64_t across = ceil_div(step.columns, std::int64_t{shape.columns});
  const std::int64_t of_matrix = across * ceil_div(step.rows, std::int64_t{shape.rows});
  if (of_matrix > std::int64_t{kMaxTiles} / std::max<std::int64_t>(1, step.batches)) {
    return std::nullopt;
  }
  const WideLayout layout = {
      .rows = factor_order(step.a.column, step.a.row, batch_strides(step, step.a), step.rows, step.depth),
      .columns = factor_order(step.b.row, step.b.column, batch_strides(step, step.b), step.columns, step.depth),
      .stores_vectors = factor_order(step.output.row, step.output.column, batch_strides(step, step.output), step.columns,
                                     step.rows) == FactorOrder::vectors_along_side};
  return WideTiles(kernels, std::string("product_wide ") + shape.name, kWideKernels[index], shape, layout,
                   static_cast<std::uint64_t>(of_matrix * step.batches), static_cast<std::uint64_t>(across),
                   static_cast<std::uint64_t>(of_matrix), static_cast<std::uint64_t>(step.depth));
}

class MatrixRun final : public TiledRun {
 public:
  using TiledRun::refuses;
  MatrixRun(const ProductStep& step, Numbers numbers, const TileShape& tile, Kernels& kernels)
      : TiledRun(kernels, kernel_for(numbers).key, kernel_for(numbers).words, numbers, tile, tiles_of(step, tile),
                 ceil_div(step.columns, tile.columns()), tile.tiles(step.rows, step.columns), step.depth,
                 numbers == Numbers::f32 ? wide_tiles(step, kernels) : std::nullopt),
        step_(step) {
    std::copy_n(&step.a, 4, parameters_.strides);
    std::copy_n(step.batch_sizes, kBatchRank, parameters_.batch_sizes);
    parameters_.depth = static_cast<std::uint64_t>(step.depth);
    parameters_.batch_rank = step.batch_rank;
    parameters_.rows = static_cast<std::uint32_t>(step.rows);
    parameters_.columns = static_cast<std::uint32_t>(step.columns);
    parameters_.a_is_along_k = is_along_k(step.a.column, step.a.row, step.rows);
    parameters_.b_is_along_k = is_along_k(step.b.row, step.b.column, step.columns);
  }

  void set_floats(std::uint64_t alpha, std::uint64_t beta, std::uint64_t bytes, bool has_c) {
    using namespace product_operands;
    parameters_.alpha = alpha;
    parameters_.beta = beta;
    std::vector<AlignedOperand> aligned = {{kA, all_strides(step_, step_.a), bytes},
                                           {kB, all_strides(step_, step_.b), bytes},
                                           {kOutput, all_strides(step_, step_.output), bytes}};
    if (has_c) {
      aligned.push_back({kC, all_strides(step_, step_.c), bytes});
    }
    set(std::move(aligned), kOutput);
  }
  void set_integers(const IntegerStep& step, const Step& flat) {
    std::copy_n(&step.a_zero, std::size(parameters_.sides), parameters_.sides);
    parameters_.finish = static_cast<std::uint32_t>(step.finish);
    parameters_.signed_a = step.signed_a;
    parameters_.signed_b = step.signed_b;
    parameters_.signed_output = step.signed_output;
    std::vector<AlignedOperand> aligned;
    const auto add = [&](IntegerOperand which, std::uint64_t strides) {
      const auto operand = static_cast<std::size_t>(which);
      if (flat.operands[operand].slot != kAbsentSlot) {
        aligned.push_back({operand, strides, sizeof(f32)});
      }
    };
    const auto both = [](const SideStrides& strides) {
      return static_cast<std::uint64_t>(strides.row) | static_cast<std::uint64_t>(strides.column);
    };
    add(IntegerOperand::a_scale, both(step.a_scale));
    add(IntegerOperand::b_scale, both(step.b_scale));
    add(IntegerOperand::output_scale, both(step.output_scale));
    add(IntegerOperand::bias, all_strides(step_, step_.c));
    if (step.finish != IntegerFinish::quantized) {
      add(IntegerOperand::output, all_strides(step_, step_.output));
    }
    set(std::move(aligned), static_cast<std::size_t>(IntegerOperand::output));
  }

  // More tiles than 32 bits can count are refused.
  [[nodiscard]] static std::uint64_t tiles_of(const ProductStep& step, const TileShape& shape) {
    return static_cast<std::uint64_t>(shape.tiles(step.rows, step.columns)) * static_cast<std::uint64_t>(step.batches);
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&parameters_, 1));
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "tiles of %lld x %lld",
                  static_cast<long long>(wide() ? wide()->shape().rows : shape().rows()),
                  static_cast<long long>(wide() ? wide()->shape().columns : shape().columns()));
  }

 private:
  ProductStep step_;
  MatrixParameters parameters_{};
};

template <class Step_>
Step_ read(const Step& flat) {
  Step_ step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  return step;
}

}  // namespace

std::unique_ptr<PreparedStep> prepare_matrices(const Step& flat, Kernels& kernels, const char** why) {
  const auto step = read<ProductStep>(flat);
  const Numbers numbers = step.kind == ProductKind::product          ? Numbers::f32
                          : step.kind == ProductKind::double_product ? Numbers::f64
                                                                     : Numbers::bytes;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (step.panel != 0 || step.strip != 0 || step.halves != 0) {
    *why = "the Vulkan backend has no products of packed or FLOAT16 matrices";
    return nullptr;
  }
  if (step.rows > kMost || step.columns > kMost) {
    *why = "the Vulkan backend computes products of up to 2,147,483,647 rows and columns";
    return nullptr;
  }
  if (MatrixRun::tiles_of(step, choose_tile(step.rows, step.columns, numbers, kernels.gpu())) > kMaxTiles) {
    *why = "the Vulkan backend computes products of up to 4,294,967,295 tiles";
    return nullptr;
  }
  const TileShape shape = choose_tile(step.rows, step.columns, numbers, kernels.gpu());
  *why = MatrixRun::refuses(shape, numbers, MatrixRun::tiles_of(step, shape), step.depth, kernels.gpu());
  if (*why != nullptr) {
    return nullptr;
  }
  const bool has_c = flat.operands[product_operands::kC].slot != kAbsentSlot;
  auto run = std::make_unique<MatrixRun>(step, numbers, shape, kernels);
  if (numbers == Numbers::bytes) {
    run->set_integers(read<IntegerStep>(flat), flat);
  } else if (numbers == Numbers::f64) {
    const auto scale = read<DoubleStep>(flat).scale;
    run->set_floats(std::bit_cast<std::uint64_t>(scale.alpha), std::bit_cast<std::uint64_t>(scale.beta), sizeof(f64),
                    has_c);
  } else {
    run->set_floats(std::bit_cast<std::uint32_t>(step.scale.alpha), std::bit_cast<std::uint32_t>(step.scale.beta),
                    sizeof(f32), has_c);
  }
  return run;
}

}  // namespace anydml::vulkan
