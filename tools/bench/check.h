// SPDX-License-Identifier: MIT
// Checks results against an independent computation. The modulus is checked against the C library's fmod and the
// compiler's integer arithmetic. Every other row is checked against the library's plain kernels, which are the
// definitions, run with one thread in a separate process. The tests check the plain kernels against arithmetic that is
// independent of the library.
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
  std::string first_wrong;  // the message for the first wrong element
};

// Checks about `samples` elements, spread over the tensor and including its first and last, or all elements if the
// tensor has fewer. For a reduction it checks some outputs, and for a fill all outputs.
Check check(const Case& of, const Placement& placement, std::span<const void* const> inputs, const void* out,
            std::int64_t samples, Reference& reference);

// Checks packed results, computed from packed inputs, against the reference.
Check check_packed(const Row& row, anydml_type type, const Placement& placement,
                   std::span<const std::vector<std::byte>> inputs, std::span<const std::byte> out,
                   Reference& reference);

// Checks the modulus only, which needs no reference.
Check check_modulus(const Case& of, const Placement& placement, const void* a, const void* b, const void* out,
                    std::int64_t samples);

}  // namespace anydml::bench
