// SPDX-License-Identifier: MIT
// Fields of protobuf messages, for the files that parse models.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>

#include "onnx/model/message.h"

namespace anydml::onnx {

using Fields = protozero::pbf_reader;

// A field's number together with its wire type, as in Fields::tag_and_type.
[[nodiscard]] constexpr std::uint32_t number_field(protozero::pbf_tag_type field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::varint);
}
[[nodiscard]] constexpr std::uint32_t bytes_field(protozero::pbf_tag_type field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::length_delimited);
}
[[nodiscard]] constexpr std::uint32_t fixed32_field(protozero::pbf_tag_type field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::fixed32);
}
[[nodiscard]] constexpr std::uint32_t fixed64_field(protozero::pbf_tag_type field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::fixed64);
}

// The current field as text; raises Invalid if it is not UTF-8.
[[nodiscard]] std::string text_of(Fields& fields);
// Reads ValueInfoProto.
void read_value(Fields fields, ValueMessage& value);
// Reads the elements of a TensorProto without raw_data from the field for its type.
void read_elements(Fields fields, TensorMessage& tensor);

}  // namespace anydml::onnx
