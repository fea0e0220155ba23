// SPDX-License-Identifier: MIT
#include "capi/recent_calls.h"

#include <pthread.h>

#include <new>
#include <optional>

#include "capi/interrupt.h"

namespace anydml {
namespace {

thread_local constinit RecentCalls* t_recent = nullptr;

// Destroys a thread's calls when the thread ends. A thread_local with a destructor would also do this, but registering
// the destructor aborts if memory is short, and a later call would find a destroyed object. With a key, a later call
// creates a new object.
const std::optional<pthread_key_t> g_end_of_recent = [] {
  pthread_key_t key{};
  const int failed = pthread_key_create(&key, [](void* recent) {
    t_recent = nullptr;
    delete static_cast<RecentCalls*>(recent);
  });
  return failed != 0 ? std::nullopt : std::optional(key);
}();

}  // namespace

RecentCalls* RecentCalls::of_thread() noexcept {
  if (is_asking()) {
    return nullptr;  // a call in progress uses one of the entries, which must not be replaced
  }
  if (t_recent == nullptr && g_end_of_recent) {
    std::unique_ptr<RecentCalls> created(new (std::nothrow) RecentCalls);
    if (created != nullptr && pthread_setspecific(*g_end_of_recent, created.get()) == 0) {
      t_recent = created.release();
    }
  }
  return t_recent;
}

const anydml_compiled* RecentCalls::find(const CallKey& key) const noexcept {
  for (const Entry& entry : entries_) {
    if (entry.key == key) {
      return entry.compiled.get();
    }
  }
  return nullptr;
}

void RecentCalls::add(const CallKey& key, std::unique_ptr<anydml_compiled> compiled) noexcept {
  entries_[oldest_] = {.key = key, .compiled = std::move(compiled)};
  oldest_ = (oldest_ + 1) % entries_.size();
}

}  // namespace anydml
