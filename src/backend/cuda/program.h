// SPDX-License-Identifier: MIT
// A compiled plan: its steps, prepared by their families.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "backend/cuda/family.h"
#include "backend/cuda/recordings.h"

namespace anydml {

struct BackendProgram {
  struct PlacedStep {
    const cuda::FamilyKernels* family = nullptr;
    std::unique_ptr<cuda::PreparedStep> prepared;
    std::vector<Operand> operands;  // followed by the operands of its joined steps
  };
  std::vector<PlacedStep> steps;
  std::uint32_t temporary_slot = 0;
  std::uint64_t workspace_offset = 0;            // from the address of the temporary slot
  std::uint64_t temporary_bytes = 0;             // up to the end of the workspace, which all steps share
  std::size_t slots = 0;                         // the number of slots whose addresses a run receives
  std::unique_ptr<cuda::Recordings> recordings;  // for a program with enough launches to be worth recording
};

namespace cuda {

// May throw std::bad_alloc.
[[nodiscard]] BackendStatus prepare_steps(const BackendPlan& plan, const GpuProperties& gpu, BackendProgram& program);

}  // namespace cuda
}  // namespace anydml
