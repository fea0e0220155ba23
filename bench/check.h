// SPDX-License-Identifier: MIT
// Results against arithmetic that is not the library's: the C library's fmod, and the compiler's integers.
#pragma once

#include <cstdint>
#include <string>

#include "cases.h"

namespace anydml::bench {

struct Check {
  std::uint64_t checked = 0;
  std::uint64_t wrong = 0;
  std::string first_wrong;  // a sentence
};

// Looks at `samples` elements or so, spread over the tensor with its first and last among them; all, if there are
// fewer.
Check check(const Case& of, const Placement& placement, const void* a, const void* b, const void* out,
            std::int64_t samples);

}  // namespace anydml::bench
