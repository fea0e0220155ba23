// SPDX-License-Identifier: MIT
// Implements ID3D12DeviceRemovedExtendedData.
#include "d3d12/device.h"

namespace anydml {

// The common part of the methods. Either this device or a DirectML device on it may have been removed.
template <class Output, class Body>
HRESULT Device::removed_data(const char* method, Output* output, bool enabled, const Body& body) noexcept {
  if (output == nullptr) {
    return E_INVALIDARG;
  }
  *output = {};
  if (core_->removals() == 0) {
    return kNotCurrentlyAvailable;
  }
  return enabled ? com_boundary(method, body) : kUnsupported;
}

HRESULT STDMETHODCALLTYPE Device::GetAutoBreadcrumbsOutput(D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT* output) noexcept {
  return removed_data("GetAutoBreadcrumbsOutput", output, core_->leaves_breadcrumbs(), [&] {
    output->pHeadAutoBreadcrumbNode = core_->breadcrumbs().collect_without_contexts(core_->removals());
    return output->pHeadAutoBreadcrumbNode != nullptr ? S_OK : kNotCurrentlyAvailable;
  });
}

HRESULT STDMETHODCALLTYPE Device::GetAutoBreadcrumbsOutput1(D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT1* output) noexcept {
  return removed_data("GetAutoBreadcrumbsOutput1", output, core_->leaves_breadcrumbs(), [&] {
    output->pHeadAutoBreadcrumbNode = core_->breadcrumbs().collect(core_->removals());
    return output->pHeadAutoBreadcrumbNode != nullptr ? S_OK : kNotCurrentlyAvailable;
  });
}

// The backends do not report the address of a fault, so only released buffers are returned. The most frequent cause of
// a fault is a program that uses a buffer after releasing it.
HRESULT STDMETHODCALLTYPE Device::GetPageFaultAllocationOutput(D3D12_DRED_PAGE_FAULT_OUTPUT* output) noexcept {
  const bool enabled = core_->breadcrumbs().has_page_faults(core_->debugging());
  return removed_data("GetPageFaultAllocationOutput", output, enabled, [&] {
    output->pHeadRecentFreedAllocationNode =
        core_->breadcrumbs().collect_freed_without_objects(core_->released_buffer_names());
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Device::GetPageFaultAllocationOutput1(D3D12_DRED_PAGE_FAULT_OUTPUT1* output) noexcept {
  const bool enabled = core_->breadcrumbs().has_page_faults(core_->debugging());
  return removed_data("GetPageFaultAllocationOutput1", output, enabled, [&] {
    output->pHeadRecentFreedAllocationNode = core_->breadcrumbs().collect_freed(core_->released_buffer_names());
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Device::GetPageFaultAllocationOutput2(D3D12_DRED_PAGE_FAULT_OUTPUT2* output) noexcept {
  const bool enabled = core_->breadcrumbs().has_page_faults(core_->debugging());
  return removed_data("GetPageFaultAllocationOutput2", output, enabled, [&] {
    output->pHeadRecentFreedAllocationNode = core_->breadcrumbs().collect_freed(core_->released_buffer_names());
    return S_OK;
  });
}

D3D12_DRED_DEVICE_STATE STDMETHODCALLTYPE Device::GetDeviceState() noexcept {
  return core_->removed_reason() == kDeviceHung ? D3D12_DRED_DEVICE_STATE_HUNG
         : core_->removals() != 0               ? D3D12_DRED_DEVICE_STATE_FAULT
                                                : D3D12_DRED_DEVICE_STATE_UNKNOWN;
}

}  // namespace anydml
