// SPDX-License-Identifier: MIT
// The kernels of one variant, generated from its scalar definition: entries without tuned kernels use them, and tuned
// kernels are tested against them. Each variant has separate kernels, so that no kernel needs more registers than its
// own variant requires.
#pragma once

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "ops/elementwise/cuda/entry_device.cuh"
#include "ops/elementwise/cuda/half_tables.cuh"
#include "ops/elementwise/cuda/launch.cuh"
#include "ops/scalar/scalars.h"

namespace anydml::cuda {

// Combines an entry and a ScaleBias of its first input into one definition, so that both run in one kernel and in one
// pass over memory.
template <class Scalar, class Call = decltype(&Scalar::operator())>
struct AfterScaleBias;
template <class Scalar, class Result, class First, class... Rest>
struct AfterScaleBias<Scalar, Result (Scalar::*)(First, Rest...) const> {
  ScaleBias<First> scaled;
  Scalar scalar;

  AfterScaleBias(const Attributes& scale_bias, const Attributes& attributes)
      : scaled(scale_bias), scalar(make_scalar<Scalar>(attributes)) {}

  [[nodiscard]] __host__ __device__ constexpr Result operator()(First first, Rest... rest) const {
    return scalar(scaled(first), rest...);
  }
};

template <class Scalar, class Call>
inline constexpr bool kIsHalfFunction<AfterScaleBias<Scalar, Call>> = kIsHalfFunction<Scalar>;

template <class Scalar>
[[nodiscard]] Scalar make_kernel_scalar([[maybe_unused]] const Attributes& scale_bias, const Attributes& attributes) {
  if constexpr (std::is_constructible_v<Scalar, const Attributes&, const Attributes&>) {
    return Scalar(scale_bias, attributes);
  } else {
    return make_scalar<Scalar>(attributes);
  }
}

template <class Scalar>
void put_scalar(const Attributes& scale_bias, const Attributes& attributes, ScalarBytes& to) {
  static_assert(sizeof(Scalar) <= kScalarBytes && alignof(Scalar) <= 16 && std::is_trivially_copyable_v<Scalar>);
  ::new (static_cast<void*>(to.bytes)) Scalar(make_kernel_scalar<Scalar>(scale_bias, attributes));
}

template <class Scalar>
[[nodiscard]] cudaError_t launch_row_strided(const KernelLaunch& from, cudaStream_t stream) noexcept {
  const u32 blocks = ceil_div(from.geometry.count, kRowThreads * kRowElements);
  row_strided<Scalar><<<blocks, kRowThreads, 0, stream>>>(make_launch<DefinitionTypes<Scalar>::kOperands>(from),
                                                          scalar_in<Scalar>(from.scalar));
  return cudaGetLastError();
}

template <class Scalar, class Shape = RowShape<Scalar>>
[[nodiscard]] cudaError_t launch_row_vectors(const KernelLaunch& from, cudaStream_t stream) noexcept {
  if constexpr (kIsHalfFunction<Scalar>) {
    const Geometry& geometry = from.geometry;
    if (geometry.rank == 1 && geometry.stays == 0 && geometry.count >= kWorthTable) {
      if (const u16* const table = find_half_table(fill_half_table<Scalar>, from.scalar, sizeof(Scalar), from.gpu)) {
        return launch_half_table(table, from.addresses[0], from.addresses[1], geometry.count, from.gpu, stream);
      }
    }
  }
  if constexpr (kIsFunction<Scalar>) {
    if (from.geometry.rank == 1 && from.geometry.stays == 0) {
      PlainLaunch<DefinitionTypes<Scalar>::kOperands> launch;
      std::copy_n(from.addresses, DefinitionTypes<Scalar>::kOperands, launch.addresses);
      launch.count = from.geometry.count;
      using Like = typename FunctionLike<Scalar>::type;
      using Plain = PlainShape<Like>;
      const u32 blocks = ceil_div(launch.count, Plain::kOfBlock * DefinitionTypes<Scalar>::kVectorElements);
      if constexpr (std::is_same_v<Like, Scalar>) {
        row_plain<Scalar><<<blocks, Plain::kThreads, 0, stream>>>(launch, scalar_in<Scalar>(from.scalar));
      } else {
        row_plain<Like><<<blocks, Plain::kThreads, 0, stream>>>(launch, Like{});
      }
      return cudaGetLastError();
    }
  }
  const u32 blocks = ceil_div(from.geometry.vectors, Shape::kOfBlock);
  row_vectors<Scalar, Shape><<<blocks, Shape::kThreads, 0, stream>>>(
      make_launch<DefinitionTypes<Scalar>::kOperands>(from), scalar_in<Scalar>(from.scalar));
  return cudaGetLastError();
}

// A kernel set with the properties of the definition, but without kernels.
template <class Scalar>
[[nodiscard]] constexpr KernelSet describe_kernels() {
  using Types = DefinitionTypes<Scalar>;
  static_assert(Types::kInputs <= static_cast<int>(kMaxInputs));
  KernelSet set{};
  set.inputs = static_cast<std::uint8_t>(Types::kInputs);
  set.max_staying = set.inputs;
  set.vector_elements = static_cast<std::uint8_t>(Types::kVectorElements);
  for (int operand = 0; operand < Types::kOperands; ++operand) {
    set.element_sizes[operand] = static_cast<std::uint8_t>(Types::kSizes[operand]);
  }
  set.output_type = static_cast<std::uint8_t>(kDataTypeOf<typename Types::Output>);
  set.make_scalar = put_scalar<Scalar>;
  return set;
}

template <class Scalar>
[[nodiscard]] constexpr KernelSet make_entry_kernels() {
  KernelSet set = describe_kernels<Scalar>();
  set.strided = launch_row_strided<Scalar>;
  set.vector = launch_row_vectors<Scalar>;
  return set;
}
template <class Scalar>
inline constexpr KernelSet kEntryKernels = make_entry_kernels<Scalar>();

}  // namespace anydml::cuda
