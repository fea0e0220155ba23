// SPDX-License-Identifier: MIT
// The boundary of the C API. No exception crosses it, and every failure leaves a message for anydml_last_error.
#pragma once

#include <exception>
#include <new>

#include "anydml/anydml.h"
#include "base/cancellation.h"
#include "base/result.h"

namespace anydml {

// Stores the message for this thread, and returns the text to log. If there is no memory for the message, stores a
// constant that reports this.
const char* keep_last_error(const char* message) noexcept;
// Stores the message and logs it. Returns whether the log showed the message.
bool set_last_error(const char* message) noexcept;
// Sets the message for a failed allocation, without allocating.
void set_out_of_memory() noexcept;
[[nodiscard]] const char* last_error() noexcept;

[[nodiscard]] constexpr int code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return ANYDML_INVALID_ARGUMENT;
    case ErrorKind::unsupported:
      return ANYDML_UNSUPPORTED;
    case ErrorKind::out_of_memory:
      return ANYDML_OUT_OF_MEMORY;
    case ErrorKind::device:
      return ANYDML_DEVICE_ERROR;
    case ErrorKind::interrupted:
      return ANYDML_INTERRUPTED;
    case ErrorKind::internal:
      break;
  }
  return ANYDML_INTERNAL_ERROR;
}

// Runs body, which returns a Status, and returns the matching code.
template <class Body>
int boundary(const Body& body) noexcept {
  const CancellationDeferred deferred;
  try {
    const Status status = body();
    if (status.ok()) {
      return ANYDML_OK;
    }
    set_last_error(status.error().message.c_str());
    return code_of(status.error().kind);
  } catch (const std::bad_alloc&) {
    set_out_of_memory();
    return ANYDML_OUT_OF_MEMORY;
  } catch (const std::exception& exception) {
    set_last_error(exception.what());
  } catch (...) {
    set_last_error("an unknown exception");
  }
  return ANYDML_INTERNAL_ERROR;
}

}  // namespace anydml
