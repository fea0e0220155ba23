// SPDX-License-Identifier: MIT
// A kernel that traps, in the context that every library of the process shares: what a fault in anybody's kernel is to
// the rest. A library of its own, which tests load; 0 when the kernel was launched.
namespace {

__global__ void trap_at_once() { asm volatile("trap;"); }

}  // namespace

extern "C" __attribute__((visibility("default"))) int anydml_test_trap() {
  trap_at_once<<<1, 1>>>();
  return static_cast<int>(cudaGetLastError());
}
