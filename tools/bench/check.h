// SPDX-License-Identifier: MIT
// Results against others. Of the modulus: the C library's fmod and the compiler's integers. Of every other row: the
// library's plain kernels, which are the definitions, by one thread in a process of its own; the tests hold those
// against arithmetic that is not the library's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cases.h"
#include "reference.h"

namespace anydml::bench {

struct Check {
  std::uint64_t checked = 0;
  std::uint64_t wrong = 0;
  std::string first_wrong;  // a sentence
};

// Looks at `samples` elements or so, spread over the tensor with its first and last among them; all, if there are
// fewer. Of a reduction it looks at some outputs; of a fill at all.
Check check(const Case& of, const Placement& placement, std::span<const void* const> inputs, const void* out,
            std::int64_t samples, Reference& reference);

// Results and what they were computed of, both packed, against the reference.
Check check_packed(const Row& row, anydml_type type, const Placement& placement,
                   std::span<const std::vector<std::byte>> inputs, std::span<const std::byte> out,
                   Reference& reference);

// The modulus alone, which needs no reference.
Check check_modulus(const Case& of, const Placement& placement, const void* a, const void* b, const void* out,
                    std::int64_t samples);

}  // namespace anydml::bench
