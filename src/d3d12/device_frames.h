// SPDX-License-Identifier: MIT
// Helpers shared by the files that define the device's methods.
#pragma once

#include <string>
#include <utility>

#include "com/com_ptr.h"
#include "d3d12/device.h"
#include "text/format.h"

namespace anydml {

// E_NOTIMPL for D3D12 features that this device does not have, E_INVALIDARG for values that do not exist.
struct Refusal {
  HRESULT code = S_OK;
  std::string why;
};

// Returns an error message for a node mask, or an empty string if the mask is valid.
[[nodiscard]] std::string check_node_mask(const char* name, UINT mask);

template <class Body>
HRESULT Device::create(const char* method, REFIID riid, void** out, const Body& body) noexcept {
  if (out != nullptr) {
    *out = nullptr;
  }
  if (core_->removed()) {
    return kDeviceRemoved;
  }
  return com_boundary(method, [&]() -> HRESULT {
    Refusal refusal;
    const auto refuse = [&refusal](HRESULT code, std::string why) {
      refusal = {code, std::move(why)};
      return nullptr;
    };
    auto* created = body(refuse);
    if (created == nullptr) {
      return core_->fail(refusal.code, format_text("ID3D12Device::{}: {}", method, refusal.why));
    }
    if (out == nullptr) {  // the caller only asks whether the call would succeed
      created->Release();
      return S_FALSE;
    }
    const HRESULT status = hand_out(created, riid, out);
    return FAILED(status) ? core_->fail(status, format_text("ID3D12Device::{}: riid names an interface that the object "
                                                            "does not have",
                                                            method))
                          : status;
  });
}

// The common part of a method that returns nothing: if memory runs out, the device cannot continue and is removed.
template <class Body>
void Device::remove_on_failure(const char* method, const Body& body) noexcept {
  if (const HRESULT result = com_boundary(method, body); FAILED(result)) {
    core_->remove(result, "ID3D12Device: an allocation failed in a method that returns nothing; the device is removed");
  }
}

}  // namespace anydml
