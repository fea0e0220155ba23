// SPDX-License-Identifier: MIT
// The CPU backend. It has a single device, which uses the process's own memory.
#pragma once

#include "backend/backend.h"

namespace anydml {

[[nodiscard]] const BackendTable& cpu_backend();

}  // namespace anydml
