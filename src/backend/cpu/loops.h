// SPDX-License-Identifier: MIT
// Promises about loops that help compilers vectorize them.
#pragma once

// Placed before a loop: no iteration reads memory that another iteration writes.
#if defined(__clang__)
#define ANYDML_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define ANYDML_INDEPENDENT _Pragma("GCC ivdep")
#else
#define ANYDML_INDEPENDENT
#endif
