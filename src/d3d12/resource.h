// SPDX-License-Identifier: MIT
// Heaps and the buffers in them.
#pragma once

#include <memory>

#include "d3d12/object.h"

namespace anydml {

// Whether the CPU can access memory with these properties.
[[nodiscard]] bool is_mappable(const D3D12_HEAP_PROPERTIES& properties);
[[nodiscard]] MemoryKind memory_kind(const D3D12_HEAP_PROPERTIES& properties, bool unified);

class Heap final : public Child<Heap, Interfaces<ID3D12Heap, ID3D12Pageable, ID3D12DeviceChild, ID3D12Object>> {
 public:
  Heap(Device& device, const D3D12_HEAP_DESC& desc, std::shared_ptr<Memory> memory)
      : Child(device), desc_(desc), memory_(std::move(memory)) {}

  D3D12_HEAP_DESC STDMETHODCALLTYPE GetDesc() noexcept override { return desc_; }

  [[nodiscard]] const D3D12_HEAP_DESC& desc() const { return desc_; }
  [[nodiscard]] const std::shared_ptr<Memory>& memory() const { return memory_; }

 private:
  const D3D12_HEAP_DESC desc_;
  const std::shared_ptr<Memory> memory_;
};

class Resource final
    : public Child<Resource, Interfaces<ID3D12Resource, ID3D12Pageable, ID3D12DeviceChild, ID3D12Object>,
                   Interfaces<IBridgeBuffer>> {
 public:
  Resource(Device& device, const D3D12_RESOURCE_DESC& desc, const D3D12_HEAP_PROPERTIES& properties,
           D3D12_HEAP_FLAGS heap_flags, std::shared_ptr<Memory> memory, std::uint64_t offset);
  ~Resource() override;

  HRESULT STDMETHODCALLTYPE Map(UINT subresource, const D3D12_RANGE* read, void** data) noexcept override;
  void STDMETHODCALLTYPE Unmap(UINT subresource, const D3D12_RANGE* written) noexcept override;
  D3D12_RESOURCE_DESC STDMETHODCALLTYPE GetDesc() noexcept override { return desc_; }
  D3D12_GPU_VIRTUAL_ADDRESS STDMETHODCALLTYPE GetGPUVirtualAddress() noexcept override;
  HRESULT STDMETHODCALLTYPE WriteToSubresource(UINT, const D3D12_BOX*, const void*, UINT, UINT) noexcept override;
  HRESULT STDMETHODCALLTYPE ReadFromSubresource(void*, UINT, UINT, UINT, const D3D12_BOX*) noexcept override;
  HRESULT STDMETHODCALLTYPE GetHeapProperties(D3D12_HEAP_PROPERTIES* properties,
                                              D3D12_HEAP_FLAGS* flags) noexcept override;

  void describe(BufferFacts* facts) noexcept override;

  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::uint64_t bytes() const { return desc_.Width; }
  [[nodiscard]] D3D12_HEAP_TYPE heap_type() const { return properties_.Type; }
  [[nodiscard]] bool allows_unordered_access() const {
    return (desc_.Flags & D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS) != 0;
  }

 protected:
  void named(const std::string& name) override { core().name_buffer(number_, name); }

 private:
  const D3D12_RESOURCE_DESC desc_;
  const D3D12_HEAP_PROPERTIES properties_;
  const D3D12_HEAP_FLAGS heap_flags_;
  // The registered BufferRange keeps the memory alive.
  const DeviceAddress address_;
  std::byte* const host_;       // null if the CPU cannot access the memory
  const std::uint64_t memory_;  // the number of the memory, and the buffer's offset in it, for the debug layer
  const std::uint64_t offset_;
  std::atomic<std::uint32_t> maps_{0};
  const std::uint64_t number_;
};

}  // namespace anydml
