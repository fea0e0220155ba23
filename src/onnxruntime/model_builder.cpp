// SPDX-License-Identifier: MIT
#include "onnxruntime/model_builder.h"

#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "onnxruntime/groups.h"
#include "onnxruntime/nodes.h"
#include "onnxruntime/options.h"
#include "text/format.h"

namespace anydml::ort {
namespace {

// Larger constants are not needed to answer whether a node can run.
constexpr std::size_t kMaxAskedBytes = std::size_t{1} << 16;
// For smaller constants, looking into the file of the model is not worthwhile.
constexpr std::size_t kMinFileBytes = std::size_t{1} << 14;

OnnxBuilder new_builder() {
  anydml_onnx_builder* builder = nullptr;
  check_onnx(anydml_onnx_builder_create(&builder));
  return OnnxBuilder(builder);
}

ErrorCode code_of(int status) {
  switch (status) {
    case ANYDML_INVALID_ARGUMENT:
      return ErrorCode::kInvalidArgument;
    case ANYDML_UNSUPPORTED:
      return ErrorCode::kNotImplemented;
    default:
      return ErrorCode::kRuntimeException;  // Python's package reacts to kEpFail by running the model without the
                                            // provider
  }
}

// Bytes of an attribute. The runtime states the size if the buffer is too small.
std::vector<char> attribute_bytes(const Runtime& runtime, const Attribute* attribute, AttributeKind kind) {
  std::vector<char> bytes(64);
  std::size_t size = 0;
  if (!runtime.try_call(kReadAttribute, attribute, kind, bytes.data(), bytes.size(), &size)) {
    bytes.resize(size);
    runtime(kReadAttribute, attribute, kind, bytes.data(), bytes.size(), &size);
  }
  bytes.resize(size);
  return bytes;
}

template <class Number>
std::vector<Number> attribute_numbers(const Runtime& runtime, const Attribute* attribute, AttributeKind kind) {
  const std::vector<char> bytes = attribute_bytes(runtime, attribute, kind);
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!numbers.empty()) {
    std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  }
  return numbers;
}

}  // namespace

// The attributes of a node in the ONNX library's form, with the memory that they point to.
class AttributeReader {
 public:
  AttributeReader(const ModelBuilder& of, const GraphNode* node) : of_(of), runtime_(of.runtime_) {
    for (const Attribute* attribute : runtime_.list(kAttributeCount, kAttributes, node)) {
      const AttributeKind kind = runtime_.get(kAttributeKind, attribute);
      if (kind != AttributeKind::kGraph) {
        const char* const name = runtime_.get(kAttributeName, attribute);
        read(attribute, kind, add(name));
      }
    }
    std::vector<const Graph*> graphs(runtime_.get(kSubgraphCount, node));
    if (!graphs.empty()) {
      std::vector<const char*> names(graphs.size());
      runtime_(kSubgraphs, node, graphs.data(), graphs.size(), names.data());
      for (std::size_t i = 0; i < graphs.size(); ++i) {
        anydml_onnx_attribute& added = add(names[i]);
        added.type = ANYDML_ONNX_ATTRIBUTE_GRAPH;
        bodies_.push_back(of_.body(graphs[i]));
        added.value.g = bodies_.back().get();
      }
    }
  }
  AttributeReader(const AttributeReader&) = delete;
  AttributeReader& operator=(const AttributeReader&) = delete;

  [[nodiscard]] const std::vector<anydml_onnx_attribute>& all() const { return all_; }

 private:
  anydml_onnx_attribute& add(const char* name) {
    anydml_onnx_attribute& added = all_.emplace_back();
    added.name = texts_.emplace_back(name).c_str();
    return added;
  }

  void read(const Attribute* attribute, AttributeKind kind, anydml_onnx_attribute& to) {
    switch (kind) {
      case AttributeKind::kInt:
        to.type = ANYDML_ONNX_ATTRIBUTE_INT;
        to.value.i = attribute_numbers<std::int64_t>(runtime_, attribute, kind).at(0);
        break;
      case AttributeKind::kFloat:
        to.type = ANYDML_ONNX_ATTRIBUTE_FLOAT;
        to.value.f = attribute_numbers<float>(runtime_, attribute, kind).at(0);
        break;
      case AttributeKind::kInts: {
        const auto& numbers = ints_.emplace_back(attribute_numbers<std::int64_t>(runtime_, attribute, kind));
        to.type = ANYDML_ONNX_ATTRIBUTE_INTS;
        to.value.ints = numbers.data();
        to.count = static_cast<std::uint32_t>(numbers.size());
        break;
      }
      case AttributeKind::kFloats: {
        const auto& numbers = floats_.emplace_back(attribute_numbers<float>(runtime_, attribute, kind));
        to.type = ANYDML_ONNX_ATTRIBUTE_FLOATS;
        to.value.floats = numbers.data();
        to.count = static_cast<std::uint32_t>(numbers.size());
        break;
      }
      case AttributeKind::kString: {
        const std::vector<char> bytes = attribute_bytes(runtime_, attribute, kind);
        to.type = ANYDML_ONNX_ATTRIBUTE_STRING;
        to.value.s = texts_.emplace_back(bytes.begin(), bytes.end()).c_str();
        break;
      }
      case AttributeKind::kStrings:
        read_strings(attribute, to);
        break;
      case AttributeKind::kTensor:
        read_tensor(attribute, to);
        break;
      default:
        throw Failure(ErrorCode::kNotImplemented,
                      format_text("attribute {} has a type that ONNX Runtime does not pass on", to.name));
    }
  }

  // The runtime ends each string with a null character.
  void read_strings(const Attribute* attribute, anydml_onnx_attribute& to) {
    const std::vector<char> bytes = attribute_bytes(runtime_, attribute, AttributeKind::kStrings);
    std::vector<const char*>& pointers = lists_.emplace_back();
    for (std::size_t at = 0; at < bytes.size();) {
      const std::string& text = texts_.emplace_back(bytes.data() + at, strnlen(bytes.data() + at, bytes.size() - at));
      pointers.push_back(text.c_str());
      at += text.size() + 1;
    }
    to.type = ANYDML_ONNX_ATTRIBUTE_STRINGS;
    to.value.strings = pointers.data();
    to.count = static_cast<std::uint32_t>(pointers.size());
  }

  void read_tensor(const Attribute* attribute, anydml_onnx_attribute& to) {
    Value* const value = values_.add(runtime_.get(kAttributeTensor, attribute));
    const TensorContents contents(runtime_, value);
    anydml_onnx_tensor& tensor = tensors_.emplace_back(contents.tensor());
    sizes_.push_back(contents.sizes());
    tensor.sizes = sizes_.back().data();
    tensor.data =
        (of_.memory_ != nullptr ? *of_.memory_ : *of_.asked_).copy(runtime_.get(kTensorData, value), contents.bytes());
    to.type = ANYDML_ONNX_ATTRIBUTE_TENSOR;
    to.value.t = &tensor;
  }

  // A class of its own, because the constructor fails if one of the attributes is not supported.
  class Values {
   public:
    explicit Values(const Runtime& runtime) : runtime_(runtime) {}
    ~Values() {
      for (Value* const one : all_) {
        runtime_(kReleaseValue, one);
      }
    }
    Values(const Values&) = delete;
    Values& operator=(const Values&) = delete;

    Value* add(Value* value) {
      all_.push_back(value);
      return value;
    }

   private:
    const Runtime& runtime_;
    std::vector<Value*> all_;
  };

  const ModelBuilder& of_;
  const Runtime& runtime_;
  std::vector<anydml_onnx_attribute> all_;
  // Elements of a deque stay where they are when others are added.
  std::deque<std::string> texts_;
  std::deque<std::vector<std::int64_t>> ints_, sizes_;
  std::deque<std::vector<float>> floats_;
  std::deque<std::vector<const char*>> lists_;
  std::deque<anydml_onnx_tensor> tensors_;
  Values values_{runtime_};
  std::vector<OnnxBuilder> bodies_;
};

OnnxFailure::OnnxFailure(int status)
    : Failure(code_of(status), anydml_last_error()), is_unsupported_(status == ANYDML_UNSUPPORTED) {}

void check_onnx(int status) {
  if (status != ANYDML_OK) {
    throw OnnxFailure(status);
  }
}

const void* ConstantMemory::copy(const void* bytes, std::size_t count) {
  const auto& own = copies_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(count));
  if (count != 0) {
    std::memcpy(own.get(), bytes, count);
  }
  bytes_ += count;
  return own.get();
}

// Adds an initializer that the file of the model has. Returns false if it does not have it, or if it is small.
bool ConstantMemory::add_from_file(anydml_onnx_builder* builder, const std::string& name,
                                   const anydml_onnx_tensor& tensor, std::span<const std::byte> bytes) {
  if (file_ == nullptr || bytes.size() < kMinFileBytes) {
    return false;
  }
  const std::optional<std::uint64_t> offset = file_->offset_of(name, bytes);
  return offset.has_value() && anydml_onnx_builder_add_file_initializer(builder, name.c_str(), &tensor,
                                                                        file_->path().c_str(), *offset) == ANYDML_OK;
}

ModelBuilder::ModelBuilder(const Runtime& runtime, const Graph* graph, ConstantMemory* memory)
    : runtime_(runtime), memory_(memory), asked_(std::make_shared<ConstantMemory>()), builder_(new_builder()) {
  const std::filesystem::path path = runtime.get(kModelPath, graph);
  has_file_ = !path.empty();
  folder_ = path.parent_path();
  std::vector<const char*> domains(runtime.get(kOpsetCount, graph));
  std::vector<std::int64_t> versions(domains.size());
  runtime(kOpsets, graph, domains.data(), versions.data(), domains.size());
  for (std::size_t i = 0; i < domains.size(); ++i) {
    check_onnx(anydml_onnx_builder_set_opset(builder_.get(), domains[i], versions[i]));
  }
}

ModelBuilder::ModelBuilder(const ModelBuilder& outer, OnnxBuilder builder)
    : runtime_(outer.runtime_),
      memory_(outer.memory_),
      asked_(outer.asked_),
      has_file_(outer.has_file_),
      folder_(outer.folder_),
      builder_(std::move(builder)) {}

void ModelBuilder::add_input(const ValueInfo* value) {
  const std::string name = name_of(runtime_, value);
  if (known_.insert(name).second) {
    // The runtime's shapes are not declared: inputs may differ from them, and the runtime only warns then.
    check_onnx(anydml_onnx_builder_add_input(builder_.get(), name.c_str(), form_of(runtime_, value).type, -1, nullptr,
                                             nullptr));
  }
}

void ModelBuilder::add_output(const ValueInfo* value) {
  check_onnx(anydml_onnx_builder_add_output(builder_.get(), name_of(runtime_, value).c_str(), ANYDML_ONNX_UNDEFINED, -1,
                                            nullptr, nullptr));
}

const void* ModelBuilder::kept(const Value* tensor, std::size_t bytes) const {
  const void* const data = runtime_.get(kTensorData, tensor);
  return memory_ == nullptr ? data : memory_->copy(data, bytes);
}

void ModelBuilder::add_initializer(const ValueInfo* value, const Value* given) {
  const TensorContents contents(runtime_, given);
  anydml_onnx_tensor tensor = contents.tensor();
  const std::string name = name_of(runtime_, value);
  if (memory_ == nullptr || !memory_->add_from_file(builder_.get(), name, tensor, bytes_of(given, contents))) {
    tensor.data = kept(given, contents.bytes());
    check_onnx(anydml_onnx_builder_add_initializer(builder_.get(), name.c_str(), &tensor));
  }
  known_.insert(name);
}

std::span<const std::byte> ModelBuilder::bytes_of(const Value* tensor, const TensorContents& contents) const {
  return {static_cast<const std::byte*>(runtime_.get(kTensorData, tensor)), contents.bytes()};
}

// Adds a constant whose elements are in a file next to the model, which is mapped: the runtime's own copy is not used.
// Returns false if they are not.
bool ModelBuilder::add_file_constant(const ValueInfo* value) {
  ExternalInfo* const info = has_file_ ? runtime_.get(kExternalInfo, value) : nullptr;
  if (info == nullptr) {
    return false;
  }
  const std::filesystem::path location = runtime_(kExternalPath, info);
  const std::int64_t offset = runtime_(kExternalOffset, info);
  runtime_(kReleaseExternalInfo, info);
  const ValueForm form = form_of(runtime_, value);
  const anydml_onnx_tensor tensor = {form.type, static_cast<std::int32_t>(form.sizes.size()), form.sizes.data(),
                                     nullptr};
  const std::string name = name_of(runtime_, value);
  // A relative path begins at the model's folder; an absolute one replaces it. If there is no such file, the runtime's
  // copy is used.
  const std::string path = (folder_ / location).string();
  if (anydml_onnx_builder_add_file_initializer(builder_.get(), name.c_str(), &tensor, path.c_str(),
                                               static_cast<std::uint64_t>(offset)) != ANYDML_OK) {
    return false;
  }
  known_.insert(name);
  return true;
}

// Adds a value as an initializer if it is a constant of the graph. Returns whether it did.
bool ModelBuilder::add_constant(const ValueInfo* value) {
  if (!runtime_.get(kIsConstant, value)) {
    return false;
  }
  if (memory_ != nullptr && add_file_constant(value)) {
    return true;
  }
  const Value* const given = runtime_.get(kInitializerValue, value);
  if (given == nullptr || (memory_ == nullptr && TensorContents(runtime_, given).bytes() > kMaxAskedBytes)) {
    return false;
  }
  add_initializer(value, given);
  return true;
}

// Makes a value known that a node uses.
void ModelBuilder::add_value(const ValueInfo* value) {
  if (value != nullptr && !known_.contains(name_of(runtime_, value)) && !add_constant(value)) {
    add_input(value);
  }
}

void ModelBuilder::add_node(const GraphNode* node) {
  const NodeParts parts(runtime_, node);
  if (parts.domain == kProviderName) {
    throw Failure(ErrorCode::kNotImplemented, "nodes of its body run in the provider already");
  }
  for (const ValueInfo* value : parts.inputs) {
    add_value(value);
  }
  for (const ValueInfo* value : parts.implicit_inputs) {
    add_value(value);
  }
  const AttributeReader attributes(*this, node);
  std::vector<const char*> inputs, outputs;
  for (const std::string& name : parts.input_names) {
    inputs.push_back(name.c_str());
  }
  for (const std::string& name : parts.output_names) {
    outputs.push_back(name.c_str());
    known_.insert(name);
  }
  const anydml_onnx_node given = {.op_type = parts.op.c_str(),
                                  .domain = parts.domain.c_str(),
                                  .name = parts.name.c_str(),
                                  .inputs = inputs.data(),
                                  .input_count = inputs.size(),
                                  .outputs = outputs.data(),
                                  .output_count = outputs.size(),
                                  .attributes = attributes.all().data(),
                                  .attribute_count = attributes.all().size()};
  check_onnx(anydml_onnx_builder_add_node(builder_.get(), &given));
}

// The graph of an attribute. It sees the values of the graphs around it by their names.
OnnxBuilder ModelBuilder::body(const Graph* graph) const {
  ModelBuilder inner(*this, new_builder());
  for (const ValueInfo* value : runtime_.list(kGraphInputCount, kGraphInputs, graph)) {
    inner.add_input(value);
  }
  for (const ValueInfo* value : runtime_.list(kInitializerCount, kInitializers, graph)) {
    if (!inner.known_.contains(name_of(runtime_, value))) {
      inner.add_initializer(value, runtime_.get(kInitializerValue, value));
    }
  }
  const std::vector<const GraphNode*> nodes = ordered_nodes(runtime_, graph);
  // Values of the graphs around the body are known by their names.
  for (const GraphNode* node : nodes) {
    const NodeParts parts(runtime_, node);
    inner.known_.insert(parts.input_names.begin(), parts.input_names.end());
    for (const ValueInfo* value : parts.implicit_inputs) {
      inner.known_.insert(name_of(runtime_, value));
    }
  }
  for (const GraphNode* node : nodes) {
    inner.add_node(node);
  }
  for (const ValueInfo* value : runtime_.list(kGraphOutputCount, kGraphOutputs, graph)) {
    inner.add_output(value);
  }
  return std::move(inner.builder_);
}

OnnxModel ModelBuilder::finish(const anydml_onnx_options& options) {
  anydml_onnx_model* model = nullptr;
  check_onnx(anydml_onnx_builder_finish(builder_.get(), &options, &model));
  return OnnxModel(model);
}

}  // namespace anydml::ort
