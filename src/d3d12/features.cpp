// SPDX-License-Identifier: MIT
// The results of CheckFeatureSupport. The device supports only buffers and operators, so all other features are
// reported as absent, in the requested struct. A struct of the wrong size is refused, because clients rely on that.

#include <cstring>

#include "d3d12/device.h"
#include "d3d12/levels.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::uint32_t kAddressBits = 47;

// OPTIONS19 is newer than Debian's header. The struct has the size from the newest header.
constexpr int kOptions19 = 48;
struct Options19 {
  std::uint32_t words[10];
};

// The structs in which every field may be zero, meaning "not supported", "none" or "tier 0".
constexpr struct {
  int feature;
  UINT size;
} kAllAbsent[] = {
    {D3D12_FEATURE_D3D12_OPTIONS1, sizeof(D3D12_FEATURE_DATA_D3D12_OPTIONS1)},
    {D3D12_FEATURE_D3D12_OPTIONS2, sizeof(D3D12_FEATURE_DATA_D3D12_OPTIONS2)},
    {D3D12_FEATURE_SHADER_CACHE, sizeof(D3D12_FEATURE_DATA_SHADER_CACHE)},
    {D3D12_FEATURE_D3D12_OPTIONS3, sizeof(D3D12_FEATURE_DATA_D3D12_OPTIONS3)},
    {D3D12_FEATURE_EXISTING_HEAPS, sizeof(D3D12_FEATURE_DATA_EXISTING_HEAPS)},
    {D3D12_FEATURE_D3D12_OPTIONS4, sizeof(D3D12_FEATURE_DATA_D3D12_OPTIONS4)},
    {D3D12_FEATURE_CROSS_NODE, sizeof(D3D12_FEATURE_DATA_CROSS_NODE)},
    {D3D12_FEATURE_D3D12_OPTIONS5, sizeof(D3D12_FEATURE_DATA_D3D12_OPTIONS5)},
    {D3D12_FEATURE_DISPLAYABLE, sizeof(D3D12_FEATURE_DATA_DISPLAYABLE)},
    {D3D12_FEATURE_D3D12_OPTIONS6, sizeof(D3D12_FEATURE_DATA_D3D12_OPTIONS6)},
    {D3D12_FEATURE_D3D12_OPTIONS7, sizeof(D3D12_FEATURE_DATA_D3D12_OPTIONS7)},
    {D3D12_FEATURE_D3D12_OPTIONS8, sizeof(D3D12_FEATURE_DATA_D3D12_OPTIONS8)},
    {D3D12_FEATURE_D3D12_OPTIONS9, sizeof(D3D12_FEATURE_DATA_D3D12_OPTIONS9)},
    {D3D12_FEATURE_D3D12_OPTIONS10, sizeof(D3D12_FEATURE_DATA_D3D12_OPTIONS10)},
    {D3D12_FEATURE_D3D12_OPTIONS11, sizeof(D3D12_FEATURE_DATA_D3D12_OPTIONS11)},
    {D3D12_FEATURE_D3D12_OPTIONS12, sizeof(D3D12_FEATURE_DATA_D3D12_OPTIONS12)},
    {D3D12_FEATURE_D3D12_OPTIONS13, sizeof(D3D12_FEATURE_DATA_D3D12_OPTIONS13)},
    {D3D12_FEATURE_D3D12_OPTIONS14, sizeof(D3D12_FEATURE_DATA_D3D12_OPTIONS14)},
    {D3D12_FEATURE_D3D12_OPTIONS15, sizeof(D3D12_FEATURE_DATA_D3D12_OPTIONS15)},
};

// The results for the remaining structs. Each function returns the error in the query, or an empty string.

std::string fill(D3D12_FEATURE_DATA_D3D12_OPTIONS& value, const BackendDeviceInfo&) {
  value = {};
  value.ResourceBindingTier = D3D12_RESOURCE_BINDING_TIER_3;
  value.ResourceHeapTier = D3D12_RESOURCE_HEAP_TIER_2;
  value.MaxGPUVirtualAddressBitsPerResource = kAddressBits;
  return {};
}

template <class Architecture>
std::string fill_architecture(Architecture& value, const BackendDeviceInfo& device) {
  if (value.NodeIndex != 0) {
    return format_text("NodeIndex is {}; expected 0", value.NodeIndex);
  }
  value = {};
  value.UMA = value.CacheCoherentUMA = device.unified_memory != 0 ? TRUE : FALSE;
  return {};
}

std::string fill(D3D12_FEATURE_DATA_ARCHITECTURE& value, const BackendDeviceInfo& device) {
  return fill_architecture(value, device);
}

std::string fill(D3D12_FEATURE_DATA_ARCHITECTURE1& value, const BackendDeviceInfo& device) {
  std::string wrong = fill_architecture(value, device);
  value.IsolatedMMU = TRUE;
  return wrong;
}

std::string fill(D3D12_FEATURE_DATA_FEATURE_LEVELS& value, const BackendDeviceInfo&) {
  if (value.NumFeatureLevels == 0 || value.pFeatureLevelsRequested == nullptr) {
    return "the list of levels is empty";
  }
  int highest = 0;
  for (UINT i = 0; i < value.NumFeatureLevels; ++i) {
    const int level = value.pFeatureLevelsRequested[i];
    highest = find_level(level) == LevelSupport::supported ? std::max(highest, level) : highest;
  }
  if (highest == 0) {
    return "none of the levels in the list is supported";
  }
  value.MaxSupportedFeatureLevel = static_cast<D3D_FEATURE_LEVEL>(highest);
  return {};
}

std::string fill(D3D12_FEATURE_DATA_FORMAT_SUPPORT& value, const BackendDeviceInfo&) {
  value.Support1 = D3D12_FORMAT_SUPPORT1_NONE;
  value.Support2 = D3D12_FORMAT_SUPPORT2_NONE;
  return {};
}

std::string fill(D3D12_FEATURE_DATA_GPU_VIRTUAL_ADDRESS_SUPPORT& value, const BackendDeviceInfo&) {
  value = {.MaxGPUVirtualAddressBitsPerResource = kAddressBits, .MaxGPUVirtualAddressBitsPerProcess = kAddressBits};
  return {};
}

std::string fill(D3D12_FEATURE_DATA_SHADER_MODEL& value, const BackendDeviceInfo&) {
  value.HighestShaderModel = D3D_SHADER_MODEL_5_1;  // the lowest value in the enum; no shader can be created
  return {};
}

std::string fill(D3D12_FEATURE_DATA_ROOT_SIGNATURE& value, const BackendDeviceInfo&) {
  value.HighestVersion = D3D_ROOT_SIGNATURE_VERSION_1_0;
  return {};
}

std::string fill(D3D12_FEATURE_DATA_COMMAND_QUEUE_PRIORITY& value, const BackendDeviceInfo&) {
  value.PriorityForTypeIsSupported = value.Priority <= D3D12_COMMAND_QUEUE_PRIORITY_HIGH ? TRUE : FALSE;
  return {};
}

std::string fill(D3D12_FEATURE_DATA_SERIALIZATION& value, const BackendDeviceInfo&) {
  value.HeapSerializationTier = D3D12_HEAP_SERIALIZATION_TIER_0;
  return {};
}

// The last word is ComputeOnlyCustomHeapSupported: CUSTOM heaps are accepted everywhere that DEFAULT heaps are.
std::string fill(Options19& value, const BackendDeviceInfo&) {
  value = {};
  value.words[9] = TRUE;
  return {};
}

// If the size is correct, fills a copy of the caller's struct and copies it back.
template <class Data>
HRESULT answer(const BackendDeviceInfo& device, void* data, UINT size, std::string& wrong) {
  if (size != sizeof(Data)) {
    wrong = format_text("FeatureSupportDataSize is {}; expected {}", size, sizeof(Data));
    return E_INVALIDARG;
  }
  Data value;
  std::memcpy(&value, data, sizeof(value));
  if (wrong = fill(value, device); !wrong.empty()) {
    return E_INVALIDARG;
  }
  std::memcpy(data, &value, sizeof(value));
  return S_OK;
}

}  // namespace

HRESULT check_feature(const BackendDeviceInfo& device, D3D12_FEATURE feature, void* data, UINT size,
                      std::string& wrong) {
  if (data == nullptr) {
    wrong = "pFeatureSupportData is null";
    return E_INVALIDARG;
  }
  for (const auto& absent : kAllAbsent) {
    if (absent.feature == static_cast<int>(feature)) {
      if (size != absent.size) {
        wrong =
            format_text("FeatureSupportDataSize is {}; expected {} for feature {}", size, absent.size, absent.feature);
        return E_INVALIDARG;
      }
      std::memset(data, 0, size);
      return S_OK;
    }
  }
  switch (static_cast<int>(feature)) {
    case D3D12_FEATURE_D3D12_OPTIONS:
      return answer<D3D12_FEATURE_DATA_D3D12_OPTIONS>(device, data, size, wrong);
    case D3D12_FEATURE_ARCHITECTURE:
      return answer<D3D12_FEATURE_DATA_ARCHITECTURE>(device, data, size, wrong);
    case D3D12_FEATURE_ARCHITECTURE1:
      return answer<D3D12_FEATURE_DATA_ARCHITECTURE1>(device, data, size, wrong);
    case D3D12_FEATURE_FEATURE_LEVELS:
      return answer<D3D12_FEATURE_DATA_FEATURE_LEVELS>(device, data, size, wrong);
    case D3D12_FEATURE_FORMAT_SUPPORT:
      return answer<D3D12_FEATURE_DATA_FORMAT_SUPPORT>(device, data, size, wrong);
    case D3D12_FEATURE_GPU_VIRTUAL_ADDRESS_SUPPORT:
      return answer<D3D12_FEATURE_DATA_GPU_VIRTUAL_ADDRESS_SUPPORT>(device, data, size, wrong);
    case D3D12_FEATURE_SHADER_MODEL:
      return answer<D3D12_FEATURE_DATA_SHADER_MODEL>(device, data, size, wrong);
    case D3D12_FEATURE_ROOT_SIGNATURE:
      return answer<D3D12_FEATURE_DATA_ROOT_SIGNATURE>(device, data, size, wrong);
    case D3D12_FEATURE_COMMAND_QUEUE_PRIORITY:
      return answer<D3D12_FEATURE_DATA_COMMAND_QUEUE_PRIORITY>(device, data, size, wrong);
    case D3D12_FEATURE_SERIALIZATION:
      return answer<D3D12_FEATURE_DATA_SERIALIZATION>(device, data, size, wrong);
    case kOptions19:
      return answer<Options19>(device, data, size, wrong);
    default:
      wrong = format_text("Feature is {}, which this version does not recognize", static_cast<int>(feature));
      return E_INVALIDARG;
  }
}

}  // namespace anydml
