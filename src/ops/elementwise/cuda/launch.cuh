// SPDX-License-Identifier: MIT
// Builds a kernel's parameter from a prepared step.
#pragma once

#include <algorithm>
#include <new>

#include "base/integers.h"
#include "ops/elementwise/cuda/kernel_set.h"
#include "ops/elementwise/cuda/launch_device.cuh"

namespace anydml::cuda {

static_assert(kMaxOperands <= 16 && kLaunchRank == kMaxRank);

template <int kOperands>
[[nodiscard]] Launch<kOperands> make_launch(const KernelLaunch& from) {
  const Geometry& geometry = from.geometry;
  Launch<kOperands> launch;
  launch.count = geometry.count;
  launch.rank = geometry.rank;
  launch.vectors = geometry.vectors;
  launch.stays = static_cast<std::uint16_t>(geometry.stays);
  launch.aligned = from.aligned;
  launch.vectors_of_row = geometry.vectors_of_row;
  std::copy_n(from.addresses, kOperands, launch.addresses);
  std::copy_n(geometry.sizes, kMaxRank, launch.sizes);
  for (std::size_t loop = 0; loop < kMaxRank; ++loop) {
    std::copy_n(geometry.strides[loop], kOperands, launch.strides[loop]);
  }
  return launch;
}

// Interprets the bytes as an object of the definition's class.
template <class Scalar>
[[nodiscard]] const Scalar& scalar_in(const ScalarBytes& bytes) {
  return *std::launder(reinterpret_cast<const Scalar*>(bytes.bytes));
}

}  // namespace anydml::cuda
