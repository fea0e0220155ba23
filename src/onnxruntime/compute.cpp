// SPDX-License-Identifier: MIT
#include "onnxruntime/compute.h"

#include <array>
#include <optional>
#include <span>

#include "onnxruntime/log.h"
#include "text/format.h"

namespace anydml::ort {
namespace {

constexpr std::size_t kFewInputs = 16;
constexpr std::size_t kInlineRank = 8;

// A tensor that the runtime passes, as the ONNX library's tensor over the same memory.
class InputTensor {
 public:
  InputTensor(const Runtime& runtime, const Value* value, anydml_tensor& tensor) {
    std::int32_t type = 0;
    const std::int64_t* sizes = nullptr;
    std::size_t rank = 0;
    if (runtime.has_version(24)) {
      runtime(kTensorForm, value, &type, &sizes, &rank);
    } else {
      TensorInfo* const info = runtime.get(kTensorInfo, value);
      type = runtime.get(kElementType, info);
      rank = runtime.get(kRank, info);
      std::int64_t* own = few_.data();
      if (rank > few_.size()) {
        many_.resize(rank);
        own = many_.data();
      }
      runtime(kSizes, info, own, rank);
      runtime(kReleaseTensorInfo, info);
      sizes = own;
    }
    tensor = anydml_const_tensor(anydml_onnx_tensor_type(type), static_cast<std::int32_t>(rank), sizes, nullptr,
                                 runtime.get(kTensorData, value));
  }
  InputTensor(const InputTensor&) = delete;
  InputTensor& operator=(const InputTensor&) = delete;

 private:
  std::array<std::int64_t, kInlineRank> few_{};
  std::vector<std::int64_t> many_;
};

// What a run needs to get the memory of outputs from the runtime.
struct OutputRequest {
  const Runtime& runtime;
  KernelContext* context;
  const std::vector<std::size_t>& outputs;
  std::optional<Failure> failure;  // of the runtime
  bool is_out_of_memory = false;
  std::vector<std::unique_ptr<std::byte[]>> unused;  // memory of outputs that nothing uses
};

// While an object of this class exists, the session's threads do the work of this thread's calls, so that its number of
// threads holds, and its threads, which spin for a while after their work, do not compete with others.
class SessionThreads {
 public:
  // context: of the kernel that runs; null to leave the work to the library's own threads.
  SessionThreads(const Runtime& runtime, KernelContext* context) : runtime_(runtime), context_(context) {
    if (context_ != nullptr) {
      anydml_set_parallel(&loop, this);
    }
  }
  ~SessionThreads() {
    if (context_ != nullptr) {
      anydml_set_parallel(nullptr, nullptr);
    }
  }
  SessionThreads(const SessionThreads&) = delete;
  SessionThreads& operator=(const SessionThreads&) = delete;

 private:
  static void loop(void* self, std::size_t count, void (*body)(void*, std::size_t), void* argument) {
    const auto& threads = *static_cast<const SessionThreads*>(self);
    // If the runtime cannot do it, this thread does all of the work.
    static_cast<void>(threads.runtime_.try_call(kContextParallelFor, threads.context_, body, count, 0, argument));
  }

  const Runtime& runtime_;
  KernelContext* const context_;
};

std::size_t bytes_of(std::int32_t type, const anydml_tensor& tensor) {
  std::size_t count = 1;
  for (std::int32_t i = 0; i < tensor.rank; ++i) {
    count *= static_cast<std::size_t>(tensor.sizes[i]);
  }
  const std::size_t size = anydml_type_size(anydml_onnx_tensor_type(type));
  return size != 0 ? count * size : (count + 1) / 2;
}

void* memory_of_output(void* context, std::size_t output, std::int32_t type, const anydml_tensor* tensor) noexcept {
  OutputRequest& request = *static_cast<OutputRequest*>(context);
  try {
    Value* value = nullptr;
    request.runtime(kContextOutput, request.context, request.outputs[output], tensor->sizes,
                    static_cast<std::size_t>(tensor->rank), &value);
    if (value != nullptr) {
      return request.runtime.get(kTensorMutableData, value);
    }
    return request.unused.emplace_back(std::make_unique_for_overwrite<std::byte[]>(bytes_of(type, *tensor))).get();
  } catch (const Failure& failure) {
    request.failure = failure;
  } catch (...) {
    request.is_out_of_memory = true;  // a message would need memory too
  }
  return nullptr;
}

}  // namespace

FusedNode::FusedNode(const Runtime& runtime, const Graph* graph, const GraphNode* node, const ModelFile& file,
                     const ProviderOptions& options)
    : NodeComputeInfo{kApiVersion, &create_state, &compute, &release_state},
      runtime_(runtime),
      memory_(&file),
      device_(options.device != nullptr && anydml_device_get_info(options.device)->own_memory != 0 ? options.device
                                                                                                   : nullptr),
      uses_own_threads_(options.threads != 0) {
  const NodeParts parts(runtime, node);
  ModelBuilder builder(runtime, graph, &memory_);
  for (const ValueInfo* value : parts.inputs) {
    builder.add_input(value);
  }
  for (const GraphNode* one : ordered_nodes(runtime, graph)) {
    builder.add_node(one);
  }
  for (std::size_t i = 0; i < parts.outputs.size(); ++i) {
    if (parts.outputs[i] != nullptr && !parts.output_names[i].empty()) {
      builder.add_output(parts.outputs[i]);
      outputs_.push_back(i);
    }
  }
  model_ = builder.finish(options.for_models());
  memory_.forget_file();
  input_count_ = anydml_onnx_input_count(model_.get());
  if (input_count_ != parts.inputs.size()) {
    throw Failure(ErrorCode::kInvalidGraph,
                  format_text("anydml: {}: the group needs {} inputs, but ONNX Runtime passes {}", parts.name,
                              input_count_, parts.inputs.size()));
  }
  masks_ = GrowingMasks(runtime, graph, parts.input_names, parts.output_names);
  if (is_log_wanted()) {
    log_provider(format_text(
        "onnxruntime: {}: {} nodes, {} inputs, {} of them growing masks, {} outputs, {} bytes of copied constants",
        parts.name, runtime.get(kNodeCount, graph), input_count_, masks_.count(), outputs_.size(), memory_.bytes()));
  }
}

Status* FusedNode::create_state(NodeComputeInfo*, NodeComputeContext*, void** state) noexcept {
  *state = nullptr;  // the model is the state of all runs
  return nullptr;
}

void FusedNode::release_state(NodeComputeInfo*, void*) noexcept {}

Status* FusedNode::compute(NodeComputeInfo* self, void*, KernelContext* context) noexcept {
  const FusedNode& node = *static_cast<const FusedNode*>(self);
  return node.runtime_.boundary([&] { node.run(context); });
}

void FusedNode::run(KernelContext* context) const {
  std::array<anydml_tensor, kFewInputs> few;
  std::vector<anydml_tensor> many;
  anydml_tensor* inputs = few.data();
  if (input_count_ > kFewInputs) {
    many.resize(input_count_);
    inputs = many.data();
  }
  std::array<std::optional<InputTensor>, kFewInputs> few_forms;
  std::vector<std::unique_ptr<InputTensor>> many_forms;
  for (std::size_t i = 0; i < input_count_; ++i) {
    const Value* value = nullptr;
    runtime_(kContextInput, context, i, &value);
    if (value == nullptr) {
      inputs[i] = {};  // an absent input
    } else if (i < kFewInputs) {
      few_forms[i].emplace(runtime_, value, inputs[i]);
    } else {
      many_forms.push_back(std::make_unique<InputTensor>(runtime_, value, inputs[i]));
    }
  }
  const std::vector<GrowingMasks::Padded> padded = masks_.pad({inputs, input_count_}, device_);
  OutputRequest request = {runtime_, context, outputs_, {}, false, {}};
  const SessionThreads threads(runtime_, uses_own_threads_ ? nullptr : context);
  const int status = anydml_onnx_run(model_.get(), inputs, input_count_, &memory_of_output, &request);
  if (status != ANYDML_OK) {
    if (request.is_out_of_memory) {
      throw std::bad_alloc();
    }
    if (request.failure.has_value()) {
      throw Failure(*request.failure);
    }
    check_onnx(status);
  }
}

}  // namespace anydml::ort
