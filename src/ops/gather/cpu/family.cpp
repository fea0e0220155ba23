// SPDX-License-Identifier: MIT
// Runs the gather family's steps on the CPU.
#include "backend/cpu/family.h"

#include <cstring>

#include "ops/gather/cpu/rows.h"

namespace anydml {
namespace {

template <class Parameters>
Parameters read(const Step& flat) {
  Parameters step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  return step;
}

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context, cpu::Neighbors) {
  switch (read<GatherKind>(flat)) {
    case GatherKind::gather:
      return prepare_gather(read<GatherStep>(flat), context.threads);
    case GatherKind::scatter:
      return prepare_scatter(read<GatherStep>(flat), context.threads);
    case GatherKind::one_hot:
      return prepare_one_hot(read<OneHotStep>(flat), context.threads);
    case GatherKind::nonzero:
      return prepare_nonzero(read<NonzeroStep>(flat));
  }
  return nullptr;
}

}  // namespace

namespace cpu {
extern const FamilyKernels gather_family;
const FamilyKernels gather_family = {.open = nullptr, .prepare = prepare, .prepare_joined = nullptr};
}  // namespace cpu

}  // namespace anydml
