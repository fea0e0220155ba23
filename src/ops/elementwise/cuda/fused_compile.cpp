// SPDX-License-Identifier: MIT
// NVRTC, found while the program runs: nothing here needs it to be there.
#include <dlfcn.h>

#include <cstdint>
#include <vector>

#include "ops/elementwise/cuda/fused.h"

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

  [[nodiscard]] bool found() const { return major >= 12; }  // the first that knows C++20
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

std::string fused_compiler() {
  const Nvrtc& nvrtc = find_nvrtc();
  if (!nvrtc.found()) {
    return {};
  }
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (std::size_t i = 0; i < kFusedHeaderCount; ++i) {
    for (const char* text : {kFusedHeaders[i].name, kFusedHeaders[i].text}) {
      for (; *text != 0; ++text) {
        hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3ULL;
      }
    }
  }
  std::string name = std::to_string(nvrtc.major);
  return name.append(".").append(std::to_string(nvrtc.minor)).append(" ").append(std::to_string(hash));
}

bool compile_fused(const std::string& source, const char* architecture, FusedBinary& binary, std::string& why) {
  const Nvrtc& nvrtc = find_nvrtc();
  if (!nvrtc.found()) {
    why = "libnvrtc of CUDA 12 or later was not found";
    return false;
  }
  std::vector<const char*> names;
  std::vector<const char*> texts;
  for (std::size_t i = 0; i < kFusedHeaderCount; ++i) {
    names.push_back(kFusedHeaders[i].name);
    texts.push_back(kFusedHeaders[i].text);
  }
  void* program = nullptr;
  if (nvrtc.create(&program, source.c_str(), "fused.cu", static_cast<int>(names.size()), texts.data(), names.data()) !=
      0) {
    why = "nvrtcCreateProgram failed";
    return false;
  }
  const char* const vector =
      "anydml::cuda::row_vectors<anydml::cuda::Fused, anydml::cuda::RowShape<anydml::cuda::Fused>>";
  const char* const strided = "anydml::cuda::row_strided<anydml::cuda::Fused>";
  nvrtc.add_name(program, vector);
  nvrtc.add_name(program, strided);
  const std::string target = std::string("--gpu-architecture=") + architecture;
  // As the plugin itself is compiled: no contraction, and definitions whose helpers say nothing of host and device.
  const char* const options[] = {"--std=c++20", "--fmad=false", "--device-as-default-execution-space", target.c_str()};
  const char* lowered = nullptr;
  std::size_t bytes = 0;
  const bool good = nvrtc.compile(program, 4, options) == 0 && nvrtc.lowered_name(program, vector, &lowered) == 0 &&
                    (binary.vector_name = lowered, true) && nvrtc.lowered_name(program, strided, &lowered) == 0 &&
                    (binary.strided_name = lowered, true) && nvrtc.code_size(program, &bytes) == 0 && bytes != 0;
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
