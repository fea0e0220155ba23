// SPDX-License-Identifier: MIT
// Errors inside the ONNX library. The functions of anydml/onnx.h catch all of them.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "text/format.h"

namespace anydml::onnx {

// Something about a model or its inputs is wrong: a shape, a number, an attribute. The message does not name the node;
// the caller that knows the node prepends its label.
class Invalid : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Like Invalid, for an element type.
class WrongType : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The model needs something that anydml does not support.
class Unsupported : public std::runtime_error {
 public:
  Unsupported(const std::string& message, std::vector<std::string> needs)
      : std::runtime_error(message), needs_(std::move(needs)) {}
  // What is needed, in a few words each: "Softmax of bfloat16".
  [[nodiscard]] const std::vector<std::string>& needs() const { return needs_; }

 private:
  std::vector<std::string> needs_;
};

// There is not enough memory for a value, or a value is too large.
class NoMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A device failed, or the caller interrupted the call.
class DeviceFailure : public std::runtime_error {
 public:
  DeviceFailure(int status, const std::string& message) : std::runtime_error(message), status_(status) {}
  [[nodiscard]] int status() const { return status_; }

 private:
  int status_;
};

// Code needs the elements of a symbol, which do not exist before the graph runs.
class ElementsNeeded : public std::exception {
 public:
  explicit ElementsNeeded(std::uint64_t source) : source_(source) {}
  [[nodiscard]] const char* what() const noexcept override {
    return "a node needs the elements of a value, which a graph has only when it runs";
  }
  // The value of the graph whose elements are needed; 0 if unknown.
  [[nodiscard]] std::uint64_t source() const { return source_; }

 private:
  std::uint64_t source_;
};

// A node cannot be part of a graph, and must run on the host.
class NotRecordable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Raises Invalid with a formatted message: fail("axis is {}, but the tensor has {} dimensions", axis, rank).
template <class... Values>
[[noreturn]] void fail(fmt::format_string<Values...> pattern, Values&&... values) {
  throw Invalid(format_text(pattern, std::forward<Values>(values)...));
}

// Text in single quotes, as in Python's repr.
[[nodiscard]] std::string quoted(std::string_view text);
// Without these, a call with a std::string may choose std::quoted, which newer versions of <filesystem> declare.
[[nodiscard]] inline std::string quoted(const std::string& text) { return quoted(std::string_view(text)); }
[[nodiscard]] inline std::string quoted(std::string& text) { return quoted(std::string_view(text)); }
[[nodiscard]] inline std::string quoted(const char* text) { return quoted(std::string_view(text)); }

// An untrusted name on one line, without characters that would move a terminal's cursor or change the direction of the
// text. Bytes that are not UTF-8 are escaped too.
[[nodiscard]] std::string printable(std::string_view text);
// A list in brackets: "[1, 3, 224]".
[[nodiscard]] std::string listed(const std::vector<std::int64_t>& numbers);
[[nodiscard]] std::string listed(const std::vector<double>& numbers);
// Names joined with ", ".
[[nodiscard]] std::string joined(const std::vector<std::string>& words);
// The shortest decimal number that has the same value: "0.5", "1e-05"; as Python prints a float.
[[nodiscard]] std::string number_text(double value);

}  // namespace anydml::onnx
