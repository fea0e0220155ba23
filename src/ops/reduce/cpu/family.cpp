// SPDX-License-Identifier: MIT
#include "backend/cpu/family.h"

#include <cstring>

#include "ops/reduce/cpu/folds.h"
#include "ops/reduce/scalar/folds.h"

namespace anydml {
namespace {

std::unique_ptr<cpu::Prepared> prepare(const Step& flat, const cpu::Machine& machine) {
  ReduceStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const FoldId fold = fold_of(step.function);
  if (is_sum(fold)) {
    return prepare_sum(step, machine);
  }
  if (is_product(fold)) {
    return prepare_product(step, machine);
  }
  return is_extreme(fold) ? prepare_extreme(step, machine) : prepare_place(step, machine);
}

}  // namespace

namespace cpu {
extern const Family reduce_family;
const Family reduce_family = {.name = "reduce", .open = nullptr, .prepare = prepare};
}  // namespace cpu

}  // namespace anydml
