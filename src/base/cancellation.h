// SPDX-License-Identifier: MIT
// Cancellation of threads (pthread_cancel) at the edges of our libraries.
#pragma once

#include <pthread.h>

namespace anydml {

// A thread that is cancelled in the midst of a call would be unwound through code that must not be left, and through
// functions that let nothing out, which ends the process. While this lives the thread is not cancelled: its next
// cancellation point after the call does it.
class CancellationDeferred {
 public:
  CancellationDeferred() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancellationDeferred() { pthread_setcancelstate(before_, nullptr); }
  CancellationDeferred(const CancellationDeferred&) = delete;
  CancellationDeferred& operator=(const CancellationDeferred&) = delete;

 private:
  int before_ = 0;
};

}  // namespace anydml
