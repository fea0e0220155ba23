// SPDX-License-Identifier: MIT
// Builds models node by node, for callers that have parsed them already.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "anydml/onnx.h"
#include "onnx/api/boundary.h"
#include "onnx/api/model_handle.h"
#include "onnx/model/message.h"

struct anydml_onnx_builder {
  anydml::onnx::GraphMessage graph;
  std::vector<anydml::onnx::OpsetImport> opsets;
  int depth = 0;  // of the graphs in attributes
};

namespace anydml::onnx {
namespace {

constexpr int kMaxGraphDepth = 64;
constexpr std::int64_t kBuilderIrVersion = 10;

std::string text_or_empty(const char* text) { return text == nullptr ? std::string() : std::string(text); }

void check_builder(const char* function, const anydml_onnx_builder* builder) {
  check_pointer(function, "builder", builder, "a builder from anydml_onnx_builder_create");
}

std::string name_of(const char* function, const char* name) {
  if (name == nullptr || *name == '\0') {
    bad_call(function, name == nullptr ? "name is null; expected a name" : "name is empty; expected a name");
  }
  return name;
}

std::vector<std::string> names_of(const char* function, const char* what, const char* const* names, std::size_t count) {
  check_array(function, what, names, count);
  std::vector<std::string> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(text_or_empty(names[i]));
  }
  return all;
}

ValueMessage value_of(const char* function, const char* name, std::int32_t type, std::int32_t rank,
                      const std::int64_t* sizes, const char* const* dimension_names) {
  ValueMessage value;
  value.name = name_of(function, name);
  if (type < 0 || type > kMaxDataType) {
    bad_call(function,
             format_text("type is {}; expected the number of one of ONNX's data types, 0 to {}", type, kMaxDataType));
  }
  value.data_type = type;
  value.kind = type == 0 ? Kind::kNothing : static_cast<Kind>(type);
  if (rank < -1 || rank > kMaxArrayRank) {
    bad_call(function, format_text("rank is {}; expected -1 to {}", rank, kMaxArrayRank));
  }
  value.has_shape = rank >= 0;
  const auto count = static_cast<std::size_t>(std::max(rank, 0));
  check_array(function, "sizes", sizes, count);
  for (std::size_t i = 0; i < count; ++i) {
    if (sizes[i] < -1) {
      bad_call(function, format_text("sizes[{}] is {}; expected -1 or more", i, sizes[i]));
    }
    value.shape.push_back({sizes[i], dimension_names == nullptr ? std::string() : text_or_empty(dimension_names[i])});
  }
  return value;
}

// The size of a packed tensor in bytes; throws NoMemory if a size_t cannot hold it.
std::size_t tensor_bytes(Kind kind, const Sizes& shape) {
  const auto count = static_cast<std::size_t>(product(shape));
  if (kFourBitKinds.contains(kind)) {
    return (count + 1) / 2;
  }
  if (count > SIZE_MAX / item_size(kind)) {
    throw NoMemory(format_text("a tensor with the sizes {} is too large", listed(shape)));
  }
  return count * item_size(kind);
}

// Checks a tensor's type and sizes. Its data is not known yet.
TensorMessage form_of(const char* function, const std::string& name, const anydml_onnx_tensor* tensor) {
  check_pointer(function, "tensor", tensor, "a pointer to an anydml_onnx_tensor");
  if (anydml_onnx_tensor_type(tensor->type) == ANYDML_NONE) {
    const std::string kind = anydml_onnx_type_name(tensor->type);
    throw Unsupported(format_text("{}: the type of tensor {} is {} ({}), which anydml does not support", function,
                                  quoted(name), tensor->type, kind),
                      {"tensor of " + kind});
  }
  if (tensor->rank < 0 || tensor->rank > kMaxArrayRank) {
    bad_call(function, format_text("tensor.rank is {}; expected 0 to {}", tensor->rank, kMaxArrayRank));
  }
  const auto rank = static_cast<std::size_t>(tensor->rank);
  check_array(function, "tensor.sizes", tensor->sizes, rank);
  TensorMessage message;
  message.name = name;
  message.data_type = tensor->type;
  message.dims.assign(tensor->sizes, tensor->sizes + rank);
  if (std::ranges::any_of(message.dims, [](std::int64_t size) { return size < 0; })) {
    bad_call(function, format_text("tensor.sizes are {}; expected 0 or more", listed(message.dims)));
  }
  message.has_raw_data = true;
  return message;
}

TensorMessage tensor_of(const char* function, const std::string& name, const anydml_onnx_tensor* tensor) {
  TensorMessage message = form_of(function, name, tensor);
  const std::size_t bytes = tensor_bytes(static_cast<Kind>(tensor->type), message.dims);
  check_array(function, "tensor.data", tensor->data, bytes);
  message.raw_data = {static_cast<const std::byte*>(tensor->data), bytes};
  return message;
}

// A tensor whose elements are in a file.
TensorMessage file_tensor_of(const char* function, const std::string& name, const anydml_onnx_tensor* tensor,
                             const char* path, std::uint64_t offset) {
  TensorMessage message = form_of(function, name, tensor);
  check_pointer(function, "path", path, "the path of a file");
  SharedFile file;
  try {
    file = mapped_file(path);
  } catch (const Invalid& error) {
    bad_call(function, format_text("the file {} cannot be mapped: {}", quoted(path), error.what()));
  }
  const std::size_t bytes = tensor_bytes(static_cast<Kind>(tensor->type), message.dims);
  if (offset > file->bytes().size() || bytes > file->bytes().size() - offset) {
    bad_call(function, format_text("tensor {} has {} bytes at offset {}, but the file {} has {}", quoted(name), bytes,
                                   offset, quoted(path), file->bytes().size()));
  }
  message.raw_data = file->bytes().subspan(offset, bytes);
  message.owner = std::move(file);
  return message;
}

// A graph in an attribute. Its depth is limited, because code that visits graphs is recursive.
std::shared_ptr<const GraphMessage> graph_of(const char* function, const anydml_onnx_builder* of, int& depth) {
  check_pointer(function, "value.g", of, "a builder from anydml_onnx_builder_create");
  if (of->depth + 1 >= kMaxGraphDepth) {
    bad_call(function, format_text("graphs are nested more than {} deep", kMaxGraphDepth));
  }
  depth = std::max(depth, of->depth + 1);
  return std::make_shared<const GraphMessage>(of->graph);
}

AttributeMessage attribute_of(const char* function, const anydml_onnx_attribute& given, int& depth) {
  AttributeMessage attribute;
  attribute.name = name_of(function, given.name);
  attribute.type = static_cast<AttributeType>(given.type);
  const std::size_t count = given.count;
  switch (given.type) {
    case ANYDML_ONNX_ATTRIBUTE_FLOAT:
      attribute.f = given.value.f;
      break;
    case ANYDML_ONNX_ATTRIBUTE_INT:
      attribute.i = given.value.i;
      break;
    case ANYDML_ONNX_ATTRIBUTE_STRING:
      check_pointer(function, "value.s", given.value.s, "a text");
      attribute.s = given.value.s;
      break;
    case ANYDML_ONNX_ATTRIBUTE_TENSOR:
      attribute.t = std::make_shared<const TensorMessage>(tensor_of(function, {}, given.value.t));
      break;
    case ANYDML_ONNX_ATTRIBUTE_GRAPH:
      attribute.g = graph_of(function, given.value.g, depth);
      break;
    case ANYDML_ONNX_ATTRIBUTE_FLOATS:
      check_array(function, "value.floats", given.value.floats, count);
      attribute.floats.assign(given.value.floats, given.value.floats + count);
      break;
    case ANYDML_ONNX_ATTRIBUTE_INTS:
      check_array(function, "value.ints", given.value.ints, count);
      attribute.ints.assign(given.value.ints, given.value.ints + count);
      break;
    case ANYDML_ONNX_ATTRIBUTE_STRINGS:
      attribute.strings = names_of(function, "value.strings", given.value.strings, count);
      break;
    default:
      bad_call(function, format_text("the type of attribute {} is {}; expected one of ANYDML_ONNX_ATTRIBUTE_FLOAT (1) "
                                     "to ANYDML_ONNX_ATTRIBUTE_STRINGS (8)",
                                     quoted(attribute.name), given.type));
  }
  return attribute;
}

NodeMessage node_of(const char* function, const anydml_onnx_node& given, int& depth) {
  check_pointer(function, "node.op_type", given.op_type, "the name of an operator");
  NodeMessage node;
  node.op_type = given.op_type;
  node.domain = text_or_empty(given.domain);
  node.name = text_or_empty(given.name);
  node.inputs = names_of(function, "node.inputs", given.inputs, given.input_count);
  node.outputs = names_of(function, "node.outputs", given.outputs, given.output_count);
  check_array(function, "node.attributes", given.attributes, given.attribute_count);
  for (std::size_t i = 0; i < given.attribute_count; ++i) {
    AttributeMessage attribute = attribute_of(function, given.attributes[i], depth);
    if (node.find(attribute.name) != nullptr) {
      bad_call(function, "two attributes have the name " + quoted(attribute.name));
    }
    node.attributes.push_back(std::move(attribute));
  }
  return node;
}

}  // namespace
}  // namespace anydml::onnx

using anydml::onnx::bad_call;
using anydml::onnx::boundary;
using anydml::onnx::check_builder;
using anydml::onnx::check_pointer;

int anydml_onnx_builder_create(anydml_onnx_builder** builder) {
  return boundary([&] {
    check_pointer("anydml_onnx_builder_create", "builder", builder, "a pointer to store the result");
    *builder = nullptr;
    *builder = new anydml_onnx_builder;
  });
}

void anydml_onnx_builder_release(anydml_onnx_builder* builder) { delete builder; }

int anydml_onnx_builder_set_opset(anydml_onnx_builder* builder, const char* domain, int64_t version) {
  constexpr const char* kFunction = "anydml_onnx_builder_set_opset";
  return boundary([&] {
    check_builder(kFunction, builder);
    if (version < 1) {
      bad_call(kFunction, anydml::format_text("version is {}; expected 1 or more", version));
    }
    const std::string name = anydml::onnx::text_or_empty(domain);
    const auto found = std::ranges::find(builder->opsets, name, &anydml::onnx::OpsetImport::domain);
    if (found != builder->opsets.end()) {
      found->version = version;
    } else {
      builder->opsets.push_back({name, version});
    }
  });
}

int anydml_onnx_builder_add_input(anydml_onnx_builder* builder, const char* name, int32_t type, int32_t rank,
                                  const int64_t* sizes, const char* const* dimension_names) {
  constexpr const char* kFunction = "anydml_onnx_builder_add_input";
  return boundary([&] {
    check_builder(kFunction, builder);
    builder->graph.inputs.push_back(anydml::onnx::value_of(kFunction, name, type, rank, sizes, dimension_names));
  });
}

int anydml_onnx_builder_add_output(anydml_onnx_builder* builder, const char* name, int32_t type, int32_t rank,
                                   const int64_t* sizes, const char* const* dimension_names) {
  constexpr const char* kFunction = "anydml_onnx_builder_add_output";
  return boundary([&] {
    check_builder(kFunction, builder);
    builder->graph.outputs.push_back(anydml::onnx::value_of(kFunction, name, type, rank, sizes, dimension_names));
  });
}

int anydml_onnx_builder_add_initializer(anydml_onnx_builder* builder, const char* name,
                                        const anydml_onnx_tensor* tensor) {
  constexpr const char* kFunction = "anydml_onnx_builder_add_initializer";
  return boundary([&] {
    check_builder(kFunction, builder);
    const std::string own = anydml::onnx::name_of(kFunction, name);
    builder->graph.initializers.push_back(anydml::onnx::tensor_of(kFunction, own, tensor));
  });
}

int anydml_onnx_builder_add_file_initializer(anydml_onnx_builder* builder, const char* name,
                                             const anydml_onnx_tensor* tensor, const char* path, uint64_t offset) {
  constexpr const char* kFunction = "anydml_onnx_builder_add_file_initializer";
  return boundary([&] {
    check_builder(kFunction, builder);
    const std::string own = anydml::onnx::name_of(kFunction, name);
    builder->graph.initializers.push_back(anydml::onnx::file_tensor_of(kFunction, own, tensor, path, offset));
  });
}

int anydml_onnx_builder_add_node(anydml_onnx_builder* builder, const anydml_onnx_node* node) {
  constexpr const char* kFunction = "anydml_onnx_builder_add_node";
  return boundary([&] {
    check_builder(kFunction, builder);
    check_pointer(kFunction, "node", node, "a pointer to an anydml_onnx_node");
    int depth = builder->depth;
    builder->graph.nodes.push_back(anydml::onnx::node_of(kFunction, *node, depth));
    builder->depth = depth;
  });
}

int anydml_onnx_builder_finish(const anydml_onnx_builder* builder, const anydml_onnx_options* options,
                               anydml_onnx_model** model) {
  constexpr const char* kFunction = "anydml_onnx_builder_finish";
  return boundary(
      [&] {
        check_pointer(kFunction, "model", model, "a pointer to store the result");
        *model = nullptr;
        check_builder(kFunction, builder);
        const anydml_onnx_options own = anydml::onnx::read_options(kFunction, options);
        anydml::onnx::ModelMessage message;
        message.ir_version = anydml::onnx::kBuilderIrVersion;
        message.opset_imports = builder->opsets;
        message.graph = builder->graph;
        *model = anydml::onnx::make_model(std::move(message), own);
      },
      options);
}
