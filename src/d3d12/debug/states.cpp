// SPDX-License-Identifier: MIT
#include "d3d12/debug/states.h"

#include "text/format.h"

namespace anydml {
namespace {

constexpr unsigned kWriteStates = D3D12_RESOURCE_STATE_UNORDERED_ACCESS | D3D12_RESOURCE_STATE_COPY_DEST |
                                  D3D12_RESOURCE_STATE_STREAM_OUT | D3D12_RESOURCE_STATE_RENDER_TARGET |
                                  D3D12_RESOURCE_STATE_DEPTH_WRITE | D3D12_RESOURCE_STATE_RESOLVE_DEST;

}  // namespace

bool is_write_state(D3D12_RESOURCE_STATES state) { return (static_cast<unsigned>(state) & kWriteStates) != 0; }

std::string state_text(D3D12_RESOURCE_STATES state) {
  switch (static_cast<unsigned>(state)) {
    case D3D12_RESOURCE_STATE_COMMON:
      return "COMMON";
    case D3D12_RESOURCE_STATE_UNORDERED_ACCESS:
      return "UNORDERED_ACCESS";
    case D3D12_RESOURCE_STATE_COPY_DEST:
      return "COPY_DEST";
    case D3D12_RESOURCE_STATE_COPY_SOURCE:
      return "COPY_SOURCE";
    case D3D12_RESOURCE_STATE_GENERIC_READ:
      return "GENERIC_READ";
    case D3D12_RESOURCE_STATE_NON_PIXEL_SHADER_RESOURCE:
      return "NON_PIXEL_SHADER_RESOURCE";
    default:
      return format_text("{:#x}", static_cast<unsigned>(state));
  }
}

StateMistake check_named_state(D3D12_RESOURCE_STATES state, bool allows_unordered_access,
                               D3D12_COMMAND_LIST_TYPE list) {
  const auto bits = static_cast<unsigned>(state);
  const unsigned written = bits & kWriteStates;
  if (written != 0 && (bits != written || (written & (written - 1)) != 0)) {
    return {
        DebugMessage::combined_states,
        format_text("{}, which combines a state for writing with another state; expected it alone", state_text(state))};
  }
  if ((bits & D3D12_RESOURCE_STATE_UNORDERED_ACCESS) != 0 && !allows_unordered_access) {
    return {DebugMessage::missing_flag,
            "UNORDERED_ACCESS, but the buffer was created without ALLOW_UNORDERED_ACCESS; expected that flag"};
  }
  constexpr unsigned kCopyStates = D3D12_RESOURCE_STATE_COPY_DEST | D3D12_RESOURCE_STATE_COPY_SOURCE;
  if (list == D3D12_COMMAND_LIST_TYPE_COPY && (bits & ~kCopyStates) != 0) {
    return {DebugMessage::state_on_copy_list,
            format_text("{}, which a list of type COPY does not know; expected COMMON, COPY_DEST or COPY_SOURCE",
                        state_text(state))};
  }
  return {DebugMessage::combined_states, {}};
}

}  // namespace anydml
