// SPDX-License-Identifier: MIT
#include "element_reader.h"

#include "text/format.h"

namespace anydml::dmlrun {

std::optional<ElementBits> read_element(const Cursor& at, DataType type) {
  if (!at.json().is(JsonKind::number) && !(is_float_type(type) && at.json().is(JsonKind::string))) {
    at.fail(format_text("is {}; expected {}", kind_text(at.json().kind()),
                        is_float_type(type) ? "a number, or \"nan\", \"inf\" or \"-inf\"" : "a whole number"));
    return std::nullopt;
  }
  const std::string_view text = at.json().text();
  if (at.json().is(JsonKind::string) && text.find_first_of("nN") == std::string_view::npos) {
    at.fail(format_text("is the string {}; expected a number, or \"nan\", \"inf\" or \"-inf\"", in_quotes(text)));
    return std::nullopt;
  }
  const auto parsed = parse_element(text, type);
  if (!parsed) {
    at.fail(parsed.error().message);
    return std::nullopt;
  }
  return parsed.value();
}

}  // namespace anydml::dmlrun
