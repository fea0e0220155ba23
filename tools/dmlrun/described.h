// SPDX-License-Identifier: MIT
// Converts an operator from a model into the form that the schema checks.
#pragma once

#include <functional>

#include "model.h"
#include "schema/described.h"

namespace anydml::dmlrun {

// Leaves out attributes if `is_unread` returns true for them, because their errors were already reported.
[[nodiscard]] schema::Described describe(const OperatorModel& model,
                                         const std::function<bool(const facts::Field&)>& is_unread);

}  // namespace anydml::dmlrun
