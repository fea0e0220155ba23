// SPDX-License-Identifier: MIT
// A plan whose steps are prepared by their families.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "backend/cuda/family.h"

namespace anydml {

struct BackendProgram {
  struct PlacedStep {
    const cuda::Family* family = nullptr;
    std::unique_ptr<cuda::PreparedStep> prepared;
    std::vector<Operand> operands;  // those of the steps that are one with it follow
  };
  std::vector<PlacedStep> steps;
};

namespace cuda {

// Null, or why it cannot be run. May throw std::bad_alloc.
[[nodiscard]] const char* prepare_steps(std::span<const std::uint64_t> plan, BackendProgram& program);

}  // namespace cuda
}  // namespace anydml
