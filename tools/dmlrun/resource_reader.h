// SPDX-License-Identifier: MIT
// A model's buffers: what they hold at first, and how large they are.
#pragma once

#include "cursor.h"
#include "files.h"
#include "model.h"

namespace anydml::dmlrun {

[[nodiscard]] Resource read_resource(const Cursor& at, std::string_view name, const Folders& folders);
// Out of an object whose other members were asked for before.
[[nodiscard]] Resource read_resource(Members& members, std::string_view name, const Folders& folders);

}  // namespace anydml::dmlrun
