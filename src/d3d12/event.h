// SPDX-License-Identifier: MIT
// An application's events: on Linux a HANDLE is the descriptor of an eventfd.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "d3d12/headers.h"

namespace anydml {

// Our own descriptor for an application's eventfd, because the application may close its descriptor. All registrations
// of one event share this object, so that they do not use up the process's descriptors.
class EventDescriptor {
 public:
  explicit EventDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  ~EventDescriptor();
  EventDescriptor(const EventDescriptor&) = delete;
  EventDescriptor& operator=(const EventDescriptor&) = delete;

  // Sets the event, or leaves it set.
  void set() const noexcept;
  // Blocks until the event is set.
  void wait() const noexcept;
  [[nodiscard]] int number() const noexcept { return descriptor_; }

 private:
  const int descriptor_;
};

// Returns null on failure and sets errno: EMFILE, ENFILE or ENOMEM if no descriptor is available; any other value means
// that the handle is not an eventfd. Throws std::bad_alloc.
[[nodiscard]] std::shared_ptr<const EventDescriptor> find_event(HANDLE event);
[[nodiscard]] std::shared_ptr<const EventDescriptor> make_event();

// Sets an event after the awaited number of fences have arrived.
class EventTarget {
 public:
  EventTarget(std::shared_ptr<const EventDescriptor> event, std::uint32_t awaited)
      : event_(std::move(event)), awaited_(awaited) {}
  EventTarget(const EventTarget&) = delete;
  EventTarget& operator=(const EventTarget&) = delete;

  void arrive() noexcept;
  // True once the event is set; later arrivals have no effect.
  [[nodiscard]] bool is_done() const noexcept { return awaited_.load(std::memory_order_relaxed) <= 0; }

 private:
  std::shared_ptr<const EventDescriptor> event_;  // released after the event is set
  std::atomic<std::int64_t> awaited_;
};

}  // namespace anydml
