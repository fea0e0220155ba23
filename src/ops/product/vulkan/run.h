// SPDX-License-Identifier: MIT
// What the steps of this family share: the tiles of tiles.glsl, and the kernels for aligned and for any addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backend/vulkan/family.h"
#include "backend/vulkan/spirv/primitives.h"
#include "base/integers.h"
#include "ops/product/step.h"
#include "ops/product/vulkan/wide.h"

namespace anydml::vulkan {

enum class Numbers : std::uint32_t { f32, f64, bytes };

[[nodiscard]] constexpr std::uint64_t number_bytes(Numbers numbers) {
  return numbers == Numbers::f64 ? sizeof(f64) : sizeof(f32);
}

inline constexpr std::uint32_t kTileThreads = 256;

// The constants of tiles.glsl after the first one, in order.
struct TileShape {
  std::uint32_t rows_of_thread;
  std::uint32_t columns_of_thread;
  std::uint32_t threads_down;
  std::uint32_t threads_across;
  std::uint32_t depth;

  [[nodiscard]] constexpr std::int64_t rows() const { return std::int64_t{rows_of_thread} * threads_down; }
  [[nodiscard]] constexpr std::int64_t columns() const { return std::int64_t{columns_of_thread} * threads_across; }
  [[nodiscard]] constexpr std::int64_t tiles(std::int64_t all_rows, std::int64_t all_columns) const {
    return ceil_div(all_rows, rows()) * ceil_div(all_columns, columns());
  }
};

// The tile with the fewest outputs that do not exist. Its factors take less than half of the 16 KiB that every device
// has, or a little more.
[[nodiscard]] inline TileShape choose_tile(std::int64_t rows, std::int64_t columns, Numbers numbers,
                                           const GpuProperties& gpu) {
  constexpr std::int64_t kVeryFew = 2;
  constexpr std::int64_t kFew = 16;
  const std::uint32_t depth = numbers == Numbers::f64 ? 8 : 16;
  if (numbers != Numbers::bytes && spirv::needs_short_threads(gpu)) {
    return {1, 1, 16, 16, depth};
  }
  if (rows <= kVeryFew && columns > kVeryFew) {
    return {rows < kVeryFew ? 1U : 2U, 1, 1, kTileThreads, depth / 2};
  }
  if (columns <= kVeryFew && rows > kVeryFew) {
    return {1, columns < kVeryFew ? 1U : 2U, kTileThreads, 1, depth / 2};
  }
  if (rows <= kFew && columns > kFew) {
    return {4, 2, 4, kTileThreads / 4, depth};
  }
  if (columns <= kFew && rows > kFew) {
    return {2, 4, kTileThreads / 4, 4, depth};
  }
  return {4, 4, 16, 16, depth};
}

// An operand whose elements are read or written as a whole, with the OR of its strides.
struct AlignedOperand {
  std::size_t operand;
  std::uint64_t strides;
  std::uint64_t bytes;  // of an element
};

// A step whose groups compute tiles. If there are few tiles and the sums are long, each block of k has its own groups,
// and a second dispatch adds the sums of the blocks.
class TiledRun : public PreparedStep {
 public:
  // words: of the kernel for these numbers.
  // across, of_matrix: the tiles of a row of tiles, and of a matrix.
  // depth: the longest sum of an output.
  // wide: the tiles for elements that are aligned, if there are such tiles.
  TiledRun(Kernels& kernels, const char* key, std::span<const std::uint32_t> words, Numbers numbers,
           const TileShape& shape, std::uint64_t tiles, std::int64_t across, std::int64_t of_matrix, std::int64_t depth,
           std::optional<WideTiles> wide = std::nullopt);

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override;
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    OperandUse use;
    use.is_written = operand == output_;
    return use;
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override;
  void record(Recorder& recorder) const override;

 protected:
  void set(std::vector<AlignedOperand> aligned, std::size_t output);
  // Null if the device can compute the step, otherwise the reason why not.
  [[nodiscard]] static const char* refuses(const TileShape& shape, Numbers numbers, std::uint64_t tiles,
                                           std::int64_t depth, const GpuProperties& gpu);
  [[nodiscard]] const TileShape& shape() const noexcept { return shape_; }
  [[nodiscard]] const std::optional<WideTiles>& wide() const noexcept { return wide_; }

 private:
  Numbers numbers_;
  TileShape shape_;
  std::uint64_t tiles_;
  std::uint64_t across_;
  std::uint64_t of_matrix_;
  std::uint64_t depth_;
  bool is_split_;
  std::optional<WideTiles> wide_;
  std::vector<AlignedOperand> aligned_;
  std::size_t output_ = 0;
  // For any address and, without wide tiles, for aligned ones; the same for the second dispatch.
  std::vector<KernelRef> kernels_;
};

inline constexpr std::uint64_t kMaxTiles = UINT32_MAX;

// The OR of the strides between an operand's matrices, and of all its strides.
[[nodiscard]] inline std::uint64_t batch_strides(const ProductStep& step, const MatrixStrides& strides) {
  std::uint64_t all = 0;
  for (std::uint32_t i = 0; i < step.batch_rank; ++i) {
    all |= static_cast<std::uint64_t>(strides.batch[i]);
  }
  return all;
}
[[nodiscard]] inline std::uint64_t all_strides(const ProductStep& step, const MatrixStrides& strides) {
  return static_cast<std::uint64_t>(strides.row) | static_cast<std::uint64_t>(strides.column) |
         batch_strides(step, strides);
}

[[nodiscard]] std::unique_ptr<PreparedStep> prepare_matrices(const Step& flat, Kernels& kernels, const char** why);
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_windows(const Step& flat, Kernels& kernels, const char** why);

}  // namespace anydml::vulkan
