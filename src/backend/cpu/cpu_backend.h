// SPDX-License-Identifier: MIT
// The CPU as a backend: one device, whose memory is the process's own.
#pragma once

#include "backend/backend.h"

namespace anydml {

[[nodiscard]] const BackendTable& cpu_backend();

}  // namespace anydml
