// SPDX-License-Identifier: MIT
// Process-wide state: the lock under which it is created, and how it passes through a fork. A fork waits until the lock
// is free, so a child never finds half-created state.
#pragma once

#include <mutex>

namespace anydml {

[[nodiscard]] std::mutex& process_mutex() noexcept;

// The actions of a thread owner around a fork. All three are called with the process mutex held.
struct ForkHooks {
  void (*prepare)();
  void (*parent)();
  void (*child)();
};

// With the process mutex held. Only the first set of hooks is kept.
void set_fork_hooks(const ForkHooks& hooks) noexcept;

}  // namespace anydml
