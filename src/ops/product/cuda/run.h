// SPDX-License-Identifier: MIT
// Host code shared by the steps of this family. It cuts outputs into tiles and compiles kernels that are joined with
// the following step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "backend/cuda/family.h"
#include "backend/cuda/runtime.h"
#include "base/integers.h"
#include "ops/product/cuda/kernel_set.h"
#include "ops/product/step.h"

namespace anydml::cuda {

inline constexpr std::int64_t kMaxElements = 0xffffffff;  // outputs are indexed with 32 bits
inline constexpr std::int64_t kMaxDepth = std::int64_t{1} << 31;
inline constexpr std::int64_t kMaxBlocks = 0x7fffffff;  // in a grid
inline constexpr const char* kTooManyElements = "the CUDA backend runs steps of up to 4,294,967,295 elements";

// Whether an address and its strides are all multiples of `of`. Only the low bits of the strides matter.
[[nodiscard]] inline bool is_multiple(const void* address, std::uint64_t strides, std::uint64_t of) {
  return (reinterpret_cast<std::uintptr_t>(address) | strides) % of == 0;
}

// The outputs of several matrices of the same size.
struct TiledOutputs {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t matrices;
  std::int64_t depth;

  [[nodiscard]] std::int64_t tiles(std::int64_t tile_rows, std::int64_t tile_columns) const {
    return ceil_div(rows, tile_rows) * ceil_div(columns, tile_columns) * matrices;
  }
};

// The tiles that one kind of kernel uses.
struct TileKind {
  u32 tile;  // the tile's name in launch.h
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t threads;
  std::int64_t at_a_time;  // thread blocks per multiprocessor
  std::uint64_t shared_bytes;
  double rate;  // speed of multiplication relative to the large tile
};
[[nodiscard]] constexpr TileKind float_tiles(u32 tile, double rate) {
  return {.tile = tile,
          .rows = tile_rows(tile),
          .columns = tile_columns(tile),
          .threads = tile_threads(tile),
          .at_a_time = tiles_at_a_time(tile),
          .shared_bytes = tile_bytes(tile),
          .rate = rate};
}
// The threads of a wide tile need half as many loads for each product, but there are fewer warps to hide the latency of
// the loads.
inline constexpr TileKind kFloatTiles[] = {float_tiles(kWideTile, 1.11), float_tiles(kLargeTile, 1),
                                           float_tiles(kSmallTile, 0.95)};
// A flat tile, for few output channels, computes image positions for twice as many columns.
inline constexpr TileKind kWindowTiles[] = {float_tiles(kLargeTile, 1), float_tiles(kSmallTile, 0.95),
                                            float_tiles(kFlatTile, 0.75)};
inline constexpr TileKind kByteTiles[] = {{.tile = kLargeTile,
                                           .rows = kLargeTile,
                                           .columns = kLargeTile,
                                           .threads = byte_threads(kLargeTile),
                                           .at_a_time = 2,
                                           .shared_bytes = 0,
                                           .rate = 1},
                                          {.tile = kSmallTile,
                                           .rows = kSmallTile,
                                           .columns = kSmallTile,
                                           .threads = byte_threads(kSmallTile),
                                           .at_a_time = 6,
                                           .shared_bytes = 0,
                                           .rate = 0.8}};

// The tiles and the split of the blocks of k that have the lowest estimated time. may_split: whether the sums of blocks
// may pass through memory.
struct TileChoice {
  u32 tile;  // the tile's name; 0 if the product is thin and has no tiles
  u32 splits;
  SplitLaunch split;  // `sums` is not set

  [[nodiscard]] std::uint64_t workspace_bytes() const {
    return splits == 1 ? 0 : std::uint64_t{split.blocks} * split.outputs * sizeof(f32);
  }
};
[[nodiscard]] TileChoice choose_tiles(const TiledOutputs& outputs, std::span<const TileKind> kinds, bool may_split,
                                      const GpuProperties& gpu);
// is_thin returns whether an output has such a small number of rows or columns, and such long sums, that the time is
// mostly spent on reading the larger factor. choose_thin returns the tile choice for such an output.
[[nodiscard]] bool is_thin(const TiledOutputs& outputs);
[[nodiscard]] TileChoice choose_thin(const TiledOutputs& outputs);

// ---- Convolutions, in convolution.cpp ----

// Whether outputs, positions and k fit into the 32-bit integers that the kernels use.
[[nodiscard]] bool windows_fit(const ConvolutionStep& step);
// Whether threads compute outputs without tiles, because tiles would be almost empty. This is the case if there are few
// output channels, and the sums are short or there are enough sums for all threads.
[[nodiscard]] bool is_direct(const ConvolutionStep& step, const GpuProperties& gpu);
// Sets the sizes and strides of a launch for up to kLaunchClasses classes along each dimension, starting with the given
// classes. Returns the number of classes in the launch, and the number of columns in the largest of these classes.
struct WindowPart {
  std::int64_t classes;
  std::int64_t columns;
};
[[nodiscard]] WindowPart set_windows(const ConvolutionStep& step, const std::int64_t (&first)[kLaunchAxes],
                                     ConvolutionLaunch& launch);
// Sets how the outputs of a launch are divided among thread blocks. down, across: the number of blocks in each
// direction, for each group and class. Returns the total number of blocks, or 0 if there are too many.
[[nodiscard]] u32 set_blocks(const WindowPart& part, std::int64_t down, std::int64_t across, ConvolutionLaunch& launch);
// The number of threads per block in the direct kernels for this many columns, and the number of blocks across.
struct DirectShape {
  u32 threads;
  std::int64_t across;
};
[[nodiscard]] DirectShape direct_shape(std::int64_t columns);
// All strides of an operand, combined with OR; only the low bits matter.
[[nodiscard]] std::uint64_t input_strides(const ConvolutionStep& step);
[[nodiscard]] std::uint64_t filter_strides(const ConvolutionStep& step);
[[nodiscard]] std::uint64_t output_strides(const ConvolutionStep& step);
// Whether every four output pixels, starting at a multiple of 4 among the columns, are contiguous and aligned to their
// total size. There must be only one class.
[[nodiscard]] bool has_pixel_vectors(const ConvolutionStep& step, const void* output, std::int64_t element_bytes);

// A kernel that passes its outputs to the following step, if there is one.
class JoinedKernel {
 public:
  explicit JoinedKernel(Neighbor after) : after_(std::move(after)) {}

  [[nodiscard]] bool is_there() const { return after_.step != nullptr; }
  // Compiles a kernel from this family's header. The kernel's parameter is this launch together with the joined step's
  // object. kernel: "name<" or "name<1u, ". Returns null on success, or the reason why the kernel cannot be compiled.
  template <class Launch>
  [[nodiscard]] const char* compile(const char* header, const char* launch, const std::string& kernel, u32 shared_bytes,
                                    const GpuProperties& gpu) {
    return is_there() ? compile_for(sizeof(Launch), header, launch, kernel, shared_bytes, gpu) : nullptr;
  }
  template <class Launch>
  [[nodiscard]] cudaError_t launch(const Launch& launch, const LaunchShape& shape, std::byte* const* bases,
                                   cudaStream_t stream) const noexcept {
    return launch_with(&launch, sizeof(launch), shape, bases, stream);
  }

 private:
  [[nodiscard]] const char* compile_for(std::size_t launch_bytes, const char* header, const char* launch,
                                        const std::string& kernel, u32 shared_bytes, const GpuProperties& gpu);
  [[nodiscard]] cudaError_t launch_with(const void* launch, std::size_t bytes, const LaunchShape& shape,
                                        std::byte* const* bases, cudaStream_t stream) const noexcept;

  Neighbor after_;
  std::shared_ptr<const RuntimeKernels> kernels_;
};

// Like Family::prepare.
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_convolution(const Step& flat, const GpuProperties& gpu,
                                                                Neighbors neighbors, const char** why);
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_double_product(const Step& flat, const char** why);
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_double_convolution(const Step& flat);
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_half_product(const Step& flat, const GpuProperties& gpu,
                                                                 const char** why);
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_integer_product(const Step& flat, const GpuProperties& gpu,
                                                                    Neighbors neighbors, const char** why);
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_integer_convolution(const Step& flat, const GpuProperties& gpu,
                                                                        Neighbors neighbors, const char** why);

}  // namespace anydml::cuda
