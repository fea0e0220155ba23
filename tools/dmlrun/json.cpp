// SPDX-License-Identifier: MIT
#include "json.h"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <limits>

#include "text/format.h"

namespace anydml::dmlrun {
namespace {

// No model needs deeper nesting. Without a limit, a file of brackets would become a tree as deep as the file is long.
constexpr std::size_t kDeepest = 64;

}  // namespace

// A handler for RapidJSON that appends nodes, and closes arrays and objects when they end.
struct JsonBuilder {
  JsonDocument& document;
  rapidjson::InsituStringStream& stream;
  std::vector<std::uint32_t> open = {};
  bool too_deep = false;

  bool add(JsonKind kind, std::size_t offset, std::uint64_t text = 0, std::uint32_t length = 0) {
    const auto next = static_cast<std::uint32_t>(document.nodes_.size() + 1);
    document.nodes_.push_back({text, length, next, static_cast<std::uint32_t>(offset), kind});
    return true;
  }
  [[nodiscard]] std::uint64_t start_of(const char* text) const {
    return static_cast<std::uint64_t>(text - document.text_.data());
  }
  bool add_text(JsonKind kind, const char* text, std::uint32_t length, std::size_t before) {
    return add(kind, start_of(text) - before, start_of(text), length);
  }
  bool begin(JsonKind kind) {
    too_deep = open.size() == kDeepest;
    if (too_deep) {
      return false;
    }
    open.push_back(static_cast<std::uint32_t>(document.nodes_.size()));
    return add(kind, stream.Tell());
  }
  bool end(std::uint32_t count) {
    auto& node = document.nodes_[open.back()];
    open.pop_back();
    node.length = count;
    node.next = static_cast<std::uint32_t>(document.nodes_.size());
    return true;
  }

  bool Null() { return add(JsonKind::null, stream.Tell() - 4); }
  bool Bool(bool value) {
    const std::uint32_t length = value ? 4 : 5;
    return add(JsonKind::boolean, stream.Tell() - length, stream.Tell() - length, length);
  }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    return add_text(JsonKind::number, text, length, 0);
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    return add_text(JsonKind::string, text, length, 1);
  }
  bool Key(const char* text, rapidjson::SizeType length, bool) { return add_text(JsonKind::string, text, length, 1); }
  bool StartObject() { return begin(JsonKind::object); }
  bool EndObject(rapidjson::SizeType count) { return end(count); }
  bool StartArray() { return begin(JsonKind::array); }
  bool EndArray(rapidjson::SizeType count) { return end(count); }
  // RapidJSON passes numbers as their digits, so it never calls these.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }
};

JsonKind Json::kind() const { return document_->nodes_[index_].kind; }

std::string_view Json::text() const {
  const auto& node = document_->nodes_[index_];
  return std::string_view(document_->text_).substr(node.text, node.length);
}

std::uint32_t Json::size() const { return document_->nodes_[index_].length; }

std::size_t Json::offset() const { return document_->nodes_[index_].offset; }

Json Json::after() const { return {*document_, document_->nodes_[index_].next}; }

Result<JsonDocument> JsonDocument::parse(std::string text) {
  JsonDocument document;
  document.text_ = std::move(text);
  std::string& own = document.text_;
  const auto fault = [&](std::size_t offset, std::string reason) {
    return Error{ErrorKind::invalid_argument, format_text("{}: {}", document.position_text(offset), reason)};
  };
  if (own.size() > std::numeric_limits<std::uint32_t>::max()) {
    return Error{ErrorKind::invalid_argument, format_text("has {} bytes; expected less than 4 GiB", own.size())};
  }
  document.lines_.push_back(0);
  for (std::size_t i = own.find('\n'); i != std::string::npos; i = own.find('\n', i + 1)) {
    document.lines_.push_back(static_cast<std::uint32_t>(i + 1));
  }
  if (const auto zero = own.find('\0'); zero != std::string::npos) {
    return fault(zero, "a zero byte; expected text");
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (own.starts_with(kByteOrderMark)) {
    own.replace(0, kByteOrderMark.size(), kByteOrderMark.size(), ' ');
  }
  constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                              rapidjson::kParseCommentsFlag | rapidjson::kParseTrailingCommasFlag |
                              rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseValidateEncodingFlag;
  // If the text ends within a character, RapidJSON reads up to three more bytes.
  own.append(3, '\0');
  rapidjson::InsituStringStream stream(own.data());
  JsonBuilder builder{document, stream};
  rapidjson::Reader reader;
  if (const auto result = reader.Parse<kFlags>(stream, builder); !result) {
    if (builder.too_deep) {
      return fault(stream.Tell(), format_text("nested deeper than {} levels", kDeepest));
    }
    std::string reason = rapidjson::GetParseError_En(result.Code());
    if (reason.ends_with('.')) {
      reason.pop_back();
    }
    return fault(result.Offset(), std::move(reason));
  }
  return document;
}

std::string JsonDocument::position_text(std::size_t offset) const {
  const auto line = std::ranges::upper_bound(lines_, offset) - lines_.begin();
  return format_text("line {}, column {}", line, offset - lines_[static_cast<std::size_t>(line) - 1] + 1);
}

}  // namespace anydml::dmlrun
