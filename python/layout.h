// SPDX-License-Identifier: MIT
// What the layout of arrays says: their elements as rows, the memory that they share, and parts of them that one call
// of the C API takes.
#pragma once

#include <anydml/anydml.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "base/element.h"
#include "faults.h"
#include "operand.h"

namespace anydml::python {

// ---- Rows ----------------------------------------------------------------------------------------------------------

// Whether an element passes a test. Neither order nor repetition matters, so the memory is walked upwards, in as few
// rows as there are.
template <class Test>
bool any_in_array(const Operand& of, Test test) {
  return visit_type(static_cast<DataType>(of.tensor.type), [&]<class T>() {
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
    struct Loop {
      std::int64_t size;
      std::int64_t stride;
    };
    Loop loops[kMostDimensions];  // the largest stride first
    int count = 0;
    const char* start = static_cast<const char*>(of.tensor.data);
    for (int i = 0; i < of.tensor.rank; ++i) {
      Loop loop{of.sizes[i], of.strides[i]};
      if (loop.size == 0) {
        return false;
      }
      if (loop.size == 1 || loop.stride == 0) {
        continue;  // a single place, or the same one again
      }
      if (loop.stride < 0) {
        start += (loop.size - 1) * loop.stride * kSize;
        loop.stride = -loop.stride;
      }
      int at = count++;
      for (; at > 0 && loops[at - 1].stride < loop.stride; --at) {
        loops[at] = loops[at - 1];
      }
      loops[at] = loop;
    }
    // Loops that follow each other in memory are one. The last is the row.
    int outer = 0;
    for (int i = 0; i < count; ++i) {
      if (outer > 0 && loops[outer - 1].stride == loops[i].stride * loops[i].size) {
        loops[outer - 1] = {loops[outer - 1].size * loops[i].size, loops[i].stride};
      } else {
        loops[outer++] = loops[i];
      }
    }
    const Loop row = outer > 0 ? loops[--outer] : Loop{1, 1};
    std::int64_t index[kMostDimensions] = {};
    for (;;) {
      if (any_of_long_row<T>(start, row.stride * kSize, row.size, test)) {
        return true;
      }
      int i = outer - 1;
      for (; i >= 0; --i) {
        start += loops[i].stride * kSize;
        if (++index[i] < loops[i].size) {
          break;
        }
        start -= index[i] * loops[i].stride * kSize;
        index[i] = 0;
      }
      if (i < 0) {
        return false;
      }
    }
  });
}

inline bool any_nan(const Operand& of) {
  return any_in_array(of, [](auto value) {
    if constexpr (is_float<decltype(value)>) {
      return is_nan(value);
    } else {
      return false;
    }
  });
}

inline bool any_zero(const Operand& of) {
  return any_in_array(of, [](auto value) { return is_zero(value); });
}

// ---- Shared memory -------------------------------------------------------------------------------------------------

inline bool share_memory(const Operand& a, const Operand& b) {
  const auto range = [](const Operand& of, std::int64_t& low, std::int64_t& high) {
    low = high = 0;
    for (int i = 0; i < of.tensor.rank; ++i) {
      if (of.sizes[i] == 0) {
        return false;
      }
      (of.strides[i] < 0 ? low : high) += (of.sizes[i] - 1) * of.strides[i];
    }
    const auto size = static_cast<std::int64_t>(element_size(static_cast<DataType>(of.tensor.type)));
    const auto start = reinterpret_cast<std::int64_t>(of.tensor.data);
    low = start + low * size;
    high = start + (high + 1) * size;
    return true;
  };
  std::int64_t a_low, a_high, b_low, b_high;
  return range(a, a_low, a_high) && range(b, b_low, b_high) && a_low < b_high && b_low < a_high;
}

}  // namespace anydml::python
