// SPDX-License-Identifier: MIT
// A model in memory, as ONNX's messages describe it. Bytes of tensors are not copied: they stay in the file's mapping,
// or in the caller's memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/model/files.h"
#include "onnx/values/array.h"

namespace anydml::onnx {

struct GraphMessage;

// The numbers are those of AttributeProto.AttributeType.
enum class AttributeType : std::int32_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kTypeProto = 13,
  kTypeProtos = 14,
};

struct TensorMessage {
  std::string name;
  std::int32_t data_type = 0;
  Sizes dims;
  bool has_raw_data = false;
  std::span<const std::byte> raw_data;  // in memory that `owner` keeps valid
  // The elements of the field for the tensor's type, such as float_data, in the same form as raw_data has them; null if
  // there is raw_data, or if arrays cannot have the type.
  std::shared_ptr<const std::vector<std::byte>> elements;
  std::size_t element_count = 0;          // the number of entries in that field
  std::vector<std::string_view> strings;  // of a tensor of strings, in memory that `owner` keeps valid
  bool has_segment = false;               // it is a part of a larger tensor, which is not supported
  bool is_external = false;
  std::vector<std::pair<std::string, std::string>> external_data;
  std::shared_ptr<const void> owner;
  Array array;  // the tensor as an array, if the caller supplied one instead of bytes
};

struct AttributeMessage {
  std::string name;
  AttributeType type = AttributeType::kUndefined;
  std::string ref_attr_name;
  float f = 0;
  std::int64_t i = 0;
  std::string s;
  std::shared_ptr<const TensorMessage> t;
  std::shared_ptr<const GraphMessage> g;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
  std::vector<std::shared_ptr<const GraphMessage>> graphs;
};

struct NodeMessage {
  std::string name;
  std::string op_type;
  std::string domain;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<AttributeMessage> attributes;

  [[nodiscard]] const AttributeMessage* find(std::string_view attribute) const {
    for (const AttributeMessage& one : attributes) {
      if (one.name == attribute) {
        return &one;
      }
    }
    return nullptr;
  }
};

// The type of an input or output. A dimension is a size, or unknown (-1) and perhaps named.
struct Dimension {
  std::int64_t size = -1;
  std::string name;
};
struct ValueMessage {
  std::string name;
  Kind kind = Kind::kNothing;  // the element type of a tensor, or kSequence, kMap, ...
  std::int32_t data_type = 0;  // the number in the file, which may be unknown
  bool has_shape = false;
  std::vector<Dimension> shape;
  // Of an output that is a sequence of maps, which the library computes as a matrix: the keys of its columns.
  Array keys = {};
};

struct GraphMessage {
  std::string name;
  std::vector<NodeMessage> nodes;
  std::vector<TensorMessage> initializers;
  std::vector<std::string> sparse_initializers;  // their names; they are not supported
  std::vector<ValueMessage> inputs;
  std::vector<ValueMessage> outputs;
};

struct OpsetImport {
  std::string domain;
  std::int64_t version = 0;
};

struct FunctionMessage {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs, attributes;
  std::vector<AttributeMessage> default_attributes;
  std::vector<NodeMessage> nodes;
  std::vector<OpsetImport> opset_imports;
};

struct ModelMessage {
  std::int64_t ir_version = 0;
  std::vector<OpsetImport> opset_imports;
  std::vector<FunctionMessage> functions;
  GraphMessage graph;
  std::string folder;  // the folder of external tensors; empty if there is none
  bool has_folder = false;
};

[[nodiscard]] inline bool is_default_domain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }
// "Conv 'name'", or "Conv that computes 'y'" for a node without a name.
[[nodiscard]] std::string label_of(const NodeMessage& node);

// ---- Reading (read.cpp, tensors.cpp, files.cpp) ---------------------------------------------------------------------

// Parses a model. The bytes of tensors stay where they are, and `owner` keeps them valid. Raises Invalid.
[[nodiscard]] ModelMessage parse_model(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                       const std::string& what);
// Maps a file and parses it.
[[nodiscard]] ModelMessage read_model(const std::string& path);
// The elements of a tensor, in the message or in a file next to the model, which is mapped. `what` describes a tensor
// without a name. Checks everything that the tensor declares about its size and location first. The result is absent if
// arrays cannot have the tensor's type; nodes that use such a value are not supported.
[[nodiscard]] Array array_of(const TensorMessage& tensor, const ModelMessage& model, const std::string& what = {});
// The same for a tensor of four-bit elements, whose bytes stay as they are (halves.h).
[[nodiscard]] Array halves_of(const TensorMessage& tensor, const ModelMessage& model);
// The element type, by its number; raises Invalid if ONNX has no such type.
[[nodiscard]] Kind checked_kind(std::int64_t number, const std::string& what);
// The position of the first byte that is not UTF-8. parse_model has checked all names; the strings of attributes may be
// any bytes.
[[nodiscard]] std::optional<std::size_t> find_wrong_utf8(std::string_view text);
// Raises Invalid if a name or text is not UTF-8.
void check_utf8(std::string_view text);

// ---- Functions (inline.cpp) -----------------------------------------------------------------------------------------

// Replaces calls to the model's functions with the functions' nodes. Raises Invalid if functions call themselves, or if
// the result would have more than a million nodes.
void inline_functions(ModelMessage& model);

}  // namespace anydml::onnx
