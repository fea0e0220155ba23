// SPDX-License-Identifier: MIT
// Raises errors as Python exceptions, and describes arguments in their messages.
#pragma once

#include <string>

#include "python_api.h"

namespace anydml::python {

// Replaces invalid UTF-8, because a message may quote an argument that was truncated inside a character.
[[noreturn]] void raise(PyObject* kind, const std::string& message);

// NumPy's default type is FLOAT64, which many operators do not support.
inline constexpr const char* kOfDoubles = ": type is FLOAT64; expected FLOAT32";
inline constexpr const char* kWayOut = "; convert it to float32";  // _messages.py replaces this with a Python call

[[noreturn]] void raise_last(int code);

// Returns str() of an object, whatever characters it contains.
std::string plain_text(nb::handle of);

// Describes an argument for a message: "5 (int)".
std::string text_of(nb::handle given);

// Explains why the C API does not accept an object as an array, and what it accepts.
std::string wrong_array_text(nb::handle given);

}  // namespace anydml::python
