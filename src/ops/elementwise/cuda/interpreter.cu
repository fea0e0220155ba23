// SPDX-License-Identifier: MIT
// The interpreter's kernel and its table of device functions, one for each variant of each entry. Both have to be in
// the same file: a device function's address is valid only within its own module, and separately compiled files are
// separate modules. (Relocatable device code would link them into one module, but for GPUs that the build does not
// target, the driver would then have to do the linking.) Each function is a single call to a definition, so the file
// compiles quickly despite its many entries.
#include "ops/elementwise/cuda/interpreter.h"

#include <algorithm>
#include <utility>

#include "ops/elementwise/cuda/entry_kernels.cuh"
#include "ops/elementwise/cuda/traits.h"
#include "ops/elementwise/cuda/variants.h"

namespace anydml::cuda {
namespace {

// A slot contains the bits of a value; the bits above the value's width are ignored.
using DeviceFunction = u64 (*)(const CodeInstruction& instruction, const u64* slots, const u64* scalars);

template <class Scalar>
inline constexpr u32 kScalarWords = std::is_constructible_v<Scalar, const Attributes&>
                                        ? (sizeof(Scalar) + sizeof(u64) - 1) / sizeof(u64)
                                        : 0;

template <class Scalar>
__device__ __noinline__ u64 run_scalar(const CodeInstruction& instruction, const u64* slots, const u64* scalars) {
  using Types = DefinitionTypes<Scalar>;
  const auto element = [&]<class T, int kInput>() {
    return static_cast<bits_t<T>>(slots[instruction.sources[kInput]]);
  };
  if constexpr (kScalarWords<Scalar> == 0) {
    return Types::apply(Scalar{}, element);
  } else {
    return Types::apply(*reinterpret_cast<const Scalar*>(scalars + instruction.scalar), element);
  }
}

template <class... Scalars>
[[nodiscard]] __device__ inline DeviceFunction function_at(Variants<Scalars...>, u32 number) {
  static const DeviceFunction kAll[] = {run_scalar<KernelScalar<Scalars>>...};
  return kAll[number];
}

// Launches with few instructions use a smaller kernel parameter.
template <std::size_t kInstructions, std::size_t kScalars>
struct CodeParameter {
  Launch<kMaxOperands> launch;
  u16 loads;
  u16 stores;
  u32 instructions;
  CodeAccess accesses[kMaxOperands];  // the loads, then the stores
  CodeInstruction code[kInstructions];
  u64 scalars[kScalars];
};
using ShortCode = CodeParameter<16, 32>;
using LongCode = CodeParameter<kMaxInstructions, kMaxScalars>;
static_assert(sizeof(LongCode) <= 32764 && sizeof(ShortCode) <= 4096);

[[nodiscard]] __device__ inline u64 load_bits(const std::byte* from, u32 bytes, bool aligned) {
  switch (bytes) {
    case 1:
      return load_element<u8>(from, true);
    case 2:
      return load_element<u16>(from, aligned);
    case 4:
      return load_element<u32>(from, aligned);
    default:
      return load_element<u64>(from, aligned);
  }
}

__device__ inline void store_bits(std::byte* to, u64 bits, u32 bytes, bool aligned) {
  switch (bytes) {
    case 1:
      return store_element<u8>(to, static_cast<u8>(bits), true);
    case 2:
      return store_element<u16>(to, static_cast<u16>(bits), aligned);
    case 4:
      return store_element<u32>(to, static_cast<u32>(bits), aligned);
    default:
      return store_element<u64>(to, bits, aligned);
  }
}

// A block of this size fits regardless of how many registers a function uses.
constexpr u32 kCodeThreads = 128;

template <class Parameter>
__global__ void __launch_bounds__(kCodeThreads) run_code(const __grid_constant__ Parameter parameter) {
  const auto& launch = parameter.launch;
  const u32 index = blockIdx.x * kCodeThreads + threadIdx.x;
  if (index >= launch.count) {
    return;
  }
  u32 at[kMaxRank];
  u32 rest = index;
#pragma unroll 1
  for (u32 loop = launch.rank; loop-- > 0;) {
    at[loop] = rest;
    if (loop != 0) {
      const Quotient parts = divide(rest, launch.sizes[loop]);
      at[loop] = parts.remainder;
      rest = parts.quotient;
    }
  }
  const auto address_of = [&](const CodeAccess& access) {
    std::int64_t offset = 0;
#pragma unroll 1
    for (u32 loop = 0; loop < launch.rank; ++loop) {
      offset += static_cast<std::int64_t>(at[loop]) * launch.strides[loop][access.operand];
    }
    return launch.addresses[access.operand] + offset;
  };
  u64 slots[kMaxSlots];
#pragma unroll 1
  for (u32 i = 0; i < parameter.loads; ++i) {
    const CodeAccess& access = parameter.accesses[i];
    slots[access.slot] = load_bits(address_of(access), access.bytes, launch.aligned);
  }
#pragma unroll 1
  for (u32 i = 0; i < parameter.instructions; ++i) {
    const CodeInstruction& instruction = parameter.code[i];
    slots[instruction.result] = function_at(AllVariants{}, instruction.function)(instruction, slots, parameter.scalars);
  }
  // Stores come last, since an output may overlap an input.
#pragma unroll 1
  for (u32 i = 0; i < parameter.stores; ++i) {
    const CodeAccess& access = parameter.accesses[parameter.loads + i];
    store_bits(address_of(access), slots[access.slot], access.bytes, launch.aligned);
  }
}

template <class Parameter>
cudaError_t launch_as(const Code& code, const KernelLaunch& from, cudaStream_t stream) {
  Parameter parameter;
  parameter.launch = make_launch<kMaxOperands>(from);
  parameter.loads = static_cast<u16>(code.loads.size());
  parameter.stores = static_cast<u16>(code.stores.size());
  parameter.instructions = static_cast<u32>(code.instructions.size());
  std::copy(code.stores.begin(), code.stores.end(),
            std::copy(code.loads.begin(), code.loads.end(), parameter.accesses));
  std::copy(code.instructions.begin(), code.instructions.end(), parameter.code);
  std::copy(code.scalars.begin(), code.scalars.end(), parameter.scalars);
  run_code<<<ceil_div(from.geometry.count, kCodeThreads), kCodeThreads, 0, stream>>>(parameter);
  return cudaGetLastError();
}

template <class Scalar>
void put_words(const Attributes& attributes, u64* words) {
  static_assert(alignof(Scalar) <= alignof(u64));
  if constexpr (kScalarWords<Scalar> != 0) {
    ::new (static_cast<void*>(words)) Scalar(attributes);
  }
}

template <class Scalar>
constexpr CodeFunction make_function() {
  using Types = DefinitionTypes<Scalar>;
  CodeFunction function{};
  function.inputs = static_cast<std::uint8_t>(Types::kInputs);
  for (int operand = 0; operand < Types::kOperands; ++operand) {
    function.element_sizes[operand] = static_cast<std::uint8_t>(Types::kSizes[operand]);
  }
  function.scalar_words = static_cast<u16>(kScalarWords<Scalar>);
  function.make_scalar = put_words<Scalar>;
  return function;
}

template <class... Scalars>
[[nodiscard]] const CodeFunction& description_at(Variants<Scalars...>, u32 number) {
  static constexpr CodeFunction kAll[] = {make_function<KernelScalar<Scalars>>()...};
  return kAll[number];
}

}  // namespace

bool find_function(EntryId entry, std::uint32_t variant, CodeFunction& function) noexcept {
  u32 first = 0;
#define ANYDML_ENTRY(op, Definition)                           \
  if (entry == EntryId::op) {                                  \
    if (variant >= VariantsOf<EntryId::op>::kCount) {          \
      return false;                                            \
    }                                                          \
    function = description_at(AllVariants{}, first + variant); \
    function.number = static_cast<u16>(first + variant);       \
    return true;                                               \
  }                                                            \
  first += VariantsOf<EntryId::op>::kCount;
#include "ops/elementwise/elementwise.def"
  return false;
}

cudaError_t launch_code(const Code& code, const KernelLaunch& launch, cudaStream_t stream) noexcept {
  const bool is_short = code.instructions.size() <= 16 && code.scalars.size() <= 32;
  return is_short ? launch_as<ShortCode>(code, launch, stream) : launch_as<LongCode>(code, launch, stream);
}

}  // namespace anydml::cuda
