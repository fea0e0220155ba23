// SPDX-License-Identifier: MIT
// Errors as Python exceptions, and descriptions of arguments for their messages.
#pragma once

#include <string>

#include "python_api.h"

namespace anydml::python {

// The message may quote an argument that was cut in the middle of a character.
[[noreturn]] void raise(PyObject* kind, const std::string& message);

// NumPy's floats are FLOAT64 unless somebody asks for others, and many operators have none of it.
inline constexpr const char* kOfDoubles = ": type is FLOAT64; expected FLOAT32";
inline constexpr const char* kWayOut = "; convert it to float32";  // _messages.py replaces it by a call

[[noreturn]] void raise_last(int code);

// Returns str() of an object, whatever characters it contains.
std::string plain_text(nb::handle of);

// Describes an argument for a message: "5 (int)".
std::string text_of(nb::handle given);

// Says why the C API does not accept an object as an array, and what it accepts.
std::string wrong_array_text(nb::handle given);

}  // namespace anydml::python
