// SPDX-License-Identifier: MIT
// Reductions on the CPU: the indices of extremes, ARGMAX and ARGMIN.
#include "ops/reduce/cpu/folds.h"
#include "ops/reduce/cpu/reduction-inl.h"

namespace anydml {

std::unique_ptr<cpu::PreparedStep> prepare_arg_extreme(const ReduceStep& step, const cpu::StepContext& context,
                                                       cpu::Neighbors neighbors) {
  const FoldId id = fold_of(step.function);
  return visit_arg_extreme(id, step.input_type, [&]<class Fold>() {
    return prepare_fold<Fold, true>(id, step, context, std::move(neighbors));
  });
}

}  // namespace anydml
