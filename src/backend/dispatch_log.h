// SPDX-License-Identifier: MIT
// The line of a dispatch in the log, the same whichever API it came through.
#pragma once

#include "backend/backend.h"
#include "base/log.h"
#include "ops/op_desc.h"

namespace anydml {

inline void log_dispatch(const OpDesc& desc, const BackendTable& backend, const char* device,
                         const BackendProgram* program) noexcept {
  if (!log_enabled(LogLevel::dispatch)) {
    return;
  }
  try {
    char kernels[128] = "";
    backend.explain(program, kernels, sizeof(kernels));
    log_line(LogLevel::dispatch, dispatch_text(desc, device, kernels));
  } catch (...) {  // no memory for the line; the work goes on
  }
}

}  // namespace anydml
