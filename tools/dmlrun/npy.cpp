// SPDX-License-Identifier: MIT
#include "npy.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "base/ascii.h"
#include "echo.h"
#include "text/format.h"
#include "values.h"

namespace anydml::dmlrun {
namespace {

static_assert(std::endian::native == std::endian::little);  // for '=' and '|', and for the files we write

constexpr std::string_view kMagic = "\x93NUMPY";

Error unsupported(std::string text) { return {ErrorKind::unsupported, std::move(text)}; }

std::uint64_t read_length(std::string_view bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

// Formats a shape like a Python tuple.
std::string tuple_text(std::span<const std::uint64_t> shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text.append(i == 0 ? "" : ", ").append(std::to_string(shape[i]));
  }
  return text.append(shape.size() == 1 ? ",)" : ")");
}

struct Description {
  std::string_view descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

// Parses the header's text, which is a Python dictionary with exactly the three keys. Escapes and concatenated strings
// are not supported.
class Parser {
 public:
  Parser(std::string_view text, std::size_t offset) : text_(text), offset_(offset) {}

  Result<Description> parse() {
    ANYDML_TRY(expect('{'));
    bool more = true;
    while (more && !take('}')) {
      ANYDML_TRY(parse_item());
      more = take(',');
      if (!more) {
        ANYDML_TRY(expect('}'));
      }
    }
    skip_space();
    if (at_ != text_.size()) {
      return unexpected("nothing after the dictionary");
    }
    for (std::size_t key = 0; key < std::size(kKeys); ++key) {
      if (!seen_[key]) {
        return invalid(
            format_text("has a header without '{}'; expected 'descr', 'fortran_order' and 'shape'", kKeys[key]));
      }
    }
    return std::move(description_);
  }

 private:
  static constexpr std::string_view kKeys[] = {"descr", "fortran_order", "shape"};

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\n\r\f", at_), text_.size()); }

  bool take(char wanted) {
    skip_space();
    const bool found = at_ < text_.size() && text_[at_] == wanted;
    at_ += found ? 1 : 0;
    return found;
  }

  bool take_word(std::string_view word) {
    skip_space();
    const bool found = text_.substr(at_).starts_with(word);
    at_ += found ? word.size() : 0;
    return found;
  }

  [[nodiscard]] Error unexpected(std::string_view expected) const {
    if (at_ == text_.size()) {
      return invalid(format_text("has a header that ends early; expected {}", expected));
    }
    return invalid(format_text("has '{}' at byte {}, in its header; expected {}", echo(text_.substr(at_), 16),
                               offset_ + at_, expected));
  }

  Status expect(char wanted) { return take(wanted) ? Status{} : unexpected(std::string{'\'', wanted, '\''}); }

  Result<std::string_view> parse_string(std::string_view what) {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') {
      return unexpected(what);
    }
    const char ends[] = {quote, '\\', '\n', '\0'};
    const std::size_t end = text_.find_first_of(ends, at_ + 1);
    if (end == std::string_view::npos || text_[end] != quote) {
      return unexpected("a string in quotes, without escapes");
    }
    const std::string_view string = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return string;
  }

  Status parse_item() {
    skip_space();
    const std::size_t start = at_;
    const auto name = parse_string("one of the keys 'descr', 'fortran_order' and 'shape'");
    ANYDML_TRY(name);
    const auto key = static_cast<std::size_t>(std::ranges::find(kKeys, name.value()) - std::begin(kKeys));
    if (key == std::size(kKeys) || seen_[key]) {
      at_ = start;
      return unexpected("each of the keys 'descr', 'fortran_order' and 'shape' once");
    }
    seen_[key] = true;
    ANYDML_TRY(expect(':'));
    switch (key) {
      case 0:
        return parse_descr();
      case 1:
        return parse_order();
      default:
        return parse_shape();
    }
  }

  Status parse_descr() {
    skip_space();
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '(')) {
      return unsupported(
          "holds structured elements; expected elements of one number type: save each field separately, np.save(file, "
          "a['field'])");
    }
    const auto descr = parse_string("a type such as '<f4'");
    ANYDML_TRY(descr);
    description_.descr = descr.value();
    return {};
  }

  Status parse_order() {
    description_.fortran_order = take_word("True");
    return description_.fortran_order || take_word("False") ? Status{} : unexpected("True or False");
  }

  Status parse_shape() {
    std::vector<std::uint64_t>& shape = description_.shape;
    bool comma = true;
    ANYDML_TRY(expect('('));
    while (!take(')')) {
      if (!comma) {
        return unexpected("',' or ')'");
      }
      const auto size = parse_size();
      ANYDML_TRY(size);
      if (shape.size() == kMaxNpyDimensions) {
        return unsupported(format_text("has more than {0} dimensions; expected at most {0}", kMaxNpyDimensions));
      }
      shape.push_back(size.value());
      comma = take(',');
    }
    if (shape.size() == 1 && !comma) {  // a number in parentheses
      return invalid(format_text("has ({0}) for a shape; expected a tuple, ({0},)", shape[0]));
    }
    return {};
  }

  Result<std::uint64_t> parse_size() {
    skip_space();
    const std::string_view rest = text_.substr(at_);
    const std::string_view digits = rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size()));
    if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) {
      return unexpected("a size, a whole number of at least 0");
    }
    std::uint64_t size = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), size).ec != std::errc{}) {
      return invalid(format_text("has {} in its shape; expected sizes of at most 18446744073709551615", echo(digits)));
    }
    at_ += digits.size();
    return size;
  }

  std::string_view text_;
  std::size_t offset_;  // the offset of the text in the file
  std::size_t at_ = 0;
  bool seen_[std::size(kKeys)] = {};
  Description description_;
};

// Explains why elements of an unsupported kind cannot be read, and what to do instead.
std::string refusal(std::string_view descr) {
  const std::string shown = echo(descr);
  switch (descr.size() < 2 ? '\0' : descr[1]) {
    case 'b':
      return format_text("holds bool elements ('{}'); expected a number type, for example a.astype('|u1')", shown);
    case 'c':
      return format_text("holds complex elements ('{}'); expected a real type: save a.real and a.imag separately",
                         shown);
    case 'S':
    case 'a':
    case 'U':
      return format_text("holds strings ('{}'); expected a number type, for example a.astype('<f4')", shown);
    case 'O':
      return format_text(
          "holds Python objects ('{}'), a pickle; expected a number type, for example a.astype('<f4') if each is a "
          "number",
          shown);
    case 'M':
    case 'm':
      return format_text("holds dates or times ('{}'); expected a number type, for example a.view('<i8')", shown);
    case 'V':
      return format_text("holds untyped bytes ('{}'); expected a number type", shown);
    case 'f':
    case 'i':
    case 'u':
      return format_text("holds elements of type '{}'; expected f2, f4, f8, i1 to i8 or u1 to u8", shown);
    default:
      return format_text("holds elements of type '{}', which is unknown; expected a type such as '<f4'", shown);
  }
}

Result<DataType> parse_descr(std::string_view descr) {
  constexpr std::string_view kOrders = "<>=|";
  constexpr std::string_view kKinds = "fiu";
  const bool plain = descr.size() == 3 && kOrders.find(descr[0]) != std::string_view::npos &&
                     kKinds.find(descr[1]) != std::string_view::npos;
  const auto type = plain ? parse_type(descr.substr(1), true) : std::nullopt;
  if (!type) {
    return unsupported(refusal(descr));
  }
  if (descr[0] == '>' && element_size(*type) > 1) {
    return unsupported(format_text("is big endian ('{}'); expected little endian, for example a.astype('<{}')", descr,
                                   descr.substr(1)));
  }
  return *type;
}

// Returns the total bytes of all elements.
Result<std::uint64_t> bytes_of(std::span<const std::uint64_t> shape, DataType type) {
  if (std::ranges::find(shape, std::uint64_t{0}) != shape.end()) {
    return std::uint64_t{0};  // this holds for any other sizes
  }
  std::uint64_t bytes = element_size(type);
  for (const std::uint64_t size : shape) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) {
      return invalid(
          format_text("has a shape whose byte count overflows 64 bits, {} of {}; expected one that fits in a file",
                      tuple_text(shape), type_name(type)));
    }
  }
  return bytes;
}

}  // namespace

Result<NpyHeader> read_npy_header(std::string_view start, std::uint64_t file_bytes, bool accepts_bool) {
  if (!start.starts_with(kMagic)) {
    return invalid("is not a .npy file; expected \\x93NUMPY at its start");
  }
  const auto cut = [file_bytes](std::uint64_t needed) {
    return invalid(format_text("holds {} bytes; expected at least {}, its header", file_bytes, needed));
  };
  constexpr std::size_t kVersionEnd = kMagic.size() + 2;
  if (start.size() < kVersionEnd) {
    return cut(kVersionEnd + 2);
  }
  const auto major = static_cast<unsigned char>(start[kMagic.size()]);
  const auto minor = static_cast<unsigned char>(start[kMagic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0) {
    return unsupported(format_text("has .npy version {}.{}; expected 1.0, 2.0 or 3.0", major, minor));
  }
  const std::size_t text_start = kVersionEnd + (major == 1 ? 2 : 4);
  if (start.size() < text_start) {
    return cut(text_start);
  }
  const std::uint64_t end = text_start + read_length(start.substr(kVersionEnd, text_start - kVersionEnd));
  if (end > kNpyHeaderLimit) {
    return unsupported(format_text("has a header of {} bytes; expected at most {}", end, kNpyHeaderLimit));
  }
  if (end > start.size() || end > file_bytes) {
    return cut(end);
  }
  auto description = Parser(start.substr(text_start, end - text_start), text_start).parse();
  ANYDML_TRY(description);
  std::vector<std::uint64_t>& shape = description.value().shape;
  const std::string_view descr = description.value().descr;
  const auto type = accepts_bool && descr == "|b1" ? Result<DataType>(DataType::UINT8) : parse_descr(descr);
  ANYDML_TRY(type);
  const auto bytes = bytes_of(shape, type.value());
  ANYDML_TRY(bytes);
  if (description.value().fortran_order && bytes.value() != 0 &&
      std::ranges::count_if(shape, [](std::uint64_t size) { return size > 1; }) > 1) {
    return unsupported("is in Fortran order; expected C order, for example np.ascontiguousarray(a)");
  }
  if (file_bytes - end != bytes.value()) {
    return invalid(format_text("holds {} bytes of data; expected {}, {} elements of {}", file_bytes - end,
                               bytes.value(), bytes.value() / element_size(type.value()), type_name(type.value())));
  }
  return NpyHeader{type.value(), std::move(shape), end, bytes.value()};
}

std::string make_npy_header(DataType type, std::span<const std::uint64_t> shape) {
  const std::size_t size = element_size(type);
  const char kind = is_float_type(type) ? 'f' : type_name(type).starts_with('U') ? 'u' : 'i';
  std::string text = format_text("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': {}, }}", size == 1 ? '|' : '<',
                                 kind, size, tuple_text(shape));
  if (!shape.empty()) {
    // Like NumPy, leaves room for the first size to grow to 21 digits without moving the data.
    text.append(21 - std::to_string(shape[0]).size(), ' ');
  }
  constexpr std::size_t kAlignment = 64;
  constexpr std::size_t kBefore = kMagic.size() + 4;
  text.append(kAlignment - (kBefore + text.size() + 1) % kAlignment, ' ').append("\n");
  return std::string(kMagic)
      .append({'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)})
      .append(text);
}

bool has_npy_extension(std::string_view path) { return ends_in_any_case(path, ".npy"); }

}  // namespace anydml::dmlrun
