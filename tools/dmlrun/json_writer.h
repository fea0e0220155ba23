// SPDX-License-Identifier: MIT
// RapidJSON's writer with names and texts as the standard library has them.
#pragma once

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "echo.h"

namespace anydml::dmlrun {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return writer_.StartObject(), *this; }
  JsonWriter& end_object() { return writer_.EndObject(), *this; }
  JsonWriter& begin_array() { return writer_.StartArray(), *this; }
  JsonWriter& end_array() { return writer_.EndArray(), *this; }
  JsonWriter& key(std::string_view name) { return writer_.Key(name.data(), length(name)), *this; }
  // What is not UTF-8, as a file's name may be, comes out escaped.
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
  // Arrays that follow stand on one line each, or on several again.
  JsonWriter& one_line(bool yes) {
    writer_.SetFormatOptions(yes ? rapidjson::kFormatSingleLineArray : rapidjson::kFormatDefault);
    return *this;
  }

  // All of it, with a line's end.
  void print(std::FILE* to) {
    std::fwrite(buffer_.GetString(), 1, buffer_.GetSize(), to);
    std::fputc('\n', to);
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

  rapidjson::StringBuffer buffer_;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer_{buffer_};
};

}  // namespace anydml::dmlrun
