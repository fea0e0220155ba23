// SPDX-License-Identifier: MIT
// How an object that is being debugged describes itself in reports about live objects.
#pragma once

#include <wsl/winadapter.h>

#include <cstddef>
#include <string_view>

#include "base/quoted.h"
#include "com/refused_interface.h"

namespace anydml {

struct LiveState {
  ULONG references;
  char name[kMaxQuotedBytes + 8];  // with a terminator; empty if the object has no name
};

struct LiveObject {
  const void* object;
  const void* address;  // the pointer that the application has
  std::string_view type;
  void (*describe)(const void* object, LiveState& state) noexcept;
};

// An interface without its version: "ID3D12Device" for ID3D12Device9.
template <class Interface>
[[nodiscard]] constexpr std::string_view unversioned_name() {
  const std::string_view name = interface_name<Interface>();
  return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

// T must have a method describe_live(LiveState&) that is safe while a class derived from T is being constructed or
// destroyed.
template <class Interface, class T>
[[nodiscard]] LiveObject live_object(const T& object) noexcept {
  return {.object = &object,
          .address = static_cast<const Interface*>(&object),
          .type = unversioned_name<Interface>(),
          .describe = [](const void* which, LiveState& state) noexcept {
            static_cast<const T*>(which)->describe_live(state);
          }};
}

}  // namespace anydml
