// SPDX-License-Identifier: MIT
// Exposes an operator with one or two inputs and one output as a ufunc. NumPy drives the ufunc, with its own rules for
// types, casting, masks and errors, and passes one row at a time. fast_ufunc.h handles whole arrays.
#pragma once

#include <anydml/anydml.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/element.h"
#include "call_cache.h"
#include "faults.h"
#include "python_api.h"

namespace anydml::python {

inline constexpr int kMaxOperands = 2;

// A ufunc and its operator. It is never destroyed, because NumPy keeps pointers into it.
struct Ufunc {
  struct Loop {
    const Ufunc* of;
    DataType type;
  };

  std::string name;  // its name in Python
  std::string op;    // its name in DirectML
  int inputs;
  Faults faults;
  // A C API function for this operator alone, which avoids the lookup by name.
  int (*direct)(const anydml_tensor*, const anydml_tensor*, const anydml_tensor*) = nullptr;
  std::vector<Loop> loops;  // one for each NumPy type that the operator accepts
  std::vector<PyUFuncGenericFunction> functions;
  std::vector<void*> data;
  std::vector<char> types;
  nb::object ufunc;
  mutable CallCache cache;  // for calls on whole arrays
  nb::object warner;        // a ufunc of the same name that raises the faults in a mask, with NumPy's message

  Ufunc(std::string python, std::string directml, int input_count);
  Ufunc(const Ufunc&) = delete;
  Ufunc& operator=(const Ufunc&) = delete;

  [[nodiscard]] bool takes(DataType type) const {
    return std::ranges::any_of(loops, [&](const Loop& loop) { return loop.type == type; });
  }

  // `tensors` holds the inputs, then the output.
  int run(const anydml_tensor* tensors) const {
    return direct != nullptr ? direct(&tensors[0], &tensors[1], &tensors[2])
                             : anydml_run(nullptr, op.c_str(), tensors, static_cast<std::size_t>(inputs),
                                          &tensors[inputs], 1, nullptr, 0);
  }

  // Lets NumPy warn, raise or stay silent, according to np.errstate.
  void warn(int found) const;
};

}  // namespace anydml::python
