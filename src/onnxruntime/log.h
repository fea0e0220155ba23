// SPDX-License-Identifier: MIT
// The lines that ANYDML_LOG=onnxruntime shows: which nodes the provider takes, and why it leaves others.
#pragma once

#include <string_view>

namespace anydml::ort {

[[nodiscard]] bool is_log_wanted() noexcept;
void log_provider(std::string_view line) noexcept;

}  // namespace anydml::ort
