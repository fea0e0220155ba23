// SPDX-License-Identifier: MIT
#include "tensor_words.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/checked.h"
#include "cursor.h"
#include "echo.h"
#include "facts/facts.h"
#include "files.h"
#include "npy.h"
#include "text/format.h"
#include "values.h"

namespace anydml::dmlrun {
namespace {

std::optional<std::uint32_t> read_tensor_type(std::string_view text) {
  if (const auto type = parse_type(text, true)) {
    return static_cast<std::uint32_t>(*type);
  }
  return facts::find_enum_value(*facts::find_enum("DML_TENSOR_DATA_TYPE"), to_upper(text));
}

}  // namespace

std::string sizes_text(std::span<const std::uint32_t> sizes) {
  std::string text;
  for (const std::uint32_t size : sizes) {
    text += format_text("{}{}", text.empty() ? "" : ", ", size);
  }
  return "[" + text + "]";
}

std::string_view tensor_type_name(std::uint32_t type) {
  const facts::Enum& types = *facts::find_enum("DML_TENSOR_DATA_TYPE");
  const auto found = std::ranges::find(types.values, type, &facts::EnumValue::value);
  return found == types.values.end() ? std::string_view("UNKNOWN") : found->name.substr(types.prefix.size());
}

std::optional<std::uint64_t> element_count(std::span<const std::uint32_t> sizes) {
  std::optional<std::uint64_t> elements = 1;
  for (const std::uint32_t size : sizes) {
    elements = elements ? checked_multiply_bytes(*elements, size) : elements;
  }
  return elements;
}

// TYPE:SIZES[:VALUES], such as float32:2x3:random.
Result<DescribedTensor> parse_tensor(std::string_view text) {
  const auto wrong = [&](std::string_view reason) {
    return invalid(format_text("{} {}; expected a file, or a type, sizes and values such as float32:2x3:random",
                               in_quotes(text), reason));
  };
  const std::size_t colon = text.find(':');
  const auto type = read_tensor_type(text.substr(0, colon));
  if (!type || *type == 0) {
    return wrong(colon == std::string_view::npos ? "is neither a file nor a tensor" : "does not begin with a type");
  }
  if (colon == std::string_view::npos) {
    return wrong("has no sizes");
  }
  DescribedTensor tensor;
  tensor.type = *type;
  const std::size_t end = std::min(text.find(':', colon + 1), text.size());
  tensor.values = end == text.size() ? "" : text.substr(end + 1);
  const std::string_view sizes = text.substr(colon + 1, end - colon - 1);
  const char* at = sizes.data();
  const char* const last = sizes.data() + sizes.size();
  while (true) {
    std::uint32_t size = 0;
    const auto [next, fault] = std::from_chars(at, last, size);
    if (fault != std::errc{} || size == 0) {
      return wrong("has sizes that are not whole numbers from 1 to 4294967295");
    }
    tensor.sizes.push_back(size);
    if (next == last) {
      break;
    }
    if (*next != 'x' && *next != ',') {
      return wrong("has characters other than x between its sizes");
    }
    at = next + 1;
  }
  const auto elements = element_count(tensor.sizes);
  if (!elements) {
    return wrong("has more elements than fit in memory");
  }
  tensor.elements = *elements;
  return tensor;
}

Result<DescribedTensor> read_npy_tensor(const std::string& file) {
  const auto bytes = file_bytes(file);
  ANYDML_TRY(bytes);
  std::string start(std::min<std::uint64_t>(bytes.value(), kNpyHeaderLimit), '\0');
  ANYDML_TRY(read_file(file, 0, std::as_writable_bytes(std::span(start))));
  const auto header = read_npy_header(start, bytes.value());
  if (!header) {
    return invalid(format_text("{}: {}", in_quotes(file), header.error().message));
  }
  DescribedTensor tensor;
  tensor.type = static_cast<std::uint32_t>(header.value().type);
  tensor.values = file;
  for (const std::uint64_t size : header.value().shape) {
    if (size == 0 || size > 0xffff'ffff) {
      return invalid(format_text("{} has a size of {}; expected 1 to 4294967295", in_quotes(file), size));
    }
    tensor.sizes.push_back(static_cast<std::uint32_t>(size));
  }
  if (tensor.sizes.empty()) {
    tensor.sizes.push_back(1);
  }
  tensor.elements = element_count(tensor.sizes).value_or(0);
  return tensor;
}

}  // namespace anydml::dmlrun
