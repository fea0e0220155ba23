// SPDX-License-Identifier: MIT
// The loop over words of codes, for vectors of one width. This file is included once for each set of instructions,
// after these have been defined, and it therefore has no include guard:
//
//   Vector, Floats, kColumns     integers and floats, one for each column
//   load, low_half, high_half    words; the codes in the low and in the high halves of their bytes
//   in_all_lanes                 four codes of activations, in each lane
//   add_dots(sum, weights, codes)
//   subtract_product(sum, x, y)  sum - x * y
//   load_scales, load_zeros      of the columns of a vector
//   add_block(total, sum, factor)
// NOLINTBEGIN(misc-definitions-in-headers)

template <std::size_t kRows, std::size_t kCount>
ANYDML_INLINE void multiply_vectors(const CodedForm& form, const ActivationRow* rows, const CodedPanel& panel,
                                    std::int64_t column, f32* totals, std::int64_t totals_step) {
  const std::int64_t width = form.width;
  const auto* words = reinterpret_cast<const u32*>(panel.codes) + column;
  Floats sums_of_blocks[kRows * kCount];
  ANYDML_ALL
  for (std::size_t i = 0; i < kRows * kCount; ++i) {
    sums_of_blocks[i] = no_floats();
  }
  const std::int64_t blocks = form.blocks();
  const std::int64_t last = ceil_div(form.depth, kCodesOfWord);
  const std::int64_t of_block = form.block < form.depth ? form.block / kCodesOfWord : last;
  for (std::int64_t block = 0, group = 0; block < blocks; ++block) {
    Vector sums[kRows * kCount];
    ANYDML_ALL
    for (std::size_t i = 0; i < kRows * kCount; ++i) {
      sums[i] = in_all_lanes(0);
    }
    const std::int64_t end = group + of_block < last ? group + of_block : last;
    for (; group < end; ++group, words += width) {
      Vector even[kRows];
      Vector odd[kRows];
      ANYDML_ALL
      for (std::size_t row = 0; row < kRows; ++row) {
        int four[2];
        std::memcpy(four, rows[row].codes + group * kCodesOfWord, sizeof(four));
        even[row] = in_all_lanes(four[0]);
        odd[row] = in_all_lanes(four[1]);
      }
      ANYDML_ALL
      for (std::size_t i = 0; i < kCount; ++i) {
        const Vector eight = load(words + i * kColumns);
        const Vector low = low_half(eight);
        const Vector high = high_half(eight);
        ANYDML_ALL
        for (std::size_t row = 0; row < kRows; ++row) {
          sums[row * kCount + i] = add_dots(sums[row * kCount + i], low, even[row]);
          sums[row * kCount + i] = add_dots(sums[row * kCount + i], high, odd[row]);
        }
      }
    }
    ANYDML_ALL
    for (std::size_t i = 0; i < kCount; ++i) {
      const std::int64_t at = block * width + column + static_cast<std::int64_t>(i * kColumns);
      const Floats scales = load_scales(form, panel.scales, at);
      const Vector zeros = form.has_zeros != 0 ? load_zeros(panel.zeros + at) : in_all_lanes(form.zero);
      ANYDML_ALL
      for (std::size_t row = 0; row < kRows; ++row) {
        const std::size_t one = row * kCount + i;
        const Vector sum = subtract_product(sums[one], in_all_lanes(rows[row].sums[block]), zeros);
        sums_of_blocks[one] = add_block(sums_of_blocks[one], sum, times(scales, rows[row].scales[block]));
      }
    }
  }
  ANYDML_ALL
  for (std::size_t i = 0; i < kRows * kCount; ++i) {
    store(totals + static_cast<std::int64_t>(i / kCount) * totals_step + i % kCount * kColumns, sums_of_blocks[i]);
  }
}

template <std::size_t kRows>
void multiply_codes(const CodedForm& form, const ActivationRow* rows, const std::byte* packed, std::int64_t column,
                    std::int64_t columns, f32* totals, std::int64_t totals_step) noexcept {
  constexpr std::size_t kCount = kVectorsOfRows[kRows - 1];
  constexpr auto kStep = static_cast<std::int64_t>(kCount * kColumns);
  for (std::int64_t from = 0; from < columns; from += form.width) {
    const CodedPanel panel = coded_panel(form, packed, (column + from) / form.width);
    for (std::int64_t in_panel = 0; in_panel < form.width; in_panel += kStep) {
      multiply_vectors<kRows, kCount>(form, rows, panel, in_panel, totals + from + in_panel, totals_step);
    }
  }
}
// NOLINTEND(misc-definitions-in-headers)
