// SPDX-License-Identifier: MIT
// The identity of an adapter, on which DXCore and D3D12 must agree.
#pragma once

#include <wsl/winadapter.h>

#include <cstdint>

namespace anydml {

// The LUID of device `index`, the same throughout the process: DXCore's InstanceLuid and D3D12's GetAdapterLuid.
[[nodiscard]] inline LUID adapter_luid(std::uint32_t index) {
  LUID luid{};
  luid.LowPart = index + 1;
  luid.HighPart = 0x616e79;
  return luid;
}

// No PCI vendor uses this id. It must not be Microsoft's, 0x1414, which clients treat as a software adapter.
inline constexpr std::uint32_t kAdapterVendor = 0xadad;

}  // namespace anydml
