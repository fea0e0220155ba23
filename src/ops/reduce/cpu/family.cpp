// SPDX-License-Identifier: MIT
#include "backend/cpu/family.h"

#include <cstring>

#include "ops/reduce/cpu/folds.h"
#include "ops/reduce/scalar/folds.h"

namespace anydml {
namespace {

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context,
                                           cpu::Neighbors neighbors) {
  ReduceStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const FoldId fold = fold_of(step.function);
  if (is_sum(fold)) {
    return prepare_sum(step, context, std::move(neighbors));
  }
  if (is_product(fold)) {
    return prepare_product(step, context, std::move(neighbors));
  }
  return is_extreme(fold) ? prepare_extreme(step, context, std::move(neighbors))
                          : prepare_arg_extreme(step, context, std::move(neighbors));
}

}  // namespace

namespace cpu {
extern const FamilyKernels reduce_family;
const FamilyKernels reduce_family = {.open = nullptr, .prepare = prepare, .prepare_joined = nullptr};
}  // namespace cpu

}  // namespace anydml
