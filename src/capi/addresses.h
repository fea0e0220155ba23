// SPDX-License-Identifier: MIT
// The addresses of one run: the inputs, the outputs, the temporary. Few of them allocate nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace anydml {

class Addresses {
 public:
  explicit Addresses(std::size_t tensors) : many_(tensors >= kFew ? tensors + 1 : 0) {}

  [[nodiscard]] void*& operator[](std::size_t i) { return data()[i]; }
  [[nodiscard]] void* operator[](std::size_t i) const { return data()[i]; }
  [[nodiscard]] void** data() { return many_.empty() ? few_.data() : many_.data(); }
  [[nodiscard]] void* const* data() const { return many_.empty() ? few_.data() : many_.data(); }

 private:
  static constexpr std::size_t kFew = 8;

  std::array<void*, kFew> few_{};
  std::vector<void*> many_;
};

}  // namespace anydml
