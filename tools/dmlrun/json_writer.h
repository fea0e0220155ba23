// SPDX-License-Identifier: MIT
// RapidJSON's writer for standard strings. Writes to a file incrementally, or keeps the text and prints it at the end.
#pragma once

#include <rapidjson/prettywriter.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "echo.h"

namespace anydml::dmlrun {

class JsonWriter {
 public:
  JsonWriter() = default;                                        // the text is kept in memory until print()
  explicit JsonWriter(std::FILE* file) { stream_.file = file; }  // written incrementally, so any length is possible

  JsonWriter& begin_object() { return writer_.StartObject(), open_.push_back('{'), *this; }
  JsonWriter& end_object() { return writer_.EndObject(), open_.pop_back(), *this; }
  JsonWriter& begin_array() { return writer_.StartArray(), open_.push_back('['), *this; }
  JsonWriter& end_array() { return writer_.EndArray(), open_.pop_back(), *this; }
  // Closes objects and arrays until only `depth` are open, so that an interrupted document is still complete.
  JsonWriter& close_to(std::size_t depth) {
    while (open_.size() > depth) {
      open_.back() == '{' ? end_object() : end_array();
    }
    return *this;
  }
  JsonWriter& key(std::string_view name) { return writer_.Key(name.data(), length(name)), *this; }
  // Escapes bytes that are not UTF-8, which a file name may contain.
  JsonWriter& text(std::string_view value) {
    const std::string escaped = is_utf8(value) ? std::string(value) : echo(value, value.size());
    return writer_.String(escaped.data(), length(escaped)), *this;
  }
  JsonWriter& number(std::uint64_t value) { return writer_.Uint64(value), *this; }
  JsonWriter& real(double value) { return writer_.Double(value), *this; }
  JsonWriter& boolean(bool value) { return writer_.Bool(value), *this; }
  JsonWriter& null() { return writer_.Null(), *this; }
  JsonWriter& digits(std::string_view value) {
    return writer_.RawValue(value.data(), value.size(), rapidjson::kNumberType), *this;
  }
  // Sets whether the following arrays are each written on one line.
  JsonWriter& one_line(bool yes) {
    writer_.SetFormatOptions(yes ? rapidjson::kFormatSingleLineArray : rapidjson::kFormatDefault);
    return *this;
  }

  // The text so far.
  [[nodiscard]] const std::string& kept() const { return stream_.text; }

  // Prints the whole text, or the part that is not written yet, and ends the line.
  void print(std::FILE* to) {
    stream_.text.push_back('\n');
    stream_.write(to);
  }

 private:
  static bool is_utf8(std::string_view text) {
    while (!text.empty()) {
      const std::size_t bytes = static_cast<unsigned char>(text[0]) < 0x80 ? 1 : printable_bytes(text);
      if (bytes == 0) {
        return false;
      }
      text.remove_prefix(bytes);
    }
    return true;
  }
  static rapidjson::SizeType length(std::string_view text) { return static_cast<rapidjson::SizeType>(text.size()); }

  // An output stream as RapidJSON defines it.
  struct Stream {
    using Ch = char;
    static constexpr std::size_t kPiece = 65536;
    std::FILE* file = nullptr;
    std::string text;
    void Put(char letter) {
      text.push_back(letter);
      if (file != nullptr && text.size() >= kPiece) {
        write(file);
      }
    }
    void Flush() {}
    void write(std::FILE* to) {
      std::fwrite(text.data(), 1, text.size(), to);
      text.clear();
    }
  };

  Stream stream_;
  std::string open_;  // a bracket for each object and array that has not ended
  rapidjson::PrettyWriter<Stream> writer_{stream_};
};

}  // namespace anydml::dmlrun
