// SPDX-License-Identifier: MIT
#include "ops/product/cpu/boxes.h"

#include <numeric>

namespace anydml {
namespace {

// Of a tile: the outputs, the copied part of the image and the strips of a block share a second-level cache.
constexpr std::int64_t kMostRows = 256;
constexpr std::int64_t kMostColumns = 512;
constexpr std::int64_t kMostTotals = 1 << 16;
constexpr std::int64_t kMostCopied = 1 << 16;

// Whole rows of pixels if they are short enough, and whole slices of rows.
ConvolutionTiles cut_evenly(const ConvolutionStep& step, const WindowClasses& classes, std::int64_t strip,
                            std::int64_t most_rows, std::int64_t most_columns) {
  ConvolutionTiles tiles{};
  tiles.rows = even_part(step.rows, most_rows, strip);
  tiles.down = parts_of(step.rows, tiles.rows);
  std::int64_t most = most_columns;
  for (std::uint32_t i = kWindowAxes; i-- > 0;) {
    const std::int64_t outputs = classes.axes[i].outputs;
    tiles.count[i] = even_part(outputs, std::max<std::int64_t>(1, most), 1);
    tiles.across[i] = parts_of(outputs, tiles.count[i]);
    most = tiles.across[i] == 1 ? most / outputs : 1;
  }
  return tiles;
}

// The channels of a block of so many factors, at most.
std::int64_t channels_of_block(const ConvolutionStep& step, std::int64_t taps, std::int64_t block) {
  return taps == 0 ? 0 : std::min(step.channels, (block + taps - 2) / taps + 1);
}

// A class with the most outputs that any has. Along dimension i it has the most taps, or the fewest if bit i is set.
WindowClasses extreme_classes(const Windows& windows, std::uint32_t bits) {
  WindowClasses classes{};
  for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
    const WindowAxis& axis = windows.axes[i];
    const bool is_backward = windows.is_backward != 0;
    WindowClass& made = classes.axes[i];
    made = window_class(windows, i, 0);
    made.taps = taps_of_group(windows, i, (bits >> i & 1) != 0 ? tap_groups(windows, i) - 1 : 0);
    made.tap_move = is_backward ? axis.dilation / std::gcd(axis.dilation, axis.stride) : axis.dilation;
  }
  return classes;
}

}  // namespace

std::int64_t copied_elements(const ConvolutionStep& step, const ConvolutionTiles& tiles, std::int64_t block) {
  std::int64_t most = 0;
  for (std::uint32_t bits = 0; bits < 1U << kWindowAxes; ++bits) {
    const WindowClasses classes = extreme_classes(step.windows, bits);
    const WindowTile box{.first = {}, .count = {tiles.count[0], tiles.count[1], tiles.count[2]}};
    most = std::max(most, channels_of_block(step, classes.taps(), block) * window_plane(classes, box).elements());
  }
  return most;
}

ConvolutionTiles cut(const ConvolutionStep& step, const ConvolutionLimits& limits, unsigned threads) {
  const WindowClasses classes = extreme_classes(step.windows, 0);
  const auto [strip, panel, block, by_lines, least_work] = limits;
  std::int64_t most_rows = kMostRows;
  std::int64_t most_columns = std::clamp(kMostTotals / std::min(step.rows, kMostRows), kMostColumns / 2,
                                         by_lines ? 8 * kMostColumns : kMostColumns);
  const std::int64_t matrices = step.images * step.groups * all_window_classes(step.windows);
  while (true) {
    const ConvolutionTiles tiles = cut_evenly(step, classes, strip, most_rows, most_columns);
    const std::int64_t copied = block != 0 ? copied_elements(step, tiles, block) : 0;
    if (copied > kMostCopied && most_columns > 2 * panel) {
      most_columns /= 2;
      continue;
    }
    const std::int64_t pieces = tiles.down * tiles.boxes() * matrices;
    const std::int64_t work = tiles.rows * tiles.columns() * std::max<std::int64_t>(step.channels * classes.taps(), 1);
    if (threads == 1 || work < 2 * least_work || pieces >= 4 * std::int64_t{threads}) {
      return tiles;
    }
    if (tiles.columns() > 4 * panel) {
      most_columns = std::min(most_columns, tiles.columns()) / 2;
    } else if (tiles.rows > 4 * strip && pieces < 2 * std::int64_t{threads}) {
      most_rows = tiles.rows / 2;
    } else {
      return tiles;
    }
  }
}

WindowTile box_of(const ConvolutionTiles& tiles, const WindowClasses& classes, std::int64_t number) {
  WindowTile box{};
  for (std::uint32_t i = kWindowAxes; i-- > 0;) {
    box.first[i] = number % tiles.across[i] * tiles.count[i];
    box.count[i] = std::max<std::int64_t>(0, std::min(tiles.count[i], classes.axes[i].outputs - box.first[i]));
    number /= tiles.across[i];
  }
  return box;
}

std::int64_t tiles_of_piece(const ConvolutionStep& step, const ConvolutionTiles& tiles, std::int64_t least_work,
                            unsigned threads) {
  const std::int64_t work = std::max<std::int64_t>(
      1, tiles.rows * tiles.columns() * step.channels * step.taps() / all_window_classes(step.windows));
  return std::clamp<std::int64_t>(least_work / work, 1, parts_of(all_tiles(step, tiles), 4 * std::int64_t{threads}));
}

}  // namespace anydml
