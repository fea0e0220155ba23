// SPDX-License-Identifier: MIT
// The kernels, compiled once per target and once as portable code. This file is included inside each namespace, so it
// has no include guard.

inline f32 load_float(const std::byte* at) {
  f32 value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// kStep: the distance between channels, or 0 if it is not known at compile time.
template <std::int64_t kChannels, std::int64_t kStep>
void add_row(const RegionColumns& columns, const std::byte* row, std::int64_t channel, f32 weight, bool begins,
             f32* sums) noexcept {
  const std::int64_t apart = kStep != 0 ? kStep : channel;
  std::int64_t at = 0;
  for (std::int64_t bin = 0; bin < columns.bins; ++bin, sums += kRegionChannels) {
    const std::int64_t end = columns.ends[bin];
    if (at == end) {
      continue;
    }
    f32 sum[static_cast<std::size_t>(kChannels)];
    const RegionElement& first = columns.elements[at];
    for (std::int64_t c = 0; c < kChannels; ++c) {
      sum[c] = load_float(row + first.offset + c * apart) * first.weight;
    }
    for (++at; at < end; ++at) {
      const RegionElement& element = columns.elements[at];
      for (std::int64_t c = 0; c < kChannels; ++c) {
        sum[c] += load_float(row + element.offset + c * apart) * element.weight;
      }
    }
    if (begins) {
      for (std::int64_t c = 0; c < kChannels; ++c) {
        sums[c] = sum[c] * weight;
      }
    } else {
      for (std::int64_t c = 0; c < kChannels; ++c) {
        sums[c] += sum[c] * weight;
      }
    }
  }
}

inline void raise(const std::byte* row, std::int64_t count, f32* maxima) noexcept {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    maxima[i] = greater_of(maxima[i], load_float(row + i * static_cast<std::int64_t>(sizeof(f32))));
  }
}

inline void widen_row(const std::byte* halves, std::int64_t count, f32* to) noexcept {
  widen_halves(halves, count, to);
}

inline RegionKernels find_kernels() {
  return {.add_rows = add_row<kRegionChannels, 0>,
          .add_contiguous = add_row<kRegionChannels, sizeof(f32)>,
          .add_row = add_row<1, 0>,
          .widen = widen_row,
          .raise = raise};
}
