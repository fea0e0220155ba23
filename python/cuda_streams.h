// SPDX-License-Identifier: MIT
// DLPack's numbers for CUDA streams. No other file depends on these numbers.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace anydml::python::cuda_streams {

inline constexpr std::int64_t kNone = -1;    // do not wait for pending work on the array
inline constexpr std::int64_t kDefault = 1;  // the legacy default stream; 2 is the per-thread default stream

// The stream argument for __dlpack__. If `ordered` is true, the default stream waits for pending work on the array.
inline nanobind::object argument(bool ordered) { return nanobind::int_(ordered ? kDefault : kNone); }

// Whether the handle is null or the number of the default stream, which always exists.
inline bool is_default(const void* stream) {
  return reinterpret_cast<std::uintptr_t>(stream) <= static_cast<std::uintptr_t>(kDefault);
}

}  // namespace anydml::python::cuda_streams
