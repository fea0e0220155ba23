// SPDX-License-Identifier: MIT
// Backends in libraries of their own, libanydml-NAME.so, found in our own folder or where ANYDML_PLUGINS says.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"

namespace anydml {

struct Plugins {
  std::vector<const BackendTable*> backends;
  // Why others are not there, a sentence each, for whoever asks for one of their devices.
  std::vector<std::string> notes;
};

// Loads what there is; it stays for the life of the process. A plugin that does not fit is a note, a folder that was
// asked for and cannot be read an error. One call at a time.
Result<Plugins> load_plugins(const std::string& setting);

// Empty, or how this table was built for another version of anydml.
[[nodiscard]] std::string why_not_ours(const BackendTable& table);

}  // namespace anydml
