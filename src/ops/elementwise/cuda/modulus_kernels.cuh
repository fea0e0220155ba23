// SPDX-License-Identifier: MIT
// The kernels of the two modulus operators, which process vectors, single elements or tiles.
#pragma once

#include "ops/elementwise/cuda/entry_kernels.cuh"
#include "ops/elementwise/cuda/launch.cuh"
#include "ops/elementwise/cuda/modulus_floats.cuh"
#include "ops/elementwise/cuda/modulus_integers.cuh"
#include "ops/elementwise/cuda/small_tasks.cuh"
#include "ops/elementwise/cuda/tables.h"

namespace anydml::cuda {

// Chosen by benchmarks on an H200, where the speed of the shapes differs by a few percent. Types that need more work
// per byte have more threads per block or more vectors per thread.
template <bool kFloor, class T, bool kOneDivisor>
[[nodiscard]] constexpr auto default_shape() {
  if constexpr (is_float<T> && sizeof(T) == 8) {
    return VectorShape<256, 2, false>{};
  } else if constexpr (sizeof(T) == 8 && (kOneDivisor || !kFloor)) {
    return VectorShape<256, 4>{};
  } else if constexpr (std::is_same_v<T, i8> && !kOneDivisor) {
    return VectorShape<128, 4>{};
  } else {
    return VectorShape<128, 2>{};
  }
}
template <bool kFloor, class T, bool kOneDivisor>
using DefaultShape = decltype(default_shape<kFloor, T, kOneDivisor>());

template <bool kStreaming>
[[nodiscard]] __device__ inline uint4 load_vector(const std::byte* from) {
  const auto* vector = reinterpret_cast<const uint4*>(from);
  return kStreaming ? __ldcs(vector) : *vector;
}

template <bool kStreaming>
__device__ inline void store_vector(std::byte* to, const uint4& value) {
  auto* vector = reinterpret_cast<uint4*>(to);
  if constexpr (kStreaming) {
    __stcs(vector, value);
  } else {
    *vector = value;
  }
}

// The vectors of one thread.
template <int kVectors>
struct ThreadVectors {
  std::byte* addresses[3][kVectors];  // dividends, divisors and results
  u32 elements[kVectors];             // number of elements that exist in each vector
  bool whole;                         // all elements of all vectors exist
};

// Finds the vectors of the calling thread. An operand with a single element per row has the address of that element for
// all vectors of the row.
template <class T, bool kOneDivisor, class Shape>
[[nodiscard]] __device__ __forceinline__ ThreadVectors<Shape::kVectors> find_vectors(const Launch<3>& launch,
                                                                                     bool one_row, bool one_dividend) {
  const u32 first = blockIdx.x * Shape::kOfBlock + threadIdx.x;
  ThreadVectors<Shape::kVectors> found;
  found.whole = true;
#pragma unroll
  for (int i = 0; i < Shape::kVectors; ++i) {
    const u32 vector = first + i * Shape::kThreads;
    std::int64_t offsets[3] = {};
    u32 column = vector;
    u32 columns = launch.count;
    if (!one_row) {
      const Quotient parts = divide(vector, launch.vectors_of_row);
      column = parts.remainder;
      columns = launch.sizes[launch.rank - 1].divisor;
      add_offsets(launch, launch.rank - 1, parts.quotient, offsets);
    }
    const std::int64_t along = static_cast<std::int64_t>(u64{column} * kVectorBytes);
    found.addresses[0][i] = launch.addresses[0] + offsets[0] + (one_dividend ? 0 : along);
    found.addresses[1][i] = launch.addresses[1] + offsets[1] + (kOneDivisor ? 0 : along);
    found.addresses[2][i] = launch.addresses[2] + offsets[2] + along;
    const u32 before = column * kVectorElements<T>;
    found.elements[i] = vector < launch.vectors ? min(columns - before, kVectorElements<T>) : 0;
    found.whole = found.whole && found.elements[i] == kVectorElements<T>;
  }
  return found;
}

// Loads the inputs of whole vectors, except for a dividend that is the same for the whole row.
template <bool kStreaming, int kVectors, int kInputs>
__device__ __forceinline__ void load_whole(const ThreadVectors<kVectors>& vectors, bool one_dividend,
                                           u32 (&inputs)[kInputs][4 * kVectors]) {
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
#pragma unroll
    for (int input = 0; input < kInputs; ++input) {
      if (input == 0 && one_dividend) {
        continue;
      }
      const uint4 loaded = load_vector<kStreaming>(vectors.addresses[input][i]);
      inputs[input][4 * i] = loaded.x;
      inputs[input][4 * i + 1] = loaded.y;
      inputs[input][4 * i + 2] = loaded.z;
      inputs[input][4 * i + 3] = loaded.w;
    }
  }
}

// Loads the elements that exist, and fills the rest of the vectors with zeros. It copies everything to local memory
// first, where loops that are not unrolled can index it, to keep this rare path short.
template <class T, int kVectors, int kInputs>
__device__ __forceinline__ void load_partial(const ThreadVectors<kVectors>& vectors, bool one_dividend,
                                             u32 (&inputs)[kInputs][4 * kVectors]) {
  constexpr int kWords = 4 * kVectors;
  u32 loaded[kInputs][kWords];
#pragma unroll 1
  for (int i = 0; i < kWords; ++i) {
    for (int input = 0; input < kInputs; ++input) {
      loaded[input][i] = 0;
    }
  }
  std::byte* from[kInputs][kVectors];
  u32 some[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    some[i] = vectors.elements[i];
    for (int input = 0; input < kInputs; ++input) {
      from[input][i] = vectors.addresses[input][i];
    }
  }
#pragma unroll 1
  for (int i = 0; i < kVectors; ++i) {
#pragma unroll 1
    for (int input = one_dividend ? 1 : 0; input < kInputs; ++input) {
      load_some<T>(from[input][i], some[i], &loaded[input][4 * i]);
    }
  }
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
#pragma unroll
    for (int input = 0; input < kInputs; ++input) {
      inputs[input][i] = loaded[input][i];
    }
  }
}

// Fills the vectors of dividends with the single dividend of their row.
template <class T, int kVectors>
__device__ __forceinline__ void fill_dividends(const ThreadVectors<kVectors>& vectors, u32 (&dividends)[4 * kVectors]) {
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    u32 filled[2];
    fill_words<T>(vectors.elements[i] != 0 ? load_element<T>(vectors.addresses[0][i], true) : bits_t<T>{0}, filled);
    dividends[4 * i] = dividends[4 * i + 2] = filled[0];
    dividends[4 * i + 1] = dividends[4 * i + 3] = filled[1];
  }
}

// Divides each vector by the single divisor of its row.
template <class M, class T, int kVectors>
__device__ __forceinline__ void divide_by_row(const ThreadVectors<kVectors>& vectors,
                                              const u32 (&dividends)[4 * kVectors], u32 (&results)[4 * kVectors]) {
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const u32 of_vector[4] = {dividends[4 * i], dividends[4 * i + 1], dividends[4 * i + 2], dividends[4 * i + 3]};
    u32 remainders[4];
    const auto divisor = vectors.elements[i] != 0 ? load_element<T>(vectors.addresses[1][i], true) : bits_t<T>{0};
    M::by_one(of_vector, M::prepare(divisor), remainders);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      results[4 * i + j] = remainders[j];
    }
  }
}

template <bool kStreaming, int kVectors>
__device__ __forceinline__ void store_whole(const ThreadVectors<kVectors>& vectors,
                                            const u32 (&results)[4 * kVectors]) {
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    store_vector<kStreaming>(vectors.addresses[2][i],
                             uint4{results[4 * i], results[4 * i + 1], results[4 * i + 2], results[4 * i + 3]});
  }
}

// Processes contiguous rows, 16 bytes at a time. One input may have a single element per row; with kOneDivisor, that
// input is the divisor.
template <bool kFloor, class T, bool kOneDivisor, class Shape = DefaultShape<kFloor, T, kOneDivisor>>
__global__ void __launch_bounds__(Shape::kThreads) modulus_vectors(const __grid_constant__ Launch<3> launch) {
  using M = Modulus<kFloor, T>;
  constexpr int kWords = 4 * Shape::kVectors;
  constexpr int kInputs = kOneDivisor ? 1 : 2;  // inputs that are read as vectors
  const bool one_row = launch.rank == 1;
  const bool one_dividend = !kOneDivisor && (launch.stays & 1) != 0;
  const auto vectors = find_vectors<T, kOneDivisor, Shape>(launch, one_row, one_dividend);

  u32 inputs[kInputs][kWords];
  if (vectors.whole) {
    load_whole<Shape::kStreaming>(vectors, one_dividend, inputs);
  } else {
    if (vectors.elements[0] == 0) {
      return;
    }
    load_partial<T>(vectors, one_dividend, inputs);
  }
  if (one_dividend) {
    fill_dividends<T>(vectors, inputs[0]);
  }

  u32 results[kWords];
  if constexpr (!kOneDivisor) {
    M::many(inputs[0], inputs[1], results);
  } else if (one_row) {
    M::by_one(inputs[0], M::prepare(load_element<T>(launch.addresses[1], true)), results);
  } else {
    divide_by_row<M, T>(vectors, inputs[0], results);
  }

  if (vectors.whole) {
    store_whole<Shape::kStreaming>(vectors, results);
  } else {
    // Store through local memory, like load_partial. This is not a separate function, because nvcc would then overlay
    // the local arrays of both functions, and several types would need more registers on every path.
    u32 stored[kWords];
    std::byte* to[Shape::kVectors];
    u32 some[Shape::kVectors];
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      stored[i] = results[i];
    }
#pragma unroll
    for (int i = 0; i < Shape::kVectors; ++i) {
      some[i] = vectors.elements[i];
      to[i] = vectors.addresses[2][i];
    }
#pragma unroll 1
    for (int i = 0; i < Shape::kVectors; ++i) {
      store_some<T>(to[i], some[i], &stored[4 * i]);
    }
  }
}

// Supports any layout at any address. Neighboring threads process neighboring elements, a few per thread.
inline constexpr u32 kStridedThreads = 256;
template <class T>
inline constexpr u32 kStridedElements = sizeof(T) == 8 ? 2 : 4;

template <bool kFloor, class T>
__global__ void __launch_bounds__(kStridedThreads) modulus_strided(const __grid_constant__ Launch<3> launch) {
  constexpr int kElements = kStridedElements<T>;
  constexpr int kWords = kElements * sizeof(T) / 4;
  const u32 first = blockIdx.x * (kStridedThreads * kElements) + threadIdx.x;
  u32 a[kWords] = {};
  u32 b[kWords] = {};
  std::byte* to[kElements];
#pragma unroll
  for (int i = 0; i < kElements; ++i) {
    const u32 index = first + i * kStridedThreads;
    std::int64_t offsets[3] = {};
    if (index >= first && index < launch.count) {  // guards against wrapping at 2^32
      add_offsets(launch, launch.rank, index, offsets);
      insert<T>(a, i, load_element<T>(launch.addresses[0] + offsets[0], launch.aligned));
      insert<T>(b, i, load_element<T>(launch.addresses[1] + offsets[1], launch.aligned));
    }
    to[i] = launch.addresses[2] + offsets[2];
  }
  u32 results[kWords];
  Modulus<kFloor, T>::many(a, b, results);
#pragma unroll
  for (int i = 0; i < kElements; ++i) {
    const u32 index = first + i * kStridedThreads;
    if (index >= first && index < launch.count) {
      store_element<T>(to[i], extract<T>(results, i), launch.aligned);
    }
  }
}

// Tiles of the two innermost loops, accessed in words of 4 bytes (8 for 64-bit types) along either loop. A crossed
// input is read along the second innermost loop, where it is contiguous. Squares of elements are transposed in
// registers and written to shared memory in an order in which neither writing columns nor reading rows causes bank
// conflicts.
inline constexpr u32 kTileThreads = 256;
struct TiledLaunch : Launch<3> {
  u32 crossed;
  FastDivisor tiles[2];
};
template <class T>
struct Tile {
  using Word = std::conditional_t<sizeof(T) == 8, u64, u32>;
  static constexpr u32 kPerWord = sizeof(Word) / sizeof(T);
  static constexpr u32 kSide = sizeof(T) == 4 ? 64 : 32;         // in words
  static constexpr u32 kElements = kSide * kPerWord;             // along either loop
  static constexpr u32 kSquares = kSide * kSide / kTileThreads;  // squares of kPerWord words, per thread
  static constexpr u32 kWords = kSquares * kPerWord;             // per thread
  static constexpr u32 kBytes = kElements * kSide * sizeof(Word);
  static_assert(kBytes <= 16384);
};

__device__ inline void turn_square(u32 (&)[1]) {}
__device__ inline void turn_square(u64 (&)[1]) {}
__device__ inline void turn_square(u32 (&words)[2]) {
  const u32 first = __byte_perm(words[0], words[1], 0x5410);
  words[1] = __byte_perm(words[0], words[1], 0x7632);
  words[0] = first;
}
__device__ inline void turn_square(u32 (&words)[4]) {
  const u32 low_left = __byte_perm(words[0], words[1], 0x5140);
  const u32 low_right = __byte_perm(words[2], words[3], 0x5140);
  const u32 high_left = __byte_perm(words[0], words[1], 0x7362);
  const u32 high_right = __byte_perm(words[2], words[3], 0x7362);
  words[0] = __byte_perm(low_left, low_right, 0x5410);
  words[1] = __byte_perm(low_left, low_right, 0x7632);
  words[2] = __byte_perm(high_left, high_right, 0x5410);
  words[3] = __byte_perm(high_left, high_right, 0x7632);
}

// The minimum number of blocks that should be resident on a multiprocessor; it limits the registers of each block.
template <class T>
[[nodiscard]] constexpr int min_tiles() {
  if constexpr (is_float<T>) {
    return sizeof(T) == 4 ? 3 : 5;
  } else {
    return sizeof(T) == 8 ? 2 : sizeof(T) == 2 ? (std::is_signed_v<T> ? 6 : 8) : 5;
  }
}

// The number of blocks that fit. It depends on the GPU, because the maximum number of threads per multiprocessor
// differs.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
inline constexpr int kMaxTiles = 4;
#elif defined(__CUDA_ARCH__) && \
    (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1010)
inline constexpr int kMaxTiles = 6;
#else
inline constexpr int kMaxTiles = 8;
#endif

// The sizes of the two innermost loops must be whole numbers of words. Each input is crossed, contiguous, or constant
// along the innermost loop.
template <bool kFloor, class T, int kMinTiles = min_tiles<T>()>
__global__ void __launch_bounds__(kTileThreads, kMinTiles < kMaxTiles ? kMinTiles : kMaxTiles)
    modulus_transposed(const __grid_constant__ TiledLaunch launch) {
  using X = Tile<T>;
  using Word = typename X::Word;
  constexpr u32 kPerWord = X::kPerWord;
  constexpr u32 kSide = X::kSide;
  constexpr u32 kLinesTogether = kTileThreads / kSide;
  constexpr int kWords32 = X::kWords * sizeof(Word) / 4;
  extern __shared__ uint4 shared[];

  const Quotient by_columns = divide(blockIdx.x, launch.tiles[0]);
  const Quotient by_rows = divide(by_columns.quotient, launch.tiles[1]);
  const u32 inner = launch.rank - 1;
  const u32 outer = launch.rank - 2;
  const u32 first_column = by_columns.remainder * X::kElements;
  const u32 first_row = by_rows.remainder * X::kElements;
  const u32 columns = launch.sizes[inner].divisor;
  const u32 rows = launch.sizes[outer].divisor;
  std::int64_t offsets[3] = {};
  add_offsets<3>(launch, outer, by_rows.quotient, offsets);

  // A thread processes the same word in every kLinesTogether-th line. Lines are rows of the tile, but for a crossed
  // input they are columns, in squares of kPerWord words.
  const u32 across = threadIdx.x % kSide;
  const u32 line = threadIdx.x / kSide;
  const u32 column = first_column + across * kPerWord;

  u32 inputs[2][kWords32];
  const auto set_word = [](u32* words, u32 i, Word word) {
    if constexpr (sizeof(Word) == 8) {
      words[2 * i] = static_cast<u32>(word);
      words[2 * i + 1] = static_cast<u32>(word >> 32);
    } else {
      words[i] = word;
    }
  };
  Word* tile = reinterpret_cast<Word*>(shared);
#pragma unroll
  for (int input = 0; input < 2; ++input) {
    const std::int64_t row_stride = launch.strides[outer][input];
    const std::int64_t column_stride = launch.strides[inner][input];
    const std::byte* from = launch.addresses[input] + offsets[input];
    if ((launch.crossed >> input & 1) != 0) {
      Word squares[X::kSquares][kPerWord];
      const u32 row = first_row + across * kPerWord;
      from += u64{row} * sizeof(T) + (first_column + line * kPerWord) * column_stride;
#pragma unroll
      for (u32 i = 0; i < X::kSquares; ++i) {
        const bool exists = row < rows && first_column + (line + i * kLinesTogether) * kPerWord < columns;
#pragma unroll
        for (u32 j = 0; j < kPerWord; ++j) {
          squares[i][j] = exists ? *reinterpret_cast<const Word*>(from + j * column_stride) : Word{0};
        }
        from += kLinesTogether * kPerWord * column_stride;
      }
#pragma unroll
      for (u32 i = 0; i < X::kSquares; ++i) {
        turn_square(squares[i]);
#pragma unroll
        for (u32 j = 0; j < kPerWord; ++j) {
          tile[(across * kPerWord + j) * kSide + ((line + i * kLinesTogether) ^ (across % 32))] = squares[i][j];
        }
      }
      tile += X::kElements * kSide;
    } else if (column_stride != 0) {
      from += u64{column} * sizeof(T) + (first_row + line) * row_stride;
#pragma unroll
      for (u32 i = 0; i < X::kWords; ++i) {
        const bool exists = column < columns && first_row + line + i * kLinesTogether < rows;
        set_word(inputs[input], i, exists ? *reinterpret_cast<const Word*>(from) : Word{0});
        from += kLinesTogether * row_stride;
      }
    } else {
      from += (first_row + line) * row_stride;
#pragma unroll
      for (u32 i = 0; i < X::kWords; ++i) {
        const bool exists = first_row + line + i * kLinesTogether < rows;
        u32 filled[2];
        fill_words<T>(exists ? *reinterpret_cast<const bits_t<T>*>(from) : bits_t<T>{0}, filled);
        set_word(inputs[input], i, static_cast<Word>(u64{filled[0]} | u64{filled[1]} << 32));
        from += kLinesTogether * row_stride;
      }
    }
  }
  __syncthreads();
  tile = reinterpret_cast<Word*>(shared);
#pragma unroll
  for (int input = 0; input < 2; ++input) {
    if ((launch.crossed >> input & 1) != 0) {
#pragma unroll
      for (u32 i = 0; i < X::kWords; ++i) {
        const u32 row = line + i * kLinesTogether;
        set_word(inputs[input], i, tile[row * kSide + (across ^ (row / kPerWord % 32))]);
      }
      tile += X::kElements * kSide;
    }
  }

  u32 results[kWords32];
  Modulus<kFloor, T>::many(inputs[0], inputs[1], results);
  const std::int64_t row_stride = launch.strides[outer][2];
  std::byte* to = launch.addresses[2] + offsets[2] + u64{column} * sizeof(T) + (first_row + line) * row_stride;
#pragma unroll
  for (u32 i = 0; i < X::kWords; ++i) {
    if (column < columns && first_row + line + i * kLinesTogether < rows) {
      if constexpr (sizeof(Word) == 8) {
        *reinterpret_cast<Word*>(to) = u64{results[2 * i]} | u64{results[2 * i + 1]} << 32;
      } else {
        *reinterpret_cast<Word*>(to) = results[i];
      }
    }
    to += kLinesTogether * row_stride;
  }
}

// Runs small tasks of one operator and type, consisting of whole vectors, wave after wave in one block. A list of
// dependent dispatches produces such waves. The next task is read while the current elements are being computed.
inline constexpr u32 kWaveThreads = 256;

template <bool kFloor, class T>
__global__ void __launch_bounds__(kWaveThreads) modulus_waves(const __grid_constant__ WaveTasks tasks) {
  KernelTask task = tasks.tasks[0];
#pragma unroll 1
  for (u32 i = 1;; ++i) {
    const u32 bytes = task.count * static_cast<u32>(sizeof(T));
    for (u32 at = threadIdx.x * kVectorBytes; at < bytes; at += kWaveThreads * kVectorBytes) {
      const uint4 a = *reinterpret_cast<const uint4*>(task.operands[0] + at);
      const uint4 b = *reinterpret_cast<const uint4*>(task.operands[1] + at);
      const u32 dividends[4] = {a.x, a.y, a.z, a.w};
      const u32 divisors[4] = {b.x, b.y, b.z, b.w};
      u32 results[4];
      Modulus<kFloor, T>::many(dividends, divisors, results);
      *reinterpret_cast<uint4*>(task.operands[3] + at) = uint4{results[0], results[1], results[2], results[3]};
    }
    if (i == tasks.count) {
      return;
    }
    task = tasks.tasks[i];
    if (task.begins_wave) {
      __syncthreads();
    }
  }
}

template <bool kFloor, class T>
[[nodiscard]] cudaError_t launch_modulus_vectors(const KernelLaunch& from, cudaStream_t stream) noexcept {
  const auto launch = make_launch<3>(from);
  const auto run = [&]<bool kOneDivisor>() {
    using Shape = DefaultShape<kFloor, T, kOneDivisor>;
    modulus_vectors<kFloor, T, kOneDivisor>
        <<<ceil_div(launch.vectors, Shape::kOfBlock), Shape::kThreads, 0, stream>>>(launch);
  };
  if ((launch.stays & 2) != 0) {
    run.template operator()<true>();
  } else {
    run.template operator()<false>();
  }
  return cudaGetLastError();
}

[[nodiscard]] inline TiledLaunch make_tiled_launch(const KernelLaunch& from) {
  TiledLaunch launch{make_launch<3>(from), from.geometry.crossed, {}};
  std::copy_n(from.geometry.tiles, 2, launch.tiles);
  return launch;
}

template <bool kFloor, class T>
[[nodiscard]] cudaError_t launch_modulus_transposed(const KernelLaunch& from, cudaStream_t stream) noexcept {
  const u32 bytes = Tile<T>::kBytes * (from.geometry.crossed == 3 ? 2 : 1);
  modulus_transposed<kFloor, T><<<from.geometry.tile_count, kTileThreads, bytes, stream>>>(make_tiled_launch(from));
  return cudaGetLastError();
}

template <bool kFloor, class T>
[[nodiscard]] cudaError_t launch_modulus_strided(const KernelLaunch& from, cudaStream_t stream) noexcept {
  const u32 blocks = ceil_div(from.geometry.count, kStridedThreads * kStridedElements<T>);
  modulus_strided<kFloor, T><<<blocks, kStridedThreads, 0, stream>>>(make_launch<3>(from));
  return cudaGetLastError();
}

template <bool kFloor, class T>
const KernelSet& modulus_kernels() noexcept {
  static constexpr KernelSet kKernels = [] {
    KernelSet set = describe_kernels<std::conditional_t<kFloor, ModulusFloor<T>, ModulusTruncate<T>>>();
    set.strided = launch_modulus_strided<kFloor, T>;
    set.vector = launch_modulus_vectors<kFloor, T>;
    set.transposed = launch_modulus_transposed<kFloor, T>;
    set.max_staying = 1;  // with two such inputs, a row would have a single value
    set.tile_elements = static_cast<std::uint8_t>(Tile<T>::kElements);
    static_assert(Tile<T>::kElements < 256);
    return set;
  }();
  return kKernels;
}

template <bool kFloor, class T>
cudaError_t launch_modulus_waves(const WaveTasks& tasks, cudaStream_t stream) noexcept {
  modulus_waves<kFloor, T><<<1, kWaveThreads, 0, stream>>>(tasks);
  return cudaGetLastError();
}

// For unsigned types the two operators are identical.
#define ANYDML_MODULUS(kFloor, T)                                  \
  template const KernelSet& modulus_kernels<kFloor, T>() noexcept; \
  template cudaError_t launch_modulus_waves<kFloor, T>(const WaveTasks& tasks, cudaStream_t stream) noexcept;

}  // namespace anydml::cuda
