// SPDX-License-Identifier: MIT
// Initial checks and conversions for the C functions' arguments.
#pragma once

#include <string_view>

#include "anydml/anydml.h"
#include "base/result.h"
#include "capi/call.h"
#include "capi/devices.h"
#include "ops/op_desc.h"

namespace anydml {

// An error with the message "who: text".
[[nodiscard]] Error bad_call(std::string_view who, std::string_view text);

// anydml_device is never defined: the public handle is a Device under its C name.
[[nodiscard]] inline const anydml_device* to_public(const Device* device) {
  return reinterpret_cast<const anydml_device*>(device);
}

// `wanted` is null for the default device.
[[nodiscard]] Result<const Device*> choose_device(const anydml_device* wanted);

// Looks up an operator by a name that may be null or wrong.
[[nodiscard]] Result<const facts::Operator*> choose_operator(const char* name);

// Checks an array pointer, which may be null only if the array has no elements.
[[nodiscard]] Status check_array(std::string_view who, std::string_view name, const void* array, std::size_t count,
                                 std::string_view of);

// Checks the operator that a call describes.
[[nodiscard]] Result<OpDesc> check(const Call& call);

}  // namespace anydml
