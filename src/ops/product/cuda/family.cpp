// SPDX-License-Identifier: MIT
// From a product's step to a kernel, alone or with the step that takes its outputs.
#include "backend/cuda/family.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "backend/cuda/runtime.h"
#include "ops/product/cuda/kernel_set.h"
#include "ops/product/step.h"

namespace anydml::cuda {
namespace {

constexpr std::size_t kA = 0;
constexpr std::size_t kB = 1;
constexpr std::size_t kC = 2;
constexpr std::size_t kOutput = 3;
constexpr std::int64_t kMostElements = 0xffffffff;  // outputs are numbered in 32 bits
constexpr std::int64_t kMostBlocks = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kObjectAlignment = 16;
constexpr std::size_t kMostJoinedBytes = 16'384;  // of a parameter with a neighbour's object

[[nodiscard]] std::int64_t parts_of(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }

// Blocks of threads for tiles of this size.
[[nodiscard]] std::int64_t tiles_of(const ProductStep& step, std::int64_t tile) {
  return parts_of(step.rows, tile) * parts_of(step.columns, tile) * step.batches;
}

// All strides that lead to elements together, of which the lowest bits count.
[[nodiscard]] std::uint64_t low_bits(const ProductStep& step, const MatrixStrides& strides) {
  auto all = static_cast<std::uint64_t>(strides.row) | static_cast<std::uint64_t>(strides.column);
  for (u32 i = 0; i < step.batch_rank; ++i) {
    all |= static_cast<std::uint64_t>(strides.batch[i]);
  }
  return all;
}

[[nodiscard]] bool is_multiple(const void* address, std::uint64_t strides, std::uint64_t of) {
  return (reinterpret_cast<std::uintptr_t>(address) | strides) % of == 0;
}

class ProductRun final : public PreparedStep {
 public:
  ProductRun(const ProductStep& step, const Machine& machine, bool has_c, Neighbour after)
      : step_(step),
        after_(std::move(after)),
        has_c_(has_c),
        tile_(tiles_of(step, kLargeTile) >= machine.multiprocessors ? kLargeTile : kSmallTile),
        blocks_(static_cast<u32>(tiles_of(step, tile_))) {
    static_assert(kProductBatchRank == kBatchRank);
    launch_.a = factor(step.a, step.a.row, step.a.column, step.rows);
    launch_.b = factor(step.b, step.b.column, step.b.row, step.columns);
    launch_.c = matrix(step.c);
    launch_.output = matrix(step.output);
    launch_.scale = step.scale;
    launch_.depth = static_cast<u32>(step.depth);
    launch_.batch_rank = step.batch_rank;
    const auto across = static_cast<u32>(parts_of(step.columns, tile_));
    launch_.across = make_divisor(across);
    launch_.tiles = make_divisor(across * static_cast<u32>(parts_of(step.rows, tile_)));
    for (u32 i = 0; i < step.batch_rank; ++i) {
      launch_.batch_sizes[i] = make_divisor(static_cast<u32>(step.batch_sizes[i]));
    }
  }

  // Compiles the kernel that is one with the step after it. Null, or why it cannot be.
  [[nodiscard]] const char* join(const Machine& machine) {
    if (after_.step == nullptr) {
      return nullptr;
    }
    after_at_ = (sizeof(ProductLaunch) + kObjectAlignment - 1) / kObjectAlignment * kObjectAlignment;
    const std::size_t bytes = after_at_ + after_.step->bytes();
    if (bytes > kMostJoinedBytes) {
      return "steps that are one kernel have more attributes than its parameter can hold";
    }
    KernelSource source;
    source.text = after_.step->text();
    source.text.append("#include \"ops/product/cuda/tiles.cuh\"\nnamespace anydml::cuda {\n");
    source.text.append("static_assert(sizeof(JoinedProduct<After>) == ").append(std::to_string(bytes));
    source.text.append(");\n}  // namespace anydml::cuda\n");
    source.kernels.push_back("anydml::cuda::product_tiles<" + std::to_string(tile_) + "u, anydml::cuda::After>");
    joined_ = find_runtime_kernels(source, machine);
    return joined_ != nullptr ? nullptr : "a kernel could not be compiled by NVRTC, which is there";
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    ProductLaunch launch = launch_;
    set_factor(launch.a, bases[kA], step_.a);
    set_factor(launch.b, bases[kB], step_.b);
    set_matrix(launch.c, has_c_ ? bases[kC] : nullptr, step_.c);
    set_matrix(launch.output, after_.step == nullptr ? bases[kOutput] : nullptr, step_.output);
    if (joined_ == nullptr) {
      return start_product(launch, tile_, blocks_, stream);
    }
    alignas(kObjectAlignment) std::byte parameter[kMostJoinedBytes];
    std::memcpy(parameter, &launch, sizeof(launch));
    after_.step->make(bases + after_.first_operand, parameter + after_at_);
    void* parameters[] = {parameter};
    return joined_->launch(0, {.blocks = {.x = blocks_}, .threads = {.x = product_threads(tile_)}}, parameters, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%stiles of %u x %u", joined_ != nullptr ? "joined, " : "", tile_, tile_);
  }

 private:
  static FactorLaunch factor(const MatrixStrides& strides, std::int64_t side_stride, std::int64_t k_stride,
                             std::int64_t side) {
    FactorLaunch made{};
    made.side_stride = side_stride;
    made.k_stride = k_stride;
    std::copy_n(strides.batch, kBatchRank, made.batch);
    made.side = static_cast<u32>(side);
    made.k_is_near = std::abs(k_stride) < std::abs(side_stride);
    return made;
  }
  static MatrixLaunch matrix(const MatrixStrides& strides) {
    MatrixLaunch made{};
    made.row_stride = strides.row;
    made.column_stride = strides.column;
    std::copy_n(strides.batch, kBatchRank, made.batch);
    return made;
  }
  void set_factor(FactorLaunch& factor, const std::byte* from, const MatrixStrides& strides) const {
    factor.from = from;
    factor.is_aligned = is_multiple(from, low_bits(step_, strides), sizeof(f32));
  }
  void set_matrix(MatrixLaunch& matrix, std::byte* at, const MatrixStrides& strides) const {
    constexpr std::int64_t kVector = 4;
    constexpr std::uint64_t kVectorBytes = 16;
    MatrixStrides others = strides;
    others.column = 0;
    matrix.at = at;
    matrix.is_aligned = is_multiple(at, low_bits(step_, strides), sizeof(f32));
    matrix.has_vectors = strides.column == sizeof(f32) && step_.columns % kVector == 0 &&
                         is_multiple(at, low_bits(step_, others), kVectorBytes);
  }

  ProductStep step_;
  Neighbour after_;
  bool has_c_;
  u32 tile_;
  u32 blocks_;
  ProductLaunch launch_{};
  std::shared_ptr<const RuntimeKernels> joined_;  // null: nothing takes its outputs
  std::size_t after_at_ = 0;                      // where the neighbour's object is in the parameter
};

}  // namespace

extern const Family product_family;
const Family product_family = {
    .prepare = [](const Step& flat, const Machine& machine, Neighbours neighbours,
                  const char** why) -> std::unique_ptr<PreparedStep> {
      ProductStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (step.kind != ProductKind::product || step.panel != 0) {
        *why = "the CUDA backend takes B as it is";
        return nullptr;
      }
      if (step.rows > kMostElements / step.columns || step.rows * step.columns > kMostElements / step.batches ||
          step.depth > kMostElements || tiles_of(step, kSmallTile) > kMostBlocks) {
        *why = "the CUDA backend runs steps of up to 4,294,967,295 elements";
        return nullptr;
      }
      auto run = std::make_unique<ProductRun>(step, machine, flat.operands[kC].slot != kAbsentSlot,
                                              std::move(neighbours.after));
      *why = run->join(machine);
      if (*why != nullptr) {
        return nullptr;
      }
      return run;
    },
};

}  // namespace anydml::cuda
