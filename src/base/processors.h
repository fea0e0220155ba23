// SPDX-License-Identifier: MIT
// The number of processors that the process may use.
#pragma once

#include <string>

namespace anydml {

// The number of processors that the process may run on. In containers, a control group may limit processor time, so the
// number can be lower; fractions are rounded up. At least 1. root: as in base/memory.h.
[[nodiscard]] unsigned usable_processors(const std::string& root = {});

}  // namespace anydml
