// SPDX-License-Identifier: MIT
// Logs a message when an object is asked for an interface that it does not have.
#pragma once

#include <wsl/winadapter.h>

#include <cstdio>
#include <string_view>

#include "base/cancellation.h"
#include "base/log.h"

namespace anydml {

// The name of an interface as spelled in the source, such as "ID3D12Fence1".
template <class Interface>
[[nodiscard]] constexpr std::string_view interface_name() {
  std::string_view name = __PRETTY_FUNCTION__;  // "... [with Interface = ID3D12Fence1; ...]"
  name.remove_prefix(name.find("Interface = ") + 12);
  name = name.substr(0, name.find_first_of(";]"));
  return name.substr(name.rfind(':') + 1);
}

// Logs the object and the interface that it lacks, without allocating memory, and returns the error code.
[[nodiscard]] inline HRESULT refused_interface(std::string_view object, const GUID& riid) noexcept {
  const CancellationDeferred deferred;
  if (log_enabled(LogLevel::error)) {
    char text[160];
    std::snprintf(text, sizeof(text),
                  "QueryInterface: an %.*s has no interface {%08X-%04X-%04X-%02X%02X-%02X%02X%02X%02X%02X%02X}",
                  static_cast<int>(object.size()), object.data(), static_cast<unsigned>(riid.Data1), riid.Data2,
                  riid.Data3, riid.Data4[0], riid.Data4[1], riid.Data4[2], riid.Data4[3], riid.Data4[4], riid.Data4[5],
                  riid.Data4[6], riid.Data4[7]);
    log_line(LogLevel::error, text);
  }
  return E_NOINTERFACE;
}

}  // namespace anydml
