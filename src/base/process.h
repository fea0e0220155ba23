// SPDX-License-Identifier: MIT
// What is one for the whole process: the lock under which its state is made, and how that state passes through a fork.
// A fork waits until nobody holds the lock, so a child never finds state half made.
#pragma once

#include <mutex>

namespace anydml {

[[nodiscard]] std::mutex& process_mutex() noexcept;

// What the owner of threads does around a fork. All three are called with the process mutex held.
struct ForkHooks {
  void (*prepare)();
  void (*parent)();
  void (*child)();
};

// With the process mutex held. One set of hooks is kept: the first.
void set_fork_hooks(const ForkHooks& hooks) noexcept;

}  // namespace anydml
