/* SPDX-License-Identifier: MIT
 * Measures the maximum rate of byte products on a core with its best instruction: only in registers, with enough
 * independent chains. cc -O2 -march=native -shared -fPIC byte_products.c */
#if defined(__aarch64__)
#include <arm_neon.h>
#include <sys/auxv.h>
typedef int32x4_t Vector;
__asm__(".arch armv8.2-a+dotprod+i8mm");
#define ADD(n) __asm__("smmla %0.4s, %1.16b, %2.16b" : "+w"(sum##n) : "w"(a), "w"(b));
#define ADD_DOTS(n) __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum##n) : "w"(a), "w"(b));
enum { kProducts = 32 };
#elif defined(__AVX512VNNI__)
#include <immintrin.h>
typedef __m512i Vector;
enum { kProducts = 64 };
#define ADD(n) __asm__("vpdpbusd %2, %1, %0" : "+v"(sum##n) : "v"(a), "v"(b));
#elif defined(__AVXVNNI__)
#include <immintrin.h>
typedef __m256i Vector;
enum { kProducts = 32 };
#define ADD(n) __asm__("{vex} vpdpbusd %2, %1, %0" : "+x"(sum##n) : "x"(a), "x"(b));
#else
typedef short Vector __attribute__((vector_size(16)));
enum { kProducts = 8 };
#define ADD(n) sum##n += a * b;
#endif

#define CHAINS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
enum { kChains = 16 };

/* Returns the number of operations: a product and a sum count as two. */
double multiply_adds(long rounds, float unused, float* result) {
  Vector a = {0}, b = {0};
  (void)unused;
#define START(n) Vector sum##n = {0};
  CHAINS(START)
#if defined(ADD_DOTS)
  if ((getauxval(AT_HWCAP2) & (1UL << 13)) == 0) { /* this core has no SMMLA */
    for (long i = 0; i < rounds; ++i) {
      CHAINS(ADD_DOTS)
    }
    *result = (float)(sum0 + sum1)[0];
    return 2.0 * kChains * (kProducts / 2) * (double)rounds;
  }
#endif
  for (long i = 0; i < rounds; ++i) {
    CHAINS(ADD)
#if defined(__x86_64__)
#define KEEP(n) __asm__("" : "+x"(sum##n));
#else
#define KEEP(n) __asm__("" : "+w"(sum##n));
#endif
    CHAINS(KEEP)
  }
  Vector all = {0};
#define TAKE(n) all += sum##n;
  CHAINS(TAKE)
  *result = (float)all[0];
  return 2.0 * kChains * kProducts * (double)rounds;
}
