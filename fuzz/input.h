// SPDX-License-Identifier: MIT
// What the fuzz targets share: decisions that the bytes of an input make, values, and comparisons.
#pragma once

#include <anydml/anydml.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/element.h"
#include "schema/described.h"
#include "support/random_operator.h"

namespace anydml::fuzz {

// Ends the program if a property does not hold; libFuzzer then keeps the input.
inline void require(bool holds, const std::string& what) {
  if (!holds) {
    std::fprintf(stderr, "%s: %s\n", what.c_str(), anydml_last_error());
    std::abort();
  }
}

// The inputs that described nothing, were rejected, and ran. driver.cpp prints them and fails if none ran.
enum Outcome { kNothing, kRejected, kRan, kOutcomes };
inline std::uint64_t outcomes[kOutcomes];
inline void note(Outcome outcome) { ++outcomes[outcome]; }
inline std::string summary() {
  return outcomes[kRan] == 0 ? ""
                             : std::to_string(outcomes[kRan]) + " ran, " + std::to_string(outcomes[kRejected]) +
                                   " rejected, " + std::to_string(outcomes[kNothing]) + " described nothing";
}

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  [[nodiscard]] std::uint8_t byte() { return at_ < size_ ? data_[at_++] : 0; }
  [[nodiscard]] std::uint64_t below(std::uint64_t limit) {
    return limit > 256 ? (std::uint64_t{byte()} << 8 | byte()) % limit : byte() % limit;
  }
  [[nodiscard]] bool one_in(unsigned count) { return byte() % count == count - 1; }
  // The next bytes, which choose the attributes and sizes of an operator.
  [[nodiscard]] test::RandomOperators operators(std::size_t most) {
    const std::size_t count = std::min(most, size_ - at_);
    at_ += count;
    return test::RandomOperators(std::vector<std::uint8_t>(data_ + at_ - count, data_ + at_));
  }
  // A number near a limit, small, or any.
  [[nodiscard]] std::uint64_t extreme() {
    const std::uint64_t power = std::uint64_t{1} << byte() % 64;
    switch (byte() % 5) {
      case 0:
        return power;
      case 1:
        return power - 1;
      case 2:
        return 0 - power;
      case 3:
        return byte();
      default:
        return UINT64_MAX - byte();
    }
  }

  // Fills a tensor's memory. Most elements are small numbers, which serve as indices too; some are the next bytes.
  void fill(std::vector<std::uint8_t>& memory, anydml_type type) {
    const std::size_t size = type_bytes(type);
    const bool is_any = one_in(8);
    for (std::size_t at = 0; at + size <= memory.size(); at += size) {
      const std::uint8_t next = byte();
      if (is_any || next > 240) {
        for (std::size_t i = 0; i < size; ++i) {
          memory[at + i] = byte();
        }
        continue;
      }
      visit_type(static_cast<DataType>(type), [&]<class T>() {
        const T element = [next]() -> T {
          if constexpr (is_float<T>) {
            return narrow<T>(static_cast<compute_t<T>>(static_cast<int>(next) - 120) / 8);
          } else {
            return static_cast<T>(next % 8);
          }
        }();
        std::memcpy(&memory[at], &element, sizeof(T));
      });
    }
  }

  // The bytes of an element; four-bit elements are counted as whole bytes.
  static std::size_t type_bytes(anydml_type type) { return std::max<std::size_t>(1, anydml_type_size(type)); }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

// The number of elements, or `most` + 1 if there are more.
inline std::uint64_t elements_of(const anydml_tensor& tensor, std::uint64_t most) {
  std::uint64_t count = 1;
  for (int i = 0; i < tensor.rank; ++i) {
    const auto size = static_cast<std::uint64_t>(tensor.sizes[i]);
    count = size != 0 && count > most / size ? most + 1 : count * size;
  }
  return count;
}

// Whether packed tensors of a type have the same elements. All NaNs are equal, and -0 and +0 differ.
inline bool same_elements(anydml_type type, const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  if (a == b) {
    return true;
  }
  return a.size() == b.size() && visit_type(static_cast<DataType>(type), [&]<class T>() {
           for (std::size_t at = 0; at + sizeof(T) <= a.size(); at += sizeof(T)) {
             T x;
             T y;
             std::memcpy(&x, &a[at], sizeof(T));
             std::memcpy(&y, &b[at], sizeof(T));
             bool is_same = std::memcmp(&x, &y, sizeof(T)) == 0;
             if constexpr (is_float<T>) {
               is_same = is_same || (is_nan(x) && is_nan(y));
             }
             if (!is_same) {
               return false;
             }
           }
           return true;
         });
}

// The device of fuzz/generic_backend.cpp: the CPU without vector kernels.
inline const anydml_device* generic_device() {
  static const anydml_device* const device = [] {
    const anydml_device* const found = anydml_find_device("generic");
    require(found != nullptr, "the plugin libanydml-generic.so");
    return found;
  }();
  return device;
}
inline const anydml_device* vector_device() {
  static const anydml_device* const device = anydml_find_device("cpu");
  return device;
}

}  // namespace anydml::fuzz
