// SPDX-License-Identifier: MIT
// Thread cancellation (pthread_cancel) at the boundaries of our libraries.
#pragma once

#include <pthread.h>

namespace anydml {

// Canceling a thread in the middle of a call would unwind code that must not be interrupted. It would also unwind
// noexcept functions, which terminates the process. While this object exists, cancellation is deferred to the first
// cancellation point after the call.
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
