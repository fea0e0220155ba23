// SPDX-License-Identifier: MIT
// The sanitizers of this build. Under them, tests do less work and skip operations that a sanitizer does not allow.
#pragma once

namespace anydml::test {

#if defined(__has_feature)
#define ANYDML_HAS_FEATURE(feature) __has_feature(feature)
#else
#define ANYDML_HAS_FEATURE(feature) 0
#endif

#if defined(__SANITIZE_THREAD__) || ANYDML_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

#if defined(__SANITIZE_ADDRESS__) || ANYDML_HAS_FEATURE(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

inline constexpr bool kSanitized = kThreadSanitizer || kAddressSanitizer;

#undef ANYDML_HAS_FEATURE

}  // namespace anydml::test
