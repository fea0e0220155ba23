// SPDX-License-Identifier: MIT
// The boundary of the ONNX library's C interface. No exception crosses it, and every failure leaves a message for
// anydml_last_error.
#pragma once

#include <string>
#include <string_view>

#include "anydml/onnx.h"
#include "base/cancellation.h"
#include "base/float_environment.h"
#include "onnx/values/errors.h"

namespace anydml::onnx {

// Reports the exception that is being handled, and returns its code. If it is Unsupported, passes everything that is
// missing to the function in the options, which may be null.
int report_exception(const anydml_onnx_options* options) noexcept;

// Runs a body, and converts its exceptions to codes. Nodes that run on the host compute with floats, so the caller's
// rounding and flush modes are set aside.
template <class Body>
int boundary(const Body& body, const anydml_onnx_options* options = nullptr) noexcept {
  const CancellationDeferred deferred;
  const DefaultFloatEnvironment environment;
  try {
    body();
    return ANYDML_OK;
  } catch (...) {
    return report_exception(options);
  }
}

// Raises Invalid: "anydml_onnx_run: <text>".
[[noreturn]] inline void bad_call(const char* function, std::string_view text) {
  throw Invalid(std::string(function).append(": ").append(text));
}
// Checks a pointer that must not be null. `expected` completes the message "<name> is null; expected ...".
inline void check_pointer(const char* function, const char* name, const void* pointer, const char* expected) {
  if (pointer == nullptr) {
    bad_call(function, format_text("{} is null; expected {}", name, expected));
  }
}
// Checks an array pointer, which may be null only if the array has no elements.
inline void check_array(const char* function, std::string_view name, const void* array, std::size_t count) {
  if (array == nullptr && count != 0) {
    bad_call(function, format_text("{} is null; expected an array of {}", name, count));
  }
}

}  // namespace anydml::onnx
