// SPDX-License-Identifier: MIT
// Trials of a device's own primitives, such as its fused multiply-add, when it is opened. The results are kept on disk
// for each driver, so the trials run once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/vulkan/family.h"

namespace anydml::vulkan {

// Runs kernels on a device that has no programs yet.
class TrialRunner {
 public:
  virtual ~TrialRunner() = default;
  // Runs a kernel with two operands: a copy of `input`, and memory that is copied to `output` afterwards, which begins
  // with zeros. Both begin at multiples of 256. Returns false if the kernel could not be created or run. May throw
  // std::bad_alloc.
  virtual bool run(const KernelCode& code, std::span<const std::uint32_t> constants, std::uint32_t groups,
                   std::span<const std::byte> input, std::span<std::byte> output) = 0;
};

// Tries every primitive that the device claims to have, and returns those whose results were exact, as bits that only
// spirv/ and the families interpret (GpuProperties::primitives). Defined in spirv/. May throw std::bad_alloc.
[[nodiscard]] std::uint64_t try_primitives(const GpuProperties& gpu, TrialRunner& runner);

// Changes when the trials change, so that results on disk are tried again.
[[nodiscard]] std::uint32_t trials_version();

}  // namespace anydml::vulkan
