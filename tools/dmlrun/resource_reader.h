// SPDX-License-Identifier: MIT
// Reads a model's buffers: their initial values and their sizes.
#pragma once

#include "cursor.h"
#include "files.h"
#include "model.h"

namespace anydml::dmlrun {

[[nodiscard]] Resource read_resource(const Cursor& at, std::string_view name, const Folders& folders);
// Reads a buffer from an object whose other members were already requested.
[[nodiscard]] Resource read_resource(Members& members, std::string_view name, const Folders& folders);

}  // namespace anydml::dmlrun
