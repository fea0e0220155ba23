// SPDX-License-Identifier: MIT
#include "show.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <stdexcept>

namespace networks {
namespace {

constexpr UINT kMostRows = 4;
constexpr std::size_t kBest = 5;

// Images have levels up to 1 or up to 255.
float white_of(std::span<const float> image) { return *std::ranges::max_element(image) > 2 ? 255.0f : 1.0f; }

int level_of(float element, float white) {
  return static_cast<int>(std::clamp(element / white, 0.0f, 1.0f) * 255 + 0.5f);
}

// Means of as many pixels as belong to a character, which is twice as high as wide.
class Characters {
 public:
  Characters(std::span<const float> image, const Sizes& sizes)
      : image_(image.first(std::size_t{sizes[1]} * sizes[2] * sizes[3])), sizes_(sizes), white_(white_of(image)) {}

  [[nodiscard]] std::string row(UINT y) const {
    static constexpr char kShades[] = " .:-=+*#%@";
    std::string text;
    for (UINT x = 0; x < kColumns; ++x) {
      const int level = level_of(mean(y, x), white_);
      text += kShades[level * 10 / 256];
    }
    return text;
  }

  static constexpr UINT kColumns = 48;
  static constexpr UINT kRows = 24;

 private:
  [[nodiscard]] float mean(UINT y, UINT x) const {
    const UINT top = y * sizes_[2] / kRows;
    const UINT bottom = std::max(top + 1, (y + 1) * sizes_[2] / kRows);
    const UINT left = x * sizes_[3] / kColumns;
    const UINT right = std::max(left + 1, (x + 1) * sizes_[3] / kColumns);
    double sum = 0;
    for (UINT channel = 0; channel < sizes_[1]; ++channel) {
      for (UINT row = top; row < bottom; ++row) {
        for (UINT column = left; column < right; ++column) {
          sum += static_cast<double>(image_[(std::size_t{channel} * sizes_[2] + row) * sizes_[3] + column]);
        }
      }
    }
    return static_cast<float>(sum / (double{1} * sizes_[1] * (bottom - top) * (right - left)));
  }

  std::span<const float> image_;
  const Sizes& sizes_;
  float white_;
};

}  // namespace

void show_classes(std::span<const float> probabilities, const Sizes& sizes) {
  const UINT classes = sizes[3];
  std::printf("%5s  %5s  %s\n", "input", "class", "probability");
  for (UINT row = 0; row < std::min(sizes[2], kMostRows); ++row) {
    const auto of_row = probabilities.subspan(std::size_t{row} * classes, classes);
    std::vector<std::size_t> order(classes);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t best = std::min<std::size_t>(kBest, classes);
    std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(best),
                              [&](std::size_t a, std::size_t b) { return of_row[a] > of_row[b]; });
    for (std::size_t i = 0; i < best; ++i) {
      const float probability = of_row[order[i]];
      const auto length = static_cast<std::size_t>(40 * probability / of_row[order[0]]);
      std::printf("%5s  %5zu  %.8f  %s\n", i == 0 ? std::to_string(row).c_str() : "", order[i],
                  static_cast<double>(probability), std::string(length, '#').c_str());
    }
  }
  if (sizes[2] > kMostRows) {
    std::printf("and %u more\n", sizes[2] - kMostRows);
  }
}

void show_images(std::span<const float> input, const Sizes& input_sizes, std::span<const float> output,
                 const Sizes& output_sizes) {
  const Characters left(input, input_sizes);
  const Characters right(output, output_sizes);
  const auto title = [](const Sizes& sizes) { return std::to_string(sizes[3]) + " x " + std::to_string(sizes[2]); };
  std::printf("%-*s    %s\n", static_cast<int>(Characters::kColumns), ("input, " + title(input_sizes)).c_str(),
              ("output, " + title(output_sizes)).c_str());
  for (UINT y = 0; y < Characters::kRows; ++y) {
    std::printf("%s    %s\n", left.row(y).c_str(), right.row(y).c_str());
  }
}

void write_image(const std::string& path, std::span<const float> image, const Sizes& sizes) {
  const bool has_colours = sizes[1] == 3;
  const std::size_t plane = std::size_t{sizes[2]} * sizes[3];
  const float white = white_of(image);
  std::string bytes;
  for (std::size_t pixel = 0; pixel < plane; ++pixel) {
    for (std::size_t channel = 0; channel < (has_colours ? 3 : 1); ++channel) {
      bytes += static_cast<char>(level_of(image[channel * plane + pixel], white));
    }
  }
  std::ofstream file(path, std::ios::binary);
  file << (has_colours ? "P6\n" : "P5\n") << sizes[3] << ' ' << sizes[2] << "\n255\n" << bytes;
  if (!file.flush()) {
    throw std::runtime_error(path + " cannot be written");
  }
}

}  // namespace networks
