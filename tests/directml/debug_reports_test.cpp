// SPDX-License-Identifier: MIT
// Tests the debug layer's reports: the ways to turn the layer on, the errors that end a program with
// ANYDML_DEBUG=abort, the ids of messages, breaks, and live objects.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "directml/bad_input.h"

namespace anydml::test {
namespace {

struct Ended {
  int status = 0;  // as in a shell, 128 plus the signal's number if a signal ended the process
  std::string errors;
};

// Runs one of this program's tests in a new process with these settings.
Ended run_with(const std::string& settings, const std::string& test) {
  char self[4096] = {};
  EXPECT_GT(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
  const std::string command = "ulimit -c 0; exec env -u ANYDML_DEBUG ANYDML_TEST_CHILD=1 " + settings + " '" + self +
                              "' --gtest_filter='" + test + "' 2>&1 >/dev/null";
  std::FILE* output = popen(command.c_str(), "r");
  Ended ended;
  char part[4096];
  while (const std::size_t read = std::fread(part, 1, sizeof(part), output)) {
    ended.errors.append(part, read);
  }
  const int status = pclose(output);
  ended.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return ended;
}

bool is_child() { return std::getenv("ANYDML_TEST_CHILD") != nullptr; }

HRESULT create_empty_heap(ID3D12Device* device) {
  ComPtr<ID3D12Heap> heap;
  const D3D12_HEAP_DESC desc{};
  return device->CreateHeap(&desc, IID_PPV_ARGS(&heap));
}

// The mistakes that the processes make. Like too many programs, they ignore every result.
const std::pair<const char*, std::function<void()>> kMistakes[] = {
    {"ID3D12Device::CreateHeap: SizeInBytes is 0; expected a positive size",
     [] { static_cast<void>(create_empty_heap(create_d3d12_device().Get())); }},
    {"ID3D12Device5::RemoveDevice: the application removed the device",
     [] {
       ComPtr<ID3D12Device5> device;
       static_cast<void>(create_d3d12_device().As(&device));
       device->RemoveDevice();
     }},
    {"IDMLDevice::CreateOperator: desc is null; expected a DML_OPERATOR_DESC",
     [] {
       const Dml dml;
       ComPtr<IDMLOperator> op;
       static_cast<void>(dml.device->CreateOperator(nullptr, IID_PPV_ARGS(&op)));
     }},
    {"IDMLBindingTable::BindInputs: ",
     [] {
       Program program;
       program.prepare();
       program.table->BindInputs(7, nullptr);
     }},
    {"D3D12CreateDevice: MinimumFeatureLevel is 0x3; expected one from 1_0_GENERIC (0x100) to 12_1 (0xc100)",
     [] {
       ComPtr<ID3D12Device> device;
       static_cast<void>(D3D12CreateDevice(nullptr, number_as<D3D_FEATURE_LEVEL>(3), IID_PPV_ARGS(&device)));
     }},
    {"DMLCreateDevice: d3d12Device is null; expected a device from D3D12CreateDevice",
     [] {
       ComPtr<IDMLDevice> device;
       static_cast<void>(DMLCreateDevice(nullptr, DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device)));
     }},
};

TEST(StrictChild, MakesAMistake) {
  if (!is_child()) {
    GTEST_SKIP() << "only in a process of its own";
  }
  kMistakes[std::atoi(std::getenv("ANYDML_TEST_MISTAKE"))].second();
}

// Queries the supported features, and runs a complete, correct program.
TEST(StrictChild, MakesNoMistake) {
  if (!is_child()) {
    GTEST_SKIP() << "only in a process of its own";
  }
  ComPtr<ID3D12Device> device;
  EXPECT_EQ(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_12_2, IID_PPV_ARGS(&device)), kUnsupported);
  Program program;
  UINT nothing = 0;
  EXPECT_TRUE(FAILED(program.dml.d3d12->CheckFeatureSupport(number_as<D3D12_FEATURE>(999), &nothing, sizeof(nothing))));
  EXPECT_TRUE(FAILED(program.dml.device->CheckFeatureSupport(number_as<DML_FEATURE>(99), 0, nullptr, 0, nullptr)));
  IUnknown* none = nullptr;
  EXPECT_EQ(program.dml.device->QueryInterface(__uuidof(ID3D12Heap), reinterpret_cast<void**>(&none)), E_NOINTERFACE);
  program.prepare();
  program.bind_good();
  program.dml.initialize(program.compiled.Get());
  program.record();
  program.dml.queue.finish();
  EXPECT_EQ(program.dml.device->GetDeviceRemovedReason(), S_OK);
}

TEST(Strict, TheFirstErrorEndsTheProgram) {
  int number = 0;
  for (const auto& [message, mistake] : kMistakes) {
    const std::string which = "ANYDML_TEST_MISTAKE=" + std::to_string(number++) + " ";
    for (const char* log : {"ANYDML_LOG=none", "ANYDML_LOG=", "ANYDML_LOG=info"}) {
      const Ended ended = run_with(which + log + " ANYDML_DEBUG=abort", "StrictChild.MakesAMistake");
      EXPECT_EQ(ended.status, 128 + SIGABRT) << message << "\n" << ended.errors;
      const std::size_t first = ended.errors.find(std::string("anydml: ") + message);
      ASSERT_NE(first, std::string::npos) << ended.errors;
      EXPECT_EQ(ended.errors.find(message, first + 10), std::string::npos) << ended.errors;  // only once
      EXPECT_NE(ended.errors.find("\nanydml: ANYDML_DEBUG=abort ended the program at this error\n"), std::string::npos)
          << ended.errors;
    }
    for (const char* setting : {"ANYDML_DEBUG=0", "ANYDML_DEBUG=1"}) {
      EXPECT_EQ(run_with(which + setting, "StrictChild.MakesAMistake").status, 0) << message;
    }
  }
}

TEST(Strict, ARightProgramRuns) {
  const Ended ended = run_with("ANYDML_DEBUG=abort", "StrictChild.MakesNoMistake");
  EXPECT_EQ(ended.status, 0) << ended.errors;
}

TEST(DebugChild, IsDebuggedFromOutside) {
  if (!is_child()) {
    GTEST_SKIP() << "only in a process of its own";
  }
  const Dml dml;
  ComPtr<ID3D12InfoQueue1> queue;
  ComPtr<ID3D12DebugDevice> debug_device;
  ComPtr<IDMLDebugDevice> dml_debug;
  EXPECT_EQ(dml.d3d12.As(&queue), S_OK);
  EXPECT_EQ(dml.d3d12.As(&debug_device), S_OK);
  EXPECT_EQ(dml.device.As(&dml_debug), S_OK);
  ComPtr<ID3D12Debug4> debug;
  ASSERT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), S_OK);
  debug->DisableDebugLayer();  // this has no effect, because the user's setting takes precedence
  ASSERT_EQ(queue->SetMessageCountLimit(10), S_OK);
  EXPECT_EQ(create_empty_heap(dml.d3d12.Get()), E_INVALIDARG);
  EXPECT_EQ(queue->GetNumStoredMessages(), 1U);
}

TEST(DebugLayerIsOn, ByTheEnvironment) {
  const Ended ended = run_with("ANYDML_DEBUG=1", "DebugChild.IsDebuggedFromOutside");
  EXPECT_EQ(ended.status, 0) << ended.errors;
}

// The DirectML device's flag turns on the debug layer for its D3D12 device, where the layer then stays on.
TEST(DebugLayerIsOn, ByTheFlagOfDirectML) {
  if (debug_layer_is_forced_on()) {
    GTEST_SKIP() << "every device has the debug layer";
  }
  const auto device = create_d3d12_device();
  ComPtr<ID3D12InfoQueue1> queue;
  ComPtr<IDMLDevice> dml;
  ASSERT_EQ(DMLCreateDevice(device.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml)), S_OK);
  EXPECT_EQ(device.As(&queue), E_NOINTERFACE);
  ASSERT_EQ(DMLCreateDevice(device.Get(), DML_CREATE_DEVICE_FLAG_DEBUG, IID_PPV_ARGS(&dml)), S_OK);
  ASSERT_EQ(device.As(&queue), S_OK);
  ComPtr<IDMLOperator> op;
  EXPECT_EQ(dml->CreateOperator(nullptr, IID_PPV_ARGS(&op)), E_INVALIDARG);
  EXPECT_EQ(queue->GetNumStoredMessages(), 1U);
  EXPECT_EQ(create_empty_heap(device.Get()), E_INVALIDARG);
  EXPECT_EQ(queue->GetNumStoredMessages(), 2U);
}

// A device with the debug layer on, and its messages.
struct Debugged {
  Debugged() {
    EXPECT_EQ(DMLCreateDevice(device.Get(), DML_CREATE_DEVICE_FLAG_DEBUG, IID_PPV_ARGS(&dml)), S_OK);
    EXPECT_EQ(device.As(&queue), S_OK);
    queue->ClearStoredMessages();
    EXPECT_EQ(queue->RegisterMessageCallback([](auto...) {}, D3D12_MESSAGE_CALLBACK_FLAG_NONE, nullptr, &cookie), S_OK);
  }
  ~Debugged() { EXPECT_EQ(queue->UnregisterMessageCallback(cookie), S_OK); }
  Debugged(const Debugged&) = delete;
  Debugged& operator=(const Debugged&) = delete;

  struct Stored {
    D3D12_MESSAGE_ID id;
    D3D12_MESSAGE_CATEGORY category;
    D3D12_MESSAGE_SEVERITY severity;
    std::string text;
  };
  // The messages that were stored since the last call.
  std::vector<Stored> take() {
    std::vector<Stored> taken;
    for (UINT64 i = 0; i < queue->GetNumStoredMessages(); ++i) {
      SIZE_T bytes = 0;
      EXPECT_EQ(queue->GetMessage(i, nullptr, &bytes), S_OK);
      std::vector<std::uint64_t> memory((bytes + 7) / 8);
      auto* message = reinterpret_cast<D3D12_MESSAGE*>(memory.data());
      EXPECT_EQ(queue->GetMessage(i, message, &bytes), S_OK);
      taken.push_back({message->ID, message->Category, message->Severity, message->pDescription});
    }
    queue->ClearStoredMessages();
    return taken;
  }

  ComPtr<ID3D12Device> device = create_d3d12_device();
  ComPtr<IDMLDevice> dml;
  ComPtr<ID3D12InfoQueue1> queue;
  DWORD cookie = 0;
};

TEST(MessageIds, TellMessagesApart) {
  Debugged debugged;
  const auto expect = [&](int id, D3D12_MESSAGE_CATEGORY category) {
    const auto taken = debugged.take();
    ASSERT_FALSE(taken.empty());
    EXPECT_EQ(static_cast<int>(taken.front().id), id) << taken.front().text;
    EXPECT_EQ(taken.front().category, category) << taken.front().text;
  };
  EXPECT_EQ(create_empty_heap(debugged.device.Get()), E_INVALIDARG);
  expect(D3D12_MESSAGE_ID_CREATEHEAP_INVALIDSIZE, D3D12_MESSAGE_CATEGORY_STATE_CREATION);
  ComPtr<ID3D12Heap> heap;
  EXPECT_EQ(debugged.device->CreateHeap(nullptr, IID_PPV_ARGS(&heap)), E_INVALIDARG);
  expect(D3D12_MESSAGE_ID_CREATEHEAP_NULLDESC, D3D12_MESSAGE_CATEGORY_STATE_CREATION);
  EXPECT_EQ(debugged.device->CreateComputePipelineState(nullptr, IID_PPV_ARGS(&heap)), E_NOTIMPL);
  expect(D3D12_MESSAGE_ID_COMPUTE_ONLY_DEVICE_OPERATION_UNSUPPORTED, D3D12_MESSAGE_CATEGORY_STATE_CREATION);
  ComPtr<IDMLOperator> op;
  EXPECT_EQ(debugged.dml->CreateOperator(nullptr, IID_PPV_ARGS(&op)), E_INVALIDARG);
  expect(2013, D3D12_MESSAGE_CATEGORY_STATE_CREATION);
  {
    const auto buffer = create_buffer(debugged.device.Get(), 64);
    buffer->Unmap(0, nullptr);
    expect(D3D12_MESSAGE_ID_RESOURCE_UNMAP_NOTMAPPED, D3D12_MESSAGE_CATEGORY_RESOURCE_MANIPULATION);
    EXPECT_EQ(buffer->Map(0, nullptr, nullptr), E_INVALIDARG);
    expect(D3D12_MESSAGE_ID_MAP_INVALIDHEAP, D3D12_MESSAGE_CATEGORY_RESOURCE_MANIPULATION);
  }
  {
    Queue queue(debugged.device.Get());
    EXPECT_EQ(queue.list->SetName(L"a list"), S_OK);  // the name is inserted after the method
    queue.list->CopyResource(nullptr, nullptr);
    expect(D3D12_MESSAGE_ID_COPYRESOURCE_NULLDST, D3D12_MESSAGE_CATEGORY_EXECUTION);
    queue.list->Dispatch(1, 1, 1);
    expect(D3D12_MESSAGE_ID_COMPUTE_ONLY_DEVICE_OPERATION_UNSUPPORTED, D3D12_MESSAGE_CATEGORY_EXECUTION);
    EXPECT_EQ(queue.list->Close(), E_INVALIDARG);
    expect(D3D12_MESSAGE_ID_EXECUTECOMMANDLISTS_FAILEDCOMMANDLIST, D3D12_MESSAGE_CATEGORY_EXECUTION);
  }
  // Filters match the ids.
  D3D12_MESSAGE_ID denied = D3D12_MESSAGE_ID_CREATEHEAP_INVALIDSIZE;
  D3D12_INFO_QUEUE_FILTER filter{};
  filter.DenyList.NumIDs = 1;
  filter.DenyList.pIDList = &denied;
  ASSERT_EQ(debugged.queue->PushStorageFilter(&filter), S_OK);
  EXPECT_EQ(create_empty_heap(debugged.device.Get()), E_INVALIDARG);
  EXPECT_TRUE(debugged.take().empty());
  debugged.queue->PopStorageFilter();
}

volatile std::sig_atomic_t g_traps = 0;

TEST(Breaks, RaiseSigtrap) {
  Debugged debugged;
  const auto before = std::signal(SIGTRAP, [](int) { g_traps = g_traps + 1; });
  const auto traps_of = [&](const auto& body) {
    g_traps = 0;
    body();
    return static_cast<int>(g_traps);
  };
  const auto fail = [&] { EXPECT_EQ(create_empty_heap(debugged.device.Get()), E_INVALIDARG); };
  EXPECT_EQ(traps_of(fail), 0);
  ID3D12InfoQueue1& queue = *debugged.queue.Get();
  EXPECT_EQ(queue.SetBreakOnSeverity(D3D12_MESSAGE_SEVERITY_ERROR, TRUE), S_OK);
  EXPECT_TRUE(queue.GetBreakOnSeverity(D3D12_MESSAGE_SEVERITY_ERROR));
  EXPECT_FALSE(queue.GetBreakOnSeverity(D3D12_MESSAGE_SEVERITY_WARNING));
  debugged.take();
  EXPECT_EQ(traps_of(fail), 1);
  EXPECT_EQ(debugged.take().size(), 1U);
  const auto buffer = create_buffer(debugged.device.Get(), 64);
  const auto warn = [&] { buffer->Unmap(0, nullptr); };
  EXPECT_EQ(traps_of(warn), 0);
  EXPECT_EQ(queue.SetBreakOnSeverity(D3D12_MESSAGE_SEVERITY_ERROR, FALSE), S_OK);
  EXPECT_EQ(traps_of(fail), 0);

  EXPECT_EQ(queue.SetBreakOnID(D3D12_MESSAGE_ID_RESOURCE_UNMAP_NOTMAPPED, TRUE), S_OK);
  EXPECT_TRUE(queue.GetBreakOnID(D3D12_MESSAGE_ID_RESOURCE_UNMAP_NOTMAPPED));
  EXPECT_EQ(traps_of(warn), 1);
  EXPECT_EQ(traps_of(fail), 0);
  EXPECT_EQ(queue.SetBreakOnID(D3D12_MESSAGE_ID_RESOURCE_UNMAP_NOTMAPPED, FALSE), S_OK);

  EXPECT_EQ(queue.SetBreakOnCategory(D3D12_MESSAGE_CATEGORY_APPLICATION_DEFINED, TRUE), S_OK);
  EXPECT_TRUE(queue.GetBreakOnCategory(D3D12_MESSAGE_CATEGORY_APPLICATION_DEFINED));
  EXPECT_EQ(traps_of([&] { queue.AddApplicationMessage(D3D12_MESSAGE_SEVERITY_INFO, "here"); }), 1);
  EXPECT_EQ(queue.SetBreakOnCategory(D3D12_MESSAGE_CATEGORY_APPLICATION_DEFINED, FALSE), S_OK);
  std::signal(SIGTRAP, before);
}

TEST(DebugChild, Breaks) {
  if (!is_child()) {
    GTEST_SKIP() << "only in a process of its own";
  }
  const auto device = create_d3d12_device();
  ComPtr<ID3D12InfoQueue1> queue;
  ASSERT_EQ(device.As(&queue), S_OK);
  ASSERT_EQ(queue->SetBreakOnSeverity(D3D12_MESSAGE_SEVERITY_ERROR, TRUE), S_OK);
  static_cast<void>(create_empty_heap(device.Get()));
}

std::string live_line(const char* type, const void* address, const char* name, int references) {
  char text[256];
  std::snprintf(text, sizeof(text), "Live %s at %p%s%s, Refcount: %d", type, address, *name != '\0' ? ", Name: " : "",
                name, references);
  return text;
}

TEST(LiveObjects, AreListedWithNamesAndReferences) {
  Debugged debugged;
  ComPtr<ID3D12DebugDevice> debug_device;
  ASSERT_EQ(debugged.device.As(&debug_device), S_OK);
  const auto report = [&](int flags) {
    debugged.take();
    EXPECT_EQ(debug_device->ReportLiveDeviceObjects(static_cast<D3D12_RLDO_FLAGS>(flags)), S_OK);
    return debugged.take();
  };
  const std::size_t before = report(D3D12_RLDO_DETAIL).size();
  const auto expect_line = [](const std::vector<Debugged::Stored>& messages, int id, const std::string& text) {
    const auto found = std::ranges::find(messages, text, &Debugged::Stored::text);
    ASSERT_NE(found, messages.end()) << text;
    EXPECT_EQ(static_cast<int>(found->id), id) << text;
    EXPECT_EQ(found->category, D3D12_MESSAGE_CATEGORY_STATE_CREATION);
  };
  {
    const auto buffer = create_buffer(debugged.device.Get(), 64);
    EXPECT_EQ(buffer->SetName(L"weights"), S_OK);
    const ComPtr<ID3D12Resource> again = buffer;
    Queue queue(debugged.device.Get());
    const auto heap = create_heap(debugged.device.Get(), 4);
    const Dml dml(debugged.device.Get(), debugged.dml.Get());
    const Tensor tensor(kFloat, {1, 2, 3, 4});
    const auto op = dml.binary(tensor, tensor, tensor);
    EXPECT_EQ(op->SetName(L"floor"), S_OK);
    const auto compiled = dml.compile(op.Get());
    const auto table = dml.table(compiled.Get(), heap.Get());
    const auto messages = report(D3D12_RLDO_SUMMARY | D3D12_RLDO_DETAIL | D3D12_RLDO_IGNORE_INTERNAL);
    expect_line(messages, D3D12_MESSAGE_ID_LIVE_RESOURCE, live_line("ID3D12Resource", buffer.Get(), "weights", 2));
    expect_line(messages, D3D12_MESSAGE_ID_LIVE_DESCRIPTORHEAP, live_line("ID3D12DescriptorHeap", heap.Get(), "", 1));
    expect_line(messages, D3D12_MESSAGE_ID_LIVE_COMMANDQUEUE,
                live_line("ID3D12CommandQueue", queue.queue.Get(), "", 1));
    expect_line(messages, D3D12_MESSAGE_ID_LIVE_MONITOREDFENCE, live_line("ID3D12Fence", queue.fence.Get(), "", 1));
    expect_line(messages, D3D12_MESSAGE_ID_LIVE_COMMANDLIST12,
                live_line("ID3D12GraphicsCommandList", queue.list.Get(), "", 1));
    expect_line(messages, 2032, live_line("IDMLOperator", op.Get(), "floor", 2));  // one is the compiled operator's
    expect_line(messages, 2033, live_line("IDMLCompiledOperator", compiled.Get(), "", 2));
    expect_line(messages, 2035, live_line("IDMLBindingTable", table.Get(), "", 1));
    expect_line(messages, 2036, live_line("IDMLCommandRecorder", dml.recorder.Get(), "", 1));
    EXPECT_EQ(messages.back().id, D3D12_MESSAGE_ID_LIVE_OBJECT_SUMMARY);
    EXPECT_EQ(messages.back().severity, D3D12_MESSAGE_SEVERITY_INFO);
    EXPECT_NE(messages.back().text.find("2 ID3D12CommandQueue"), std::string::npos) << messages.back().text;
    const auto summary = report(D3D12_RLDO_SUMMARY);
    ASSERT_EQ(summary.size(), 1U);
    EXPECT_EQ(summary[0].text, messages.back().text);
  }
  const auto after = report(D3D12_RLDO_DETAIL);
  EXPECT_EQ(after.size(), before);
  EXPECT_EQ(after.back().text, "Live objects: 1 ID3D12Device, 1 IDMLDevice");
  EXPECT_EQ(after.front().id, D3D12_MESSAGE_ID_LIVE_DEVICE);
  EXPECT_EQ(after.front().text, live_line("ID3D12Device", debugged.device.Get(), "", 3));  // the queue is also alive
}

TEST(DebugChild, LeavesObjectsAlive) {
  if (!is_child()) {
    GTEST_SKIP() << "only in a process of its own";
  }
  const auto device = create_d3d12_device();
  const auto buffer = create_buffer(device.Get(), 64);
  EXPECT_EQ(buffer->SetName(L"left behind"), S_OK);
  if (const char* leak = std::getenv("ANYDML_TEST_LEAK"); leak != nullptr) {
    leak == std::string("device") ? device->AddRef() : buffer->AddRef();
  }
}

TEST(LiveObjects, AreReportedWhenTheProcessExits) {
  const auto expect_leak = [](const std::string& what, const std::string& type, const std::string& state) {
    const Ended leaking =
        run_with("ANYDML_DEBUG=1 ANYDML_LOG=none ANYDML_TEST_LEAK=" + what + " ASAN_OPTIONS=detect_leaks=0",
                 "DebugChild.LeavesObjectsAlive");
    EXPECT_EQ(leaking.status, 0) << leaking.errors;
    const std::string begin = "anydml: the program exits before it has released these objects:\nanydml: Live " + type;
    EXPECT_EQ(leaking.errors.substr(0, begin.size()), begin) << leaking.errors;
    const std::string end = state + "\nanydml: Live objects: 1 " + type + "\n";
    EXPECT_TRUE(leaking.errors.ends_with(end)) << leaking.errors;
  };
  expect_leak("buffer", "ID3D12Resource", ", Name: left behind, Refcount: 1");
  expect_leak("device", "ID3D12Device", ", Refcount: 1");
  for (const char* settings : {"ANYDML_DEBUG=1 ANYDML_LOG=none",
                               "ANYDML_LOG=none ANYDML_TEST_LEAK=buffer "
                               "ASAN_OPTIONS=detect_leaks=0"}) {
    EXPECT_EQ(run_with(settings, "DebugChild.LeavesObjectsAlive").errors, "") << settings;
  }
}

// Without a debugger, the signal ends the process after the message has been printed.
TEST(Breaks, EndAProgramWithoutADebugger) {
  const Ended ended = run_with("ANYDML_DEBUG=1 ANYDML_LOG=none", "DebugChild.Breaks");
  EXPECT_EQ(ended.status, 128 + SIGTRAP) << ended.errors;
  EXPECT_EQ(ended.errors, "anydml: ID3D12Device::CreateHeap: SizeInBytes is 0; expected a positive size\n");
}

}  // namespace
}  // namespace anydml::test
