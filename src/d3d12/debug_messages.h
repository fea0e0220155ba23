// SPDX-License-Identifier: MIT
// The mistakes that the debug layer finds, with the ids, categories and severities that filters of ID3D12InfoQueue use.
#pragma once

#include <cstddef>

#include "d3d12/headers.h"

namespace anydml {

enum class DebugMessage {
#define ANYDML_DEBUG_MESSAGE(name, id, category, severity) name,
#include "d3d12/debug_messages.def"
#undef ANYDML_DEBUG_MESSAGE
};

inline constexpr std::size_t kDebugMessages = 0
#define ANYDML_DEBUG_MESSAGE(name, id, category, severity) +1
#include "d3d12/debug_messages.def"
#undef ANYDML_DEBUG_MESSAGE
    ;

struct MessageKind {
  D3D12_MESSAGE_ID id;
  D3D12_MESSAGE_CATEGORY category;
  D3D12_MESSAGE_SEVERITY severity;
};

[[nodiscard]] constexpr MessageKind kind_of(DebugMessage message) {
  constexpr MessageKind kKinds[] = {
#define ANYDML_DEBUG_MESSAGE(name, id, category, severity) \
  {static_cast<D3D12_MESSAGE_ID>(id), D3D12_MESSAGE_CATEGORY_##category, D3D12_MESSAGE_SEVERITY_##severity},
#include "d3d12/debug_messages.def"
#undef ANYDML_DEBUG_MESSAGE
  };
  return kKinds[static_cast<int>(message)];
}

}  // namespace anydml
