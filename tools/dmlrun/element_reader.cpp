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
  const auto parsed = parse_element(at.json().text(), type);
  if (!parsed) {
    at.fail(parsed.error().message);
    return std::nullopt;
  }
  return parsed.value();
}

}  // namespace anydml::dmlrun
