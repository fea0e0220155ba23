// SPDX-License-Identifier: MIT
// The rules for one binding, whoever it is made for. Every check returns what is wrong, or an empty string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "directml/work.h"

namespace anydml {

inline constexpr std::uint64_t kResourceAlignment = 256;  // of temporary and persistent resources

// What a binding must fulfil, and how messages speak of it.
struct Requirement {
  const Work& work;
  std::string_view name;
  std::uint64_t bytes;
  std::uint64_t alignment;
  bool may_be_upload;
};

// The sentence about it: who, which binding, what.
[[nodiscard]] std::string wrong(const Requirement& requirement, const std::string& what);

// Takes one BUFFER binding. A null buffer means none; whether that may be is the caller's to say.
std::string take_buffer(const DmlCore& core, const Requirement& requirement, const DML_BUFFER_BINDING& given,
                        ResolvedDescriptor& binding);

// A binding of type BUFFER or NONE.
std::string take_binding(const DmlCore& core, const Requirement& requirement, const DML_BINDING_DESC& given,
                         ResolvedDescriptor& binding);

// At recording and submission: bound, alive, and still what it was.
std::string check_present(const DmlCore& core, const Requirement& requirement, const ResolvedDescriptor& binding);

[[nodiscard]] Requirement persistent_requirement(const Execution& target);
[[nodiscard]] Requirement temporary_requirement(const Work& work);

// The part of a binding that the operator may touch.
struct Area {
  std::uint64_t buffer;
  std::uint64_t first;
  std::uint64_t end;
};

[[nodiscard]] inline Area area_of(const ResolvedDescriptor& binding, std::uint64_t bytes) {
  return {binding.descriptor.buffer, binding.descriptor.offset, binding.descriptor.offset + bytes};
}

[[nodiscard]] inline bool intersect(const Area& a, const Area& b) {
  return a.buffer == b.buffer && a.first < b.end && b.first < a.end;
}
[[nodiscard]] inline bool identical(const Area& a, const Area& b) {
  return a.buffer == b.buffer && a.first == b.first && a.end == b.end;
}

}  // namespace anydml
