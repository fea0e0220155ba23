// SPDX-License-Identifier: MIT
// Kernels for every row and type, from the scalar definitions: what is not tuned runs in these, and what is tuned is
// tested against them.
#pragma once

#include "backend/cuda/kernels/families.h"

namespace anydml::cuda {

enum class RowSet { all, all_but_modulus, plain };  // plain: nor what takes attributes

template <template <class> class ScalarOp, class T, int kWords>
__device__ inline void apply_scalar(const Attributes& attributes, const u32 (&a)[kWords], const u32 (&b)[kWords],
                                    const u32 (&c)[kWords], u32 (&out)[kWords]) {
  constexpr std::size_t kInputs = scalar_inputs<ScalarOp<T>, T>();
  if constexpr (kInputs != 0) {
    const auto op = make_scalar<ScalarOp<T>>(attributes);
    const auto element = [](const u32(&words)[kWords], int i) { return __builtin_bit_cast(T, extract<T>(words, i)); };
    u32 results[kWords] = {};
    constexpr int kElements = kWords * 4 / static_cast<int>(sizeof(T));
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      T result;
      if constexpr (kInputs == 1) {
        result = op(element(a, i));
      } else if constexpr (kInputs == 2) {
        result = op(element(a, i), element(b, i));
      } else {
        result = op(element(a, i), element(b, i), element(c, i));
      }
      insert<T>(results, i, __builtin_bit_cast(bits_t<T>, result));
    }
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      out[i] = results[i];
    }
  }
}

template <RowSet kRows, template <class> class ScalarOp, class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_in(RowId row) {
  return kRows == RowSet::all || (!is_modulus(row) && (kRows == RowSet::all_but_modulus ||
                                                       !std::is_constructible_v<ScalarOp<T>, const Attributes&>));
}

// One row on the elements of words. The row is the same for the whole grid.
template <RowSet kRows, class T, int kWords>
__device__ inline void apply_row(RowId row, const Attributes& attributes, const u32 (&a)[kWords],
                                 const u32 (&b)[kWords], const u32 (&c)[kWords], u32 (&out)[kWords]) {
  switch (row) {
#define ANYDML_TYPED_ROW(op, Scalar, ulp) \
  case RowId::op:                         \
    break;
#define ANYDML_ROW(op, Scalar, ulp)                              \
  case RowId::op:                                                \
    if constexpr (is_in<kRows, Scalar, T>(RowId::op)) {          \
      apply_scalar<Scalar, T, kWords>(attributes, a, b, c, out); \
    }                                                            \
    break;
#include "ops/elementwise/elementwise.def"
    case RowId::count_:
      break;
  }
}

// A program on the elements of words; `out` is the last instruction's result.
template <RowSet kRows, class T, int kWords>
__device__ inline void run_program(const Program& program, const u32 (&inputs)[kMaxInputs][kWords],
                                   u32 (&out)[kWords]) {
  static_assert(kMaxInstructions == 2);
  const auto run = [&](const Instruction& instruction, const u32(&before)[kWords]) {
    u32 sources[kMaxInputs][kWords];
#pragma unroll
    for (std::size_t source = 0; source < kMaxInputs; ++source) {
      const u32 from = instruction.sources[source];
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        sources[source][i] = from >= kMaxOperands ? before[i]
                             : from == 0          ? inputs[0][i]
                             : from == 1          ? inputs[1][i]
                                                  : inputs[2][i];
      }
    }
    apply_row<kRows, T>(row_of(instruction), instruction.attributes, sources[0], sources[1], sources[2], out);
  };
#pragma unroll 1
  for (u32 i = 0; i < program.instruction_count; ++i) {
    u32 before[kWords];
#pragma unroll
    for (int j = 0; j < kWords; ++j) {
      before[j] = out[j];
    }
    run(program.instructions[i], before);
  }
}

inline constexpr u32 kGenericThreads = 256;

// Any layout at any address, an element for each thread.
template <class T>
__global__ void __launch_bounds__(kGenericThreads)
    generic_strided(const __grid_constant__ Launch launch, const __grid_constant__ Program program) {
  constexpr int kWords = sizeof(T) == 8 ? 2 : 1;
  const u32 index = blockIdx.x * kGenericThreads + threadIdx.x;
  if (index >= launch.count) {
    return;
  }
  std::int64_t offsets[kMaxOperands] = {};
  add_offsets(launch, launch.rank, index, offsets);
  const u32 output = launch.operands - 1;
  u32 inputs[kMaxInputs][kWords] = {};
  std::byte* to = nullptr;
#pragma unroll
  for (u32 operand = 0; operand < kMaxOperands; ++operand) {
    std::byte* address = launch.addresses[operand] + offsets[operand];
    if (operand == output) {
      to = address;
    } else if (operand < output && operand < kMaxInputs) {
      insert<T>(inputs[operand < kMaxInputs ? operand : 0], 0, load_element<T>(address, launch.aligned));
    }
  }
  u32 result[kWords] = {};
  run_program<RowSet::all, T>(program, inputs, result);
  store_element<T>(to, extract<T>(result, 0), launch.aligned);
}

// Rows that are contiguous, or stay at one element, 16 bytes at a time.
template <class T>
__global__ void __launch_bounds__(kGenericThreads)
    generic_vectors(const __grid_constant__ Launch launch, const __grid_constant__ Program program) {
  constexpr int kWords = 4;
  const u32 vector = blockIdx.x * kGenericThreads + threadIdx.x;
  if (vector >= launch.vectors) {
    return;
  }
  std::int64_t offsets[kMaxOperands] = {};
  u32 column = vector;
  u32 columns = launch.count;
  if (launch.rank != 1) {
    const Quotient parts = divide(vector, launch.vectors_of_row);
    column = parts.remainder;
    columns = launch.sizes[launch.rank - 1].divisor;
    add_offsets(launch, launch.rank - 1, parts.quotient, offsets);
  }
  const u32 elements = min(columns - column * kVectorElements<T>, kVectorElements<T>);
  const bool whole = elements == kVectorElements<T>;
  const u32 output = launch.operands - 1;
  u32 inputs[kMaxInputs][kWords] = {};
  std::byte* to = nullptr;
#pragma unroll
  for (u32 operand = 0; operand < kMaxOperands; ++operand) {
    const bool stays = (launch.inner_broadcast >> operand & 1) != 0;
    std::byte* address = launch.addresses[operand] + offsets[operand] + (stays ? u64{0} : u64{column} * kVectorBytes);
    if (operand == output) {
      to = address;
    } else if (operand < output && operand < kMaxInputs) {
      u32(&words)[kWords] = inputs[operand < kMaxInputs ? operand : 0];
      if (stays) {
        u32 filled[2];
        fill_words<T>(load_element<T>(address, true), filled);
        words[0] = words[2] = filled[0];
        words[1] = words[3] = filled[1];
      } else if (whole) {
        const uint4 loaded = *reinterpret_cast<const uint4*>(address);
        words[0] = loaded.x;
        words[1] = loaded.y;
        words[2] = loaded.z;
        words[3] = loaded.w;
      } else {
        u32 loaded[kWords];
        load_some<T>(address, elements, loaded);
#pragma unroll
        for (int i = 0; i < kWords; ++i) {
          words[i] = loaded[i];
        }
      }
    }
  }
  u32 results[kWords] = {};
  run_program<RowSet::all_but_modulus, T>(program, inputs, results);
  if (whole) {
    *reinterpret_cast<uint4*>(to) = uint4{results[0], results[1], results[2], results[3]};
  } else {
    u32 stored[kWords] = {results[0], results[1], results[2], results[3]};
    store_some<T>(to, elements, stored);
  }
}

template <class T>
[[nodiscard]] cudaError_t launch_generic(KernelShape shape, const Launch& launch, const Program& program,
                                         cudaStream_t stream) noexcept {
  const bool vectors = shape == KernelShape::vector;
  const u32 blocks = ((vectors ? launch.vectors : launch.count) - 1) / kGenericThreads + 1;
  if (vectors) {
    generic_vectors<T><<<blocks, kGenericThreads, 0, stream>>>(launch, program);
  } else {
    generic_strided<T><<<blocks, kGenericThreads, 0, stream>>>(launch, program);
  }
  return cudaGetLastError();
}

}  // namespace anydml::cuda
