// SPDX-License-Identifier: MIT
#include "onnx/model/message.h"

#include "onnx/values/errors.h"

namespace anydml::onnx {

std::string label_of(const NodeMessage& node) {
  const std::string op = printable(node.op_type);
  if (!node.name.empty()) {
    return op + " " + onnx::quoted(node.name);
  }
  return node.outputs.empty() ? op : op + " that computes " + onnx::quoted(joined(node.outputs));
}

Kind checked_kind(std::int64_t number, const std::string& what) {
  if (number < 0 || number > kMaxDataType) {
    fail("{} is {}; expected the number of one of ONNX's data types, 1 to {}", what, number, kMaxDataType);
  }
  return static_cast<Kind>(number);
}

std::optional<std::size_t> find_wrong_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead < 0x80) {
      ++at;
      continue;
    }
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() - at < length) {
      return at;
    }
    for (std::size_t i = 1; i < length; ++i) {
      const auto next = static_cast<unsigned char>(text[at + i]);
      // The second byte excludes longer forms than necessary, surrogates, and numbers over 0x10FFFF.
      const unsigned char first = i > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
      const unsigned char last = i > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
      if (next < first || next > last) {
        return at;
      }
    }
    at += length;
  }
  return std::nullopt;
}

}  // namespace anydml::onnx
