// SPDX-License-Identifier: MIT
// The number of processors that the process may keep busy.
#pragma once

#include <string>

namespace anydml {

// The processors that the process may run on, or fewer if a control group limits its processor time, as in containers;
// fractions are rounded up. At least 1. root: as in base/memory.h.
[[nodiscard]] unsigned usable_processors(const std::string& root = {});

}  // namespace anydml
