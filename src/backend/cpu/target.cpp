// SPDX-License-Identifier: MIT
#include "backend/cpu/target.h"

namespace anydml::cpu {

std::span<const Target> machine_targets() {
#if defined(__aarch64__)
  static constexpr Target kAll[] = {Target::neon, Target::generic};
  return kAll;
#elif defined(__x86_64__)
  static constexpr Target kAll[] = {Target::avx512, Target::avx2, Target::generic};
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd");
  return std::span(kAll).subspan(avx512 ? 0 : avx2 ? 1 : 2);
#else
  static constexpr Target kAll[] = {Target::generic};
  return kAll;
#endif
}

}  // namespace anydml::cpu
