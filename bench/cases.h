// SPDX-License-Identifier: MIT
// What is measured: a case is a type, an operator, a layout, a size and a kind of data.
#pragma once

#include <anydml/anydml.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace anydml::bench {

enum class Operator { modulus_floor, modulus_truncate };

enum class Layout {
  tensor,       // tensor by tensor, packed
  scalar,       // the divisor is one element, by stride 0
  dividend,     // the dividend is one element
  transposed,   // the divisor is walked down its columns
  stride2,      // every second element of the inputs
  stride2_all,  // and of the output
  rows7,        // rows of 7 elements, 8 apart, in all three
  rows1000,     // rows of 1,000 elements, 1,024 apart, in all three
  dims8,        // eight dimensions, 64 innermost, none of which can be merged
  inplace,      // the output is the dividend
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
  Operator op = Operator::modulus_floor;
  Layout layout = Layout::tensor;
  Size size;
  Data data;

  [[nodiscard]] std::string name() const;
};

// The tensors of a case: sizes, strides in elements, and how many elements of memory each reaches over.
struct Placement {
  int rank = 0;
  std::array<std::int64_t, 8> sizes{};
  std::array<std::int64_t, 8> strides_a{};
  std::array<std::int64_t, 8> strides_b{};
  std::array<std::int64_t, 8> strides_out{};
  std::int64_t elements = 0;
  std::int64_t extent_a = 0;
  std::int64_t extent_b = 0;
  std::int64_t extent_out = 0;

  // Where the element of that number is, walked last dimension fastest.
  [[nodiscard]] std::int64_t offset(const std::array<std::int64_t, 8>& strides, std::int64_t element) const;
};

// None where the layout does not fit the size: eight dimensions need 8,192 elements, a row its own.
std::optional<Placement> place(const Case& of);

// How many arrays of the output's size a case reads; it writes one.
int arrays_read(Layout layout);
// Whether its time per element is to be held against that of `tensor`.
bool is_strided(Layout layout);

std::string_view name_of(Operator op);
std::string_view name_of(Layout layout);
std::string name_of(const Data& data);
std::string_view directml_name(Operator op);

// Each takes a comma-separated list's item, or "all"; adds to `to`, false where it is not understood.
bool parse_type(std::string_view text, std::vector<anydml_type>& to);
bool parse_operator(std::string_view text, std::vector<Operator>& to);
bool parse_layout(std::string_view text, std::vector<Layout>& to);
bool parse_size(std::string_view text, std::vector<Size>& to);
bool parse_data(std::string_view text, std::vector<Data>& to);

// The gaps of the curve against them, for data "gaps"; empty for an integer type.
std::span<const int> gaps_of(anydml_type type);
inline constexpr int kAllGaps = -1;  // a Data of this gap stands for them until the type is known

}  // namespace anydml::bench
