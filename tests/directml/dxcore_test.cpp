// SPDX-License-Identifier: MIT
// Tests DXCore as DirectML programs use it. The tests load the library by its bare name, and make every call of the
// surveyed clients as well as invalid calls.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <wsl/winadapter.h>

#include <directx/dxcore.h>
#include <dxguids/dxguids.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr GUID kGenericMl = {0xb71b0d41, 0x1088, 0x422f, {0xa2, 0x7c, 0x02, 0x50, 0xb7, 0xd3, 0xa9, 0x88}};
constexpr GUID kCoreCompute = {0x248e2800, 0xa793, 0x4724, {0xab, 0xaa, 0x23, 0xa6, 0xde, 0x1b, 0xe0, 0x90}};
constexpr GUID kGraphics = {0x0c9ece4d, 0x2f6e, 0x4f01, {0x8c, 0x96, 0xe8, 0x9e, 0x33, 0x1b, 0x47, 0xb1}};
constexpr GUID kUnknown = {0x12345678, 0, 0, {0, 0, 0, 0, 0, 0, 0, 1}};
constexpr HRESULT kInvalidCall = static_cast<HRESULT>(0x887A0001);
constexpr HRESULT kUnsupported = static_cast<HRESULT>(0x887A0004);

using CreateFactory = HRESULT (*)(REFIID, void**);

CreateFactory load() {
  void* library = dlopen("libdxcore.so", RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  return library == nullptr ? nullptr : reinterpret_cast<CreateFactory>(dlsym(library, "DXCoreCreateAdapterFactory"));
}

class DXCore : public testing::Test {
 protected:
  void SetUp() override {
    create_ = load();
    ASSERT_NE(create_, nullptr);
    ASSERT_EQ(create_(IID_PPV_ARGS(&factory_)), S_OK);
  }
  void TearDown() override {
    for (IUnknown* object : owned_) {
      object->Release();
    }
    if (factory_ != nullptr) {
      factory_->Release();
    }
  }

  IDXCoreAdapterList* list(const GUID& attribute) {
    IDXCoreAdapterList* result = nullptr;
    EXPECT_EQ(factory_->CreateAdapterList(1, &attribute, &result), S_OK);
    return keep(result);
  }
  IDXCoreAdapter* adapter() {
    IDXCoreAdapter* found = nullptr;
    EXPECT_EQ(list(kGenericMl)->GetAdapter(0, &found), S_OK);
    return keep(found);
  }
  template <class T>
  T* keep(T* object) {
    owned_.push_back(object);
    return object;
  }
  template <class T>
  T property(DXCoreAdapterProperty which) {
    size_t size = 0;
    EXPECT_TRUE(adapter()->IsPropertySupported(which));
    EXPECT_EQ(adapter()->GetPropertySize(which, &size), S_OK);
    EXPECT_EQ(size, sizeof(T));
    T value{};
    EXPECT_EQ(adapter()->GetProperty(which, &value), S_OK);
    return value;
  }

  CreateFactory create_ = nullptr;
  IDXCoreAdapterFactory* factory_ = nullptr;
  std::vector<IUnknown*> owned_;
};

TEST_F(DXCore, ListsByAttribute) {
  EXPECT_GE(list(kGenericMl)->GetAdapterCount(), 1U);
  EXPECT_EQ(list(kCoreCompute)->GetAdapterCount(), list(kGenericMl)->GetAdapterCount());
  EXPECT_EQ(list(kUnknown)->GetAdapterCount(), 0U) << "an unknown attribute is an empty list, not an error";
  const char* graphics = std::getenv("ANYDML_GRAPHICS");
  const bool draws = graphics != nullptr && std::string(graphics) == "1";
  EXPECT_EQ(list(kGraphics)->GetAdapterCount(), draws ? list(kGenericMl)->GetAdapterCount() : 0U);
  EXPECT_EQ(adapter()->IsAttributeSupported(kGraphics), draws);
  const GUID both[] = {kGenericMl, kUnknown};
  IDXCoreAdapterList* none = nullptr;
  ASSERT_EQ(factory_->CreateAdapterList(2, both, &none), S_OK);
  EXPECT_EQ(keep(none)->GetAdapterCount(), 0U) << "an adapter has all attributes asked for";
}

TEST_F(DXCore, SortsByWhatClientsPrefer) {
  auto* adapters = list(kGenericMl);
  const DXCoreAdapterPreference preferences[] = {DXCoreAdapterPreference::Hardware,
                                                 DXCoreAdapterPreference::HighPerformance};
  EXPECT_EQ(adapters->Sort(2, preferences), S_OK);
  EXPECT_EQ(adapters->Sort(0, preferences), E_INVALIDARG);
  EXPECT_EQ(adapters->Sort(1, nullptr), E_INVALIDARG);
  const auto odd = static_cast<DXCoreAdapterPreference>(77);
  EXPECT_EQ(adapters->Sort(1, &odd), E_INVALIDARG);
  EXPECT_TRUE(adapters->IsAdapterPreferenceSupported(DXCoreAdapterPreference::MinimumPower));
  EXPECT_FALSE(adapters->IsAdapterPreferenceSupported(odd));
  EXPECT_FALSE(adapters->IsStale());
}

TEST_F(DXCore, DescribesTheCpu) {
  EXPECT_TRUE(property<bool>(DXCoreAdapterProperty::IsHardware)) << "clients stop at a software adapter";
  EXPECT_TRUE(property<bool>(DXCoreAdapterProperty::IsIntegrated));
  EXPECT_FALSE(property<bool>(DXCoreAdapterProperty::IsDetachable));
  EXPECT_NE(property<DXCoreHardwareID>(DXCoreAdapterProperty::HardwareID).vendorID, 0x1414U);
  EXPECT_NE(property<uint64_t>(DXCoreAdapterProperty::DriverVersion), 0U);
  EXPECT_NE(property<uint64_t>(DXCoreAdapterProperty::SharedSystemMemory), 0U);
  property<uint64_t>(DXCoreAdapterProperty::DedicatedAdapterMemory);
  property<uint64_t>(DXCoreAdapterProperty::DedicatedSystemMemory);
  size_t size = 0;
  ASSERT_EQ(adapter()->GetPropertySize(DXCoreAdapterProperty::DriverDescription, &size), S_OK);
  std::string description(size, '?');
  ASSERT_EQ(adapter()->GetProperty(DXCoreAdapterProperty::DriverDescription, size, description.data()), S_OK);
  EXPECT_EQ(description.find('\0'), size - 1) << "the size counts the final null character";
  EXPECT_GT(size, 3U);
}

TEST_F(DXCore, FindsAnAdapterByItsLuid) {
  const LUID luid = property<LUID>(DXCoreAdapterProperty::InstanceLuid);
  IDXCoreAdapter* found = nullptr;
  ASSERT_EQ(factory_->GetAdapterByLuid(luid, &found), S_OK);
  EXPECT_EQ(keep(found), adapter()) << "one object for one adapter";
  const LUID other = {};
  EXPECT_EQ(factory_->GetAdapterByLuid(other, &found), E_INVALIDARG);
  EXPECT_EQ(found, nullptr);
}

TEST_F(DXCore, TellsItsMemoryBudget) {
  DXCoreAdapterMemoryBudgetNodeSegmentGroup group = {0, DXCoreSegmentGroup::Local};
  DXCoreAdapterMemoryBudget local = {};
  DXCoreAdapterMemoryBudget far = {};
  EXPECT_TRUE(adapter()->IsQueryStateSupported(DXCoreAdapterState::AdapterMemoryBudget));
  ASSERT_EQ(adapter()->QueryState(DXCoreAdapterState::AdapterMemoryBudget, &group, &local), S_OK);
  group.segmentGroup = DXCoreSegmentGroup::NonLocal;
  ASSERT_EQ(adapter()->QueryState(DXCoreAdapterState::AdapterMemoryBudget, &group, &far), S_OK);
  EXPECT_GT(local.budget + far.budget, 0U);
  EXPECT_LE(local.budget, property<uint64_t>(DXCoreAdapterProperty::SharedSystemMemory));
  bool updating = true;
  ASSERT_EQ(adapter()->QueryState(DXCoreAdapterState::IsDriverUpdateInProgress, &updating), S_OK);
  EXPECT_FALSE(updating);
  group.nodeIndex = 1;
  EXPECT_EQ(adapter()->QueryState(DXCoreAdapterState::AdapterMemoryBudget, &group, &local), E_INVALIDARG);
  EXPECT_EQ(adapter()->QueryState(DXCoreAdapterState::AdapterMemoryBudget, &local), E_POINTER);
  EXPECT_EQ(adapter()->QueryState(static_cast<DXCoreAdapterState>(99), &group, &local), kInvalidCall);
  EXPECT_EQ(adapter()->QueryState(DXCoreAdapterState::AdapterMemoryBudget, sizeof(group), &group, 3, &local),
            E_INVALIDARG);
  EXPECT_FALSE(adapter()->IsSetStateSupported(DXCoreAdapterState::AdapterMemoryBudget));
  EXPECT_EQ(adapter()->SetState(DXCoreAdapterState::AdapterMemoryBudget, &group, &local), kUnsupported);
}

TEST_F(DXCore, KeepsTheRulesOfCom) {
  IDXCoreAdapter* one = adapter();
  IUnknown* identity = nullptr;
  ASSERT_EQ(one->QueryInterface(IID_PPV_ARGS(&identity)), S_OK);
  IUnknown* again = nullptr;
  ASSERT_EQ(keep(identity)->QueryInterface(IID_PPV_ARGS(&again)), S_OK);
  EXPECT_EQ(keep(again), identity);
  IDXCoreAdapter* back = nullptr;
  ASSERT_EQ(identity->QueryInterface(IID_PPV_ARGS(&back)), S_OK);
  EXPECT_EQ(keep(back), one);
  void* missing = one;
  EXPECT_EQ(one->QueryInterface(kUnknown, &missing), E_NOINTERFACE);
  EXPECT_EQ(missing, nullptr);
  EXPECT_EQ(one->QueryInterface(kUnknown, nullptr), E_POINTER);
  const ULONG before = one->AddRef();
  EXPECT_EQ(one->Release(), before - 1);
  IDXCoreAdapterFactory* same = nullptr;
  ASSERT_EQ(one->GetFactory(&same), S_OK);
  EXPECT_EQ(keep(same), factory_) << "one factory for the process";
  auto* adapters = list(kGenericMl);
  EXPECT_EQ(adapters->AddRef(), 2U);
  EXPECT_EQ(adapters->Release(), 1U);
}

TEST_F(DXCore, RefusesWrongUse) {
  EXPECT_EQ(create_(__uuidof(IDXCoreAdapterFactory), nullptr), E_POINTER);
  void* nothing = this;
  EXPECT_EQ(create_(kUnknown, &nothing), E_NOINTERFACE);
  EXPECT_EQ(nothing, nullptr);
  IDXCoreAdapterList* none = nullptr;
  EXPECT_EQ(factory_->CreateAdapterList(0, &kGenericMl, &none), E_INVALIDARG);
  EXPECT_EQ(factory_->CreateAdapterList(1, nullptr, &none), E_INVALIDARG);
  EXPECT_EQ(factory_->CreateAdapterList(1, &kGenericMl, __uuidof(IDXCoreAdapterList), nullptr), E_POINTER);
  nothing = this;
  EXPECT_EQ(factory_->CreateAdapterList(1, &kGenericMl, kUnknown, &nothing), E_NOINTERFACE);
  EXPECT_EQ(nothing, nullptr);
  nothing = this;
  EXPECT_EQ(list(kGenericMl)->GetAdapter(1000, __uuidof(IDXCoreAdapter), &nothing), E_INVALIDARG);
  EXPECT_EQ(nothing, nullptr);
  EXPECT_EQ(list(kGenericMl)->GetAdapter(0, __uuidof(IDXCoreAdapter), nullptr), E_POINTER);
  const auto odd = static_cast<DXCoreAdapterProperty>(99);
  size_t size = 7;
  char byte = 'x';
  EXPECT_FALSE(adapter()->IsPropertySupported(odd));
  EXPECT_EQ(adapter()->GetPropertySize(odd, &size), kInvalidCall);
  EXPECT_EQ(adapter()->GetProperty(odd, 1, &byte), kInvalidCall);
  EXPECT_EQ(adapter()->GetProperty(DXCoreAdapterProperty::KmdModelVersion, 1, &byte), kUnsupported);
  EXPECT_EQ(adapter()->GetProperty(DXCoreAdapterProperty::InstanceLuid, 1, &byte), E_INVALIDARG);
  EXPECT_EQ(adapter()->GetProperty(DXCoreAdapterProperty::IsHardware, 1, nullptr), E_POINTER);
  EXPECT_EQ(adapter()->GetPropertySize(DXCoreAdapterProperty::IsHardware, nullptr), E_POINTER);
  EXPECT_EQ(byte, 'x');
}

TEST_F(DXCore, TakesRegistrationsThatNeverFire) {
  const auto callback = [](DXCoreNotificationType, IUnknown*, void*) {};
  uint32_t cookie = 0;
  EXPECT_TRUE(factory_->IsNotificationTypeSupported(DXCoreNotificationType::AdapterNoLongerValid));
  ASSERT_EQ(factory_->RegisterEventNotification(adapter(), DXCoreNotificationType::AdapterNoLongerValid, callback,
                                                nullptr, &cookie),
            S_OK);
  EXPECT_EQ(factory_->UnregisterEventNotification(cookie), S_OK);
  EXPECT_EQ(factory_->UnregisterEventNotification(cookie), E_INVALIDARG);
  EXPECT_EQ(factory_->RegisterEventNotification(adapter(), DXCoreNotificationType::AdapterNoLongerValid, nullptr,
                                                nullptr, &cookie),
            E_POINTER);
  EXPECT_EQ(factory_->RegisterEventNotification(adapter(), static_cast<DXCoreNotificationType>(9), callback, nullptr,
                                                &cookie),
            kInvalidCall);
}

TEST_F(DXCore, ServesManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this] {
      for (int round = 0; round < 200; ++round) {
        IDXCoreAdapterFactory* factory = nullptr;
        ASSERT_EQ(create_(IID_PPV_ARGS(&factory)), S_OK);
        IDXCoreAdapterList* adapters = nullptr;
        ASSERT_EQ(factory->CreateAdapterList(1, &kCoreCompute, &adapters), S_OK);
        IDXCoreAdapter* first = nullptr;
        ASSERT_EQ(adapters->GetAdapter(0, &first), S_OK);
        first->Release();
        adapters->Release();
        factory->Release();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(DXCore, SurvivesBeingUnloaded) {
  void* library = dlopen("libdxcore.so", RTLD_NOW);
  ASSERT_NE(library, nullptr);
  dlclose(library);
  dlclose(library);
  EXPECT_TRUE(adapter()->IsValid());
}

}  // namespace
