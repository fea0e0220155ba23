// SPDX-License-Identifier: MIT
#include "ops/product/vulkan/wide.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "backend/vulkan/spirv/functions.h"
#include "backend/vulkan/spirv/primitives.h"
#include "base/checked.h"
#include "ops/scalar/sum_of_products.h"

namespace anydml::vulkan {
namespace {

constexpr auto kBlock = static_cast<std::uint64_t>(kProductBlock);
enum class Pass : std::uint32_t { whole, blocks, totals };  // as in wide_tiles.glsl
// Totals in memory take less than this at a time, and the sums of blocks that are added later take less as a whole.
constexpr std::uint64_t kMaxKeptBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMaxSplitBytes = std::uint64_t{64} << 20;
// Groups that keep a large GPU busy.
constexpr std::uint64_t kManyGroups = 256;

std::uint64_t tile_bytes(const WideShape& shape) {
  return std::uint64_t{shape.rows} * shape.columns * sizeof(std::uint32_t);
}

bool is_split_into_blocks(const WideShape& shape, std::uint64_t tiles, std::uint64_t blocks) {
  return blocks > 1 && tiles < kManyGroups && tiles * blocks * tile_bytes(shape) <= kMaxSplitBytes;
}

bool is_available(const WideShape& shape, const GpuProperties& gpu) {
  return shape.threads() <= gpu.max_group_threads && shape.shared_bytes() <= gpu.shared_bytes;
}

}  // namespace

const WideShape kWideShape[kWideShapes] = {
    {"128x256", 128, 256, 8, 16, 8, true},   {"256x128", 256, 128, 16, 8, 8, true},
    {"128x128", 128, 128, 8, 8, 16, true},   {"128x128r", 128, 128, 8, 8, 8, false},
    {"128x128t", 128, 128, 16, 8, 8, true},  {"128x64", 128, 64, 8, 8, 16, false},
    {"64x64", 64, 64, 8, 4, 16, false},
};

std::uint32_t choose_wide(std::int64_t rows, std::int64_t columns, std::int64_t depth, std::int64_t matrices,
                          const GpuProperties& gpu) {
  constexpr std::int64_t kFew = 16;
  constexpr std::int64_t kMaxDepthOnCpu = 4096;  // loops of a thread
  const spirv::FusedKind kind = spirv::fused_kind(gpu);
  if (kind == spirv::FusedKind::none || (gpu.is_cpu && kind != spirv::FusedKind::pretends) || rows <= kFew ||
      columns <= kFew || depth > (gpu.is_cpu ? kMaxDepthOnCpu : INT32_MAX / 2)) {
    return kWideShapes;
  }
  if (const char* const name = ::secure_getenv("ANYDML_VULKAN_TILE"); name != nullptr && *name != '\0') {
    const auto* const found = std::ranges::find(kWideShape, std::string_view(name), &WideShape::name);
    return static_cast<std::uint32_t>(found - kWideShape);
  }
  const auto tiles = [&](const WideShape& shape) {
    return ceil_div(rows, std::int64_t{shape.rows}) * ceil_div(columns, std::int64_t{shape.columns}) * matrices;
  };
  // Large tiles need the fewest loads, but only if there are enough of them.
  for (const std::uint32_t shape : {0U, 2U}) {
    if (is_available(kWideShape[shape], gpu) && tiles(kWideShape[shape]) >= 128) {
      return shape;
    }
  }
  return is_available(kWideShape[6], gpu) ? 6 : kWideShapes;
}

FactorOrder factor_order(std::int64_t k_stride, std::int64_t side_stride, std::uint64_t other_strides,
                         std::int64_t sides, std::int64_t depth) {
  constexpr std::int64_t kElement = sizeof(float);
  constexpr std::uint64_t kVector = 16;
  const bool is_along_k = k_stride < side_stride;
  const std::int64_t near = is_along_k ? k_stride : side_stride;
  const std::uint64_t others = other_strides | static_cast<std::uint64_t>(is_along_k ? side_stride : k_stride);
  const bool has_vectors = near == kElement && others % kVector == 0 && (is_along_k ? depth : sides) % 4 == 0;
  return is_along_k ? (has_vectors ? FactorOrder::vectors_along_k : FactorOrder::along_k)
                    : (has_vectors ? FactorOrder::vectors_along_side : FactorOrder::along_side);
}

WideTiles::WideTiles(Kernels& kernels, const std::string& key, std::span<const std::uint32_t> words,
                     const WideShape& shape, const WideLayout& layout, std::uint64_t tiles, std::uint64_t across,
                     std::uint64_t of_matrix, std::uint64_t depth)
    : shape_(shape),
      tiles_(tiles),
      across_(across),
      of_matrix_(of_matrix),
      depth_(depth),
      blocks_(ceil_div(std::max(depth, std::uint64_t{1}), kBlock)),
      is_split_(is_split_into_blocks(shape, tiles, blocks_)) {
  const WideLayout plain = {without_vectors(layout.rows), without_vectors(layout.columns), false};
  const bool has_vectors = plain.rows != layout.rows || plain.columns != layout.columns || layout.stores_vectors;
  const auto fused = static_cast<std::uint32_t>(spirv::fused_kind(kernels.gpu()));
  for (const Pass pass : is_split_ ? std::vector<Pass>{Pass::blocks, Pass::totals} : std::vector<Pass>{Pass::whole}) {
    for (const WideLayout& each : has_vectors ? std::vector<WideLayout>{layout, plain} : std::vector<WideLayout>{plain}) {
      const std::uint32_t constants[] = {static_cast<std::uint32_t>(each.rows), static_cast<std::uint32_t>(each.columns),
                                         static_cast<std::uint32_t>(pass), each.stores_vectors ? 1U : 0U, fused};
      kernels_.push_back(kernels.find(spirv::linked_kernel(key, words, kernels.gpu()), constants));
    }
  }
}

std::uint64_t WideTiles::workspace_bytes() const noexcept {
  if (is_split_) {
    return tiles_ * blocks_ * tile_bytes(shape_);
  }
  return shape_.has_totals_in_memory && blocks_ > 1 ? std::min(tiles_ * tile_bytes(shape_), kMaxKeptBytes) : 0;
}

void WideTiles::record(Recorder& recorder, bool are_vectors_aligned) const {
  const std::size_t layouts = kernels_.size() / (is_split_ ? 2 : 1);
  const std::size_t layout = are_vectors_aligned ? 0 : layouts - 1;
  const auto dispatch = [&](std::size_t kernel, std::uint64_t groups, std::uint64_t first_tile, std::uint64_t operations) {
    const std::uint32_t constants[] = {static_cast<std::uint32_t>(tiles_), static_cast<std::uint32_t>(blocks_),
                                       static_cast<std::uint32_t>(across_), static_cast<std::uint32_t>(of_matrix_),
                                       static_cast<std::uint32_t>(first_tile)};
    recorder.dispatch(*kernels_[kernel], static_cast<std::uint32_t>(groups), std::as_bytes(std::span(constants)),
                      operations);
  };
  // The device's own operation is much faster than the ones in integers that limits of operations assume.
  const std::uint64_t outputs = std::uint64_t{shape_.rows} * shape_.columns / 2;
  if (is_split_) {
    dispatch(layout, tiles_ * blocks_, 0, outputs * kBlock);
    recorder.barrier();
    const std::uint64_t vectors = std::uint64_t{shape_.thread_rows} * shape_.thread_columns / 4;
    dispatch(layouts + layout, tiles_ * vectors, 0, outputs * blocks_ / vectors);
    return;
  }
  // The workspace has room for the totals of this many tiles.
  const std::uint64_t kept = shape_.has_totals_in_memory && blocks_ > 1 ? kMaxKeptBytes / tile_bytes(shape_) : tiles_;
  for (std::uint64_t first = 0; first < tiles_; first += kept) {
    if (first != 0) {
      recorder.barrier();
    }
    dispatch(layout, std::min(kept, tiles_ - first), first, outputs * (depth_ + 1));
  }
}

}  // namespace anydml::vulkan
