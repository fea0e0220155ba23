// SPDX-License-Identifier: MIT
#include "onnx/generate/decoder.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "onnx/generate/last_rows.h"
#include "onnx/model/message.h"
#include "onnx/values/errors.h"

namespace anydml::onnx {
namespace {

std::optional<std::size_t> position_of(const std::vector<ValueMessage>& values, const std::string& name) {
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const ValueMessage& one) { return one.name == name; });
  return found == values.end() ? std::nullopt
                               : std::optional(static_cast<std::size_t>(std::distance(values.begin(), found)));
}

std::size_t required_position(const std::vector<ValueMessage>& values, const std::string& name, const char* what,
                              const char* field) {
  const std::optional<std::size_t> position = position_of(values, name);
  if (!position) {
    fail("{}: the model has no {} {}", field, what, quoted(name));
  }
  return *position;
}

std::int64_t integer_of(const NodeMessage& node, std::string_view attribute, std::int64_t fallback) {
  const AttributeMessage* const found = node.find(attribute);
  return found == nullptr ? fallback : found->i;
}

// A model may compute the logits of the last token only, and declare that.
bool has_all_logits(const ModelMessage& message, const std::string& logits) {
  const std::optional<std::size_t> position = position_of(message.graph.outputs, logits);
  if (!position) {
    return false;
  }
  const ValueMessage& output = message.graph.outputs[*position];
  return !output.has_shape || output.shape.size() != 3 || output.shape[1].size != 1;
}

// A node that reads a cache, and whether it is the only one.
struct Reader {
  const NodeMessage* node = nullptr;
  std::size_t place = 0;  // among the inputs of the node
  std::size_t count = 0;
};

}  // namespace

Decoder::Decoder(const GenerateConfig& config, const ModelOptions& options) {
  ModelMessage message = read_model(config.path);
  constexpr const char* kRows = "anydml/row_of_logits";
  const bool can_pad = has_all_logits(message, config.logits);
  const bool selects = can_pad && select_rows(message, config.logits, kRows);
  const std::vector<NodeMessage> nodes = message.graph.nodes;  // a model does not keep them
  model_ = std::make_unique<Model>(std::move(message), options);
  if (selects) {
    rows_ = position_of(model_->inputs(), kRows);
  }
  can_pad_ = can_pad;
  find_inputs(config);
  find_outputs(config);
  find_cache(config);
  read_nodes(nodes);
}

std::optional<std::size_t> Decoder::integer_input(const std::string& name, const char* field) const {
  const std::optional<std::size_t> position = position_of(model_->inputs(), name);
  if (position) {
    const ValueMessage& input = model_->inputs()[*position];
    if ((input.kind != Kind::kInt64 && input.kind != Kind::kInt32) || (input.has_shape && input.shape.size() != 2)) {
      throw Unsupported(format_text("{}: the input {} is not a matrix of int64 or int32", field, quoted(name)),
                        {"a language model with other tokens than integers"});
    }
  }
  return position;
}

void Decoder::find_inputs(const GenerateConfig& config) {
  constexpr const char* kField = "model.decoder.inputs.input_ids";
  tokens_ = required_position(model_->inputs(), config.tokens, "input", kField);
  static_cast<void>(integer_input(config.tokens, kField));
  mask_ = integer_input(config.mask, "model.decoder.inputs.attention_mask");
  positions_ = integer_input(config.positions, "model.decoder.inputs.position_ids");
}

void Decoder::find_outputs(const GenerateConfig& config) {
  constexpr const char* kField = "model.decoder.outputs.logits";
  logits_ = required_position(model_->outputs(), config.logits, "output", kField);
  const ValueMessage& output = model_->outputs()[logits_];
  if (!kFloatKinds.contains(output.kind)) {
    fail("{}: the output {} has elements of type {}; expected floats", kField, quoted(config.logits),
         kind_name(output.kind));
  }
}

void Decoder::find_cache(const GenerateConfig& config) {
  std::vector<bool> is_known(model_->inputs().size(), false);
  is_known[tokens_] = true;
  for (const auto& position : {mask_, positions_, rows_}) {
    if (position) {
      is_known[*position] = true;
    }
  }
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    for (const bool is_key : {true, false}) {
      const std::string past = layer_name(is_key ? config.past_keys : config.past_values, layer);
      const std::string present = layer_name(is_key ? config.present_keys : config.present_values, layer);
      CacheTensor tensor;
      tensor.input =
          required_position(model_->inputs(), past, "input",
                            is_key ? "model.decoder.inputs.past_key_names" : "model.decoder.inputs.past_value_names");
      tensor.output = required_position(
          model_->outputs(), present, "output",
          is_key ? "model.decoder.outputs.present_key_names" : "model.decoder.outputs.present_value_names");
      const auto is_taken = [&](const CacheTensor& other) {
        return other.input == tensor.input || other.output == tensor.output;
      };
      if (is_known[tensor.input] || tensor.output == logits_ || std::any_of(cache_.begin(), cache_.end(), is_taken)) {
        fail(
            "the input {} or the output {} has two meanings; expected names of their own for the keys and the values "
            "of each layer",
            quoted(past), quoted(present));
      }
      const ValueMessage& input = model_->inputs()[tensor.input];
      if (!kArrayKinds.contains(input.kind)) {
        fail("the input {} has elements of type {}; expected a type of arrays", quoted(past), kind_name(input.kind));
      }
      const auto size_of = [&](std::size_t axis, std::int64_t given, const char* field) {
        const std::int64_t declared = input.has_shape && input.shape.size() == 4 ? input.shape[axis].size : -1;
        if (declared >= 0 && declared != given) {
          fail("{} is {}, but the model's input {} has the size {}", field, given, quoted(past), declared);
        }
        return given;
      };
      tensor.kind = input.kind;
      tensor.heads = size_of(1, config.heads, "model.decoder.num_key_value_heads");
      tensor.head_size = size_of(3, config.head_size, "model.decoder.head_size");
      is_known[tensor.input] = true;
      cache_.push_back(tensor);
    }
  }
  for (std::size_t i = 0; i < is_known.size(); ++i) {
    if (!is_known[i] && !model_->has_initializer(i)) {
      const std::string name = quoted(model_->inputs()[i].name);
      throw Unsupported(format_text("the model has an input {}, which is not supported; expected tokens, a mask, "
                                    "positions and the keys and values of {} layers",
                                    name, config.layers),
                        {"a language model with an input " + name});
    }
  }
}

void Decoder::read_nodes(const std::vector<NodeMessage>& nodes) {
  std::map<std::string, Reader> readers;
  for (const CacheTensor& tensor : cache_) {
    readers[model_->inputs()[tensor.input].name];
  }
  for (const NodeMessage& node : nodes) {
    // Some models choose between two tables of angles by the width of the mask, which free rows would change.
    can_have_free_rows_ = can_have_free_rows_ && node.op_type != "If";
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto found = readers.find(node.inputs[i]);
      if (found != readers.end()) {
        found->second = {&node, i, found->second.count + 1};
      }
    }
  }
  for (CacheTensor& tensor : cache_) {
    constexpr std::size_t kPastKey = 3, kPastValue = 4;  // of GroupQueryAttention
    const Reader& reader = readers[model_->inputs()[tensor.input].name];
    const bool is_grouped = reader.count == 1 && reader.node->op_type == "GroupQueryAttention" &&
                            reader.node->domain == "com.microsoft" &&
                            (reader.place == kPastKey || reader.place == kPastValue);
    can_have_free_rows_ = can_have_free_rows_ && is_grouped && mask_;
    if (is_grouped && integer_of(*reader.node, "sliding_window_cache", 0) != 0) {
      tensor.window = std::max<std::int64_t>(1, integer_of(*reader.node, "local_window_size", 1));
      can_pad_ = false;  // padding would displace rows that are still needed
    }
  }
  can_pad_ = can_pad_ && can_have_free_rows_;
}

}  // namespace anydml::onnx
