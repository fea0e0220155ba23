// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace anydml::dmlrun {

// A script for bash, zsh or fish, made from the options themselves.
[[nodiscard]] std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace anydml::dmlrun
