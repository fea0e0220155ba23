// SPDX-License-Identifier: MIT
// The benchmark, which runs as `dmlrun bench`.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace anydml::bench {

// Parses the arguments (without a program name), runs the benchmark and prints the results. Returns the exit status: 0
// for success, 1 if a result was wrong or something failed, 2 for invalid arguments. `self` is the command that starts
// the benchmark in a new process. Measuring with a different number of threads requires a new process, because the
// library reads that setting only once.
int run(const std::vector<std::string>& arguments, const std::vector<std::string>& self);

// Adds the benchmark's options to a command that is never parsed, so that completion can read them.
void describe(CLI::App& app);
// Returns the values of the option whose placeholder in the help text is `name`, such as "LAYOUTS". The result is empty
// if they cannot be listed.
std::vector<std::string> option_values(const std::string& name);

}  // namespace anydml::bench
