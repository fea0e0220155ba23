// SPDX-License-Identifier: MIT
// Streams as CUDA has them and DLPack numbers them. No other file knows these numbers.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace anydml::python::cuda_streams {

inline constexpr std::int64_t kNone = -1;    // the array as it is, whatever work on it is pending
inline constexpr std::int64_t kDefault = 1;  // the legacy default stream; 2 would be that of the thread

// The argument of __dlpack__. ordered: the default stream waits for the pending work on the array.
inline nanobind::object argument(bool ordered) { return nanobind::int_(ordered ? kDefault : kNone); }

// The default stream, which always exists, by its number or by a null handle.
inline bool is_default(const void* stream) {
  return reinterpret_cast<std::uintptr_t>(stream) <= static_cast<std::uintptr_t>(kDefault);
}

}  // namespace anydml::python::cuda_streams
