// SPDX-License-Identifier: MIT
// A struct of the caller's that grows with the versions of the library.
#pragma once

#include "anydml/anydml.h"
#include "base/result.h"
#include "programs/programs.h"

namespace anydml {

// The options as this version knows them. Null, and the members that an older program does not have, are the defaults;
// an error for members of a newer program that are set and would be ignored, and for unknown flags.
[[nodiscard]] Result<anydml_options> read_options(const char* function, const anydml_options* given);

// The flags, as the layers below know them.
[[nodiscard]] CompileOptions compile_options(const anydml_options& options);

}  // namespace anydml
