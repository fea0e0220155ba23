// SPDX-License-Identifier: MIT
// Packs elements into the contiguous layout that kernels read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/product/cpu/kernels.h"
#include "ops/product/cpu/vector_kernels.h"

namespace anydml {

// to[k * width + i] = from[k, i] for k below `depth` and i below `count`, and +0 for i from `count` to `width`. Strides
// are in bytes, and addresses may have any alignment. kernels: may be null.
void pack_panel(const ProductKernels* kernels, const std::byte* from, std::int64_t k_stride, std::int64_t stride,
                std::int64_t depth, std::int64_t count, std::int64_t width, f32* to) noexcept;

// Like pack_panel, but for FLOAT16 elements. Both kernels and vectors may be null.
void pack_halves(const ProductKernels* kernels, const VectorKernels* vectors, const std::byte* from,
                 std::int64_t k_stride, std::int64_t stride, std::int64_t depth, std::int64_t count, std::int64_t width,
                 f32* to) noexcept;

// Like pack_panel, but copies FLOAT16 elements without converting them.
void pack_half_panel(const std::byte* from, std::int64_t k_stride, std::int64_t stride, std::int64_t depth,
                     std::int64_t count, std::int64_t width, std::byte* to) noexcept;

}  // namespace anydml
