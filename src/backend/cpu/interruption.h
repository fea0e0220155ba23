// SPDX-License-Identifier: MIT
// Decides whether a run should end early. The running thread asks its caller between chunks, often enough that a person
// does not notice a delay. Checking whether it is time to ask takes a few nanoseconds.
#pragma once

#include <time.h>

#include <cstdint>

#include "backend/backend.h"
#include "base/clock.h"

namespace anydml {

class Interruption {
 public:
  // `interrupt` is null if the run cannot be interrupted.
  explicit Interruption(const Interrupt* interrupt) : interrupt_(interrupt) {}
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Called by the running thread between two pieces of work.
  [[nodiscard]] bool is_wanted() { return interrupt_ != nullptr && (is_wanted_ || asks()); }

 private:
  static constexpr std::uint64_t kInterval = 50'000'000;  // nanoseconds

  [[gnu::noinline]] bool asks() {
    timespec coarse{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &coarse);
    const std::uint64_t now =
        static_cast<std::uint64_t>(coarse.tv_sec) * kClockFrequency + static_cast<std::uint64_t>(coarse.tv_nsec);
    if (last_ == 0) {
      last_ = now;
    } else if (now - last_ >= kInterval) {
      last_ = now;
      is_wanted_ = interrupt_->is_wanted(interrupt_->context) != 0;
    }
    return is_wanted_;
  }

  const Interrupt* interrupt_;
  std::uint64_t last_ = 0;  // when the caller was last asked; 0 if not yet
  bool is_wanted_ = false;
};

}  // namespace anydml
