// SPDX-License-Identifier: MIT
// RapidJSON's writer with names and texts as the standard library has them.
#pragma once

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <cstdint>
#include <cstdio>
#include <string_view>

namespace anydml::dmlrun {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return writer_.StartObject(), *this; }
  JsonWriter& end_object() { return writer_.EndObject(), *this; }
  JsonWriter& begin_array() { return writer_.StartArray(), *this; }
  JsonWriter& end_array() { return writer_.EndArray(), *this; }
  JsonWriter& key(std::string_view name) { return writer_.Key(name.data(), length(name)), *this; }
  JsonWriter& text(std::string_view value) { return writer_.String(value.data(), length(value)), *this; }
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
  static rapidjson::SizeType length(std::string_view text) { return static_cast<rapidjson::SizeType>(text.size()); }

  rapidjson::StringBuffer buffer_;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer_{buffer_};
};

}  // namespace anydml::dmlrun
