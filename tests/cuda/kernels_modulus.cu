// SPDX-License-Identifier: MIT
// Compares the tuned kernels for the two modulus operators with the scalar definitions, on the device: every pair of
// 8-bit and 16-bit values, and many pairs of wider ones.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cuda/kernels_harness.h"
#include "ops/elementwise/cuda/entry_kernels.cuh"

namespace anydml::cuda {
namespace {

constexpr EntryId kModulus[] = {EntryId::ELEMENT_WISE_MODULUS_FLOOR, EntryId::ELEMENT_WISE_MODULUS_TRUNCATE};

__host__ __device__ u64 hash(u64 x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

template <class T>
using raw_t = typename test::UnsignedOf<T>::type;

template <class T>
__global__ void fill_every(raw_t<T>* to, u64 count, u64 first, u32 shift, u64 mask) {
  const u64 i = blockIdx.x * u64{blockDim.x} + threadIdx.x;
  if (i < count) {
    to[i] = static_cast<raw_t<T>>(first + (i >> shift & mask));
  }
}

template <class T>
__device__ raw_t<T> special_of(u64 h) {
  using Raw = raw_t<T>;
  if constexpr (is_float<T>) {
    using F = FloatParts<T>;
    const Raw one = static_cast<Raw>(F::kBias) << F::kFractionBits;
    const Raw table[] = {0,
                         1,
                         2,
                         F::kHidden - 1,
                         F::kHidden,
                         F::kHidden + 1,
                         F::kInfinity - 1,
                         F::kInfinity,
                         F::kInfinity + 1,
                         F::kQuietNan,
                         one,
                         one - 1,
                         one + 1,
                         one + F::kHidden,
                         one + F::kHidden * 3 / 2,
                         F::kMagnitude};
    return table[h % 16] | (h & 16 ? F::kSign : 0);
  } else {
    constexpr Raw kTop = Raw{1} << (sizeof(T) * 8 - 1);
    const Raw table[] = {0, 1, static_cast<Raw>(-1), kTop, static_cast<Raw>(kTop - 1), static_cast<Raw>(kTop + 1),
                         2, 3};
    const Raw power = Raw{1} << (h >> 8) % (sizeof(T) * 8);
    return h & 16 ? table[h % 8] : static_cast<Raw>(power + h % 3 - 1);
  }
}

// Cycles through eight kinds of pairs.
template <class T>
__global__ void fill_pairs(raw_t<T>* a_out, raw_t<T>* b_out, u64 count, u64 seed) {
  using Raw = raw_t<T>;
  const u64 i = blockIdx.x * u64{blockDim.x} + threadIdx.x;
  if (i >= count) {
    return;
  }
  const u64 h = hash(seed * 0x100000001b3 + i * 4);
  const u64 k = hash(seed * 0x100000001b3 + i * 4 + 1);
  const u64 m = hash(seed * 0x100000001b3 + i * 4 + 2);
  Raw a = static_cast<Raw>(h);
  Raw b = static_cast<Raw>(k);
  constexpr u32 kBits = sizeof(T) * 8;
  if constexpr (is_float<T>) {
    using F = FloatParts<T>;
    using Number = compute_t<T>;
    const auto real = [](Raw bits) { return widen(__builtin_bit_cast(T, bits)); };
    const auto bits = [](Number value) { return __builtin_bit_cast(Raw, narrow<T>(value)); };
    switch (i % 8) {
      case 0:  // random bits
        break;
      case 1:  // close exponents
        a = static_cast<Raw>((b & F::kMagnitude) + (m % 30 << F::kFractionBits)) ^ (a & (F::kFraction | F::kSign));
        break;
      case 2:  // near a multiple
        b = (b & ~(F::kHidden << (F::kExponentBits - 2))) | F::kHidden;
        a = bits(real(b) * static_cast<Number>(m >> (m & 63))) + h % 5 - 2;
        break;
      case 3:  // small divisors
        b = (b & (F::kSign | F::kFraction)) >> (m & 1 ? 0 : m >> 8 & 15) | (m & 2 ? F::kHidden : 0);
        a = m & 4 ? a : a & (F::kSign | F::kFraction | F::kHidden * 3);
        break;
      case 4:
        a = m & 1 ? special_of<T>(h) : a;
        b = m & 2 || !(m & 1) ? special_of<T>(k) : b;
        break;
      case 5:  // powers of two and their neighbors
        a = (a & ~F::kFraction) + m % 3 - 1;
        b = (b & ~F::kFraction) + (m >> 8) % 3 - 1;
        break;
      case 6: {  // ordinary
        const auto unit = [](u64 x) {
          return static_cast<Number>(static_cast<std::int64_t>(x) >> 12) * static_cast<Number>(0x1p-51);
        };
        a = bits((unit(h) + unit(m)) * static_cast<Number>(150));
        b = bits(unit(k) * static_cast<Number>(5));
        break;
      }
      default:  // whole numbers
        a = bits(static_cast<Number>(static_cast<std::int64_t>(h) >> (40 + m % 24)));
        b = bits(static_cast<Number>(static_cast<std::int64_t>(k) >> (44 + (m >> 8) % 20)));
        break;
    }
  } else {
    switch (i % 8) {
      case 0:
        break;
      case 1:  // every pair of widths
      case 7:
        a >>= m % kBits;
        b >>= (m >> 8) % kBits;
        a = m >> 16 & 1 ? static_cast<Raw>(0 - a) : a;
        b = m >> 17 & 1 ? static_cast<Raw>(0 - b) : b;
        break;
      case 2:  // near a multiple
        b >>= m % kBits;
        a = static_cast<Raw>(b * (h >> (m >> 8) % kBits) + h % 3 - 1);
        break;
      case 3:  // ordinary
        b = static_cast<Raw>(k % 1000 + 1);
        b = m & 1 ? static_cast<Raw>(0 - b) : b;
        break;
      case 4:
        a = m & 1 ? special_of<T>(h) : a;
        b = m & 2 || !(m & 1) ? special_of<T>(k) : b;
        break;
      case 5:
        a = static_cast<Raw>(b + m % 5 - 2);
        break;
      default:
        b |= Raw{1} << (kBits - 1);
        b = m & 1 ? static_cast<Raw>(b >> 1) : b;
        break;
    }
  }
  a_out[i] = a;
  b_out[i] = b;
}

template <class T>
__global__ void count_different(const raw_t<T>* expected, const raw_t<T>* found, u64 count,
                                unsigned long long* different, unsigned long long* where) {
  const u64 i = blockIdx.x * u64{blockDim.x} + threadIdx.x;
  if (i >= count) {
    return;
  }
  bool equal = expected[i] == found[i];
  if constexpr (is_float<T>) {
    equal = equal || (is_nan(__builtin_bit_cast(T, expected[i])) && is_nan(__builtin_bit_cast(T, found[i])));
  }
  if (!equal) {
    atomicAdd(different, 1ull);
    atomicMin(where, static_cast<unsigned long long>(i));
  }
}

unsigned blocks_of(u64 count) { return static_cast<unsigned>((count + 255) / 256); }

template <class T>
struct Buffers {
  explicit Buffers(u64 elements) : count(elements) {
    for (raw_t<T>** buffer : {&a, &b, &expected, &found}) {
      CHECK(cudaMalloc(buffer, count * sizeof(T)));
    }
    CHECK(cudaMalloc(&counters, 2 * sizeof(unsigned long long)));
  }
  ~Buffers() {
    for (raw_t<T>* buffer : {a, b, expected, found}) {
      cudaFree(buffer);
    }
    cudaFree(counters);
  }
  u64 count;
  raw_t<T>* a = nullptr;
  raw_t<T>* b = nullptr;
  raw_t<T>* expected = nullptr;
  raw_t<T>* found = nullptr;
  unsigned long long* counters = nullptr;
};

// Kernels that apply the scalar definition directly.
template <class Scalar>
constexpr KernelSet generic_kernels() {
  KernelSet set = describe_kernels<Scalar>();
  set.strided = launch_row_strided<Scalar>;
  return set;
}
template <class T>
constexpr KernelSet kGeneric[] = {generic_kernels<ModulusFloor<T>>(), generic_kernels<ModulusTruncate<T>>()};

template <class T>
ElementStep step_of(EntryId entry, const std::vector<TensorDesc>& tensors) {
  const DataType types[] = {kDataTypeOf<T>, kDataTypeOf<T>};
  return step_of(program_of(*find_variant_info(entry, types)), tensors);
}

// Runs a step with the tuned kernels and with the generic one. Returns the number of elements that differ.
template <class T>
u64 compare(const ElementStep& step, Buffers<T>& buffers, KernelShape expected_shape) {
  PreparedElements tuned;
  prepare_or_exit(tuned, step);
  if (tuned.shape() != expected_shape) {
    report_error(std::string("expected the ") + shape_name(expected_shape) + " kernel, got " +
                 shape_name(tuned.shape()));
  }
  PreparedElements generic;
  prepare_or_exit(generic, step);
  generic.replace_kernels(kGeneric<T>[step.program[0].entry == kModulus[0] ? 0 : 1], KernelShape::strided);
  const auto bytes = [](raw_t<T>* address) { return reinterpret_cast<std::byte*>(address); };
  std::byte* to_expected[] = {bytes(buffers.a), bytes(buffers.b), bytes(buffers.expected)};
  std::byte* to_found[] = {bytes(buffers.a), bytes(buffers.b), bytes(buffers.found)};
  const auto count = static_cast<u64>(step.nest.count);
  CHECK(cudaMemsetAsync(buffers.expected, 0x5a, count * sizeof(T)));
  CHECK(cudaMemsetAsync(buffers.found, 0xa5, count * sizeof(T)));
  CHECK(generic.launch(to_expected, nullptr, nullptr));
  CHECK(tuned.launch(to_found, nullptr, nullptr));
  CHECK(cudaMemsetAsync(buffers.counters, 0, sizeof(unsigned long long)));
  CHECK(cudaMemsetAsync(buffers.counters + 1, 0xff, sizeof(unsigned long long)));
  count_different<T>
      <<<blocks_of(count), 256>>>(buffers.expected, buffers.found, count, buffers.counters, buffers.counters + 1);
  CHECK(cudaGetLastError());
  unsigned long long counters[2];
  CHECK(cudaMemcpy(counters, buffers.counters, sizeof(counters), cudaMemcpyDeviceToHost));
  if (counters[0] != 0) {
    raw_t<T> expected;
    raw_t<T> found;
    CHECK(cudaMemcpy(&expected, buffers.expected + counters[1], sizeof(T), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&found, buffers.found + counters[1], sizeof(T), cudaMemcpyDeviceToHost));
    static int printed = 0;
    if (printed++ < 40) {
      std::printf("  %s %s: element %llu is %s, expected %s\n", entry_name(step.program[0].entry),
                  std::string(type_name(kDataTypeOf<T>)).c_str(), counters[1],
                  test::show(test::from_raw<T>(found)).c_str(), test::show(test::from_raw<T>(expected)).c_str());
    }
  }
  return counters[0];
}

enum class Broadcast { none, divisor, dividend };

// rows x columns, with one of the operands repeated along the rows.
template <class T>
ElementStep rows_step(EntryId entry, std::int64_t rows, std::int64_t columns, Broadcast broadcast) {
  const DataType type = kDataTypeOf<T>;
  const std::vector<std::int64_t> sizes = {rows, columns};
  const TensorDesc whole = tensor_of(type, sizes, {columns, 1});
  const TensorDesc one = tensor_of(type, sizes, {1, 0});
  return step_of<T>(
      entry, {broadcast == Broadcast::dividend ? one : whole, broadcast == Broadcast::divisor ? one : whole, whole});
}

// Every pair of operands.
template <class T>
void check_every_pair() {
  constexpr u32 kBits = sizeof(T) * 8;
  constexpr u64 kValues = u64{1} << kBits;
  const u64 rows = g_quick ? (kBits == 8 ? 64 : 2) : std::min<u64>(kValues, 1024);
  Buffers<T> buffers(rows * kValues);
  for (const EntryId entry : kModulus) {
    u64 different[3] = {};
    u64 elements = 0;
    for (u64 first = 0; first < kValues; first += rows) {
      fill_every<T><<<blocks_of(buffers.count), 256>>>(buffers.a, buffers.count, 0, 0, kValues - 1);
      fill_every<T><<<blocks_of(buffers.count), 256>>>(buffers.b, buffers.count, first, kBits, rows - 1);
      CHECK(cudaGetLastError());
      const auto height = static_cast<std::int64_t>(rows);
      const auto width = static_cast<std::int64_t>(kValues);
      different[0] += compare<T>(rows_step<T>(entry, height, width, Broadcast::none), buffers, KernelShape::vector);
      // One value per row, from the start of the buffer.
      fill_every<T><<<blocks_of(rows), 256>>>(buffers.b, rows, first, 0, ~u64{0});
      different[1] += compare<T>(rows_step<T>(entry, height, width, Broadcast::divisor), buffers, KernelShape::vector);
      if (kBits == 8) {  // also compares each row alone
        for (u64 i = 0; i < rows; ++i) {
          fill_every<T><<<1, 256>>>(buffers.b, 1, first + i, 0, ~u64{0});
          different[1] += compare<T>(rows_step<T>(entry, 1, width, Broadcast::divisor), buffers, KernelShape::vector);
        }
      }
      fill_every<T><<<blocks_of(buffers.count), 256>>>(buffers.b, buffers.count, 0, 0, kValues - 1);
      fill_every<T><<<blocks_of(rows), 256>>>(buffers.a, rows, first, 0, ~u64{0});
      different[2] += compare<T>(rows_step<T>(entry, height, width, Broadcast::dividend), buffers, KernelShape::vector);
      elements += rows * kValues;
      if (g_quick) {
        first += kValues / 8;
      }
    }
    const std::string name =
        std::string(entry_name(entry)) + " " + std::string(type_name(kDataTypeOf<T>)) + ", every pair, ";
    report(name + "contiguous", elements, different[0]);
    report(name + "one divisor a row", elements, different[1]);
    report(name + "one dividend a row", elements, different[2]);
  }
}

template <class T>
void check_many_pairs() {
  const u64 side = g_quick ? 64 : 4096;
  const u64 rounds = g_quick ? 1 : 16;
  Buffers<T> buffers(side * side);
  const auto length = static_cast<std::int64_t>(side);
  const TensorDesc turned = tensor_of(kDataTypeOf<T>, {length, length}, {1, length});
  const TensorDesc whole = tensor_of(kDataTypeOf<T>, {length, length}, {length, 1});
  for (const EntryId entry : kModulus) {
    u64 different[5] = {};
    for (u64 round = 0; round < rounds; ++round) {
      fill_pairs<T><<<blocks_of(buffers.count), 256>>>(buffers.a, buffers.b, buffers.count, round);
      CHECK(cudaGetLastError());
      different[0] += compare<T>(rows_step<T>(entry, length, length, Broadcast::none), buffers, KernelShape::vector);
      different[1] += compare<T>(rows_step<T>(entry, length, length, Broadcast::divisor), buffers, KernelShape::vector);
      different[2] +=
          compare<T>(rows_step<T>(entry, length, length, Broadcast::dividend), buffers, KernelShape::vector);
      different[3] += compare<T>(step_of<T>(entry, {whole, turned, whole}), buffers, KernelShape::transposed);
      // A single divisor, at a different offset each time.
      for (u64 i = 0; i < (g_quick ? 2 : 16); ++i) {
        raw_t<T>* const b = buffers.b;
        buffers.b += hash(round * 64 + i) % buffers.count;
        different[4] += compare<T>(rows_step<T>(entry, 1, length * length / (g_quick ? 1 : 16), Broadcast::divisor),
                                   buffers, KernelShape::vector);
        buffers.b = b;
      }
    }
    const u64 elements = buffers.count * rounds;
    const std::string name =
        std::string(entry_name(entry)) + " " + std::string(type_name(kDataTypeOf<T>)) + ", mixed pairs, ";
    report(name + "contiguous", elements, different[0]);
    report(name + "one divisor a row", elements, different[1]);
    report(name + "one dividend a row", elements, different[2]);
    report(name + "transposed divisor", elements, different[3]);
    report(name + "one divisor", elements, different[4]);
  }
}

}  // namespace

void check_modulus() {
  check_every_pair<u8>();
  check_every_pair<i8>();
  check_every_pair<u16>();
  check_every_pair<i16>();
  check_every_pair<f16>();
  check_many_pairs<u32>();
  check_many_pairs<i32>();
  check_many_pairs<u64>();
  check_many_pairs<i64>();
  check_many_pairs<f32>();
  check_many_pairs<f64>();
}

}  // namespace anydml::cuda
