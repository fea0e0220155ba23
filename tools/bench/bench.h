// SPDX-License-Identifier: MIT
// The benchmark, a command of dmlrun.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace anydml::bench {

// Parses the arguments (without a program name), measures and prints. Returns the exit status: 0, 1 if a result was
// wrong or something failed, 2 for invalid arguments. `self` is the command that starts the same benchmark in a new
// process. To measure with another number of threads, a new process is needed, because the library reads that setting
// only once.
int run(const std::vector<std::string>& arguments, const std::vector<std::string>& self);

// Adds the benchmark's options to a command that is never parsed, so that completion can read them.
void describe(CLI::App& app);
// The values of an option whose help text calls them `name`, such as "LAYOUTS"; empty if they cannot be listed.
std::vector<std::string> option_values(const std::string& name);

}  // namespace anydml::bench
