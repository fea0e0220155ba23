// SPDX-License-Identifier: MIT
// Reductions on the CPU: maxima and minima.
#include "ops/reduce/cpu/folds.h"
#include "ops/reduce/cpu/reduction-inl.h"

namespace anydml {

std::unique_ptr<cpu::PreparedStep> prepare_extreme(const ReduceStep& step, const cpu::StepContext& context,
                                                   cpu::Neighbors neighbors) {
  const FoldId id = fold_of(step.function);
  return visit_extreme(id, step.input_type,
                       [&]<class Fold>() { return prepare_fold<Fold>(id, step, context, std::move(neighbors)); });
}

}  // namespace anydml
