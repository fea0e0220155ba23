// SPDX-License-Identifier: MIT
// Tests D3D12 as DirectML programs use it, including each behavior that once broke a client. This file covers devices,
// their features and memory.
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
  // An object that is not an adapter.
  void* nothing = &nothing;
  EXPECT_EQ(D3D12CreateDevice(device.Get(), D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), &nothing), E_INVALIDARG);
  EXPECT_EQ(nothing, nullptr);
}

TEST(Features, TheQueriesOfClients) {
  const auto device = create_d3d12_device();
  D3D12_FEATURE_DATA_ARCHITECTURE1 architecture1{};
  ASSERT_EQ(device->CheckFeatureSupport(D3D12_FEATURE_ARCHITECTURE1, &architecture1, sizeof(architecture1)), S_OK);
  const BOOL unified = anydml_device_get_info(nullptr)->threads != 0 ? TRUE : FALSE;  // this is true for the CPU
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
  for (UINT count = 1; count <= 6; ++count) {  // the answer is the highest level in the caller's list
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
    // Mappings are counted, and the pointer stays the same.
    ASSERT_EQ(buffer->Map(0, nullptr, &first), S_OK);
    ASSERT_EQ(buffer->Map(0, nullptr, &second), S_OK);
    EXPECT_EQ(first, second);
    buffer->Unmap(0, nullptr);
    static_cast<char*>(first)[99] = 1;
    buffer->Unmap(0, nullptr);
    buffer->Unmap(0, nullptr);                  // one Unmap too many has no effect
    EXPECT_EQ(read_bytes(buffer.Get())[0], 0);  // memory is zeroed at first
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
  // Source and destination share memory, as in one client.
  queue.list->CopyBufferRegion(placed[2].Get(), 128, placed[1].Get(), 0, 128);
  queue.finish();
  EXPECT_EQ(download(queue, placed[0].Get())[200], 72);
  ComPtr<ID3D12Resource> wrong;
  EXPECT_EQ(device->CreatePlacedResource(heap.Get(), 100, &desc, states[0], nullptr, IID_PPV_ARGS(&wrong)),
            E_INVALIDARG);
  EXPECT_EQ(device->CreatePlacedResource(heap.Get(), 1 << 20, &desc, states[0], nullptr, IID_PPV_ARGS(&wrong)),
            E_INVALIDARG);
  // The memory outlives the heap object while a resource uses it.
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
  // Splitting the request does not help: committed memory counts even if nobody has touched it.
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

}  // namespace
}  // namespace anydml::test
