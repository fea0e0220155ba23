// SPDX-License-Identifier: MIT
#include "onnxruntime/options.h"

#include <charconv>
#include <stdexcept>

#include "text/format.h"

namespace anydml::ort {
namespace {

constexpr std::string_view kPrefix = "ep.anydmlexecutionprovider.";
constexpr std::uint32_t kMaxThreads = 1024;
constexpr std::uint32_t kMaxForms = 65536;

[[noreturn]] void bad_option(std::string_view key, std::string_view value, std::string_view expected) {
  throw std::invalid_argument(format_text("{}: option {} is \"{}\"; expected {}", kProviderName, key, value, expected));
}

bool read_switch(std::string_view key, std::string_view value) {
  if (value != "0" && value != "1") {
    bad_option(key, value, "0 or 1");
  }
  return value == "1";
}

std::uint64_t read_activations(std::string_view key, std::string_view value) {
  if (value != "model" && value != "float" && value != "integer") {
    bad_option(key, value, "model, float or integer");
  }
  return value == "float" ? ANYDML_ONNX_FLOAT_ACTIVATIONS : value == "integer" ? ANYDML_ONNX_INTEGER_ACTIVATIONS : 0U;
}

std::uint32_t read_count(std::string_view key, std::string_view value, std::uint32_t most) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number == 0 || number > most) {
    bad_option(key, value, format_text("a number from 1 to {}", most));
  }
  return number;
}

}  // namespace

anydml_onnx_options ProviderOptions::for_models() const {
  anydml_onnx_options options = ANYDML_ONNX_OPTIONS_INIT;
  options.device = device;
  options.flags =
      (is_literal ? ANYDML_ONNX_LITERAL : 0U) | (allows_half ? ANYDML_ONNX_ALLOW_HALF_PRECISION : 0U) | activations;
  options.kept_forms = kept_forms;
  return options;
}

ProviderOptions read_provider_options(const Settings& settings) {
  ProviderOptions options;
  for (const auto& [name, value] : settings) {
    if (name == "ep.context_enable" && value == "1") {
      throw std::invalid_argument(
          format_text("{}: the session's option {} is 1, but the provider writes no EPContext models; its compiled "
                      "graphs exist only in memory",
                      kProviderName, name));
    }
    const bool is_mode = name == "ep.enable_weightless_mode";
    if ((name == "ep.enable_weightless" && value == "1") || (is_mode && value != "0")) {
      throw std::invalid_argument(format_text(
          "{}: the session's option {} is {}, but the provider has no weightless sessions: it reads weights "
          "from the model's files without copies, and packs them once",
          kProviderName, name, value));
    }
    if (!name.starts_with(kPrefix)) {
      continue;
    }
    const std::string_view key = std::string_view(name).substr(kPrefix.size());
    if (key == "device") {
      options.device_name = value;
    } else if (key == "activations") {
      options.activations = read_activations(key, value);
    } else if (key == "literal") {
      options.is_literal = read_switch(key, value);
    } else if (key == "half_precision") {
      options.allows_half = read_switch(key, value);
    } else if (key == "kept_forms") {
      options.kept_forms = read_count(key, value, kMaxForms);
    } else if (key == "threads") {
      options.threads = read_count(key, value, kMaxThreads);
    } else {
      throw std::invalid_argument(format_text(
          "{}: there is no option {}; the options are activations, device, half_precision, kept_forms, literal and "
          "threads",
          kProviderName, key));
    }
  }
  return options;
}

void open_device(ProviderOptions& options) {
  if (options.device_name.empty()) {
    return;
  }
  options.device = anydml_find_device(options.device_name.c_str());
  if (options.device == nullptr) {
    bad_option("device", options.device_name, format_text("the name of a device: {}", anydml_last_error()));
  }
}

}  // namespace anydml::ort
