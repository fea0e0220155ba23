// SPDX-License-Identifier: MIT
// Replaces operator new for the whole program, including libraries, so that chosen allocations fail and live ones are
// counted. Include it in one source file of a program.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

namespace anydml::test {

// The number of allocations by this thread that succeed before one fails. If it is negative, none fails.
inline thread_local long t_until_failure = -1;
inline thread_local bool t_all_from_there = false;  // whether all later allocations also fail
inline std::atomic<long> g_live{0};
inline std::atomic<long> g_allocations{0};  // in total, by any thread

inline void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (t_until_failure == 0 && t_all_from_there) {
    return nullptr;
  }
  if (t_until_failure >= 0 && t_until_failure-- == 0) {
    return nullptr;
  }
  void* memory = alignment == 0 ? std::malloc(size)
                                : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  g_live += memory != nullptr ? 1 : 0;
  g_allocations += memory != nullptr ? 1 : 0;
  return memory;
}

inline void release(void* memory) noexcept {
  g_live -= memory != nullptr ? 1 : 0;
  std::free(memory);
}

inline void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* memory = allocate(size, alignment);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace anydml::test

void* operator new(std::size_t size) { return anydml::test::allocate_or_throw(size, 0); }
void* operator new[](std::size_t size) { return anydml::test::allocate_or_throw(size, 0); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return anydml::test::allocate(size, 0); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return anydml::test::allocate(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return anydml::test::allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return anydml::test::allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { anydml::test::release(memory); }
void operator delete[](void* memory) noexcept { anydml::test::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { anydml::test::release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { anydml::test::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { anydml::test::release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { anydml::test::release(memory); }
