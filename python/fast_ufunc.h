// SPDX-License-Identifier: MIT
// The fast path for functions that are ufuncs: if a call does not need NumPy, it passes whole arrays to the core. It
// handles NumPy arrays, and PyTorch tensors in CPU memory, if both operands have the same type or one is a Python
// number. Repeated calls use the call cache (call_cache.h).
#pragma once

#include "python_api.h"
#include "ufunc.h"

namespace anydml::python {

inline bool numpy_two = false;  // NumPy 2 or later; older versions choose types based on a number's value

// `casting` and `order` are the default values of these options, which are compared by identity.
nb::object make_fast_ufunc(const Ufunc& of, nb::object casting, nb::object order, nb::object slow_path);

}  // namespace anydml::python
