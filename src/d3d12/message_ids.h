// SPDX-License-Identifier: MIT
// The ids and categories of messages, so that filters can distinguish them. A message begins with the method that it
// concerns.
#pragma once

#include <string_view>

#include "d3d12/headers.h"

namespace anydml {

struct MessageId {
  D3D12_MESSAGE_ID id;
  D3D12_MESSAGE_CATEGORY category;
};

// Returns UNKNOWN and MISCELLANEOUS if the message does not begin with a known method or interface.
[[nodiscard]] MessageId find_message_id(std::string_view text) noexcept;

}  // namespace anydml
