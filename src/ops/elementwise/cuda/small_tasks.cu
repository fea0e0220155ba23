// SPDX-License-Identifier: MIT
// Runs many steps over few elements in one launch. The tasks are passed as the kernel's parameter, and launches with
// few tasks use a smaller parameter. A single kernel contains all entries that small tasks support (kIsSmall), since a
// separate launch for each entry would cost more than the tasks themselves.
#include <algorithm>

#include "ops/elementwise/cuda/entry_kernels.cuh"
#include "ops/elementwise/cuda/kernel_set.h"
#include "ops/elementwise/cuda/modulus_floats.cuh"
#include "ops/elementwise/cuda/modulus_integers.cuh"
#include "ops/elementwise/cuda/small_tasks.cuh"
#include "ops/elementwise/cuda/traits.h"

namespace anydml::cuda {
namespace {

constexpr u32 kWaveThreads = 512;  // powers of two
constexpr u32 kTaskThreads = 256;
constexpr u32 kWarp = 32;

template <u32 kMax>
struct Tasks {
  u32 count;
  bool in_waves;  // all tasks in one block; otherwise each task has its own block
  KernelTask tasks[kMax];
};
static_assert(sizeof(Tasks<kMaxSmallTasks>) <= 32764);

// The location of one vector of a task.
struct Piece {
  const std::byte* inputs[kSmallInputs];
  std::byte* output;
  u32 elements;  // number of elements that exist
  u32 broadcast;
  bool whole;  // all elements exist, and the addresses are multiples of 16
};

template <class T>
__device__ inline void load_piece(const Piece& piece, u32 input, u32 (&words)[4]) {
  const std::byte* from = piece.inputs[input];
  if ((piece.broadcast >> input & 1) != 0) {
    u32 filled[2];
    fill_words<T>(load_element<T>(from, true), filled);
    words[0] = words[2] = filled[0];
    words[1] = words[3] = filled[1];
  } else if (piece.whole) {
    const uint4 loaded = *reinterpret_cast<const uint4*>(from);
    words[0] = loaded.x;
    words[1] = loaded.y;
    words[2] = loaded.z;
    words[3] = loaded.w;
  } else {
    u32 loaded[4];
    load_some<T>(from, piece.elements, loaded);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      words[i] = loaded[i];
    }
  }
}

// The number of inputs of an entry; 0 if small tasks do not support it.
template <class T>
[[nodiscard]] __device__ inline u32 inputs_of(EntryId entry) {
  switch (entry) {
#define ANYDML_TYPED_ENTRY(op, Definition)
#define ANYDML_INTERNAL_ENTRY(op, Definition)
#define ANYDML_ENTRY(op, Definition)            \
  case EntryId::op:                             \
    if constexpr (is_small<Definition>()) {     \
      return scalar_inputs<Definition<T>, T>(); \
    }                                           \
    break;
#include "ops/elementwise/elementwise.def"
    default:
      break;
  }
  return 0;
}

template <class Scalar, class T>
__device__ inline void apply_scalar(const u32 (&inputs)[kSmallInputs][4], u32 (&results)[4]) {
  if constexpr (Defined<Scalar>) {
    static_assert(!std::is_constructible_v<Scalar, const Attributes&> &&
                  DefinitionTypes<Scalar>::kInputs <= kSmallInputs);
#pragma unroll
    for (int i = 0; i < static_cast<int>(kVectorElements<T>); ++i) {
      insert<T>(results, i, DefinitionTypes<Scalar>::apply(Scalar{}, [&]<class, int kInput>() {
                  return extract<T>(inputs[kInput], i);
                }));
    }
  }
}

// Applies one entry to a vector of elements; the results must be 0 initially.
template <class T>
__device__ inline void apply_entry(EntryId entry, const u32 (&inputs)[kSmallInputs][4], u32 (&results)[4]) {
  switch (entry) {
    case EntryId::ELEMENT_WISE_MODULUS_FLOOR:
      Modulus<true, T>::many(inputs[0], inputs[1], results);
      return;
    case EntryId::ELEMENT_WISE_MODULUS_TRUNCATE:
      Modulus<false, T>::many(inputs[0], inputs[1], results);
      return;
    default:
      break;
  }
  switch (entry) {
#define ANYDML_TYPED_ENTRY(op, Definition)
#define ANYDML_INTERNAL_ENTRY(op, Definition)
#define ANYDML_ENTRY(op, Definition)                                    \
  case EntryId::op:                                                     \
    if constexpr (is_small<Definition>() && !kIsTuned<Definition<T>>) { \
      apply_scalar<Definition<T>, T>(inputs, results);                  \
    }                                                                   \
    break;
#include "ops/elementwise/elementwise.def"
    default:
      break;
  }
}

template <class T>
__device__ inline void run_piece(EntryId entry, const Piece& piece) {
  u32 inputs[kSmallInputs][4] = {};
  const u32 input_count = inputs_of<T>(entry);
#pragma unroll
  for (u32 input = 0; input < kSmallInputs; ++input) {
    if (input < input_count) {
      load_piece<T>(piece, input, inputs[input]);
    }
  }
  u32 results[4] = {};
  apply_entry<T>(entry, inputs, results);
  if (piece.whole) {
    *reinterpret_cast<uint4*>(piece.output) = uint4{results[0], results[1], results[2], results[3]};
  } else {
    const u32 stored[4] = {results[0], results[1], results[2], results[3]};
    store_some<T>(piece.output, piece.elements, stored);
  }
}

[[nodiscard]] __device__ inline u32 size_shift(DataType type) {
  switch (type) {
#define ANYDML_SHIFT(T, name, value) \
  case DataType::name:               \
    return sizeof(T) == 8 ? 3 : sizeof(T) / 2;
    ANYDML_FOR_EACH_TYPE(ANYDML_SHIFT)
#undef ANYDML_SHIFT
    case DataType::UINT4:
    case DataType::INT4:
    case DataType::unknown:
      break;
  }
  return 0;
}

// Processes vectors first, first + step, ... of a task.
__device__ inline void run_vectors(const KernelTask& task, u32 first, u32 step) {
  const auto type = static_cast<DataType>(task.type);
  const u32 shift = size_shift(type);
  const u32 bytes = task.count << shift;
  u64 addresses = reinterpret_cast<u64>(task.operands[3]);
#pragma unroll
  for (u32 input = 0; input < kSmallInputs; ++input) {
    addresses |= (task.broadcast >> input & 1) != 0 ? 0 : reinterpret_cast<u64>(task.operands[input]);
  }
#pragma unroll 1
  for (u32 at = first * kVectorBytes; at < bytes; at += step * kVectorBytes) {
    Piece piece;
#pragma unroll
    for (u32 input = 0; input < kSmallInputs; ++input) {
      piece.inputs[input] = task.operands[input] + ((task.broadcast >> input & 1) != 0 ? 0 : at);
    }
    piece.output = task.operands[3] + at;
    piece.elements = min(bytes - at, kVectorBytes) >> shift;
    piece.broadcast = task.broadcast;
    piece.whole = addresses % kVectorBytes == 0 && bytes - at >= kVectorBytes;
    switch (type) {
#define ANYDML_RUN(T, name, value)                        \
  case DataType::name:                                    \
    run_piece<T>(static_cast<EntryId>(task.code), piece); \
    break;
      ANYDML_FOR_EACH_TYPE(ANYDML_RUN)
#undef ANYDML_RUN
      case DataType::UINT4:
      case DataType::INT4:
      case DataType::unknown:
        break;
    }
  }
}

// The vectors of a wave's tasks are distributed among the threads. Each task starts at the warp where the previous one
// ended, and the block synchronizes between waves. One kernel implements both modes of Tasks::in_waves, because its
// code is large.
template <u32 kMax>
__global__ void __launch_bounds__(kWaveThreads) run_tasks(const __grid_constant__ Tasks<kMax> tasks) {
  const u32 begin = tasks.in_waves ? 0 : blockIdx.x;
  const u32 end = tasks.in_waves ? tasks.count : begin + 1;
  u32 start = 0;
  KernelTask next = tasks.tasks[begin];
#pragma unroll 1
  for (u32 i = begin; i < end; ++i) {
    const KernelTask task = next;
    if (i + 1 < end) {
      next = tasks.tasks[i + 1];
    }
    if (task.begins_wave && i != begin) {
      __syncthreads();
      start = 0;
    }
    const u32 vectors =
        ((task.count << size_shift(static_cast<DataType>(task.type))) + kVectorBytes - 1) / kVectorBytes;
    const u32 mine = (threadIdx.x - start) & (blockDim.x - 1);
    if (mine < vectors) {
      run_vectors(task, mine, blockDim.x);
    }
    start = (start + (vectors + kWarp - 1) / kWarp * kWarp) & (blockDim.x - 1);
  }
}

template <u32 kMax>
cudaError_t launch_tasks(const SmallTask* tasks, u32 count, bool waves, cudaStream_t stream) {
  Tasks<kMax> parameter;
  parameter.count = count;
  parameter.in_waves = waves;
  copy_tasks(tasks, count, parameter.tasks);
  run_tasks<kMax><<<waves ? 1 : count, waves ? kWaveThreads : kTaskThreads, 0, stream>>>(parameter);
  return cudaGetLastError();
}

// Whether the task has the same operator and type as the first and consists of whole vectors.
bool is_plain(const SmallTask& task, const SmallTask& first) {
  const std::size_t bytes = task.count * element_size(static_cast<DataType>(task.type));
  const std::uint64_t addresses = task.operands[0] | task.operands[1] | task.operands[kSmallInputs];
  return task.code == first.code && task.type == first.type && (task.broadcast & 3) == 0 &&
         (bytes | addresses) % kVectorBytes == 0;
}

cudaError_t launch_tasks(const SmallTask* tasks, u32 count, bool waves, cudaStream_t stream) {
  if (count == 0) {
    return cudaSuccess;
  }
  if (count > kMaxSmallTasks) {
    return cudaErrorInvalidValue;
  }
  if (count <= 24) {
    return launch_tasks<24>(tasks, count, waves, stream);  // below 1 KiB
  }
  return launch_tasks<kMaxSmallTasks>(tasks, count, waves, stream);
}

}  // namespace

cudaError_t launch_at_once(const SmallTask* tasks, std::uint32_t count, cudaStream_t stream) noexcept {
  return launch_tasks(tasks, count, false, stream);
}

cudaError_t launch_in_waves(const SmallTask* tasks, std::uint32_t count, cudaStream_t stream) noexcept {
  if (count == 0 || count > kMaxSmallTasks) {
    return count == 0 ? cudaSuccess : cudaErrorInvalidValue;
  }
  const auto type = static_cast<DataType>(tasks[0].type);
  const auto entry = static_cast<EntryId>(tasks[0].code);
  const bool floor = entry == EntryId::ELEMENT_WISE_MODULUS_FLOOR;
  if ((!floor && entry != EntryId::ELEMENT_WISE_MODULUS_TRUNCATE) ||
      !std::all_of(tasks, tasks + count, [&](const SmallTask& task) { return is_plain(task, tasks[0]); })) {
    return launch_tasks(tasks, count, true, stream);
  }
  WaveTasks parameter;
  parameter.count = count;
  copy_tasks(tasks, count, parameter.tasks);
  return visit_type(type, [&]<class T>() {
    return floor ? launch_modulus_waves<!std::is_unsigned_v<T>, T>(parameter, stream)
                 : launch_modulus_waves<false, T>(parameter, stream);
  });
}

}  // namespace anydml::cuda
