// SPDX-License-Identifier: MIT
#include "cases.h"

#include <bit>
#include <charconv>
#include <iterator>

#include "elements.h"
#include "machine.h"

namespace anydml::bench {
namespace {

constexpr std::string_view kOperators[] = {"modulus_floor", "modulus_truncate"};
constexpr std::string_view kLayouts[] = {"tensor",      "scalar", "dividend", "transposed", "stride2",
                                         "stride2_all", "rows7",  "rows1000", "dims8",      "inplace"};

// Sizes by what a tensor takes. Three tensors of the first fit the smallest first-level cache about, 32 KiB, and of the
// second half a MiB; one of the last is at least as large as the last cache, so that three are far beyond it.
struct NamedSize {
  std::string_view name;
  std::int64_t bytes;
};
constexpr NamedSize kSizes[] = {{"l1", 8 << 10}, {"l2", 128 << 10}, {"memory", 64 << 20}};

// The curve of time against size: 2^4 elements and on, by fours.
constexpr int kCurveFirst = 4;
constexpr int kCurveLast = 24;

constexpr int kGaps16[] = {0, 1, 2, 4, 6, 8, 9, 10, 11, 12, 14, 16, 18, 20, 22, 24, 26, 28};
constexpr int kGaps32[] = {0,  1,  2,  4,  8,  12,  16,  20,  22,  23,  24,  26,  28,  32,  40, 48,
                           56, 64, 72, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 250};
constexpr int kGaps64[] = {0,  1,  2,  4,   8,   16,  24,  32,  40,  48,  50,   51,   52,   53,   54,  56,
                           64, 80, 96, 112, 128, 192, 256, 384, 512, 768, 1024, 1280, 1536, 1792, 2000};

void pack(Placement& p, std::array<std::int64_t, 8>& strides) {
  std::int64_t stride = 1;
  for (int i = p.rank; i-- > 0;) {
    strides[static_cast<std::size_t>(i)] = stride;
    stride *= p.sizes[static_cast<std::size_t>(i)];
  }
}

std::int64_t extent(const Placement& p, const std::array<std::int64_t, 8>& strides) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(p.rank); ++i) {
    last += (p.sizes[i] - 1) * strides[i];
  }
  return last + 1;
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
  for (const std::string& part : {std::string(name_of(op)), std::string(name_of(layout)), size.name, name_of(data)}) {
    text.append("/").append(part);
  }
  return text;
}

std::int64_t Placement::offset(const std::array<std::int64_t, 8>& strides, std::int64_t element) const {
  std::int64_t at = 0;
  for (auto i = static_cast<std::size_t>(rank); i-- > 0;) {
    at += element % sizes[i] * strides[i];
    element /= sizes[i];
  }
  return at;
}

std::optional<Placement> place(const Case& of) {
  Placement p;
  const std::int64_t count =
      of.size.bytes != 0 ? of.size.bytes / static_cast<std::int64_t>(anydml_type_size(of.type)) : of.size.elements;
  const auto bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(count))) - 1;  // 2^bits <= count
  p.rank = 1;
  p.sizes[0] = count;
  switch (of.layout) {
    case Layout::transposed: {
      const std::int64_t rows = std::int64_t{1} << (bits / 2);
      p.rank = 2;
      p.sizes = {rows, count / rows};
      break;
    }
    case Layout::rows7:
    case Layout::rows1000: {
      const std::int64_t row = of.layout == Layout::rows7 ? 7 : 1000;
      if (count < row) {
        return std::nullopt;
      }
      p.rank = 2;
      p.sizes = {count / row, row};
      break;
    }
    case Layout::dims8: {
      if (bits < 6 + 7) {
        return std::nullopt;
      }
      p.rank = 8;
      for (unsigned i = 0; i < 7; ++i) {
        p.sizes[i] = std::int64_t{1} << ((bits - 6 + i) / 7);
      }
      p.sizes[7] = 64;
      break;
    }
    default:
      break;
  }
  pack(p, p.strides_a);
  p.strides_b = p.strides_a;
  p.strides_out = p.strides_a;
  switch (of.layout) {
    case Layout::scalar:
      p.strides_b[0] = 0;
      break;
    case Layout::dividend:
      p.strides_a[0] = 0;
      break;
    case Layout::transposed:
      p.strides_b = {1, p.sizes[0]};
      break;
    case Layout::stride2:
    case Layout::stride2_all:
      p.strides_a[0] = p.strides_b[0] = 2;
      p.strides_out[0] = of.layout == Layout::stride2_all ? 2 : 1;
      break;
    case Layout::rows7:
    case Layout::rows1000:
      p.strides_a[0] = p.strides_b[0] = p.strides_out[0] = of.layout == Layout::rows7 ? 8 : 1024;
      break;
    case Layout::dims8: {
      // The dividend's rows are padded, and the divisor's outer dimensions lie in the opposite order.
      std::int64_t stride_a = 72;
      for (std::size_t i = 7; i-- > 0;) {
        p.strides_a[i] = stride_a;
        stride_a *= p.sizes[i];
      }
      std::int64_t stride_b = 64;
      for (std::size_t i = 0; i < 7; ++i) {
        p.strides_b[i] = stride_b;
        stride_b *= p.sizes[i];
      }
      break;
    }
    default:
      break;
  }
  p.elements = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(p.rank); ++i) {
    p.elements *= p.sizes[i];
  }
  p.extent_a = extent(p, p.strides_a);
  p.extent_b = extent(p, p.strides_b);
  p.extent_out = extent(p, p.strides_out);
  return p;
}

int arrays_read(Layout layout) { return layout == Layout::scalar || layout == Layout::dividend ? 1 : 2; }

bool is_strided(Layout layout) {
  return layout != Layout::tensor && layout != Layout::scalar && layout != Layout::dividend &&
         layout != Layout::inplace;
}

std::string_view name_of(Operator op) { return kOperators[static_cast<std::size_t>(op)]; }
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

std::string_view directml_name(Operator op) {
  return op == Operator::modulus_floor ? "ELEMENT_WISE_MODULUS_FLOOR" : "ELEMENT_WISE_MODULUS_TRUNCATE";
}

bool parse_type(std::string_view text, std::vector<anydml_type>& to) {
  // The order of the table: floats, then integers by width.
  constexpr anydml_type kTypes[] = {ANYDML_FLOAT32, ANYDML_FLOAT16, ANYDML_FLOAT64, ANYDML_INT8,
                                    ANYDML_UINT8,   ANYDML_INT16,   ANYDML_UINT16,  ANYDML_INT32,
                                    ANYDML_UINT32,  ANYDML_INT64,   ANYDML_UINT64};
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

bool parse_operator(std::string_view text, std::vector<Operator>& to) { return parse_name(text, kOperators, to); }
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
