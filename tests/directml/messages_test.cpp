// SPDX-License-Identifier: MIT
// What reaches a person without a callback: lines on standard error, each once.
#include <unistd.h>

#include <cstdio>

#include "directml/harness.h"

namespace anydml::test {
namespace {

// Standard error while it lives, as text.
class Captured {
 public:
  Captured() : file_(std::tmpfile()), before_(dup(STDERR_FILENO)) {
    std::fflush(stderr);
    dup2(fileno(file_), STDERR_FILENO);
  }
  ~Captured() { end(); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::string end() {
    if (before_ >= 0) {
      std::fflush(stderr);
      dup2(before_, STDERR_FILENO);
      close(before_);
      before_ = -1;
      std::rewind(file_);
      char part[4096];
      while (const std::size_t read = std::fread(part, 1, sizeof(part), file_)) {
        text_.append(part, read);
      }
      std::fclose(file_);
    }
    return text_;
  }

 private:
  std::FILE* file_;
  int before_;
  std::string text_;
};

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

bool log_shows_errors() {
  const char* log = std::getenv("ANYDML_LOG");
  return log != nullptr && std::string(log) != "none";
}

struct Messages : testing::Test {
  static HRESULT ask_for_nothing(ID3D12Device* device) {
    ComPtr<ID3D12Heap> heap;
    const D3D12_HEAP_DESC desc{};
    return device->CreateHeap(&desc, IID_PPV_ARGS(&heap));
  }
  static constexpr const char* kSentence = "ID3D12Device::CreateHeap: SizeInBytes is 0; expected more";
};

TEST_F(Messages, WithoutTheDebugLayerOnlyTheLogSpeaks) {
  const auto device = create_d3d12_device();
  Captured captured;
  EXPECT_EQ(ask_for_nothing(device.Get()), E_INVALIDARG);
  EXPECT_EQ(count_of(captured.end(), kSentence), log_shows_errors() ? 1 : 0);
}

TEST_F(Messages, AnInterfaceThatIsNotThereIsInTheLog) {
  const auto device = create_d3d12_device();
  Captured captured;
  IUnknown* none = nullptr;
  EXPECT_EQ(device->QueryInterface(__uuidof(IDMLOperator), reinterpret_cast<void**>(&none)), E_NOINTERFACE);
  EXPECT_EQ(
      count_of(captured.end(),
               "anydml: QueryInterface: an ID3D12Device9 has no interface {26CAAE7A-3081-4633-9581-226FBE57695D}"),
      log_shows_errors() ? 1 : 0);
}

TEST_F(Messages, TheDebugLayerPrintsWhatNobodyHears) {
  ComPtr<ID3D12Debug> debug;
  ASSERT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), S_OK);
  debug->EnableDebugLayer();
  const auto device = create_d3d12_device();
  {
    Captured captured;
    EXPECT_EQ(ask_for_nothing(device.Get()), E_INVALIDARG);
    EXPECT_EQ(count_of(captured.end(), kSentence), 1);
  }
  {  // a warning
    const auto buffer = create_buffer(device.Get(), 64);
    Captured captured;
    buffer->Unmap(0, nullptr);
    EXPECT_EQ(count_of(captured.end(), "ID3D12Resource::Unmap: the resource is not mapped"), 1);
  }
  {  // DirectML's own, by the same way
    ComPtr<IDMLDevice> dml;
    ASSERT_EQ(DMLCreateDevice(device.Get(), DML_CREATE_DEVICE_FLAG_DEBUG, IID_PPV_ARGS(&dml)), S_OK);
    Captured captured;
    ComPtr<IDMLOperator> op;
    EXPECT_EQ(dml->CreateOperator(nullptr, IID_PPV_ARGS(&op)), E_INVALIDARG);
    EXPECT_EQ(count_of(captured.end(), "IDMLDevice::CreateOperator: desc is null"), 1);
  }
  ComPtr<ID3D12InfoQueue1> messages;
  ASSERT_EQ(device.As(&messages), S_OK);
  {  // a filter that stops it
    D3D12_MESSAGE_SEVERITY severity = D3D12_MESSAGE_SEVERITY_ERROR;
    D3D12_INFO_QUEUE_FILTER filter{};
    filter.DenyList.NumSeverities = 1;
    filter.DenyList.pSeverityList = &severity;
    ASSERT_EQ(messages->PushStorageFilter(&filter), S_OK);
    Captured captured;
    EXPECT_EQ(ask_for_nothing(device.Get()), E_INVALIDARG);
    EXPECT_EQ(count_of(captured.end(), kSentence), log_shows_errors() ? 1 : 0);
    messages->PopStorageFilter();
  }
  int heard = 0;
  DWORD cookie = 0;
  ASSERT_EQ(messages->RegisterMessageCallback([](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY, D3D12_MESSAGE_ID,
                                                 LPCSTR, void* count) { ++*static_cast<int*>(count); },
                                              D3D12_MESSAGE_CALLBACK_FLAG_NONE, &heard, &cookie),
            S_OK);
  Captured captured;
  EXPECT_EQ(ask_for_nothing(device.Get()), E_INVALIDARG);
  EXPECT_EQ(count_of(captured.end(), kSentence), log_shows_errors() ? 1 : 0);
  EXPECT_EQ(heard, 1);
  ASSERT_EQ(messages->UnregisterMessageCallback(cookie), S_OK);
}

TEST_F(Messages, AShaderCacheThatIsNotThereIsClear) {
  const auto device = create_d3d12_device();
  ComPtr<ID3D12Device9> device9;
  ASSERT_EQ(device.As(&device9), S_OK);
  const auto all = static_cast<D3D12_SHADER_CACHE_KIND_FLAGS>(7);
  EXPECT_EQ(device9->ShaderCacheControl(all, D3D12_SHADER_CACHE_CONTROL_FLAG_CLEAR), S_OK);
  EXPECT_EQ(device9->ShaderCacheControl(all, D3D12_SHADER_CACHE_CONTROL_FLAG_DISABLE), S_OK);
  EXPECT_EQ(device9->ShaderCacheControl(all, D3D12_SHADER_CACHE_CONTROL_FLAG_ENABLE), E_NOTIMPL);
  EXPECT_EQ(device9->ShaderCacheControl(all, static_cast<D3D12_SHADER_CACHE_CONTROL_FLAGS>(0)), E_INVALIDARG);
}

}  // namespace
}  // namespace anydml::test
