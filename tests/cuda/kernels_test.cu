// SPDX-License-Identifier: MIT
// The CUDA kernels against the scalar definitions, by bits. Tuned kernels are compared on the device with the generic
// one, which is the scalar definition itself, over every pair of 8 and 16 bits and many of the wider ones; the generic
// one, every layout, small tasks and fills are compared with the host. Exits with 77, "skipped", where there is no
// device. --quick: few elements, for tools that watch every access.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cuda/kernels/kernels.h"
#include "cuda/standalone.h"
#include "ops/elementwise/scalars.h"
#include "ops/elementwise/signature.h"
#include "support/distributions.h"

namespace anydml::cuda {
namespace {

using test::any_value;
using test::from_raw;
using test::Random;
using test::same;
using test::show;

bool quick = false;
u64 failures = 0;

void report(const std::string& name, u64 elements, u64 different) {
  std::printf("%s: %" PRIu64 " elements, %" PRIu64 " different\n", name.c_str(), elements, different);
  std::fflush(stdout);
  failures += different;
}

std::string name_of(DataType type) { return std::string(type_name(type)); }

const char* row_name(RowId row) {
  switch (row) {
#define ANYDML_ROW(op, Scalar, ulp) \
  case RowId::op:                   \
    return #op;
#include "ops/elementwise/elementwise.def"
    case RowId::count_:
      break;
  }
  return "";
}

// A tensor of sizes and strides in elements.
TensorDesc tensor_of(DataType type, const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides) {
  TensorDesc tensor;
  tensor.type = type;
  tensor.rank = static_cast<std::uint32_t>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), tensor.sizes);
  std::copy(strides.begin(), strides.end(), tensor.strides);
  return tensor;
}

Attributes test_attributes() {
  Attributes attributes;
  attributes.values[0] = Scalar(-2.5);
  attributes.values[1] = Scalar(100.25);
  return attributes;
}

Step step_of(const std::vector<RowId>& rows, const std::vector<TensorDesc>& tensors) {
  Step step;
  std::fill_n(step.types, tensors.size(), tensors.back().type);
  step.nest = normalise(tensors);
  step.instruction_count = static_cast<u32>(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    step.program[i].row = static_cast<std::uint16_t>(rows[i]);
    step.program[i].attributes = test_attributes();
    for (u8 source = 0; source < kMaxInputs; ++source) {
      step.program[i].sources[source] = source;
    }
    if (i != 0) {
      step.program[i].sources[0] = static_cast<u8>(kMaxOperands + i - 1);
    }
  }
  return step;
}

PreparedStep prepared_of(const Step& step) {
  PreparedStep prepared;
  if (!prepare(step, prepared)) {
    std::fprintf(stderr, "a step was not prepared\n");
    std::exit(1);
  }
  return prepared;
}

PreparedStep generic_of(const Step& step) {
  PreparedStep prepared = prepared_of(step);
  prepared.tuned = false;
  prepared.shape = KernelShape::strided;
  return prepared;
}

constexpr RowId kModulus[] = {RowId::ELEMENT_WISE_MODULUS_FLOOR, RowId::ELEMENT_WISE_MODULUS_TRUNCATE};

// ---- On the device ----

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

// Eight kinds of pairs in turn.
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
      case 5:  // powers of two and their neighbours
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

// A step on the tuned kernels and on the generic one; how many elements differ.
template <class T>
u64 compare(const Step& step, Buffers<T>& buffers, const char* expected_kernel = nullptr) {
  const PreparedStep tuned = prepared_of(step);
  if (expected_kernel != nullptr && std::string_view(kernel_name(tuned)) != expected_kernel) {
    std::printf("expected the %s kernel, not %s\n", expected_kernel, kernel_name(tuned));
    ++failures;
  }
  const auto bytes = [](raw_t<T>* address) { return reinterpret_cast<std::byte*>(address); };
  std::byte* to_expected[] = {bytes(buffers.a), bytes(buffers.b), bytes(buffers.expected)};
  std::byte* to_found[] = {bytes(buffers.a), bytes(buffers.b), bytes(buffers.found)};
  const auto count = static_cast<u64>(step.nest.count);
  CHECK(cudaMemsetAsync(buffers.expected, 0x5a, count * sizeof(T)));
  CHECK(cudaMemsetAsync(buffers.found, 0xa5, count * sizeof(T)));
  CHECK(launch(generic_of(step), to_expected, nullptr));
  CHECK(launch(tuned, to_found, nullptr));
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
      std::printf("  %s %s: element %llu is %s, expected %s\n", row_name(row_of(step.program[0])),
                  name_of(step.output_type()).c_str(), counters[1], show(from_raw<T>(found)).c_str(),
                  show(from_raw<T>(expected)).c_str());
    }
  }
  return counters[0];
}

enum class Broadcast { none, divisor, dividend };

// rows x columns with one of the operands repeated along the rows.
template <class T>
Step rows_step(RowId row, std::int64_t rows, std::int64_t columns, Broadcast broadcast) {
  const DataType type = kDataTypeOf<T>;
  const std::vector<std::int64_t> sizes = {rows, columns};
  const TensorDesc whole = tensor_of(type, sizes, {columns, 1});
  const TensorDesc one = tensor_of(type, sizes, {1, 0});
  return step_of(
      {row}, {broadcast == Broadcast::dividend ? one : whole, broadcast == Broadcast::divisor ? one : whole, whole});
}

// Every pair of operands.
template <class T>
void check_every_pair() {
  constexpr u32 kBits = sizeof(T) * 8;
  constexpr u64 kValues = u64{1} << kBits;
  const u64 rows = quick ? (kBits == 8 ? 64 : 2) : std::min<u64>(kValues, 1024);
  Buffers<T> buffers(rows * kValues);
  for (const RowId row : kModulus) {
    u64 different[3] = {};
    u64 elements = 0;
    for (u64 first = 0; first < kValues; first += rows) {
      fill_every<T><<<blocks_of(buffers.count), 256>>>(buffers.a, buffers.count, 0, 0, kValues - 1);
      fill_every<T><<<blocks_of(buffers.count), 256>>>(buffers.b, buffers.count, first, kBits, rows - 1);
      CHECK(cudaGetLastError());
      const auto height = static_cast<std::int64_t>(rows);
      const auto width = static_cast<std::int64_t>(kValues);
      different[0] += compare<T>(rows_step<T>(row, height, width, Broadcast::none), buffers, "vector");
      // One value for each row, from the start of the buffer.
      fill_every<T><<<blocks_of(rows), 256>>>(buffers.b, rows, first, 0, ~u64{0});
      different[1] += compare<T>(rows_step<T>(row, height, width, Broadcast::divisor), buffers, "vector");
      if (kBits == 8) {  // and alone, as a single row
        for (u64 i = 0; i < rows; ++i) {
          fill_every<T><<<1, 256>>>(buffers.b, 1, first + i, 0, ~u64{0});
          different[1] += compare<T>(rows_step<T>(row, 1, width, Broadcast::divisor), buffers, "vector");
        }
      }
      fill_every<T><<<blocks_of(buffers.count), 256>>>(buffers.b, buffers.count, 0, 0, kValues - 1);
      fill_every<T><<<blocks_of(rows), 256>>>(buffers.a, rows, first, 0, ~u64{0});
      different[2] += compare<T>(rows_step<T>(row, height, width, Broadcast::dividend), buffers, "vector");
      elements += rows * kValues;
      if (quick) {
        first += kValues / 8;
      }
    }
    const std::string name = std::string(row_name(row)) + " " + name_of(kDataTypeOf<T>) + ", every pair, ";
    report(name + "contiguous", elements, different[0]);
    report(name + "one divisor a row", elements, different[1]);
    report(name + "one dividend a row", elements, different[2]);
  }
}

template <class T>
void check_many_pairs() {
  const u64 side = quick ? 64 : 4096;
  const u64 rounds = quick ? 1 : 16;
  Buffers<T> buffers(side * side);
  const auto length = static_cast<std::int64_t>(side);
  const TensorDesc turned = tensor_of(kDataTypeOf<T>, {length, length}, {1, length});
  const TensorDesc whole = tensor_of(kDataTypeOf<T>, {length, length}, {length, 1});
  for (const RowId row : kModulus) {
    u64 different[5] = {};
    for (u64 round = 0; round < rounds; ++round) {
      fill_pairs<T><<<blocks_of(buffers.count), 256>>>(buffers.a, buffers.b, buffers.count, round);
      CHECK(cudaGetLastError());
      different[0] += compare<T>(rows_step<T>(row, length, length, Broadcast::none), buffers, "vector");
      different[1] += compare<T>(rows_step<T>(row, length, length, Broadcast::divisor), buffers, "vector");
      different[2] += compare<T>(rows_step<T>(row, length, length, Broadcast::dividend), buffers, "vector");
      different[3] += compare<T>(step_of({row}, {whole, turned, whole}), buffers, "transposed");
      // One divisor for all, from another place each time.
      for (u64 i = 0; i < (quick ? 2 : 16); ++i) {
        raw_t<T>* const b = buffers.b;
        buffers.b += hash(round * 64 + i) % buffers.count;
        different[4] +=
            compare<T>(rows_step<T>(row, 1, length * length / (quick ? 1 : 16), Broadcast::divisor), buffers, "vector");
        buffers.b = b;
      }
    }
    const u64 elements = buffers.count * rounds;
    const std::string name = std::string(row_name(row)) + " " + name_of(kDataTypeOf<T>) + ", mixed pairs, ";
    report(name + "contiguous", elements, different[0]);
    report(name + "one divisor a row", elements, different[1]);
    report(name + "one dividend a row", elements, different[2]);
    report(name + "transposed divisor", elements, different[3]);
    report(name + "one divisor", elements, different[4]);
  }
}

// ---- Against the host ----

// A program's value for one element, by the scalar definitions.
template <class T>
T apply_row(RowId row, const Attributes& attributes, const T (&values)[kMaxInputs]) {
  switch (row) {
#define ANYDML_TYPED_ROW(op, ScalarOp, ulp) \
  case RowId::op:                           \
    break;
#define ANYDML_ROW(op, ScalarOp, ulp)                                               \
  case RowId::op: {                                                                 \
    constexpr std::size_t kInputs = scalar_inputs<ScalarOp<T>, T>();                \
    if constexpr (kInputs == 1) {                                                   \
      return make_scalar<ScalarOp<T>>(attributes)(values[0]);                       \
    } else if constexpr (kInputs == 2) {                                            \
      return make_scalar<ScalarOp<T>>(attributes)(values[0], values[1]);            \
    } else if constexpr (kInputs == 3) {                                            \
      return make_scalar<ScalarOp<T>>(attributes)(values[0], values[1], values[2]); \
    }                                                                               \
    break;                                                                          \
  }
#include "ops/elementwise/elementwise.def"
    case RowId::count_:
      break;
  }
  return T{};
}

template <class T>
std::size_t inputs_of(RowId row) {
  switch (row) {
#define ANYDML_TYPED_ROW(op, ScalarOp, ulp) \
  case RowId::op:                           \
    break;
#define ANYDML_ROW(op, ScalarOp, ulp) \
  case RowId::op:                     \
    return scalar_inputs<ScalarOp<T>, T>();
#include "ops/elementwise/elementwise.def"
    case RowId::count_:
      break;
  }
  return 0;
}

template <class T>
void check_generic() {
  const u64 count = quick ? 4096 : u64{1} << 21;
  Buffers<T> buffers(count);
  std::vector<T> a(count), b(count), found(count);
  fill_pairs<T><<<blocks_of(count), 256>>>(buffers.a, buffers.b, count, 77);
  CHECK(cudaMemcpy(a.data(), buffers.a, count * sizeof(T), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(b.data(), buffers.b, count * sizeof(T), cudaMemcpyDeviceToHost));
  u64 elements = 0;
  u64 different = 0;
  for (u16 id = 0; id < static_cast<u16>(RowId::count_); ++id) {
    const auto row = static_cast<RowId>(id);
    const std::size_t inputs = inputs_of<T>(row);
    if (inputs == 0) {
      continue;
    }
    const auto length = static_cast<std::int64_t>(count);
    const TensorDesc whole = tensor_of(kDataTypeOf<T>, {length}, {1});
    const Step step = step_of({row}, std::vector<TensorDesc>(inputs + 1, whole));
    std::byte* addresses[] = {reinterpret_cast<std::byte*>(buffers.a), reinterpret_cast<std::byte*>(buffers.b),
                              reinterpret_cast<std::byte*>(buffers.b), reinterpret_cast<std::byte*>(buffers.found)};
    addresses[inputs] = addresses[3];
    CHECK(launch(generic_of(step), addresses, nullptr));
    CHECK(cudaMemcpy(found.data(), buffers.found, count * sizeof(T), cudaMemcpyDeviceToHost));
    for (u64 i = 0; i < count; ++i) {
      const T values[kMaxInputs] = {a[i], b[i], b[i]};
      const T expected = apply_row<T>(row, step.program[0].attributes, values);
      if (!same(found[i], expected) && different++ < 5) {
        std::printf("  %s %s: %s, %s: device %s, host %s\n", row_name(row), name_of(kDataTypeOf<T>).c_str(),
                    show(a[i]).c_str(), show(b[i]).c_str(), show(found[i]).c_str(), show(expected).c_str());
      }
    }
    elements += count;
  }
  report("generic " + name_of(kDataTypeOf<T>) + ", every row, host", elements, different);
}

struct Layout {
  std::vector<std::int64_t> strides;  // in elements
  std::int64_t least = 0;             // offsets of the elements at the ends, in elements
  std::int64_t most = 0;
  std::size_t base = 0;  // in bytes from the start of the arena, of the element at index 0
};

constexpr std::size_t kArena = std::size_t{1} << 21;
constexpr std::size_t kGap = 64;

// One step over memory that is otherwise random bytes, on the device and on the host.
template <class T>
class LayoutCheck {
 public:
  explicit LayoutCheck(u64 seed) : random_(seed) { CHECK(cudaMalloc(&device_, kArena)); }
  ~LayoutCheck() { cudaFree(device_); }

  // Zero strides are for inputs only.
  Layout draw_layout(const std::vector<std::int64_t>& sizes, const std::vector<std::size_t>& order, bool input,
                     bool plain) {
    Layout layout;
    layout.strides.assign(sizes.size(), 0);
    std::int64_t stride = !plain && random_() % 8 == 0 ? 1 + static_cast<std::int64_t>(random_() % 3) : 1;
    for (std::size_t i = order.size(); i-- > 0;) {
      const std::size_t dimension = order[i];
      if (input && !plain && random_() % 6 == 0) {
        continue;  // repeated
      }
      layout.strides[dimension] = !plain && random_() % 8 == 0 ? -stride : stride;
      stride *= std::max<std::int64_t>(sizes[dimension], 1);
      if (!plain && random_() % 4 == 0) {
        stride += static_cast<std::int64_t>(random_() % 9);
      } else if (!plain && random_() % 3 == 0) {
        stride = (stride + 15) / 16 * 16;
      }
    }
    return layout;
  }

  void place(Layout& layout, const std::vector<std::int64_t>& sizes, std::size_t& used) {
    layout.least = layout.most = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::int64_t reach = std::max<std::int64_t>(sizes[i] - 1, 0) * layout.strides[i];
      (reach < 0 ? layout.least : layout.most) += reach;
    }
    const auto below = static_cast<std::size_t>(-layout.least) * sizeof(T);
    std::size_t base = (used + kGap + below + 15) / 16 * 16;
    switch (random_() % 4) {
      case 0:
        base += random_() % 4 * sizeof(T);
        break;
      case 1:
        base += random_() % 16;
        break;
      default:
        break;
    }
    layout.base = base;
    used = base + static_cast<std::size_t>(layout.most + 1) * sizeof(T);
  }

  // False: it would not fit.
  bool run(const std::vector<RowId>& rows, StepKind kind, const std::vector<std::int64_t>& sizes,
           std::vector<Layout> layouts, int in_place) {
    const std::size_t inputs = layouts.size() - 1;
    std::size_t used = kGap;
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      if (i == inputs && in_place >= 0) {
        layouts[i] = layouts[static_cast<std::size_t>(in_place)];
      } else {
        place(layouts[i], sizes, used);
      }
    }
    used += kGap;
    if (used > kArena) {
      return false;
    }
    host_.resize(used);
    for (std::size_t i = 0; i < used; ++i) {
      host_[i] = static_cast<std::byte>(random_());
    }
    std::vector<TensorDesc> tensors;
    for (const Layout& layout : layouts) {
      tensors.push_back(tensor_of(kDataTypeOf<T>, sizes, layout.strides));
    }
    Step step = step_of(rows, tensors);
    step.kind = kind;
    if (kind == StepKind::copy) {
      step.instruction_count = 0;
    }
    const std::int64_t count = step.nest.count;
    for_each(sizes, count, [&](const std::vector<std::int64_t>& index) {
      for (std::size_t i = 0; i < inputs; ++i) {
        const T value = any_value<T>(random_);
        std::memcpy(&host_[place_of(layouts[i], index)], &value, sizeof(T));
      }
    });
    CHECK(cudaMemcpy(device_, host_.data(), used, cudaMemcpyHostToDevice));
    const PreparedStep prepared = prepared_of(step);
    ++kernels_[static_cast<std::size_t>(prepared.shape)];
    std::byte* bases[kMaxOperands] = {};
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      bases[i] = device_ + layouts[i].base;
    }
    CHECK(launch(prepared, bases, nullptr));
    found_.resize(used);
    CHECK(cudaMemcpy(found_.data(), device_, used, cudaMemcpyDeviceToHost));

    std::vector<T> expected;
    for_each(sizes, count, [&](const std::vector<std::int64_t>& index) {
      T values[kMaxInputs] = {};
      for (std::size_t i = 0; i < inputs; ++i) {
        std::memcpy(&values[i], &host_[place_of(layouts[i], index)], sizeof(T));
      }
      for (std::size_t i = 0; i < rows.size() && kind != StepKind::copy; ++i) {
        values[0] = apply_row<T>(rows[i], step.program[i].attributes, values);
      }
      expected.push_back(values[0]);
    });
    std::size_t next = 0;
    for_each(sizes, count, [&](const std::vector<std::int64_t>& index) {
      const std::size_t at = place_of(layouts[inputs], index);
      T found;
      std::memcpy(&found, &found_[at], sizeof(T));
      const T wanted = expected[next++];
      if (kind == StepKind::copy ? std::memcmp(&found, &wanted, sizeof(T)) != 0 : !same(found, wanted)) {
        if (different++ < 5) {
          std::printf("  %s %s %s: element %zu is %s, expected %s\n", row_name(rows[0]),
                      name_of(kDataTypeOf<T>).c_str(), kernel_name(prepared), next - 1, show(found).c_str(),
                      show(wanted).c_str());
        }
      }
      std::memcpy(&host_[at], &found, sizeof(T));
    });
    if (std::memcmp(host_.data(), found_.data(), used) != 0) {
      std::printf("  %s %s %s: wrote outside its elements\n", row_name(rows[0]), name_of(kDataTypeOf<T>).c_str(),
                  kernel_name(prepared));
      ++different;
    }
    elements += static_cast<u64>(count);
    return true;
  }

  // Any sizes and layouts.
  void random_case(const std::vector<RowId>& rows, StepKind kind, std::size_t inputs) {
    const std::size_t rank = 1 + random_() % 8;
    std::vector<std::int64_t> sizes;
    std::int64_t count = 1;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t most = std::max<std::int64_t>(1, 3000 / count);
      const std::int64_t size = rank <= 2 ? 1 + static_cast<std::int64_t>(random_() % 90)
                                          : 1 + static_cast<std::int64_t>(random_() % (random_() % 3 == 0 ? 40 : 5));
      sizes.push_back(std::min(size, most));
      count *= sizes.back();
    }
    std::vector<std::size_t> order(rank);
    for (std::size_t i = 0; i < rank; ++i) {
      order[i] = i;
    }
    std::vector<Layout> layouts;
    for (std::size_t i = 0; i <= inputs; ++i) {
      std::vector<std::size_t> own = order;
      if (random_() % 3 == 0) {
        std::shuffle(own.begin(), own.end(), random_);
      }
      layouts.push_back(draw_layout(sizes, own, i < inputs && kind != StepKind::copy, random_() % 3 == 0));
    }
    run(rows, kind, sizes, layouts, in_place_of(layouts, inputs));
  }

  // Rows of a length, each operand contiguous or repeated along them.
  void rows_case(const std::vector<RowId>& rows, std::size_t inputs, std::int64_t height, std::int64_t width) {
    const std::int64_t pitch = width + (random_() % 2 == 0 ? 0 : 16 - width % 16);
    std::vector<Layout> layouts(inputs + 1);
    for (std::size_t i = 0; i <= inputs; ++i) {
      const u64 form = i < inputs ? random_() % 4 : 0;
      layouts[i].strides = form == 1   ? std::vector<std::int64_t>{1, 0}
                           : form == 2 ? std::vector<std::int64_t>{0, 1}
                                       : std::vector<std::int64_t>{pitch, 1};
    }
    run(rows, StepKind::elementwise, {height, width}, layouts, in_place_of(layouts, inputs));
  }

  void crossed_case(const std::vector<RowId>& rows, std::size_t inputs) {
    const std::int64_t outer = 1 + static_cast<std::int64_t>(random_() % 3);
    const auto padded = [&](std::int64_t size) { return random_() % 6 != 0 ? (size + 3) / 4 * 4 : size; };
    const std::int64_t height = padded(16 + static_cast<std::int64_t>(random_() % 160));
    const std::int64_t width = padded(16 + static_cast<std::int64_t>(random_() % 160));
    std::vector<Layout> layouts(inputs + 1);
    for (std::size_t i = 0; i <= inputs; ++i) {
      const std::int64_t across = padded(width);
      const std::int64_t down = padded(height);
      if (i < inputs && random_() % 2 == 0) {
        layouts[i].strides = {down * width, 1, down};
      } else {
        layouts[i].strides = {across * height, across, 1};
      }
      if (i < inputs && random_() % 8 == 0) {
        layouts[i].strides[random_() % 3] = 0;
      }
    }
    run(rows, StepKind::elementwise, {outer, height, width}, layouts, in_place_of(layouts, inputs));
  }

  u64 random() { return random_(); }
  u64 elements = 0;
  u64 different = 0;
  [[nodiscard]] std::string kernels() const {
    return std::to_string(kernels_[0]) + " vector, " + std::to_string(kernels_[1]) + " transposed, " +
           std::to_string(kernels_[2]) + " strided";
  }

 private:
  int in_place_of(const std::vector<Layout>& layouts, std::size_t inputs) {
    const std::size_t input = random_() % inputs;
    const auto& strides = layouts[input].strides;
    const bool repeats = std::any_of(strides.begin(), strides.end(), [](std::int64_t stride) { return stride == 0; });
    return random_() % 3 == 0 && !repeats ? static_cast<int>(input) : -1;
  }
  [[nodiscard]] static std::size_t place_of(const Layout& layout, const std::vector<std::int64_t>& index) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      offset += index[i] * layout.strides[i];
    }
    return static_cast<std::size_t>(static_cast<std::int64_t>(layout.base) +
                                    offset * static_cast<std::int64_t>(sizeof(T)));
  }
  template <class Visit>
  static void for_each(const std::vector<std::int64_t>& sizes, std::int64_t count, Visit&& visit) {
    std::vector<std::int64_t> index(sizes.size(), 0);
    for (std::int64_t i = 0; i < count; ++i) {
      visit(index);
      for (std::size_t dimension = sizes.size(); dimension-- > 0;) {
        if (++index[dimension] < sizes[dimension]) {
          break;
        }
        index[dimension] = 0;
      }
    }
  }

  Random random_;
  std::byte* device_ = nullptr;
  std::vector<std::byte> host_;
  std::vector<std::byte> found_;
  u64 kernels_[3] = {};
};

template <class T>
void check_layouts() {
  LayoutCheck<T> check(test::kSeed + sizeof(T));
  for (u16 id = 0; id < static_cast<u16>(RowId::count_); ++id) {
    const auto row = static_cast<RowId>(id);
    const std::size_t inputs = inputs_of<T>(row);
    if (inputs == 0) {
      continue;
    }
    const bool tuned = row == kModulus[0] || row == kModulus[1];
    const int rounds = quick ? 2 : tuned ? 120 : 40;
    std::vector<std::vector<RowId>> programs = {{row}};
    if (inputs == 1 && inputs_of<T>(RowId::SCALE_BIAS) == 1) {
      programs.push_back({RowId::SCALE_BIAS, row});
    }
    for (const auto& program : programs) {
      for (std::int64_t length = 0; length <= 70; length += quick ? 23 : 1) {
        check.rows_case(program, inputs, 1, length);
      }
      for (int i = 0; i < rounds; ++i) {
        check.rows_case(program, inputs, 1, 1000 + static_cast<std::int64_t>(check.random() % 9000));
        check.rows_case(program, inputs, 2 + static_cast<std::int64_t>(check.random() % 9),
                        16 * (1 + static_cast<std::int64_t>(check.random() % 20)));
        check.rows_case(program, inputs, 2 + static_cast<std::int64_t>(check.random() % 9),
                        1 + static_cast<std::int64_t>(check.random() % 400));
        check.random_case(program, StepKind::elementwise, inputs);
        if (tuned || i % 8 == 0) {
          check.crossed_case(program, inputs);
        }
      }
    }
  }
  for (int i = 0; i < (quick ? 4 : 200); ++i) {
    check.random_case({RowId::ELEMENT_WISE_IDENTITY}, StepKind::copy, 1);
  }
  report("layouts " + name_of(kDataTypeOf<T>) + " (" + check.kernels() + ")", check.elements, check.different);
}

void check_small_tasks() {
  constexpr std::size_t kBuffers = 24;
  constexpr std::size_t kBytes = kMaxSmallElements * 8 + 64;
  Random random(test::kSeed);
  std::byte* device = nullptr;
  CHECK(cudaMalloc(&device, kBuffers * kBytes));
  for (const bool waves : {false, true}) {
    u64 elements = 0;
    u64 different = 0;
    for (int round = 0; round < (quick ? 6 : 120); ++round) {
      std::vector<std::byte> host(kBuffers * kBytes);
      for (std::byte& byte : host) {
        byte = static_cast<std::byte>(random());
      }
      CHECK(cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice));
      const DataType type = static_cast<DataType>(1 + random() % 11);  // one a round, so that NaN stays NaN
      std::vector<SmallTask> tasks;
      u64 read = 0;  // buffers of the current wave
      u64 written = 0;
      const std::size_t most = waves ? (round % 4 == 0 ? kMaxSmallTasks : 1 + random() % 130) : kBuffers / 3;
      visit_type(type, [&]<class T>() {
        while (tasks.size() < most) {
          const auto row = static_cast<RowId>(random() % static_cast<u64>(RowId::count_));
          const std::size_t inputs = inputs_of<T>(row);
          if (inputs == 0 || row == RowId::ELEMENT_WISE_CLIP || row == RowId::SCALE_BIAS) {
            continue;
          }
          const auto count = static_cast<std::int64_t>(random() % 3 == 0   ? 1 + random() % 70
                                                       : random() % 2 == 0 ? 1024
                                                                           : 1 + random() % kMaxSmallElements);
          std::vector<TensorDesc> tensors;
          std::byte* bases[kMaxOperands] = {};
          std::size_t places[kMaxOperands] = {};
          u64 reads = 0;
          u64 writes = 0;
          bool repeated[kMaxOperands] = {};
          for (std::size_t i = 0; i <= inputs; ++i) {
            const std::size_t buffer = waves ? random() % kBuffers : tasks.size() * 3 + i;
            repeated[i] = i < inputs && random() % 4 == 0 && count > 1;
            places[i] = buffer * kBytes + (random() % 3 == 0 ? random() % 4 * sizeof(T) : 0);
            tensors.push_back(tensor_of(type, {count}, {repeated[i] ? 0 : 1}));
            (i < inputs ? reads : writes) |= u64{1} << buffer;
            bases[i] = device + places[i];
          }
          if ((reads & writes) != 0) {
            continue;
          }
          SmallTask task;
          if (!make_small_task(prepared_of(step_of({row}, tensors)), bases, task)) {
            std::printf("  %s %s: no small task\n", row_name(row), name_of(type).c_str());
            ++different;
            break;
          }
          task.begins_wave = ((reads | writes) & written) != 0 || (writes & read) != 0;
          if (task.begins_wave) {
            read = written = 0;
          }
          read |= reads;
          written |= writes;
          tasks.push_back(task);
          for (std::int64_t element = 0; element < count; ++element) {
            T values[kMaxInputs] = {};
            for (std::size_t i = 0; i < inputs; ++i) {
              std::memcpy(&values[i],
                          &host[places[i] + (repeated[i] ? 0 : static_cast<std::size_t>(element) * sizeof(T))],
                          sizeof(T));
            }
            const T result = apply_row<T>(row, Attributes{}, values);
            std::memcpy(&host[places[inputs] + static_cast<std::size_t>(element) * sizeof(T)], &result, sizeof(T));
          }
          elements += static_cast<u64>(count);
        }
      });
      CHECK(waves ? launch_in_waves(tasks.data(), static_cast<u32>(tasks.size()), nullptr)
                  : launch_at_once(tasks.data(), static_cast<u32>(tasks.size()), nullptr));
      std::vector<std::byte> found(host.size());
      CHECK(cudaMemcpy(found.data(), device, found.size(), cudaMemcpyDeviceToHost));
      visit_type(type, [&]<class T>() {
        for (std::size_t at = 0; at < host.size(); at += sizeof(T)) {
          T wanted;
          T got;
          std::memcpy(&wanted, &host[at], sizeof(T));
          std::memcpy(&got, &found[at], sizeof(T));
          // NEGATE and ABS keep a NaN's payload, so that only its class can be compared after them.
          if (!same(wanted, got) && different++ < 5) {
            std::printf("  %s, round %d: %s, expected %s\n", name_of(type).c_str(), round, show(got).c_str(),
                        show(wanted).c_str());
          }
        }
      });
    }
    report(waves ? "small tasks in waves" : "small tasks at once", elements, different);
  }
  CHECK(cudaFree(device));
}

void check_fill() {
  constexpr std::size_t kBytes = 1 << 16;
  std::byte* device = nullptr;
  CHECK(cudaMalloc(&device, kBytes));
  Random random(test::kSeed);
  u64 elements = 0;
  u64 different = 0;
  for (int round = 0; round < (quick ? 40 : 2000); ++round) {
    const u32 pattern_bytes = random() % 2 == 0 ? 4 : 16;
    const u32 pattern[4] = {static_cast<u32>(random()), static_cast<u32>(random()), static_cast<u32>(random()),
                            static_cast<u32>(random())};
    const std::size_t at = 64 + random() % 16 * 4;
    const std::size_t bytes = round < 200 ? static_cast<std::size_t>(round) : random() % (kBytes - 256);
    CHECK(cudaMemset(device, 0x11, kBytes));
    CHECK(launch_fill(device + at, bytes, pattern, pattern_bytes, nullptr));
    std::vector<std::byte> found(kBytes);
    CHECK(cudaMemcpy(found.data(), device, kBytes, cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < kBytes; ++i) {
      const bool inside = i >= at && i < at + bytes;
      const auto* from = reinterpret_cast<const std::byte*>(pattern);
      different += found[i] != (inside ? from[(i - at) % pattern_bytes] : std::byte{0x11}) ? 1 : 0;
    }
    elements += bytes;
  }
  report("fill", elements, different);

  auto* ticks = reinterpret_cast<std::uint64_t*>(device);
  CHECK(launch_timestamp(ticks, nullptr));
  CHECK(launch_timestamp(ticks + 1, nullptr));
  std::uint64_t read[2];
  CHECK(cudaMemcpy(read, ticks, sizeof(read), cudaMemcpyDeviceToHost));
  report("timestamps", 2, read[0] != 0 && read[1] >= read[0] ? 0 : 1);
  CHECK(cudaFree(device));
}

int run_all() {
  check_fill();
#define ANYDML_CHECK(T, name, value) check_generic<T>();
  ANYDML_FOR_EACH_TYPE(ANYDML_CHECK)
#undef ANYDML_CHECK
#define ANYDML_CHECK(T, name, value) check_layouts<T>();
  ANYDML_FOR_EACH_TYPE(ANYDML_CHECK)
#undef ANYDML_CHECK
  check_small_tasks();
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
  std::printf(failures == 0 ? "all the same\n" : "%" PRIu64 " failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace anydml::cuda

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--quick") {
      std::fprintf(stderr, "usage: kernels_test [--quick]\n");
      return 2;
    }
    anydml::cuda::quick = true;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: there is no CUDA device\n");
    return 77;
  }
  return anydml::cuda::run_all();
}
