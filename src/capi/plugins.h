// SPDX-License-Identifier: MIT
// Loads backends from separate libraries, libanydml-NAME.so, in our own folder or in the folder that ANYDML_PLUGINS
// names.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"

namespace anydml {

struct Plugins {
  std::vector<const BackendTable*> backends;
  // For each unavailable plugin, a message that explains why, for callers that request one of its devices.
  std::vector<std::string> notes;
};

// Loads the available plugins, which stay loaded until the process exits. An incompatible plugin produces a note. A
// requested folder that cannot be read is an error. Must not be called by several threads at the same time.
Result<Plugins> load_plugins(const std::string& setting);

// Returns a message if this table was built for a different version of anydml, and an empty string if it is compatible.
[[nodiscard]] std::string why_not_ours(const BackendTable& table);

}  // namespace anydml
