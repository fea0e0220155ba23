// SPDX-License-Identifier: MIT
// Functions that call one operator.
#pragma once

#include <string>

#include "python_api.h"

namespace anydml::python {

// All arguments of the function come in one order: the inputs, the attributes, the options.
//
// array: which input is a sequence of tensors, or None. fields: DirectML's names of the attributes, with the optional
// ones last. options: the function's options, out first and device last; only out, dtype, shape and device are
// handled here, and any other option takes the slow path. same: groups of inputs that share a type. fixed: attributes
// that are the same in every call. slow_path accepts the same arguments. equivalent, unless it is None, returns the
// call that DirectML accepts in place of one that took the slow path: (operator, inputs, attributes, the outputs'
// sizes or None), or None if later calls must take the slow path too.
nb::object make_fast_operator(std::string name, std::size_t inputs, nb::handle array, nb::handle fields,
                              std::size_t required, nb::handle options, nb::handle same, nb::object slow_path,
                              nb::dict fixed, nb::object equivalent);

}  // namespace anydml::python
