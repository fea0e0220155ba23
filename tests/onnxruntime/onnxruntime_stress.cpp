// SPDX-License-Identifier: MIT
// Loads ONNX Runtime and the provider, and runs models in sessions on many threads at once, with inputs of many sizes
// and some that are wrong, while other threads create and release sessions, also of models that the provider cannot
// take, and end runs. Comparing with ONNX Runtime's own results is left to the tests in Python; here each result has a
// known value. The sanitizers watch.
//
//   onnxruntime_stress RUNTIME libonnxruntime-ep-anydml.so [seconds] [threads]
//
// RUNTIME: ONNX Runtime's library, or a folder with an environment of Python in which it is installed. If there is
// none, the program ends with 77. threads: the provider's option; 0: the sessions' threads do the work. ThreadSanitizer
// needs the option, because it does not see how ONNX Runtime's threads hand over work.
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
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
inline constexpr Member<39, Call(RunOptions**)> kCreateRunOptions;
inline constexpr Member<46, Call(RunOptions*)> kTerminate;
inline constexpr Member<10, Call(SessionOptions**)> kCreateSessionOptions;
inline constexpr Member<24, Call(SessionOptions*, int)> kSetThreads;
inline constexpr Member<49, Call(const MemoryInfo*, void*, std::size_t, const std::int64_t*, std::size_t, std::int32_t,
                                 Value**)>
    kCreateTensor;
inline constexpr Member<69, Call(std::int32_t, std::int32_t, MemoryInfo**)> kCreateCpuMemoryInfo;
inline constexpr Member<92, void(Env*)> kReleaseEnv;
inline constexpr Member<94, void(MemoryInfo*)> kReleaseMemoryInfo;
inline constexpr Member<95, void(Session*)> kReleaseSession;
inline constexpr Member<97, void(RunOptions*)> kReleaseRunOptions;
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
  std::_Exit(1);  // other threads still run
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
// A value of a type with these dimensions; one that begins with a letter is a name.
std::string value(unsigned field, const std::string& name, unsigned type, const std::vector<std::string>& dimensions) {
  std::string shape;
  for (const std::string& one : dimensions) {
    shape +=
        text(1, std::isalpha(static_cast<unsigned char>(one[0])) != 0 ? text(2, one) : integer(1, std::stoull(one)));
  }
  return text(field, text(1, name) + text(2, text(1, integer(1, type) + text(2, shape))));
}
std::string weights(const std::string& name, const std::vector<std::uint64_t>& sizes,
                    const std::vector<float>& numbers) {
  const std::string raw(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
  std::string sizes_of;
  for (const std::uint64_t size : sizes) {
    sizes_of += integer(1, size);
  }
  return text(5, sizes_of + integer(2, 1) + text(8, name) + text(9, raw));
}
std::string model(const std::string& graph) {
  return integer(1, 8) + text(7, graph + text(2, "g")) + text(8, integer(2, 17));
}

constexpr unsigned kFloat = 1;
constexpr unsigned kString = 8;
constexpr std::int64_t kColumns = 64;

// z = Relu(w * x + x), where w is 2: 3 * x for x of 0 or more.
std::string elements_model() {
  return model(node("Mul", {"x", "w"}, "a") + node("Add", {"a", "x"}, "b") + node("Relu", {"b"}, "z") +
               weights("w", {}, {2}) + value(11, "x", kFloat, {"n"}) + value(12, "z", kFloat, {"n"}));
}

// z = (x · w) * 1, where w is three times the identity. The shape of x is not declared, so that the provider sees wrong
// ones.
std::string product_model() {
  std::vector<float> three(kColumns * kColumns);
  for (std::size_t i = 0; i < kColumns; ++i) {
    three[i * kColumns + i] = 3;
  }
  return model(node("MatMul", {"x", "w"}, "y") + node("Mul", {"y", "one"}, "z") +
               weights("w", {kColumns, kColumns}, three) + weights("one", {}, {1}) +
               value(11, "x", kFloat, {"n", "m"}) + value(12, "z", kFloat, {"n", "k"}));
}

// The provider takes no node with strings.
std::string text_model() {
  return model(node("Identity", {"x"}, "z") + value(11, "x", kString, {"n"}) + value(12, "z", kString, {"n"}));
}

// ---- The runs -------------------------------------------------------------------------------------------------------

struct Host {
  const Runtime& runtime;
  Env* env;
  const EpDevice* device;
  MemoryInfo* memory;
  const char* threads;  // null: the sessions' threads
  const std::string elements = elements_model();
  const std::string product = product_model();
  const std::string texts = text_model();

  // strict: whether the provider must take all nodes.
  [[nodiscard]] Session* session(const std::string& of, int session_threads, bool strict = true) const {
    SessionOptions* const options = runtime.get(kCreateSessionOptions);
    runtime(kSetThreads, options, session_threads);
    runtime(kAddConfig, options, "session.disable_cpu_ep_fallback", strict ? "1" : "0");
    const char* const key = "threads";
    runtime(kAppendProvider, options, env, &device, 1, &key, &threads, threads == nullptr ? 0 : 1);
    Session* created = nullptr;
    try {
      runtime(kCreateSession, env, of.data(), of.size(), options, &created);
    } catch (...) {
      runtime(kReleaseSessionOptions, options);
      throw;
    }
    runtime(kReleaseSessionOptions, options);
    return created;
  }

  // Runs a model whose result is three times its input. Raises Failure if the run fails.
  void run(Session* session, const std::vector<std::int64_t>& sizes, const RunOptions* options = nullptr) const {
    std::size_t count = 1;
    for (const std::int64_t size : sizes) {
      count *= static_cast<std::size_t>(size);
    }
    std::vector<float> x(count);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i % 1024);
    }
    Value* input = nullptr;
    runtime(kCreateTensor, memory, x.data(), x.size() * sizeof(float), sizes.data(), sizes.size(), 1, &input);
    const char* const input_name = "x";
    const char* const output_name = "z";
    Value* output = nullptr;
    try {
      runtime(kRun, session, options, &input_name, &input, 1, &output_name, 1, &output);
    } catch (...) {
      runtime(kReleaseValue, input);
      throw;
    }
    const auto* z = static_cast<const float*>(runtime.get(kTensorMutableData, output));
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (z[i] != 3 * x[i]) {
        give_up("result " + std::to_string(i) + " of " + std::to_string(x.size()) + " is " + std::to_string(z[i]) +
                " instead of " + std::to_string(3 * x[i]));
      }
    }
    runtime(kReleaseValue, output);
    runtime(kReleaseValue, input);
  }

  template <class Action>
  static bool fails(const Action& action) {
    try {
      action();
      return false;
    } catch (const Failure&) {
      return true;
    }
  }
};

void stress(const Host& host, int seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  const auto is_over = [end] { return std::chrono::steady_clock::now() >= end; };
  Session* const shared[] = {host.session(host.elements, 0), host.session(host.elements, 1),
                             host.session(host.product, 3)};
  std::atomic<long> runs{0};
  std::atomic<long> wrong{0};
  std::atomic<long> ended{0};
  std::atomic<long> sessions{0};
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 8; ++number) {
    threads.emplace_back([&, number] {
      for (std::int64_t turn = number; !is_over(); ++turn) {
        const std::int64_t sizes[] = {1, 7, 300, 5'000, 20 + turn % 40};
        const std::int64_t size = sizes[turn % 5];
        Session* const session = shared[number % 3];
        if (session != shared[2]) {
          host.run(session, {size * 20});
        } else {
          host.run(session, {size, kColumns});
          if (!Host::fails([&] { host.run(session, {size, kColumns - 1}); })) {
            give_up("a wrong shape was accepted");
          }
          ++wrong;
        }
        ++runs;
      }
    });
  }
  for (int number = 0; number < 2; ++number) {
    threads.emplace_back([&, number] {
      while (!is_over()) {
        Session* const own = host.session(number == 0 ? host.elements : host.product, 2);
        number == 0 ? host.run(own, {1000}) : host.run(own, {10, kColumns});
        host.runtime(kReleaseSession, own);
        if (!Host::fails([&] { static_cast<void>(host.session(host.texts, 1)); })) {
          give_up("the provider took a node with strings");
        }
        host.runtime(kReleaseSession, host.session(host.texts, 1, false));
        ++sessions;
      }
    });
  }
  threads.emplace_back([&] {  // ends runs, some before they begin and some during them
    while (!is_over()) {
      RunOptions* const options = host.runtime.get(kCreateRunOptions);
      std::thread other([&] { host.runtime(kTerminate, options); });
      ended += Host::fails([&] { host.run(shared[0], {100'000}, options); }) ? 1 : 0;
      other.join();
      host.runtime(kReleaseRunOptions, options);
    }
  });
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (Session* const session : shared) {
    host.runtime(kReleaseSession, session);
  }
  std::printf("%ld runs, %ld with wrong inputs, %ld ended, %ld sessions\n", runs.load(), wrong.load(), ended.load(),
              sessions.load());
}

// ONNX Runtime's library: the path itself, or the one in an environment of Python; empty if there is none.
std::string library_of(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) {
    return std::filesystem::exists(path) ? path.string() : "";
  }
  std::error_code ignored;
  for (const auto& version : std::filesystem::directory_iterator(path / "lib", ignored)) {
    const auto folder = version.path() / "site-packages" / "onnxruntime" / "capi";
    for (const auto& file : std::filesystem::directory_iterator(folder, ignored)) {
      if (file.path().filename().string().starts_with("libonnxruntime.so")) {
        return file.path().string();
      }
    }
  }
  return "";
}

int run_all(const char* path, const char* provider, int seconds, const char* threads) {
  const std::string library = library_of(path);
  if (library.empty()) {
    std::fprintf(stderr, "onnxruntime_stress: there is no ONNX Runtime in %s\n", path);
    return 77;
  }
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
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
    runtime(kRegister, env, "anydml", std::filesystem::absolute(provider).c_str());
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
    stress({runtime, env, found, memory, threads}, seconds);
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
    std::fprintf(stderr, "usage: onnxruntime_stress RUNTIME libonnxruntime-ep-anydml.so [seconds] [threads]\n");
    return 2;
  }
  try {
    const char* const threads = argc > 4 && std::strcmp(argv[4], "0") != 0 ? argv[4] : nullptr;
    return anydml::ort::run_all(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 5, threads);
  } catch (const std::exception& error) {
    anydml::ort::give_up(error.what());
  }
}
