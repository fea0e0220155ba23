// SPDX-License-Identifier: MIT
// Tests Device Removed Extended Data: a record of the most recent work, after a D3D12 device or a DirectML device was
// removed.
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "directml/bad_input.h"

namespace anydml::test {
namespace {

constexpr auto kNotCurrentlyAvailable = static_cast<HRESULT>(0x887A0022);

// An adapter has one device at a time, and a device keeps the settings that it was created with. On an asynchronous
// device, a queue's thread may hold the previous test's device for a moment after the test has released it.
void wait_until_no_device_exists() {
  while (true) {
    ID3D12Device* const device = create_d3d12_device().Detach();
    if (device->Release() == 0) {
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Configures breadcrumbs and page faults for devices that are created during the lifetime of this object.
struct Settings {
  explicit Settings(D3D12_DRED_ENABLEMENT breadcrumbs) {
    wait_until_no_device_exists();
    EXPECT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&settings)), S_OK);
    settings->SetAutoBreadcrumbsEnablement(breadcrumbs);
    settings->SetPageFaultEnablement(breadcrumbs);
  }
  ~Settings() {
    settings->SetAutoBreadcrumbsEnablement(D3D12_DRED_ENABLEMENT_SYSTEM_CONTROLLED);
    settings->SetPageFaultEnablement(D3D12_DRED_ENABLEMENT_SYSTEM_CONTROLLED);
    settings->SetBreadcrumbContextEnablement(D3D12_DRED_ENABLEMENT_SYSTEM_CONTROLLED);
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  ComPtr<ID3D12DeviceRemovedExtendedDataSettings1> settings;
};

ComPtr<ID3D12DeviceRemovedExtendedData2> data_of(ID3D12Device* device) {
  ComPtr<ID3D12DeviceRemovedExtendedData2> data;
  EXPECT_EQ(device->QueryInterface(IID_PPV_ARGS(&data)), S_OK);
  return data;
}

void remove(ID3D12Device* device) {
  ComPtr<ID3D12Device5> device5;
  ASSERT_EQ(device->QueryInterface(IID_PPV_ARGS(&device5)), S_OK);
  device5->RemoveDevice();
}

std::vector<D3D12_AUTO_BREADCRUMB_OP> commands_of(const D3D12_AUTO_BREADCRUMB_NODE1& node) {
  return {node.pCommandHistory, node.pCommandHistory + node.BreadcrumbCount};
}

// On an asynchronous device, commands are counted when the queue's thread notices their completion, which may be later.
void expect_completed(const D3D12_AUTO_BREADCRUMB_NODE1& node, UINT count) {
  if (std::getenv("ANYDML_ADAPTER") != nullptr) {
    EXPECT_LE(*node.pLastBreadcrumbValue, count);
  } else {
    EXPECT_EQ(*node.pLastBreadcrumbValue, count);
  }
}

// A list that copies, dispatches and copies. The dispatch and the copies use different buffers, so no transitions are
// needed. Transitions would appear as breadcrumbs while the debug layer is on.
struct Work {
  Work() {
    program.prepare();
    program.dml.initialize(program.compiled.Get());
    EXPECT_EQ(program.compiled->SetName(L"the floor"), S_OK);
    EXPECT_EQ(program.dml.queue.list->SetName(L"a list"), S_OK);
    EXPECT_EQ(program.dml.queue.queue->SetName(L"a queue \u00e4"), S_OK);
    program.bind_good();
  }
  void record() {
    auto& list = *program.dml.queue.list.Get();
    list.CopyBufferRegion(program.buffers[3].Get(), 0, source.Get(), 0, 64);
    program.record();
    list.CopyResource(program.buffers[3].Get(), source.Get());
  }
  static std::vector<D3D12_AUTO_BREADCRUMB_OP> expected() {
    return {D3D12_AUTO_BREADCRUMB_OP_COPYBUFFERREGION, D3D12_AUTO_BREADCRUMB_OP_DISPATCH,
            D3D12_AUTO_BREADCRUMB_OP_COPYBUFFERREGION};
  }
  Program program;
  ComPtr<ID3D12Resource> source = create_buffer(program.dml.d3d12.Get(), 1024);
};

TEST(Dred, ExistsAndIsSilentUntilARemoval) {
  const Settings settings(D3D12_DRED_ENABLEMENT_FORCED_ON);
  ComPtr<ID3D12DeviceRemovedExtendedDataSettings> oldest;
  ComPtr<ID3D12DeviceRemovedExtendedDataSettings2> newest;
  EXPECT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&oldest)), S_OK);
  ASSERT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&newest)), S_OK);
  newest->UseMarkersOnlyAutoBreadcrumbs(FALSE);
  newest->SetWatsonDumpEnablement(D3D12_DRED_ENABLEMENT_FORCED_ON);
  EXPECT_EQ(D3D12GetDebugInterface(__uuidof(ID3D12DeviceRemovedExtendedDataSettings), nullptr), S_FALSE);
  const auto device = create_d3d12_device();
  const auto data = data_of(device.Get());
  D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT output{};
  D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT1 output1{};
  D3D12_DRED_PAGE_FAULT_OUTPUT fault{};
  EXPECT_EQ(data->GetAutoBreadcrumbsOutput(&output), kNotCurrentlyAvailable);
  EXPECT_EQ(data->GetAutoBreadcrumbsOutput1(&output1), kNotCurrentlyAvailable);
  EXPECT_EQ(data->GetPageFaultAllocationOutput(&fault), kNotCurrentlyAvailable);
  EXPECT_EQ(data->GetAutoBreadcrumbsOutput(nullptr), E_INVALIDARG);
  EXPECT_EQ(data->GetDeviceState(), D3D12_DRED_DEVICE_STATE_UNKNOWN);
  remove(device.Get());
  EXPECT_EQ(data->GetAutoBreadcrumbsOutput(&output), kNotCurrentlyAvailable);  // nothing was submitted
  EXPECT_EQ(data->GetDeviceState(), D3D12_DRED_DEVICE_STATE_FAULT);
}

TEST(Dred, IsOffByDefault) {
  if (debug_layer_is_forced_on()) {
    GTEST_SKIP() << "every device has the debug layer";
  }
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  const auto buffer = create_buffer(device.Get(), 64);
  EXPECT_EQ(download(queue, buffer.Get()).size(), 64U);
  const auto data = data_of(device.Get());
  remove(device.Get());
  D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT output{};
  D3D12_DRED_PAGE_FAULT_OUTPUT fault{};
  EXPECT_EQ(data->GetAutoBreadcrumbsOutput(&output), kUnsupported);
  EXPECT_EQ(data->GetPageFaultAllocationOutput(&fault), kUnsupported);
}

TEST(Dred, TellsTheLastSubmissionsOfARemovedDevice) {
  const Settings settings(D3D12_DRED_ENABLEMENT_FORCED_ON);
  Work work;
  Queue& queue = work.program.dml.queue;
  work.record();
  queue.finish();
  const auto device = work.program.dml.d3d12;
  {
    const auto gone = create_buffer(device.Get(), 64);
    EXPECT_EQ(gone->SetName(L"gone"), S_OK);
  }
  remove(device.Get());
  const auto data = data_of(device.Get());
  D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT1 output1{};
  ASSERT_EQ(data->GetAutoBreadcrumbsOutput1(&output1), S_OK);
  const D3D12_AUTO_BREADCRUMB_NODE1* last = output1.pHeadAutoBreadcrumbNode;
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(commands_of(*last), Work::expected());
  expect_completed(*last, 3);
  EXPECT_STREQ(last->pCommandListDebugNameA, "a list");
  EXPECT_STREQ(last->pCommandListDebugNameW, L"a list");
  EXPECT_STREQ(last->pCommandQueueDebugNameA, "a queue \xc3\xa4");
  EXPECT_STREQ(last->pCommandQueueDebugNameW, L"a queue \u00e4");
  EXPECT_EQ(last->pCommandList, queue.list.Get());
  EXPECT_EQ(last->pCommandQueue, queue.queue.Get());
  ASSERT_EQ(last->BreadcrumbContextsCount, 1U);
  EXPECT_EQ(last->pBreadcrumbContexts[0].BreadcrumbIndex, 1U);
  EXPECT_NE(std::wstring(last->pBreadcrumbContexts[0].pContextString).find(L"'the floor'"), std::wstring::npos);
  ASSERT_NE(last->pNext, nullptr);  // the dispatch of the initializer
  EXPECT_EQ(commands_of(*last->pNext), std::vector{D3D12_AUTO_BREADCRUMB_OP_DISPATCH});
  EXPECT_EQ(last->pNext->pNext, nullptr);

  D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT output{};
  ASSERT_EQ(data->GetAutoBreadcrumbsOutput(&output), S_OK);
  EXPECT_EQ(output.pHeadAutoBreadcrumbNode->BreadcrumbCount, 3U);
  EXPECT_EQ(*output.pHeadAutoBreadcrumbNode->pLastBreadcrumbValue, *last->pLastBreadcrumbValue);
  EXPECT_NE(output.pHeadAutoBreadcrumbNode->pNext, nullptr);

  D3D12_DRED_PAGE_FAULT_OUTPUT fault{};
  D3D12_DRED_PAGE_FAULT_OUTPUT1 fault1{};
  D3D12_DRED_PAGE_FAULT_OUTPUT2 fault2{};
  ASSERT_EQ(data->GetPageFaultAllocationOutput(&fault), S_OK);
  ASSERT_EQ(data->GetPageFaultAllocationOutput1(&fault1), S_OK);
  ASSERT_EQ(data->GetPageFaultAllocationOutput2(&fault2), S_OK);
  ASSERT_NE(fault.pHeadRecentFreedAllocationNode, nullptr);
  EXPECT_STREQ(fault.pHeadRecentFreedAllocationNode->ObjectNameA, "gone");
  EXPECT_EQ(fault.pHeadRecentFreedAllocationNode->AllocationType, D3D12_DRED_ALLOCATION_TYPE_RESOURCE);
  ASSERT_NE(fault2.pHeadRecentFreedAllocationNode, nullptr);
  EXPECT_STREQ(fault2.pHeadRecentFreedAllocationNode->ObjectNameW, L"gone");
  EXPECT_EQ(fault.pHeadExistingAllocationNode, nullptr);

  // The data outlives the lists and queues, and a second call returns the same data.
  queue.list.Reset();
  queue.queue.Reset();
  D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT1 again{};
  ASSERT_EQ(data->GetAutoBreadcrumbsOutput1(&again), S_OK);
  EXPECT_EQ(again.pHeadAutoBreadcrumbNode, last);
  EXPECT_STREQ(last->pCommandListDebugNameA, "a list");
}

// A bound buffer is released, so DirectML refuses the dispatch when the list is executed.
TEST(Dred, TellsWhichDispatchRemovedADirectMLDevice) {
  const Settings settings(D3D12_DRED_ENABLEMENT_FORCED_ON);
  Work work;
  Queue& queue = work.program.dml.queue;
  work.record();
  work.program.buffers[1].Reset();
  queue.submit();
  queue.wait();
  EXPECT_EQ(work.program.dml.device->GetDeviceRemovedReason(), E_INVALIDARG);
  EXPECT_EQ(work.program.dml.d3d12->GetDeviceRemovedReason(), S_OK);
  const auto data = data_of(work.program.dml.d3d12.Get());
  D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT1 output{};
  ASSERT_EQ(data->GetAutoBreadcrumbsOutput1(&output), S_OK);
  const D3D12_AUTO_BREADCRUMB_NODE1& last = *output.pHeadAutoBreadcrumbNode;
  EXPECT_EQ(commands_of(last), Work::expected());
  expect_completed(last, 1);  // the copy before the dispatch
}

// An operator with a persistent resource fails when it runs, because it was never initialized.
TEST(Dred, TellsWhichDispatchFailedOnTheQueue) {
  const Settings settings(D3D12_DRED_ENABLEMENT_FORCED_ON);
  Program program;
  program.prepare_owned();
  program.bind_owned_execution(kNone, 3);
  Queue& queue = program.dml.queue;
  const auto source = create_buffer(program.dml.d3d12.Get(), 64);
  const auto target = create_buffer(program.dml.d3d12.Get(), 64);
  queue.list->CopyBufferRegion(target.Get(), 0, source.Get(), 0, 64);
  queue.list->CopyBufferRegion(target.Get(), 0, source.Get(), 0, 64);
  program.record();
  queue.submit();
  queue.wait();
  EXPECT_EQ(program.dml.device->GetDeviceRemovedReason(), E_INVALIDARG);
  D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT1 output{};
  ASSERT_EQ(data_of(program.dml.d3d12.Get())->GetAutoBreadcrumbsOutput1(&output), S_OK);
  EXPECT_EQ(output.pHeadAutoBreadcrumbNode->BreadcrumbCount, 3U);
  expect_completed(*output.pHeadAutoBreadcrumbNode, 2);
}

// Commands are counted in every list of a submission, and only the last submissions are kept. The dispatches in a
// submission write the same buffer without a barrier between them. This breaks D3D12's rules, but with the debug layer
// on, a barrier would be a breadcrumb.
TEST(Dred, CountsEveryListOfASubmission) {
  const Settings settings(D3D12_DRED_ENABLEMENT_FORCED_ON);
  settings.settings->SetBreadcrumbContextEnablement(D3D12_DRED_ENABLEMENT_FORCED_OFF);
  Work work;
  Queue& queue = work.program.dml.queue;
  work.record();
  ASSERT_EQ(queue.list->Close(), S_OK);
  ID3D12CommandList* lists[] = {queue.list.Get(), queue.list.Get()};
  for (int i = 0; i < 100; ++i) {
    queue.queue->ExecuteCommandLists(2, lists);
  }
  EXPECT_EQ(queue.queue->Signal(queue.fence.Get(), ++queue.submitted), S_OK);
  queue.wait();
  remove(work.program.dml.d3d12.Get());
  D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT1 output{};
  ASSERT_EQ(data_of(work.program.dml.d3d12.Get())->GetAutoBreadcrumbsOutput1(&output), S_OK);
  int nodes = 0;
  for (const auto* node = output.pHeadAutoBreadcrumbNode; node != nullptr; node = node->pNext) {
    EXPECT_EQ(commands_of(*node), Work::expected());
    expect_completed(*node, 3);
    EXPECT_EQ(node->BreadcrumbContextsCount, 0U);
    ++nodes;
  }
  EXPECT_EQ(nodes, 32);
}

TEST(Dred, NamesEveryKindOfCommand) {
  const Settings settings(D3D12_DRED_ENABLEMENT_FORCED_ON);
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  const auto buffer = create_buffer(device.Get(), 64);
  const auto times = create_buffer(device.Get(), 64);
  const auto visible = create_heap(device.Get(), 1);
  const auto hidden = create_heap(device.Get(), 1, false);
  D3D12_UNORDERED_ACCESS_VIEW_DESC view{};
  view.Format = DXGI_FORMAT_R32_TYPELESS;
  view.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
  view.Buffer.NumElements = 16;
  view.Buffer.Flags = D3D12_BUFFER_UAV_FLAG_RAW;
  device->CreateUnorderedAccessView(buffer.Get(), nullptr, &view, visible->GetCPUDescriptorHandleForHeapStart());
  device->CreateUnorderedAccessView(buffer.Get(), nullptr, &view, hidden->GetCPUDescriptorHandleForHeapStart());
  D3D12_QUERY_HEAP_DESC queries{};
  queries.Type = D3D12_QUERY_HEAP_TYPE_TIMESTAMP;
  queries.Count = 1;
  ComPtr<ID3D12QueryHeap> query_heap;
  ASSERT_EQ(device->CreateQueryHeap(&queries, IID_PPV_ARGS(&query_heap)), S_OK);
  ID3D12DescriptorHeap* heaps[] = {visible.Get()};
  const UINT pattern[4] = {1, 2, 3, 4};
  queue.list->SetDescriptorHeaps(1, heaps);
  queue.list->EndQuery(query_heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0);  // a timestamp is not a breadcrumb
  queue.list->ClearUnorderedAccessViewUint(visible->GetGPUDescriptorHandleForHeapStart(),
                                           hidden->GetCPUDescriptorHandleForHeapStart(), buffer.Get(), pattern, 0,
                                           nullptr);
  queue.list->ResolveQueryData(query_heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0, 1, times.Get(), 0);
  queue.finish();
  remove(device.Get());
  D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT1 output{};
  ASSERT_EQ(data_of(device.Get())->GetAutoBreadcrumbsOutput1(&output), S_OK);
  EXPECT_EQ(
      commands_of(*output.pHeadAutoBreadcrumbNode),
      (std::vector{D3D12_AUTO_BREADCRUMB_OP_CLEARUNORDEREDACCESSVIEW, D3D12_AUTO_BREADCRUMB_OP_RESOLVEQUERYDATA}));
  expect_completed(*output.pHeadAutoBreadcrumbNode, 2);
}

// Adjacent barriers are one breadcrumb. They are recorded only while the debug layer is on.
TEST(Dred, NamesBarriersWhileTheDebugLayerIsOn) {
  const auto device = create_d3d12_device();
  ComPtr<IDMLDevice> dml;
  ASSERT_EQ(DMLCreateDevice(device.Get(), DML_CREATE_DEVICE_FLAG_DEBUG, IID_PPV_ARGS(&dml)), S_OK);
  Queue queue(device.Get());
  const auto a = create_buffer(device.Get(), 64);
  const auto b = create_buffer(device.Get(), 64);
  queue.list->CopyResource(b.Get(), a.Get());
  transition(queue.list.Get(), a.Get(), D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_COPY_DEST);
  transition(queue.list.Get(), b.Get(), D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_COPY_SOURCE);
  queue.list->CopyResource(a.Get(), b.Get());
  transition(queue.list.Get(), b.Get(), D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_COMMON);
  queue.finish();
  transition(queue.list.Get(), b.Get(), D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COPY_SOURCE);
  queue.finish();
  remove(device.Get());
  D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT1 output{};
  ASSERT_EQ(data_of(device.Get())->GetAutoBreadcrumbsOutput1(&output), S_OK);
  const D3D12_AUTO_BREADCRUMB_NODE1* last = output.pHeadAutoBreadcrumbNode;
  EXPECT_EQ(commands_of(*last), std::vector{D3D12_AUTO_BREADCRUMB_OP_RESOURCEBARRIER});
  expect_completed(*last, 1);
  EXPECT_EQ(commands_of(*last->pNext),
            (std::vector{D3D12_AUTO_BREADCRUMB_OP_COPYBUFFERREGION, D3D12_AUTO_BREADCRUMB_OP_RESOURCEBARRIER,
                         D3D12_AUTO_BREADCRUMB_OP_COPYBUFFERREGION, D3D12_AUTO_BREADCRUMB_OP_RESOURCEBARRIER}));
  expect_completed(*last->pNext, 4);
}

// The debug layer turns DRED on, unless the program has forced it off.
TEST(Dred, IsOnWithTheDebugLayer) {
  for (const bool forced_off : {true, false}) {
    const Settings settings(forced_off ? D3D12_DRED_ENABLEMENT_FORCED_OFF : D3D12_DRED_ENABLEMENT_SYSTEM_CONTROLLED);
    const auto device = create_d3d12_device();
    ComPtr<IDMLDevice> dml;
    ASSERT_EQ(DMLCreateDevice(device.Get(), DML_CREATE_DEVICE_FLAG_DEBUG, IID_PPV_ARGS(&dml)), S_OK);
    Queue queue(device.Get());
    const auto buffer = create_buffer(device.Get(), 64);
    EXPECT_EQ(download(queue, buffer.Get()).size(), 64U);
    remove(device.Get());
    D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT output{};
    D3D12_DRED_PAGE_FAULT_OUTPUT fault{};
    EXPECT_EQ(data_of(device.Get())->GetAutoBreadcrumbsOutput(&output), forced_off ? kUnsupported : S_OK);
    EXPECT_EQ(data_of(device.Get())->GetPageFaultAllocationOutput(&fault), forced_off ? kUnsupported : S_OK);
  }
}

}  // namespace
}  // namespace anydml::test
