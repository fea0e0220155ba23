// SPDX-License-Identifier: MIT
#include "onnx/generate/config.h"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "onnx/model/files.h"
#include "onnx/values/errors.h"

namespace anydml::onnx {
namespace {

using rapidjson::Value;

constexpr std::int64_t kMaxLayers = 10'000;
constexpr std::int64_t kMaxSize = std::int64_t{1} << 24;
constexpr std::int64_t kMaxLength = std::int64_t{1} << 30;

// A JSON document whose members have names with dots, such as model.decoder.head_size.
class Fields {
 public:
  explicit Fields(const std::string& path) : path_(path) {
    SharedFile file;
    try {
      file = mapped_file(path);
    } catch (const Invalid& error) {
      fail("{}: {}", quoted(path), error.what());
    }
    const std::span<const std::byte> bytes = file->bytes();
    // The iterative parser needs no stack for nested arrays.
    constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
    document_.Parse<kFlags>(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (document_.HasParseError()) {
      fail("{}: it is not JSON at byte {}: {}", quoted(path), document_.GetErrorOffset(),
           rapidjson::GetParseError_En(document_.GetParseError()));
    }
  }

  // Null if there is no such member, or if it is null.
  [[nodiscard]] const Value* find(std::string_view name) const {
    const Value* at = &document_;
    for (;;) {
      const std::size_t dot = name.find('.');
      const std::string_view first = name.substr(0, dot);
      if (!at->IsObject()) {
        return nullptr;
      }
      const auto member = at->FindMember(Value(rapidjson::StringRef(first.data(), first.size())));
      if (member == at->MemberEnd() || member->value.IsNull()) {
        return nullptr;
      }
      at = &member->value;
      if (dot == std::string_view::npos) {
        return at;
      }
      name.remove_prefix(dot + 1);
    }
  }

  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t low, std::int64_t high,
                                     std::optional<std::int64_t> fallback = std::nullopt) const {
    const Value* const value = find(name);
    if (value == nullptr && fallback) {
      return *fallback;
    }
    return checked_integer(name, value, low, high);
  }

  [[nodiscard]] double number(std::string_view name, double low, double high, double fallback) const {
    const Value* const value = find(name);
    if (value == nullptr) {
      return fallback;
    }
    if (!value->IsNumber() || value->GetDouble() < low || value->GetDouble() > high) {
      wrong(name, format_text("expected a number from {} to {}", low, high));
    }
    return value->GetDouble();
  }

  [[nodiscard]] std::string text(std::string_view name, std::string_view fallback) const {
    const Value* const value = find(name);
    if (value == nullptr) {
      return std::string(fallback);
    }
    if (!value->IsString() || value->GetStringLength() == 0) {
      wrong(name, "expected a text");
    }
    return {value->GetString(), value->GetStringLength()};
  }

  // A number or a list of numbers.
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name, std::int64_t low, std::int64_t high) const {
    const Value* const value = find(name);
    std::vector<std::int64_t> all;
    if (value == nullptr) {
      return all;
    }
    if (!value->IsArray()) {
      return {checked_integer(name, value, low, high)};
    }
    for (const Value& one : value->GetArray()) {
      all.push_back(checked_integer(name, &one, low, high));
    }
    return all;
  }

  [[noreturn]] void wrong(std::string_view name, std::string_view reason) const {
    fail("{}: {}: {}", quoted(path_), name, reason);
  }

 private:
  [[nodiscard]] std::int64_t checked_integer(std::string_view name, const Value* value, std::int64_t low,
                                             std::int64_t high) const {
    if (value == nullptr) {
      wrong(name, "the field is missing");
    }
    if (!value->IsInt64() || value->GetInt64() < low || value->GetInt64() > high) {
      wrong(name, format_text("expected an integer from {} to {}", low, high));
    }
    return value->GetInt64();
  }

  std::string path_;
  rapidjson::Document document_;
};

// A name of a cache, which must contain %d once and no other %.
std::string pattern(const Fields& fields, std::string_view name, std::string_view fallback) {
  std::string text = fields.text(name, fallback);
  if (std::count(text.begin(), text.end(), '%') != 1 || text.find("%d") == std::string::npos) {
    fields.wrong(name, format_text("it is {}; expected a name with one %d for the number of the layer", quoted(text)));
  }
  return text;
}

// The model's file, which must be in the folder: a description from elsewhere must not name other files.
std::string file_name(const Fields& fields) {
  constexpr std::string_view kName = "model.decoder.filename";
  std::string name = fields.text(kName, "model.onnx");
  if (name.find('/') != std::string::npos || name.find('\0') != std::string::npos || name == "..") {
    fields.wrong(kName, format_text("it is {}; expected the name of a file in the same folder", quoted(name)));
  }
  return name;
}

SearchDefaults search_defaults(const Fields& fields, std::int64_t context_length) {
  constexpr double kMost = 1e6;
  SearchDefaults search;
  const Value* const sampled = fields.find("search.do_sample");
  if (sampled != nullptr && !sampled->IsBool()) {
    fields.wrong("search.do_sample", "expected true or false");
  }
  if (sampled != nullptr && sampled->GetBool()) {
    search.temperature = fields.number("search.temperature", 0, kMost, 1);
    search.top_k = fields.integer("search.top_k", 0, kMaxSize, 0);
    search.top_p = fields.number("search.top_p", 0, 1, 1);
    search.top_p = search.top_p == 0 ? 1 : search.top_p;  // 0 means that there is no limit
  }
  search.repetition_penalty = fields.number("search.repetition_penalty", 0, kMost, 1);
  if (search.repetition_penalty == 0) {
    fields.wrong("search.repetition_penalty", "it is 0; expected a number above 0");
  }
  search.max_length = std::min(fields.integer("search.max_length", 1, kMaxLength, context_length), context_length);
  return search;
}

}  // namespace

GenerateConfig read_generate_config(const std::string& folder) {
  const Fields fields(folder + "/genai_config.json");
  if (fields.find("model.decoder") == nullptr || !fields.find("model.decoder")->IsObject()) {
    fields.wrong("model.decoder", "the field is missing");
  }
  if (fields.find("model.decoder.pipeline") != nullptr) {
    throw Unsupported(quoted(folder) + ": model.decoder.pipeline: a model in several files is not supported",
                      {"a language model in several files"});
  }
  GenerateConfig config;
  config.path = folder + "/" + file_name(fields);
  config.tokens = fields.text("model.decoder.inputs.input_ids", "input_ids");
  config.mask = fields.text("model.decoder.inputs.attention_mask", "attention_mask");
  config.positions = fields.text("model.decoder.inputs.position_ids", "position_ids");
  config.past_keys = pattern(fields, "model.decoder.inputs.past_key_names", "past_key_values.%d.key");
  config.past_values = pattern(fields, "model.decoder.inputs.past_value_names", "past_key_values.%d.value");
  config.logits = fields.text("model.decoder.outputs.logits", "logits");
  config.present_keys = pattern(fields, "model.decoder.outputs.present_key_names", "present.%d.key");
  config.present_values = pattern(fields, "model.decoder.outputs.present_value_names", "present.%d.value");
  config.layers = fields.integer("model.decoder.num_hidden_layers", 1, kMaxLayers);
  config.heads = fields.integer("model.decoder.num_key_value_heads", 1, kMaxSize);
  config.head_size = fields.integer("model.decoder.head_size", 1, kMaxSize);
  config.context_length = fields.integer("model.context_length", 1, kMaxLength);
  config.words = fields.integer("model.vocab_size", 1, kMaxSize, 0);
  config.end_tokens = fields.integers("model.eos_token_id", 0, kMaxSize);
  config.search = search_defaults(fields, config.context_length);
  return config;
}

std::string layer_name(const std::string& pattern, std::int64_t layer) {
  const std::size_t at = pattern.find("%d");
  return pattern.substr(0, at) + std::to_string(layer) + pattern.substr(at + 2);
}

}  // namespace anydml::onnx
