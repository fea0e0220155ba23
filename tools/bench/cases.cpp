// SPDX-License-Identifier: MIT
#include "cases.h"

#include <bit>
#include <charconv>
#include <iterator>

#include "elements.h"
#include "machine.h"

namespace anydml::bench {
namespace {

constexpr std::string_view kLayouts[] = {"tensor",  "scalar",      "dividend", "row",      "transposed",
                                         "stride2", "stride2_all", "rows7",    "rows1000", "dims8",
                                         "inplace", "inner",       "outer",    "whole"};
constexpr std::int64_t kMaxColumns = 4096;  // the maximum for a reduction and for a repeated row

// Named sizes, in bytes per tensor. Three tensors of the first size roughly fit in the smallest L1 cache, 32 KiB, and
// three of the second size in 512 KiB. One tensor of the last size is at least as large as the last-level cache, so
// three tensors far exceed the cache.
struct NamedSize {
  std::string_view name;
  std::int64_t bytes;
};
constexpr NamedSize kSizes[] = {{"l1", 8 << 10}, {"l2", 128 << 10}, {"memory", 64 << 20}};

// The size curve starts at 2^4 elements. Each size is four times the previous one.
constexpr int kCurveFirst = 4;
constexpr int kCurveLast = 24;

constexpr int kGaps16[] = {0, 1, 2, 4, 6, 8, 9, 10, 11, 12, 14, 16, 18, 20, 22, 24, 26, 28};
constexpr int kGaps32[] = {0,  1,  2,  4,  8,  12,  16,  20,  22,  23,  24,  26,  28,  32,  40, 48,
                           56, 64, 72, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 250};
constexpr int kGaps64[] = {0,  1,  2,  4,   8,   16,  24,  32,  40,  48,  50,   51,   52,   53,   54,  56,
                           64, 80, 96, 112, 128, 192, 256, 384, 512, 768, 1024, 1280, 1536, 1792, 2000};

Extents packed(int rank, const Extents& sizes) {
  Extents strides{};
  std::int64_t stride = 1;
  for (auto i = static_cast<std::size_t>(rank); i-- > 0;) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  return strides;
}

std::int64_t extent(int rank, const Extents& sizes, const Extents& strides) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i) {
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

std::int64_t count_of(int rank, const Extents& sizes) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i) {
    count *= sizes[i];
  }
  return count;
}

bool is_reduction(Layout layout) {
  return layout == Layout::inner || layout == Layout::outer || layout == Layout::whole;
}

// Returns the input that a layout repeats as one element or one row, or no value if the operator has fewer than two
// inputs.
std::optional<std::size_t> repeated_input(const Row& row, Layout layout) {
  const auto tensors = row.tensors();
  if (tensors.size() < 2) {
    return std::nullopt;
  }
  if (layout == Layout::scalar || layout == Layout::row) {
    return tensors.back();
  }
  return layout == Layout::dividend ? std::optional(tensors[tensors.size() - 2]) : std::nullopt;
}

bool has_layout(const Row& row, anydml_type type, Layout layout) {
  switch (layout) {
    case Layout::tensor:
      return row.family != RowKind::reduce;
    case Layout::scalar:
    case Layout::dividend:
    case Layout::row:
      return row.family == RowKind::elementwise && repeated_input(row, layout).has_value();
    case Layout::stride2_all:
    case Layout::rows7:
    case Layout::rows1000:
      return row.family != RowKind::reduce;
    case Layout::inplace: {
      const auto tensors = row.tensors();
      return row.family == RowKind::elementwise && row.inputs[tensors.front()].type == ANYDML_NONE &&
             row.output_type(type) == type;
    }
    case Layout::inner:
    case Layout::outer:
    case Layout::whole:
      return row.family == RowKind::reduce;
    default:
      return row.family == RowKind::elementwise;
  }
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

template <class T, std::size_t N>
bool parse_name(std::string_view text, const std::string_view (&names)[N], std::vector<T>& to) {
  bool found = false;
  for (std::size_t i = 0; i < N; ++i) {
    if (text == "all" || text == names[i]) {
      to.push_back(static_cast<T>(i));
      found = true;
    }
  }
  return found;
}

}  // namespace

std::string Case::name() const {
  std::string text = anydml_type_name(type);
  for (const std::string& part : {row->name, std::string(name_of(layout)), size.name, name_of(data)}) {
    text.append("/").append(part);
  }
  return text;
}

std::int64_t Placement::offset(const Extents& strides, std::int64_t element) const {
  std::int64_t at = 0;
  for (auto i = static_cast<std::size_t>(rank); i-- > 0;) {
    at += element % sizes[i] * strides[i];
    element /= sizes[i];
  }
  return at;
}

namespace {

// Sets only the sizes. Returns false if the layout does not fit the number of elements.
bool place_sizes(Placement& p, Layout layout, std::int64_t count) {
  const auto bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(count))) - 1;  // 2^bits <= count
  p.rank = 2;
  if (layout == Layout::transposed) {
    const std::int64_t rows = std::int64_t{1} << (bits / 2);
    p.sizes = {rows, count / rows};
  } else if (layout == Layout::rows7 || layout == Layout::rows1000) {
    const std::int64_t row = layout == Layout::rows7 ? 7 : 1000;
    p.sizes = {count / row, row};
    return count >= row;
  } else if (layout == Layout::row || is_reduction(layout)) {
    const std::int64_t columns = std::min(kMaxColumns, std::int64_t{1} << ((bits + 1) / 2));
    p.sizes = {count / columns, columns};
  } else if (layout == Layout::dims8) {
    if (bits < 6 + 7) {
      return false;
    }
    p.rank = 8;
    for (unsigned i = 0; i < 7; ++i) {
      p.sizes[i] = std::int64_t{1} << ((bits - 6 + i) / 7);
    }
    p.sizes[7] = 64;
  } else {
    p.rank = 1;
    p.sizes[0] = count;
  }
  return true;
}

void place_strides(Placement& p, const Row& row, Layout layout) {
  const auto tensors = row.tensors();
  const auto repeated = repeated_input(row, layout);
  switch (layout) {
    case Layout::scalar:
    case Layout::dividend:
      p.inputs[*repeated].strides = {};
      break;
    case Layout::row:
      p.inputs[*repeated].strides[0] = 0;
      break;
    case Layout::transposed:
      p.inputs[tensors.back()].strides = {1, p.sizes[0]};
      break;
    case Layout::stride2:
    case Layout::stride2_all:
      for (const std::size_t i : tensors) {
        p.inputs[i].strides[0] = 2;
      }
      p.output.strides[0] = layout == Layout::stride2_all ? 2 : 1;
      break;
    case Layout::rows7:
    case Layout::rows1000:
      p.output.strides[0] = layout == Layout::rows7 ? 8 : 1024;
      for (const std::size_t i : tensors) {
        p.inputs[i].strides[0] = p.output.strides[0];
      }
      break;
    case Layout::dims8: {
      // The dividend's rows are padded, and the divisor's outer dimensions are stored in the opposite order.
      std::int64_t padded = 72;
      for (std::size_t i = 7; i-- > 0;) {
        p.inputs[tensors.front()].strides[i] = padded;
        padded *= p.sizes[i];
      }
      std::int64_t opposite = 64;
      for (std::size_t i = 0; i < 7 && tensors.size() > 1; ++i) {
        p.inputs[tensors.back()].strides[i] = opposite;
        opposite *= p.sizes[i];
      }
      break;
    }
    default:
      break;
  }
}

}  // namespace

Placement place_packed(const Row& row, int rank, const Extents& sizes, const std::array<bool, 8>& is_reduced) {
  Placement p;
  p.rank = rank;
  p.sizes = p.output_sizes = sizes;
  p.is_reduced = is_reduced;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i) {
    p.output_sizes[i] = is_reduced[i] ? 1 : sizes[i];
  }
  p.elements = count_of(rank, p.sizes);
  p.output_elements = count_of(rank, p.output_sizes);
  p.inputs.assign(row.inputs.size(), Placed{packed(rank, sizes), 1});
  for (const std::size_t i : row.tensors()) {
    p.inputs[i].extent = p.elements;
  }
  p.output = {packed(rank, p.output_sizes), p.output_elements};
  return p;
}

std::optional<Placement> lay_out(const Case& of) {
  const Row& row = *of.row;
  // For mixed types, a size in bytes refers to the tensor with the widest type.
  const auto widest =
      static_cast<std::int64_t>(std::max(anydml_type_size(of.type), anydml_type_size(row.output_type(of.type))));
  const std::int64_t count = of.size.bytes != 0 ? of.size.bytes / widest : of.size.elements;
  Placement sized;
  if (!has_layout(row, of.type, of.layout) || !place_sizes(sized, of.layout, count)) {
    return std::nullopt;
  }
  const bool is_outer = of.layout == Layout::outer || of.layout == Layout::whole;
  const bool is_inner = of.layout == Layout::inner || of.layout == Layout::whole;
  Placement p = place_packed(row, sized.rank, sized.sizes, {is_outer, is_inner});
  place_strides(p, row, of.layout);
  for (const std::size_t i : row.tensors()) {
    p.inputs[i].extent = extent(p.rank, p.sizes, p.inputs[i].strides);
  }
  p.output.extent = extent(p.rank, p.output_sizes, p.output.strides);
  return p;
}

std::vector<Layout> default_layouts(const Row& row) {
  if (row.family == RowKind::reduce) {
    return {Layout::inner, Layout::outer, Layout::whole};
  }
  return row.tensors().size() < 2 ? std::vector{Layout::tensor} : std::vector{Layout::tensor, Layout::scalar};
}

bool is_stream(const Case& of, std::size_t input) {
  return !of.row->inputs[input].single && repeated_input(*of.row, of.layout) != input;
}

bool is_strided(Layout layout) {
  return layout != Layout::tensor && layout != Layout::scalar && layout != Layout::dividend && layout != Layout::row &&
         layout != Layout::inplace && !is_reduction(layout);
}

std::string_view name_of(Layout layout) { return kLayouts[static_cast<std::size_t>(layout)]; }

std::string name_of(const Data& data) {
  switch (data.kind) {
    case Data::Kind::ordinary:
      return "ordinary";
    case Data::Kind::hard:
      return "hard";
    default:
      return "gap:" + std::to_string(data.gap);
  }
}

bool parse_type(std::string_view text, std::vector<anydml_type>& to) {
  bool found = false;
  for (const anydml_type type : kTypes) {
    const bool wanted = text == "all" || text == anydml_type_name(type) || (text == "floats" && is_float_type(type)) ||
                        (text == "integers" && !is_float_type(type));
    if (wanted) {
      to.push_back(type);
      found = true;
    }
  }
  return found;
}

bool parse_layout(std::string_view text, std::vector<Layout>& to) { return parse_name(text, kLayouts, to); }

bool parse_size(std::string_view text, std::vector<Size>& to) {
  bool found = false;
  for (const NamedSize& size : kSizes) {
    if (text == "all" || text == size.name) {
      const bool last = &size == std::end(kSizes) - 1;
      const auto last_cache = static_cast<std::int64_t>(std::bit_ceil(last_cache_bytes()));
      to.push_back({std::string(size.name), last ? std::max(size.bytes, last_cache) : size.bytes, 0});
      found = true;
    }
  }
  if (text == "curve") {
    for (int bits = kCurveFirst; bits <= kCurveLast; bits += 2) {
      to.push_back({std::to_string(std::int64_t{1} << bits), 0, std::int64_t{1} << bits});
    }
    return true;
  }
  if (const auto number = parse_number(text); number && *number >= 1 && *number <= std::int64_t{1} << 30) {
    to.push_back({std::to_string(*number), 0, *number});
    return true;
  }
  return found;
}

bool parse_data(std::string_view text, std::vector<Data>& to) {
  if (text == "ordinary" || text == "all") {
    to.push_back({Data::Kind::ordinary, 0});
  }
  if (text == "hard" || text == "all") {
    to.push_back({Data::Kind::hard, 0});
  }
  if (text == "ordinary" || text == "hard" || text == "all") {
    return true;
  }
  if (text == "gaps") {
    to.push_back({Data::Kind::gap, kAllGaps});
    return true;
  }
  if (text.starts_with("gap:")) {
    if (const auto number = parse_number(text.substr(4)); number && *number >= 0 && *number <= 2045) {
      to.push_back({Data::Kind::gap, static_cast<int>(*number)});
      return true;
    }
  }
  return false;
}

std::vector<std::string> layout_words() {
  std::vector<std::string> words(std::begin(kLayouts), std::end(kLayouts));
  words.emplace_back("all");
  return words;
}

std::span<const int> gaps_of(anydml_type type) {
  switch (type) {
    case ANYDML_FLOAT16:
      return kGaps16;
    case ANYDML_FLOAT32:
      return kGaps32;
    case ANYDML_FLOAT64:
      return kGaps64;
    default:
      return {};
  }
}

}  // namespace anydml::bench
