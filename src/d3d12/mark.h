// SPDX-License-Identifier: MIT
// A mark: a position in a device queue's work. It exists for as long as anyone may wait for it.
#pragma once

#include "backend/backend.h"

namespace anydml {

class Mark {
 public:
  Mark(const BackendTable& backend, BackendMark* mark) : backend_(backend), mark_(mark) {}
  ~Mark() { backend_.destroy_mark(mark_); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

  [[nodiscard]] bool is_passed() const noexcept { return backend_.is_passed(mark_) != 0; }
  // Blocks until the device passes the mark or fails.
  [[nodiscard]] BackendStatus wait() const noexcept { return backend_.wait(mark_); }
  [[nodiscard]] BackendMark* get() const { return mark_; }

 private:
  const BackendTable& backend_;
  BackendMark* const mark_;
};

}  // namespace anydml
