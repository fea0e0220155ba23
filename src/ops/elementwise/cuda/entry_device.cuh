// SPDX-License-Identifier: MIT
// The kernels of one definition, as pure device code.
#pragma once

#include <utility>

#include "ops/elementwise/cuda/launch_device.cuh"
#include "ops/scalar/functions/function.h"
#include "ops/scalar/signature.h"

namespace anydml::cuda {

// The types of a definition's operands: the inputs, then the output.
template <class Scalar, class Call = decltype(&Scalar::operator())>
struct DefinitionTypes;
template <class Scalar, class Result, class... Inputs>
struct DefinitionTypes<Scalar, Result (Scalar::*)(Inputs...) const> {
  using Output = Result;
  static constexpr int kInputs = sizeof...(Inputs);
  static constexpr int kOperands = kInputs + 1;
  static constexpr u32 kSizes[kOperands] = {sizeof(Inputs)..., sizeof(Result)};
  static constexpr u32 kWidest = [] {
    u32 widest = 0;
    for (const u32 size : kSizes) {
      widest = size > widest ? size : widest;
    }
    return widest;
  }();
  // The widest operand is accessed 16 bytes at a time, and narrower operands are accessed in smaller pieces.
  // Neighboring threads then touch neighboring bytes in every access, and each thread has several vectors, which keep
  // enough bytes in flight.
  static constexpr u32 kVectorElements = kVectorBytes / kWidest;
  static constexpr u32 kVectorInputBytes = kVectorElements * (sizeof(Inputs) + ...);

  // The result of a function; element.template operator()<T, i>() returns the bits of input i, of type T.
  template <class Of, class Element>
  [[nodiscard]] static __device__ auto call(const Of& of, const Element& element) {
    return call(of, element, std::index_sequence_for<Inputs...>{});
  }
  // The bits of the scalar's result.
  template <class Element>
  [[nodiscard]] static __device__ bits_t<Result> apply(const Scalar& scalar, const Element& element) {
    return __builtin_bit_cast(bits_t<Result>, call(scalar, element));
  }
  // Calls use.template operator()<T, i>() for each input; the second function includes the output.
  template <class Use>
  static __device__ void for_each_input(const Use& use) {
    for_each_input(use, std::index_sequence_for<Inputs...>{});
  }
  template <class Use>
  static __device__ void for_each_operand(const Use& use) {
    for_each_input(use, std::index_sequence_for<Inputs...>{});
    use.template operator()<Result, kInputs>();
  }

 private:
  template <class Of, class Element, std::size_t... kNumbers>
  [[nodiscard]] static __device__ auto call(const Of& of, const Element& element, std::index_sequence<kNumbers...>) {
    return of(__builtin_bit_cast(Inputs, element.template operator()<Inputs, static_cast<int>(kNumbers)>())...);
  }
  template <class Use, std::size_t... kNumbers>
  static __device__ void for_each_input(const Use& use, std::index_sequence<kNumbers...>) {
    (use.template operator()<Inputs, static_cast<int>(kNumbers)>(), ...);
  }
};

// Supports any layout at any address. Neighboring threads process neighboring elements, a few per thread.

template <class Scalar>
__global__ void __launch_bounds__(kRowThreads)
    row_strided(const __grid_constant__ Launch<DefinitionTypes<Scalar>::kOperands> launch,
                const __grid_constant__ Scalar scalar) {
  using Types = DefinitionTypes<Scalar>;
  using Output = typename Types::Output;
  constexpr int kOutput = Types::kInputs;
  const u32 first = blockIdx.x * (kRowThreads * kRowElements) + threadIdx.x;
  u32 inputs[Types::kInputs][kRowElements][2] = {};
  std::byte* to[kRowElements];
  bool exists[kRowElements];
#pragma unroll
  for (u32 i = 0; i < kRowElements; ++i) {
    const u32 index = first + i * kRowThreads;
    exists[i] = index >= first && index < launch.count;  // guards against wrapping at 2^32
    std::int64_t offsets[Types::kOperands] = {};
    if (exists[i]) {
      add_offsets(launch, launch.rank, index, offsets);
      Types::for_each_input([&]<class T, int kInput>() {
        insert<T>(inputs[kInput][i], 0, load_element<T>(launch.addresses[kInput] + offsets[kInput], launch.aligned));
      });
    }
    to[i] = launch.addresses[kOutput] + offsets[kOutput];
  }
#pragma unroll
  for (u32 i = 0; i < kRowElements; ++i) {
    if (exists[i]) {
      const auto result = Types::apply(scalar, [&]<class T, int kInput>() { return extract<T>(inputs[kInput][i], 0); });
      store_element<Output>(to[i], result, launch.aligned);
    }
  }
}

// Keeps enough bytes in flight per thread; the number was chosen by benchmarks.
template <class Scalar>
using RowShape = VectorShape<kRowThreads, row_vectors_of_thread(DefinitionTypes<Scalar>::kVectorInputBytes)>;

// Processes rows that are contiguous or have a single element, one vector at a time.
template <class Scalar, class Shape = RowShape<Scalar>>
__global__ void __launch_bounds__(Shape::kThreads)
    row_vectors(const __grid_constant__ Launch<DefinitionTypes<Scalar>::kOperands> launch,
                const __grid_constant__ Scalar scalar) {
  using Types = DefinitionTypes<Scalar>;
  using Output = typename Types::Output;
  constexpr int kOperands = Types::kOperands;
  constexpr int kOutput = Types::kInputs;
  constexpr int kVectors = Shape::kVectors;
  constexpr u32 kElements = Types::kVectorElements;
  const u32 first = blockIdx.x * Shape::kOfBlock + threadIdx.x;
  const auto stays = [&launch](int operand) { return (launch.stays >> operand & 1) != 0; };

  // Computes the addresses of a vector's operands and returns how many of its elements exist.
  const auto locate = [&](u32 vector, std::byte*(&addresses)[kOperands]) {
    std::int64_t offsets[kOperands] = {};
    u32 column = vector;
    u32 columns = launch.count;
    if (launch.rank != 1) {
      const Quotient parts = divide(vector, launch.vectors_of_row);
      column = parts.remainder;
      columns = launch.sizes[launch.rank - 1].divisor;
      add_offsets(launch, launch.rank - 1, parts.quotient, offsets);
    }
    Types::for_each_operand([&]<class T, int kOperand>() {
      const u64 along = stays(kOperand) ? u64{0} : u64{column} * (kElements * sizeof(T));
      addresses[kOperand] = launch.addresses[kOperand] + offsets[kOperand] + along;
    });
    return vector < launch.vectors ? min(columns - column * kElements, kElements) : 0;
  };

  std::byte* addresses[kVectors][kOperands];
  bool whole = true;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    whole = locate(first + i * Shape::kThreads, addresses[i]) == kElements && whole;
  }
  if (!whole) {  // the end of a row: element by element, with minimal code
#pragma unroll 1
    for (int i = 0; i < kVectors; ++i) {
      std::byte* at[kOperands];
      const u32 elements = locate(first + i * Shape::kThreads, at);
#pragma unroll 1
      for (u32 element = 0; element < elements; ++element) {
        const auto result = Types::apply(scalar, [&]<class T, int kInput>() {
          return load_element<T>(at[kInput] + (stays(kInput) ? 0 : element * sizeof(T)), true);
        });
        store_element<Output>(at[kOutput] + element * sizeof(Output), result, true);
      }
    }
    return;
  }

  // Issue the loads of all vectors before any code waits for one of them. Broadcast elements are loaded afterwards.
  u32 inputs[kVectors][Types::kInputs][4];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    Types::for_each_input([&]<class T, int kInput>() {
      if (!stays(kInput)) {
        load_access<kElements * sizeof(T), Shape::kStreaming>(addresses[i][kInput], inputs[i][kInput]);
      }
    });
  }
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    Types::for_each_input([&]<class T, int kInput>() {
      if (stays(kInput)) {
        u32 filled[2];
        fill_words<T>(load_element<T>(addresses[i][kInput], true), filled);
        inputs[i][kInput][0] = inputs[i][kInput][2] = filled[0];
        inputs[i][kInput][1] = inputs[i][kInput][3] = filled[1];
      }
    });
  }
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    u32 results[4] = {};
#pragma unroll
    for (u32 element = 0; element < kElements; ++element) {
      insert<Output>(results, static_cast<int>(element), Types::apply(scalar, [&]<class T, int kInput>() {
                       return extract<T>(inputs[i][kInput], static_cast<int>(element));
                     }));
    }
    store_access<kElements * sizeof(Output), Shape::kStreaming>(addresses[i][kOutput], results);
  }
}

// The parameter of kernels whose operands are all contiguous. They have a single row, and a thread computes only the
// address of its first element. Used for functions, which are limited by instructions rather than by memory.
template <int kOperands>
struct PlainLaunch {
  std::byte* addresses[kOperands];
  u32 count;
};

// Computes the results of a vector. All elements first take the ordinary path, so that their instructions interleave; a
// single branch then checks whether any of them is hard.
template <class Scalar, class Element>
__device__ inline void compute_vector(const Scalar& scalar, const Element& element, u32 (&results)[4]) {
  using Types = DefinitionTypes<Scalar>;
  using Output = typename Types::Output;
  constexpr int kElements = Types::kVectorElements;
  const auto of_element = [&](int i) {
    return [&element, i]<class T, int kInput>() { return element.template operator()<T, kInput>(i); };
  };
  Output computed[kElements];
  u32 hard = 0;
#pragma unroll
  for (int i = 0; i < kElements; ++i) {
    if constexpr (kMayBeHard<Scalar>) {
      const auto first =
          Types::call([&](auto... x) { return first_of<Output>(scalar.of, widen(x)...); }, of_element(i));
      const bool asks =
          Types::call([&](auto... x) { return asks_after<Output>(scalar.of, first, widen(x)...); }, of_element(i));
      hard |= static_cast<u32>(asks) << i;
      computed[i] = rounded<Output>(first);
    } else {
      computed[i] = Types::call(scalar, of_element(i));
    }
  }
  if constexpr (kMayBeHard<Scalar>) {
    if (hard != 0) {
#pragma unroll
      for (int i = 0; i < kElements; ++i) {
        if ((hard >> i & 1) != 0) {
          computed[i] =
              Types::call([&](auto... x) { return after_all<Output>(scalar.of, widen(x)...); }, of_element(i));
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kElements; ++i) {
    insert<Output>(results, i, __builtin_bit_cast(bits_t<Output>, computed[i]));
  }
}

template <class Scalar>
using PlainShape = VectorShape<128, row_vectors_of_thread(DefinitionTypes<Scalar>::kVectorInputBytes)>;

template <class Scalar, class Shape = PlainShape<Scalar>>
__global__ void __launch_bounds__(Shape::kThreads)
    row_plain(const __grid_constant__ PlainLaunch<DefinitionTypes<Scalar>::kOperands> launch,
              const __grid_constant__ Scalar scalar) {
  using Types = DefinitionTypes<Scalar>;
  using Output = typename Types::Output;
  constexpr int kOutput = Types::kInputs;
  constexpr u32 kElements = Types::kVectorElements;
  constexpr u32 kOfBlock = Shape::kOfBlock * kElements;
  const u32 begin = blockIdx.x * kOfBlock;
  const u32 left = launch.count - begin;
  if (left < kOfBlock) {  // the last block, element by element
#pragma unroll 1
    for (u32 i = threadIdx.x; i < left; i += Shape::kThreads) {
      const u64 element = u64{begin} + i;
      const auto result = Types::apply(scalar, [&]<class T, int kInput>() {
        return load_element<T>(launch.addresses[kInput] + element * sizeof(T), true);
      });
      store_element<Output>(launch.addresses[kOutput] + element * sizeof(Output), result, true);
    }
    return;
  }
  const u64 first = begin + threadIdx.x * kElements;
  u32 inputs[Shape::kVectors][Types::kInputs][4];
#pragma unroll
  for (int i = 0; i < Shape::kVectors; ++i) {
    Types::for_each_input([&]<class T, int kInput>() {
      load_access<kElements * sizeof(T), Shape::kStreaming>(
          launch.addresses[kInput] + first * sizeof(T) + i * (Shape::kThreads * kElements * sizeof(T)),
          inputs[i][kInput]);
    });
  }
#pragma unroll
  for (int i = 0; i < Shape::kVectors; ++i) {
    u32 results[4] = {};
    const auto element = [&]<class T, int kInput>(int number) { return extract<T>(inputs[i][kInput], number); };
    compute_vector(scalar, element, results);
    store_access<kElements * sizeof(Output), Shape::kStreaming>(
        launch.addresses[kOutput] + first * sizeof(Output) + i * (Shape::kThreads * kElements * sizeof(Output)),
        results);
  }
}

}  // namespace anydml::cuda
