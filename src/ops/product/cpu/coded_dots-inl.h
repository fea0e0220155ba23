// SPDX-License-Identifier: MIT
// The loop over words of codes, for vectors of one width. This file is included once for each set of instructions,
// after these have been defined, and it therefore has no include guard:
//
//   Vector, Floats, kColumns     integers and floats, one for each column
//   load, low_half, high_half    words; the codes in the low and in the high halves of their bytes
//   in_all_lanes                 an integer, in each lane
//   FourCodes, four_codes        four codes of activations, for add_dots
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
    // A zero point that all blocks share is subtracted from the beginning.
    Vector sums[kRows * kCount];
    ANYDML_ALL
    for (std::size_t i = 0; i < kRows * kCount; ++i) {
      sums[i] = in_all_lanes(form.has_zeros != 0 ? 0 : -form.zero * rows[i / kCount].sums[block]);
    }
    const std::int64_t end = group + of_block < last ? group + of_block : last;
    for (; group < end; ++group, words += width) {
      FourCodes even[kRows];
      FourCodes odd[kRows];
      ANYDML_ALL
      for (std::size_t row = 0; row < kRows; ++row) {
        even[row] = four_codes(rows[row].codes + group * kCodesOfWord);
        odd[row] = four_codes(rows[row].codes + group * kCodesOfWord + kCodesOfWord / 2);
      }
      ANYDML_ALL
      for (std::size_t i = 0; i < kCount; ++i) {
        prefetch_weights<sizeof(Vector)>(words, i);
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
      if (form.has_zeros != 0) {
        const Vector zeros = load_zeros(panel.zeros + at);
        ANYDML_ALL
        for (std::size_t row = 0; row < kRows; ++row) {
          Vector& sum = sums[row * kCount + i];
          sum = subtract_product(sum, in_all_lanes(rows[row].sums[block]), zeros);
        }
      }
      ANYDML_ALL
      for (std::size_t row = 0; row < kRows; ++row) {
        const std::size_t one = row * kCount + i;
        sums_of_blocks[one] = add_block(sums_of_blocks[one], sums[one], times(scales, rows[row].scales[block]));
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
