// SPDX-License-Identifier: MIT
// The HRESULTs that DirectX-Headers does not define on Linux, and the only function that converts our error kinds to
// HRESULTs.
#pragma once

#include <wsl/winadapter.h>

#include "base/result.h"

namespace anydml {

inline constexpr HRESULT kInvalidCall = static_cast<HRESULT>(0x887A0001);    // DXGI_ERROR_INVALID_CALL
inline constexpr HRESULT kNotFound = static_cast<HRESULT>(0x887A0002);       // DXGI_ERROR_NOT_FOUND
inline constexpr HRESULT kMoreData = static_cast<HRESULT>(0x887A0003);       // DXGI_ERROR_MORE_DATA
inline constexpr HRESULT kUnsupported = static_cast<HRESULT>(0x887A0004);    // DXGI_ERROR_UNSUPPORTED
inline constexpr HRESULT kDeviceRemoved = static_cast<HRESULT>(0x887A0005);  // DXGI_ERROR_DEVICE_REMOVED
inline constexpr HRESULT kDeviceHung = static_cast<HRESULT>(0x887A0006);     // DXGI_ERROR_DEVICE_HUNG
inline constexpr HRESULT kNotCurrentlyAvailable =
    static_cast<HRESULT>(0x887A0022);  // DXGI_ERROR_NOT_CURRENTLY_AVAILABLE

[[nodiscard]] constexpr HRESULT hresult_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return E_INVALIDARG;
    case ErrorKind::unsupported:
      return kUnsupported;
    case ErrorKind::out_of_memory:
      return E_OUTOFMEMORY;
    case ErrorKind::device:
    case ErrorKind::interrupted:  // DirectML calls are never interrupted
    case ErrorKind::internal:
      break;
  }
  return E_FAIL;
}

}  // namespace anydml
