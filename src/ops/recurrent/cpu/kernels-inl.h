// SPDX-License-Identifier: MIT
// The loops of recurrent networks for one target. This file is included inside a namespace, after halves-inl.h and the
// definition of kColumns, the number of columns that loops process together. The width of every panel is a multiple of
// kColumns. The file is included once per target, so it has no include guard.

void add_gate(const TileSize& size, const GateTerms& terms, f32* ANYDML_RESTRICT sums) noexcept {
  const GateSum sum{.has_peephole = terms.peephole != nullptr, .has_bias = terms.bias != nullptr};
  for (std::int64_t row = 0; row < size.rows; ++row) {
    for (std::int64_t first = 0; first < size.panel; first += kColumns) {
      const std::int64_t at = row * size.panel + first;
      const f32* const x = terms.x + at;
      f32* const to = sums + at;
      // Absent values are read from an arbitrary valid address and ignored.
      const f32* const peephole = sum.has_peephole ? terms.peephole + first : x;
      const f32* const cell = sum.has_peephole ? terms.cell + at : x;
      const f32* const bias = sum.has_bias ? terms.bias + first : x;
      if (sum.has_peephole) {
        ANYDML_INDEPENDENT
        for (std::int64_t i = 0; i < kColumns; ++i) {
          to[i] = sum(x[i], to[i], peephole[i], cell[i], bias[i]);
        }
      } else if (sum.has_bias) {
        ANYDML_INDEPENDENT
        for (std::int64_t i = 0; i < kColumns; ++i) {
          to[i] = GateSum{.has_peephole = false, .has_bias = true}(x[i], to[i], 0, 0, bias[i]);
        }
      } else {
        ANYDML_INDEPENDENT
        for (std::int64_t i = 0; i < kColumns; ++i) {
          to[i] = GateSum{.has_peephole = false, .has_bias = false}(x[i], to[i], 0, 0, 0);
        }
      }
    }
  }
}

void add_reset(const TileSize& size, const ResetTerms& terms, f32* ANYDML_RESTRICT sums) noexcept {
  const ResetSum sum{.has_bias = terms.wb != nullptr};
  for (std::int64_t row = 0; row < size.rows; ++row) {
    for (std::int64_t first = 0; first < size.panel; first += kColumns) {
      const std::int64_t at = row * size.panel + first;
      const f32* const x = terms.x + at;
      const f32* const reset = terms.reset + at;
      const f32* const wb = sum.has_bias ? terms.wb + first : x;
      const f32* const rb = sum.has_bias ? terms.rb + first : x;
      f32* const to = sums + at;
      ANYDML_INDEPENDENT
      for (std::int64_t i = 0; i < kColumns; ++i) {
        to[i] = sum(x[i], reset[i], to[i], wb[i], rb[i]);
      }
    }
  }
}

void clip(std::int64_t count, f32 threshold, f32* ANYDML_RESTRICT values) noexcept {
  const Clip<f32> clipped(clip_bounds(threshold));
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] = clipped.compute(values[i]);
  }
}

void next_cells(std::int64_t count, const f32* ANYDML_RESTRICT input, const f32* ANYDML_RESTRICT forget,
                const f32* ANYDML_RESTRICT candidate, const f32* ANYDML_RESTRICT cell,
                f32* ANYDML_RESTRICT to) noexcept {
  if (forget == nullptr) {
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = next_cell(1.0F - input[i], cell[i], input[i], candidate[i]);
    }
    return;
  }
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = next_cell(forget[i], cell[i], input[i], candidate[i]);
  }
}

void next_hiddens(std::int64_t count, const f32* ANYDML_RESTRICT update, const f32* ANYDML_RESTRICT candidate,
                  const f32* ANYDML_RESTRICT hidden, f32* ANYDML_RESTRICT to) noexcept {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = next_hidden(update[i], candidate[i], hidden[i]);
  }
}

void multiply(std::int64_t count, const f32* ANYDML_RESTRICT factors, f32* ANYDML_RESTRICT values) noexcept {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] = factors[i] * values[i];
  }
}

void narrow_row(const f32* from, std::int64_t count, std::byte* to) noexcept { narrow_halves(from, count, to); }
void widen_row(const std::byte* from, std::int64_t count, f32* to) noexcept { widen_halves(from, count, to); }

void round_halves(std::int64_t count, f32* values) noexcept {
  constexpr std::int64_t kTogether = 256;
  alignas(64) std::byte halves[kTogether * sizeof(u16)];
  for (std::int64_t first = 0; first < count; first += kTogether) {
    const std::int64_t some = count - first < kTogether ? count - first : kTogether;
    narrow_halves(values + first, some, halves);
    widen_halves(halves, some, values + first);
  }
}

void find_range(std::int64_t count, const f32* ANYDML_RESTRICT values, f32& lowest, f32& highest) noexcept {
  using Keys = Ordered<f32>;
  i32 low = Keys::kNan;
  i32 high = Keys::kMin;
  for (std::int64_t i = 0; i < count; ++i) {
    const i32 key = Keys::key(std::bit_cast<i32>(values[i]));
    low = key < low ? key : low;
    high = key > high ? key : high;
  }
  highest = std::bit_cast<f32>(Keys::element(high));
  lowest = high == Keys::kNan ? highest : std::bit_cast<f32>(Keys::element(low));
}

// Integers of one size at a time, because compilers vectorize such loops better.
ANYDML_FLATTENED u32 quantize(std::int64_t count, const f32* ANYDML_RESTRICT values, const StateScale& given,
                              u8* ANYDML_RESTRICT codes) noexcept {
  constexpr std::int64_t kTogether = 64;
  const StateScale scale = given;
  u32 sum = 0;
  std::int64_t first = 0;
  for (; first + kTogether <= count; first += kTogether) {
    u32 wide[kTogether];
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < kTogether; ++i) {
      wide[i] = static_cast<u32>(state_code(values[first + i], scale));
    }
    for (std::int64_t i = 0; i < kTogether; ++i) {
      sum += wide[i];
    }
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < kTogether; ++i) {
      codes[first + i] = static_cast<u8>(wide[i]);
    }
  }
  for (; first < count; ++first) {
    codes[first] = static_cast<u8>(state_code(values[first], scale));
    sum += codes[first];
  }
  return sum;
}

void finish_codes(const CodedTotals& given) noexcept {
  const CodedTotals of = given;
  for (std::int64_t gate = 0; gate < of.gates; ++gate) {
    const u32* const totals = of.totals + gate * of.totals_step;
    const auto* const sums = reinterpret_cast<const u32*>(of.column_sums + gate * of.column_sums_step);
    const f32* const scales = of.scales + gate * of.step;
    const u32* const zeros = of.zeros + gate * of.step;
    f32* const to = of.to + gate * of.to_step;
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < of.units; ++i) {
      const auto total = static_cast<i32>(totals[i] - of.zero * sums[i] - zeros[i] * of.rest);
      to[i] = scaled_total(total, float_factor(of.scale, scales[i]));
    }
  }
}

// Processes several elements at a time, so that compilers interleave the instructions of several vectors, which hides
// the latency of each chain. This is a separate function so that everything it calls is inlined.
template <class Of>
ANYDML_FLATTENED void run_function(std::int64_t count, f32* ANYDML_RESTRICT values) noexcept {
  const Of of;
  for (std::int64_t first = 0; first < count; first += kColumns) {
    f32* const some = values + first;
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < kColumns; ++i) {
      some[i] = static_cast<f32>(of.ordinary(some[i]));
    }
  }
}

constexpr RecurrentKernels kLoops = {.multiply_row = nullptr,
                                     .add_gate = add_gate,
                                     .add_reset = add_reset,
                                     .clip = clip,
                                     .next_cells = next_cells,
                                     .next_hiddens = next_hiddens,
                                     .multiply = multiply,
                                     .round_halves = round_halves,
                                     .narrow = narrow_row,
                                     .widen = widen_row,
                                     .find_range = find_range,
                                     .quantize = quantize,
                                     .finish_codes = finish_codes,
                                     .sigmoid = run_function<SigmoidOf>,
                                     .tanh = run_function<TanhOf>};
