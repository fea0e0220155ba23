// SPDX-License-Identifier: MIT
// Tests the messages that users see without a callback. Each appears on standard error once.
#include <unistd.h>

#include <cstdio>

#include "directml/bad_input.h"

namespace anydml::test {
namespace {

// Captures standard error during its lifetime.
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

std::string log_setting() {
  const char* log = std::getenv("ANYDML_LOG");
  return log != nullptr ? log : "";
}

// Errors are shown unless the log setting is "none".
bool log_shows_errors() { return log_setting() != "none"; }
bool log_is_default() { return log_setting().empty(); }

struct Messages : testing::Test {
  // An invalid call with a new message each time, since repeated messages are shown less often by default.
  HRESULT ask_for_nonsense(ID3D12Device* device) {
    static UINT64 last = 100;
    ComPtr<ID3D12Heap> heap;
    D3D12_HEAP_DESC desc{};
    desc.SizeInBytes = 65536;
    desc.Alignment = ++last;
    desc.Properties = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
    sentence = "ID3D12Device::CreateHeap: Alignment is " + std::to_string(last) + "; expected 0, 65536 or 4194304";
    return device->CreateHeap(&desc, IID_PPV_ARGS(&heap));
  }
  std::string sentence;
};

TEST_F(Messages, WithoutTheDebugLayerOnlyTheLogSpeaks) {
  if (debug_layer_is_forced_on()) {
    GTEST_SKIP() << "every device has the debug layer";
  }
  const auto device = create_d3d12_device();
  Captured captured;
  EXPECT_EQ(ask_for_nonsense(device.Get()), E_INVALIDARG);
  EXPECT_EQ(captured.end(), log_shows_errors() ? "anydml: " + sentence + "\n" : "");
}

TEST_F(Messages, DirectMLSaysWhyACallFailed) {
  if (debug_layer_is_forced_on()) {
    GTEST_SKIP() << "every device has the debug layer";
  }
  const auto device = create_d3d12_device();
  ComPtr<IDMLDevice> dml;
  ASSERT_EQ(DMLCreateDevice(device.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml)), S_OK);
  const DML_OPERATOR_DESC without_desc{DML_OPERATOR_ELEMENT_WISE_ABS, nullptr};
  ComPtr<IDMLOperator> op;
  Captured captured;
  EXPECT_EQ(dml->CreateOperator(&without_desc, IID_PPV_ARGS(&op)), E_INVALIDARG);
  const std::string text = captured.end();
  EXPECT_EQ(count_of(text, "anydml: IDMLDevice::CreateOperator: ELEMENT_WISE_ABS: Desc is null"),
            log_shows_errors() ? 1 : 0)
      << text;
}

// If a program fails in a loop, only a few lines are printed by default. If it requested a log, all lines are printed.
TEST_F(Messages, ALineThatComesAgainIsShownLessOften) {
  if (debug_layer_is_forced_on()) {
    GTEST_SKIP() << "every device has the debug layer";
  }
  const auto device = create_d3d12_device();
  Captured captured;
  for (int i = 0; i < 100; ++i) {
    ComPtr<ID3D12Heap> heap;
    const D3D12_HEAP_DESC desc{};
    EXPECT_EQ(device->CreateHeap(&desc, IID_PPV_ARGS(&heap)), E_INVALIDARG);
  }
  const std::string text = captured.end();
  const std::string line = "anydml: ID3D12Device::CreateHeap: SizeInBytes is 0; expected a positive size";
  if (log_is_default()) {
    std::string expected = line + "\n";
    for (const char* times : {"2", "4", "8", "16", "32", "64"}) {
      expected += line + " (" + times + " times so far)\n";
    }
    EXPECT_EQ(text, expected);
  } else {
    EXPECT_EQ(count_of(text, line + "\n"), log_shows_errors() ? 100 : 0);
  }
}

// A program that queries whether something is supported has not failed.
TEST_F(Messages, AQuestionIsNoFailure) {
  if (debug_layer_is_forced_on()) {
    GTEST_SKIP() << "every device has the debug layer";
  }
  const auto device = create_d3d12_device();
  ComPtr<IDMLDevice> dml;
  ASSERT_EQ(DMLCreateDevice(device.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml)), S_OK);
  Captured captured;
  UINT nothing = 0;
  EXPECT_TRUE(FAILED(device->CheckFeatureSupport(number_as<D3D12_FEATURE>(999), &nothing, sizeof(nothing))));
  EXPECT_TRUE(FAILED(dml->CheckFeatureSupport(number_as<DML_FEATURE>(99), 0, nullptr, 0, nullptr)));
  IUnknown* none = nullptr;
  EXPECT_EQ(dml->QueryInterface(__uuidof(ID3D12Heap), reinterpret_cast<void**>(&none)), E_NOINTERFACE);
  EXPECT_EQ(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), nullptr), S_FALSE);
  const std::string text = captured.end();
  EXPECT_EQ(count_of(text, "anydml: "), log_is_default() || !log_shows_errors() ? 0 : 3) << text;
}

// Close repeats the list's error, which was already reported by the failing call.
TEST_F(Messages, AFailureIsToldOnce) {
  if (debug_layer_is_forced_on()) {
    GTEST_SKIP() << "every device has the debug layer";
  }
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  Captured captured;
  queue.list->CopyResource(nullptr, nullptr);
  EXPECT_EQ(queue.list->Close(), E_INVALIDARG);
  const std::string text = captured.end();
  EXPECT_EQ(count_of(text, "pDstResource is null"), log_is_default() ? 1 : log_shows_errors() ? 2 : 0) << text;
}

// The C API reports errors through anydml_last_error and prints nothing itself.
TEST_F(Messages, TheCApiDoesNotPrint) {
  Captured captured;
  EXPECT_EQ(anydml_run(nullptr, "ELEMENT_WISE_ABS", nullptr, 0, nullptr, 0, nullptr, 0), ANYDML_INVALID_ARGUMENT);
  EXPECT_EQ(count_of(captured.end(), "ELEMENT_WISE_ABS"), log_is_default() || !log_shows_errors() ? 0 : 1);
  EXPECT_STREQ(anydml_last_error(), "ELEMENT_WISE_ABS: the number of input tensors is 0; expected 1");
}

// A process has one log function. It receives the lines from every library, regardless of ANYDML_LOG.
TEST_F(Messages, GoToAFunctionOfTheProgram) {
  std::vector<std::string> lines;
  const auto take = [](void* context, int level, const char* line) {
    static_cast<std::vector<std::string>*>(context)->push_back(std::to_string(level) + " " + line);
  };
  const auto device = create_d3d12_device();
  const auto buffer = create_buffer(device.Get(), 64);
  ComPtr<IDMLDevice> dml;
  ASSERT_EQ(DMLCreateDevice(device.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml)), S_OK);
  ASSERT_EQ(anydml_set_log(take, &lines, ANYDML_LOG_INFO), ANYDML_OK);
  Captured captured;
  std::vector<std::string> expected;
  for (int i = 0; i < 3; ++i) {
    ComPtr<IDMLOperator> op;
    EXPECT_EQ(dml->CreateOperator(nullptr, IID_PPV_ARGS(&op)), E_INVALIDARG);
    expected.emplace_back("1 IDMLDevice::CreateOperator: desc is null; expected a DML_OPERATOR_DESC");
  }
  EXPECT_EQ(ask_for_nonsense(device.Get()), E_INVALIDARG);
  expected.push_back("1 " + sentence);
  buffer->Unmap(0, nullptr);
  ASSERT_EQ(anydml_set_log(nullptr, nullptr, ANYDML_LOG_NONE), ANYDML_OK);
  EXPECT_EQ(captured.end(), "");
  ASSERT_EQ(lines.size(), expected.size() + 1);
  EXPECT_EQ(count_of(lines.back(), "2 warning: ID3D12Resource::Unmap: the resource is not mapped"), 1) << lines.back();
  lines.pop_back();
  EXPECT_EQ(lines, expected);
}

TEST_F(Messages, AnInterfaceThatIsNotThereIsInTheLog) {
  const auto device = create_d3d12_device();
  Captured captured;
  IUnknown* none = nullptr;
  EXPECT_EQ(device->QueryInterface(__uuidof(IDMLOperator), reinterpret_cast<void**>(&none)), E_NOINTERFACE);
  EXPECT_EQ(
      count_of(captured.end(),
               "anydml: QueryInterface: an ID3D12Device9 has no interface {26CAAE7A-3081-4633-9581-226FBE57695D}"),
      log_is_default() || !log_shows_errors() ? 0 : 1);
}

TEST_F(Messages, TheDebugLayerPrintsWhatNobodyHears) {
  ComPtr<ID3D12Debug> debug;
  ASSERT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), S_OK);
  debug->EnableDebugLayer();
  const auto device = create_d3d12_device();
  {
    Captured captured;
    EXPECT_EQ(ask_for_nonsense(device.Get()), E_INVALIDARG);
    EXPECT_EQ(count_of(captured.end(), sentence), 1);
  }
  {  // a warning
    const auto buffer = create_buffer(device.Get(), 64);
    Captured captured;
    buffer->Unmap(0, nullptr);
    EXPECT_EQ(count_of(captured.end(), "ID3D12Resource::Unmap: the resource is not mapped"), 1);
  }
  {  // messages that the log omits: refused queries, and repeats
    Captured captured;
    UINT nothing = 0;
    EXPECT_TRUE(FAILED(device->CheckFeatureSupport(number_as<D3D12_FEATURE>(998), &nothing, sizeof(nothing))));
    for (int i = 0; i < 5; ++i) {
      ComPtr<ID3D12Heap> heap;
      const D3D12_HEAP_DESC desc{};
      EXPECT_EQ(device->CreateHeap(&desc, IID_PPV_ARGS(&heap)), E_INVALIDARG);
    }
    const std::string text = captured.end();
    EXPECT_EQ(count_of(text, "anydml: ID3D12Device::CheckFeatureSupport"), 1) << text;
    EXPECT_EQ(count_of(text, "anydml: ID3D12Device::CreateHeap: SizeInBytes is 0"), 5) << text;
  }
  {  // DirectML's messages take the same route
    ComPtr<IDMLDevice> dml;
    ASSERT_EQ(DMLCreateDevice(device.Get(), DML_CREATE_DEVICE_FLAG_DEBUG, IID_PPV_ARGS(&dml)), S_OK);
    Captured captured;
    ComPtr<IDMLOperator> op;
    EXPECT_EQ(dml->CreateOperator(nullptr, IID_PPV_ARGS(&op)), E_INVALIDARG);
    EXPECT_TRUE(FAILED(dml->CheckFeatureSupport(number_as<DML_FEATURE>(98), 0, nullptr, 0, nullptr)));
    const std::string text = captured.end();
    EXPECT_EQ(count_of(text, "IDMLDevice::CreateOperator: desc is null"), 1);
    EXPECT_EQ(count_of(text, "IDMLDevice::CheckFeatureSupport"), 1) << text;
  }
  ComPtr<ID3D12InfoQueue1> messages;
  ASSERT_EQ(device.As(&messages), S_OK);
  {  // a filter that suppresses the message
    D3D12_MESSAGE_SEVERITY severity = D3D12_MESSAGE_SEVERITY_ERROR;
    D3D12_INFO_QUEUE_FILTER filter{};
    filter.DenyList.NumSeverities = 1;
    filter.DenyList.pSeverityList = &severity;
    ASSERT_EQ(messages->PushStorageFilter(&filter), S_OK);
    Captured captured;
    EXPECT_EQ(ask_for_nonsense(device.Get()), E_INVALIDARG);
    EXPECT_EQ(count_of(captured.end(), sentence), log_shows_errors() ? 1 : 0);
    messages->PopStorageFilter();
  }
  int heard = 0;
  DWORD cookie = 0;
  const auto hear = [](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY, D3D12_MESSAGE_ID id, LPCSTR text, void* count) {
    EXPECT_NE(id, D3D12_MESSAGE_ID_UNKNOWN) << text;
    ++*static_cast<int*>(count);
  };
  for (UINT64 i = 0; i < messages->GetNumStoredMessages(); ++i) {
    SIZE_T bytes = 0;
    ASSERT_EQ(messages->GetMessage(i, nullptr, &bytes), S_OK);
    std::vector<D3D12_MESSAGE> stored(bytes / sizeof(D3D12_MESSAGE) + 1);
    ASSERT_EQ(messages->GetMessage(i, stored.data(), &bytes), S_OK);
    EXPECT_NE(stored[0].ID, D3D12_MESSAGE_ID_UNKNOWN) << stored[0].pDescription;
  }
  ASSERT_EQ(messages->RegisterMessageCallback(hear, D3D12_MESSAGE_CALLBACK_FLAG_NONE, &heard, &cookie), S_OK);
  Captured captured;
  EXPECT_EQ(ask_for_nonsense(device.Get()), E_INVALIDARG);
  EXPECT_EQ(count_of(captured.end(), sentence), log_shows_errors() ? 1 : 0);
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
