// SPDX-License-Identifier: MIT
// Process-wide state: the lock that protects its creation, and the hooks that keep it intact across a fork. A fork
// waits until the lock is free, so a child never sees half-created state.
#pragma once

#include <mutex>

namespace anydml {

[[nodiscard]] std::mutex& process_mutex() noexcept;

// Called before and after a fork, for code that owns threads. All three hooks are called with the process mutex held.
struct ForkHooks {
  void (*prepare)();
  void (*parent)();
  void (*child)();
};

// The caller must hold the process mutex. Only the first set of hooks is kept.
void set_fork_hooks(const ForkHooks& hooks) noexcept;

}  // namespace anydml
