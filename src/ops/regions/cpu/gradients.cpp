// SPDX-License-Identifier: MIT
// ROI_ALIGN_GRAD on the CPU. Two threads never add to the same element. For the image gradient, a unit of work consists
// of some rows of some channels of a batch, and all regions are added to it in order. For the box gradient, a unit is
// the box of one region.
#include <algorithm>
#include <cstdio>
#include <type_traits>

#include "base/integers.h"
#include "ops/regions/cpu/kernels.h"

namespace anydml {
namespace {

constexpr std::int64_t kUnitChannels = 8;
constexpr std::int64_t kUnitBytes = 512 << 10;  // approximate size of the sums

// ---- Image gradient -------------------------------------------------------------------------------------------------

struct ImageRoom {
  explicit ImageRoom(const RegionStep& step) {
    const RegionAxis& columns = step.axes[1];
    channels = std::min(kUnitChannels, step.channels);
    const std::int64_t row = channels * columns.size * static_cast<std::int64_t>(sizeof(f32));
    rows = std::clamp<std::int64_t>(kUnitBytes / row, 1, step.axes[0].size);
    elements = room.take(max_region_elements(columns) * static_cast<std::int64_t>(sizeof(RegionElement)));
    ends = room.take(columns.bins * static_cast<std::int64_t>(sizeof(std::int64_t)));
    shares = room.take(channels * columns.bins * static_cast<std::int64_t>(sizeof(f32)));
    sums = room.take(rows * row);
  }
  RegionRoom room;
  std::int64_t channels;  // per unit
  std::int64_t rows;
  std::size_t elements;
  std::size_t ends;
  std::size_t shares;
  std::size_t sums;
};

template <class T>
class ImageGradient final : public cpu::PreparedStep {
 public:
  ImageGradient(const RegionStep& step, const ImageRoom& room)
      : PreparedStep(static_cast<std::uint64_t>(step.batches * ceil_div(step.channels, room.channels) *
                                                ceil_div(step.axes[0].size, room.rows)),
                     1, room.room.bytes()),
        step_(step),
        room_(room) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const auto number = static_cast<std::int64_t>(piece.number);
    const std::int64_t bands = ceil_div(step_.axes[0].size, room_.rows);
    const std::int64_t blocks = ceil_div(step_.channels, room_.channels);
    Unit unit{};
    unit.batch = number / bands / blocks;
    unit.channel = number / bands % blocks * room_.channels;
    unit.channels = std::min(room_.channels, step_.channels - unit.channel);
    unit.row = number % bands * room_.rows;
    unit.rows = std::min(room_.rows, step_.axes[0].size - unit.row);
    unit.sums = reinterpret_cast<f32*>(piece.scratch + room_.sums);
    std::fill_n(unit.sums, unit.channels * unit.rows * step_.axes[1].size, 0.0F);
    for (std::int64_t region = 0; region < step_.regions; ++region) {
      if (batch_of(step_, operands[2], region) != unit.batch) {
        continue;
      }
      const RegionSamples rows = row_samples<T>(step_, operands[1], region);
      const RegionSamples columns = column_samples<T>(step_, operands[1], region);
      const std::byte* const bins = operands[3] + region * step_.bins[0] + unit.channel * step_.bins[1];
      if (step_.is_max != 0) {
        add_peaks(unit, rows, columns, bins, operands[0]);
      } else {
        add_averages(unit, rows, columns, bins, piece.scratch);
      }
    }
    store(unit, operands[4]);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "gradient of the image, %lld rows of %lld channels at a time",
                  static_cast<long long>(room_.rows), static_cast<long long>(room_.channels));
  }

 private:
  struct Unit {
    std::int64_t batch;
    std::int64_t channel;  // the first channel
    std::int64_t channels;
    std::int64_t row;  // the first row
    std::int64_t rows;
    f32* sums;
  };

  // A row of the unit's sums, or null if the row is not in the unit.
  [[nodiscard]] f32* row_of(const Unit& unit, std::int64_t channel, std::int64_t row) const {
    return row < unit.row || row >= unit.row + unit.rows
               ? nullptr
               : unit.sums + (channel * unit.rows + row - unit.row) * step_.axes[1].size;
  }

  void add_averages(const Unit& unit, const RegionSamples& rows, const RegionSamples& columns, const std::byte* bins,
                    std::byte* scratch) const {
    auto* const elements = reinterpret_cast<RegionElement*>(scratch + room_.elements);
    auto* const ends = reinterpret_cast<std::int64_t*>(scratch + room_.ends);
    auto* const shares = reinterpret_cast<f32*>(scratch + room_.shares);
    const std::int64_t width = step_.axes[1].bins;
    const auto samples = static_cast<f32>(rows.count() * columns.count());
    std::int64_t count = 0;
    for (std::int64_t x = 0; x < width; ++x) {
      columns.for_each_element(x, columns.inside(x), [&](i64 column, f32 weight) {
        elements[count++] = {column, weight};
      });
      ends[x] = count;
    }
    for (std::int64_t y = 0; count > 0 && y < step_.axes[0].bins; ++y) {
      bool is_loaded = false;
      rows.for_each_element(y, rows.inside(y), [&](i64 row, f32 weight) {
        if (row_of(unit, 0, row) == nullptr) {
          return;
        }
        for (std::int64_t n = 0; !is_loaded && n < unit.channels * width; ++n) {
          shares[n] =
              load_wide<T>(bins + n / width * step_.bins[1] + y * step_.bins[2] + n % width * step_.bins[3]) / samples;
        }
        is_loaded = true;
        for (std::int64_t c = 0; c < unit.channels; ++c) {
          f32* const to = row_of(unit, c, row);
          std::int64_t at = 0;
          for (std::int64_t x = 0; x < width; ++x) {
            const f32 share = shares[c * width + x] * weight;
            for (; at < ends[x]; ++at) {
              to[elements[at].offset] += share * elements[at].weight;
            }
          }
        }
      });
    }
  }

  void add_peaks(const Unit& unit, const RegionSamples& rows, const RegionSamples& columns, const std::byte* bins,
                 const std::byte* image) const {
    for (std::int64_t c = 0; c < unit.channels; ++c) {
      const RegionPlane<T> plane{image + unit.batch * step_.image[0] + (unit.channel + c) * step_.image[1],
                                 step_.image[2], step_.image[3]};
      for (std::int64_t y = 0; y < step_.axes[0].bins; ++y) {
        for (std::int64_t x = 0; x < step_.axes[1].bins; ++x) {
          const RegionPeak peak = find_region_peak(rows, columns, y, x, plane);
          if (peak.exists) {
            const f32 gradient = load_wide<T>(bins + c * step_.bins[1] + y * step_.bins[2] + x * step_.bins[3]);
            add_peak(unit, c, rows.tap(y, peak.numbers[0]), columns.tap(x, peak.numbers[1]), gradient);
          }
        }
      }
    }
  }

  void add_peak(const Unit& unit, std::int64_t channel, const RegionTap& y, const RegionTap& x, f32 gradient) const {
    for (const std::int64_t i : {0, 1}) {
      const f32 weight = i == 0 ? 1.0F - y.second : y.second;
      f32* const to = weight != 0.0F ? row_of(unit, channel, y.first + i) : nullptr;
      if (to == nullptr) {
        continue;
      }
      to[x.first] += gradient * weight * (1.0F - x.second);
      if (x.second != 0.0F) {
        to[x.first + 1] += gradient * weight * x.second;
      }
    }
  }

  void store(const Unit& unit, std::byte* to) const {
    to += unit.batch * step_.result[0] + unit.channel * step_.result[1] + unit.row * step_.result[2];
    const std::int64_t size = step_.axes[1].size;
    const f32* from = unit.sums;
    for (std::int64_t c = 0; c < unit.channels; ++c) {
      for (std::int64_t row = 0; row < unit.rows; ++row, from += size) {
        std::byte* const at = to + c * step_.result[1] + row * step_.result[2];
        if (std::is_same_v<T, f32> && step_.result[3] == static_cast<std::int64_t>(sizeof(f32))) {
          std::memcpy(at, from, static_cast<std::size_t>(size) * sizeof(f32));
          continue;
        }
        for (std::int64_t i = 0; i < size; ++i) {
          store_narrow<T>(at + i * step_.result[3], from[i]);
        }
      }
    }
  }

  RegionStep step_;
  ImageRoom room_;
};

// ---- Box gradient ---------------------------------------------------------------------------------------------------

template <class T>
class BoxGradient final : public cpu::PreparedStep {
 public:
  explicit BoxGradient(const RegionStep& step) : PreparedStep(static_cast<std::uint64_t>(step.regions)), step_(step) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const auto region = static_cast<std::int64_t>(piece.number);
    const std::int64_t batch = batch_of(step_, operands[2], region);
    f32 lanes[kRegionLanes][4] = {};
    if (batch >= 0) {
      const RegionSamples rows = row_samples<T>(step_, operands[1], region);
      const RegionSamples columns = column_samples<T>(step_, operands[1], region);
      for (std::int64_t c = 0; c < step_.channels; ++c) {
        const RegionPlane<T> plane{operands[0] + batch * step_.image[0] + c * step_.image[1], step_.image[2],
                                   step_.image[3]};
        const std::byte* const bins = operands[3] + region * step_.bins[0] + c * step_.bins[1];
        for (std::int64_t y = 0; y < step_.axes[0].bins; ++y) {
          for (std::int64_t x = 0; x < step_.axes[1].bins; ++x) {
            const i64 coordinates[2] = {y, x};
            add_bin_gradient(rows, columns, coordinates, step_.is_max != 0,
                             load_wide<T>(bins + y * step_.bins[2] + x * step_.bins[3]), plane,
                             lanes[c % kRegionLanes]);
          }
        }
      }
    }
    for (std::int64_t half = kRegionLanes / 2; half > 0; half /= 2) {
      for (std::int64_t lane = 0; lane < half; ++lane) {
        for (std::int64_t i = 0; i < 4; ++i) {
          lanes[lane][i] += lanes[lane + half][i];
        }
      }
    }
    for (std::int64_t i = 0; i < 4; ++i) {
      store_narrow<T>(operands[4] + region * step_.result[0] + i * step_.result[1],
                      lanes[0][i] * step_.axes[i % 2 == 0 ? 1 : 0].scale);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "gradient of the boxes");
  }

 private:
  RegionStep step_;
};

template <class T>
std::unique_ptr<cpu::PreparedStep> prepare(const RegionStep& step) {
  if (step.kind == RegionKind::region_gradient) {
    return std::make_unique<BoxGradient<T>>(step);
  }
  return std::make_unique<ImageGradient<T>>(step, ImageRoom(step));
}

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_region_gradients(const RegionStep& step, const cpu::StepContext&) {
  return step.type == DataType::FLOAT16 ? prepare<f16>(step) : prepare<f32>(step);
}

}  // namespace anydml
