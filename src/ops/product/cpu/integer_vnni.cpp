// SPDX-License-Identifier: MIT
// Kernels that use VPDPBUSD, which multiplies four unsigned bytes by four signed bytes and adds the products to a
// 32-bit sum without saturation. A group of four bytes from a row of A is multiplied by all columns of a vector.
// Functions that use this instruction are called only on machines that support it.
#include "ops/product/cpu/integer_kernels.h"
#include "ops/product/cpu/integer_quads.h"
#include "ops/product/cpu/integer_row_dots.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#define ANYDML_INLINE __attribute__((always_inline)) inline
#if defined(__clang__)
#define ANYDML_ALL_ROWS _Pragma("clang loop unroll(full)")
#else
#define ANYDML_ALL_ROWS _Pragma("GCC unroll 16")
#endif

namespace anydml {
namespace {

constexpr std::size_t kGroup = 4;
// The sums, two vectors of B and one vector of A fit into 32 registers with 64-byte vectors, and into 16 registers with
// 32-byte vectors.
constexpr std::size_t kRowsOf64 = 12;
constexpr std::size_t kRowsOf32 = 6;

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512vnni"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512vnni")
#endif
namespace of_64_bytes {
using Vector = __m512i;
ANYDML_INLINE Vector load(const void* from) { return _mm512_loadu_si512(from); }
ANYDML_INLINE void store(void* to, Vector x) { _mm512_storeu_si512(to, x); }
ANYDML_INLINE Vector in_all_lanes(int x) { return _mm512_set1_epi32(x); }
ANYDML_INLINE Vector add(Vector a, Vector b) { return _mm512_add_epi32(a, b); }
ANYDML_INLINE Vector add_dot(Vector sum, Vector a, Vector b) { return _mm512_dpbusd_epi32(sum, a, b); }
#include "ops/product/cpu/integer_vnni-inl.h"
}  // namespace of_64_bytes
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,avxvnni"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,avxvnni")
#endif
namespace of_32_bytes {
using Vector = __m256i;
ANYDML_INLINE Vector load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i_u*>(from)); }
ANYDML_INLINE void store(void* to, Vector x) { _mm256_storeu_si256(static_cast<__m256i_u*>(to), x); }
ANYDML_INLINE Vector in_all_lanes(int x) { return _mm256_set1_epi32(x); }
ANYDML_INLINE Vector add(Vector a, Vector b) { return _mm256_add_epi32(a, b); }
ANYDML_INLINE Vector add_dot(Vector sum, Vector a, Vector b) { return _mm256_dpbusd_avx_epi32(sum, a, b); }
#include "ops/product/cpu/integer_vnni-inl.h"
}  // namespace of_32_bytes
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

constexpr auto kDotsOf64 = of_64_bytes::all_dots<kGroup>(std::make_index_sequence<kRowsOf64>());
constexpr auto kDotsOf32 = of_32_bytes::all_dots<kGroup>(std::make_index_sequence<kRowsOf32>());
constexpr auto kDotsInBlocks = of_64_bytes::all_dots<kVnniBlock>(std::make_index_sequence<kVnniBlockRows>());
constexpr IntegerKernels kKernelsOf64 = {.name = "VPDPBUSD",
                                         .strip = kRowsOf64,
                                         .row_unit = 1,
                                         .panel = 32,
                                         .group = kGroup,
                                         .row_block = kGroup,
                                         .unsigned_a = true,
                                         .blocks = kDotsOf64.data(),
                                         .quads = &kVnniQuads,
                                         .dots = &kVnniDots,
                                         .row = multiply_vnni_row};
constexpr IntegerKernels kKernelsOf32 = {.name = "VPDPBUSD",
                                         .strip = kRowsOf32,
                                         .row_unit = 1,
                                         .panel = 16,
                                         .group = kGroup,
                                         .row_block = kGroup,
                                         .unsigned_a = true,
                                         .blocks = kDotsOf32.data(),
                                         .quads = nullptr,
                                         .dots = nullptr,
                                         .row = of_32_bytes::multiply_row};

}  // namespace

void multiply_vnni_row(const IntegerRowArguments& arguments) noexcept { of_64_bytes::multiply_row(arguments); }

void multiply_vnni_blocks(std::size_t rows, const IntegerBlockArguments& arguments, std::int64_t strips) noexcept {
  kDotsInBlocks[rows - 1](arguments, strips);
}

// The targets guarantee AVX2 and AVX-512, including operating system support for their registers. The instruction
// requires nothing else.
const IntegerKernels* avx_vnni_kernels() {
  constexpr unsigned kAvxVnni = 1U << 4;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  __builtin_cpu_init();
  const bool has_it =
      __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & kAvxVnni) != 0;
  return has_it ? &kKernelsOf32 : nullptr;
}
const IntegerKernels* avx512_vnni_kernels() {
  __builtin_cpu_init();
  const bool has_it =
      __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  return has_it ? &kKernelsOf64 : nullptr;
}

}  // namespace anydml

#else

namespace anydml {

const IntegerKernels* avx_vnni_kernels() { return nullptr; }
const IntegerKernels* avx512_vnni_kernels() { return nullptr; }

}  // namespace anydml

#endif
