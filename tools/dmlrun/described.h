// SPDX-License-Identifier: MIT
// From an operator as a model has it to the form that the schema judges.
#pragma once

#include <functional>

#include "model.h"
#include "schema/described.h"

namespace anydml::dmlrun {

// Attributes for which `is_unread` says true are left out: what could not be read is wrong for one reason already.
[[nodiscard]] schema::Described describe(const OperatorModel& model,
                                         const std::function<bool(const facts::Field&)>& is_unread);

}  // namespace anydml::dmlrun
