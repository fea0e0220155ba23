// SPDX-License-Identifier: MIT
// Kernels for rows whose tensors differ in type: one for each variant, found by a table, from the scalar definition.
#pragma once

#include "backend/cuda/kernels/device.cuh"

namespace anydml::cuda {

using TypedLaunch = cudaError_t (*)(const Launch& launch, const Attributes& attributes, cudaStream_t stream) noexcept;

// Null when the row has no such variant, or is of one type.
[[nodiscard]] TypedLaunch find_typed(RowId row, std::uint32_t variant) noexcept;

#if defined(__CUDACC__)

inline constexpr u32 kTypedThreads = 256;
inline constexpr u32 kTypedElements = 4;  // of a thread, as far apart as the block is wide

template <class ScalarOp, std::size_t... kInputs>
__device__ inline void typed_element(const Launch& launch, const ScalarOp& scalar, u32 index,
                                     std::index_sequence<kInputs...>) {
  using Types = Signature<ScalarOp>;
  using Output = typename Types::Output;
  constexpr u32 kOutput = sizeof...(kInputs);
  std::int64_t offsets[kMaxOperands] = {};
  add_offsets(launch, launch.rank, index, offsets);
  const Output result = scalar(__builtin_bit_cast(
      typename Types::template Input<kInputs>, load_element<typename Types::template Input<kInputs>>(
                                                   launch.addresses[kInputs] + offsets[kInputs], launch.aligned))...);
  store_element<Output>(launch.addresses[kOutput] + offsets[kOutput], __builtin_bit_cast(bits_t<Output>, result),
                        launch.aligned);
}

// Any layout at any address.
template <class ScalarOp>
__global__ void __launch_bounds__(kTypedThreads)
    typed_strided(const __grid_constant__ Launch launch, const __grid_constant__ Attributes attributes) {
  const auto scalar = make_scalar<ScalarOp>(attributes);
  const u32 first = blockIdx.x * (kTypedThreads * kTypedElements) + threadIdx.x;
#pragma unroll
  for (u32 i = 0; i < kTypedElements; ++i) {
    const u32 index = first + i * kTypedThreads;
    if (index < launch.count && index >= first) {  // it may pass 32 bits
      typed_element(launch, scalar, index, std::make_index_sequence<Signature<ScalarOp>::kInputs>{});
    }
  }
}

template <class ScalarOp>
[[nodiscard]] cudaError_t launch_typed(const Launch& launch, const Attributes& attributes,
                                       cudaStream_t stream) noexcept {
  const u32 blocks = (launch.count - 1) / (kTypedThreads * kTypedElements) + 1;
  typed_strided<ScalarOp><<<blocks, kTypedThreads, 0, stream>>>(launch, attributes);
  return cudaGetLastError();
}

#endif

}  // namespace anydml::cuda
