// SPDX-License-Identifier: MIT
// What NumPy warns of: pairs without an answer, and how they are looked for in long rows.
#pragma once

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>

#include <anydml/anydml.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "backend/cpu/thread_pool.h"
#include "base/element.h"
#include "base/float_bits.h"
#include "base/process.h"

namespace anydml::python {

template <class T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <class T>
using Unsigned =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
constexpr bool is_infinite(T value) {
  return (to_bits(value) & FloatParts<T>::kMagnitude) == FloatParts<T>::kInfinity;
}
template <class T>
constexpr bool is_zero(T value) {
  if constexpr (is_float<T>) {
    return (to_bits(value) & FloatParts<T>::kMagnitude) == 0;
  } else {
    return value == 0;
  }
}

// Whether a pair has no answer: division by zero for integers, an invalid operation for floats.
template <class T>
bool is_faulty(T a, T b) {
  if constexpr (is_float<T>) {
    return !is_nan(a) & !is_nan(b) & (is_zero(b) | is_infinite(a));  // without branches
  } else {
    return is_zero(b);
  }
}

// The first pair of a row that has no answer, or -1. Without early ends, so that compilers make vectors of it.
template <class T>
npy_intp find_faulty(const char* a, npy_intp a_step, const char* b, npy_intp b_step, npy_intp count) {
  constexpr npy_intp kBlock = 1024;
  if (b_step == 0 && (a_step == 0 || !is_float<T>)) {
    count = std::min<npy_intp>(count, 1);  // the same pair again, or the same divisor, which alone decides
  }
  for (npy_intp start = 0; start < count; start += kBlock) {
    const npy_intp end = std::min(count, start + kBlock);
    Unsigned<T> any = 0;  // as wide as the elements: compilers make vectors of that
    if (a_step == sizeof(T) && b_step == sizeof(T)) {
      for (npy_intp i = start; i < end; ++i) {
        any |= is_faulty(load<T>(a + i * static_cast<npy_intp>(sizeof(T))),
                         load<T>(b + i * static_cast<npy_intp>(sizeof(T))))
                   ? Unsigned<T>{1}
                   : Unsigned<T>{0};
      }
    } else {
      for (npy_intp i = start; i < end; ++i) {
        any |= is_faulty(load<T>(a + i * a_step), load<T>(b + i * b_step)) ? Unsigned<T>{1} : Unsigned<T>{0};
      }
    }
    for (npy_intp i = start; any != 0 && i < end; ++i) {
      if (is_faulty(load<T>(a + i * a_step), load<T>(b + i * b_step))) {
        return i;
      }
    }
  }
  return -1;
}

inline npy_intp find_faulty(DataType type, const char* a, npy_intp a_step, const char* b, npy_intp b_step,
                            npy_intp count) {
  return visit_type(type, [&]<class T>() { return find_faulty<T>(a, a_step, b, b_step, count); });
}

// Whether a row of results has a NaN, and whether a row of divisors has a 0.
template <class T, class Test>
bool any_of_row(const char* row, npy_intp step, npy_intp count, Test test) {
  constexpr npy_intp kBlock = 4096;
  for (npy_intp start = 0; start < count; start += kBlock) {
    const npy_intp end = std::min(count, start + kBlock);
    Unsigned<T> any = 0;  // as wide as the elements: compilers make vectors of that
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

// The threads that the core computes with; they look through long rows too.
inline ThreadPool& pool() {
  static ThreadPool& all = [&]() -> ThreadPool& {
    anydml_device_count();  // which makes them, as many as the environment says
    const std::lock_guard lock(process_mutex());
    return ThreadPool::of_process(0);
  }();
  return all;
}

inline constexpr npy_intp kChunk = 65536;  // elements of a long row that a thread looks through at a time

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
      [](void* context, std::uint64_t chunk) noexcept {
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

}  // namespace anydml::python
