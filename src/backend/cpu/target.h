// SPDX-License-Identifier: MIT
// The instruction sets that kernels may be compiled for.
#pragma once

#include <cstdint>
#include <span>

namespace anydml::cpu {

enum class Target : std::uint8_t { generic, neon, avx2, avx512 };
inline constexpr std::size_t kTargets = 4;

// The target's name in ANYDML_CPU_TARGET.
[[nodiscard]] constexpr const char* target_name(Target target) {
  switch (target) {
    case Target::neon:
      return "neon";
    case Target::avx2:
      return "avx2";
    case Target::avx512:
      return "avx512";
    case Target::generic:
      break;
  }
  return "generic";
}

// The vector size, in bytes, for which a target's kernels need their weights packed.
[[nodiscard]] constexpr std::uint32_t vector_bytes(Target target) {
  return target == Target::avx512 ? 64 : target == Target::avx2 ? 32 : 16;
}

// The targets that this machine can run, with the best first and generic last.
[[nodiscard]] std::span<const Target> machine_targets();

}  // namespace anydml::cpu
