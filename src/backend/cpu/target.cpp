// SPDX-License-Identifier: MIT
#include "backend/cpu/target.h"

namespace anydml::cpu {

std::span<const Target> machine_targets() {
#if defined(__aarch64__)
  static constexpr Target kAll[] = {Target::neon, Target::generic};
  return kAll;
#elif defined(__x86_64__)
#if defined(ANYDML_WITHOUT_AVX2)  // the option ANYDML_ONE_TARGET
  static constexpr Target kAll[] = {Target::avx512, Target::generic};
#elif defined(ANYDML_WITHOUT_AVX512)
  static constexpr Target kAll[] = {Target::avx2, Target::generic};
#else
  static constexpr Target kAll[] = {Target::avx512, Target::avx2, Target::generic};
#endif
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd");
  std::span<const Target> all = kAll;
  while ((all.front() == Target::avx512 && !avx512) || (all.front() == Target::avx2 && !avx2)) {
    all = all.subspan(1);
  }
  return all;
#else
  static constexpr Target kAll[] = {Target::generic};
  return kAll;
#endif
}

}  // namespace anydml::cpu
