// SPDX-License-Identifier: MIT
// ROI_ALIGN on the CPU. A unit of work consists of some channels of a region, which share the positions and weights of
// the samples. An average is a weighted sum over the image elements that contribute to a bin's samples; each row of the
// image is loaded for a whole row of bins. For a maximum, the value of each sample is computed.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <type_traits>

#include "ops/regions/cpu/kernels.h"

namespace anydml {
namespace {

constexpr std::int64_t kUnitChannels = 32;
static_assert(kUnitChannels % kRegionChannels == 0);

struct Unit {
  std::int64_t region;
  std::int64_t channel;  // the first channel
  std::int64_t channels;
};

template <class T>
class Aligning : public cpu::PreparedStep {
 public:
  Aligning(const RegionStep& step, const RegionCut& cut, std::size_t scratch)
      : PreparedStep(cut.pieces(), 1, scratch), step_(step), cut_(cut) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept final {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * cut_.units_of_piece;
    for (std::int64_t n = first; n < std::min(cut_.units, first + cut_.units_of_piece); ++n) {
      // Process all regions of some channels before the next channels, so that these channels stay in the cache.
      const std::int64_t channel = n / step_.regions * kUnitChannels;
      const Unit unit{n % step_.regions, channel, std::min(kUnitChannels, step_.channels - channel)};
      std::byte* const to = operands[3] + unit.region * step_.bins[0] + unit.channel * step_.bins[1];
      const std::int64_t batch = batch_of(step_, operands[2], unit.region);
      if (batch < 0) {
        fill(unit, to);
        continue;
      }
      const std::byte* const from = operands[0] + batch * step_.image[0] + unit.channel * step_.image[1];
      align(unit, row_samples<T>(step_, operands[1], unit.region), column_samples<T>(step_, operands[1], unit.region),
            from, to, piece.scratch);
    }
  }

 protected:
  virtual void align(const Unit& unit, const RegionSamples& rows, const RegionSamples& columns, const std::byte* from,
                     std::byte* to, std::byte* scratch) const noexcept = 0;

  RegionStep step_;

 private:
  // Fills the bins of a region that has no batch.
  void fill(const Unit& unit, std::byte* to) const {
    for (std::int64_t c = 0; c < unit.channels; ++c) {
      for (std::int64_t y = 0; y < step_.axes[0].bins; ++y) {
        for (std::int64_t x = 0; x < step_.axes[1].bins; ++x) {
          store_narrow<T>(to + c * step_.bins[1] + y * step_.bins[2] + x * step_.bins[3], step_.outside);
        }
      }
    }
  }

  RegionCut cut_;
};

// ---- Averages -------------------------------------------------------------------------------------------------------

// The layout of the scratch memory.
struct AverageRoom {
  explicit AverageRoom(const RegionStep& step) {
    const RegionAxis& columns = step.axes[1];
    elements = room.take(max_region_elements(columns) * static_cast<std::int64_t>(sizeof(RegionElement)));
    ends = room.take(columns.bins * static_cast<std::int64_t>(sizeof(std::int64_t)));
    inside = room.take(columns.bins * static_cast<std::int64_t>(sizeof(std::int64_t)));
    sums = room.take(kUnitChannels * columns.bins * static_cast<std::int64_t>(sizeof(f32)));
    wide = step.type == DataType::FLOAT16
               ? room.take(kRegionChannels * columns.size * static_cast<std::int64_t>(sizeof(f32)))
               : 0;
  }
  RegionRoom room;
  std::size_t elements;
  std::size_t ends;
  std::size_t inside;
  std::size_t sums;
  std::size_t wide;
};

template <class T>
class Averages final : public Aligning<T> {
 public:
  Averages(const RegionStep& step, const RegionCut& cut, const AverageRoom& room, cpu::Target target)
      : Aligning<T>(step, cut, room.room.bytes()), room_(room), kernels_(region_kernels(target)), target_(target) {}

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "averages of samples, %s kernel", cpu::target_name(target_));
  }

 protected:
  void align(const Unit& unit, const RegionSamples& rows, const RegionSamples& columns, const std::byte* from,
             std::byte* to, std::byte* scratch) const noexcept override {
    const RegionStep& step = this->step_;
    const std::int64_t bins = step.axes[1].bins;
    auto* const elements = reinterpret_cast<RegionElement*>(scratch + room_.elements);
    auto* const ends = reinterpret_cast<std::int64_t*>(scratch + room_.ends);
    auto* const inside = reinterpret_cast<std::int64_t*>(scratch + room_.inside);
    auto* const sums = reinterpret_cast<f32*>(scratch + room_.sums);
    auto* const wide = reinterpret_cast<f32*>(scratch + room_.wide);
    const Span span = find_columns(columns, elements, ends, inside);
    for (std::int64_t y = 0; y < step.axes[0].bins; ++y) {
      const RegionRange range = rows.inside(y);
      bool begins = true;
      if (span.count > 0) {
        rows.for_each_element(y, range, [&](i64 row, f32 weight) {
          add_channels(unit, {elements, ends, bins}, span, from + row * step.image[2], weight, begins, wide, sums);
          begins = false;
        });
      }
      for (std::int64_t c = 0; c < unit.channels; ++c) {
        const f32* const of = sums + c / kRegionChannels * kRegionChannels * bins + c % kRegionChannels;
        for (std::int64_t x = 0; x < bins; ++x) {
          store_narrow<T>(to + c * step.bins[1] + y * step.bins[2] + x * step.bins[3],
                          region_average(of[x * kRegionChannels], range.count() * inside[x],
                                         rows.count() * columns.count(), step.outside));
        }
      }
    }
  }

 private:
  // The range of image columns from the first needed column to the last.
  struct Span {
    std::int64_t first;
    std::int64_t count;
  };

  Span find_columns(const RegionSamples& columns, RegionElement* elements, std::int64_t* ends,
                    std::int64_t* inside) const {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = -1;
    std::int64_t count = 0;
    for (std::int64_t x = 0; x < this->step_.axes[1].bins; ++x) {
      const RegionRange range = columns.inside(x);
      columns.for_each_element(x, range, [&](i64 column, f32 weight) {
        elements[count++] = {column, weight};
        first = std::min(first, column);
        last = std::max(last, column);
      });
      ends[x] = count;
      inside[x] = range.count();
    }
    // FLOAT16 elements are widened to a row of floats that starts with the first element of the span.
    for (std::int64_t i = 0; i < count; ++i) {
      elements[i].offset = std::is_same_v<T, f16>
                               ? (elements[i].offset - first) * static_cast<std::int64_t>(sizeof(f32))
                               : elements[i].offset * this->step_.image[3];
    }
    return {first, last < 0 ? 0 : last - first + 1};
  }

  // Adds a row of the image to the sums of the unit's channels.
  void add_channels(const Unit& unit, const RegionColumns& columns, const Span& span, const std::byte* row, f32 weight,
                    bool begins, f32* wide, f32* sums) const {
    const std::int64_t stride = this->step_.image[1];
    for (std::int64_t c = 0; c < unit.channels; c += kRegionChannels) {
      const std::int64_t channels = std::min(kRegionChannels, unit.channels - c);
      const std::byte* at = row + c * stride;
      std::int64_t apart = stride;
      if constexpr (std::is_same_v<T, f16>) {
        for (std::int64_t i = 0; i < channels; ++i) {
          widen_span(at + i * stride, span, wide + i * span.count);
        }
        at = reinterpret_cast<const std::byte*>(wide);
        apart = span.count * static_cast<std::int64_t>(sizeof(f32));
      }
      f32* const to = sums + c * columns.bins;
      if (channels == kRegionChannels) {
        (apart == sizeof(f32) ? kernels_.add_contiguous : kernels_.add_rows)(columns, at, apart, weight, begins, to);
        continue;
      }
      for (std::int64_t i = 0; i < channels; ++i) {
        kernels_.add_row(columns, at + i * apart, apart, weight, begins, to + i);
      }
    }
  }

  void widen_span(const std::byte* row, const Span& span, f32* to) const {
    const std::int64_t stride = this->step_.image[3];
    if (stride == sizeof(f16)) {
      kernels_.widen(row + span.first * stride, span.count, to);
      return;
    }
    for (std::int64_t i = 0; i < span.count; ++i) {
      to[i] = load_wide<f16>(row + (span.first + i) * stride);
    }
  }

  AverageRoom room_;
  RegionKernels kernels_;
  cpu::Target target_;
};

// ---- Maxima ---------------------------------------------------------------------------------------------------------

template <class T>
class Maxima final : public Aligning<T> {
 public:
  Maxima(const RegionStep& step, const RegionCut& cut) : Aligning<T>(step, cut, 0) {}

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "maxima of samples");
  }

 protected:
  void align(const Unit& unit, const RegionSamples& rows, const RegionSamples& columns, const std::byte* from,
             std::byte* to, std::byte*) const noexcept override {
    const RegionStep& step = this->step_;
    for (std::int64_t y = 0; y < step.axes[0].bins; ++y) {
      const RegionRange in_rows = rows.inside(y);
      for (std::int64_t x = 0; x < step.axes[1].bins; ++x) {
        const RegionRange in_columns = columns.inside(x);
        f32 maxima[kUnitChannels];
        std::fill_n(maxima, kUnitChannels, -std::numeric_limits<f32>::infinity());
        for (std::int64_t i = in_rows.first; i < in_rows.end; ++i) {
          const RegionTap row = rows.tap(y, i);
          for (std::int64_t j = in_columns.first; j < in_columns.end; ++j) {
            const RegionTap column = columns.tap(x, j);
            for (std::int64_t c = 0; c < unit.channels; ++c) {
              const RegionPlane<T> plane{from + c * step.image[1], step.image[2], step.image[3]};
              maxima[c] = greater_of(maxima[c], region_sample(row, column, plane));
            }
          }
        }
        for (std::int64_t c = 0; c < unit.channels; ++c) {
          store_narrow<T>(to + c * step.bins[1] + y * step.bins[2] + x * step.bins[3],
                          region_max(maxima[c], in_rows.count() * in_columns.count(), rows.count() * columns.count(),
                                     step.outside));
        }
      }
    }
  }
};

template <class T>
std::unique_ptr<cpu::PreparedStep> prepare(const RegionStep& step, const cpu::StepContext& context) {
  constexpr double kCostOfBin = 16;  // approximately, in image elements
  const std::int64_t blocks = (step.channels + kUnitChannels - 1) / kUnitChannels;
  const auto bins = static_cast<double>(step.axes[0].bins) * static_cast<double>(step.axes[1].bins);
  const RegionCut cut =
      cut_regions(step.regions * blocks,
                  bins * kCostOfBin * static_cast<double>(std::min(kUnitChannels, step.channels)), context.threads);
  if (step.is_max != 0) {
    return std::make_unique<Maxima<T>>(step, cut);
  }
  return std::make_unique<Averages<T>>(step, cut, AverageRoom(step), context.target);
}

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_region_align(const RegionStep& step, const cpu::StepContext& context) {
  return step.type == DataType::FLOAT16 ? prepare<f16>(step, context) : prepare<f32>(step, context);
}

}  // namespace anydml
