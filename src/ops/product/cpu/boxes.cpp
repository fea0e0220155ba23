// SPDX-License-Identifier: MIT
#include "ops/product/cpu/boxes.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace anydml {
namespace {

// Limits for a tile: its outputs, the copied part of the image and the strips of a block share the second-level cache.
constexpr std::int64_t kMaxRows = 256;
constexpr std::int64_t kMaxColumns = 512;
constexpr std::int64_t kMaxTotals = 1 << 16;
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// The number of taps along a dimension that can touch the image, for this many adjacent outputs.
std::int64_t met_taps(const WindowClass& along, const WindowAxis& axis, std::int64_t outputs) {
  const std::int64_t positions = axis.input + (outputs - 1) * along.output_move;
  const std::int64_t move = std::max<std::int64_t>(1, along.tap_move < 0 ? -along.tap_move : along.tap_move);
  return std::min(along.taps.count, ceil_div(positions, move));
}

// The largest number of outputs that a tile may have along a dimension. There is a limit only if most taps of each
// output fall into the padding, because a larger tile would have to include these taps.
std::int64_t max_along(const WindowClass& along, const WindowAxis& axis, std::int64_t minimum) {
  constexpr std::int64_t kMany = 4;
  if (kMany * met_taps(along, axis, 1) > along.taps.count) {
    return kNoLimit;
  }
  // Outputs within the distance between two taps need no additional taps.
  const std::int64_t move = along.tap_move < 0 ? -along.tap_move : along.tap_move;
  return std::max({minimum, axis.input / along.output_move, move / along.output_move});
}

// Cuts tiles that contain whole rows of pixels and whole slices of rows, if the limits allow it.
ConvolutionTiles cut_evenly(const ConvolutionStep& step, const WindowClasses& classes, const ConvolutionLimits& limits,
                            std::int64_t max_rows, std::int64_t max_columns) {
  ConvolutionTiles tiles{};
  tiles.rows = even_part(step.rows, max_rows, limits.strip);
  tiles.down = ceil_div(step.rows, tiles.rows);
  std::int64_t maximum = max_columns;
  for (std::uint32_t i = kWindowAxes; i-- > 0;) {
    const std::int64_t outputs = classes.axes[i].outputs;
    const std::int64_t minimum = i == kWindowAxes - 1 ? limits.panel : 1;
    const std::int64_t max_here = limits.skips ? max_along(classes.axes[i], step.windows.axes[i], minimum) : kNoLimit;
    tiles.count[i] = even_part(outputs, std::max<std::int64_t>(1, std::min(maximum, max_here)), 1);
    tiles.across[i] = ceil_div(outputs, tiles.count[i]);
    maximum = limits.skips ? maximum / tiles.count[i] : tiles.across[i] == 1 ? maximum / outputs : 1;
  }
  return tiles;
}

// Returns one of the classes with the most outputs. Along dimension i, the class also has the most taps, or the fewest
// taps if bit i is set.
WindowClasses extreme_classes(const Windows& windows, std::uint32_t bits) {
  WindowClasses classes{};
  for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
    const WindowAxis& axis = windows.axes[i];
    const bool is_backward = windows.is_backward != 0;
    WindowClass& along = classes.axes[i];
    along = window_class(windows, i, 0);
    along.taps = taps_of_group(windows, i, (bits >> i & 1) != 0 ? tap_groups(windows, i) - 1 : 0);
    along.tap_move = is_backward ? axis.dilation / std::gcd(axis.dilation, axis.stride) : axis.dilation;
  }
  return classes;
}

// The number of multiply-adds in a tile.
std::int64_t work_of(const ConvolutionStep& step, const WindowClasses& classes, const ConvolutionTiles& tiles,
                     bool skips) {
  std::int64_t taps = 1;
  for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
    taps *= skips ? met_taps(classes.axes[i], step.windows.axes[i], tiles.count[i]) : classes.axes[i].taps.count;
  }
  return tiles.rows * tiles.columns() * std::max<std::int64_t>(step.channels * taps, 1);
}

}  // namespace

TapClasses::TapClasses(const Windows& windows) {
  for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
    const WindowAxis& axis = windows.axes[i];
    if (windows.is_backward == 0) {
      axes[i].push_back(window_class(windows, i, 0));
      continue;
    }
    // The class of a group of taps. The group's first tap contributes to outputs whose distances are multiples of the
    // stride.
    for (std::int64_t group = 0; group < tap_groups(windows, i); ++group) {
      std::int64_t number = (group * axis.dilation - axis.padding) % axis.stride;
      number += number < 0 ? axis.stride : 0;
      if (number < axis.output) {
        axes[i].push_back(window_class(windows, i, number));
      }
    }
    std::ranges::sort(axes[i], {}, &WindowClass::first_output);
  }
}

WindowClasses TapClasses::of(std::int64_t number) const {
  WindowClasses classes{};
  for (std::uint32_t i = kWindowAxes; i-- > 0;) {
    const auto count = static_cast<std::int64_t>(axes[i].size());
    classes.axes[i] = axes[i][static_cast<std::size_t>(number % count)];
    number /= count;
  }
  return classes;
}

std::int64_t channels_of_block(const ConvolutionStep& step, std::int64_t taps, std::int64_t block) {
  return taps == 0 ? 0 : std::min(step.channels, (block + taps - 2) / taps + 1);
}

bool has_many_in_padding(const ConvolutionStep& step) {
  const WindowClasses classes = extreme_classes(step.windows, 0);
  for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
    if (max_along(classes.axes[i], step.windows.axes[i], 1) != kNoLimit) {
      return true;
    }
  }
  return false;
}

std::int64_t copied_elements(const ConvolutionStep& step, const ConvolutionTiles& tiles, std::int64_t block) {
  std::int64_t maximum = 0;
  for (std::uint32_t bits = 0; bits < 1U << kWindowAxes; ++bits) {
    const WindowClasses classes = extreme_classes(step.windows, bits);
    const WindowTile box{.first = {}, .count = {tiles.count[0], tiles.count[1], tiles.count[2]}};
    maximum =
        std::max(maximum, window_block_elements(classes, box, channels_of_block(step, classes.taps(), block), block));
  }
  return maximum;
}

ConvolutionTiles cut(const ConvolutionStep& step, const ConvolutionLimits& limits, std::int64_t class_count,
                     unsigned threads) {
  const WindowClasses classes = extreme_classes(step.windows, 0);
  const auto [strip, panel, block, by_lines, skips, min_work] = limits;
  std::int64_t max_rows = kMaxRows;
  std::int64_t max_columns =
      std::clamp(kMaxTotals / std::min(step.rows, kMaxRows), kMaxColumns / 2, by_lines ? 8 * kMaxColumns : kMaxColumns);
  const std::int64_t matrices = step.images * step.groups * class_count;
  while (true) {
    const ConvolutionTiles tiles = cut_evenly(step, classes, limits, max_rows, max_columns);
    const std::int64_t copied = block != 0 ? copied_elements(step, tiles, block) : 0;
    if (copied > kMaxCopied && max_columns > 2 * panel) {
      max_columns /= 2;
      continue;
    }
    const std::int64_t pieces = tiles.down * tiles.boxes() * matrices;
    const std::int64_t work = work_of(step, classes, tiles, skips);
    const bool is_enough = threads == 1 || work < 2 * min_work || pieces >= 4 * std::int64_t{threads};
    if (is_enough && work <= kMaxWork) {
      return tiles;
    }
    if (tiles.columns() > 4 * panel) {
      max_columns = std::min(max_columns, tiles.columns()) / 2;
    } else if (tiles.rows > 4 * strip && (pieces < 2 * std::int64_t{threads} || work > kMaxWork)) {
      max_rows = tiles.rows / 2;
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

std::int64_t tiles_of_piece(const ConvolutionStep& step, const ConvolutionTiles& tiles, std::int64_t classes,
                            std::int64_t min_work, unsigned threads) {
  const std::int64_t work = std::max<std::int64_t>(
      1, tiles.rows * tiles.columns() * step.channels * step.taps() / std::max<std::int64_t>(1, classes));
  const std::int64_t maximum = ceil_div(all_tiles(step, tiles, classes), 4 * std::int64_t{threads});
  return std::clamp<std::int64_t>(min_work / work, 1, std::max<std::int64_t>(1, maximum));
}

}  // namespace anydml
