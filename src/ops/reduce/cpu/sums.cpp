// SPDX-License-Identifier: MIT
// Reductions on the CPU: sums and sums of magnitudes.
#include "ops/reduce/cpu/folds.h"
#include "ops/reduce/cpu/reduction-inl.h"

namespace anydml {

std::unique_ptr<cpu::PreparedStep> prepare_sum(const ReduceStep& step, const cpu::StepContext& context,
                                               cpu::Neighbors neighbors) {
  const FoldId id = fold_of(step.function);
  return visit_sum(id, step.input_type,
                   [&]<class Fold>() { return prepare_fold<Fold>(id, step, context, std::move(neighbors)); });
}

}  // namespace anydml
