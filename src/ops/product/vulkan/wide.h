// SPDX-License-Identifier: MIT
// Large tiles of FLOAT32, on devices whose own fused multiply-add can be used (wide_tiles.glsl).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backend/vulkan/family.h"

namespace anydml::vulkan {

// How neighboring threads read the factors of a side: the constants of wide_tiles.glsl.
enum class FactorOrder : std::uint32_t { along_k, vectors_along_k, along_side, vectors_along_side };

struct WideShape {
  const char* name;
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t thread_rows;
  std::uint32_t thread_columns;
  std::uint32_t depth;
  bool has_totals_in_memory;

  [[nodiscard]] constexpr std::uint32_t threads() const { return rows / thread_rows * (columns / thread_columns); }
  // Of the vectors of both factors, as in wide_tiles.glsl.
  [[nodiscard]] constexpr std::uint32_t shared_bytes() const { return 2 * depth * ((rows + columns) / 4 + 2) * 16 + 16; }
};
inline constexpr std::uint32_t kWideShapes = 7;
extern const WideShape kWideShape[kWideShapes];

// The index of the shape for a product of this size, or kWideShapes if other tiles are better.
[[nodiscard]] std::uint32_t choose_wide(std::int64_t rows, std::int64_t columns, std::int64_t depth,
                                        std::int64_t matrices, const GpuProperties& gpu);

// How a step's operands lie in memory.
struct WideLayout {
  FactorOrder rows;
  FactorOrder columns;
  bool stores_vectors;
};
// A factor's order, given the strides in bytes along k and along the side, the OR of all its other strides, the number of
// its sides and the depth.
[[nodiscard]] FactorOrder factor_order(std::int64_t k_stride, std::int64_t side_stride, std::uint64_t other_strides,
                                       std::int64_t sides, std::int64_t depth);
[[nodiscard]] constexpr FactorOrder without_vectors(FactorOrder order) {
  return order == FactorOrder::vectors_along_k      ? FactorOrder::along_k
         : order == FactorOrder::vectors_along_side ? FactorOrder::along_side
                                                    : order;
}

class WideTiles {
 public:
  // words: of the kernel with the shape's macros. layout: for operands that are aligned to 16 bytes.
  WideTiles(Kernels& kernels, const std::string& key, std::span<const std::uint32_t> words, const WideShape& shape,
            const WideLayout& layout, std::uint64_t tiles, std::uint64_t across, std::uint64_t of_matrix,
            std::uint64_t depth);

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept;
  [[nodiscard]] const std::vector<KernelRef>& kernels() const { return kernels_; }
  [[nodiscard]] const WideShape& shape() const { return shape_; }
  // are_vectors_aligned: whether all operands are aligned to 16 bytes. They are always aligned to 4.
  void record(Recorder& recorder, bool are_vectors_aligned) const;

 private:
  const WideShape& shape_;
  std::uint64_t tiles_;
  std::uint64_t across_;
  std::uint64_t of_matrix_;
  std::uint64_t depth_;
  std::uint64_t blocks_;
  bool is_split_;
  std::vector<KernelRef> kernels_;  // for aligned operands and for others, or only one for all; then the second pass
};

}  // namespace anydml::vulkan
