// SPDX-License-Identifier: MIT
// Measures the speed of the CUDA kernels relative to a pass that moves the same bytes, in the same run. --entries: only
// entries and programs other than modulus. --variants: shapes of the vector kernels, for tuning. --type NAME: only one
// type.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/kernels_harness.h"
#include "ops/elementwise/cuda/modulus_kernels.cuh"

namespace anydml::cuda {
namespace {

constexpr u64 kElements = u64{1} << 28;
constexpr std::int64_t kSide = 16384;
constexpr int kLaunches = 11;

__device__ u64 hash(u64 x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

enum class Data { ordinary, random_bits };

template <class T>
__global__ void fill_operands(T* a, T* b, u64 count, Data data) {
  const u64 i = blockIdx.x * u64{blockDim.x} + threadIdx.x;
  if (i >= count) {
    return;
  }
  const u64 h = hash(2 * i);
  const u64 k = hash(2 * i + 1);
  bits_t<T> a_bits = static_cast<bits_t<T>>(h);
  bits_t<T> b_bits = static_cast<bits_t<T>>(k);
  if (data == Data::ordinary) {
    if constexpr (is_float<T>) {
      const auto normal = [](u64 bits) {
        const f32 u = (static_cast<f32>(bits >> 40) + 0.5f) * 0x1p-24f;
        const f32 v = static_cast<f32>(bits & 0xffffff) * 0x1p-24f;
        return sqrtf(-2.0f * logf(u)) * cospif(2 * v);
      };
      const auto bits_of = [](f32 value) {
        if constexpr (sizeof(T) == 2) {
          return round_to<f16>(value).bits;
        } else {
          return __builtin_bit_cast(bits_t<T>, static_cast<T>(value));
        }
      };
      a_bits = bits_of(100 * normal(h));
      b_bits = bits_of(3 * normal(k));
    } else {
      constexpr u64 kMax = sizeof(T) == 1 ? (std::is_signed_v<T> ? 127 : 255) : 1000;
      b_bits = static_cast<bits_t<T>>(1 + k % kMax);
      if (std::is_signed_v<T> && (k >> 63) != 0) {
        b_bits = static_cast<bits_t<T>>(0 - b_bits);
      }
    }
  }
  a[i] = __builtin_bit_cast(T, a_bits);
  b[i] = __builtin_bit_cast(T, b_bits);
}

// A pass that moves the same bytes.
template <int kStreams, int kVectors, bool kStreaming>
__global__ void __launch_bounds__(256) move_bytes(const std::byte* a, const std::byte* b, std::byte* out) {
  const u64 first = u64{blockIdx.x} * 256 * kVectors + threadIdx.x;
  uint4 values[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const u64 at = (first + i * 256) * 16;
    values[i] = load_vector<kStreaming>(a + at);
    if constexpr (kStreams == 3) {
      const uint4 other = load_vector<kStreaming>(b + at);
      values[i].x ^= other.x;
      values[i].y ^= other.y;
      values[i].z ^= other.z;
      values[i].w ^= other.w;
    }
  }
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    store_vector<kStreaming>(out + (first + i * 256) * 16, values[i]);
  }
}

struct Timer {
  Timer() {
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
  }
  ~Timer() {
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
  }
  // The median of several runs, in microseconds.
  template <class Run>
  double median(Run&& run, int launches = kLaunches) {
    std::vector<float> times;
    run();
    for (int i = 0; i < launches; ++i) {
      CHECK(cudaEventRecord(begin));
      run();
      CHECK(cudaEventRecord(end));
      CHECK(cudaEventSynchronize(end));
      float milliseconds = 0;
      CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
      times.push_back(milliseconds * 1000);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
};

struct Memory {
  Memory() {
    for (std::byte** buffer : {&a, &b, &out}) {
      CHECK(cudaMalloc(buffer, kElements * 8 + 256));
    }
  }
  ~Memory() {
    for (std::byte* buffer : {a, b, out}) {
      cudaFree(buffer);
    }
  }
  std::byte* a = nullptr;
  std::byte* b = nullptr;
  std::byte* out = nullptr;
};

template <int kStreams>
double pass_time(Timer& timer, const Memory& memory, u64 bytes) {
  const u64 vectors = bytes / 16 / 256;
  double best = 1e30;
  const auto consider = [&](auto&& run) { best = std::min(best, timer.median(run)); };
  const auto blocks = [&](int each) { return static_cast<unsigned>(vectors / static_cast<u64>(each)); };
  consider([&] { move_bytes<kStreams, 1, false><<<blocks(1), 256>>>(memory.a, memory.b, memory.out); });
  consider([&] { move_bytes<kStreams, 2, false><<<blocks(2), 256>>>(memory.a, memory.b, memory.out); });
  consider([&] { move_bytes<kStreams, 2, true><<<blocks(2), 256>>>(memory.a, memory.b, memory.out); });
  consider([&] { move_bytes<kStreams, 4, false><<<blocks(4), 256>>>(memory.a, memory.b, memory.out); });
  consider([&] { move_bytes<kStreams, 4, true><<<blocks(4), 256>>>(memory.a, memory.b, memory.out); });
  consider([&] { move_bytes<kStreams, 8, true><<<blocks(8), 256>>>(memory.a, memory.b, memory.out); });
  return best;
}

using Strides = std::vector<std::int64_t>;

// An entry over tensors of these sizes; strides are in elements.
void prepare(PreparedElements& prepared, const Program& program, const std::vector<Strides>& strides,
             const Strides& sizes) {
  std::vector<TensorDesc> tensors;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    tensors.push_back(tensor_of(program.types[i], sizes, strides[i]));
  }
  prepare_or_exit(prepared, step_of(program, tensors));
}

Program modulus_of(EntryId entry, DataType type) {
  const DataType types[] = {type, type};
  return program_of(*find_variant_info(entry, types));
}

struct Case {
  const char* name;
  Strides a;
  Strides b;
  int streams;
  std::size_t a_shift = 0;  // elements
};

template <class T>
void bench_type(Timer& timer, const Memory& memory) {
  const u64 bytes = kElements * sizeof(T);
  const double three = pass_time<3>(timer, memory, bytes);
  const double two = pass_time<2>(timer, memory, bytes);
  std::printf("%-8s pass of three streams %.0f GB/s, of two %.0f GB/s\n",
              std::string(type_name(kDataTypeOf<T>)).c_str(), 3e-3 * static_cast<double>(bytes) / three,
              2e-3 * static_cast<double>(bytes) / two);
  const Case cases[] = {
      {"contiguous", {kSide, 1}, {kSide, 1}, 3},
      {"one divisor", {kSide, 1}, {0, 0}, 2},
      {"one dividend", {0, 0}, {kSide, 1}, 2},
      {"one divisor a row", {kSide, 1}, {1, 0}, 2},
      {"one row of divisors", {kSide, 1}, {0, 1}, 2},
      {"divisors transposed", {kSide, 1}, {1, kSide}, 3},
      {"dividends transposed", {1, kSide}, {kSide, 1}, 3},
      {"both transposed", {1, kSide}, {1, kSide}, 3},
      {"dividends backwards", {-kSide, -1}, {kSide, 1}, 3, static_cast<std::size_t>(kSide) * kSide - 1},
      {"dividends one off", {kSide, 1}, {kSide, 1}, 3, 1},
  };
  for (const Data data : {Data::ordinary, Data::random_bits}) {
    fill_operands<T><<<static_cast<unsigned>(kElements / 256), 256>>>(reinterpret_cast<T*>(memory.a),
                                                                      reinterpret_cast<T*>(memory.b), kElements, data);
    CHECK(cudaDeviceSynchronize());
    for (const Case& one : cases) {
      if (data == Data::random_bits && (one.streams == 2 || one.a_shift != 0)) {
        continue;
      }
      for (const EntryId entry : {EntryId::ELEMENT_WISE_MODULUS_FLOOR, EntryId::ELEMENT_WISE_MODULUS_TRUNCATE}) {
        PreparedElements prepared;
        prepare(prepared, modulus_of(entry, kDataTypeOf<T>), {one.a, one.b, {kSide, 1}}, {kSide, kSide});
        std::byte* bases[] = {memory.a + one.a_shift * sizeof(T), memory.b, memory.out};
        const double time = timer.median([&] { CHECK(prepared.launch(bases, nullptr, nullptr)); });
        const double pass = one.streams == 3 ? three : two;
        std::printf("%-8s %-8s %-12s %-22s %-10s %8.1f us %6.0f GB/s  %5.1f %%\n",
                    std::string(type_name(kDataTypeOf<T>)).c_str(),
                    entry == EntryId::ELEMENT_WISE_MODULUS_FLOOR ? "floor" : "truncate",
                    data == Data::ordinary ? "ordinary" : "random bits", one.name, shape_name(prepared.shape()), time,
                    one.streams * 1e-3 * static_cast<double>(bytes) / time, 100 * pass / time);
      }
    }
  }
  std::fflush(stdout);
}

// One long row, in the form that the kernels expect.
template <int kOperands>
Launch<kOperands> one_row(const Memory& memory, u32 vector_elements) {
  Launch<kOperands> launch{};
  std::byte* const addresses[] = {memory.a, memory.b};
  std::copy_n(addresses, std::min(kOperands - 1, 2), launch.addresses);
  launch.addresses[kOperands - 1] = memory.out;
  launch.count = static_cast<u32>(kElements);
  launch.rank = 1;
  launch.aligned = true;
  launch.vectors = static_cast<u32>(kElements / vector_elements);
  return launch;
}

template <bool kFloor, class T, bool kOneDivisor, class Shape>
void bench_shape(Timer& timer, const Memory& memory, const char* what, double pass) {
  Launch<3> launch = one_row<3>(memory, kVectorElements<T>);
  launch.stays = kOneDivisor ? 2 : 0;
  const u32 blocks = ceil_div(launch.vectors, Shape::kOfBlock);
  const double time =
      timer.median([&] { modulus_vectors<kFloor, T, kOneDivisor, Shape><<<blocks, Shape::kThreads>>>(launch); });
  CHECK(cudaGetLastError());
  std::printf("%-8s %-8s %-12s %-12s %4d threads, %d vectors%s %8.1f us  %5.1f %%\n",
              std::string(type_name(kDataTypeOf<T>)).c_str(), kFloor ? "floor" : "truncate", what,
              kOneDivisor ? "one divisor" : "contiguous", Shape::kThreads, Shape::kVectors,
              Shape::kStreaming ? ", streaming" : "           ", time, 100 * pass / time);
}

template <class T, bool kFloor = true>
void bench_shapes(Timer& timer, const Memory& memory, Data data) {
  const char* what = data == Data::ordinary ? "ordinary" : "random bits";
  fill_operands<T><<<static_cast<unsigned>(kElements / 256), 256>>>(reinterpret_cast<T*>(memory.a),
                                                                    reinterpret_cast<T*>(memory.b), kElements, data);
  const double three = pass_time<3>(timer, memory, kElements * sizeof(T));
  const double two = pass_time<2>(timer, memory, kElements * sizeof(T));
  const auto shapes = [&]<bool kOneDivisor>() {
    const double pass = kOneDivisor ? two : three;
    bench_shape<kFloor, T, kOneDivisor, VectorShape<128, 2, true>>(timer, memory, what, pass);
    bench_shape<kFloor, T, kOneDivisor, VectorShape<128, 2, false>>(timer, memory, what, pass);
    bench_shape<kFloor, T, kOneDivisor, VectorShape<128, 4, true>>(timer, memory, what, pass);
    bench_shape<kFloor, T, kOneDivisor, VectorShape<128, 4, false>>(timer, memory, what, pass);
    bench_shape<kFloor, T, kOneDivisor, VectorShape<256, 1, true>>(timer, memory, what, pass);
    bench_shape<kFloor, T, kOneDivisor, VectorShape<256, 2, true>>(timer, memory, what, pass);
    bench_shape<kFloor, T, kOneDivisor, VectorShape<256, 2, false>>(timer, memory, what, pass);
    bench_shape<kFloor, T, kOneDivisor, VectorShape<256, 4, true>>(timer, memory, what, pass);
    bench_shape<kFloor, T, kOneDivisor, VectorShape<256, 4, false>>(timer, memory, what, pass);
    bench_shape<kFloor, T, kOneDivisor, VectorShape<512, 1, true>>(timer, memory, what, pass);
    bench_shape<kFloor, T, kOneDivisor, VectorShape<512, 2, true>>(timer, memory, what, pass);
  };
  shapes.template operator()<false>();
  shapes.template operator()<true>();
  std::fflush(stdout);
}

// Transposed divisors, for each number of blocks that share a multiprocessor.
template <bool kFloor, class T, int... kMin>
void bench_tiles(Timer& timer, const Memory& memory) {
  fill_operands<T><<<static_cast<unsigned>(kElements / 256), 256>>>(
      reinterpret_cast<T*>(memory.a), reinterpret_cast<T*>(memory.b), kElements, Data::ordinary);
  const double pass = pass_time<3>(timer, memory, kElements * sizeof(T));
  const TensorDesc whole = tensor_of(kDataTypeOf<T>, {kSide, kSide}, {kSide, 1});
  const TensorDesc turned = tensor_of(kDataTypeOf<T>, {kSide, kSide}, {1, kSide});
  const TensorDesc tensors[] = {whole, turned, whole};
  const LoopNest nest = make_loop_nest(tensors);
  TiledLaunch launch{};
  launch.addresses[0] = memory.a;
  launch.addresses[1] = memory.b;
  launch.addresses[2] = memory.out;
  launch.count = static_cast<u32>(nest.count);
  launch.rank = nest.rank;
  launch.aligned = true;
  launch.crossed = 2;
  u32 tiles = 1;
  for (u32 i = 0; i < 2; ++i) {
    launch.tiles[i] = make_divisor(ceil_div(static_cast<u32>(kSide), Tile<T>::kElements));
    tiles *= launch.tiles[i].divisor;
  }
  for (u32 loop = 0; loop < nest.rank; ++loop) {
    launch.sizes[loop] = make_divisor(static_cast<u32>(nest.loops[loop].size));
    std::copy_n(nest.loops[loop].strides, 3, launch.strides[loop]);
  }
  (std::printf("%-8s %-8s divisors transposed, at least %d blocks %5.1f %%\n",
               std::string(type_name(kDataTypeOf<T>)).c_str(), kFloor ? "floor" : "truncate", kMin,
               100 * pass / timer.median([&] {
                 modulus_transposed<kFloor, T, kMin><<<tiles, kTileThreads, Tile<T>::kBytes>>>(launch);
               })),
   ...);
  CHECK(cudaGetLastError());
}

// Many tasks of 1,024 elements, either independent or each depending on the previous one.
void bench_tasks(Timer& timer, const Memory& memory) {
  constexpr u32 kTaskElements = 1024;
  fill_operands<f32>
      <<<4096, 256>>>(reinterpret_cast<f32*>(memory.a), reinterpret_cast<f32*>(memory.b), 1 << 20, Data::ordinary);
  for (const u32 count : {24u, 100u, kMaxSmallTasks}) {
    std::vector<SmallTask> tasks(count);
    for (u32 i = 0; i < count; ++i) {
      SmallTask& task = tasks[i];
      task = {};
      task.code = static_cast<std::uint16_t>(EntryId::ELEMENT_WISE_MODULUS_FLOOR);
      task.type = static_cast<std::uint8_t>(DataType::FLOAT32);
      task.broadcast = 4;
      task.count = kTaskElements;
      task.operands[0] = reinterpret_cast<std::uint64_t>(memory.a + i * kTaskElements * 4);
      task.operands[1] = reinterpret_cast<std::uint64_t>(memory.b + i * kTaskElements * 4);
      task.operands[3] = reinterpret_cast<std::uint64_t>(memory.out + i * kTaskElements * 4);
    }
    const double at_once = timer.median([&] { CHECK(launch_at_once(tasks.data(), count, nullptr)); });
    const double one_wave = timer.median([&] { CHECK(launch_in_waves(tasks.data(), count, nullptr)); });
    for (u32 i = 1; i < count; ++i) {
      tasks[i].operands[0] = tasks[i - 1].operands[3];
      tasks[i].begins_wave = 1;
    }
    const double chain = timer.median([&] { CHECK(launch_in_waves(tasks.data(), count, nullptr)); });
    std::printf("%3u tasks of 1,024 FLOAT32, microseconds each: at once %.3f, in one wave %.3f, in a chain %.3f\n",
                count, at_once / count, one_wave / count, chain / count);
  }
}

// Entries and programs whose operands differ in type, each compared with a pass over three streams that moves as many
// bytes.
void bench_entries(Timer& timer, const Memory& memory) {
  fill_operands<f32><<<static_cast<unsigned>(kElements / 256), 256>>>(
      reinterpret_cast<f32*>(memory.a), reinterpret_cast<f32*>(memory.b), kElements, Data::ordinary);
  const u64 pass_bytes = 3 * kElements * 4;
  const double pass = static_cast<double>(pass_bytes) / pass_time<3>(timer, memory, kElements * 4);
  const auto bench = [&](const Program& program) {
    PreparedElements prepared;
    prepare(prepared, program, std::vector<Strides>(program.types.size(), Strides{1}),
            {static_cast<std::int64_t>(kElements)});
    std::byte* bases[kMaxOperands] = {memory.a, memory.b, memory.b};
    u64 bytes = 0;
    for (std::size_t i = 0; i < program.types.size(); ++i) {
      bytes += kElements * element_size(program.types[i]);
      bases[i] = i < program.loads ? bases[i] : memory.out;
    }
    const double time = timer.median([&] { CHECK(prepared.launch(bases, nullptr, nullptr)); });
    const double speed = static_cast<double>(bytes) / time;
    std::printf("%-60s %-12s %8.1f us %6.0f GB/s  %5.1f %%\n", program.name.c_str(), shape_name(prepared.shape()), time,
                1e-3 * speed, 100 * speed / pass);
    std::fflush(stdout);
  };
  const auto each = [&](EntryId entry, std::initializer_list<DataType> wanted) {  // any of these types, in any operand
    for (const VariantInfo& variant : all_variants()) {
      const bool all = std::all_of(variant.types, variant.types + variant.inputs + 1, [&](DataType type) {
        return std::find(wanted.begin(), wanted.end(), type) != wanted.end();
      });
      if (variant.entry == entry && all) {
        bench(program_of(variant));
        const VariantInfo* const scale_bias = find_variant_info(EntryId::SCALE_BIAS, std::span(variant.types, 1));
        if (scale_bias != nullptr && find_scaled_kernels(entry, variant.variant) != nullptr) {
          bench(scaled_program_of(*scale_bias, variant));
        }
      }
    }
  };
  using enum DataType;
  each(EntryId::ELEMENT_WISE_IDENTITY, {UINT8, UINT16, UINT32, UINT64});
  each(EntryId::ELEMENT_WISE_ADD, {FLOAT32, FLOAT16, FLOAT64, INT8, INT64});
  each(EntryId::ELEMENT_WISE_DIVIDE, {FLOAT32, FLOAT16, INT32, INT8});
  each(EntryId::ELEMENT_WISE_ABS, {FLOAT32, FLOAT16});
  each(EntryId::ELEMENT_WISE_CLIP, {FLOAT32, FLOAT16, INT8});
  each(EntryId::CAST, {UINT8, FLOAT16, FLOAT32, INT64});
  each(EntryId::ELEMENT_WISE_IF, {UINT8, FLOAT16, FLOAT32, FLOAT64});
  each(EntryId::ELEMENT_WISE_LOGICAL_EQUALS, {FLOAT32, FLOAT16, UINT8, INT64});
  // A program for the interpreter: (a + b) * a, stored.
  const DataType types[] = {FLOAT32, FLOAT32};
  const VariantInfo& add = *find_variant_info(EntryId::ELEMENT_WISE_ADD, types);
  const VariantInfo& multiply = *find_variant_info(EntryId::ELEMENT_WISE_MULTIPLY, types);
  Program program = program_of(add);
  program.instructions.push_back(program_of(multiply).instructions[0]);
  program.instructions[1].sources[0] = 2;
  program.instructions[1].sources[1] = 0;
  program.variants.push_back(&multiply);
  program.stored = {3};
  program.name = "(a + b) * a, FLOAT32";
  bench(program);
}

template <class Scalar, class Shape>
void bench_row_shape(Timer& timer, const Memory& memory, const char* name) {
  using Types = DefinitionTypes<Scalar>;
  auto launch = one_row<Types::kOperands>(memory, Types::kVectorElements);
  const u32 blocks = ceil_div(launch.vectors, Shape::kOfBlock);
  u64 bytes = 0;
  for (const u32 size : Types::kSizes) {
    bytes += kElements * size;
  }
  const double time = timer.median([&] { row_vectors<Scalar, Shape><<<blocks, Shape::kThreads>>>(launch, Scalar{}); });
  CHECK(cudaGetLastError());
  std::printf("%-24s %4d threads, %d vectors%s %8.1f us %6.0f GB/s\n", name, Shape::kThreads, Shape::kVectors,
              Shape::kStreaming ? ", streaming" : "           ", time, 1e-3 * static_cast<double>(bytes) / time);
}

template <class Scalar>
void bench_row_shapes(Timer& timer, const Memory& memory, const char* name) {
  bench_row_shape<Scalar, VectorShape<128, 2, true>>(timer, memory, name);
  bench_row_shape<Scalar, VectorShape<128, 4, true>>(timer, memory, name);
  bench_row_shape<Scalar, VectorShape<256, 1, true>>(timer, memory, name);
  bench_row_shape<Scalar, VectorShape<256, 2, true>>(timer, memory, name);
  bench_row_shape<Scalar, VectorShape<256, 2, false>>(timer, memory, name);
  bench_row_shape<Scalar, VectorShape<256, 4, true>>(timer, memory, name);
  bench_row_shape<Scalar, VectorShape<256, 4, false>>(timer, memory, name);
  bench_row_shape<Scalar, VectorShape<256, 8, true>>(timer, memory, name);
}

int run(bool entries, bool variants, std::string_view type) {
  Timer timer;
  const Memory memory;
  bench_entries(timer, memory);
  if (variants) {
    bench_row_shapes<Add<f32>>(timer, memory, "ADD FLOAT32");
    bench_row_shapes<Add<f16>>(timer, memory, "ADD FLOAT16");
    bench_row_shapes<Cast<u8, f32>>(timer, memory, "CAST UINT8 to FLOAT32");
    bench_row_shapes<Cast<f32, u8>>(timer, memory, "CAST FLOAT32 to UINT8");
    bench_row_shapes<LogicalEquals<f32, u8>>(timer, memory, "EQUALS FLOAT32 to UINT8");
  }
  if (entries) {
    return 0;
  }
  bench_tasks(timer, memory);
#define ANYDML_BENCH(T, name, value)   \
  if (type.empty() || type == #name) { \
    bench_type<T>(timer, memory);      \
  }
  ANYDML_FOR_EACH_TYPE(ANYDML_BENCH)
#undef ANYDML_BENCH
  if (variants) {
    bench_shapes<u8>(timer, memory, Data::ordinary);
    bench_shapes<i8>(timer, memory, Data::ordinary);
    bench_shapes<u16>(timer, memory, Data::ordinary);
    bench_shapes<f16>(timer, memory, Data::ordinary);
    bench_shapes<f16>(timer, memory, Data::random_bits);
    bench_shapes<i32>(timer, memory, Data::ordinary);
    bench_shapes<f32>(timer, memory, Data::ordinary);
    bench_shapes<f32>(timer, memory, Data::random_bits);
    bench_shapes<i64>(timer, memory, Data::ordinary);
    bench_shapes<i64, false>(timer, memory, Data::ordinary);
    bench_tiles<true, i64, 2, 3, 4, 5, 6>(timer, memory);
    bench_tiles<false, i64, 2, 3, 4, 5, 6>(timer, memory);
    bench_tiles<false, u64, 2, 3, 4, 5, 6>(timer, memory);
    bench_tiles<true, i8, 3, 4, 5>(timer, memory);
    bench_tiles<false, i8, 3, 4, 5>(timer, memory);
    bench_tiles<true, i16, 5, 6, 8>(timer, memory);
  }
  return 0;
}

}  // namespace
}  // namespace anydml::cuda

int main(int argc, char** argv) {
  bool entries = false;
  bool variants = false;
  std::string_view type;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--entries") {
      entries = true;
    } else if (argument == "--variants") {
      variants = true;
    } else if (argument == "--type" && i + 1 < argc) {
      type = argv[++i];
    } else {
      std::fprintf(stderr, "usage: kernels_bench [--entries] [--variants] [--type FLOAT32]\n");
      return 2;
    }
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no CUDA device was found\n");
    return 77;
  }
  return anydml::cuda::run(entries, variants, type);
}
