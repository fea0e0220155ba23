// SPDX-License-Identifier: MIT
// Tests that invalid use of the DirectML API causes an error code or the removal of the DirectML device, with a message
// in either case. One process survives all of these errors. docs/directml-errors.md contains the table that this test
// prints.
#include <cstdio>
#include <mutex>
#include <string>

#include "directml/bad_input.h"

namespace anydml::test {
namespace {

std::string code_name(HRESULT code) {
  switch (code) {
    case E_INVALIDARG:
      return "E_INVALIDARG";
    case E_NOINTERFACE:
      return "E_NOINTERFACE";
    case kUnsupported:
      return "DXGI_ERROR_UNSUPPORTED";
    case kDeviceRemoved:
      return "DXGI_ERROR_DEVICE_REMOVED";
    case kRemoval:
      return "removal";
    default: {
      char text[16];
      std::snprintf(text, sizeof(text), "0x%08x", static_cast<unsigned>(code));
      return text;
    }
  }
}

// The last message from a device, on any thread.
class Listener {
 public:
  explicit Listener(ID3D12Device* device) {
    EXPECT_EQ(device->QueryInterface(IID_PPV_ARGS(&queue_)), S_OK);
    const auto hear = [](D3D12_MESSAGE_CATEGORY category, D3D12_MESSAGE_SEVERITY severity, D3D12_MESSAGE_ID id,
                         LPCSTR text, void* context) {
      EXPECT_NE(id, D3D12_MESSAGE_ID_UNKNOWN) << text;
      EXPECT_NE(category, D3D12_MESSAGE_CATEGORY_APPLICATION_DEFINED) << text;
      auto& listener = *static_cast<Listener*>(context);
      const std::scoped_lock lock(listener.mutex_);
      if (severity == D3D12_MESSAGE_SEVERITY_ERROR) {
        listener.heard_ = text;
      }
    };
    EXPECT_EQ(queue_->RegisterMessageCallback(hear, D3D12_MESSAGE_CALLBACK_FLAG_NONE, this, &cookie_), S_OK);
  }
  ~Listener() { EXPECT_EQ(queue_->UnregisterMessageCallback(cookie_), S_OK); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::string heard() {
    const std::scoped_lock lock(mutex_);
    return heard_;
  }

 private:
  ComPtr<ID3D12InfoQueue1> queue_;
  DWORD cookie_ = 0;
  std::mutex mutex_;
  std::string heard_;
};

void run_cases(const std::vector<Case>& cases) {
  ComPtr<ID3D12Debug> debug;
  ASSERT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), S_OK);
  debug->EnableDebugLayer();
  for (const Case& test : cases) {
    SCOPED_TRACE(test.what);
    Program program;
    Listener listener(program.dml.d3d12.Get());
    const HRESULT result = test.run(program);
    const HRESULT removed = program.dml.device->GetDeviceRemovedReason();
    // If no device exists yet, the error is the thread's last error.
    const std::string heard = listener.heard();
    const std::string message = heard.empty() ? anydml_last_error() : heard;
    EXPECT_EQ(result, test.expected == kRemoval ? S_OK : test.expected) << message;
    EXPECT_EQ(removed, test.expected == kRemoval ? E_INVALIDARG : S_OK) << message;
    if (test.message[0] != '\0') {
      EXPECT_NE(message.find(test.message), std::string::npos) << message;
    }
    // The D3D12 device survives, and a new DirectML device on it works.
    EXPECT_EQ(program.dml.d3d12->GetDeviceRemovedReason(), S_OK);
    std::printf("| %s | %s | %s |\n", test.what, code_name(test.expected).c_str(),
                test.message[0] != '\0' ? message.c_str() : "");
  }
  std::printf("%zu cases\n", cases.size());
}

TEST(BadInput, Descriptions) { run_cases(description_cases()); }
TEST(BadInput, Rules) { run_cases(rule_cases()); }
TEST(BadInput, Objects) { run_cases(object_cases()); }
TEST(BadInput, Graphs) { run_cases(graph_cases()); }
TEST(BadInput, Bindings) { run_cases(binding_cases()); }

TEST(BadInput, ARemovedD3D12Device) {
  const auto removed = create_d3d12_device();
  ComPtr<ID3D12Device5> device5;
  ASSERT_EQ(removed.As(&device5), S_OK);
  device5->RemoveDevice();
  void* out = &out;
  EXPECT_EQ(DMLCreateDevice(removed.Get(), DML_CREATE_DEVICE_FLAG_NONE, __uuidof(IDMLDevice), &out), kDeviceRemoved);
  EXPECT_EQ(out, nullptr);
  std::printf("| DMLCreateDevice: a removed D3D12 device | DXGI_ERROR_DEVICE_REMOVED | %s |\n", anydml_last_error());
}

TEST(BadInput, AndThenARightProgramRuns) {
  Program program;
  program.prepare();
  program.bind_good();
  program.dml.initialize(program.compiled.Get());
  program.record();
  program.dml.queue.finish();
  EXPECT_EQ(program.dml.device->GetDeviceRemovedReason(), S_OK);
}

}  // namespace
}  // namespace anydml::test
