// SPDX-License-Identifier: MIT
// Prepares the steps of the regions family on the CPU.
#include "backend/cpu/family.h"

#include <cstring>

#include "ops/regions/cpu/kernels.h"

namespace anydml {
namespace {

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context, cpu::Neighbors) {
  RegionStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  switch (step.kind) {
    case RegionKind::pooling:
      return prepare_region_pooling(step, context);
    case RegionKind::align:
      return prepare_region_align(step, context);
    case RegionKind::image_gradient:
    case RegionKind::region_gradient:
      return prepare_region_gradients(step, context);
  }
  return nullptr;
}

}  // namespace

namespace cpu {
extern const FamilyKernels regions_family;
const FamilyKernels regions_family = {.open = nullptr, .prepare = prepare, .prepare_joined = nullptr};
}  // namespace cpu

}  // namespace anydml
