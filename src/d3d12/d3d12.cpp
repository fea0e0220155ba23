// SPDX-License-Identifier: MIT
// The entry points of libd3d12.so.

#include <string>

#include "com/adapter_identity.h"
#include "d3d12/device.h"
#include "d3d12/headers.h"
#include "d3d12/info_queue.h"
#include "d3d12/levels.h"
#include "text/format.h"

namespace anydml {
namespace {

HRESULT report(HRESULT code, const std::string& message) {
  if (const CoreTable* core = core_of_this_build("libd3d12.so"); core != nullptr) {
    const bool logged = core->report(message.c_str());
    if (code != kUnsupported && code != E_NOINTERFACE) {  // programs also ask for optional features and interfaces
      end_if_strict(logged, message);
    }
  }
  return code;
}

// The index of the requested adapter; null means the first adapter.
Result<std::uint32_t> adapter_index(IUnknown* adapter) {
  if (adapter == nullptr) {
    return std::uint32_t{0};
  }
  const auto known = query<IDXCoreAdapter>(adapter);
  LUID luid{};
  if (!known || FAILED(known->GetProperty(DXCoreAdapterProperty::InstanceLuid, sizeof(luid), &luid))) {
    return Error{ErrorKind::invalid_argument,
                 "D3D12CreateDevice: pAdapter is not a DXCore adapter; expected null or one of libdxcore's"};
  }
  const std::uint32_t count = anydml_private_core()->device_count();
  for (std::uint32_t i = 0; i < count; ++i) {
    const LUID own_luid = adapter_luid(i);
    if (own_luid.LowPart == luid.LowPart && own_luid.HighPart == luid.HighPart) {
      return i;
    }
  }
  return Error{ErrorKind::invalid_argument,
               "D3D12CreateDevice: pAdapter comes from another library; expected null or one of this libdxcore's"};
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

// ID3D12Debug and its successors. EnableDebugLayer is the only switch that has an effect.
class Debug final : public ComObjectOf<Interfaces<ID3D12Debug6, ID3D12Debug, ID3D12Debug3, ID3D12Debug4, ID3D12Debug5>,
                                       Interfaces<ID3D12Debug1>, Interfaces<ID3D12Debug2>> {
 public:
  void STDMETHODCALLTYPE EnableDebugLayer() noexcept override { set_debug_layer_enabled(true); }
  void STDMETHODCALLTYPE DisableDebugLayer() noexcept override { set_debug_layer_enabled(false); }
  void STDMETHODCALLTYPE SetEnableGPUBasedValidation(BOOL) noexcept override {}
  void STDMETHODCALLTYPE SetEnableSynchronizedCommandQueueValidation(BOOL) noexcept override {}
  void STDMETHODCALLTYPE SetGPUBasedValidationFlags(D3D12_GPU_BASED_VALIDATION_FLAGS) noexcept override {}
  void STDMETHODCALLTYPE SetEnableAutoName(BOOL) noexcept override {}
  void STDMETHODCALLTYPE SetForceLegacyBarrierValidation(BOOL) noexcept override {}
};

// Watson dumps do not exist here, and markers are not recorded, so these two settings have no effect.
class DredSettingsObject final
    : public ComObject<ID3D12DeviceRemovedExtendedDataSettings2, ID3D12DeviceRemovedExtendedDataSettings1,
                       ID3D12DeviceRemovedExtendedDataSettings> {
 public:
  void STDMETHODCALLTYPE SetAutoBreadcrumbsEnablement(D3D12_DRED_ENABLEMENT setting) noexcept override {
    g_dred_settings.breadcrumbs = setting;
  }
  void STDMETHODCALLTYPE SetPageFaultEnablement(D3D12_DRED_ENABLEMENT setting) noexcept override {
    g_dred_settings.page_faults = setting;
  }
  void STDMETHODCALLTYPE SetWatsonDumpEnablement(D3D12_DRED_ENABLEMENT) noexcept override {}
  void STDMETHODCALLTYPE SetBreadcrumbContextEnablement(D3D12_DRED_ENABLEMENT setting) noexcept override {
    g_dred_settings.contexts = setting;
  }
  void STDMETHODCALLTYPE UseMarkersOnlyAutoBreadcrumbs(BOOL) noexcept override {}
};

using DredSettingsInterfaces =
    Interfaces<ID3D12DeviceRemovedExtendedDataSettings2, ID3D12DeviceRemovedExtendedDataSettings1,
               ID3D12DeviceRemovedExtendedDataSettings>;

#pragma GCC diagnostic pop

HRESULT no_shaders(const char* function, ID3DBlob** blob, ID3DBlob** error) {
  for (ID3DBlob** out : {blob, error}) {
    if (out != nullptr) {
      *out = nullptr;
    }
  }
  return com_boundary(function, [&] {
    return report(E_NOTIMPL, format_text("{}: root signatures are for shaders, which are not supported", function));
  });
}

HRESULT no_interface(const char* function, void** out) {
  if (out != nullptr) {
    *out = nullptr;
  }
  return com_boundary(function, [&] {
    return report(E_NOTIMPL, format_text("{}: root signatures are for shaders, which are not supported", function));
  });
}

}  // namespace
}  // namespace anydml

#define ANYDML_EXPORT extern "C" __attribute__((visibility("default")))

ANYDML_EXPORT HRESULT WINAPI D3D12CreateDevice(IUnknown* adapter, D3D_FEATURE_LEVEL level, REFIID riid, void** out) {
  using namespace anydml;
  return com_boundary("D3D12CreateDevice", [&]() -> HRESULT {
    if (out != nullptr) {
      *out = nullptr;
    }
    if (core_of_this_build("libd3d12.so") == nullptr) {
      return E_FAIL;
    }
    switch (find_level(level)) {
      case LevelSupport::unknown:
        return report(E_INVALIDARG, format_text("D3D12CreateDevice: MinimumFeatureLevel is {:#x}; expected one from "
                                                "1_0_GENERIC (0x100) to 12_1 (0xc100)",
                                                static_cast<unsigned>(level)));
      case LevelSupport::unsupported:
        return report(kUnsupported,
                      format_text("D3D12CreateDevice: MinimumFeatureLevel is {:#x}; the highest supported is "
                                  "12_1 (0xc100)",
                                  static_cast<unsigned>(level)));
      case LevelSupport::supported:
        break;
    }
    const auto index = adapter_index(adapter);
    if (!index) {
      return report(hresult_of(index.error().kind), index.error().message);
    }
    const auto device = Device::of_adapter(index.value());
    if (!device) {
      return report(hresult_of(device.error().kind), device.error().message);
    }
    if (out == nullptr) {  // the caller only asks whether creation would succeed
      device.value()->Release();
      return S_FALSE;
    }
    const HRESULT result = hand_out(device.value(), riid, out);
    return FAILED(result) ? report(result,
                                   "D3D12CreateDevice: riid names an interface that the device does not have; "
                                   "expected ID3D12Device to ID3D12Device9")
                          : result;
  });
}

ANYDML_EXPORT HRESULT WINAPI D3D12GetDebugInterface(REFIID riid, void** out) {
  return anydml::com_boundary("D3D12GetDebugInterface", [&]() -> HRESULT {
    if (out != nullptr) {
      *out = nullptr;
    }
    if (anydml::DredSettingsInterfaces::contains(riid)) {
      return out == nullptr ? S_FALSE : anydml::hand_out(new anydml::DredSettingsObject, riid, out);
    }
    return out == nullptr ? S_FALSE : anydml::hand_out(new anydml::Debug, riid, out);
  });
}

// Callers interpret failure as "not available here".
ANYDML_EXPORT HRESULT WINAPI D3D12GetInterface(REFCLSID, REFIID riid, void** out) {
  if (anydml::Interfaces<ID3D12Debug6, ID3D12Debug, ID3D12Debug3>::contains(riid) ||
      anydml::DredSettingsInterfaces::contains(riid)) {
    return D3D12GetDebugInterface(riid, out);
  }
  if (out != nullptr) {
    *out = nullptr;
  }
  return E_NOINTERFACE;
}

ANYDML_EXPORT HRESULT WINAPI D3D12EnableExperimentalFeatures(UINT count, const IID*, void*, UINT*) {
  return count == 0 ? S_OK : E_NOINTERFACE;
}

ANYDML_EXPORT HRESULT WINAPI D3D12SerializeRootSignature(const D3D12_ROOT_SIGNATURE_DESC*, D3D_ROOT_SIGNATURE_VERSION,
                                                         ID3DBlob** blob, ID3DBlob** error) {
  return anydml::no_shaders("D3D12SerializeRootSignature", blob, error);
}

ANYDML_EXPORT HRESULT WINAPI D3D12SerializeVersionedRootSignature(const D3D12_VERSIONED_ROOT_SIGNATURE_DESC*,
                                                                  ID3DBlob** blob, ID3DBlob** error) {
  return anydml::no_shaders("D3D12SerializeVersionedRootSignature", blob, error);
}

ANYDML_EXPORT HRESULT WINAPI D3D12CreateRootSignatureDeserializer(LPCVOID, SIZE_T, REFIID, void** out) {
  return anydml::no_interface("D3D12CreateRootSignatureDeserializer", out);
}

ANYDML_EXPORT HRESULT WINAPI D3D12CreateVersionedRootSignatureDeserializer(LPCVOID, SIZE_T, REFIID, void** out) {
  return anydml::no_interface("D3D12CreateVersionedRootSignatureDeserializer", out);
}
