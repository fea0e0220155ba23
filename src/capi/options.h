// SPDX-License-Identifier: MIT
// Reads a struct that the caller passes, which grows with the versions of the library.
#pragma once

#include "anydml/anydml.h"
#include "base/result.h"
#include "programs/programs.h"

namespace anydml {

// The options, in the form of this version. A null pointer, and members that an older program does not have, mean the
// defaults. Members of a newer program that are set and would be ignored are an error, and so are unknown flags.
[[nodiscard]] Result<anydml_options> read_options(const char* function, const anydml_options* given);

// The flags in the form that the layers below use.
[[nodiscard]] CompileOptions compile_options(const anydml_options& options);

}  // namespace anydml
