// SPDX-License-Identifier: MIT
// A JSON document as one flat array of values in the order of the text. No code recurses over it, numbers keep their
// digits, and every value records its position in the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace anydml::dmlrun {

enum class JsonKind : std::uint8_t { null, boolean, number, string, array, object };

class JsonDocument;

// A value of a document. The document must outlive the value.
class Json {
 public:
  [[nodiscard]] JsonKind kind() const;
  [[nodiscard]] bool is(JsonKind kind_asked) const { return kind() == kind_asked; }
  // A string's characters, a number's digits, "true" or "false".
  [[nodiscard]] std::string_view text() const;
  [[nodiscard]] std::uint32_t size() const;  // the number of items or members
  [[nodiscard]] std::size_t offset() const;  // in the file

  // Visits items with use(Json), or members with use(std::string_view, Json), in order.
  template <class Use>
  void for_each_item(Use use) const {
    Json item = first();
    for (std::uint32_t i = 0; i < size(); ++i, item = item.after()) {
      use(item);
    }
  }
  template <class Use>
  void for_each_member(Use use) const {
    Json name = first();
    for (std::uint32_t i = 0; i < size(); ++i) {
      const Json value = name.after();
      use(name.text(), value);
      name = value.after();
    }
  }

 private:
  friend class JsonDocument;
  Json(const JsonDocument& document, std::size_t index) : document_(&document), index_(index) {}
  [[nodiscard]] Json first() const { return {*document_, index_ + 1}; }
  [[nodiscard]] Json after() const;

  const JsonDocument* document_;
  std::size_t index_;
};

class JsonDocument {
 public:
  // Accepts comments and trailing commas, as DxDispatch does. The error names the line and column.
  [[nodiscard]] static Result<JsonDocument> parse(std::string text);

  [[nodiscard]] Json root() const { return {*this, 0}; }
  [[nodiscard]] std::string position_text(std::size_t offset) const;  // "line 3, column 7"

 private:
  friend class Json;
  friend struct JsonBuilder;

  struct Node {
    std::uint64_t text;    // the offset of the first character in text_
    std::uint32_t length;  // the length of the text, or the number of items or members
    std::uint32_t next;    // the node after this one and its contents
    std::uint32_t offset;
    JsonKind kind;
  };

  std::string text_;                  // strings are decoded in place
  std::vector<std::uint32_t> lines_;  // the offset of each line
  std::vector<Node> nodes_;
};

// The maximum memory needed to read a document, per byte of its text.
inline constexpr std::uint64_t kJsonMemoryFactor = 32;

}  // namespace anydml::dmlrun
