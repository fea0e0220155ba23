// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace anydml::dmlrun {

// Returns a completion script for bash, zsh or fish, generated from the options themselves.
[[nodiscard]] std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace anydml::dmlrun
