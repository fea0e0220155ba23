// SPDX-License-Identifier: MIT
// Kernels from NVRTC that are ready to launch. They are cached in memory for this process, and on disk for later
// processes.
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>
#include <type_traits>
#include <vector>

#include "backend/cuda/recent_objects.h"
#include "backend/cuda/runtime.h"

namespace anydml::cuda {
namespace {

constexpr std::size_t kMaxKept = 256;  // unused kernels, tens of kilobytes each

// Functions from the CUDA driver, under their original names. A library's kernels are loaded into each context when the
// context first launches them.
struct Driver {
  int (*load)(void** library, const void* code, void*, void*, unsigned, void*, void*, unsigned) = nullptr;
  int (*unload)(void* library) = nullptr;
  int (*get_kernel)(void** kernel, void* library, const char* name) = nullptr;
  int (*launch)(void* kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t,
                void** parameters, void** extra) = nullptr;
  int (*set_attribute)(int attribute, int value, void* kernel, int device) = nullptr;
};
constexpr int kMaxDynamicShared = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

const Driver* find_driver() {
  static const Driver driver = [] {
    Driver found;
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const auto look_up = [library](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library != nullptr ? dlsym(library, name)
                                                                                                  : nullptr);
    };
    look_up("cuLibraryLoadData", found.load);
    look_up("cuLibraryUnload", found.unload);
    look_up("cuLibraryGetKernel", found.get_kernel);
    look_up("cuLaunchKernel", found.launch);
    look_up("cuKernelSetAttribute", found.set_attribute);
    return found;
  }();
  const bool complete = driver.load != nullptr && driver.unload != nullptr && driver.get_kernel != nullptr &&
                        driver.launch != nullptr && driver.set_attribute != nullptr;
  return complete ? &driver : nullptr;
}

class LoadedKernels final : public RuntimeKernels {
 public:
  explicit LoadedKernels(const Driver& driver) : driver_(driver) {}
  ~LoadedKernels() override {
    if (library_ != nullptr) {
      driver_.unload(library_);
    }
  }

  bool load(const KernelBinary& binary) {
    bool good = driver_.load(&library_, binary.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) == 0;
    for (const std::string& name : binary.names) {
      good = good && driver_.get_kernel(&kernels_.emplace_back(), library_, name.c_str()) == 0;
    }
    return good;
  }

  // Each device has its own limit for each kernel.
  [[nodiscard]] bool allow_shared(std::uint32_t bytes, int device) const {
    return std::ranges::all_of(kernels_, [&](void* kernel) {
      return driver_.set_attribute(kMaxDynamicShared, static_cast<int>(bytes), kernel, device) == 0;
    });
  }

  cudaError_t launch(std::size_t kernel, const LaunchShape& shape, void** parameters,
                     cudaStream_t stream) const noexcept override {
    const auto& [blocks, threads, shared_bytes] = shape;
    const int result = driver_.launch(kernels_[kernel], blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z,
                                      shared_bytes, stream, parameters, nullptr);
    return static_cast<cudaError_t>(result);  // error codes that exist in both APIs have the same meaning
  }

 private:
  const Driver& driver_;
  void* library_ = nullptr;
  std::vector<void*> kernels_;
};

// ---- On disk: one file for each source, architecture and build ----

std::uint64_t hash_of(const std::string& text, std::uint64_t hash) {
  for (const char one : text) {
    hash = (hash ^ static_cast<unsigned char>(one)) * 0x100000001b3ULL;
  }
  return hash;
}

std::string cache_file(const std::string& key) {
  const char* const cache = ::secure_getenv("XDG_CACHE_HOME");
  const char* const home = ::secure_getenv("HOME");
  std::string folder;
  if (cache != nullptr && cache[0] == '/') {
    folder = cache;
  } else if (home != nullptr && home[0] == '/') {
    folder = std::string(home) + "/.cache";
  } else {
    return {};
  }
  ::mkdir(folder.c_str(), 0700);
  folder += "/anydml";
  ::mkdir(folder.c_str(), 0700);
  char name[64];
  std::snprintf(name, sizeof(name), "/kernels-%016llx%016llx",
                static_cast<unsigned long long>(hash_of(key, 0xcbf29ce484222325ULL)),
                static_cast<unsigned long long>(hash_of(key, 0x9e3779b97f4a7c15ULL)));
  return folder + name;
}

// The file contains the key, so that code compiled from different source is never used by mistake.
bool read_binary(const std::string& file, const std::string& key, std::size_t kernels, KernelBinary& binary) {
  std::ifstream in(file, std::ios::binary);
  std::string size;
  if (!std::getline(in, size)) {
    return false;
  }
  std::string known(key.size(), '\0');
  std::string bytes;
  const bool same = size == std::to_string(key.size()) &&
                    in.read(known.data(), static_cast<std::streamsize>(key.size())) && known == key;
  for (std::size_t i = 0; same && i < kernels; ++i) {
    std::getline(in, binary.names.emplace_back());
  }
  if (!same || !std::getline(in, bytes)) {
    return false;
  }
  std::ostringstream rest;
  rest << in.rdbuf();
  binary.code = rest.str();
  return bytes == std::to_string(binary.code.size());  // reject a truncated file
}

void write_binary(const std::string& file, const std::string& key, const KernelBinary& binary) {
  const std::string temporary = file + "." + std::to_string(::getpid());
  {
    std::ofstream out(temporary, std::ios::binary);
    out << key.size() << '\n' << key;
    for (const std::string& name : binary.names) {
      out << name << '\n';
    }
    out << binary.code.size() << '\n' << binary.code;
    if (!out.flush()) {
      ::unlink(temporary.c_str());
      return;
    }
  }
  if (::rename(temporary.c_str(), file.c_str()) != 0) {
    ::unlink(temporary.c_str());
  }
}

// Reads the code for this source and architecture from disk, or compiles it. take(binary) returns whether the code can
// be used.
template <class Take>
bool find_binary(const KernelSource& source, const std::string& architecture, const std::string& key, Take take) {
  const std::string file = cache_file(key);
  KernelBinary binary;
  if (!file.empty() && read_binary(file, key, source.kernels.size(), binary) && take(binary)) {
    return true;
  }
  binary = {};
  std::string why;
  if (!compile_source(source, architecture.c_str(), binary, why) || !take(binary)) {
    return false;
  }
  if (!file.empty()) {
    write_binary(file, key, binary);
  }
  return true;
}

const std::string& compiler() {
  static const std::string& name = *new std::string(runtime_compiler());
  return name;
}

std::string architecture_of(const GpuProperties& gpu) { return "sm_" + std::to_string(gpu.compute_capability); }

// The source and its types contain everything that is fixed at compile time; attributes are parameters. The amount of
// shared memory is part of the key, because it is set for each kernel.
std::string key_of(const KernelSource& source, const std::string& architecture) {
  std::string key =
      architecture + " " + compiler() + " " + std::to_string(source.max_shared_bytes) + "\n" + source.text;
  for (const std::string& kernel : source.kernels) {
    key.append(kernel).append("\n");
  }
  return key;
}

}  // namespace

std::shared_ptr<const RuntimeKernels> find_runtime_kernels(const KernelSource& source, const GpuProperties& gpu) {
  const Driver* const driver = find_driver();
  if (driver == nullptr || compiler().empty() || source.max_shared_bytes > gpu.shared_bytes_of_block) {
    return nullptr;
  }
  const std::string architecture = architecture_of(gpu);
  const std::string key = key_of(source, architecture);
  // Never destroyed: when the process exits, the driver may already be unloaded, and threads may still launch kernels.
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new RecentObjects<const LoadedKernels>(kMaxKept);  // null if source cannot be compiled
  const std::scoped_lock lock(mutex);
  std::shared_ptr<const LoadedKernels> kernels;
  if (const auto* const found = known.find(key); found != nullptr) {
    kernels = *found;
  } else {
    std::shared_ptr<LoadedKernels> loaded;
    const bool good = find_binary(source, architecture, key, [&](const KernelBinary& binary) {
      loaded = std::make_shared<LoadedKernels>(*driver);
      return loaded->load(binary);
    });
    kernels = good ? loaded : nullptr;
    known.add(key, kernels);
  }
  // Devices with the same architecture share the code.
  if (kernels != nullptr && source.max_shared_bytes != 0 &&
      !kernels->allow_shared(source.max_shared_bytes, gpu.device)) {
    return nullptr;
  }
  return kernels;
}

bool compiles_while_running(const GpuProperties& gpu) {
  const std::string architecture = architecture_of(gpu);
  const KernelSource empty{.text = "__global__ void nothing() {}\n", .kernels = {"nothing"}};
  return find_driver() != nullptr && !compiler().empty() &&
         find_binary(empty, architecture, key_of(empty, architecture), [](const KernelBinary&) { return true; });
}

}  // namespace anydml::cuda
