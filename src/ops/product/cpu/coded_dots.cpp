// SPDX-License-Identifier: MIT
#include "ops/product/cpu/coded_dots.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define ANYDML_INLINE __attribute__((always_inline)) inline
#if defined(__clang__)
#define ANYDML_ALL _Pragma("clang loop unroll(full)")
#else
#define ANYDML_ALL _Pragma("GCC unroll 16")
#endif

namespace anydml {

void make_activation_codes(const CodedForm& form, const f32* numbers, const ActivationRow& row) noexcept {
  std::memset(row.codes, 0, static_cast<std::size_t>(ActivationRow::padded(form)));
  for (std::int64_t block = 0; block < form.blocks(); ++block) {
    const std::int64_t first = block * form.block;
    const std::int64_t end = std::min(form.depth, first + form.block);
    u32 largest = 0;
    for (std::int64_t k = first; k < end; ++k) {
      largest = std::max(largest, magnitude_bits(numbers[k]));
    }
    const f32 factor = activation_factor(largest);
    row.scales[block] = activation_scale(largest);
    row.sums[block] = 0;
    if (factor == 0) {
      continue;
    }
    i32 sum = 0;
    std::int64_t k = first;
    for (; k + kCodesOfWord <= end; k += kCodesOfWord) {  // `first` is a multiple of eight
      i32 codes[kCodesOfWord];
      for (std::int64_t i = 0; i < kCodesOfWord; ++i) {
        codes[i] = activation_code(numbers[k + i], factor);
      }
      for (std::int64_t i = 0; i < kCodesOfWord; ++i) {
        sum += codes[i];
        row.codes[k + i / 2 + i % 2 * (kCodesOfWord / 2)] = static_cast<i8>(codes[i]);
      }
    }
    for (; k < end; ++k) {
      const i32 code = activation_code(numbers[k], factor);
      const std::int64_t i = k % kCodesOfWord;
      sum += code;
      row.codes[k - i + i / 2 + i % 2 * (kCodesOfWord / 2)] = static_cast<i8>(code);
    }
    row.sums[block] = sum;
  }
}

namespace {

// ---- Portable code --------------------------------------------------------------------------------------------------

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

constexpr CodedDotKernels kPortable = {.name = "portable",
                                       .rows = {multiply_by_definition<1>, multiply_by_definition<2>,
                                                multiply_by_definition<3>, multiply_by_definition<4>}};

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
constexpr std::size_t kVectorsOfRows[] = {4, 4, 2, 2};
ANYDML_INLINE Vector load(const u32* from) { return _mm512_loadu_si512(from); }
ANYDML_INLINE Vector low_half(Vector x) { return _mm512_and_si512(x, _mm512_set1_epi32(0x0f0f0f0f)); }
ANYDML_INLINE Vector high_half(Vector x) { return low_half(_mm512_maskz_srli_epi32(kAll, x, 4)); }
ANYDML_INLINE Vector in_all_lanes(int x) { return _mm512_set1_epi32(x); }
ANYDML_INLINE Vector add_dots(Vector sum, Vector weights, Vector codes) {
  return _mm512_dpbusd_epi32(sum, weights, codes);
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
constexpr std::size_t kVectorsOfRows[] = {2, 2, 1, 1};
ANYDML_INLINE Vector load(const u32* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(from)); }
ANYDML_INLINE Vector low_half(Vector x) { return _mm256_and_si256(x, _mm256_set1_epi32(0x0f0f0f0f)); }
ANYDML_INLINE Vector high_half(Vector x) { return low_half(_mm256_srli_epi32(x, 4)); }
ANYDML_INLINE Vector in_all_lanes(int x) { return _mm256_set1_epi32(x); }
// The sums of two products fit into 16 bits: 2 * 15 * 127.
ANYDML_INLINE Vector add_dots(Vector sum, Vector weights, Vector codes) {
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
}  // namespace of_32_bytes
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

constexpr CodedDotKernels kOf64 = {.name = "VPDPBUSD",
                                   .rows = {of_64_bytes::multiply_codes<1>, of_64_bytes::multiply_codes<2>,
                                            of_64_bytes::multiply_codes<3>, of_64_bytes::multiply_codes<4>}};
constexpr CodedDotKernels kOf32 = {.name = "VPMADDUBSW",
                                   .rows = {of_32_bytes::multiply_codes<1>, of_32_bytes::multiply_codes<2>,
                                            of_32_bytes::multiply_codes<3>, of_32_bytes::multiply_codes<4>}};

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
