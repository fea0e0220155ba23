// SPDX-License-Identifier: MIT
// Notices whether objects that a recorded function read have changed. _watch.py describes them as nested tuples, which
// Python's garbage collector can follow; a call of a graph compares them here, at a few nanoseconds for each object.
#pragma once

#include <cstdint>

#include "errors.h"
#include "python_api.h"

namespace anydml::python {

// Stands for the type, the shape, the strides and the elements of an array.
std::uint64_t fingerprint(PyArrayObject* array);

// tree: a function same(value, value) and the roots.
bool watch_holds(nb::handle tree, PyObject* arguments, bool contents);

}  // namespace anydml::python
