// SPDX-License-Identifier: MIT
// Checks that apply to every single binding, regardless of its purpose. Each check returns an error message, or an
// empty string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "directml/work.h"

namespace anydml {

inline constexpr std::uint64_t kResourceAlignment = 256;  // for temporary and persistent resources

// The requirements for a binding, and its name in messages.
struct Requirement {
  const Work& work;
  std::string_view name;
  std::uint64_t bytes;
  std::uint64_t alignment;
  bool may_be_upload;
};

// The complete error message, which names the object, the binding and the reason.
[[nodiscard]] std::string wrong(const Requirement& requirement, const std::string& what);

// Reads one BUFFER binding. A null buffer means no binding; the caller decides whether that is allowed. A size of 0,
// which samples leave in the struct, means the rest of the buffer if bytes are needed.
std::string take_buffer(DmlCore& core, const Requirement& requirement, const DML_BUFFER_BINDING& given,
                        ResolvedDescriptor& binding);

// Reads a binding of type BUFFER or NONE.
std::string take_binding(DmlCore& core, const Requirement& requirement, const DML_BINDING_DESC& given,
                         ResolvedDescriptor& binding);

// Used at recording and at submission. The binding must be present and unchanged, and its buffer must still exist.
std::string check_present(const DmlCore& core, const Requirement& requirement, const ResolvedDescriptor& binding);

[[nodiscard]] Requirement persistent_requirement(const Execution& target);
[[nodiscard]] Requirement temporary_requirement(const Work& work);

// The part of a binding that the operator may access.
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
