// SPDX-License-Identifier: MIT
// Finds the faults that NumPy warns about by examining operands and results. Long rows are searched in parallel.
#pragma once

#include <anydml/anydml.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstdint>
#include <mutex>

#include "backend/cpu/thread_pool.h"
#include "base/element.h"
#include "base/float_bits.h"
#include "base/process.h"
#include "elements.h"
#include "python_api.h"

namespace anydml::python {

// Whether any element of a row passes a test.
template <class T, class Test>
bool any_of_row(const char* row, npy_intp step, npy_intp count, Test test) {
  constexpr npy_intp kBlock = 4096;
  for (npy_intp start = 0; start < count; start += kBlock) {
    const npy_intp end = std::min(count, start + kBlock);
    Unsigned<T> any = 0;  // this is as wide as the elements, so that compilers vectorize the loop
    if (step == sizeof(T)) {
      for (npy_intp i = start; i < end; ++i) {
        any |= test(load<T>(row + i * static_cast<npy_intp>(sizeof(T)))) ? Unsigned<T>{1} : Unsigned<T>{0};
      }
    } else {
      for (npy_intp i = start; i < end; ++i) {
        any |= test(load<T>(row + i * step)) ? Unsigned<T>{1} : Unsigned<T>{0};
      }
    }
    if (any != 0) {
      return true;
    }
  }
  return false;
}

// The core's thread pool, which is also used to search long rows.
inline ThreadPool& pool() {
  static ThreadPool& all = [&]() -> ThreadPool& {
    anydml_device_count();  // this starts as many threads as the environment specifies
    const std::lock_guard lock(process_mutex());
    return ThreadPool::of_process(0);
  }();
  return all;
}

inline constexpr npy_intp kChunk = 65536;  // the number of elements of a long row that a thread searches at a time

template <class T, class Test>
bool any_of_long_row(const char* row, npy_intp step, npy_intp count, Test test) {
  if (count < 4 * kChunk) {
    return any_of_row<T>(row, step, count, test);
  }
  struct Search {
    const char* row;
    npy_intp step;
    npy_intp count;
    Test test;
    std::atomic<bool> found;
  } search{row, step, count, test, false};
  pool().run(
      static_cast<std::uint64_t>((count + kChunk - 1) / kChunk),
      [](void* context, std::uint64_t chunk, unsigned) noexcept {
        Search& all = *static_cast<Search*>(context);
        const npy_intp start = static_cast<npy_intp>(chunk) * kChunk;
        if (!all.found.load(std::memory_order_relaxed) &&
            any_of_row<T>(all.row + start * all.step, all.step, std::min(kChunk, all.count - start), all.test)) {
          all.found.store(true, std::memory_order_relaxed);
        }
      },
      &search);
  return search.found.load();
}

// ---- Faults --------------------------------------------------------------------------------------------------------

// Selects the results that count as faults, as NumPy defines them for its own functions. A NaN is an invalid operation
// if no operand is NaN. The modulus has no other faults. An infinite result from finite operands is a division by zero
// if the function has a pole there, and an overflow otherwise. A result that is 0 or subnormal is an underflow, unless
// the first operand is 0 or 1, where a 0 is exact. A subnormal result may happen to be exact, but the code does not
// check this.
enum class Faults { modulus, function, function_with_poles, pow };

template <class T>
constexpr Unsigned<T> one_bits() {
  return static_cast<Unsigned<T>>(Unsigned<T>{FloatParts<T>::kBias} << FloatParts<T>::kFractionBits);
}

// Whether a result may be a fault.
template <class T>
bool may_be_fault(Faults of, T result) {
  if (of == Faults::modulus) {
    return is_nan(result);
  }
  constexpr Unsigned<T> kNormal = FloatParts<T>::kHidden;  // the smallest normal number
  return static_cast<Unsigned<T>>(magnitude(result) - kNormal) >=
         static_cast<Unsigned<T>>(FloatParts<T>::kInfinity - kNormal);
}

// Whether recognizing a fault requires this operand in addition to the result.
template <class T>
bool has_a_say(T operand) {
  const Unsigned<T> of = magnitude(operand);
  return of == 0 || of == one_bits<T>() || of >= FloatParts<T>::kInfinity;
}

// One row: one or two operands, and the results.
struct Row {
  const char* data[3];
  npy_intp steps[3];
  int inputs;
  npy_intp count;

  [[nodiscard]] Row part(npy_intp first, npy_intp many) const {
    Row part = *this;
    for (int i = 0; i <= inputs; ++i) {
      part.data[i] += first * steps[i];
    }
    part.count = many;
    return part;
  }
};

// Returns faults as a mask of the machine's flags. It has no branches, so that compilers vectorize it.
template <class T, bool kTwo>
int faults_of_part(Faults of, const Row& row) {
  using Bits = Unsigned<T>;
  constexpr Bits kInfinity = FloatParts<T>::kInfinity;
  Bits invalid = 0, infinite = 0, pole = 0, tiny = 0;
  const auto as_bits = [](bool is) { return static_cast<Bits>(is ? 1 : 0); };
  const auto look = [&](npy_intp a_step, npy_intp b_step, npy_intp step) {
    for (npy_intp i = 0; i < row.count; ++i) {
      const Bits a = magnitude(load<T>(row.data[0] + i * a_step));
      const Bits b = kTwo ? magnitude(load<T>(row.data[1] + i * b_step)) : Bits{0};
      const Bits r = magnitude(load<T>(row.data[row.inputs] + i * step));
      const Bits finite = as_bits(a < kInfinity) & as_bits(b < kInfinity);
      const Bits zero = as_bits(a == 0);
      invalid =
          static_cast<Bits>(invalid | (as_bits(r > kInfinity) & as_bits(a <= kInfinity) & as_bits(b <= kInfinity)));
      infinite = static_cast<Bits>(infinite | (as_bits(r == kInfinity) & finite & (zero ^ 1)));
      pole = static_cast<Bits>(pole | (as_bits(r == kInfinity) & finite & zero));
      tiny = static_cast<Bits>(
          tiny | (as_bits(r < FloatParts<T>::kHidden) & finite & (zero ^ 1) & as_bits(a != one_bits<T>())));
    }
  };
  constexpr npy_intp kSize = sizeof(T);
  if (row.steps[row.inputs] == kSize && row.steps[0] == kSize && (!kTwo || row.steps[1] == kSize)) {
    look(kSize, kSize, kSize);
  } else {
    look(row.steps[0], row.steps[1], row.steps[row.inputs]);
  }
  const int invalids = invalid != 0 ? FE_INVALID : 0;
  if (of == Faults::modulus) {
    return invalids;
  }
  const int at_zero = of == Faults::function ? FE_OVERFLOW : FE_DIVBYZERO;
  const int elsewhere = of == Faults::function_with_poles ? FE_DIVBYZERO : FE_OVERFLOW;
  return invalids | (pole != 0 ? at_zero : 0) | (infinite != 0 ? elsewhere : 0) | (tiny != 0 ? FE_UNDERFLOW : 0);
}

// Returns the faults of a row, long or short. It reads the operands only if a result is suspicious.
template <class T>
int faults_of_row(Faults of, const Row& row) {
  const auto faults_of_chunk = [](Faults of, const Row& part) {
    const auto test = [of](T result) { return may_be_fault(of, result); };
    if (!any_of_row<T>(part.data[part.inputs], part.steps[part.inputs], part.count, test)) {
      return 0;
    }
    return part.inputs == 2 ? faults_of_part<T, true>(of, part) : faults_of_part<T, false>(of, part);
  };
  if (row.count < 4 * kChunk) {
    return faults_of_chunk(of, row);
  }
  struct Search {
    Faults of;
    const Row& row;
    decltype(faults_of_chunk) chunk;
    std::atomic<int> found;
  } search{of, row, faults_of_chunk, 0};
  pool().run(
      static_cast<std::uint64_t>((row.count + kChunk - 1) / kChunk),
      [](void* context, std::uint64_t chunk, unsigned) noexcept {
        Search& all = *static_cast<Search*>(context);
        const npy_intp start = static_cast<npy_intp>(chunk) * kChunk;
        all.found.fetch_or(all.chunk(all.of, all.row.part(start, std::min(kChunk, all.row.count - start))),
                           std::memory_order_relaxed);
      },
      &search);
  return search.found.load();
}

inline int faults_of_row(Faults of, DataType type, const Row& row) {
  return visit_type(type, [&]<class T>() {
    if constexpr (is_float<T>) {
      return faults_of_row<T>(of, row);
    } else {
      return 0;
    }
  });
}

}  // namespace anydml::python
