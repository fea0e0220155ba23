// SPDX-License-Identifier: MIT
#include "d3d12/message_ids.h"

#include <algorithm>
#include <iterator>

namespace anydml {
namespace {

struct Entry {
  std::string_view method;
  std::string_view part;
  MessageId id;
};

constexpr Entry kEntries[] = {
#define ANYDML_MESSAGE_ID(method, part, category, id) \
  {method, part, {static_cast<D3D12_MESSAGE_ID>(id), D3D12_MESSAGE_CATEGORY_##category}},
#include "d3d12/message_ids.def"
#undef ANYDML_MESSAGE_ID
};

// The method with which a message begins, such as "ID3D12Device::CreateHeap".
std::string_view method_of(std::string_view text) {
  const auto is_part_of_name = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == ':';
  };
  text = text.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_part_of_name) - text.begin()));
  return text.ends_with(':') ? text.substr(0, text.size() - 1) : text;
}

}  // namespace

MessageId find_message_id(std::string_view text) noexcept {
  const std::string_view method = method_of(text);
  const std::string_view of = method.substr(0, method.find("::"));
  const auto* const found = std::ranges::find_if(kEntries, [&](const Entry& entry) {
    return (entry.method == method || entry.method == of) && text.find(entry.part) != std::string_view::npos;
  });
  return found != std::end(kEntries) ? found->id
                                     : MessageId{D3D12_MESSAGE_ID_UNKNOWN, D3D12_MESSAGE_CATEGORY_MISCELLANEOUS};
}

}  // namespace anydml
