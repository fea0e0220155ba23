// SPDX-License-Identifier: MIT
// Runs any operator by its name, over arrays in CPU memory or on a GPU.
#pragma once

#include "errors.h"
#include "python_api.h"

namespace anydml::python {

void run_operator(nb::handle op, nb::handle inputs, nb::handle outs, const nb::dict& given, nb::handle device);

// Returns the shape and type of each output that is True, unless its entry in `dtypes` (dtype objects) or `shapes`
// (tuples) specifies them. Returns None for all other outputs, which are arrays, or None if absent.
nb::tuple infer_outputs(nb::handle op, nb::handle inputs, nb::handle outs, nb::handle dtypes, nb::handle shapes,
                        const nb::dict& attributes);

// Returns the results in a list. `same` lists inputs that share a type. `rules` has the known type and shape of each
// output.
nb::list run_on_device(nb::handle op, nb::handle inputs, nb::handle outs, const nb::dict& attributes, nb::handle device,
                       nb::handle same, nb::handle rules);

// Returns whether all arrays are NumPy arrays, some are CPU arrays from a different library, or one is on a GPU.
int array_kind(const nb::args& arrays);

// Returns the layouts of arrays on a GPU (see DeviceCall::layouts).
nb::tuple device_layouts(nb::handle arrays);

}  // namespace anydml::python
