// SPDX-License-Identifier: MIT
// The provider's options, which a program passes with the session's options.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "anydml/onnx.h"

namespace anydml::ort {

inline constexpr std::string_view kProviderName = "AnyDmlExecutionProvider";

struct ProviderOptions {
  std::string device_name;                // empty: the default
  const anydml_device* device = nullptr;  // null until open_device, and for the default
  bool is_literal = false;                // quantized models compute with dequantized floats
  bool allows_half = false;               // products of float16 on a GPU may have other bits
  std::uint64_t activations = 0;          // 0, ANYDML_ONNX_FLOAT_ACTIVATIONS or ANYDML_ONNX_INTEGER_ACTIVATIONS
  std::uint32_t threads = 0;              // of the library itself; 0: the session's threads do the work
  std::uint32_t kept_forms = 0;           // combinations of input sizes that stay compiled; 0: the default

  // The options for the models of the groups.
  [[nodiscard]] anydml_onnx_options for_models() const;
};

using Settings = std::vector<std::pair<std::string, std::string>>;

// Reads the options for this provider from all settings of a session. Their keys begin with "ep.", the provider's name
// in lower case and a dot. Raises std::invalid_argument with the key and the reason for an option that does not exist
// or whose value is wrong, and for a feature of the runtime that this provider does not have.
[[nodiscard]] ProviderOptions read_provider_options(const Settings& settings);
// Finds the device that has the name. The number of threads must be set before. Raises std::invalid_argument.
void open_device(ProviderOptions& options);

}  // namespace anydml::ort
