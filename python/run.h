// SPDX-License-Identifier: MIT
// Runs any operator by its name, over arrays in CPU memory or on a GPU.
#pragma once

#include "errors.h"
#include "python_api.h"

namespace anydml::python {

void run_operator(nb::handle op, nb::handle inputs, nb::handle outs, const nb::dict& given, nb::handle device);

// For each output that is True, returns its shape and type, unless its entry in `dtypes` (dtype objects) or `shapes`
// (tuples) gives them. For all other outputs, which are arrays, or None if absent, returns None.
nb::tuple infer_outputs(nb::handle op, nb::handle inputs, nb::handle outs, nb::handle dtypes, nb::handle shapes,
                        const nb::dict& attributes);

// Returns the results in a list. same: inputs that share a type. rules: the known type and shape of each output.
nb::list run_on_device(nb::handle op, nb::handle inputs, nb::handle outs, const nb::dict& attributes, nb::handle device,
                       nb::handle same, nb::handle rules);

// Whether all arrays are NumPy's, some belong to another library in CPU memory, or one is on a GPU.
int array_kind(const nb::args& arrays);

// The layouts of arrays on a GPU: see DeviceCall::layouts.
nb::tuple device_layouts(nb::handle arrays);

}  // namespace anydml::python
