// SPDX-License-Identifier: MIT
// FLOAT16 products at addresses that are not multiples of the element size, which cuBLASLt does not accept. Such
// products are rare, so this kernel is simple: every thread computes outputs one after another and reads byte by byte.
#include <algorithm>

#include "base/float_bits.h"
#include "ops/product/cuda/kernel_set.h"

namespace anydml::cuda {
namespace {

constexpr u32 kThreads = 256;
constexpr i64 kMaxBlocks = 65'536;

template <class Bits>
ANYDML_HOST_DEVICE Bits read_bytes(const std::byte* from) {
  Bits bits = 0;
  for (u32 i = 0; i < sizeof(Bits); ++i) {
    bits = static_cast<Bits>(bits | static_cast<Bits>(static_cast<Bits>(from[i]) << (8 * i)));
  }
  return bits;
}

template <class Bits>
__device__ void write_bytes(std::byte* to, Bits bits) {
  for (u32 i = 0; i < sizeof(Bits); ++i) {
    to[i] = static_cast<std::byte>(bits >> (8 * i) & 0xff);
  }
}

ANYDML_HOST_DEVICE f32 half_at(const std::byte* from) { return widen_to<f32>(f16{read_bytes<u16>(from)}); }

struct Factors {
  const std::byte* from;
  i64 stride;

  ANYDML_HOST_DEVICE f32 operator()(i64 k) const { return half_at(from + k * stride); }
};

__global__ void odd_half_product(HalfLaunch launch) {
  const i64 of_grid = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < launch.outputs; i += of_grid) {
    const i64 column = i % launch.columns;
    const i64 row = i / launch.columns % launch.rows;
    const i64 batch = i / launch.columns / launch.rows;
    const std::byte* const a = launch.a.at + batch * launch.a.batch_stride + row * launch.a.row_stride;
    const std::byte* const b = launch.b.at + batch * launch.b.batch_stride + column * launch.b.column_stride;
    const f32 total =
        sum_of_products(launch.depth, Factors{a, launch.a.column_stride}, Factors{b, launch.b.row_stride});
    const auto address_of = [&](const HalfMatrixLaunch& matrix) {
      return matrix.at + batch * matrix.batch_stride + row * matrix.row_stride + column * matrix.column_stride;
    };
    f32 result = launch.scale(total);
    if (launch.c.at != nullptr) {
      const std::byte* const c = address_of(launch.c);
      result = launch.scale(total, launch.half_output ? half_at(c) : __uint_as_float(read_bytes<u32>(c)));
    }
    auto* const to = const_cast<std::byte*>(address_of(launch.output));
    if (launch.half_output) {
      write_bytes(to, round_to<f16>(result).bits);
    } else {
      write_bytes(to, __float_as_uint(result));
    }
  }
}

}  // namespace

cudaError_t start_odd_half_product(const HalfLaunch& launch, cudaStream_t stream) {
  const i64 blocks = std::min((launch.outputs + kThreads - 1) / kThreads, kMaxBlocks);
  odd_half_product<<<static_cast<u32>(blocks), kThreads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace anydml::cuda
