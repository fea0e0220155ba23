// SPDX-License-Identifier: MIT
// Fused kernels that are ready to launch: in memory for the process, and on disk for the next.
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>

#include "backend/cuda/kept.h"
#include "ops/elementwise/cuda/fused.h"
#include "ops/elementwise/cuda/launch.cuh"

namespace anydml::cuda {
namespace {

constexpr std::size_t kMostKept = 256;  // kernels that no program uses, tens of kilobytes each

// Of the driver, by its own names. A library's kernels are loaded for each context when it first launches them.
struct Driver {
  int (*load)(void** library, const void* code, void*, void*, unsigned, void*, void*, unsigned) = nullptr;
  int (*unload)(void* library) = nullptr;
  int (*get_kernel)(void** kernel, void* library, const char* name) = nullptr;
  int (*launch)(void* kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t,
                void** parameters, void** extra) = nullptr;
};

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
    return found;
  }();
  const bool complete =
      driver.load != nullptr && driver.unload != nullptr && driver.get_kernel != nullptr && driver.launch != nullptr;
  return complete ? &driver : nullptr;
}

// A kernel's parameter, whatever the number of its operands.
using MakeLaunch = void (*)(const KernelLaunch& from, std::byte* to);
constexpr std::size_t kLaunchBytes = sizeof(Launch<kMaxInputs + 1>);
template <std::size_t... kCounts>
constexpr std::array<MakeLaunch, sizeof...(kCounts)> launches(std::index_sequence<kCounts...>) {
  return {[](const KernelLaunch& from, std::byte* to) {
    const auto launch = make_launch<static_cast<int>(kCounts) + 1>(from);
    std::copy_n(reinterpret_cast<const std::byte*>(&launch), sizeof(launch), to);
  }...};
}
constexpr auto kLaunches = launches(std::make_index_sequence<kMaxInputs + 1>{});

class LoadedKernels final : public FusedKernels {
 public:
  LoadedKernels(const Driver& driver, const KernelSet& set) : driver_(driver), set_(set) {}
  ~LoadedKernels() override {
    if (library_ != nullptr) {
      driver_.unload(library_);
    }
  }

  bool load(const FusedBinary& binary) {
    return driver_.load(&library_, binary.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) == 0 &&
           driver_.get_kernel(&vector_, library_, binary.vector_name.c_str()) == 0 &&
           driver_.get_kernel(&strided_, library_, binary.strided_name.c_str()) == 0;
  }

  cudaError_t launch(KernelShape shape, const KernelLaunch& from, cudaStream_t stream) const noexcept override {
    u32 input_bytes = 0;
    for (std::uint32_t i = 0; i < set_.inputs; ++i) {
      input_bytes += u32{set_.vector_elements} * set_.element_sizes[i];
    }
    const bool vectors = shape == KernelShape::vector;
    const u32 of_block = kRowThreads * (vectors ? row_vectors_of_thread(input_bytes) : kRowElements);
    const u32 blocks = parts_of(vectors ? from.geometry.vectors : from.geometry.count, of_block);
    alignas(16) std::byte launch[kLaunchBytes];
    kLaunches[set_.inputs](from, launch);
    ScalarBytes scalar = from.scalar;
    void* parameters[] = {launch, &scalar};
    const int result =
        driver_.launch(vectors ? vector_ : strided_, blocks, 1, 1, kRowThreads, 1, 1, 0, stream, parameters, nullptr);
    return static_cast<cudaError_t>(result);  // the numbers that both have mean the same
  }

 private:
  const Driver& driver_;
  const KernelSet set_;
  void* library_ = nullptr;
  void* vector_ = nullptr;
  void* strided_ = nullptr;
};

// ---- On disk: one file for each source, architecture and build ----

u64 hash_of(const std::string& text, u64 hash) {
  for (const char one : text) {
    hash = (hash ^ static_cast<u8>(one)) * 0x100000001b3ULL;
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
  std::snprintf(name, sizeof(name), "/fused-%016llx%016llx",
                static_cast<unsigned long long>(hash_of(key, 0xcbf29ce484222325ULL)),
                static_cast<unsigned long long>(hash_of(key, 0x9e3779b97f4a7c15ULL)));
  return folder + name;
}

// The key stands in the file, so that no other source's code is ever taken for it.
bool read_binary(const std::string& file, const std::string& key, FusedBinary& binary) {
  std::ifstream in(file, std::ios::binary);
  std::string size;
  if (!std::getline(in, size)) {
    return false;
  }
  std::string known(key.size(), '\0');
  std::string bytes;
  const bool same = size == std::to_string(key.size()) &&
                    in.read(known.data(), static_cast<std::streamsize>(key.size())) && known == key &&
                    std::getline(in, binary.vector_name) && std::getline(in, binary.strided_name) &&
                    std::getline(in, bytes);
  if (!same) {
    return false;
  }
  std::ostringstream rest;
  rest << in.rdbuf();
  binary.code = rest.str();
  return bytes == std::to_string(binary.code.size());  // not one that was cut short
}

void write_binary(const std::string& file, const std::string& key, const FusedBinary& binary) {
  const std::string temporary = file + "." + std::to_string(::getpid());
  {
    std::ofstream out(temporary, std::ios::binary);
    out << key.size() << '\n'
        << key << binary.vector_name << '\n'
        << binary.strided_name << '\n'
        << binary.code.size() << '\n'
        << binary.code;
    if (!out.flush()) {
      ::unlink(temporary.c_str());
      return;
    }
  }
  if (::rename(temporary.c_str(), file.c_str()) != 0) {
    ::unlink(temporary.c_str());
  }
}

}  // namespace

std::shared_ptr<const FusedKernels> find_fused(const FusedSource& source) {
  const Driver* const driver = find_driver();
  int device = 0;
  int major = 0;
  int minor = 0;
  static const std::string& compiler = *new std::string(fused_compiler());
  if (driver == nullptr || compiler.empty() || cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess) {
    return nullptr;
  }
  const std::string architecture = "sm_" + std::to_string(major * 10 + minor);
  // Sizes that the source does not say are in its types; attributes are a parameter.
  const std::string key = architecture + " " + compiler + "\n" + source.text;
  // Never destroyed: at the process's end the driver may be gone, and threads may still launch.
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new Kept<const FusedKernels>(kMostKept);  // null: it cannot be compiled
  const std::scoped_lock lock(mutex);
  if (const auto* const found = known.find(key); found != nullptr) {
    return *found;
  }
  const auto keep = [&](std::shared_ptr<const FusedKernels> kernels) {
    known.add(key, kernels);
    return kernels;
  };
  const std::string file = cache_file(key);
  FusedBinary binary;
  std::string why;
  auto loaded = std::make_shared<LoadedKernels>(*driver, source.set);
  if (!file.empty() && read_binary(file, key, binary) && loaded->load(binary)) {
    return keep(loaded);
  }
  binary = {};
  loaded = std::make_shared<LoadedKernels>(*driver, source.set);
  if (!compile_fused(source.text, architecture.c_str(), binary, why) || !loaded->load(binary)) {
    return keep(nullptr);
  }
  if (!file.empty()) {
    write_binary(file, key, binary);
  }
  return keep(loaded);
}

}  // namespace anydml::cuda
