// SPDX-License-Identifier: MIT
// Loads NVRTC at run time. The plugin does not require it.
#include <dlfcn.h>

#include <cstdint>
#include <iterator>
#include <vector>

#include "backend/cuda/runtime.h"

namespace anydml::cuda {
namespace {

struct Nvrtc {
  int (*create)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy)(void**) = nullptr;
  int (*compile)(void*, int, const char* const*) = nullptr;
  int (*add_name)(void*, const char*) = nullptr;
  int (*lowered_name)(void*, const char*, const char**) = nullptr;
  int (*code_size)(void*, std::size_t*) = nullptr;
  int (*code)(void*, char*) = nullptr;
  int (*log_size)(void*, std::size_t*) = nullptr;
  int (*log)(void*, char*) = nullptr;
  int major = 0;
  int minor = 0;

  // The first version that supports C++20, and parameters of more than 4 KiB.
  [[nodiscard]] bool found() const { return major > 12 || (major == 12 && minor >= 1); }
};

template <class Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Nvrtc open_nvrtc() {
  Nvrtc nvrtc;
  void* library = nullptr;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"}) {
    if (library == nullptr) {
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
  }
  int (*version)(int*, int*) = nullptr;
  const bool good =
      library != nullptr && look_up(library, "nvrtcCreateProgram", nvrtc.create) &&
      look_up(library, "nvrtcDestroyProgram", nvrtc.destroy) &&
      look_up(library, "nvrtcCompileProgram", nvrtc.compile) &&
      look_up(library, "nvrtcAddNameExpression", nvrtc.add_name) &&
      look_up(library, "nvrtcGetLoweredName", nvrtc.lowered_name) &&
      look_up(library, "nvrtcGetCUBINSize", nvrtc.code_size) && look_up(library, "nvrtcGetCUBIN", nvrtc.code) &&
      look_up(library, "nvrtcGetProgramLogSize", nvrtc.log_size) && look_up(library, "nvrtcGetProgramLog", nvrtc.log) &&
      look_up(library, "nvrtcVersion", version) && version(&nvrtc.major, &nvrtc.minor) == 0;
  if (!good) {
    nvrtc.major = 0;
  }
  return nvrtc;
}

const Nvrtc& find_nvrtc() {
  static const Nvrtc nvrtc = open_nvrtc();
  return nvrtc;
}

}  // namespace

std::string runtime_compiler() {
  const Nvrtc& nvrtc = find_nvrtc();
  if (!nvrtc.found()) {
    return {};
  }
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (std::size_t i = 0; i < kRuntimeHeaderCount; ++i) {
    for (const char* text : {kRuntimeHeaders[i].name, kRuntimeHeaders[i].text}) {
      for (; *text != 0; ++text) {
        hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3ULL;
      }
    }
  }
  std::string name = std::to_string(nvrtc.major);
  return name.append(".").append(std::to_string(nvrtc.minor)).append(" ").append(std::to_string(hash));
}

bool compile_source(const KernelSource& source, const char* architecture, KernelBinary& binary, std::string& why) {
  const Nvrtc& nvrtc = find_nvrtc();
  if (!nvrtc.found()) {
    why = "libnvrtc of CUDA 12.1 or later was not found";
    return false;
  }
  std::vector<const char*> names;
  std::vector<const char*> texts;
  for (std::size_t i = 0; i < kRuntimeHeaderCount; ++i) {
    names.push_back(kRuntimeHeaders[i].name);
    texts.push_back(kRuntimeHeaders[i].text);
  }
  void* program = nullptr;
  if (nvrtc.create(&program, source.text.c_str(), "runtime.cu", static_cast<int>(names.size()), texts.data(),
                   names.data()) != 0) {
    why = "nvrtcCreateProgram failed";
    return false;
  }
  for (const std::string& kernel : source.kernels) {
    nvrtc.add_name(program, kernel.c_str());
  }
  const std::string target = std::string("--gpu-architecture=") + architecture;
  // As in the plugin's own build, products and sums are not contracted, and helper functions in definitions need not be
  // marked for host or device.
  const char* const options[] = {"--std=c++20", "--fmad=false", "--device-as-default-execution-space",
                                 "--device-int128", target.c_str()};
  std::size_t bytes = 0;
  bool good = nvrtc.compile(program, static_cast<int>(std::size(options)), options) == 0;
  for (const std::string& kernel : source.kernels) {
    const char* lowered = nullptr;
    good = good && nvrtc.lowered_name(program, kernel.c_str(), &lowered) == 0;
    binary.names.emplace_back(good ? lowered : "");
  }
  good = good && nvrtc.code_size(program, &bytes) == 0 && bytes != 0;
  if (good) {
    binary.code.resize(bytes);
    nvrtc.code(program, binary.code.data());
  } else if (nvrtc.log_size(program, &bytes) == 0) {
    why.resize(bytes);
    nvrtc.log(program, why.data());
  }
  nvrtc.destroy(&program);
  return good;
}

}  // namespace anydml::cuda
