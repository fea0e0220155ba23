// SPDX-License-Identifier: MIT
// The machine's rounding, flush and trap modes. Kernels require round-to-nearest, subnormals and no traps, regardless
// of the modes that the host program has set. When a call returns, the host's modes and exception flags must be
// restored.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#include <cfenv>
#endif

namespace anydml {

class DefaultFloatEnvironment {
 public:
#if defined(__x86_64__)
  DefaultFloatEnvironment() noexcept : control_and_flags_(_mm_getcsr()) {
    constexpr unsigned kAllMaskedNearest = 0x1f80;
    _mm_setcsr(kAllMaskedNearest);
  }
  ~DefaultFloatEnvironment() { _mm_setcsr(control_and_flags_); }
#elif defined(__aarch64__)
  // The register is written directly, because fesetenv does not change the flush-to-zero bits. Most callers already use
  // the default modes, and writing the control register costs far more than reading it.
  DefaultFloatEnvironment() noexcept {
    asm volatile("mrs %0, fpcr" : "=r"(control_));
    asm volatile("mrs %0, fpsr" : "=r"(flags_));
    if (control_ != 0) {
      asm volatile("msr fpcr, %0" : : "r"(std::uint64_t{0}) : "memory");
    }
  }
  ~DefaultFloatEnvironment() {
    if (control_ != 0) {
      asm volatile("msr fpcr, %0" : : "r"(control_) : "memory");
    }
    asm volatile("msr fpsr, %0" : : "r"(flags_) : "memory");
  }
#else
  DefaultFloatEnvironment() noexcept {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&saved_); }
#endif
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  unsigned control_and_flags_;
#elif defined(__aarch64__)
  std::uint64_t control_ = 0;
  std::uint64_t flags_ = 0;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace anydml
