// SPDX-License-Identifier: MIT
// The callable objects for functions of this package.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "errors.h"
#include "python_api.h"

namespace anydml::python {

// Receives the arguments of a Python function, in a fixed order and without names.
class ShortFunction {
 public:
  explicit ShortFunction(nb::object long_way) : long_way_(std::move(long_way)) {}
  virtual ~ShortFunction() = default;
  ShortFunction(const ShortFunction&) = delete;
  ShortFunction& operator=(const ShortFunction&) = delete;

  virtual nb::object call(PyObject* const* values, std::size_t count) = 0;

  // For Python's garbage collector: the long way may refer back to this object.
  int visit(visitproc visit, void* arg) const;
  void clear() { nb::object gone = std::move(long_way_); }

 protected:
  static void check_count(const std::string& name, std::size_t count, std::size_t expected);
  [[nodiscard]] nb::object call_long_way(PyObject* const* values, std::size_t count) const;

 private:
  nb::object long_way_;
};

nb::object make_callable(std::unique_ptr<ShortFunction> function);

}  // namespace anydml::python
