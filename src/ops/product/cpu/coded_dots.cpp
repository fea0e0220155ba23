// SPDX-License-Identifier: MIT
#include "ops/product/cpu/coded_dots.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"
#include "ops/product/cpu/prefetch.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define ANYDML_INLINE __attribute__((always_inline)) inline
#if defined(__clang__)
#define ANYDML_ALL _Pragma("clang loop unroll(full)")
#else
#define ANYDML_ALL _Pragma("GCC unroll 32")
#endif

namespace anydml {

namespace {

// ---- Portable code --------------------------------------------------------------------------------------------------

void make_codes_by_definition(const CodedForm& form, const f32* numbers, const ActivationRow& row) noexcept {
  for (std::int64_t block = 0; block < form.blocks(); ++block) {
    const std::int64_t first = block * form.block;
    const std::int64_t end = std::min(form.depth, first + form.block);
    const u32 largest = largest_in_rest(numbers, first, end, 0);
    const f32 factor = activation_factor(largest);
    row.scales[block] = activation_scale(largest);
    row.sums[block] = 0;
    for (std::int64_t k = first; k < end; k += kCodesOfWord) {
      row.sums[block] += make_rest(numbers, k, std::min(end, k + kCodesOfWord), factor, row);
    }
  }
}

template <std::size_t kRows>
void multiply_by_definition(const CodedForm& form, const ActivationRow* rows, const std::byte* packed,
                            std::int64_t column, std::int64_t columns, f32* totals, std::int64_t totals_step) noexcept {
  for (std::int64_t i = 0; i < columns; ++i) {
    const CodedPanel panel = coded_panel(form, packed, (column + i) / form.width);
    const std::int64_t of_panel = (column + i) % form.width;
    for (std::size_t row = 0; row < kRows; ++row) {
      f32 total = 0;
      for (std::int64_t block = 0; block < form.blocks(); ++block) {
        const std::int64_t end = std::min(form.depth, (block + 1) * form.block);
        const i32 zero = stored_zero(form, panel, block, of_panel);
        i32 sum = 0;
        for (std::int64_t k = block * form.block; k < end; ++k) {
          const std::int64_t in_group = k % kCodesOfWord;
          u32 word;
          std::memcpy(&word, panel.codes + (k / kCodesOfWord * form.width + of_panel) * 4, sizeof(word));
          const auto code = static_cast<i32>(word >> (4 * in_group) & 15U);
          sum += rows[row].codes[k - in_group + in_group / 2 + in_group % 2 * (kCodesOfWord / 2)] * (code - zero);
        }
        const std::int64_t at = block * form.width + of_panel;
        total = add_block_of_codes(sum, rows[row].scales[block], coded_scale(form, panel, at), total);
      }
      totals[static_cast<std::int64_t>(row) * totals_step + i] = total;
    }
  }
}

constexpr CodedDotKernels kPortable = {
    .name = "portable",
    .make_codes = make_codes_by_definition,
    .rows = {multiply_by_definition<1>, multiply_by_definition<2>, multiply_by_definition<3>, multiply_by_definition<4>,
             multiply_by_definition<5>, multiply_by_definition<6>}};

#if defined(__x86_64__)

// ---- AVX-512 with VPDPBUSD ------------------------------------------------------------------------------------------

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512vnni,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512vnni,f16c")
#endif
namespace of_64_bytes {
using Vector = __m512i;
using Floats = __m512;
constexpr __mmask16 kAll = 0xffff;  // GCC warns about the undefined lanes of the same functions without masks
constexpr std::size_t kColumns = 16;
constexpr std::size_t kVectorsOfRows[] = {4, 4, 4, 4, 4, 4};
ANYDML_INLINE Vector load(const u32* from) { return _mm512_loadu_si512(from); }
ANYDML_INLINE Vector low_half(Vector x) { return _mm512_and_si512(x, _mm512_set1_epi32(0x0f0f0f0f)); }
ANYDML_INLINE Vector high_half(Vector x) { return low_half(_mm512_maskz_srli_epi32(kAll, x, 4)); }
ANYDML_INLINE Vector in_all_lanes(int x) { return _mm512_set1_epi32(x); }
// The instruction itself loads four codes into all lanes. Compilers load them first instead, which takes more registers
// than there are.
using FourCodes = const i8*;
ANYDML_INLINE FourCodes four_codes(const i8* codes) { return codes; }
ANYDML_INLINE Vector add_dots(Vector sum, Vector weights, FourCodes codes) {
  struct Four {
    i8 codes[4];
  };
  asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(weights), "m"(*reinterpret_cast<const Four*>(codes)));
  return sum;
}
ANYDML_INLINE Vector subtract_product(Vector sum, Vector x, Vector y) {
  return _mm512_sub_epi32(sum, _mm512_mullo_epi32(x, y));
}
ANYDML_INLINE Floats no_floats() { return _mm512_setzero_ps(); }
ANYDML_INLINE Floats load_scales(const CodedForm& form, const std::byte* scales, std::int64_t at) {
  return form.half_scales == 0
             ? _mm512_loadu_ps(scales + at * 4)
             : _mm512_maskz_cvtph_ps(kAll, _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(scales + at * 2)));
}
ANYDML_INLINE Vector load_zeros(const std::byte* zeros) {
  return _mm512_maskz_cvtepu8_epi32(kAll, _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(zeros)));
}
ANYDML_INLINE Floats times(Floats x, f32 y) { return _mm512_mul_ps(x, _mm512_set1_ps(y)); }
ANYDML_INLINE Floats add_block(Floats total, Vector sum, Floats factor) {
  return _mm512_fmadd_ps(_mm512_maskz_cvtepi32_ps(kAll, sum), factor, total);
}
ANYDML_INLINE void store(f32* to, Floats x) { _mm512_storeu_ps(to, x); }
#include "ops/product/cpu/coded_dots-inl.h"
}  // namespace of_64_bytes
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif

// ---- AVX2 -----------------------------------------------------------------------------------------------------------

namespace of_32_bytes {
using Vector = __m256i;
using Floats = __m256;
constexpr std::size_t kColumns = 8;
constexpr std::size_t kVectorsOfRows[] = {2, 2, 2, 1, 1, 1};
ANYDML_INLINE Vector load(const u32* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(from)); }
ANYDML_INLINE Vector low_half(Vector x) { return _mm256_and_si256(x, _mm256_set1_epi32(0x0f0f0f0f)); }
ANYDML_INLINE Vector high_half(Vector x) { return low_half(_mm256_srli_epi32(x, 4)); }
ANYDML_INLINE Vector in_all_lanes(int x) { return _mm256_set1_epi32(x); }
using FourCodes = Vector;
ANYDML_INLINE FourCodes four_codes(const i8* codes) {
  int four;
  std::memcpy(&four, codes, sizeof(four));
  return in_all_lanes(four);
}
// The sums of two products fit into 16 bits: 2 * 15 * 127.
ANYDML_INLINE Vector add_dots(Vector sum, Vector weights, FourCodes codes) {
  const Vector pairs = _mm256_maddubs_epi16(weights, codes);
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
ANYDML_INLINE Vector subtract_product(Vector sum, Vector x, Vector y) {
  return _mm256_sub_epi32(sum, _mm256_mullo_epi32(x, y));
}
ANYDML_INLINE Floats no_floats() { return _mm256_setzero_ps(); }
ANYDML_INLINE Floats load_scales(const CodedForm& form, const std::byte* scales, std::int64_t at) {
  return form.half_scales == 0 ? _mm256_loadu_ps(reinterpret_cast<const f32*>(scales + at * 4))
                               : _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i_u*>(scales + at * 2)));
}
ANYDML_INLINE Vector load_zeros(const std::byte* zeros) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(zeros)));
}
ANYDML_INLINE Floats times(Floats x, f32 y) { return _mm256_mul_ps(x, _mm256_set1_ps(y)); }
ANYDML_INLINE Floats add_block(Floats total, Vector sum, Floats factor) {
  return _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), factor, total);
}
ANYDML_INLINE void store(f32* to, Floats x) { _mm256_storeu_ps(to, x); }
#include "ops/product/cpu/coded_dots-inl.h"

using Eight = __m256i;
ANYDML_INLINE Eight no_integers() { return _mm256_setzero_si256(); }
ANYDML_INLINE Eight larger(Eight x, const f32* numbers) {
  const Eight bits = _mm256_castps_si256(_mm256_loadu_ps(numbers));
  return _mm256_max_epi32(x, _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff)));
}
ANYDML_INLINE Eight codes_of(const f32* numbers, f32 factor) {
  const __m256 shift = _mm256_set1_ps(kRoundingShift);
  const __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(numbers), _mm256_set1_ps(factor));
  return _mm256_cvttps_epi32(_mm256_sub_ps(_mm256_add_ps(scaled, shift), shift));
}
ANYDML_INLINE Eight add(Eight x, Eight y) { return _mm256_add_epi32(x, y); }
ANYDML_INLINE u32 largest_of(Eight x) {
  __m128i half = _mm_max_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0x4e));
  return static_cast<u32>(_mm_cvtsi128_si32(_mm_max_epi32(half, _mm_shuffle_epi32(half, 0xb1))));
}
ANYDML_INLINE i32 sum_of(Eight x) {
  __m128i half = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1)));
}
ANYDML_INLINE void store_codes(i8* to, Eight codes) {
  const __m128i pairs = _mm_packs_epi32(_mm256_castsi256_si128(codes), _mm256_extracti128_si256(codes, 1));
  const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 2, 6, 10, 14, -1, -1, -1, -1, -1, -1, -1, -1);
  _mm_storel_epi64(reinterpret_cast<__m128i_u*>(to), _mm_shuffle_epi8(pairs, order));
}
#include "ops/product/cpu/activation_codes-inl.h"
}  // namespace of_32_bytes
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

constexpr CodedDotKernels kOf64 = {
    .name = "VPDPBUSD",
    .make_codes = of_32_bytes::make_codes,
    .rows = {of_64_bytes::multiply_codes<1>, of_64_bytes::multiply_codes<2>, of_64_bytes::multiply_codes<3>,
             of_64_bytes::multiply_codes<4>, of_64_bytes::multiply_codes<5>, of_64_bytes::multiply_codes<6>}};
constexpr CodedDotKernels kOf32 = {
    .name = "VPMADDUBSW",
    .make_codes = of_32_bytes::make_codes,
    .rows = {of_32_bytes::multiply_codes<1>, of_32_bytes::multiply_codes<2>, of_32_bytes::multiply_codes<3>,
             of_32_bytes::multiply_codes<4>, of_32_bytes::multiply_codes<5>, of_32_bytes::multiply_codes<6>}};

const CodedDotKernels* machine_kernels(cpu::Target target) {
  if (target == cpu::Target::generic) {
    return nullptr;
  }
  __builtin_cpu_init();
  const bool has_dots =
      __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  return target == cpu::Target::avx512 && has_dots ? &kOf64 : &kOf32;
}

#elif defined(__aarch64__)

const CodedDotKernels* machine_kernels(cpu::Target target) {
  return target == cpu::Target::neon ? neon_coded_dots() : nullptr;
}

#else

const CodedDotKernels* machine_kernels(cpu::Target) { return nullptr; }

#endif

}  // namespace

const CodedDotKernels& coded_dot_kernels(cpu::Target target) {
  const CodedDotKernels* const found = machine_kernels(target);
  return found != nullptr ? *found : kPortable;
}

}  // namespace anydml
