// SPDX-License-Identifier: MIT
// What is measured: a case is a type, a row, a layout, a size and a kind of data.
#pragma once

#include <anydml/anydml.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operators.h"

namespace anydml::bench {

enum class Layout {
  tensor,       // tensor by tensor, packed
  scalar,       // the divisor (the last of several inputs) is one element, by stride 0
  dividend,     // the dividend (the first of one type) is one element
  row,          // the divisor is one row for all rows
  transposed,   // the divisor, or the only input, is walked down its columns
  stride2,      // every second element of the inputs
  stride2_all,  // and of the output
  rows7,        // rows of 7 elements, 8 apart, in all tensors
  rows1000,     // rows of 1,000 elements, 1,024 apart, in all tensors
  dims8,        // eight dimensions, 64 innermost, none of which can be merged
  inplace,      // the output is the dividend
  inner,        // a reduction along the rows
  outer,        // a reduction down the columns
  whole,        // a reduction to one element
};

struct Data {
  enum class Kind { ordinary, hard, gap };
  Kind kind = Kind::ordinary;
  int gap = 0;  // in binades, of kind gap

  bool operator==(const Data&) const = default;
};

struct Size {
  std::string name;        // "l1", or the number
  std::int64_t bytes = 0;  // of a tensor; 0: `elements` says it
  std::int64_t elements = 0;
};

struct Case {
  anydml_type type = ANYDML_FLOAT32;
  const Row* row = nullptr;
  Layout layout = Layout::tensor;
  Size size;
  Data data;

  [[nodiscard]] std::string name() const;
};

// Sizes of a tensor that is one element.
inline constexpr std::array<std::int64_t, 8> kOnes{1, 1, 1, 1, 1, 1, 1, 1};

using Extents = std::array<std::int64_t, 8>;

// Where a tensor lies: strides in elements, and how many elements of memory it reaches over.
struct Placed {
  Extents strides{};
  std::int64_t extent = 1;
};

// The tensors of a case.
struct Placement {
  int rank = 0;
  Extents sizes{};         // of the inputs; of element-wise operators and fills also of the output
  Extents output_sizes{};  // 1 where a reduction goes along
  std::array<bool, 8> is_reduced{};
  std::vector<Placed> inputs;  // as many as the row has; those that are one element in every layout stay as made
  Placed output;
  std::int64_t elements = 0;         // of `sizes`
  std::int64_t output_elements = 0;  // of `output_sizes`

  // Where the element of that number is, walked last dimension fastest.
  [[nodiscard]] std::int64_t offset(const Extents& strides, std::int64_t element) const;
};

// Tensors without gaps, of any sizes.
Placement place_packed(const Row& row, int rank, const Extents& sizes, const std::array<bool, 8>& is_reduced);

// None where the layout is not the row's, or does not fit the size: eight dimensions need 8,192 elements, a row its
// own.
std::optional<Placement> place(const Case& of);

// The layouts of a row that nobody asked for by name.
std::vector<Layout> default_layouts(const Row& row);

// Whether that input is walked, and so an array of the pass: not one that the layout or the row has once.
bool is_stream(const Case& of, std::size_t input);
// Whether its time per element is to be held against that of `tensor`.
bool is_strided(Layout layout);

std::string_view name_of(Layout layout);
std::string name_of(const Data& data);

// Each takes a comma-separated list's item, or "all"; adds to `to`, false where it is not understood.
bool parse_type(std::string_view text, std::vector<anydml_type>& to);
bool parse_layout(std::string_view text, std::vector<Layout>& to);
bool parse_size(std::string_view text, std::vector<Size>& to);
bool parse_data(std::string_view text, std::vector<Data>& to);

// For completion and help.
std::vector<std::string> layout_words();

// The gaps of the curve against them, for data "gaps"; empty for an integer type.
std::span<const int> gaps_of(anydml_type type);
inline constexpr int kAllGaps = -1;  // a Data of this gap stands for them until the type is known

}  // namespace anydml::bench
