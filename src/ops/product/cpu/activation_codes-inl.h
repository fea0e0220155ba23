// SPDX-License-Identifier: MIT
// The codes of a row of activations, eight numbers at a time. This file is included once for each set of instructions,
// after these have been defined, and it therefore has no include guard:
//
//   Eight                   eight integers
//   no_integers()
//   larger(x, numbers)      x, or the bits of the magnitude of a number where they are larger
//   codes_of(numbers, factor)
//   add(x, y)
//   largest_of(x), sum_of(x)
//   store_codes(to, codes)  as bytes, those with even positions first
// NOLINTBEGIN(misc-definitions-in-headers)

void make_codes(const CodedForm& form, const f32* numbers, const ActivationRow& row) noexcept {
  const std::int64_t blocks = form.blocks();
  const std::int64_t depth = form.depth;
  const std::int64_t in_block = form.block;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t first = block * in_block;  // a multiple of eight
    const std::int64_t end = depth - first < in_block ? depth : first + in_block;
    const std::int64_t whole = end / kCodesOfWord * kCodesOfWord;
    Eight largest = no_integers();
    for (std::int64_t k = first; k < whole; k += kCodesOfWord) {
      largest = larger(largest, numbers + k);
    }
    const u32 magnitude = largest_in_rest(numbers, whole, end, largest_of(largest));
    const f32 factor = activation_factor(magnitude);
    row.scales[block] = activation_scale(magnitude);
    if (factor == 0) {
      std::memset(row.codes + first, 0, static_cast<std::size_t>(ceil_div(end - first, kCodesOfWord) * kCodesOfWord));
      row.sums[block] = 0;
      continue;
    }
    Eight sums = no_integers();
    for (std::int64_t k = first; k < whole; k += kCodesOfWord) {
      const Eight codes = codes_of(numbers + k, factor);
      sums = add(sums, codes);
      store_codes(row.codes + k, codes);
    }
    row.sums[block] = sum_of(sums) + make_rest(numbers, whole, end, factor, row);
  }
}
// NOLINTEND(misc-definitions-in-headers)
