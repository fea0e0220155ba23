// SPDX-License-Identifier: MIT
// Compiles the file that includes this header once for each of Highway's targets. HWY_TARGET_INCLUDE names that file.
// Its code for each target is in namespace HWY_NAMESPACE, between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE, where
// ANYDML_TARGET is 1. This header has no include guard, because it is included again for each target.
//
// A function or template is compiled for the target in whose section it is written, no matter where it is instantiated.
// The scalar definitions are written outside these sections, so they may be called here: a copy that is not inlined
// runs on every machine, and the linker may keep the copy from any file. Code that is compiled for one target has that
// target's namespace in its name.

// Only tested targets are enabled: NEON, AVX2 and AVX-512. All of them have a fused multiply-add, which the correctness
// proof for the floating-point modulus requires.
// The option ANYDML_ONE_TARGET leaves out the targets that are not the best on the machine that compiles.
#undef ANYDML_LEFT_OUT
#if defined(ANYDML_WITHOUT_AVX2)
#define ANYDML_LEFT_OUT HWY_AVX2
#elif defined(ANYDML_WITHOUT_AVX512)
#define ANYDML_LEFT_OUT HWY_AVX3
#else
#define ANYDML_LEFT_OUT 0
#endif
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | ANYDML_LEFT_OUT)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#pragma GCC diagnostic pop

#undef ANYDML_TARGET
#if HWY_TARGET == HWY_NEON || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#define ANYDML_TARGET 1
#else
#define ANYDML_TARGET 0
#endif

// Calls a function in the namespace of the machine's target, or returns `otherwise` if no such target is enabled:
// ANYDML_FOR_TARGET(target, nullptr, find_kernel(type)).
#undef ANYDML_FOR_TARGET
#if defined(__aarch64__)
#define ANYDML_FOR_TARGET(target, otherwise, ...) ((target) == cpu::Target::neon ? N_NEON::__VA_ARGS__ : (otherwise))
#elif defined(__x86_64__) && defined(ANYDML_WITHOUT_AVX2)
#define ANYDML_FOR_TARGET(target, otherwise, ...) ((target) == cpu::Target::avx512 ? N_AVX3::__VA_ARGS__ : (otherwise))
#elif defined(__x86_64__) && defined(ANYDML_WITHOUT_AVX512)
#define ANYDML_FOR_TARGET(target, otherwise, ...) ((target) == cpu::Target::avx2 ? N_AVX2::__VA_ARGS__ : (otherwise))
#elif defined(__x86_64__)
#define ANYDML_FOR_TARGET(target, otherwise, ...)        \
  ((target) == cpu::Target::avx512 ? N_AVX3::__VA_ARGS__ \
   : (target) == cpu::Target::avx2 ? N_AVX2::__VA_ARGS__ \
                                   : (otherwise))
#else
#define ANYDML_FOR_TARGET(target, otherwise, ...) ((void)(target), (otherwise))
#endif
