// SPDX-License-Identifier: MIT
// Rebuilds nodes of the runtime's graphs with the ONNX library's builder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "anydml/onnx.h"
#include "onnxruntime/model_file.h"
#include "onnxruntime/nodes.h"
#include "onnxruntime/runtime.h"

namespace anydml::ort {

template <auto kRelease>
struct ReleaseWith {
  template <class Object>
  void operator()(Object* object) const {
    kRelease(object);
  }
};
using OnnxBuilder = std::unique_ptr<anydml_onnx_builder, ReleaseWith<&anydml_onnx_builder_release>>;
using OnnxModel = std::unique_ptr<anydml_onnx_model, ReleaseWith<&anydml_onnx_release>>;

// A failure of the ONNX library; `is_unsupported` tells what it does not support from what is wrong.
class OnnxFailure : public Failure {
 public:
  explicit OnnxFailure(int status);
  [[nodiscard]] bool is_unsupported() const { return is_unsupported_; }

 private:
  bool is_unsupported_;
};
// Raises OnnxFailure unless the status is ANYDML_OK.
void check_onnx(int status);

// The memory of constants. It must live as long as the models that use it.
class ConstantMemory {
 public:
  // file: the file of the model, whose weights need no copies; may be null, and is used only while models are built.
  explicit ConstantMemory(const ModelFile* file = nullptr) : file_(file) {}

  // The file will not be used any more.
  void forget_file() { file_ = nullptr; }
  bool add_from_file(anydml_onnx_builder* builder, const std::string& name, const anydml_onnx_tensor& tensor,
                     std::span<const std::byte> bytes);
  // A copy of bytes.
  const void* copy(const void* bytes, std::size_t count);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  const ModelFile* file_;
  std::vector<std::unique_ptr<std::byte[]>> copies_;
  std::size_t bytes_ = 0;
};

// Builds a model from nodes. The constants of the graph become initializers, and all other values that no node of the
// model computes are its inputs.
class ModelBuilder {
 public:
  // memory: receives copies of the constants. If it is null, the model only asks whether nodes can run: large constants
  // become inputs, because their elements are not needed for the answer, and the others are not copied.
  ModelBuilder(const Runtime& runtime, const Graph* graph, ConstantMemory* memory);

  // Raises Failure, or OnnxFailure with the reason if the node cannot be part of a model.
  void add_node(const GraphNode* node);
  void add_input(const ValueInfo* value);
  void add_output(const ValueInfo* value);
  // Declares inputs for the values that nodes use and that neither a node nor an input is.
  [[nodiscard]] OnnxModel finish(const anydml_onnx_options& options);

 private:
  friend class AttributeReader;
  ModelBuilder(const ModelBuilder& outer, OnnxBuilder builder);

  void add_value(const ValueInfo* value);
  void add_initializer(const ValueInfo* value, const Value* given);
  [[nodiscard]] OnnxBuilder body(const Graph* graph) const;
  [[nodiscard]] bool add_constant(const ValueInfo* value);
  [[nodiscard]] bool add_file_constant(const ValueInfo* value);
  [[nodiscard]] std::span<const std::byte> bytes_of(const Value* tensor, const TensorContents& contents) const;
  [[nodiscard]] const void* kept(const Value* tensor, std::size_t bytes) const;

  const Runtime& runtime_;
  ConstantMemory* const memory_;
  const std::shared_ptr<ConstantMemory> asked_;  // without memory_: the tensors of attributes, which the runtime copies
  bool has_file_ = false;                        // whether the model is from a file
  std::filesystem::path folder_;                 // of the file
  OnnxBuilder builder_;
  std::unordered_set<std::string> known_;  // names of inputs, constants and results
};

}  // namespace anydml::ort
