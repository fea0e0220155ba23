/* SPDX-License-Identifier: MIT
 * Measures the maximum rate of fused multiply-adds on a core: only in registers, with enough independent chains.
 * cc -O2 -ffp-contract=fast -march=native -shared -fPIC multiply_adds.c */
#if defined(__AVX512F__)
enum { kBytes = 64 };
#elif defined(__AVX2__)
enum { kBytes = 32 };
#else
enum { kBytes = 16 };
#endif
typedef float Vector __attribute__((vector_size(kBytes)));

#define CHAINS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
enum { kChains = 12 };

/* Returns the number of floating-point operations. */
double multiply_adds(long rounds, float factor, float* result) {
  Vector a = {0}, b = {0};
  a += factor;
  b -= factor;
#define START(n) Vector sum##n = a * (float)(n);
  CHAINS(START)
  for (long i = 0; i < rounds; ++i) {
#define ADD(n) sum##n += a * b;
    CHAINS(ADD)
    CHAINS(ADD)
#define KEEP(n) __asm__("" : "+w"(sum##n));
#if defined(__x86_64__)
#undef KEEP
#define KEEP(n) __asm__("" : "+v"(sum##n));
#endif
    CHAINS(KEEP)
  }
  Vector all = {0};
#define TAKE(n) all += sum##n;
  CHAINS(TAKE)
  *result = all[0];
  return 2.0 * 2 * kChains * (kBytes / sizeof(float)) * (double)rounds;
}
