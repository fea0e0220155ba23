// SPDX-License-Identifier: MIT
// The APIs of Python, nanobind and NumPy. The sources of this module share one table of NumPy's functions, which
// core.cpp imports; every other file therefore includes NumPy only through this header.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>  // all sources need it: without it, string casts compile but fail at run time

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL anydml_numpy_arrays
#define PY_UFUNC_UNIQUE_SYMBOL anydml_numpy_ufuncs
#ifndef ANYDML_IMPORTS_NUMPY  // core.cpp defines this macro
#define NO_IMPORT_ARRAY
#define NO_IMPORT_UFUNC
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>

namespace anydml::python {

namespace nb = nanobind;

}  // namespace anydml::python
