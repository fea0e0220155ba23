// SPDX-License-Identifier: MIT
// The fast path for functions that are ufuncs: passes whole arrays to the core if a call does not need NumPy. It
// handles NumPy arrays, and PyTorch tensors in CPU memory, if all have one type or one stands beside a Python number.
#pragma once

#include "python_api.h"
#include "ufunc.h"

namespace anydml::python {

inline bool numpy_two = false;  // older versions also use a number's value to choose the type

nb::object make_fast_ufunc(const Ufunc& of, nb::object casting, nb::object order, nb::object slow_path);

}  // namespace anydml::python
