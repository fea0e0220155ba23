// SPDX-License-Identifier: MIT
#include "backend/cuda/device.h"

#include <dlfcn.h>

#include <cstdio>
#include <memory>
#include <new>
#include <string>

#include "backend/cuda/family.h"
#include "backend/cuda/runtime.h"

namespace anydml::cuda {
namespace {

constexpr std::uint32_t kMinForHalfProducts = 70;  // the first GPUs with tensor cores
constexpr std::uint32_t kMinJoined = 1 << 15;      // elements; joining fewer is not worth a separate kernel

// Returns a static string for each kind of error.
const char* text_of(cudaError_t error) noexcept {
  try {
    static std::mutex mutex;
    static auto* const texts = new std::map<cudaError_t, std::string>;
    const std::scoped_lock lock(mutex);
    std::string& text = (*texts)[error];
    if (text.empty()) {
      text = std::string("CUDA: ") + cudaGetErrorName(error) + ": " + cudaGetErrorString(error);
    }
    return text.c_str();
  } catch (...) {
    return cudaGetErrorString(error);
  }
}

// The device's PCI product number; 0 if the system does not report it.
std::uint32_t pci_product(const cudaDeviceProp& properties) {
  char path[96];
  std::snprintf(path, sizeof(path), "/sys/bus/pci/devices/%04x:%02x:%02x.0/device",
                static_cast<unsigned>(properties.pciDomainID), static_cast<unsigned>(properties.pciBusID),
                static_cast<unsigned>(properties.pciDeviceID));
  unsigned product = 0;
  if (std::FILE* file = std::fopen(path, "r"); file != nullptr) {
    if (std::fscanf(file, "%x", &product) != 1) {
      product = 0;
    }
    std::fclose(file);
  }
  return product;
}

// The families whose steps accept neighbors.
std::uint64_t joined_families() noexcept {
  std::uint64_t joined = 0;
  for (std::uint32_t number = 0; number < 64; ++number) {
    const FamilyKernels* const family = find_family(number).family;
    joined |= family != nullptr && !family->is_alone ? std::uint64_t{1} << number : 0;
  }
  return joined;
}

// Whether the device already has a context. Calling cudaSetDevice would create one.
bool has_context(int index) {
  using GetState = int (*)(int, unsigned*, int*);
  static const auto get_state = [] {  // from the driver, which is already loaded
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return reinterpret_cast<GetState>(driver != nullptr ? dlsym(driver, "cuDevicePrimaryCtxGetState") : nullptr);
  }();
  unsigned flags = 0;
  int active = 0;
  return get_state == nullptr || (get_state(index, &flags, &active) == 0 && active != 0);
}

}  // namespace

OnDevice::OnDevice(const BackendDevice& device) : OnDevice(device.index) {}

OnDevice::OnDevice(int device) {
  int current = -1;
  if (cudaGetDevice(&current) == cudaSuccess && current == device) {
    return;
  }
  const bool put_back = current >= 0 && has_context(current);
  error_ = cudaSetDevice(device);
  before_ = error_ == cudaSuccess && put_back ? current : -1;
}

OnDevice::~OnDevice() {
  if (before_ >= 0) {
    static_cast<void>(cudaSetDevice(before_));
  }
}

BackendStatus status_of(cudaError_t error) noexcept {
  if (error == cudaSuccess) {
    return kOk;
  }
  static_cast<void>(cudaGetLastError());
  return error == cudaErrorMemoryAllocation ? kOutOfMemory : BackendStatus{BackendCode::failed, text_of(error)};
}

std::uint32_t device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return 0;
  }
  return static_cast<std::uint32_t>(count);
}

const char* why_no_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  static_cast<void>(cudaGetLastError());
  int driver = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  constexpr int kMinDriver = 12010;  // the first driver whose kernels accept more than 4 KiB of parameters
  if (error == cudaSuccess && driver < kMinDriver) {
    return "the NVIDIA driver supports only CUDA versions before 12.1; expected a newer driver";
  }
  if (error == cudaSuccess) {
    return count != 0 ? nullptr : "no NVIDIA GPU was found";
  }
  if (error == cudaErrorNoDevice) {
    return "no NVIDIA GPU was found, or CUDA_VISIBLE_DEVICES hides it";
  }
  if (error == cudaErrorInsufficientDriver && driver == 0) {
    return "the NVIDIA driver was not found (libcuda.so.1)";
  }
  if (error == cudaErrorInsufficientDriver) {
    static char text[160];  // this code runs only once, under the process mutex
    std::snprintf(
        text, sizeof(text),
        "the NVIDIA driver is for CUDA %d.%d; expected one for CUDA %d.%d or newer, with which this was built",
        driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    return text;
  }
  return text_of(error);
}

BackendStatus open_device(std::uint32_t index, BackendDevice** device) noexcept {
  cudaDeviceProp properties{};
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, static_cast<int>(index)); error != cudaSuccess) {
    return status_of(error);
  }
  if (properties.major * 10 + properties.minor < ANYDML_CUDA_LEAST_ARCHITECTURE) {
    return {BackendCode::failed, "the GPU is older than the ones this was built for (CMAKE_CUDA_ARCHITECTURES)"};
  }
  std::unique_ptr<BackendDevice> opened(new (std::nothrow) BackendDevice);
  if (opened == nullptr) {
    return kOutOfMemory;
  }
  opened->index = static_cast<int>(index);
  BackendDeviceInfo& info = opened->info;
  std::snprintf(info.name, sizeof(info.name), "cuda:%u", index);
  std::snprintf(info.description, sizeof(info.description), "%.96s", properties.name);
  info.memory_bytes = properties.totalGlobalMem;
  info.asynchronous = 1;
  info.shares_addresses = 1;
  opened->gpu = properties_of(properties, opened->index);
  info.traits.threads = opened->gpu.multiprocessors;
  info.traits.joined_families = joined_families();
  // The library is large, so it is loaded only when a plan first contains a half-precision product.
  info.traits.half_products = opened->gpu.compute_capability >= kMinForHalfProducts;
  try {
    info.traits.joins_from = compiles_while_running(opened->gpu) ? kMinJoined : 0;
  } catch (...) {
    return kOutOfMemory;
  }
  info.vendor = 0x10de;
  info.product = pci_product(properties);
  *device = opened.release();
  return kOk;
}

}  // namespace anydml::cuda
