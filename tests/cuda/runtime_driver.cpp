// SPDX-License-Identifier: MIT
// Stand-ins for the NVIDIA driver functions that kernels compiled at run time need, for machines without the driver.
// They are built as a library with the driver's name (libcuda.so.1), and they record the calls.
#include "cuda/runtime_driver.h"

#include <cstring>

namespace anydml::test {

RecordedDriver& recorded_driver() {
  static RecordedDriver recorded;
  return recorded;
}

}  // namespace anydml::test

using anydml::test::recorded_driver;

extern "C" {

// A library handle is the address of its code. Its kernels are numbered in the order of the requests.
int cuLibraryLoadData(void** library, const void* code, void*, void*, unsigned, void*, void*, unsigned) {
  *library = const_cast<void*>(code);
  ++recorded_driver().loads;
  return recorded_driver().refuses_code ? 1 : 0;
}

int cuLibraryUnload(void*) { return 0; }

int cuLibraryGetKernel(void** kernel, void*, const char* name) {
  recorded_driver().kernels.emplace_back(name);
  *kernel = reinterpret_cast<void*>(recorded_driver().kernels.size());
  return 0;
}

int cuKernelSetAttribute(int attribute, int value, void* kernel, int device) {
  recorded_driver().attributes.push_back({attribute, value, reinterpret_cast<std::size_t>(kernel), device});
  return value > recorded_driver().max_shared_bytes ? 1 : 0;
}

int cuLaunchKernel(void* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared_bytes, void*, void** parameters, void**) {
  recorded_driver().launches.push_back({reinterpret_cast<std::size_t>(kernel),
                                        {grid_x, grid_y, grid_z},
                                        {block_x, block_y, block_z},
                                        shared_bytes,
                                        parameters[0]});
  return 0;
}
}
