// SPDX-License-Identifier: MIT
// The fast path for functions that run one operator: calls that are in the call cache (call_cache.h).
#pragma once

#include <string>

#include "python_api.h"

namespace anydml::python {

// Returns a function whose arguments are the inputs, then the attributes, then the options.
//
// array: the index of the input that is a sequence of tensors, or None.
// fields: DirectML's names for the attributes; the first `required` of them are not optional.
// options: the names of the options, out first and device last. The fast path handles out, dtype and shape; calls that
//   use any other option take the slow path.
// same: groups of inputs that share a type.
// slow_path: a function with the same arguments.
// fixed: attributes that are the same in every call.
// equivalent: None, or a function that converts a call that took the slow path. It returns the equivalent call that
//   DirectML accepts, (operator, inputs, attributes, the sizes of the outputs or None), or None if such calls must
//   always take the slow path.
nb::object make_fast_operator(std::string name, std::size_t inputs, nb::handle array, nb::handle fields,
                              std::size_t required, nb::handle options, nb::handle same, nb::object slow_path,
                              nb::dict fixed, nb::object equivalent);

}  // namespace anydml::python
