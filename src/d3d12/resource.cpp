// SPDX-License-Identifier: MIT
#include "d3d12/resource.h"

#include "d3d12/debug/tracker.h"
#include "text/format.h"

namespace anydml {

bool is_mappable(const D3D12_HEAP_PROPERTIES& properties) {
  switch (properties.Type) {
    case D3D12_HEAP_TYPE_UPLOAD:
    case D3D12_HEAP_TYPE_READBACK:
      return true;
    case D3D12_HEAP_TYPE_CUSTOM:
      return properties.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE ||
             properties.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_BACK;
    default:
      return false;
  }
}

MemoryKind memory_kind(const D3D12_HEAP_PROPERTIES& properties, bool unified) {
  switch (properties.Type) {
    case D3D12_HEAP_TYPE_UPLOAD:
      return MemoryKind::upload_buffer;
    case D3D12_HEAP_TYPE_READBACK:
      return MemoryKind::readback_buffer;
    case D3D12_HEAP_TYPE_CUSTOM:
      return unified || properties.MemoryPoolPreference == D3D12_MEMORY_POOL_L1 ? MemoryKind::device_buffer
                                                                                : MemoryKind::upload_buffer;
    default:
      return MemoryKind::device_buffer;
  }
}

Resource::Resource(Device& device, const D3D12_RESOURCE_DESC& desc, const D3D12_HEAP_PROPERTIES& properties,
                   D3D12_HEAP_FLAGS heap_flags, std::shared_ptr<Memory> memory, std::uint64_t offset)
    : Child(device),
      desc_(desc),
      properties_(properties),
      heap_flags_(heap_flags),
      address_(memory->block().address + offset),
      host_(memory->block().host != nullptr ? memory->block().host + offset : nullptr),
      memory_(memory->number()),
      offset_(offset),
      number_(core().add_buffer({.memory = std::move(memory),
                                 .offset = offset,
                                 .bytes = desc.Width,
                                 .heap = properties.Type,
                                 .flags = desc.Flags})) {}

Resource::~Resource() {
  if (DebugTracker* tracker = core().tracker(); tracker != nullptr) {
    com_boundary("ID3D12Resource::Release", [&]() -> HRESULT {
      tracker->released({DebugObject::Kind::buffer, number_}, [&] { return "ID3D12Resource" + quoted_name(); });
      tracker->forget_mapped(memory_, offset_, offset_ + desc_.Width);
      return S_OK;
    });
  }
  core().remove_buffer(number_);
}

HRESULT STDMETHODCALLTYPE Resource::Map(UINT subresource, const D3D12_RANGE* read, void** data) noexcept {
  return com_boundary("ID3D12Resource::Map", [&]() -> HRESULT {
    if (data != nullptr) {
      *data = nullptr;
    }
    const auto wrong = [&](const std::string& what) {
      return core().fail(E_INVALIDARG, format_text("ID3D12Resource::Map{}: {}", quoted_name(), what));
    };
    if (core().removed()) {
      return kDeviceRemoved;
    }
    if (subresource != 0) {
      return wrong(format_text("Subresource is {}; expected 0, the only one of a buffer", subresource));
    }
    if (!is_mappable(properties_) || host_ == nullptr) {
      return wrong("the CPU cannot access this heap; expected UPLOAD, READBACK, or CUSTOM with CPU pages");
    }
    if (read != nullptr && read->Begin < read->End && read->End > desc_.Width) {
      return wrong(format_text("pReadRange ends at {}; expected at most {}", read->End, desc_.Width));
    }
    if (DebugTracker* tracker = core().tracker(); tracker != nullptr) {
      const D3D12_RANGE range = read != nullptr ? *read : D3D12_RANGE{0, desc_.Width};
      if (range.Begin < range.End) {  // an empty range says that the CPU will not read
        tracker->map({.memory = memory_,
                      .first = offset_ + range.Begin,
                      .end = offset_ + range.End,
                      .names_range = read != nullptr,
                      .only_read_back = properties_.Type == D3D12_HEAP_TYPE_READBACK,
                      .buffer = offset_},
                     "ID3D12Resource::Map" + quoted_name());
      }
    }
    maps_.fetch_add(1, std::memory_order_relaxed);
    if (data != nullptr) {
      *data = host_;
    }
    return S_OK;
  });
}

void STDMETHODCALLTYPE Resource::Unmap(UINT, const D3D12_RANGE*) noexcept {
  // Without an earlier Map there is nothing to undo, and the count must not become negative.
  std::uint32_t maps = maps_.load(std::memory_order_relaxed);
  while (maps != 0 && !maps_.compare_exchange_weak(maps, maps - 1, std::memory_order_relaxed)) {
  }
  if (maps == 0) {
    com_boundary("ID3D12Resource::Unmap", [&]() -> HRESULT {
      core().warn(format_text("ID3D12Resource::Unmap{}: the resource is not mapped", quoted_name()).c_str());
      return S_OK;
    });
  }
}

D3D12_GPU_VIRTUAL_ADDRESS STDMETHODCALLTYPE Resource::GetGPUVirtualAddress() noexcept { return address_; }

HRESULT STDMETHODCALLTYPE Resource::WriteToSubresource(UINT, const D3D12_BOX*, const void*, UINT, UINT) noexcept {
  return core().fail(E_NOTIMPL, "ID3D12Resource::WriteToSubresource is for textures, which are not supported");
}

HRESULT STDMETHODCALLTYPE Resource::ReadFromSubresource(void*, UINT, UINT, UINT, const D3D12_BOX*) noexcept {
  return core().fail(E_NOTIMPL, "ID3D12Resource::ReadFromSubresource is for textures, which are not supported");
}

HRESULT STDMETHODCALLTYPE Resource::GetHeapProperties(D3D12_HEAP_PROPERTIES* properties,
                                                      D3D12_HEAP_FLAGS* flags) noexcept {
  if (properties != nullptr) {
    *properties = properties_;
  }
  if (flags != nullptr) {
    *flags = heap_flags_;
  }
  return S_OK;
}

void Resource::describe(BufferFacts* facts) noexcept {
  *facts = {number_, desc_.Width, properties_.Type, desc_.Flags, &core()};
}

}  // namespace anydml
