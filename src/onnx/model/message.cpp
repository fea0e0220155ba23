// SPDX-License-Identifier: MIT
#include "onnx/model/message.h"

#include <algorithm>

#include "onnx/values/errors.h"
#include "onnx/values/utf8.h"

namespace anydml::onnx {

std::string label_of(const NodeMessage& node) {
  const std::string op = printable(node.op_type);
  if (!node.name.empty()) {
    return op + " " + onnx::quoted(node.name);
  }
  if (node.outputs.empty()) {
    return op;
  }
  constexpr std::size_t kMaxNamed = 8;  // a node may have thousands of outputs
  const auto end = node.outputs.begin() + static_cast<std::ptrdiff_t>(std::min(kMaxNamed, node.outputs.size()));
  const std::size_t more = node.outputs.size() - std::min(kMaxNamed, node.outputs.size());
  return op + " that computes " + onnx::quoted(joined({node.outputs.begin(), end})) +
         (more == 0 ? std::string() : " and " + std::to_string(more) + " more");
}

Kind checked_kind(std::int64_t number, const std::string& what) {
  if (number < 0 || number > kMaxDataType) {
    fail("{} is {}; expected the number of one of ONNX's data types, 1 to {}", what, number, kMaxDataType);
  }
  return static_cast<Kind>(number);
}

std::optional<std::size_t> find_wrong_utf8(std::string_view text) {
  std::size_t size = 0;
  for (std::size_t at = 0; at < text.size(); at += size) {
    if (first_character(text.substr(at), size) == kNoCharacter) {
      return at;
    }
  }
  return std::nullopt;
}

void check_utf8(std::string_view text) {
  if (const auto wrong = find_wrong_utf8(text)) {
    fail("a name or text in the model is not UTF-8: byte 0x{:02x} at position {} of {}",
         static_cast<unsigned char>(text[*wrong]), *wrong, text.size());
  }
}

}  // namespace anydml::onnx
