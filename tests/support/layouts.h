// SPDX-License-Identifier: MIT
// Random memory layouts for a tensor of given sizes, and memory with guards around and between the elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <vector>

#include "support/distributions.h"

namespace anydml::test {

struct Layout {
  std::vector<i64> sizes;
  std::vector<i64> strides;  // in elements

  [[nodiscard]] i64 count() const {
    return std::accumulate(sizes.begin(), sizes.end(), i64{1}, [](i64 a, i64 b) { return a * b; });
  }
  // The offset of the n-th element in row-major order, from the element at index 0.
  [[nodiscard]] i64 offset(i64 n) const {
    i64 location = 0;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      location += n % sizes[i] * strides[i];
      n /= sizes[i];
    }
    return location;
  }
  [[nodiscard]] i64 lowest() const {
    i64 location = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      location += std::min<i64>(0, (sizes[i] - 1) * strides[i]);
    }
    return location;
  }
  [[nodiscard]] i64 highest() const {
    i64 location = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      location += std::max<i64>(0, (sizes[i] - 1) * strides[i]);
    }
    return location;
  }
};

inline std::vector<i64> random_sizes(Random& random, u64 max_rank, i64 max_elements) {
  std::vector<i64> sizes(random() % (max_rank + 1));
  i64 room = max_elements;
  for (i64& size : sizes) {
    const i64 maximum = std::min<i64>(room, random() % 3 == 0 ? room : 7);
    size = random() % 4 == 0 ? 1 : 1 + static_cast<i64>(random() % static_cast<u64>(maximum));
    room /= size;
  }
  std::shuffle(sizes.begin(), sizes.end(), random);
  return sizes;
}

// Packed, padded, permuted or reversed; with `repeats`, some dimensions have stride 0. Otherwise elements never
// overlap.
inline Layout random_layout(const std::vector<i64>& sizes, Random& random, bool repeats) {
  Layout layout{sizes, std::vector<i64>(sizes.size())};
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::reverse(order.begin(), order.end());
  const u64 kind = random() % 4;
  if (kind == 3) {
    std::shuffle(order.begin(), order.end(), random);
  }
  i64 stride = kind >= 2 && random() % 2 == 0 ? 1 + static_cast<i64>(random() % 3) : 1;
  for (const std::size_t i : order) {
    if (repeats && random() % 5 == 0) {
      continue;
    }
    layout.strides[i] = kind >= 2 && random() % 4 == 0 ? -stride : stride;
    stride *= sizes[i];
    stride += kind >= 1 ? static_cast<i64>(random() % 3) : 0;
  }
  return layout;
}

// Memory for one or more tensors, at an address of any alignment; every byte outside the elements keeps its pattern.
template <class T>
class Memory {
 public:
  Memory(i64 lowest, i64 highest, Random& random)
      : lowest_(lowest),
        skew_(random() % 3 == 0 ? random() % 8 : 0),
        bytes_(kGuard * 2 + skew_ + size_of(lowest, highest)) {
    for (std::byte& byte : bytes_) {
      byte = static_cast<std::byte>(random());
    }
    for (i64 location = lowest; location <= highest; ++location) {
      store(location, any_value<T>(random));
    }
  }
  Memory(const Layout& layout, Random& random) : Memory(layout.lowest(), layout.highest(), random) {}

  [[nodiscard]] void* data(i64 location = 0) {
    return bytes_.data() + kGuard + skew_ + static_cast<std::size_t>(location - lowest_) * sizeof(T);
  }
  [[nodiscard]] T load(i64 location) const {
    T value;
    std::memcpy(&value, const_cast<Memory*>(this)->data(location), sizeof(T));
    return value;
  }
  void store(i64 location, T value) { std::memcpy(data(location), &value, sizeof(T)); }

  // Whether all bytes are equal. All NaNs among the elements of `positions` count as equal.
  [[nodiscard]] bool equals(const Memory& other, const Layout& positions, i64 base) const {
    Memory copy = other;
    for (i64 n = 0; n < positions.count(); ++n) {
      const i64 location = base + positions.offset(n);
      if (same(load(location), other.load(location))) {
        copy.store(location, load(location));
      }
    }
    return copy.bytes_ == bytes_;
  }
  [[nodiscard]] bool operator==(const Memory& other) const { return bytes_ == other.bytes_; }

 private:
  static constexpr std::size_t kGuard = 64;
  static std::size_t size_of(i64 lowest, i64 highest) {
    return static_cast<std::size_t>(highest - lowest + 1) * sizeof(T);
  }

  i64 lowest_;
  std::size_t skew_;
  std::vector<std::byte> bytes_;
};

}  // namespace anydml::test
