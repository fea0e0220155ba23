// SPDX-License-Identifier: MIT
#include "show.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <stdexcept>

namespace networks {
namespace {

constexpr UINT kMaxRows = 4;
constexpr std::size_t kBest = 5;

// The maximum of pixel values is either 1 or 255.
float white_of(std::span<const float> image) { return *std::ranges::max_element(image) > 2 ? 255.0f : 1.0f; }

int level_of(float element, float white) {
  return static_cast<int>(std::clamp(element / white, 0.0f, 1.0f) * 255 + 0.5f);
}

// An image drawn with characters, which are twice as high as they are wide. Each character shows the mean of its
// pixels, scaled from the darkest to the brightest.
class Characters {
 public:
  Characters(std::span<const float> image, const Sizes& sizes) {
    for (UINT y = 0; y < kRows; ++y) {
      for (UINT x = 0; x < kColumns; ++x) {
        means_.push_back(mean(image, sizes, y, x));
      }
    }
    const auto [minimum, maximum] = std::ranges::minmax(means_);
    minimum_ = minimum;
    range_ = maximum > minimum ? maximum - minimum : 1;
  }

  [[nodiscard]] std::string row(UINT y) const {
    static constexpr char kShades[] = " .:-=+*#%@";
    std::string text;
    for (UINT x = 0; x < kColumns; ++x) {
      const double part = (means_[y * kColumns + x] - minimum_) / range_;
      text += kShades[static_cast<int>(part * 9 + 0.5)];
    }
    return text;
  }

  static constexpr UINT kColumns = 48;
  static constexpr UINT kRows = 24;

 private:
  [[nodiscard]] static double mean(std::span<const float> image, const Sizes& sizes, UINT y, UINT x) {
    const UINT top = y * sizes[2] / kRows;
    const UINT bottom = std::max(top + 1, (y + 1) * sizes[2] / kRows);
    const UINT left = x * sizes[3] / kColumns;
    const UINT right = std::max(left + 1, (x + 1) * sizes[3] / kColumns);
    double sum = 0;
    for (UINT channel = 0; channel < sizes[1]; ++channel) {
      for (UINT row = top; row < bottom; ++row) {
        for (UINT column = left; column < right; ++column) {
          sum += static_cast<double>(image[(std::size_t{channel} * sizes[2] + row) * sizes[3] + column]);
        }
      }
    }
    return sum / (double{1} * sizes[1] * (bottom - top) * (right - left));
  }

  std::vector<double> means_;
  double minimum_ = 0;
  double range_ = 1;
};

}  // namespace

void show_classes(std::span<const float> probabilities, const Sizes& sizes) {
  const UINT classes = sizes[3];
  std::printf("%5s  %5s  %s\n", "input", "class", "probability");
  for (UINT row = 0; row < std::min(sizes[2], kMaxRows); ++row) {
    const auto of_row = probabilities.subspan(std::size_t{row} * classes, classes);
    std::vector<std::size_t> order(classes);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t best = std::min<std::size_t>(kBest, classes);
    std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(best),
                              [&](std::size_t a, std::size_t b) { return of_row[a] > of_row[b]; });
    for (std::size_t i = 0; i < best; ++i) {
      const float probability = of_row[order[i]];
      const auto length = static_cast<std::size_t>(probability / of_row[order[0]] * 40);
      std::printf("%5s  %5zu  %.8f  %s\n", i == 0 ? std::to_string(row).c_str() : "", order[i],
                  static_cast<double>(probability), std::string(length, '#').c_str());
    }
  }
  if (sizes[2] > kMaxRows) {
    std::printf("and %u more\n", sizes[2] - kMaxRows);
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
  const bool has_colors = sizes[1] == 3;
  const std::size_t plane = std::size_t{sizes[2]} * sizes[3];
  const float white = white_of(image);
  std::string bytes;
  for (std::size_t pixel = 0; pixel < plane; ++pixel) {
    for (std::size_t channel = 0; channel < (has_colors ? 3 : 1); ++channel) {
      bytes += static_cast<char>(level_of(image[channel * plane + pixel], white));
    }
  }
  std::ofstream file(path, std::ios::binary);
  file << (has_colors ? "P6\n" : "P5\n") << sizes[3] << ' ' << sizes[2] << "\n255\n" << bytes;
  if (!file.flush()) {
    throw std::runtime_error(path + " cannot be written");
  }
}

}  // namespace networks
