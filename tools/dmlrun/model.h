// SPDX-License-Identifier: MIT
// A model after it was read. Its buffers, operators and commands are consistent with each other. At this point, memory
// contains only values that are listed in the file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/element.h"
#include "compare.h"
#include "facts/facts.h"
#include "memory_budget.h"
#include "random_values.h"
#include "values.h"

namespace anydml::dmlrun {

struct ConstantValues {
  ElementBits value;
};
struct SequenceValues {
  ElementBits first;
  ElementBits step;
};
struct FileValues {
  std::filesystem::path path;
  std::uint64_t offset;
};
using InitialValues = std::variant<std::vector<std::byte>, ConstantValues, SequenceValues, RandomValues, FileValues>;

struct Resource {
  std::string name;
  DataType type = DataType::unknown;  // unknown for a list of mixed types
  InitialValues values;
  std::uint64_t value_bytes = 0;  // the size of the values
  std::uint64_t bytes = 0;        // the size of the buffer

  // The type for printing and writing. Mixed lists do not have one, and use bytes.
  [[nodiscard]] DataType shown_type() const { return type == DataType::unknown ? DataType::UINT8 : type; }
  [[nodiscard]] std::uint64_t shown_elements() const { return value_bytes / element_size(shown_type()); }
};

struct TensorValue {
  std::uint32_t tensor_type = 1;  // DML_TENSOR_TYPE_BUFFER
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::vector<std::uint32_t> sizes;
  std::vector<std::uint32_t> strides;  // empty if packed
  std::uint64_t total_bytes = 0;
  std::uint32_t alignment = 0;
};

struct OperatorModel;

// A member of a desc struct, in one of the five forms that members have.
struct InlineWords {  // numbers, enumerations, unions, sizes: 4 or 8 bytes in the struct itself
  std::array<std::uint32_t, 2> words;
};
struct PointedWords {  // arrays of 32-bit numbers, and a ScaleBias
  std::vector<std::uint32_t> words;
};
using FieldValue =
    std::variant<std::monostate, InlineWords, PointedWords, std::vector<TensorValue>, std::vector<OperatorModel>>;

struct OperatorModel {
  const facts::Operator* facts = nullptr;
  std::vector<FieldValue> fields;  // in the order of facts->fields
};

struct BindingSource {
  std::optional<std::size_t> resource;  // no value if a tensor of an array is bound elsewhere
  std::uint64_t offset_bytes = 0;
};

struct Binding {
  std::size_t port = 0;                // the index of the dispatchable's port
  std::vector<BindingSource> sources;  // one for each tensor of the port
};

// The source of a tensor within a graph: a port of the graph, an output of a node, or a constant.
struct EdgeSource {
  enum class Kind : std::uint8_t { input, node, constant };
  Kind kind = Kind::input;
  std::size_t index = 0;
  std::uint32_t output = 0;  // the index of the node's output
};

struct NodeModel {
  std::string name;       // empty for a single operator
  std::string desc_path;  // the location of the operator's fields
  OperatorModel op;
  std::vector<std::optional<EdgeSource>> sources;  // in a graph, for each input tensor; nothing if it is absent
};

// A named binding point of a dispatchable: the tensors of an operator's field, or an input or output of a graph.
struct Port {
  struct Need {
    std::uint64_t bytes = 0;
    bool owned = false;
    std::vector<std::uint32_t> sizes = {};  // empty if its elements are not packed
  };
  std::string name;
  bool is_output = false;
  std::vector<Need> tensors;  // several for an array, and none if an optional tensor is absent
};

// An operator, which is one node, or a graph.
struct Dispatchable {
  std::string name;
  std::string path;
  bool is_graph = false;
  std::vector<NodeModel> nodes;     // empty if they could not be read
  std::vector<Resource> constants;  // of a graph
  std::vector<EdgeSource> outputs;  // nodes of a graph, in the order of its ports
  std::vector<Port> ports;
  std::uint32_t execution_flags = 0;
  std::vector<Binding> initial_bindings;
};

struct DispatchCommand {
  std::size_t dispatchable = 0;
  std::vector<Binding> bindings;
};
struct PrintCommand {
  std::size_t resource = 0;
  bool verbose = false;
};
struct WriteFileCommand {
  std::size_t resource = 0;
  std::filesystem::path path;
  std::string target;  // the path as written in the model
  std::vector<std::uint64_t> dimensions;
};
struct CompareCommand {
  std::size_t resource = 0;
  std::size_t expected = 0;  // the resource with the right values
  Tolerance tolerance;
};
struct Command {
  std::string path;
  std::variant<DispatchCommand, PrintCommand, WriteFileCommand, CompareCommand> what;
};

struct Model {
  std::vector<Resource> resources;
  std::vector<Dispatchable> dispatchables;
  std::vector<Command> commands;
  MemoryBudget memory;  // reading counts memory here, and operators later add the memory that they need
};

[[nodiscard]] inline const std::string& desc_path(const Dispatchable& dispatchable) {
  return dispatchable.nodes.empty() || dispatchable.is_graph ? dispatchable.path : dispatchable.nodes.front().desc_path;
}

// Returns the tensors of a field: one, several for an array, or none if an optional tensor is absent.
[[nodiscard]] inline const std::vector<TensorValue>* tensors_of(const FieldValue& field) {
  return std::get_if<std::vector<TensorValue>>(&field);
}

}  // namespace anydml::dmlrun
