// SPDX-License-Identifier: MIT
// The entry points of libdirectml.so.

#include <algorithm>

#include "base/environment.h"
#include "base/log.h"
#include "directml/device.h"
#include "text/format.h"

namespace anydml {
namespace {

Result<facts::FeatureLevel> offered_level() {
  const auto& settings = environment();
  ANYDML_TRY(settings);
  std::string name = settings.value().feature_level;
  if (name.empty()) {
    return facts::kNewestLevel;
  }
  std::ranges::replace(name, '.', '_');
  const auto level = facts::parse_level(name);
  if (!level) {
    return Error{
        ErrorKind::invalid_argument,
        format_text("environment: ANYDML_FEATURE_LEVEL is '{:.64}'; expected 1_0, 2_0, 2_1, 3_0, 3_1, 4_0, 4_1, "
                    "5_0, 5_1, 5_2, 6_0, 6_1, 6_2, 6_3 or 6_4",
                    settings.value().feature_level)};
  }
  return *level;
}

HRESULT create_device(const char* function, ID3D12Device* parent, DML_CREATE_DEVICE_FLAGS flags, unsigned minimum,
                      REFIID riid, void** out) {
  if (out != nullptr) {
    *out = nullptr;
  }
  return com_boundary(function, [&]() -> HRESULT {
    const CoreTable* core = core_of_this_build("libdirectml.so");
    if (core == nullptr) {
      return E_FAIL;
    }
    bool logged = false;
    const auto fail = [&](HRESULT code, const std::string& what) {
      const std::string message = format_text("{}: {}", function, what);
      logged = core->report(message.c_str());
      if (code != kUnsupported && code != E_NOINTERFACE) {  // programs also ask for optional features and interfaces
        end_if_strict(logged, message);
      }
      return code;
    };
    if (out == nullptr) {
      return fail(E_INVALIDARG, "ppv is null; expected a pointer that receives the device");
    }
    auto bridge = query<IBridgeDevice>(parent);
    if (!bridge) {
      return fail(E_INVALIDARG,
                  parent == nullptr
                      ? "d3d12Device is null; expected a device from D3D12CreateDevice"
                      : "d3d12Device comes from another D3D12; expected a device of the libd3d12.so installed with "
                        "this library");
    }
    if (bridge->build() != kBuildHash) {
      return fail(
          E_FAIL,
          "d3d12Device comes from a libd3d12.so of another build; expected the one that was installed with this "
          "library");
    }
    if ((flags & ~DML_CREATE_DEVICE_FLAG_DEBUG) != 0) {
      return fail(E_INVALIDARG,
                  format_text("flags is {:#x}; expected NONE (0) or DEBUG (1)", static_cast<unsigned>(flags)));
    }
    const auto level = offered_level();
    if (!level) {
      const HRESULT code = fail(E_INVALIDARG, level.error().message);
      if (!logged) {  // a misspelled setting is always shown
        show_line(LogLevel::error, level.error().message);
      }
      return code;
    }
    const auto asked = facts::find_level(minimum);
    if (!asked && minimum < static_cast<unsigned>(facts::kNewestLevel)) {
      return fail(E_INVALIDARG, format_text("minimumFeatureLevel is {:#x}; expected a DML_FEATURE_LEVEL, such as "
                                            "DML_FEATURE_LEVEL_2_1 (0x2100)",
                                            minimum));
    }
    if (minimum > static_cast<unsigned>(level.value())) {
      return fail(kUnsupported,
                  format_text("minimumFeatureLevel is {}; this device offers {}{}",
                              asked ? std::string(facts::level_name(*asked)) : format_text("{:#x}", minimum),
                              facts::level_name(level.value()),
                              level.value() == facts::kNewestLevel ? "" : ", as set by ANYDML_FEATURE_LEVEL"));
    }
    if (FAILED(bridge->removed_reason())) {
      return fail(kDeviceRemoved, "d3d12Device was removed; expected a live one");
    }
    const CoreDevice* device = core->device(bridge->adapter_index());
    log_line(LogLevel::info, format_text("DirectML device on {}: feature level {}", device->info->name,
                                         facts::level_name(level.value())));
    const bool debug = (flags & DML_CREATE_DEVICE_FLAG_DEBUG) != 0 || environment().value().debug != DebugSetting::off;
    if (debug) {
      bridge->enable_debug();
    }
    auto shared = std::make_shared<DmlCore>(std::move(bridge), *core, *device, level.value(), debug);
    const HRESULT result = hand_out(new DmlDevice(*parent, std::move(shared)), riid, out);
    return FAILED(result) ? fail(result,
                                 "riid names an interface that the device does not have; expected IDMLDevice or "
                                 "IDMLDevice1")
                          : result;
  });
}

}  // namespace
}  // namespace anydml

extern "C" __attribute__((visibility("default"))) HRESULT STDAPICALLTYPE DMLCreateDevice(ID3D12Device* d3d12_device,
                                                                                         DML_CREATE_DEVICE_FLAGS flags,
                                                                                         REFIID riid, void** out) {
  return anydml::create_device("DMLCreateDevice", d3d12_device, flags, DML_FEATURE_LEVEL_1_0, riid, out);
}

extern "C" __attribute__((visibility("default"))) HRESULT STDAPICALLTYPE DMLCreateDevice1(ID3D12Device* d3d12_device,
                                                                                          DML_CREATE_DEVICE_FLAGS flags,
                                                                                          DML_FEATURE_LEVEL minimum,
                                                                                          REFIID riid, void** out) {
  return anydml::create_device("DMLCreateDevice1", d3d12_device, flags, static_cast<unsigned>(minimum), riid, out);
}
