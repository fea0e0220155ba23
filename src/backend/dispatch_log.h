// SPDX-License-Identifier: MIT
// Writes the log line for a dispatch, in the same form for every API.
#pragma once

#include <string_view>

#include "backend/backend.h"
#include "base/log.h"

namespace anydml {

// make_text(kernels) returns the line; it is called only if the line is shown.
template <class MakeText>
void log_dispatch(const BackendTable& backend, const BackendProgram* program, MakeText make_text) noexcept {
  if (!log_enabled(LogLevel::dispatch)) {
    return;
  }
  try {
    char kernels[128] = "";
    backend.explain(program, kernels, sizeof(kernels));
    log_line(LogLevel::dispatch, make_text(std::string_view(kernels)));
  } catch (...) {  // no memory for the line; the work continues
  }
}

}  // namespace anydml
