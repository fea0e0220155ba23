// SPDX-License-Identifier: MIT
// Prepares the kernel of a product, alone or joined with the step that consumes its outputs.
#include "backend/cuda/family.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "ops/product/cuda/run.h"
#include "ops/product/operands.h"
#include "ops/product/step.h"

namespace anydml::cuda {
namespace {

using namespace product_operands;
constexpr std::uint64_t kVectorBytes = 16;
constexpr std::int64_t kVector = 4;  // elements
constexpr auto kBytes = static_cast<std::int64_t>(sizeof(f32));

[[nodiscard]] TiledOutputs outputs_of(const ProductStep& step) {
  return {.rows = step.rows, .columns = step.columns, .matrices = step.batches, .depth = step.depth};
}

// All strides that affect addresses, combined with OR; only the low bits matter.
[[nodiscard]] std::uint64_t low_bits(const ProductStep& step, const MatrixStrides& strides) {
  auto all = static_cast<std::uint64_t>(strides.row) | static_cast<std::uint64_t>(strides.column);
  for (u32 i = 0; i < step.batch_rank; ++i) {
    all |= static_cast<std::uint64_t>(strides.batch[i]);
  }
  return all;
}

class ProductRun final : public PreparedStep {
 public:
  ProductRun(const ProductStep& step, const GpuProperties& gpu, bool has_c, Neighbor after)
      : step_(step),
        after_(std::move(after)),
        has_c_(has_c),
        choice_(is_thin(outputs_of(step)) ? choose_thin(outputs_of(step))
                                          : choose_tiles(outputs_of(step), kFloatTiles, true, gpu)) {
    static_assert(kProductBatchRank == kBatchRank);
    launch_.a = factor(step.a, step.a.row, step.a.column, step.rows);
    launch_.b = factor(step.b, step.b.column, step.b.row, step.columns);
    launch_.c = matrix(step.c);
    launch_.output = matrix(step.output);
    launch_.split = choice_.split;
    launch_.scale = step.scale;
    launch_.depth = static_cast<u32>(step.depth);
    launch_.batch_rank = step.batch_rank;
    const bool has_tiles = choice_.tile != 0;
    const std::int64_t across = has_tiles ? ceil_div(step.columns, tile_columns(choice_.tile))
                                          : ceil_div(std::max(step.rows, step.columns), kThinThreads);
    const std::int64_t of_matrix = has_tiles ? across * ceil_div(step.rows, tile_rows(choice_.tile)) : across;
    launch_.across = make_divisor(static_cast<u32>(across));
    launch_.tiles = make_divisor(static_cast<u32>(of_matrix));
    blocks_ = static_cast<u32>(of_matrix * step.batches);
    launch_.rows = make_divisor(static_cast<u32>(step.rows));
    launch_.columns = make_divisor(static_cast<u32>(step.columns));
    for (u32 i = 0; i < step.batch_rank; ++i) {
      launch_.batch_sizes[i] = make_divisor(static_cast<u32>(step.batch_sizes[i]));
    }
  }

  // Compiles a kernel that includes the following step. Returns null on success, or the reason why the steps cannot be
  // joined.
  [[nodiscard]] const char* join(const GpuProperties& gpu) {
    const bool is_split = choice_.splits > 1;
    return after_.compile<ProductLaunch>(
        "tiles.cuh", "ProductLaunch",
        is_split ? "product_sums<" : "product_tiles<" + std::to_string(choice_.tile) + "u, 0u, 0u, ",
        is_split ? 0 : tile_bytes(choice_.tile), gpu);
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override { return choice_.workspace_bytes(); }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte* workspace,
                                   cudaStream_t stream) const noexcept override {
    ProductLaunch launch = launch_;
    set_factor(launch.a, bases[kA], step_.a);
    set_factor(launch.b, bases[kB], step_.b);
    set_matrix(launch.c, has_c_ ? bases[kC] : nullptr, step_.c);
    set_matrix(launch.output, after_.is_there() ? nullptr : bases[kOutput], step_.output);
    launch.split.sums = choice_.splits > 1 ? reinterpret_cast<f32*>(workspace) : nullptr;
    if (choice_.splits == 1 && after_.is_there()) {
      return after_.launch(launch,
                           {.blocks = {.x = blocks_},
                            .threads = {.x = tile_threads(choice_.tile)},
                            .shared_bytes = tile_bytes(choice_.tile)},
                           bases, stream);
    }
    const TileGrid grid{.tile = choice_.tile, .blocks = blocks_, .splits = choice_.splits};
    const cudaError_t error =
        choice_.tile == 0 ? start_thin_product(launch, blocks_, stream) : start_product(launch, grid, stream);
    if (error != cudaSuccess || choice_.splits == 1) {
      return error;
    }
    if (!after_.is_there()) {
      return start_product_sums(launch, stream);
    }
    const u32 blocks = (launch.split.outputs - 1) / kSumThreads + 1;
    return after_.launch(launch, {.blocks = {.x = blocks}, .threads = {.x = kSumThreads}}, bases, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    const char* const joined = after_.is_there() ? "joined, " : "";
    if (choice_.tile == 0) {
      std::snprintf(text, capacity, "%sthin, k in %u parts", joined, choice_.splits);
    } else {
      std::snprintf(text, capacity, "%stiles of %u x %u, k in %u part%s", joined, tile_rows(choice_.tile),
                    tile_columns(choice_.tile), choice_.splits, choice_.splits == 1 ? "" : "s");
    }
  }

 private:
  static FactorLaunch factor(const MatrixStrides& strides, std::int64_t side_stride, std::int64_t k_stride,
                             std::int64_t side) {
    FactorLaunch factor{};
    factor.side_stride = side_stride;
    factor.k_stride = k_stride;
    std::copy_n(strides.batch, kBatchRank, factor.batch);
    factor.side = static_cast<u32>(side);
    factor.k_is_near = std::abs(k_stride) < std::abs(side_stride);
    return factor;
  }
  static MatrixLaunch matrix(const MatrixStrides& strides) {
    MatrixLaunch matrix{};
    matrix.row_stride = strides.row;
    matrix.column_stride = strides.column;
    std::copy_n(strides.batch, kBatchRank, matrix.batch);
    return matrix;
  }
  void set_factor(FactorLaunch& factor, const std::byte* from, const MatrixStrides& strides) const {
    factor.from = from;
    factor.is_aligned = is_multiple(from, low_bits(step_, strides), sizeof(f32));
    factor.has_vectors = factor.side % kVector == 0 && has_vectors(from, strides, factor.side_stride);
    factor.has_k_vectors = has_vectors(from, strides, factor.k_stride);
  }
  void set_matrix(MatrixLaunch& matrix, std::byte* at, const MatrixStrides& strides) const {
    matrix.at = at;
    matrix.is_aligned = is_multiple(at, low_bits(step_, strides), sizeof(f32));
    matrix.has_vectors = step_.columns % kVector == 0 && has_vectors(at, strides, strides.column);
  }
  // Whether elements are contiguous along this stride, and groups of four start at multiples of 16 bytes for all values
  // of the other indices.
  [[nodiscard]] bool has_vectors(const void* at, const MatrixStrides& strides, std::int64_t near) const {
    MatrixStrides others = strides;
    (near == strides.column ? others.column : others.row) = 0;
    return near == kBytes && is_multiple(at, low_bits(step_, others), kVectorBytes);
  }

  ProductStep step_;
  JoinedKernel after_;
  bool has_c_;
  TileChoice choice_;
  u32 blocks_ = 0;
  ProductLaunch launch_{};
};

}  // namespace

extern const FamilyKernels product_family;
const FamilyKernels product_family = {
    .prepare = [](const Step& flat, const GpuProperties& gpu, Neighbors neighbors,
                  const char** why) -> std::unique_ptr<PreparedStep> {
      ProductKind kind;  // every step begins with its kind
      std::memcpy(&kind, flat.parameters.data(), sizeof(kind));
      if (kind == ProductKind::convolution) {
        return prepare_convolution(flat, gpu, std::move(neighbors), why);
      }
      if (kind == ProductKind::integer_product) {
        return prepare_integer_product(flat, gpu, std::move(neighbors), why);
      }
      if (kind == ProductKind::integer_convolution) {
        return prepare_integer_convolution(flat, gpu, std::move(neighbors), why);
      }
      if (kind == ProductKind::double_product) {
        return prepare_double_product(flat, why);
      }
      if (kind == ProductKind::double_convolution) {
        return prepare_double_convolution(flat);
      }
      if (kind == ProductKind::half_product) {
        return prepare_half_product(flat, gpu, why);
      }
      ProductStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (kind != ProductKind::product || step.panel != 0 || step.strip != 0 || step.halves != 0) {
        *why = "the CUDA backend requires unpacked FLOAT32 factors";
        return nullptr;
      }
      if (step.rows > kMaxElements / step.columns || step.rows * step.columns > kMaxElements / step.batches ||
          step.depth > kMaxDepth ||
          outputs_of(step).tiles(tile_rows(kSmallTile), tile_columns(kSmallTile)) > kMaxBlocks) {
        *why = kTooManyElements;
        return nullptr;
      }
      auto run =
          std::make_unique<ProductRun>(step, gpu, flat.operands[kC].slot != kAbsentSlot, std::move(neighbors.after));
      *why = run->join(gpu);
      if (*why != nullptr) {
        return nullptr;
      }
      return run;
    },
};

}  // namespace anydml::cuda
