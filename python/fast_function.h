// SPDX-License-Identifier: MIT
// The callable Python objects behind the functions of this package. Each tries its fast path (call_cache.h) first.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "errors.h"
#include "python_api.h"

namespace anydml::python {

// A function that receives all of its arguments by position, in a fixed order.
class FastFunction {
 public:
  explicit FastFunction(nb::object slow_path) : slow_path_(std::move(slow_path)) {}
  virtual ~FastFunction() = default;
  FastFunction(const FastFunction&) = delete;
  FastFunction& operator=(const FastFunction&) = delete;

  virtual nb::object call(PyObject* const* values, std::size_t count) = 0;

  // For Python's garbage collector, because the slow path may refer back to this object.
  int visit(visitproc visit, void* arg) const;
  void clear() { nb::object gone = std::move(slow_path_); }

 protected:
  static void check_count(const std::string& name, std::size_t count, std::size_t expected);
  [[nodiscard]] nb::object call_slow_path(PyObject* const* values, std::size_t count) const;

 private:
  nb::object slow_path_;
};

// Returns a Python object that calls the function.
nb::object make_callable(std::unique_ptr<FastFunction> function);

}  // namespace anydml::python
