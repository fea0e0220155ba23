// SPDX-License-Identifier: MIT
// The addresses for one run, and which operands are present. A small number of addresses is stored without an
// allocation. Callers identify memory with pointers, which are stored as numbers here: on most devices, programs use
// the pointers as addresses.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace anydml {

[[nodiscard]] inline std::uint64_t number_of(const void* pointer) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}
[[nodiscard]] inline std::byte* pointer_of(std::uint64_t number) {
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(number));
}

// The addresses of the inputs, the outputs and the temporary.
class Addresses {
 public:
  explicit Addresses(std::size_t tensors) : many_(tensors >= kFew ? tensors + 1 : 0) {}

  [[nodiscard]] std::uint64_t& operator[](std::size_t i) { return data()[i]; }
  [[nodiscard]] std::uint64_t operator[](std::size_t i) const { return data()[i]; }
  [[nodiscard]] std::uint64_t* data() { return many_.empty() ? few_.data() : many_.data(); }
  [[nodiscard]] const std::uint64_t* data() const { return many_.empty() ? few_.data() : many_.data(); }

 private:
  static constexpr std::size_t kFew = 8;

  std::array<std::uint64_t, kFew> few_{};
  std::vector<std::uint64_t> many_;
};

class OperandSet {
 public:
  explicit OperandSet(std::size_t tensors) : many_(tensors > kFew ? tensors : 0) {}

  void add(std::size_t i) {
    any_ = true;
    if (many_.empty()) {
      few_ |= std::uint64_t{1} << i;
    } else {
      many_[i] = true;
    }
  }
  [[nodiscard]] bool has(std::size_t i) const { return many_.empty() ? (few_ >> i & 1) != 0 : bool{many_[i]}; }
  [[nodiscard]] bool any() const { return any_; }

 private:
  static constexpr std::size_t kFew = 64;

  bool any_ = false;
  std::uint64_t few_ = 0;
  std::vector<bool> many_;
};

}  // namespace anydml
