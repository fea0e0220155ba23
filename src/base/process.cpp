// SPDX-License-Identifier: MIT
#include "base/process.h"

#include <pthread.h>

namespace anydml {
namespace {

constinit std::mutex g_mutex;
constinit const ForkHooks* g_hooks = nullptr;  // guarded by the mutex

// Registered when the library is loaded, before any thread can hold the mutex. If registration runs out of memory, a
// fork during the first call may leave a child that waits forever; there is no other effect.
[[maybe_unused]] const int g_registered = pthread_atfork(
    [] {
      g_mutex.lock();
      if (g_hooks != nullptr) {
        g_hooks->prepare();
      }
    },
    [] {
      if (g_hooks != nullptr) {
        g_hooks->parent();
      }
      g_mutex.unlock();
    },
    [] {
      if (g_hooks != nullptr) {
        g_hooks->child();
      }
      g_mutex.unlock();
    });

}  // namespace

std::mutex& process_mutex() noexcept { return g_mutex; }

void set_fork_hooks(const ForkHooks& hooks) noexcept {
  if (g_hooks == nullptr) {
    g_hooks = &hooks;
  }
}

}  // namespace anydml
