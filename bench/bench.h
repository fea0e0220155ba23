// SPDX-License-Identifier: MIT
// The benchmark, which is a command of dmlrun.
#pragma once

#include <string>
#include <vector>

namespace anydml::bench {

// Parses the arguments (without a program name), measures, prints; returns the exit status: 0, 1 where a result was
// wrong or something failed, 2 for arguments that are not understood. `self` starts the same benchmark again in a
// process of its own, which a number of threads needs: the library reads that once.
int run(const std::vector<std::string>& arguments, const std::vector<std::string>& self);

}  // namespace anydml::bench
