// SPDX-License-Identifier: MIT
// The states of buffers, and the states that a transition may name.
#pragma once

#include <string>

#include "d3d12/debug_messages.h"
#include "d3d12/headers.h"

namespace anydml {

[[nodiscard]] bool is_write_state(D3D12_RESOURCE_STATES state);
[[nodiscard]] std::string state_text(D3D12_RESOURCE_STATES state);

// A mistake in one of the states of a transition, regardless of the buffer's current state. The text completes a
// sentence; it is empty if the state is correct.
struct StateMistake {
  DebugMessage message;
  std::string text;
};
[[nodiscard]] StateMistake check_named_state(D3D12_RESOURCE_STATES state, bool allows_unordered_access,
                                             D3D12_COMMAND_LIST_TYPE list);

}  // namespace anydml
