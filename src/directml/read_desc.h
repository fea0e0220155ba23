// SPDX-License-Identifier: MIT
#pragma once

#include "base/result.h"
#include "directml/headers.h"
#include "schema/described.h"

namespace anydml {

Result<schema::Described> read_described(const DML_OPERATOR_DESC& desc, const facts::Operator& op);

}  // namespace anydml
