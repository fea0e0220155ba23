// SPDX-License-Identifier: MIT
// The line of a dispatch in the log, the same whichever API it came through.
#pragma once

#include <string_view>

#include "backend/backend.h"
#include "base/log.h"

namespace anydml {

// make_text(kernels) is the line; it is asked for only where somebody reads it.
template <class MakeText>
void log_dispatch(const BackendTable& backend, const BackendProgram* program, MakeText make_text) noexcept {
  if (!log_enabled(LogLevel::dispatch)) {
    return;
  }
  try {
    char kernels[128] = "";
    backend.explain(program, kernels, sizeof(kernels));
    log_line(LogLevel::dispatch, make_text(std::string_view(kernels)));
  } catch (...) {  // no memory for the line; the work goes on
  }
}

}  // namespace anydml
