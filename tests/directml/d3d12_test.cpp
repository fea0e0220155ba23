// SPDX-License-Identifier: MIT
// D3D12 as DirectML programs use it, and each behaviour of it that has bitten one.
#include <dlfcn.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "directml/harness.h"

namespace anydml::test {
namespace {

constexpr D3D_FEATURE_LEVEL kGeneric = static_cast<D3D_FEATURE_LEVEL>(0x100);

TEST(Device, EveryLevelThatClientsPass) {
  for (const int level : {0x100, 0x1000, 0xb000, 0xb100, 0xc000, 0xc100}) {
    ComPtr<ID3D12Device> device;
    EXPECT_EQ(D3D12CreateDevice(nullptr, static_cast<D3D_FEATURE_LEVEL>(level), IID_PPV_ARGS(&device)), S_OK);
    EXPECT_EQ(D3D12CreateDevice(nullptr, static_cast<D3D_FEATURE_LEVEL>(level), __uuidof(ID3D12Device), nullptr),
              S_FALSE);
  }
  void* nothing = &nothing;
  EXPECT_EQ(D3D12CreateDevice(nullptr, static_cast<D3D_FEATURE_LEVEL>(0xc200), __uuidof(ID3D12Device), &nothing),
            kUnsupported);
  EXPECT_EQ(nothing, nullptr);
  for (const int level : {0, 0x9100, 0xa000, 0x12345}) {
    nothing = &nothing;
    EXPECT_EQ(D3D12CreateDevice(nullptr, static_cast<D3D_FEATURE_LEVEL>(level), __uuidof(ID3D12Device), &nothing),
              E_INVALIDARG);
    EXPECT_EQ(nothing, nullptr);
  }
}

TEST(Device, DirectlyAsDevice9AndUpThroughTheChain) {
  ComPtr<ID3D12Device9> device;
  ASSERT_EQ(D3D12CreateDevice(nullptr, kGeneric, IID_PPV_ARGS(&device)), S_OK);
  const IID ids[] = {__uuidof(ID3D12Object),  __uuidof(ID3D12Device),  __uuidof(ID3D12Device1), __uuidof(ID3D12Device2),
                     __uuidof(ID3D12Device3), __uuidof(ID3D12Device4), __uuidof(ID3D12Device5), __uuidof(ID3D12Device6),
                     __uuidof(ID3D12Device7), __uuidof(ID3D12Device8), __uuidof(ID3D12Device9)};
  for (const IID& id : ids) {
    ComPtr<IUnknown> found;
    EXPECT_EQ(device->QueryInterface(id, reinterpret_cast<void**>(found.GetAddressOf())), S_OK);
  }
  ComPtr<ID3D12Device10> newer;
  EXPECT_EQ(device.As(&newer), E_NOINTERFACE);
  EXPECT_EQ(device->QueryInterface(__uuidof(ID3D12Device), nullptr), E_POINTER);
}

TEST(Device, OneForEachAdapterWhileItLives) {
  const auto first = create_d3d12_device();
  const auto second = create_d3d12_device();
  EXPECT_EQ(first.Get(), second.Get());
}

TEST(Device, OfADXCoreAdapterWithTheSameLuid) {
  ComPtr<IDXCoreAdapterFactory> factory;
  ASSERT_EQ(DXCoreCreateAdapterFactory(IID_PPV_ARGS(&factory)), S_OK);
  const GUID attribute = {0xb71b0d41, 0x1088, 0x422f, {0xa2, 0x7c, 0x02, 0x50, 0xb7, 0xd3, 0xa9, 0x88}};
  ComPtr<IDXCoreAdapterList> list;
  ASSERT_EQ(factory->CreateAdapterList(1, &attribute, IID_PPV_ARGS(&list)), S_OK);
  ComPtr<IDXCoreAdapter> adapter;
  ASSERT_EQ(list->GetAdapter(0, IID_PPV_ARGS(&adapter)), S_OK);
  ComPtr<ID3D12Device> device;
  ASSERT_EQ(D3D12CreateDevice(adapter.Get(), D3D_FEATURE_LEVEL_1_0_CORE, IID_PPV_ARGS(&device)), S_OK);
  LUID luid{};
  ASSERT_EQ(adapter->GetProperty(DXCoreAdapterProperty::InstanceLuid, sizeof(luid), &luid), S_OK);
  const LUID own = device->GetAdapterLuid();
  EXPECT_EQ(luid.LowPart, own.LowPart);
  EXPECT_EQ(luid.HighPart, own.HighPart);
  // Something that is no adapter at all.
  void* nothing = &nothing;
  EXPECT_EQ(D3D12CreateDevice(device.Get(), D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), &nothing), E_INVALIDARG);
  EXPECT_EQ(nothing, nullptr);
}

TEST(Features, TheQueriesOfClients) {
  const auto device = create_d3d12_device();
  D3D12_FEATURE_DATA_ARCHITECTURE1 architecture1{};
  ASSERT_EQ(device->CheckFeatureSupport(D3D12_FEATURE_ARCHITECTURE1, &architecture1, sizeof(architecture1)), S_OK);
  const BOOL unified = anydml_device_get_info(nullptr)->threads != 0 ? TRUE : FALSE;  // the CPU's
  EXPECT_EQ(architecture1.UMA, unified);
  EXPECT_EQ(architecture1.CacheCoherentUMA, unified);
  D3D12_FEATURE_DATA_ARCHITECTURE architecture{};
  ASSERT_EQ(device->CheckFeatureSupport(D3D12_FEATURE_ARCHITECTURE, &architecture, sizeof(architecture)), S_OK);
  EXPECT_EQ(architecture.UMA, unified);
  EXPECT_EQ(architecture.CacheCoherentUMA, unified);

  const D3D_FEATURE_LEVEL levels[] = {kGeneric,
                                      D3D_FEATURE_LEVEL_1_0_CORE,
                                      D3D_FEATURE_LEVEL_11_0,
                                      D3D_FEATURE_LEVEL_11_1,
                                      D3D_FEATURE_LEVEL_12_0,
                                      D3D_FEATURE_LEVEL_12_1};
  for (UINT count = 1; count <= 6; ++count) {  // the answer is the highest of the caller's list
    D3D12_FEATURE_DATA_FEATURE_LEVELS query{count, levels, {}};
    ASSERT_EQ(device->CheckFeatureSupport(D3D12_FEATURE_FEATURE_LEVELS, &query, sizeof(query)), S_OK);
    EXPECT_EQ(query.MaxSupportedFeatureLevel, levels[count - 1]);
  }
  D3D12_FEATURE_DATA_D3D12_OPTIONS options{};
  ASSERT_EQ(device->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS, &options, sizeof(options)), S_OK);
  EXPECT_EQ(options.TiledResourcesTier, D3D12_TILED_RESOURCES_TIER_NOT_SUPPORTED);
  EXPECT_EQ(options.ResourceHeapTier, D3D12_RESOURCE_HEAP_TIER_2);
  D3D12_FEATURE_DATA_D3D12_OPTIONS4 options4{};
  EXPECT_EQ(device->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS4, &options4, sizeof(options4)), S_OK);
  D3D12_FEATURE_DATA_D3D12_OPTIONS7 options7{};
  EXPECT_EQ(device->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS7, &options7, sizeof(options7)), S_OK);
  D3D12_FEATURE_DATA_GPU_VIRTUAL_ADDRESS_SUPPORT address{};
  ASSERT_EQ(device->CheckFeatureSupport(D3D12_FEATURE_GPU_VIRTUAL_ADDRESS_SUPPORT, &address, sizeof(address)), S_OK);
  EXPECT_GE(address.MaxGPUVirtualAddressBitsPerResource, 40U);
}

TEST(Features, Options1WithThe40BytesOfOptions19IsRefused) {
  const auto device = create_d3d12_device();
  std::uint32_t words[10] = {};
  EXPECT_EQ(device->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS1, words, 40), E_INVALIDARG);
  EXPECT_EQ(device->CheckFeatureSupport(static_cast<D3D12_FEATURE>(48), words, 40), S_OK);  // OPTIONS19 itself
  EXPECT_EQ(device->CheckFeatureSupport(static_cast<D3D12_FEATURE>(63), words, 40), E_INVALIDARG);
  EXPECT_EQ(device->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS1, nullptr, 40), E_INVALIDARG);
}

TEST(Memory, EveryHeapThatClientsUse) {
  const auto device = create_d3d12_device();
  for (const auto type :
       {D3D12_HEAP_TYPE_DEFAULT, D3D12_HEAP_TYPE_UPLOAD, D3D12_HEAP_TYPE_READBACK, D3D12_HEAP_TYPE_CUSTOM}) {
    const auto buffer = create_buffer(device.Get(), 100, type);
    ASSERT_NE(buffer.Get(), nullptr);
    EXPECT_EQ(buffer->GetDesc().Width, 100U);
    D3D12_HEAP_PROPERTIES properties{};
    D3D12_HEAP_FLAGS flags{};
    EXPECT_EQ(buffer->GetHeapProperties(&properties, &flags), S_OK);
    EXPECT_EQ(properties.Type, type);
    EXPECT_EQ(buffer->GetGPUVirtualAddress() % 65536, 0U);
    void* first = nullptr;
    void* second = nullptr;
    if (type == D3D12_HEAP_TYPE_DEFAULT) {
      EXPECT_EQ(buffer->Map(0, nullptr, &first), E_INVALIDARG);
      continue;
    }
    // Counted, and the pointer stays.
    ASSERT_EQ(buffer->Map(0, nullptr, &first), S_OK);
    ASSERT_EQ(buffer->Map(0, nullptr, &second), S_OK);
    EXPECT_EQ(first, second);
    buffer->Unmap(0, nullptr);
    static_cast<char*>(first)[99] = 1;
    buffer->Unmap(0, nullptr);
    buffer->Unmap(0, nullptr);                  // once too often: nothing happens
    EXPECT_EQ(read_bytes(buffer.Get())[0], 0);  // memory begins as zeros
    EXPECT_EQ(read_bytes(buffer.Get())[99], 1);
    EXPECT_EQ(buffer->Map(1, nullptr, &first), E_INVALIDARG);
  }
}

TEST(Memory, CustomHeapsAsTheDeviceDescribesThem) {
  const auto device = create_d3d12_device();
  for (const auto type : {D3D12_HEAP_TYPE_UPLOAD, D3D12_HEAP_TYPE_READBACK, D3D12_HEAP_TYPE_DEFAULT}) {
    const D3D12_HEAP_PROPERTIES properties = device->GetCustomHeapProperties(0, type);
    EXPECT_EQ(properties.Type, D3D12_HEAP_TYPE_CUSTOM);
    const auto desc = buffer_desc(64, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
    ComPtr<ID3D12Resource> buffer;
    EXPECT_EQ(device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON,
                                              nullptr, IID_PPV_ARGS(&buffer)),
              S_OK)
        << anydml_last_error();
  }
}

TEST(Memory, AllocationInfoIsRoundedTo64KiB) {
  const auto device = create_d3d12_device();
  const auto desc = buffer_desc(65537);
  const auto info = device->GetResourceAllocationInfo(0, 1, &desc);
  EXPECT_EQ(info.SizeInBytes, 131072U);
  EXPECT_EQ(info.Alignment, 65536U);
  D3D12_PLACED_SUBRESOURCE_FOOTPRINT layout{};
  UINT rows = 0;
  UINT64 row_bytes = 0;
  UINT64 total = 0;
  device->GetCopyableFootprints(&desc, 0, 1, 0, &layout, &rows, &row_bytes, &total);
  EXPECT_EQ(rows, 1U);
  EXPECT_EQ(row_bytes, 65537U);
  EXPECT_EQ(total, 65537U);
  EXPECT_EQ(layout.Footprint.Width, 65537U);
}

TEST(Memory, ThreePlacedBuffersOverOneHeapShareItsMemory) {
  const auto device = create_d3d12_device();
  D3D12_HEAP_DESC heap_desc{};
  heap_desc.SizeInBytes = 1 << 20;
  heap_desc.Properties = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
  heap_desc.Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS;
  ComPtr<ID3D12Heap> heap;
  ASSERT_EQ(device->CreateHeap(&heap_desc, IID_PPV_ARGS(&heap)), S_OK);
  ComPtr<ID3D12Pageable> pageable;
  EXPECT_EQ(heap.As(&pageable), S_OK);
  ComPtr<ID3D12Resource> placed[3];
  const D3D12_RESOURCE_STATES states[] = {D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE,
                                          D3D12_RESOURCE_STATE_COPY_DEST};
  const auto desc = buffer_desc(256, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(device->CreatePlacedResource(heap.Get(), 0, &desc, states[i], nullptr, IID_PPV_ARGS(&placed[i])), S_OK);
  }
  Queue queue(device.Get());
  std::vector<std::uint8_t> bytes(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i);
  }
  upload(queue, placed[2].Get(), bytes.data(), bytes.size());
  EXPECT_EQ(download(queue, placed[1].Get()), bytes);
  // Source and destination over the same memory, as one client has it.
  queue.list->CopyBufferRegion(placed[2].Get(), 128, placed[1].Get(), 0, 128);
  queue.finish();
  EXPECT_EQ(download(queue, placed[0].Get())[200], 72);
  ComPtr<ID3D12Resource> wrong;
  EXPECT_EQ(device->CreatePlacedResource(heap.Get(), 100, &desc, states[0], nullptr, IID_PPV_ARGS(&wrong)),
            E_INVALIDARG);
  EXPECT_EQ(device->CreatePlacedResource(heap.Get(), 1 << 20, &desc, states[0], nullptr, IID_PPV_ARGS(&wrong)),
            E_INVALIDARG);
  // The memory outlives the heap object while a resource is in it.
  heap.Reset();
  pageable.Reset();
  EXPECT_EQ(download(queue, placed[0].Get())[200], 72);
}

TEST(Memory, MoreThanTheMachineHasIsRefused) {
  const auto device = create_d3d12_device();
  const std::uint64_t all = anydml_device_get_info(nullptr)->memory_bytes;
  const auto properties = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
  for (const std::uint64_t bytes : {all + 65536, std::uint64_t{1} << 50, UINT64_MAX - 100}) {
    const auto desc = buffer_desc(bytes);
    void* nothing = &nothing;
    EXPECT_EQ(device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON,
                                              nullptr, __uuidof(ID3D12Resource), &nothing),
              E_OUTOFMEMORY);
    EXPECT_EQ(nothing, nullptr);
  }
  // In parts it is no more: promised memory counts though nobody touched it.
  std::vector<ComPtr<ID3D12Resource>> parts;
  HRESULT result = S_OK;
  const auto desc = buffer_desc(all / 8);
  while (result == S_OK && parts.size() < 100) {
    ComPtr<ID3D12Resource> part;
    result = device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON,
                                             nullptr, IID_PPV_ARGS(&part));
    parts.push_back(part);
  }
  EXPECT_EQ(result, E_OUTOFMEMORY);
  EXPECT_LE(parts.size(), 9U);
  parts.clear();
  EXPECT_EQ(device->GetDeviceRemovedReason(), S_OK);
  EXPECT_NE(create_buffer(device.Get(), 1 << 20).Get(), nullptr);
}

TEST(Memory, WrongDescriptionsAreRefused) {
  const auto device = create_d3d12_device();
  const auto create = [&](const D3D12_HEAP_PROPERTIES& properties, const D3D12_RESOURCE_DESC& desc,
                          D3D12_RESOURCE_STATES state = D3D12_RESOURCE_STATE_COMMON) {
    void* out = &out;
    const HRESULT result = device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr,
                                                           __uuidof(ID3D12Resource), &out);
    EXPECT_EQ(out, nullptr);
    return result;
  };
  const auto good = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
  const auto with = [](auto change) {
    auto desc = buffer_desc(64);
    change(desc);
    return desc;
  };
  EXPECT_EQ(create(good, with([](auto& d) { d.Width = 0; })), E_INVALIDARG);
  EXPECT_EQ(create(good, with([](auto& d) { d.Height = 2; })), E_INVALIDARG);
  EXPECT_EQ(create(good, with([](auto& d) { d.Format = DXGI_FORMAT_R32_UINT; })), E_INVALIDARG);
  EXPECT_EQ(create(good, with([](auto& d) { d.Layout = D3D12_TEXTURE_LAYOUT_UNKNOWN; })), E_INVALIDARG);
  EXPECT_EQ(create(good, with([](auto& d) { d.SampleDesc.Count = 0; })), E_INVALIDARG);
  EXPECT_EQ(create(good, with([](auto& d) { d.Alignment = 512; })), E_INVALIDARG);
  EXPECT_EQ(create(good, with([](auto& d) { d.Flags = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET; })), E_INVALIDARG);
  EXPECT_EQ(create(good, with([](auto& d) { d.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D; })), E_NOTIMPL);
  EXPECT_EQ(create(heap_properties(static_cast<D3D12_HEAP_TYPE>(5)), buffer_desc(64)), E_INVALIDARG);
  EXPECT_EQ(create(heap_properties(D3D12_HEAP_TYPE_UPLOAD), buffer_desc(64)), E_INVALIDARG);  // not GENERIC_READ
  EXPECT_EQ(create(heap_properties(D3D12_HEAP_TYPE_UPLOAD), buffer_desc(64, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS),
                   D3D12_RESOURCE_STATE_GENERIC_READ),
            E_INVALIDARG);
  auto custom = heap_properties(D3D12_HEAP_TYPE_CUSTOM);
  custom.MemoryPoolPreference = D3D12_MEMORY_POOL_L1;
  EXPECT_EQ(create(custom, buffer_desc(64)), E_INVALIDARG);
}

TEST(Lists, CopiesAndClears) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get(), D3D12_COMMAND_LIST_TYPE_COMPUTE);
  const auto buffer = create_buffer(device.Get(), 256);
  const auto visible = create_heap(device.Get(), 4);
  const auto hidden = create_heap(device.Get(), 4, false);
  EXPECT_EQ(hidden->GetGPUDescriptorHandleForHeapStart().ptr, 0U);  // asked by a client, which must not crash
  const UINT step = device->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  ASSERT_GT(step, 0U);

  D3D12_UNORDERED_ACCESS_VIEW_DESC view{};
  view.Format = DXGI_FORMAT_R32_TYPELESS;
  view.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
  view.Buffer.FirstElement = 4;
  view.Buffer.NumElements = 8;
  view.Buffer.Flags = D3D12_BUFFER_UAV_FLAG_RAW;
  D3D12_CPU_DESCRIPTOR_HANDLE cpu{hidden->GetCPUDescriptorHandleForHeapStart().ptr + 3 * step};
  device->CreateUnorderedAccessView(buffer.Get(), nullptr, &view, cpu);
  D3D12_CPU_DESCRIPTOR_HANDLE copy{visible->GetCPUDescriptorHandleForHeapStart().ptr + 2 * step};
  device->CopyDescriptorsSimple(1, copy, cpu, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  const D3D12_GPU_DESCRIPTOR_HANDLE gpu{visible->GetGPUDescriptorHandleForHeapStart().ptr + 2 * step};

  ID3D12DescriptorHeap* heaps[] = {visible.Get()};
  queue.list->SetDescriptorHeaps(1, heaps);
  const UINT pattern[4] = {1, 2, 3, 4};
  queue.list->ClearUnorderedAccessViewUint(gpu, cpu, buffer.Get(), pattern, 0, nullptr);
  D3D12_RESOURCE_BARRIER barriers[3] = {};
  barriers[0].Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
  barriers[1].Type = D3D12_RESOURCE_BARRIER_TYPE_ALIASING;
  barriers[2].Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
  barriers[2].Transition = {buffer.Get(), D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES,
                            D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE};
  queue.list->ResourceBarrier(3, barriers);
  queue.finish();
  const auto words = download_as<UINT>(queue, buffer.Get());
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(words[i], i >= 4 && i < 12 ? i % 4 + 1 : 0) << i;
  }
  // A typed view takes the first word alone.
  view.Format = DXGI_FORMAT_R32_UINT;
  view.Buffer.Flags = D3D12_BUFFER_UAV_FLAG_NONE;
  device->CreateUnorderedAccessView(buffer.Get(), nullptr, &view, cpu);
  device->CreateUnorderedAccessView(buffer.Get(), nullptr, &view, copy);
  queue.list->SetDescriptorHeaps(1, heaps);
  queue.list->ClearUnorderedAccessViewUint(gpu, cpu, buffer.Get(), pattern, 0, nullptr);
  queue.finish();
  EXPECT_EQ(download_as<UINT>(queue, buffer.Get())[7], 1U);
}

TEST(Lists, ExecutedAgainAndResetWhileInFlight) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  const auto source = create_buffer(device.Get(), 8 << 20, D3D12_HEAP_TYPE_UPLOAD);
  const auto target = create_buffer(device.Get(), 8 << 20);
  std::vector<std::uint8_t> bytes(8 << 20, 7);
  write_bytes(source.Get(), bytes.data(), bytes.size());
  queue.list->CopyResource(target.Get(), source.Get());
  ASSERT_EQ(queue.list->Close(), S_OK);
  queue.execute();
  queue.execute();  // again, while the first may still run
  // The list is opened anew with the same allocator while its submissions are in flight.
  ASSERT_EQ(queue.list->Reset(queue.allocator.Get(), nullptr), S_OK);
  queue.list->CopyBufferRegion(target.Get(), 0, source.Get(), 0, 4);
  ASSERT_EQ(queue.list->Close(), S_OK);
  queue.execute();
  // A new list from the same allocator.
  ComPtr<ID3D12GraphicsCommandList> another;
  ASSERT_EQ(device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, queue.allocator.Get(), nullptr,
                                      IID_PPV_ARGS(&another)),
            S_OK);
  another->CopyResource(target.Get(), source.Get());
  ASSERT_EQ(another->Close(), S_OK);
  ID3D12CommandList* both[] = {queue.list.Get(), another.Get()};
  queue.queue->ExecuteCommandLists(2, both);
  ASSERT_EQ(queue.queue->Signal(queue.fence.Get(), ++queue.submitted), S_OK);
  queue.wait();
  queue.reopen();
  EXPECT_EQ(download(queue, target.Get()), bytes);
  EXPECT_EQ(device->GetDeviceRemovedReason(), S_OK);
}

TEST(Lists, AnAllocatorServesOneOpenList) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  EXPECT_EQ(queue.allocator->Reset(), E_FAIL);  // its list is open
  void* nothing = &nothing;
  EXPECT_EQ(device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, queue.allocator.Get(), nullptr,
                                      __uuidof(ID3D12GraphicsCommandList), &nothing),
            E_INVALIDARG);
  EXPECT_EQ(nothing, nullptr);
  EXPECT_EQ(queue.list->Reset(queue.allocator.Get(), nullptr), E_FAIL);  // open already
  EXPECT_EQ(queue.list->Close(), S_OK);
  EXPECT_EQ(queue.list->Close(), E_FAIL);
  queue.list.Reset();  // a list that goes while open gives its allocator back
  ASSERT_EQ(device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, queue.allocator.Get(), nullptr,
                                      IID_PPV_ARGS(&queue.list)),
            S_OK);
  queue.list.Reset();
  EXPECT_EQ(queue.allocator->Reset(), S_OK);
  ComPtr<ID3D12Device4> device4;
  ASSERT_EQ(device.As(&device4), S_OK);
  ComPtr<ID3D12GraphicsCommandList> closed;
  ASSERT_EQ(device4->CreateCommandList1(0, D3D12_COMMAND_LIST_TYPE_DIRECT, D3D12_COMMAND_LIST_FLAG_NONE,
                                        IID_PPV_ARGS(&closed)),
            S_OK);
  EXPECT_EQ(closed->Reset(queue.allocator.Get(), nullptr), S_OK);
}

TEST(Lists, WrongCallsMakeCloseFail) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  const auto buffer = create_buffer(device.Get(), 64);
  const auto other = create_buffer(device.Get(), 32);
  const auto fails = [&](HRESULT expected, auto call) {
    call(queue.list.Get());
    EXPECT_EQ(queue.list->Close(), expected) << anydml_last_error();
    EXPECT_NE(std::string(anydml_last_error()).find("ID3D12GraphicsCommandList::Close"), std::string::npos);
    queue.reopen();
  };
  fails(E_INVALIDARG, [&](auto* l) { l->CopyBufferRegion(buffer.Get(), 60, other.Get(), 0, 8); });
  fails(E_INVALIDARG, [&](auto* l) { l->CopyBufferRegion(buffer.Get(), UINT64_MAX, other.Get(), 0, 8); });
  fails(E_INVALIDARG, [&](auto* l) { l->CopyBufferRegion(nullptr, 0, other.Get(), 0, 8); });
  fails(E_INVALIDARG, [&](auto* l) { l->CopyBufferRegion(buffer.Get(), 0, buffer.Get(), 4, 8); });
  fails(E_INVALIDARG, [&](auto* l) { l->CopyResource(buffer.Get(), other.Get()); });
  fails(E_INVALIDARG, [&](auto* l) { l->CopyResource(buffer.Get(), nullptr); });
  fails(E_INVALIDARG, [&](auto* l) { l->ResourceBarrier(1, nullptr); });
  fails(E_INVALIDARG, [&](auto* l) { l->SetDescriptorHeaps(1, nullptr); });
  fails(E_INVALIDARG, [&](auto* l) { l->ClearUnorderedAccessViewUint({}, {}, buffer.Get(), nullptr, 0, nullptr); });
  fails(E_INVALIDARG, [&](auto* l) { l->EndQuery(nullptr, D3D12_QUERY_TYPE_TIMESTAMP, 0); });
  fails(E_NOTIMPL, [&](auto* l) { l->Dispatch(1, 1, 1); });
  fails(E_NOTIMPL, [&](auto* l) { l->DrawInstanced(3, 1, 0, 0); });
  D3D12_RESOURCE_BARRIER same{};
  same.Transition = {buffer.Get(), 0, D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_COPY_DEST};
  fails(E_INVALIDARG, [&](auto* l) { l->ResourceBarrier(1, &same); });
  EXPECT_EQ(device->GetDeviceRemovedReason(), S_OK);
}

TEST(Queues, TimestampsAreResolvedIntoABuffer) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  UINT64 frequency = 0;
  ASSERT_EQ(queue.queue->GetTimestampFrequency(&frequency), S_OK);
  EXPECT_GT(frequency, 0U);
  D3D12_QUERY_HEAP_DESC desc{};
  desc.Type = D3D12_QUERY_HEAP_TYPE_TIMESTAMP;
  desc.Count = 16384;
  ComPtr<ID3D12QueryHeap> heap;
  ASSERT_EQ(device->CreateQueryHeap(&desc, IID_PPV_ARGS(&heap)), S_OK);
  const auto readback = create_buffer(device.Get(), 16384 * 8, D3D12_HEAP_TYPE_READBACK);
  queue.list->EndQuery(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0);
  queue.list->EndQuery(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 16383);
  queue.list->ResolveQueryData(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0, 16384, readback.Get(), 0);
  queue.finish();
  const auto bytes = read_bytes(readback.Get());
  std::vector<UINT64> ticks(16384);
  std::memcpy(ticks.data(), bytes.data(), bytes.size());
  EXPECT_GT(ticks[0], 0U);
  EXPECT_GE(ticks[16383], ticks[0]);
}

TEST(Queues, AsynchronousAndInOrderAcrossTwo) {
  const auto device = create_d3d12_device();
  Queue first(device.Get());
  Queue second(device.Get(), D3D12_COMMAND_LIST_TYPE_COMPUTE);
  EXPECT_EQ(first.queue->GetDesc().Type, D3D12_COMMAND_LIST_TYPE_DIRECT);
  EXPECT_EQ(second.queue->GetDesc().Type, D3D12_COMMAND_LIST_TYPE_COMPUTE);
  ComPtr<ID3D12Fence> gate;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&gate)), S_OK);
  const auto source = create_buffer(device.Get(), 4, D3D12_HEAP_TYPE_UPLOAD);
  const auto middle = create_buffer(device.Get(), 4);
  const auto target = create_buffer(device.Get(), 4, D3D12_HEAP_TYPE_READBACK);
  const UINT value = 42;
  write_bytes(source.Get(), &value, 4);
  // The second queue waits for the first, which waits for the CPU: nothing has run when this returns.
  ASSERT_EQ(first.queue->Wait(gate.Get(), 1), S_OK);
  first.list->CopyResource(middle.Get(), source.Get());
  first.submit();
  ASSERT_EQ(second.queue->Wait(first.fence.Get(), first.submitted), S_OK);
  second.list->CopyResource(target.Get(), middle.Get());
  second.submit();
  EXPECT_EQ(second.fence->GetCompletedValue(), 0U);
  ASSERT_EQ(gate->Signal(1), S_OK);
  second.wait();
  EXPECT_EQ(read_bytes(target.Get())[0], 42);
}

TEST(Queues, ReleasedWhileWorkIsInFlight) {
  const auto device = create_d3d12_device();
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
  const auto source = create_buffer(device.Get(), 32 << 20, D3D12_HEAP_TYPE_UPLOAD);
  auto target = create_buffer(device.Get(), 32 << 20);
  {
    Queue queue(device.Get());
    queue.list->CopyResource(target.Get(), source.Get());
    queue.submit();
    ASSERT_EQ(queue.queue->Signal(fence.Get(), 1), S_OK);
  }
  target.Reset();  // the work holds its memory
  EXPECT_EQ(fence->SetEventOnCompletion(1, nullptr), S_OK);
}

std::size_t thread_count() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    ++count;
  }
  return count;
}

TEST(Queues, TheirThreadsEndWhoeverDidTheWork) {
  const auto device = create_d3d12_device();
  const std::size_t before = thread_count();
  for (int round = 0; round < 40; ++round) {
    ComPtr<ID3D12Fence> fence;
    ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
    const auto source = create_buffer(device.Get(), 4 << 20, D3D12_HEAP_TYPE_UPLOAD);
    const auto target = create_buffer(device.Get(), 4 << 20);
    auto queue = std::make_unique<Queue>(device.Get());
    queue->list->CopyResource(target.Get(), source.Get());
    queue->submit();
    ASSERT_EQ(queue->queue->Signal(fence.Get(), 1), S_OK);
    std::thread waiting([&] { EXPECT_EQ(fence->SetEventOnCompletion(1, nullptr), S_OK); });
    queue.reset();  // while the other thread may be running its work
    waiting.join();
  }
  for (int i = 0; i < 500 && thread_count() > before; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_LE(thread_count(), before);
}

// Who waits right after every submission is expected to do so again, and the queue's thread is left asleep. It must
// take the work that nobody then comes for.
TEST(Queues, WorkGoesOnWhenTheWaitThatWasExpectedNeverComes) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  queue.submit();
  for (int i = 0; i < 200; ++i) {
    queue.execute();
    queue.wait();
  }
  queue.execute();
  // A fence is looked at once: looking again would wake the queue's thread.
  bool reached = false;
  std::vector<ComPtr<ID3D12Fence>> fences(1000);
  for (auto& fence : fences) {
    ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
    ASSERT_EQ(queue.queue->Signal(fence.Get(), 1), S_OK);
  }
  for (std::size_t i = 0; i < fences.size() && !reached; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    reached = fences[i]->GetCompletedValue() == 1;
  }
  EXPECT_TRUE(reached);
}

// Each other way to learn of the end, right after waits that made the queue expect another.
TEST(Queues, WorkGoesOnForThoseWhoDoNotRunIt) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  Queue other(device.Get());
  queue.submit();
  other.submit();
  const int event = eventfd(0, EFD_CLOEXEC);
  ASSERT_GE(event, 0);
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 3; ++i) {
      queue.execute();
      queue.wait();
    }
    queue.execute();
    switch (round % 3) {
      case 0:
        while (queue.fence->GetCompletedValue() < queue.submitted) {
          std::this_thread::yield();
        }
        break;
      case 1: {
        std::uint64_t count = 0;
        ASSERT_EQ(queue.fence->SetEventOnCompletion(queue.submitted, reinterpret_cast<HANDLE>(std::intptr_t{event})),
                  S_OK);
        ASSERT_EQ(read(event, &count, sizeof(count)), static_cast<ssize_t>(sizeof(count)));
        break;
      }
      default:
        ASSERT_EQ(other.queue->Wait(queue.fence.Get(), queue.submitted), S_OK);
        other.execute();
        other.wait();
        break;
    }
    ASSERT_EQ(queue.fence->GetCompletedValue(), queue.submitted);
  }
  close(event);
}

TEST(Queues, AWaitRunsNoWorkThatDoesNotBringIt) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  ComPtr<ID3D12Fence> fence;
  ComPtr<ID3D12Fence> gate;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&gate)), S_OK);
  ASSERT_EQ(queue.queue->Signal(fence.Get(), 1), S_OK);
  ASSERT_EQ(fence->SetEventOnCompletion(1, nullptr), S_OK);
  // The queue signalled the fence once and will not again; value 2 comes from the CPU.
  ASSERT_EQ(queue.queue->Wait(gate.Get(), 1), S_OK);
  queue.submit();
  std::thread other([&] { fence->Signal(2); });
  EXPECT_EQ(fence->SetEventOnCompletion(2, nullptr), S_OK);
  EXPECT_EQ(queue.fence->GetCompletedValue(), 0U);
  other.join();
  gate->Signal(1);
  queue.wait();
}

TEST(Fences, NullEventBlocksUntilReached) {
  const auto device = create_d3d12_device();
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device->CreateFence(3, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
  EXPECT_EQ(fence->GetCompletedValue(), 3U);
  EXPECT_EQ(fence->SetEventOnCompletion(3, nullptr), S_OK);
  std::atomic<bool> signalled = false;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    signalled = true;
    fence->Signal(10);
  });
  EXPECT_EQ(fence->SetEventOnCompletion(10, nullptr), S_OK);
  EXPECT_TRUE(signalled);
  other.join();
}

TEST(Fences, ValuesOnlyRise) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
  EXPECT_EQ(fence->Signal(5), S_OK);
  EXPECT_EQ(fence->Signal(5), S_OK);
  EXPECT_EQ(fence->Signal(4), E_INVALIDARG);
  EXPECT_EQ(queue.queue->Signal(fence.Get(), 2), S_OK);  // found out on the queue: the value stays
  queue.submit();
  queue.wait();
  EXPECT_EQ(fence->GetCompletedValue(), 5U);
}

TEST(Fences, EventsAreEventfds) {
  const auto device = create_d3d12_device();
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
  const auto handle = [](int descriptor) { return reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(descriptor)); };
  const auto is_set = [](int descriptor) {
    pollfd ready{descriptor, POLLIN, 0};
    return poll(&ready, 1, 0) == 1;
  };
  const int late = eventfd(0, 0);
  const int early = eventfd(0, 0);
  ASSERT_EQ(fence->SetEventOnCompletion(2, handle(late)), S_OK);
  ASSERT_EQ(fence->SetEventOnCompletion(0, handle(early)), S_OK);  // reached already: at once
  EXPECT_TRUE(is_set(early));
  EXPECT_FALSE(is_set(late));
  fence->Signal(1);
  EXPECT_FALSE(is_set(late));
  fence->Signal(2);
  EXPECT_TRUE(is_set(late));
  // The caller may close its own while one is pending.
  const int gone = eventfd(0, 0);
  ASSERT_EQ(fence->SetEventOnCompletion(9, handle(gone)), S_OK);
  close(gone);
  fence->Signal(9);
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  EXPECT_EQ(fence->SetEventOnCompletion(20, handle(pipes[1])), E_INVALIDARG);
  EXPECT_EQ(fence->SetEventOnCompletion(20, handle(987654)), E_INVALIDARG);
  for (const int descriptor : {late, early, pipes[0], pipes[1]}) {
    close(descriptor);
  }
}

TEST(Fences, SeveralAtOnce) {
  const auto device = create_d3d12_device();
  ComPtr<ID3D12Device1> device1;
  ASSERT_EQ(device.As(&device1), S_OK);
  ComPtr<ID3D12Fence> fences[2];
  ID3D12Fence* pointers[2];
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fences[i])), S_OK);
    pointers[i] = fences[i].Get();
  }
  const UINT64 values[] = {1, 1};
  fences[1]->Signal(1);
  EXPECT_EQ(
      device1->SetEventOnMultipleFenceCompletion(pointers, values, 2, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY, nullptr),
      S_OK);
  const int event = eventfd(0, 0);
  EXPECT_EQ(device1->SetEventOnMultipleFenceCompletion(pointers, values, 2, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ALL,
                                                       reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(event))),
            S_OK);
  fences[0]->Signal(1);
  UINT64 count = 0;
  EXPECT_EQ(read(event, &count, sizeof(count)), 8);  // blocks until it is set
  EXPECT_EQ(
      device1->SetEventOnMultipleFenceCompletion(pointers, values, 2, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ALL, nullptr),
      S_OK);
  close(event);
}

TEST(Removal, EveryFenceIsReachedAndNothingIsCreated) {
  auto device = create_d3d12_device();
  Queue queue(device.Get());
  ComPtr<ID3D12Fence> never;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&never)), S_OK);
  ASSERT_EQ(queue.queue->Wait(never.Get(), 1), S_OK);
  queue.submit();
  std::thread waiting([&] { never->SetEventOnCompletion(7, nullptr); });
  ComPtr<ID3D12Device5> device5;
  ASSERT_EQ(device.As(&device5), S_OK);
  device5->RemoveDevice();
  waiting.join();
  EXPECT_EQ(never->GetCompletedValue(), UINT64_MAX);
  EXPECT_EQ(queue.fence->GetCompletedValue(), UINT64_MAX);
  EXPECT_EQ(device->GetDeviceRemovedReason(), kDeviceRemoved);
  void* nothing = &nothing;
  EXPECT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), &nothing), kDeviceRemoved);
  EXPECT_EQ(nothing, nullptr);
  EXPECT_EQ(queue.queue->Signal(queue.fence.Get(), 9), kDeviceRemoved);
  // Whoever asks now gets a new one.
  const auto another = create_d3d12_device();
  EXPECT_NE(another.Get(), device.Get());
  EXPECT_EQ(another->GetDeviceRemovedReason(), S_OK);
}

TEST(Removal, FencesMadeMeanwhileAreReachedToo) {
  for (int round = 0; round < 50; ++round) {
    const auto device = create_d3d12_device();
    std::vector<ComPtr<ID3D12Fence>> fences;
    std::thread making([&] {
      for (;;) {
        ComPtr<ID3D12Fence> fence;
        if (device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)) != S_OK) {
          return;
        }
        fences.push_back(fence);
      }
    });
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    ComPtr<ID3D12Device5> device5;
    device.As(&device5);
    device5->RemoveDevice();
    making.join();
    for (const auto& fence : fences) {
      ASSERT_EQ(fence->GetCompletedValue(), UINT64_MAX);
    }
  }
}

TEST(Removal, WrongUseOfAQueueRemovesTheDevice) {
  enum class Mistake { open_list, spoilt_list, null_list, wrong_type, released_buffer };
  for (const Mistake mistake :
       {Mistake::open_list, Mistake::spoilt_list, Mistake::null_list, Mistake::wrong_type, Mistake::released_buffer}) {
    const auto device = create_d3d12_device();
    Queue queue(device.Get());
    Queue compute(device.Get(), D3D12_COMMAND_LIST_TYPE_COMPUTE);
    ID3D12CommandList* lists[] = {queue.list.Get()};
    if (mistake == Mistake::spoilt_list) {
      queue.list->CopyResource(nullptr, nullptr);
      EXPECT_EQ(queue.list->Close(), E_INVALIDARG);
    } else if (mistake == Mistake::null_list) {
      lists[0] = nullptr;
    } else if (mistake == Mistake::wrong_type) {
      EXPECT_EQ(compute.list->Close(), S_OK);
      lists[0] = compute.list.Get();
    } else if (mistake == Mistake::released_buffer) {
      const auto from = create_buffer(device.Get(), 16);
      const auto to = create_buffer(device.Get(), 16);
      queue.list->CopyResource(to.Get(), from.Get());
      EXPECT_EQ(queue.list->Close(), S_OK);
    }
    EXPECT_EQ(device->GetDeviceRemovedReason(), S_OK);
    queue.queue->ExecuteCommandLists(1, lists);
    EXPECT_EQ(device->GetDeviceRemovedReason(), E_INVALIDARG) << static_cast<int>(mistake);
    EXPECT_NE(std::string(anydml_last_error()).find("ExecuteCommandLists"), std::string::npos);
  }
}

TEST(Objects, PrivateDataAndNames) {
  const auto device = create_d3d12_device();
  const auto buffer = create_buffer(device.Get(), 16);
  const GUID key = {1, 2, 3, {4}};
  UINT size = 4;
  std::uint32_t value = 77;
  for (ID3D12Object* object : {static_cast<ID3D12Object*>(device.Get()), static_cast<ID3D12Object*>(buffer.Get())}) {
    size = 4;
    EXPECT_EQ(object->GetPrivateData(key, &size, &value), kNotFound);
    value = 77;
    ASSERT_EQ(object->SetPrivateData(key, 4, &value), S_OK);
    value = 0;
    size = 4;
    EXPECT_EQ(object->GetPrivateData(key, &size, &value), S_OK);
    EXPECT_EQ(value, 77U);
    size = 2;
    EXPECT_EQ(object->GetPrivateData(key, &size, &value), kMoreData);
    EXPECT_EQ(size, 4U);
    EXPECT_EQ(object->SetPrivateData(key, 4, nullptr), E_INVALIDARG);
    EXPECT_EQ(object->SetPrivateData(key, 0, nullptr), S_OK);
    EXPECT_EQ(object->GetPrivateData(key, &size, nullptr), kNotFound);
    // What is stored as an interface comes back with a reference of the caller's own.
    buffer->AddRef();
    const ULONG before = buffer->Release();
    const auto other = create_buffer(device.Get(), 16);
    ASSERT_EQ(object->SetPrivateDataInterface(key, other.Get()), S_OK);
    ComPtr<IUnknown> back;
    size = sizeof(IUnknown*);
    EXPECT_EQ(object->GetPrivateData(key, &size, back.GetAddressOf()), S_OK);
    ComPtr<IUnknown> identity;
    other.As(&identity);
    EXPECT_EQ(back.Get(), identity.Get());
    EXPECT_EQ(object->SetPrivateDataInterface(key, nullptr), S_OK);
    buffer->AddRef();
    EXPECT_EQ(buffer->Release(), before);
    EXPECT_EQ(object->SetName(L"a name with \u00fc"), S_OK);
    EXPECT_EQ(object->SetName(nullptr), S_OK);
  }
  EXPECT_EQ(buffer->SetPrivateData(key, 0, &value), S_OK);  // present, and empty
  size = 4;
  EXPECT_EQ(buffer->GetPrivateData(key, &size, &value), S_OK);
  EXPECT_EQ(size, 0U);
  wchar_t name[8] = {};
  ASSERT_EQ(buffer->SetName(L"weights"), S_OK);
  const GUID name_key = {0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};
  size = sizeof(name);
  EXPECT_EQ(buffer->GetPrivateData(name_key, &size, name), S_OK);
  EXPECT_EQ(std::wstring(name), L"weights");
}

TEST(Objects, IdentityAndReferences) {
  const auto device = create_d3d12_device();
  device->AddRef();
  const ULONG before = device->Release();
  {
    const auto buffer = create_buffer(device.Get(), 16);
    ComPtr<IUnknown> a;
    ComPtr<IUnknown> b;
    ComPtr<ID3D12Pageable> pageable;
    ASSERT_EQ(buffer.As(&a), S_OK);
    ASSERT_EQ(buffer.As(&pageable), S_OK);
    ASSERT_EQ(pageable.As(&b), S_OK);
    EXPECT_EQ(a.Get(), b.Get());
    ComPtr<ID3D12Heap> heap;
    EXPECT_EQ(buffer.As(&heap), E_NOINTERFACE);
    ComPtr<ID3D12Device> parent;
    ASSERT_EQ(buffer->GetDevice(IID_PPV_ARGS(&parent)), S_OK);
    EXPECT_EQ(parent.Get(), device.Get());
  }
  device->AddRef();
  EXPECT_EQ(device->Release(), before);  // the child has let go
}

TEST(Objects, WhatShadersNeedFailsWithAMessage) {
  const auto device = create_d3d12_device();
  void* out = &out;
  EXPECT_EQ(device->CreateRootSignature(0, "x", 1, __uuidof(ID3D12RootSignature), &out), E_NOTIMPL);
  EXPECT_EQ(out, nullptr);
  EXPECT_NE(std::string(anydml_last_error()).find("CreateRootSignature"), std::string::npos);
  const D3D12_COMPUTE_PIPELINE_STATE_DESC compute{};
  EXPECT_EQ(device->CreateComputePipelineState(&compute, __uuidof(ID3D12PipelineState), &out), E_NOTIMPL);
  ID3DBlob* blob = nullptr;
  EXPECT_EQ(D3D12SerializeVersionedRootSignature(nullptr, &blob, nullptr), E_NOTIMPL);
}

TEST(Objects, InterfacesThatAreNotThere) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  const GUID sharing_contract = {0x0adf7d52, 0x929c, 0x4e61, {0xad, 0xdb, 0xff, 0xed, 0x30, 0xde, 0x66, 0xef}};
  void* out = &out;
  EXPECT_EQ(queue.queue->QueryInterface(sharing_contract, &out), E_NOINTERFACE);
  EXPECT_EQ(out, nullptr);
  // What residency asks for is there always.
  ComPtr<ID3D12Device3> device3;
  ASSERT_EQ(device.As(&device3), S_OK);
  const auto buffer = create_buffer(device.Get(), 16);
  ID3D12Pageable* pageables[] = {buffer.Get()};
  EXPECT_EQ(device->MakeResident(1, pageables), S_OK);
  EXPECT_EQ(device->Evict(1, pageables), S_OK);
  EXPECT_EQ(device->MakeResident(1, nullptr), E_INVALIDARG);
  EXPECT_EQ(device3->EnqueueMakeResident(D3D12_RESIDENCY_FLAG_NONE, 1, pageables, queue.fence.Get(), 99), S_OK);
  EXPECT_EQ(queue.fence->GetCompletedValue(), 99U);
}

// Last, since the debug layer is one for the process.
TEST(DebugLayer, MessagesReachCallbacksAndTheQueue) {
  const auto device = create_d3d12_device();
  ComPtr<ID3D12InfoQueue1> queue;
  ComPtr<ID3D12DebugDevice> debug_device;
  EXPECT_EQ(device.As(&queue), E_NOINTERFACE);  // clients take this for "debugging is off"
  EXPECT_EQ(device.As(&debug_device), E_NOINTERFACE);
  ComPtr<ID3D12Debug3> debug;
  ASSERT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), S_OK);
  debug->EnableDebugLayer();
  debug->SetEnableGPUBasedValidation(TRUE);
  ASSERT_EQ(device.As(&queue), S_OK);
  EXPECT_EQ(device.As(&debug_device), S_OK);
  ComPtr<IUnknown> a;
  ComPtr<IUnknown> b;
  ASSERT_EQ(device.As(&a), S_OK);
  ASSERT_EQ(queue.As(&b), S_OK);
  EXPECT_EQ(a.Get(), b.Get());  // one object

  std::vector<std::string> heard;
  DWORD cookie = 0;
  const auto listen = [](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY severity, D3D12_MESSAGE_ID, LPCSTR text,
                         void* context) {
    EXPECT_EQ(severity, D3D12_MESSAGE_SEVERITY_ERROR);
    static_cast<std::vector<std::string>*>(context)->emplace_back(text);
  };
  ASSERT_EQ(queue->RegisterMessageCallback(listen, D3D12_MESSAGE_CALLBACK_FLAG_NONE, &heard, &cookie), S_OK);
  EXPECT_NE(cookie, 0U);
  const auto properties = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
  const auto desc = buffer_desc(0);
  void* out = nullptr;
  const auto fail = [&] {
    EXPECT_EQ(device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON,
                                              nullptr, __uuidof(ID3D12Resource), &out),
              E_INVALIDARG);
  };
  fail();
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_NE(heard[0].find("Width is 0"), std::string::npos) << heard[0];
  ASSERT_GE(queue->GetNumStoredMessages(), 1U);
  SIZE_T bytes = 0;
  const UINT64 last = queue->GetNumStoredMessages() - 1;
  ASSERT_EQ(queue->GetMessage(last, nullptr, &bytes), S_OK);
  std::vector<std::uint64_t> storage(bytes / 8 + 1);
  auto* message = reinterpret_cast<D3D12_MESSAGE*>(storage.data());
  ASSERT_EQ(queue->GetMessage(last, message, &bytes), S_OK);
  EXPECT_EQ(heard[0], message->pDescription);
  // A filter keeps errors from being stored and heard.
  D3D12_MESSAGE_SEVERITY severity = D3D12_MESSAGE_SEVERITY_ERROR;
  D3D12_INFO_QUEUE_FILTER filter{};
  filter.DenyList.NumSeverities = 1;
  filter.DenyList.pSeverityList = &severity;
  ASSERT_EQ(queue->PushStorageFilter(&filter), S_OK);
  fail();
  EXPECT_EQ(heard.size(), 1U);
  EXPECT_EQ(queue->GetNumMessagesDeniedByStorageFilter(), 1U);
  queue->PopStorageFilter();
  ASSERT_EQ(queue->UnregisterMessageCallback(cookie), S_OK);
  EXPECT_EQ(queue->UnregisterMessageCallback(cookie), E_INVALIDARG);
  fail();
  EXPECT_EQ(heard.size(), 1U);
  // The index of GetMessage counts what the retrieval filter lets through.
  queue->ClearStoredMessages();
  EXPECT_EQ(queue->GetNumStoredMessages(), 0U);
  fail();
  ASSERT_EQ(queue->AddApplicationMessage(D3D12_MESSAGE_SEVERITY_INFO, "mine"), S_OK);
  ASSERT_EQ(queue->PushRetrievalFilter(&filter), S_OK);
  ASSERT_EQ(queue->GetNumStoredMessagesAllowedByRetrievalFilter(), 1U);
  bytes = storage.size() * 8;
  ASSERT_EQ(queue->GetMessage(0, message, &bytes), S_OK);
  EXPECT_STREQ(message->pDescription, "mine");
  EXPECT_EQ(queue->GetMessage(1, nullptr, &bytes), E_INVALIDARG);
  queue->PopRetrievalFilter();

  // A callback may unregister itself, create, and wait; on removal everything is reached before it is called.
  struct Reentrant {
    ID3D12Device* device;
    ID3D12InfoQueue1* queue;
    ID3D12Fence* fence;
    DWORD cookie;
    int calls;
    UINT64 seen;
  };
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
  Reentrant reentrant{device.Get(), queue.Get(), fence.Get(), 0, 0, 0};
  const auto reenter = [](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY, D3D12_MESSAGE_ID, LPCSTR, void* context) {
    auto& self = *static_cast<Reentrant*>(context);
    ++self.calls;
    self.seen = self.fence->GetCompletedValue();
    self.fence->SetEventOnCompletion(self.seen, nullptr);
    EXPECT_EQ(self.queue->UnregisterMessageCallback(self.cookie), S_OK);
  };
  ASSERT_EQ(queue->RegisterMessageCallback(reenter, D3D12_MESSAGE_CALLBACK_FLAG_NONE, &reentrant, &reentrant.cookie),
            S_OK);
  fail();
  fail();
  EXPECT_EQ(reentrant.calls, 1);
  // Unregistering from another thread returns only when no call is under way.
  std::atomic<int> inside = 0;
  const auto slow = [](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY, D3D12_MESSAGE_ID, LPCSTR, void* context) {
    auto& count = *static_cast<std::atomic<int>*>(context);
    ++count;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    --count;
  };
  ASSERT_EQ(queue->RegisterMessageCallback(slow, D3D12_MESSAGE_CALLBACK_FLAG_NONE, &inside, &cookie), S_OK);
  std::thread failing([&] {
    for (int i = 0; i < 3; ++i) {
      fail();
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_EQ(queue->UnregisterMessageCallback(cookie), S_OK);
  EXPECT_EQ(inside, 0);
  failing.join();
  ASSERT_EQ(queue->RegisterMessageCallback(reenter, D3D12_MESSAGE_CALLBACK_FLAG_NONE, &reentrant, &reentrant.cookie),
            S_OK);
  ComPtr<ID3D12Device5> device5;
  ASSERT_EQ(device.As(&device5), S_OK);
  device5->RemoveDevice();
  EXPECT_EQ(reentrant.calls, 2);
  EXPECT_EQ(reentrant.seen, UINT64_MAX);
  ComPtr<ID3D12Debug4> off;
  ASSERT_EQ(debug.As(&off), S_OK);
  off->DisableDebugLayer();
  EXPECT_EQ(device.As(&debug_device), S_OK);  // an interface that was there stays
}

}  // namespace
}  // namespace anydml::test
