// SPDX-License-Identifier: MIT
// Loads and stores of the bits of elements of 1, 2, 4 or 8 bytes. Vulkan requires that each access is aligned to its type,
// so other elements are accessed byte by byte. The width is usually a specialization constant.
#ifndef ANYDML_ELEMENTS_GLSL
#define ANYDML_ELEMENTS_GLSL
#include "backend/vulkan/shaders/kernel.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 1) buffer Bits8 { uint8_t bits; };
layout(buffer_reference, scalar, buffer_reference_align = 2) buffer Bits16 { uint16_t bits; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Bits32 { uint bits; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Bits64 { uint64_t bits; };

uint64_t load_bits(uint64_t address, uint bytes, bool is_aligned) {
  if (is_aligned) {
    switch (bytes) {
      case 1:
        return uint64_t(Bits8(address).bits);
      case 2:
        return uint64_t(Bits16(address).bits);
      case 4:
        return uint64_t(Bits32(address).bits);
      default:
        return Bits64(address).bits;
    }
  }
  uint64_t bits = 0;
  for (uint i = 0; i < bytes; ++i) {
    bits |= uint64_t(Bits8(address + i).bits) << (8 * i);
  }
  return bits;
}

void store_bits(uint64_t address, uint64_t bits, uint bytes, bool is_aligned) {
  if (is_aligned) {
    switch (bytes) {
      case 1:
        Bits8(address).bits = uint8_t(bits);
        return;
      case 2:
        Bits16(address).bits = uint16_t(bits);
        return;
      case 4:
        Bits32(address).bits = uint(bits);
        return;
      default:
        Bits64(address).bits = bits;
        return;
    }
  }
  for (uint i = 0; i < bytes; ++i) {
    Bits8(address + i).bits = uint8_t(bits >> (8 * i));
  }
}

#endif
