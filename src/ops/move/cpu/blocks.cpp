// SPDX-License-Identifier: MIT
#include "ops/move/cpu/blocks.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/move/cpu/blocks.cpp"
#include "backend/cpu/each_target.h"
#include "backend/cpu/loops.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#define ANYDML_MOVE_VECTORS 1
#include "ops/move/cpu/blocks-inl.h"
#undef ANYDML_MOVE_VECTORS

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {
namespace any_machine {
namespace {

#define ANYDML_MOVE_VECTORS 0
#include "ops/move/cpu/blocks-inl.h"
#undef ANYDML_MOVE_VECTORS

}  // namespace
}  // namespace any_machine

const char* shape_name(MoveShape shape) {
  switch (shape) {
    case MoveShape::rows:
      return "rows";
    case MoveShape::filled:
      return "filled";
    case MoveShape::strided:
      return "strided";
    case MoveShape::transposed:
      break;
  }
  return "transposed";
}

MoveKernel find_move_kernel(MoveShape shape, std::int64_t unit, cpu::Target target) {
  return ANYDML_FOR_TARGET(target, any_machine::find_kernel(shape, unit), find_kernel(shape, unit));
}

}  // namespace anydml

#endif
