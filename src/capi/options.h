// SPDX-License-Identifier: MIT
// Reads the options that a caller passes. Newer versions of the library add members to the struct.
#pragma once

#include "anydml/anydml.h"
#include "base/result.h"
#include "programs/programs.h"

namespace anydml {

// Returns the options as this version's struct. A null pointer means the defaults, and members that an older program
// does not have also get their defaults. It is an error if a newer program sets members that this version would ignore,
// or sets unknown flags.
[[nodiscard]] Result<anydml_options> read_options(const char* function, const anydml_options* given);

// Converts the flags to the form that the lower layers use.
[[nodiscard]] CompileOptions compile_options(const anydml_options& options);

}  // namespace anydml
