// SPDX-License-Identifier: MIT
// Internal errors: a kind, which the outermost layer converts to its own error code, and a message.
#pragma once

#include <new>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace anydml {

enum class ErrorKind {
  invalid_argument,  // the caller broke a rule
  unsupported,       // a valid call that needs a feature that is not implemented
  out_of_memory,
  device,       // a device failed or is unavailable
  interrupted,  // the caller interrupted the call
  internal,     // a bug in this library
};

struct Error {
  ErrorKind kind;
  std::string message;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] T& value() { return *std::get_if<0>(&state_); }
  [[nodiscard]] const T& value() const { return *std::get_if<0>(&state_); }
  [[nodiscard]] const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace anydml

// If `expression`, a Status, is an error, returns that error from the enclosing function.
#define ANYDML_TRY(expression)                                      \
  do {                                                              \
    if (const auto& anydml_status = (expression); !anydml_status) { \
      return anydml_status.error();                                 \
    }                                                               \
  } while (false)
