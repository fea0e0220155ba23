// SPDX-License-Identifier: MIT
// The benchmark, which is a command of dmlrun.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace anydml::bench {

// Parses the arguments (without a program name), measures, prints; returns the exit status: 0, 1 where a result was
// wrong or something failed, 2 for arguments that are not understood. `self` starts the same benchmark again in a
// process of its own, which a number of threads needs: the library reads that once.
int run(const std::vector<std::string>& arguments, const std::vector<std::string>& self);

// Adds its options to a command that is only looked at: completion reads them.
void describe(CLI::App& app);
// What an option takes whose values the help calls by that name, "LAYOUTS"; none where they cannot be listed.
std::vector<std::string> option_values(const std::string& name);

}  // namespace anydml::bench
