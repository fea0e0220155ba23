// SPDX-License-Identifier: MIT
#include "ops/product/cuda/run.h"

#include <algorithm>
#include <cstring>

namespace anydml::cuda {
namespace {

constexpr std::size_t kObjectAlignment = 16;
constexpr std::size_t kMaxJoinedBytes = 16'384;           // for a kernel parameter with the joined step's object
constexpr std::int64_t kMaxSums = std::int64_t{1} << 24;  // sums passed through memory; few enough to fit into a cache
constexpr std::int64_t kMaxSplits = 4096;                 // below the limit for a grid's second dimension
constexpr auto kBlock = static_cast<std::int64_t>(kProductBlock);

[[nodiscard]] std::size_t object_at(std::size_t launch_bytes) {
  return (launch_bytes + kObjectAlignment - 1) / kObjectAlignment * kObjectAlignment;
}

// Estimates the clock cycles of the busiest multiprocessor: its multiplications, at a rate that grows with the number
// of resident warps, and the cost of passing the sums through memory.
[[nodiscard]] double cycles_of(const TiledOutputs& outputs, const TileKind& tile, std::int64_t splits,
                               const GpuProperties& gpu) {
  constexpr double kProductsOfCycle = 128;
  constexpr double kBytesOfCycle = 16;  // bytes transferred between one multiprocessor and memory
  constexpr double kSecondLaunch = 6'000;
  constexpr double kAlone = 4'000;
  const std::int64_t multiprocessors = std::max<std::int64_t>(gpu.multiprocessors, 1);
  const std::int64_t blocks = std::max<std::int64_t>(1, ceil_div(outputs.depth, kBlock));
  const std::int64_t depth = std::min(ceil_div(blocks, splits) * kBlock, outputs.depth);
  const std::int64_t busiest = ceil_div(outputs.tiles(tile.rows, tile.columns) * splits, multiprocessors);
  const auto warps = static_cast<double>(std::min(busiest, tile.at_a_time) * tile.threads / 32);
  // One warp for each of the multiprocessor's four partitions is enough to use all of them. More warps only hide
  // latency.
  double rate = warps < 4 ? 0.8 * warps / 4 : warps < 8 ? 0.8 + 0.14 * (warps - 4) / 4 : 0.94 + 0.06 * (warps - 8) / 4;
  rate = std::min(rate, 1.0) * tile.rate;
  double cycles = static_cast<double>(busiest) * static_cast<double>(tile.rows * tile.columns) *
                  static_cast<double>(std::max<std::int64_t>(depth, 1)) / kProductsOfCycle / rate;
  if (tile.at_a_time == 1) {  // nothing overlaps with loading the first factors and storing the outputs
    cycles += kAlone * static_cast<double>(busiest);
  }
  if (splits > 1) {
    const double sums = static_cast<double>(outputs.rows * outputs.columns * outputs.matrices * blocks);
    cycles += kSecondLaunch + 2 * sizeof(f32) * sums / kBytesOfCycle / static_cast<double>(multiprocessors);
  }
  return cycles;
}

}  // namespace

TileChoice choose_tiles(const TiledOutputs& outputs, std::span<const TileKind> kinds, bool may_split,
                        const GpuProperties& gpu) {
  const std::int64_t blocks = std::max<std::int64_t>(1, ceil_div(outputs.depth, kBlock));
  const std::int64_t count = outputs.rows * outputs.columns * outputs.matrices;
  const bool splits_fit = may_split && blocks > 1 && count <= kMaxSums / blocks;
  constexpr std::uint64_t kTaps = 4096;  // upper limit for the table of taps, in bytes
  u32 best_tile = kSmallTile;
  std::int64_t best_splits = 1;
  double best = -1;
  for (const TileKind& tile : kinds) {
    if (tile.tile != kSmallTile && gpu.shared_bytes_of_block < tile.shared_bytes + kTaps) {
      continue;
    }
    const std::int64_t maximum = splits_fit ? std::min(blocks, kMaxSplits) : 1;
    for (std::int64_t splits = 1; splits <= maximum;
         splits = splits < maximum ? std::min(2 * splits, maximum) : maximum + 1) {
      const double cycles = cycles_of(outputs, tile, splits, gpu);
      if (best < 0 || cycles < best) {
        best = cycles;
        best_tile = tile.tile;
        best_splits = splits;
      }
    }
  }
  const std::int64_t of_split = ceil_div(blocks, best_splits);
  return {.tile = best_tile,
          .splits = static_cast<u32>(ceil_div(blocks, of_split)),
          .split = {.sums = nullptr,
                    .blocks_of_split = static_cast<u32>(of_split),
                    .blocks = static_cast<u32>(blocks),
                    .outputs = static_cast<u32>(count)}};
}

bool is_thin(const TiledOutputs& outputs) {
  constexpr std::int64_t kMaxGrid = 65'535;  // thread blocks in the grid's second dimension
  const std::int64_t blocks = ceil_div(outputs.depth, kBlock);
  return std::min(outputs.rows, outputs.columns) <= kMaxThin && blocks > 1 && blocks <= kMaxGrid &&
         outputs.rows * outputs.columns * outputs.matrices <= kMaxSums / blocks;
}

TileChoice choose_thin(const TiledOutputs& outputs) {
  const auto blocks = static_cast<u32>(ceil_div(outputs.depth, kBlock));
  return {.tile = 0,
          .splits = blocks,
          .split = {.sums = nullptr,
                    .blocks_of_split = 1,
                    .blocks = blocks,
                    .outputs = static_cast<u32>(outputs.rows * outputs.columns * outputs.matrices)}};
}

const char* JoinedKernel::compile_for(std::size_t launch_bytes, const char* header, const char* launch,
                                      const std::string& kernel, u32 shared_bytes, const GpuProperties& gpu) {
  const std::size_t bytes = object_at(launch_bytes) + after_.step->bytes();
  if (bytes > kMaxJoinedBytes) {
    return "joined steps have more attributes than fit into a kernel parameter";
  }
  KernelSource source;
  source.text = after_.step->text();
  source.text.append("#include \"ops/product/cuda/").append(header).append("\"\nnamespace anydml::cuda {\n");
  source.text.append("static_assert(sizeof(JoinedLaunch<").append(launch).append(", After>) == ");
  source.text.append(std::to_string(bytes)).append(");\n}  // namespace anydml::cuda\n");
  source.kernels.push_back("anydml::cuda::" + kernel + "anydml::cuda::After>");
  source.max_shared_bytes = shared_bytes;
  kernels_ = find_runtime_kernels(source, gpu);
  return kernels_ != nullptr ? nullptr : "NVRTC is available but could not compile a kernel";
}

cudaError_t JoinedKernel::launch_with(const void* launch, std::size_t bytes, const LaunchShape& shape,
                                      std::byte* const* bases, cudaStream_t stream) const noexcept {
  alignas(kObjectAlignment) std::byte parameter[kMaxJoinedBytes];
  std::memcpy(parameter, launch, bytes);
  after_.step->make(bases + after_.first_operand, parameter + object_at(bytes));
  void* parameters[] = {parameter};
  return kernels_->launch(0, shape, parameters, stream);
}

}  // namespace anydml::cuda
