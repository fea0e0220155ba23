// SPDX-License-Identifier: MIT
// Packs weights in codes (coded.h).
#pragma once

#include <memory>

#include "backend/cpu/family.h"

namespace anydml {

[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_coded_pack(const Step& flat);

}  // namespace anydml
