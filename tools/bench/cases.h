// SPDX-License-Identifier: MIT
// The cases to measure. A case is a type, a row, a layout, a size and a kind of data.
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
  tensor,       // all operands are packed tensors
  scalar,       // the divisor (the last of several inputs) is one element, with stride 0
  dividend,     // the dividend (the input before the last) is one element
  row,          // the divisor is one row, repeated for all rows
  transposed,   // the divisor, or the only input, is read down its columns
  stride2,      // every second element of the inputs
  stride2_all,  // every second element of the inputs and the output
  rows7,        // rows of 7 elements, 8 apart, in all tensors
  rows1000,     // rows of 1,000 elements, 1,024 apart, in all tensors
  dims8,        // eight dimensions, none of which can be merged; the innermost has 64 elements
  inplace,      // the output is the dividend
  inner,        // a reduction along the rows
  outer,        // a reduction down the columns
  whole,        // a reduction to one element
};

struct Data {
  enum class Kind { ordinary, hard, gap };
  Kind kind = Kind::ordinary;
  int gap = 0;  // in binades, for the kind gap

  bool operator==(const Data&) const = default;
};

struct Size {
  std::string name;        // "l1", or the number
  std::int64_t bytes = 0;  // bytes per tensor, or 0 if `elements` gives the size
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

// The sizes of a one-element tensor.
inline constexpr std::array<std::int64_t, 8> kOnes{1, 1, 1, 1, 1, 1, 1, 1};

using Extents = std::array<std::int64_t, 8>;

// The layout of a tensor: its strides in elements, and the number of elements of memory that it spans.
struct Placed {
  Extents strides{};
  std::int64_t extent = 1;
};

// The tensors of a case.
struct Placement {
  int rank = 0;
  Extents sizes{};         // the sizes of the inputs and, for element-wise operators and fills, of the output
  Extents output_sizes{};  // 1 in reduced dimensions
  std::array<bool, 8> is_reduced{};
  std::vector<Placed> inputs;  // one for each input; inputs that are always one element keep the defaults
  Placed output;
  std::int64_t elements = 0;         // the number of elements in `sizes`
  std::int64_t output_elements = 0;  // the number of elements in `output_sizes`

  // Returns the offset of the element with the given index. The last dimension varies fastest.
  [[nodiscard]] std::int64_t offset(const Extents& strides, std::int64_t element) const;
};

// Places tensors of any size without gaps.
Placement place_packed(const Row& row, int rank, const Extents& sizes, const std::array<bool, 8>& is_reduced);

// Returns no value if the layout does not apply to the row or does not fit the size: eight dimensions need 8,192
// elements, and a row layout needs at least one row.
std::optional<Placement> lay_out(const Case& of);

// The layouts for a row if the user names none.
std::vector<Layout> default_layouts(const Row& row);

// Whether the pass streams over the input. It does not if the layout or the row reduces the input to a single element
// or a single row.
bool is_stream(const Case& of, std::size_t input);
// Whether the layout's time per element is to be compared with that of `tensor`.
bool is_strided(Layout layout);

std::string_view name_of(Layout layout);
std::string name_of(const Data& data);

// Each function parses one item of a comma-separated list, or "all", and appends to `to`. It returns false if the item
// is invalid.
bool parse_type(std::string_view text, std::vector<anydml_type>& to);
bool parse_layout(std::string_view text, std::vector<Layout>& to);
bool parse_size(std::string_view text, std::vector<Size>& to);
bool parse_data(std::string_view text, std::vector<Data>& to);

// The names of all layouts, for completion and help.
std::vector<std::string> layout_words();

// The exponent gaps to measure for data "gaps". There are none for an integer type.
std::span<const int> gaps_of(anydml_type type);
inline constexpr int kAllGaps = -1;  // stands for all gaps, and is replaced when the type is known

}  // namespace anydml::bench
