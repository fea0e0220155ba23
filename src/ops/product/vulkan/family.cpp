// SPDX-License-Identifier: MIT
// Prepares sums of products. Products and convolutions of FLOAT16 consist of casts and of those of FLOAT32, as on every
// device without kernels for packed weights.
#include <algorithm>
#include <cstring>
#include <utility>

#include "backend/vulkan/spirv/functions.h"
#include "ops/product/vulkan/run.h"
#include "ops/scalar/sum_of_products.h"

namespace anydml::vulkan {

namespace {

constexpr auto kBlock = static_cast<std::uint64_t>(kProductBlock);
// llvmpipe ends a thread's loops after 65,535 iterations.
constexpr std::uint64_t kMaxDepthOnCpu = 32768;
enum class Pass : std::uint32_t { whole, blocks, totals };  // as in tiles.glsl

// Whether the tiles leave a large GPU idle, or threads must be short, and the sums of the blocks do not take much
// memory.
bool is_split_into_blocks(const TileShape& shape, Numbers numbers, std::uint64_t tiles, std::uint64_t depth,
                          const GpuProperties& gpu) {
  constexpr std::uint64_t kFewTiles = 256;
  const bool is_short = gpu.is_cpu && (spirv::needs_short_threads(gpu) || depth > kMaxDepthOnCpu);
  const std::uint64_t max_bytes = std::uint64_t{is_short ? 1024U : 64U} << 20;
  const std::uint64_t blocks = (depth + kBlock - 1) / kBlock;
  const auto tile_bytes = static_cast<std::uint64_t>(shape.rows() * shape.columns()) * number_bytes(numbers);
  return tiles != 0 && blocks > 1 && (tiles < kFewTiles || is_short) && tiles <= max_bytes / tile_bytes / blocks &&
         tiles <= kMaxTiles / blocks;
}

}  // namespace

TiledRun::TiledRun(Kernels& kernels, const char* key, std::span<const std::uint32_t> words, Numbers numbers,
                   const TileShape& shape, std::uint64_t tiles, std::int64_t across, std::int64_t of_matrix,
                   std::int64_t depth, std::optional<WideTiles> wide)
    : numbers_(numbers),
      shape_(shape),
      tiles_(tiles),
      across_(static_cast<std::uint64_t>(across)),
      of_matrix_(static_cast<std::uint64_t>(of_matrix)),
      depth_(static_cast<std::uint64_t>(depth)),
      is_split_(is_split_into_blocks(shape, numbers, tiles, depth_, kernels.gpu())),
      wide_(std::move(wide)) {
  for (const Pass pass : is_split_ ? std::vector<Pass>{Pass::blocks, Pass::totals} : std::vector<Pass>{Pass::whole}) {
    for (const std::uint32_t is_aligned : wide_ ? std::vector<std::uint32_t>{0} : std::vector<std::uint32_t>{0, 1}) {
      const std::uint32_t constants[] = {
          is_aligned,           shape.rows_of_thread, shape.columns_of_thread,         shape.threads_down,
          shape.threads_across, shape.depth,          static_cast<std::uint32_t>(pass),
          static_cast<std::uint32_t>(spirv::fused_kind(kernels.gpu()))};
      kernels_.push_back(kernels.find(spirv::linked_kernel(key, words, kernels.gpu()), constants));
    }
  }
}

std::vector<KernelRef> TiledRun::kernels() const {
  std::vector<KernelRef> all = kernels_;
  if (wide_) {
    all.insert(all.end(), wide_->kernels().begin(), wide_->kernels().end());
  }
  return all;
}

const char* TiledRun::refuses(const TileShape& shape, Numbers numbers, std::uint64_t tiles, std::int64_t depth,
                              const GpuProperties& gpu) {
  const auto length = static_cast<std::uint64_t>(depth);
  const bool is_short = gpu.is_cpu && (length > kMaxDepthOnCpu || (length > kBlock && spirv::needs_short_threads(gpu)));
  return is_short && !is_split_into_blocks(shape, numbers, tiles, length, gpu)
             ? "the driver computes on the CPU, where threads cannot have loops that are long enough for these sums"
             : nullptr;
}

void TiledRun::set(std::vector<AlignedOperand> aligned, std::size_t output) {
  aligned_ = std::move(aligned);
  output_ = output;
}

std::uint64_t TiledRun::workspace_bytes() const noexcept {
  const auto outputs = static_cast<std::uint64_t>(shape_.rows() * shape_.columns());
  const std::uint64_t own =
      is_split_ ? tiles_ * ((depth_ + kBlock - 1) / kBlock) * outputs * number_bytes(numbers_) : 0;
  return std::max(own, wide_ ? wide_->workspace_bytes() : 0);
}

void TiledRun::record(Recorder& recorder) const {
  if (tiles_ == 0) {
    return;
  }
  const bool is_aligned = std::ranges::all_of(aligned_, [&](const AlignedOperand& one) {
    return (one.strides | recorder.low_bits(one.operand)) % one.bytes == 0;
  });
  if (wide_ && is_aligned) {
    wide_->record(recorder, std::ranges::all_of(aligned_, [&](const AlignedOperand& one) {
                    return recorder.low_bits(one.operand) % Recorder::kLowBits == 0;
                  }));
    return;
  }
  const std::uint64_t blocks = (depth_ + kBlock - 1) / kBlock;
  const std::uint32_t constants[] = {static_cast<std::uint32_t>(tiles_), static_cast<std::uint32_t>(blocks),
                                     static_cast<std::uint32_t>(across_), static_cast<std::uint32_t>(of_matrix_)};
  const std::size_t forms = wide_ ? 1 : 2;
  const auto dispatch = [&](std::size_t pass, std::uint64_t groups, std::uint64_t depth) {
    recorder.dispatch(*kernels_[pass * forms + (is_aligned && !wide_ ? 1 : 0)], static_cast<std::uint32_t>(groups),
                      std::as_bytes(std::span(constants)),
                      static_cast<std::uint64_t>(shape_.rows() * shape_.columns()) * (depth + 1));
  };
  if (!is_split_) {
    dispatch(0, tiles_, depth_);
    return;
  }
  dispatch(0, tiles_ * blocks, kBlock);
  recorder.barrier();
  dispatch(1, tiles_, blocks);
}

extern const FamilyKernels product_family;
const FamilyKernels product_family = {
    .lacks = [](const GpuProperties& gpu, const AskedOperator&) -> const char* {
      return gpu.max_group_threads < kTileThreads ? "its kernels for products need groups of 256 threads" : nullptr;
    },
    .prepare = [](const Step& flat, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      ProductKind kind;  // every step begins with its kind
      std::memcpy(&kind, flat.parameters.data(), sizeof(kind));
      switch (kind) {
        case ProductKind::product:
        case ProductKind::double_product:
        case ProductKind::integer_product:
          return prepare_matrices(flat, kernels, why);
        case ProductKind::convolution:
        case ProductKind::double_convolution:
        case ProductKind::integer_convolution:
          return prepare_windows(flat, kernels, why);
        default:
          *why = "the Vulkan backend has no kernels for packed weights";
          return nullptr;
      }
    },
};

}  // namespace anydml::vulkan
