// SPDX-License-Identifier: MIT
// An application's event for tests. On Linux, this is an eventfd.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "directml/harness.h"

namespace anydml::test {

struct Event {
  Event() : number(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Event() { close(number); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  [[nodiscard]] HANDLE handle() const { return reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(number)); }
  // The number of times the event was set since the last call.
  [[nodiscard]] std::uint64_t take() const {
    std::uint64_t count = 0;
    return read(number, &count, sizeof(count)) == sizeof(count) ? count : 0;
  }
  int number;
};

}  // namespace anydml::test
