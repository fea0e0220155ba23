// SPDX-License-Identifier: MIT
// Loads ONNX Runtime and the provider, and runs a model in sessions on many threads at once, with inputs of many sizes,
// while other threads create and release sessions. Comparing with ONNX Runtime's own results is left to the tests in
// Python; here each result has a known value. The sanitizers watch.
//
//   onnxruntime_stress libonnxruntime.so libonnxruntime-ep-anydml.so [seconds] [threads]
//
// threads: the provider's option; without it, the sessions' threads do the work. ThreadSanitizer needs it, because it
// does not see how ONNX Runtime's threads hand over work. Races within ONNX Runtime itself are reported anyway.
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "onnxruntime/runtime.h"

namespace anydml::ort {
namespace {

struct Env;
struct Session;

// The functions for programs.
inline constexpr Member<3, Call(Severity, const char*, Env**)> kCreateEnv;
inline constexpr Member<8, Call(const Env*, const void*, std::size_t, const SessionOptions*, Session**)> kCreateSession;
inline constexpr Member<9, Call(Session*, const RunOptions*, const char* const*, const Value* const*, std::size_t,
                                const char* const*, std::size_t, Value**)>
    kRun;
inline constexpr Member<10, Call(SessionOptions**)> kCreateSessionOptions;
inline constexpr Member<24, Call(SessionOptions*, int)> kSetThreads;
inline constexpr Member<49, Call(const MemoryInfo*, void*, std::size_t, const std::int64_t*, std::size_t, std::int32_t,
                                 Value**)>
    kCreateTensor;
inline constexpr Member<69, Call(std::int32_t, std::int32_t, MemoryInfo**)> kCreateCpuMemoryInfo;
inline constexpr Member<92, void(Env*)> kReleaseEnv;
inline constexpr Member<94, void(MemoryInfo*)> kReleaseMemoryInfo;
inline constexpr Member<95, void(Session*)> kReleaseSession;
inline constexpr Member<100, void(SessionOptions*)> kReleaseSessionOptions;
inline constexpr Member<130, Call(SessionOptions*, const char*, const char*)> kAddConfig;
inline constexpr Member<301, Call(Env*, const char*, const char*)> kRegister;
inline constexpr Member<302, Call(Env*, const char*)> kUnregister;
inline constexpr Member<303, Call(const Env*, const EpDevice* const**, std::size_t*)> kEpDevices;
inline constexpr Member<304, Call(SessionOptions*, Env*, const EpDevice* const*, std::size_t, const char* const*,
                                  const char* const*, std::size_t)>
    kAppendProvider;
inline constexpr Member<312, const char*(const EpDevice*)> kEpDeviceName;

[[noreturn]] void give_up(const std::string& message) {
  std::fprintf(stderr, "onnxruntime_stress: %s\n", message.c_str());
  std::exit(1);
}

// ---- A model --------------------------------------------------------------------------------------------------------

std::string varint(std::uint64_t number) {
  std::string bytes;
  for (; number >= 128; number >>= 7U) {
    bytes += static_cast<char>(number % 128 + 128);
  }
  return bytes += static_cast<char>(number);
}
std::string integer(unsigned field, std::uint64_t number) { return varint(field * 8) + varint(number); }
std::string text(unsigned field, const std::string& bytes) {
  return varint(field * 8 + 2) + varint(bytes.size()) + bytes;
}
std::string node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output) {
  std::string bytes;
  for (const std::string& input : inputs) {
    bytes += text(1, input);
  }
  return text(1, bytes + text(2, output) + text(4, op));
}
std::string value(unsigned field, const std::string& name) {
  const std::string shape = text(2, text(1, text(2, "n")));
  return text(field, text(1, name) + text(2, text(1, integer(1, 1) + shape)));
}

// z = Relu(weights * x + x), where weights is 2 in each element: 3 * x for x of 0 or more.
std::string model_bytes() {
  const float two = 2;
  const std::string raw(reinterpret_cast<const char*>(&two), sizeof(two));
  const std::string weights = text(5, integer(2, 1) + text(8, "w") + text(9, raw));
  const std::string graph = node("Mul", {"x", "w"}, "a") + node("Add", {"a", "x"}, "b") + node("Relu", {"b"}, "z") +
                            text(2, "g") + weights + value(11, "x") + value(12, "z");
  return integer(1, 8) + text(7, graph) + text(8, integer(2, 17));
}

// ---- The runs -------------------------------------------------------------------------------------------------------

struct Host {
  const Runtime& runtime;
  Env* env;
  const EpDevice* device;
  MemoryInfo* memory;
  const std::string model;
  const char* threads;  // null: the sessions' threads

  [[nodiscard]] Session* session(int session_threads) const {
    SessionOptions* const options = runtime.get(kCreateSessionOptions);
    runtime(kSetThreads, options, session_threads);
    runtime(kAddConfig, options, "session.disable_cpu_ep_fallback", "1");
    const char* const key = "threads";
    runtime(kAppendProvider, options, env, &device, 1, &key, &threads, threads == nullptr ? 0 : 1);
    Session* created = nullptr;
    runtime(kCreateSession, env, model.data(), model.size(), options, &created);
    runtime(kReleaseSessionOptions, options);
    return created;
  }

  void run(Session* session, std::int64_t count) const {
    std::vector<float> x(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i % 1024);
    }
    Value* input = nullptr;
    runtime(kCreateTensor, memory, x.data(), x.size() * sizeof(float), &count, 1, 1, &input);
    const char* const input_name = "x";
    const char* const output_name = "z";
    Value* output = nullptr;
    runtime(kRun, session, nullptr, &input_name, &input, 1, &output_name, 1, &output);
    const auto* z = static_cast<const float*>(runtime.get(kTensorMutableData, output));
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (z[i] != 3 * x[i]) {
        give_up("a result is wrong");
      }
    }
    runtime(kReleaseValue, output);
    runtime(kReleaseValue, input);
  }
};

void stress(const Host& host, int seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  const auto is_over = [end] { return std::chrono::steady_clock::now() >= end; };
  Session* const shared[] = {host.session(0), host.session(1), host.session(3)};
  std::atomic<long> runs{0};
  std::atomic<long> sessions{0};
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 8; ++number) {
    threads.emplace_back([&, number] {
      for (std::int64_t turn = number; !is_over(); ++turn) {
        const std::int64_t sizes[] = {1, 7, 300, 100'000, 20 + turn % 40};
        host.run(shared[number % 3], sizes[turn % 5]);
        ++runs;
      }
    });
  }
  for (int number = 0; number < 2; ++number) {
    threads.emplace_back([&] {
      while (!is_over()) {
        Session* const own = host.session(2);
        host.run(own, 1000);
        host.runtime(kReleaseSession, own);
        ++sessions;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (Session* const session : shared) {
    host.runtime(kReleaseSession, session);
  }
  std::printf("%ld runs, %ld sessions\n", runs.load(), sessions.load());
}

int run_all(const char* library, const char* provider, int seconds, const char* threads) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    give_up(dlerror());
  }
  const auto get_base = reinterpret_cast<const ApiBase* (*)()>(dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr) {
    give_up(dlerror());
  }
  const Runtime runtime(*get_base());
  std::printf("ONNX Runtime %s\n", runtime.version().c_str());
  Env* env = nullptr;
  runtime(kCreateEnv, Severity::kWarning, "stress", &env);
  for (int round = 0; round < 2; ++round) {
    runtime(kRegister, env, "anydml", provider);
    const EpDevice* const* devices = nullptr;
    std::size_t count = 0;
    runtime(kEpDevices, env, &devices, &count);
    const EpDevice* found = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
      if (std::strcmp(runtime(kEpDeviceName, devices[i]), "AnyDmlExecutionProvider") == 0) {
        found = devices[i];
      }
    }
    if (found == nullptr) {
      give_up("the provider has no device");
    }
    MemoryInfo* memory = nullptr;
    runtime(kCreateCpuMemoryInfo, 0, 0, &memory);
    stress({runtime, env, found, memory, model_bytes(), threads}, seconds);
    runtime(kReleaseMemoryInfo, memory);
    runtime(kUnregister, env, "anydml");
  }
  runtime(kReleaseEnv, env);
  return 0;
}

}  // namespace
}  // namespace anydml::ort

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: onnxruntime_stress libonnxruntime.so libonnxruntime-ep-anydml.so [seconds] [threads]\n");
    return 2;
  }
  try {
    return anydml::ort::run_all(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 5, argc > 4 ? argv[4] : nullptr);
  } catch (const std::exception& error) {
    anydml::ort::give_up(error.what());
  }
}
