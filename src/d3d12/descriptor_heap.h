// SPDX-License-Identifier: MIT
// Descriptor heaps, which are plain memory, and query heaps.
#pragma once

#include <memory>

#include "d3d12/commands.h"
#include "d3d12/debug/tracker.h"
#include "d3d12/object.h"

namespace anydml {

class DescriptorHeap final
    : public Child<DescriptorHeap, Interfaces<ID3D12DescriptorHeap, ID3D12Pageable, ID3D12DeviceChild, ID3D12Object>> {
 public:
  DescriptorHeap(Device& device, const D3D12_DESCRIPTOR_HEAP_DESC& desc)
      : Child(device),
        desc_(desc),
        storage_(std::make_shared<DescriptorStorage>(desc.Type, desc.NumDescriptors,
                                                     (desc.Flags & D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE) != 0)) {
    core().add_heap(storage_);
  }
  ~DescriptorHeap() override {
    if (DebugTracker* tracker = core().tracker(); tracker != nullptr) {
      report_release(*tracker, DebugObject::Kind::descriptor_heap, storage_.get(), "ID3D12DescriptorHeap");
    }
    core().remove_heap(*storage_);
  }

  D3D12_DESCRIPTOR_HEAP_DESC STDMETHODCALLTYPE GetDesc() noexcept override { return desc_; }
  D3D12_CPU_DESCRIPTOR_HANDLE STDMETHODCALLTYPE GetCPUDescriptorHandleForHeapStart() noexcept override {
    return {storage_->first()};
  }
  // Returns 0 for a heap that is not shader-visible: clients call this anyway, and it must not fail.
  D3D12_GPU_DESCRIPTOR_HANDLE STDMETHODCALLTYPE GetGPUDescriptorHandleForHeapStart() noexcept override {
    return {storage_->visible ? storage_->first() | DescriptorStorage::kGpuBit : 0};
  }

  [[nodiscard]] const std::shared_ptr<DescriptorStorage>& storage() const { return storage_; }

 private:
  const D3D12_DESCRIPTOR_HEAP_DESC desc_;
  const std::shared_ptr<DescriptorStorage> storage_;
};

class QueryHeap final
    : public Child<QueryHeap, Interfaces<ID3D12QueryHeap, ID3D12Pageable, ID3D12DeviceChild, ID3D12Object>> {
 public:
  QueryHeap(Device& device, std::uint32_t count)
      : Child(device), storage_(std::make_shared<QueryStorage>(core().device(), count)) {}

  ~QueryHeap() override {
    if (DebugTracker* tracker = core().tracker(); tracker != nullptr) {
      report_release(*tracker, DebugObject::Kind::query_heap, storage_.get(), "ID3D12QueryHeap");
    }
  }

  [[nodiscard]] const std::shared_ptr<QueryStorage>& storage() const { return storage_; }

 private:
  const std::shared_ptr<QueryStorage> storage_;
};

}  // namespace anydml
