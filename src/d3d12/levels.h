// SPDX-License-Identifier: MIT
// The D3D feature levels that a program may request. The device accepts every level it can support. The levels differ
// in drawing features, which programs query separately.
#pragma once

namespace anydml {

enum class LevelSupport { unknown, unsupported, supported };

[[nodiscard]] constexpr LevelSupport find_level(int level) {
  switch (level) {
    case 0x100:   // 1_0_GENERIC, newer than Debian's header
    case 0x1000:  // 1_0_CORE
    case 0xb000:
    case 0xb100:
    case 0xc000:
    case 0xc100:
      return LevelSupport::supported;
    case 0xc200:
      return LevelSupport::unsupported;
    default:
      return LevelSupport::unknown;
  }
}

}  // namespace anydml
