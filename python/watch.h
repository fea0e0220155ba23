// SPDX-License-Identifier: MIT
// Detects changes to the objects that a recorded function read. _watch.py describes these objects as nested tuples,
// which Python's garbage collector can traverse. Each call to a graph compares the objects with their descriptions
// here, which takes a few nanoseconds for each object.
#pragma once

#include <cstdint>

#include "errors.h"
#include "python_api.h"

namespace anydml::python {

// A hash of the type, the shape, the strides and the elements of an array.
std::uint64_t fingerprint(PyArrayObject* array);

// Whether the objects are unchanged. `tree` holds a function same(value, value) and the roots. `arguments` is the list
// of the call's arguments, or null. `contents` tells whether to compare the elements of arrays.
bool watch_holds(nb::handle tree, PyObject* arguments, bool contents);

}  // namespace anydml::python
