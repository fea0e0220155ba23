// SPDX-License-Identifier: MIT
#include "backend/vulkan/spirv/instructions.h"

#include <array>

namespace anydml::vulkan::spirv {

Grammar grammar_of(std::uint32_t op) {
  static constexpr auto kAll = [] {
    std::array<Grammar, 256> all{};
#define ANYDML_GRAMMAR(name, number, kind, operands) all[number] = {Kind::kind, operands};
    ANYDML_FOR_EACH_INSTRUCTION(ANYDML_GRAMMAR)
#undef ANYDML_GRAMMAR
    return all;
  }();
  return op < kAll.size() ? kAll[op] : Grammar{};
}

}  // namespace anydml::vulkan::spirv
