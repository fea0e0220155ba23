// SPDX-License-Identifier: MIT
// A kernel that traps in the context shared by all libraries in the process, like a faulty kernel in any library. Tests
// load this library. The function returns 0 if the kernel was launched.
namespace {

__global__ void trap_at_once() { asm volatile("trap;"); }

}  // namespace

extern "C" __attribute__((visibility("default"))) int anydml_test_trap() {
  trap_at_once<<<1, 1>>>();
  return static_cast<int>(cudaGetLastError());
}
