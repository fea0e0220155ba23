// SPDX-License-Identifier: MIT
// Shared by the steps of this family on the host: how outputs are cut into tiles, and the kernel that is joined with
// the step after it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "backend/cuda/family.h"
#include "backend/cuda/runtime.h"
#include "ops/product/cuda/kernel_set.h"
#include "ops/product/step.h"

namespace anydml::cuda {

inline constexpr std::int64_t kMostElements = 0xffffffff;  // outputs are numbered in 32 bits
inline constexpr std::int64_t kMostDepth = std::int64_t{1} << 31;
inline constexpr std::int64_t kMostBlocks = 0x7fffffff;  // of a grid
inline constexpr const char* kTooManyElements = "the CUDA backend runs steps of up to 4,294,967,295 elements";

[[nodiscard]] constexpr std::int64_t parts_of(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

// Whether an address and its strides are all multiples; only the lowest bits count.
[[nodiscard]] inline bool is_multiple(const void* address, std::uint64_t strides, std::uint64_t of) {
  return (reinterpret_cast<std::uintptr_t>(address) | strides) % of == 0;
}

// Outputs of so many equal matrices.
struct TiledOutputs {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t matrices;
  std::int64_t depth;

  [[nodiscard]] std::int64_t tiles(std::int64_t tile_rows, std::int64_t tile_columns) const {
    return parts_of(rows, tile_rows) * parts_of(columns, tile_columns) * matrices;
  }
};

// The tiles of a kind of kernels.
struct TileKind {
  u32 tile;  // its name
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t threads;
  std::int64_t at_a_time;  // blocks of threads of a multiprocessor
  std::uint64_t shared_bytes;
  double rate;  // of multiplying, beside the fastest
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
// The threads of a wide tile have half as many loads for each product, and fewer warps hide them.
inline constexpr TileKind kFloatTiles[] = {float_tiles(kWideTile, 1.11), float_tiles(kLargeTile, 1),
                                           float_tiles(kSmallTile, 0.95)};
// A flat tile, for few output channels, finds places in the image for twice as many columns.
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

// The tiles, and how the blocks of k are split, that should take the least time. may_split: the sums of blocks may go
// through memory.
struct TileChoice {
  u32 tile;  // its name; 0: the product is thin and has no tiles
  u32 splits;
  SplitLaunch split;  // without an address

  [[nodiscard]] std::uint64_t workspace_bytes() const {
    return splits == 1 ? 0 : std::uint64_t{split.blocks} * split.outputs * sizeof(f32);
  }
};
[[nodiscard]] TileChoice choose_tiles(const TiledOutputs& outputs, std::span<const TileKind> kinds, bool may_split,
                                      const Machine& machine);
// Whether an output of few rows or columns has sums so long that reading the larger factor takes all the time, and that
// choice.
[[nodiscard]] bool is_thin(const TiledOutputs& outputs);
[[nodiscard]] TileChoice choose_thin(const TiledOutputs& outputs);

// ---- Convolutions, in convolution.cpp ----

// Whether the kernels can count outputs, places and k in 32 bits.
[[nodiscard]] bool windows_fit(const ConvolutionStep& step);
// Whether threads compute outputs without tiles, which would be almost empty: with few output channels, if the sums are
// short or if their number is large enough for all threads.
[[nodiscard]] bool is_direct(const ConvolutionStep& step, const Machine& machine);
// Sets the sizes and strides of a launch for up to kLaunchClasses classes along each dimension, from these on. The
// result has the number of its classes, and the columns of the one that has the most.
struct WindowPart {
  std::int64_t classes;
  std::int64_t columns;
};
[[nodiscard]] WindowPart set_windows(const ConvolutionStep& step, const std::int64_t (&first)[kLaunchAxes],
                                     ConvolutionLaunch& launch);
// Sets how the outputs of a launch are cut into blocks of threads: so many down and across, for each group and class.
// The result is the number of blocks; 0: too many.
[[nodiscard]] u32 set_blocks(const WindowPart& part, std::int64_t down, std::int64_t across, ConvolutionLaunch& launch);
// The threads of a block in the direct kernels, which have so many columns, and the blocks across.
struct DirectShape {
  u32 threads;
  std::int64_t across;
};
[[nodiscard]] DirectShape direct_shape(std::int64_t columns);
// The low bits of all strides of an operand count.
[[nodiscard]] std::uint64_t input_strides(const ConvolutionStep& step);
[[nodiscard]] std::uint64_t filter_strides(const ConvolutionStep& step);
[[nodiscard]] std::uint64_t output_strides(const ConvolutionStep& step);
// Whether four pixels of the output, at a multiple of 4 in the order of the columns, are beside each other at a
// multiple of their size. There must be one class.
[[nodiscard]] bool has_pixel_vectors(const ConvolutionStep& step, const void* output, std::int64_t element_bytes);

// A kernel that hands its outputs to the step after it, or nothing.
class JoinedKernel {
 public:
  explicit JoinedKernel(Neighbour after) : after_(std::move(after)) {}

  [[nodiscard]] bool is_there() const { return after_.step != nullptr; }
  // Compiles a kernel of this family's header, whose parameter is such a launch with the neighbour's object. kernel:
  // "name<" or "name<1u, ". The result is null, or says why it cannot be.
  template <class Launch>
  [[nodiscard]] const char* compile(const char* header, const char* launch, const std::string& kernel, u32 shared_bytes,
                                    const Machine& machine) {
    return is_there() ? compile_for(sizeof(Launch), header, launch, kernel, shared_bytes, machine) : nullptr;
  }
  template <class Launch>
  [[nodiscard]] cudaError_t launch(const Launch& launch, const LaunchShape& shape, std::byte* const* bases,
                                   cudaStream_t stream) const noexcept {
    return launch_with(&launch, sizeof(launch), shape, bases, stream);
  }

 private:
  [[nodiscard]] const char* compile_for(std::size_t launch_bytes, const char* header, const char* launch,
                                        const std::string& kernel, u32 shared_bytes, const Machine& machine);
  [[nodiscard]] cudaError_t launch_with(const void* launch, std::size_t bytes, const LaunchShape& shape,
                                        std::byte* const* bases, cudaStream_t stream) const noexcept;

  Neighbour after_;
  std::shared_ptr<const RuntimeKernels> kernels_;
};

// As Family::prepare.
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_convolution(const Step& flat, const Machine& machine,
                                                                Neighbours neighbours, const char** why);
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_double_product(const Step& flat, const char** why);
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_double_convolution(const Step& flat);
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_half_product(const Step& flat, const Machine& machine,
                                                                 const char** why);
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_integer_product(const Step& flat, const Machine& machine,
                                                                    Neighbours neighbours, const char** why);
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_integer_convolution(const Step& flat, const Machine& machine,
                                                                        Neighbours neighbours, const char** why);

}  // namespace anydml::cuda
