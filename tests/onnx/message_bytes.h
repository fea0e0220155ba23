// SPDX-License-Identifier: MIT
// Builds the bytes of ONNX messages. The field numbers are those of onnx.proto.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace anydml::onnx::test {

// Bytes of a message, to which fields are appended.
class Bytes {
 public:
  Bytes& number(protozero::pbf_tag_type field, std::int64_t value) {
    protozero::pbf_writer(data_).add_int64(field, value);
    return *this;
  }
  Bytes& text(protozero::pbf_tag_type field, std::string_view value) {
    protozero::pbf_writer(data_).add_bytes(field, value.data(), value.size());
    return *this;
  }
  Bytes& message(protozero::pbf_tag_type field, const Bytes& value) { return text(field, value.data_); }
  Bytes& real(protozero::pbf_tag_type field, float value) {
    protozero::pbf_writer(data_).add_float(field, value);
    return *this;
  }
  Bytes& numbers(protozero::pbf_tag_type field, const std::vector<std::int64_t>& values) {
    protozero::pbf_writer(data_).add_packed_int64(field, values.begin(), values.end());
    return *this;
  }
  Bytes& reals(protozero::pbf_tag_type field, const std::vector<float>& values) {
    protozero::pbf_writer(data_).add_packed_float(field, values.begin(), values.end());
    return *this;
  }
  [[nodiscard]] const std::string& data() const { return data_; }
  [[nodiscard]] std::span<const std::byte> span() const { return std::as_bytes(std::span(data_)); }

 private:
  std::string data_;
};

inline Bytes attribute(std::string_view name, int type) {
  Bytes bytes;
  bytes.text(1, name).number(20, type);
  return bytes;
}

inline Bytes node(std::string_view op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                  std::string_view domain = {}, const std::vector<Bytes>& attributes = {}) {
  Bytes bytes;
  for (const std::string& one : inputs) {
    bytes.text(1, one);
  }
  for (const std::string& one : outputs) {
    bytes.text(2, one);
  }
  bytes.text(4, op).text(7, domain);
  for (const Bytes& one : attributes) {
    bytes.message(5, one);
  }
  return bytes;
}

inline Bytes value(std::string_view name, int type, const std::vector<std::int64_t>& shape) {
  Bytes sizes;
  for (const std::int64_t size : shape) {
    sizes.message(1, Bytes().number(1, size));
  }
  return Bytes().text(1, name).message(2, Bytes().message(1, Bytes().number(1, type).message(2, sizes)));
}

inline Bytes tensor(std::string_view name, int type, const std::vector<std::int64_t>& dims) {
  Bytes bytes;
  bytes.numbers(1, dims).number(2, type).text(8, name);
  return bytes;
}

template <class T>
Bytes raw_tensor(std::string_view name, int type, const std::vector<std::int64_t>& dims,
                 const std::vector<T>& elements) {
  return tensor(name, type, dims)
      .text(9, std::string_view(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)));
}

inline Bytes opset(std::string_view domain, std::int64_t version) { return Bytes().text(1, domain).number(2, version); }

inline Bytes function(std::string_view name, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs, const std::vector<Bytes>& nodes) {
  Bytes bytes;
  bytes.text(1, name).text(10, "mine").message(9, opset("", 17));
  for (const std::string& one : inputs) {
    bytes.text(4, one);
  }
  for (const std::string& one : outputs) {
    bytes.text(5, one);
  }
  for (const Bytes& one : nodes) {
    bytes.message(7, one);
  }
  return bytes;
}

inline Bytes model(const Bytes& graph, const std::vector<Bytes>& functions = {}) {
  Bytes bytes;
  bytes.number(1, 8).message(8, opset("", 17)).message(7, graph);
  for (const Bytes& one : functions) {
    bytes.message(25, one);
  }
  return bytes;
}

// Returns a model with a little of everything.
inline Bytes small_model() {
  Bytes body;
  body.message(1, node("Neg", {"t"}, {"u"})).message(12, value("u", 1, {2}));
  Bytes branch = attribute("then_branch", 5);
  branch.message(6, body);
  Bytes alpha = attribute("alpha", 1);
  alpha.text(21, "slope");
  Bytes slope = attribute("slope", 1);
  slope.real(2, 0.5F);
  const Bytes relu = function("relu", {"a"}, {"b"},
                              {node("LeakyRelu", {"a"}, {"t"}, "", {alpha}), node("If", {"a"}, {"b"}, "", {branch})});
  Bytes twice =
      function("twice", {"a"}, {"b"}, {node("relu", {"a"}, {"t"}, "mine"), node("relu", {"t"}, {"b"}, "mine")});
  twice.message(11, slope);
  Bytes location;
  location.text(1, "location").text(2, "weights.bin");
  Bytes constant = attribute("value", 4);
  constant.message(5, raw_tensor<std::int64_t>("", 7, {2}, {3, 4}));
  Bytes axes = attribute("axes", 7);
  axes.numbers(8, {0, -1}).number(8, 300);
  Bytes graph;
  graph.text(2, "g")
      .message(1, node("Constant", {}, {"c"}, "", {constant}))
      .message(1, node("relu", {"x"}, {"y"}, "mine", {slope}))
      .message(1, node("twice", {"y"}, {"z"}, "mine"))
      .message(1, node("Squeeze", {"z", ""}, {"s"}, "ai.onnx", {axes}))
      .message(5, raw_tensor<float>("w", 1, {2, 2}, {1, 2, 3, 4}))
      .message(5, tensor("h", 10, {3}).numbers(5, {0x3C00, 0x4000, 0xFC00}))
      .message(5, tensor("q", 22, {3}).numbers(5, {0x8F, 0x07}))
      .message(5, tensor("e", 1, {2}).number(14, 1).message(13, location))
      .message(11, value("x", 1, {-1, 2}))
      .message(12, value("s", 1, {2}));
  return model(graph, {relu, twice});
}

}  // namespace anydml::onnx::test
