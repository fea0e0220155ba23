// SPDX-License-Identifier: MIT
// The gradient of max pooling on the CPU. A piece of work is a band of a plane of the output gradient. It visits the
// windows that may reach the band, in row-major order, and adds the elements whose index is in the band, so the order
// of additions does not depend on how planes are split.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/pool/cpu/kernels.h"
#include "ops/pool/scalar/pool.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kPiecesOfThread = 4;
constexpr std::int64_t kMinOfBand = 4096;  // in elements
constexpr std::int64_t kMaxOfBand = 1 << 18;
constexpr std::int64_t kMaxOfScratch = 1 << 20;

struct MaxGradientCut {
  std::int64_t planes;
  std::int64_t plane;  // in elements
  std::int64_t slice;  // elements at one position along the first axis
  std::int64_t band;
  std::int64_t bands;
  bool is_packed;  // planes are contiguous FLOAT32, so sums are computed in the output itself
};

MaxGradientCut make_cut(const PoolStep& step, std::int64_t threads) {
  MaxGradientCut cut{};
  cut.planes = step.batch.input * step.channel.input;
  cut.plane = 1;
  cut.is_packed = step.type == DataType::FLOAT32;
  for (std::uint32_t i = step.rank; i-- > 0;) {
    const PoolAxis& axis = step.axes[i];
    cut.is_packed = cut.is_packed && (axis.input == 1 || axis.input_step == cut.plane * std::int64_t{sizeof(f32)});
    cut.slice = cut.plane;
    cut.plane *= axis.input;
  }
  const std::int64_t wanted = ceil_div(kPiecesOfThread * threads, cut.planes);  // number of bands
  cut.band = std::clamp(ceil_div(cut.plane, wanted), kMinOfBand, kMaxOfBand);
  cut.band = ceil_div(cut.band, cut.slice) * cut.slice;  // even a part of a slice would visit all of its windows
  cut.band = std::min({cut.band, kMaxOfScratch, cut.plane});
  cut.bands = ceil_div(cut.plane, cut.band);
  return cut;
}

class MaxGradient final : public cpu::PreparedStep {
 public:
  MaxGradient(const PoolStep& step, const MaxGradientCut& cut)
      : PreparedStep(static_cast<std::uint64_t>(cut.planes * cut.bands), 1,
                     static_cast<std::size_t>(cut.band) * sizeof(f32)),
        step_(step),
        cut_(cut) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const auto plane = static_cast<std::int64_t>(piece.number) / cut_.bands;
    const std::int64_t first = static_cast<std::int64_t>(piece.number) % cut_.bands * cut_.band;
    const Band band{.plane = plane, .first = first, .count = std::min(cut_.band, cut_.plane - first)};
    const std::int64_t channel = plane % step_.channel.input;
    const std::int64_t batch = plane / step_.channel.input;
    const auto of_plane = [&](std::byte* operand, std::int64_t PoolAxis::*stride) {
      return operand + channel * (step_.channel.*stride) + batch * (step_.batch.*stride);
    };
    const std::byte* const indices = of_plane(operands[0], &PoolAxis::index_step);
    const std::byte* const from = of_plane(operands[1], &PoolAxis::output_step);
    std::byte* const to = of_plane(operands[2], &PoolAxis::input_step);
    const bool is_in_place = cut_.is_packed && reinterpret_cast<std::uintptr_t>(to) % sizeof(f32) == 0;
    f32* const sums = reinterpret_cast<f32*>(is_in_place ? to + first * std::int64_t{sizeof(f32)} : piece.scratch);
    std::fill_n(sums, band.count, 0.0F);
    const bool is_wide = step_.index_type == DataType::UINT64;
    if (step_.type == DataType::FLOAT16) {
      is_wide ? add<f16, u64>(band, indices, from, sums) : add<f16, u32>(band, indices, from, sums);
    } else {
      is_wide ? add<f32, u64>(band, indices, from, sums) : add<f32, u32>(band, indices, from, sums);
    }
    if (is_in_place) {
      return;
    }
    if (step_.type == DataType::FLOAT16) {
      store<f16>(band, sums, to);
    } else {
      store<f32>(band, sums, to);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "added by indices, %lld bands of a plane", static_cast<long long>(cut_.bands));
  }

 private:
  // A range of elements of a plane of the output gradient, in row-major order.
  struct Band {
    std::int64_t plane;
    std::int64_t first;
    std::int64_t count;
  };

  template <class T, class Index>
  void add(const Band& band, const std::byte* indices, const std::byte* from, f32* sums) const noexcept {
    const PoolAxis& axis = step_.axes[0];
    const PoolAxis& last = step_.axes[step_.rank - 1];
    const PoolWindows begin = pool_windows(axis, band.first / cut_.slice);
    const PoolWindows end = pool_windows(axis, (band.first + band.count - 1) / cut_.slice);
    const auto origin = static_cast<u64>(band.plane * cut_.plane + band.first);
    const auto count = static_cast<u64>(band.count);
    std::int64_t rows = 1;  // rows of windows, over all axes but the last
    for (std::uint32_t i = 0; i + 1 < step_.rank; ++i) {
      rows *= i == 0 ? std::max<std::int64_t>(0, end.end - begin.first) : step_.axes[i].output;
    }
    const std::int64_t columns_first = step_.rank == 1 ? begin.first : 0;
    const std::int64_t columns_end = step_.rank == 1 ? end.end : last.output;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::byte* index = indices;
      const std::byte* element = from;
      std::int64_t rest = row;
      for (std::uint32_t i = step_.rank - 1; i-- > 0;) {
        const std::int64_t size = i == 0 ? end.end - begin.first : step_.axes[i].output;
        const std::int64_t coordinate = rest % size + (i == 0 ? begin.first : 0);
        rest /= size;
        index += coordinate * step_.axes[i].index_step;
        element += coordinate * step_.axes[i].output_step;
      }
      for (std::int64_t column = columns_first; column < columns_end; ++column) {
        Index number;
        std::memcpy(&number, index + column * last.index_step, sizeof(number));
        const u64 at = u64{number} - origin;
        if (at < count) {
          T value;
          std::memcpy(&value, element + column * last.output_step, sizeof(value));
          sums[at] = sums[at] + widen(value);
        }
      }
    }
  }

  template <class T>
  void store(const Band& band, const f32* sums, std::byte* to) const noexcept {
    std::int64_t coordinates[kPoolAxes];
    std::int64_t rest = band.first;
    for (std::uint32_t i = step_.rank; i-- > 0; rest /= step_.axes[i].input) {
      coordinates[i] = rest % step_.axes[i].input;
      to += coordinates[i] * step_.axes[i].input_step;
    }
    for (std::int64_t n = 0; n < band.count; ++n) {
      const T element = narrow<T>(sums[n]);
      std::memcpy(to, &element, sizeof(element));
      for (std::uint32_t i = step_.rank; i-- > 0;) {
        to += step_.axes[i].input_step;
        if (++coordinates[i] < step_.axes[i].input) {
          break;
        }
        to -= coordinates[i] * step_.axes[i].input_step;
        coordinates[i] = 0;
      }
    }
  }

  PoolStep step_;
  MaxGradientCut cut_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_max_gradient(const PoolStep& step, std::int64_t threads) {
  return std::make_unique<MaxGradient>(step, make_cut(step, threads));
}

}  // namespace anydml
