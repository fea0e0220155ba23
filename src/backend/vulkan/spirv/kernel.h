// SPDX-License-Identifier: MIT
// What every kernel that is written here begins with: the block of push constants of shaders/kernel.glsl, the number of
// its thread, and access to memory by addresses.
#pragma once

#include <cstdint>

#include "backend/vulkan/spirv/builder.h"

namespace anydml::vulkan::spirv {

inline constexpr std::uint32_t kThreads = 128;  // in a group

class Kernel {
 public:
  // own_constants: the number of 64-bit push constants after KernelHeader.
  Kernel(Builder& builder, std::uint32_t own_constants);

  // The values of KernelHeader and of the kernel's own constants.
  [[nodiscard]] Id operands() { return constant_member(0, 64); }
  [[nodiscard]] Id parameters() { return constant_member(1, 64); }
  [[nodiscard]] Id own_constant(std::uint32_t index) { return constant_member(4 + index, 64); }
  // The number of this thread in its dispatch, as an integer of 32 or 64 bits.
  [[nodiscard]] Id thread_number(std::uint32_t bits);

  // An integer of 8, 16, 32 or 64 bits, or a vector of 32-bit integers, at an address. `align` is in bytes.
  [[nodiscard]] Id load(Id address, Id type, std::uint32_t align);
  void store(Id address, Id type, Id value, std::uint32_t align);
  // The address of an operand, from the table.
  [[nodiscard]] Id operand_address(std::uint32_t operand);

  [[nodiscard]] Id u32_type() { return builder_.int_type(32); }
  [[nodiscard]] Id u64_type() { return builder_.int_type(64); }
  [[nodiscard]] Id add_64(Id a, Id b) { return builder_.emit(Op::IAdd, u64_type(), {a, b}); }
  [[nodiscard]] Id add_constant(Id a, std::uint64_t b) { return b == 0 ? a : add_64(a, builder_.constant_64(b)); }

 private:
  [[nodiscard]] Id constant_member(std::uint32_t member, std::uint32_t bits);
  [[nodiscard]] Id built_in(BuiltIn which, std::uint32_t component);
  [[nodiscard]] Id pointer(Id address, Id type);

  Builder& builder_;
  Id push_ = 0;
  Id group_ = 0;
  Id lane_ = 0;
};

}  // namespace anydml::vulkan::spirv
