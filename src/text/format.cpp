// SPDX-License-Identifier: MIT
#include "text/format.h"

#include <fmt/format.h>

namespace anydml {

std::string format_erased(fmt::string_view pattern, fmt::format_args values) { return fmt::vformat(pattern, values); }

}  // namespace anydml
