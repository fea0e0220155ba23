// SPDX-License-Identifier: MIT
// The kernels of both modulus operators, compiled once for each of Highway's targets, and the table of all vector
// kernels.
#include "ops/elementwise/cpu/vector_kernels.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "ops/elementwise/cpu/entry_files.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/vector_kernels.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

#include "ops/elementwise/cpu/entry_files-inl.h"
#include "ops/elementwise/cpu/tiles-inl.h"
#include "ops/elementwise/cpu/vector_floats-inl.h"
#include "ops/elementwise/cpu/vector_integers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_NEON
// neon_halves.cpp: operations that are faster with the CPU's half-precision instructions.
void replace_halves(KernelTable& table);
// neon_casts.cpp, neon_floats.cpp: operations for which Arm has dedicated instructions.
void replace_casts(KernelTable& table);
void replace_floats(KernelTable& table);
#endif

template <class T>
HWY_INLINE T load_element(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <class T>
HWY_INLINE auto repeated(T value) {
  if constexpr (std::is_same_v<T, f16>) {
    return hn::Set(hn::ScalableTag<u16>(), std::bit_cast<u16>(value));
  } else {
    return hn::Set(hn::ScalableTag<T>(), value);
  }
}

enum class Operand {
  tensor,
  repeated,  // a single element
  stepped,   // every element or every other one, depending on an argument
};

// Loads a vector from an address, or every other element starting there. In the second case it reads one element more
// than it needs.
template <class D>
HWY_INLINE hn::Vec<D> load_stepped(D d, const std::byte* address, std::size_t step) {
  const auto low = load_bytes(d, address);
  return HWY_LIKELY(step == 1) ? low
                               : hn::ConcatEven(d, load_bytes(d, address + hn::Lanes(d) * sizeof(hn::TFromD<D>)), low);
}

// Like load_stepped, but loads one element at a time, so that it reads nothing beyond the last element.
template <class D>
HWY_NOINLINE hn::Vec<D> load_singly(D d, const std::byte* address, std::size_t step) {
  constexpr std::size_t kSize = sizeof(hn::TFromD<D>);
  alignas(HWY_MAX_BYTES) std::byte lanes[HWY_MAX_BYTES];
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    std::memcpy(lanes + i * kSize, address + i * step * kSize, kSize);
  }
  return load_bytes(d, lanes);
}

struct Steps {
  std::size_t a = 1;
  std::size_t b = 1;
};

template <class T, Operand kOperand, class D>
HWY_INLINE hn::Vec<D> load_operand(D d, const std::byte* from, std::size_t n, std::size_t step) {
  if constexpr (kOperand == Operand::repeated) {
    return repeated(load_element<T>(from));
  } else if constexpr (kOperand == Operand::tensor) {
    return load_bytes(d, from + n);
  } else {
    return load_stepped(d, from + n * step, step);
  }
}

// Recomputes the vectors of one batch thoroughly. Out of line, so that the loop stays small and needs no stack memory.
template <class T, bool kFloor, Operand kA, Operand kB, std::size_t kVectors>
HWY_NOINLINE void run_thoroughly(const std::byte* a, const std::byte* b, std::byte* out, std::size_t n, Steps steps) {
  using A = Arithmetic<T, kFloor>;
  const typename A::D d;
  const std::size_t step = hn::Lanes(d) * sizeof(T);
  typename A::V x[kVectors];
  typename A::V y[kVectors];
  typename A::V results[kVectors];
  for (std::size_t k = 0; k < kVectors; ++k) {
    x[k] = load_operand<T, kA>(d, a, n + k * step, steps.a);
    y[k] = load_operand<T, kB>(d, b, n + k * step, steps.b);
  }
  A::template thorough<kVectors>(d, x, y, results);
  for (std::size_t k = 0; k < kVectors; ++k) {
    store_bytes(d, results[k], out + n + k * step);
  }
}

// Rows of at least this many bytes prefetch this far ahead, because with these divisions the CPU itself cannot look far
// ahead. The data is prefetched into the L1 cache. On Neoverse V1, prefetching 4 KiB of each operand occupied too much
// of that cache, and the kernel reached only a third of the memory bandwidth instead of half.
inline constexpr std::int64_t kBytesAhead = HWY_ARCH_ARM_A64 ? 1536 : 4096;

// Computes one row into contiguous memory.
template <class T, bool kFloor, Operand kA, Operand kB>
HWY_INLINE void run_row(const std::byte* a, const std::byte* b, std::byte* out, std::size_t count, Steps steps = {}) {
  using A = Arithmetic<T, kFloor>;
  using V = typename A::V;
  const typename A::D d;
  constexpr std::size_t kUnroll = kB == Operand::repeated ? A::kUnrollOneDivisor : A::kUnroll;
  const std::size_t step = hn::Lanes(d) * sizeof(T);  // in bytes, like all numbers below
  const std::size_t bytes = count * sizeof(T);
  const V a_repeated = repeated(load_element<T>(a));
  const V b_repeated = repeated(load_element<T>(b));
  const auto load_a = [&](std::size_t n) HWY_ATTR {
    return kA == Operand::repeated ? a_repeated : load_operand<T, kA>(d, a, n, steps.a);
  };
  const auto load_b = [&](std::size_t n) HWY_ATTR {
    return kB == Operand::repeated ? b_repeated : load_operand<T, kB>(d, b, n, steps.b);
  };
  const auto divisor = [&]() HWY_ATTR {
    if constexpr (kB == Operand::repeated) {
      return typename A::Divisor(load_element<T>(b));
    } else {
      return 0;
    }
  }();
  const auto quick = [&](V x, V y, typename A::Proven& proven) HWY_ATTR {
    if constexpr (kB == Operand::repeated) {
      return A::quick(d, x, divisor, proven);
    } else {
      return A::quick(d, x, y, proven);
    }
  };
  const typename A::ProvenTag d_proven;
  const auto all = hn::FirstN(d_proven, hn::Lanes(d_proven));
  [[maybe_unused]] const auto is_all = [&](typename A::Proven proven)
                                           HWY_ATTR { return HWY_LIKELY(hn::AllTrue(d_proven, proven)); };
  const auto one = [&](V x, V y) HWY_ATTR {
    auto proven = all;
    const V result = quick(x, y, proven);
    if constexpr (!A::kAlwaysQuick) {
      if (!is_all(proven)) {
        V repaired;
        A::template thorough<1>(d, &x, &y, &repaired);
        return repaired;
      }
    }
    return result;
  };
  if (bytes < step) {  // use temporary vectors, padded with 0 mod 1
    alignas(HWY_MAX_BYTES) std::byte a_padded[HWY_MAX_BYTES] = {};
    alignas(HWY_MAX_BYTES) std::byte b_padded[HWY_MAX_BYTES];
    store_bytes(d, repeated(T{1}), b_padded);
    for (std::size_t i = 0; i < bytes; i += sizeof(T)) {
      std::memcpy(a_padded + i, a + (kA == Operand::repeated ? 0 : i * steps.a), sizeof(T));
      std::memcpy(b_padded + i, b + (kB == Operand::repeated ? 0 : i * steps.b), sizeof(T));
    }
    store_bytes(d, one(load_bytes(d, a_padded), load_bytes(d, b_padded)), a_padded);
    std::memcpy(out, a_padded, bytes);
    return;
  }
  // The last vector overlaps the previous one. Its operands are loaded first, since the output may be an input.
  const std::size_t last = bytes - step;
  const bool skips = (kA == Operand::stepped && steps.a != 1) || (kB == Operand::stepped && steps.b != 1);
  const V a_last = skips ? load_singly(d, a + last * steps.a, steps.a) : load_a(last);
  const V b_last = skips ? load_singly(d, b + last * steps.b, steps.b) : load_b(last);
  // Loads that skip elements read one element more than they need. The last load must not do this.
  const std::size_t whole = skips ? bytes - 1 : bytes;
  const bool fetches = bytes >= kBytesAhead;
  std::size_t n = 0;
  for (; n + kUnroll * step <= whole; n += kUnroll * step) {
    V results[kUnroll];
    if (fetches) {
      for (std::size_t line = 0; line < kUnroll * step; line += 64) {
        if constexpr (kA == Operand::tensor) {
          fetch(a + n + line, kBytesAhead);
        }
        if constexpr (kB == Operand::tensor) {
          fetch(b + n + line, kBytesAhead);
        }
      }
    }
    auto proven = all;
    for (std::size_t k = 0; k < kUnroll; ++k) {  // in lockstep, so that their divisions overlap
      results[k] = quick(load_a(n + k * step), load_b(n + k * step), proven);
    }
    if constexpr (!A::kAlwaysQuick) {
      if (!is_all(proven)) {
        run_thoroughly<T, kFloor, kA, kB, kUnroll>(a, b, out, n, steps);
        continue;
      }
    }
    for (std::size_t k = 0; k < kUnroll; ++k) {
      store_bytes(d, results[k], out + n + k * step);
    }
  }
  for (; n + step <= whole; n += step) {
    store_bytes(d, one(load_a(n), load_b(n)), out + n);
  }
  if (n < bytes) {
    store_bytes(d, one(a_last, b_last), out + last);
  }
}

template <class T, bool kFloor>
void run_plain_rows(const RowBlock& block) noexcept {
  RowCursor<2> row(block);
  do {
    run_row<T, kFloor, Operand::tensor, Operand::tensor>(row.inputs[0], row.inputs[1], row.output, block.columns);
  } while (row.next());
}

// One call per row, because this code runs slower if it is inlined into the loop over rows.
template <class T, bool kFloor>
HWY_NOINLINE void run_stepped_row(const std::byte* a, const std::byte* b, std::byte* out, std::size_t count,
                                  Steps steps) {
  run_row<T, kFloor, Operand::stepped, Operand::stepped>(a, b, out, count, steps);
}

template <class T, bool kFloor>
void run_stepped_rows(const RowBlock& block) noexcept {
  const Steps steps{block.steps[0], block.steps[1]};
  RowCursor<2> row(block);
  do {
    run_stepped_row<T, kFloor>(row.inputs[0], row.inputs[1], row.output, block.columns, steps);
  } while (row.next());
}

template <class T, bool kFloor>
void tiled_kernel(const KernelArguments& arguments) noexcept {
  static constexpr TiledRow kRow{
      run_plain_rows<T, kFloor>, run_stepped_rows<T, kFloor>, 2, {sizeof(T), sizeof(T), sizeof(T)}};
  run_tiled(kRow, arguments, nullptr);
}

template <class T, bool kFloor, Operand kA, Operand kB>
void kernel(const KernelArguments& arguments) noexcept {
  const auto& a = arguments.inputs[0];
  const auto& b = arguments.inputs[1];
  if (arguments.rows > 1 && arguments.columns * sizeof(T) < HWY_LANES(u8)) {
    tiled_kernel<T, kFloor>(arguments);
    return;
  }
  for (std::size_t row = 0; row < arguments.rows; ++row) {
    const auto nth = static_cast<std::ptrdiff_t>(row);
    run_row<T, kFloor, kA, kB>(a.data + nth * a.row_stride, b.data + nth * b.row_stride,
                               arguments.output.data + nth * arguments.output.row_stride, arguments.columns);
  }
}

template <class T, bool kFloor>
void replace_type(KernelTable& table) {
  const EntryId id = kFloor ? EntryId::ELEMENT_WISE_MODULUS_FLOOR : EntryId::ELEMENT_WISE_MODULUS_TRUNCATE;
  auto& slots = table.at(entry(id), find_variant(entry(id), kDataTypeOf<T>));
  // Truncation and floor agree for unsigned numbers, so both operators share one kernel.
  constexpr bool kRounds = kFloor && !std::is_unsigned_v<T>;
  slots[static_cast<std::size_t>(InnerLayout::contiguous)] = tiled_kernel<T, kRounds>;
  slots[static_cast<std::size_t>(InnerLayout::first_broadcast)] =
      kernel<T, kRounds, Operand::repeated, Operand::tensor>;
  slots[static_cast<std::size_t>(InnerLayout::second_broadcast)] =
      kernel<T, kRounds, Operand::tensor, Operand::repeated>;
  slots[static_cast<std::size_t>(InnerLayout::strided)] = tiled_kernel<T, kRounds>;
}

template <class... Types>
void replace_types(KernelTable& table) {
  (replace_type<Types, true>(table), ...);
  (replace_type<Types, false>(table), ...);
}

void replace_scaled_difference(KernelTable& table);

void replace(KernelTable& table) {
  replace_types<f16, f32, f64, i8, u8, i16, u16, i32, u32, i64, u64>(table);
  [&]<std::size_t... kFiles>(std::index_sequence<kFiles...>) { (replace_entries<kFiles>(table), ...); }
  (std::make_index_sequence<kEntryFiles>{});
  replace_quantize(table);
  replace_scaled_difference(table);
  put_runs(table);
#if HWY_TARGET == HWY_NEON
  replace_halves(table);
  replace_casts(table);
  replace_floats(table);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

std::span<const KernelTarget> vector_targets() {
#if defined(__aarch64__)
  static constexpr KernelTarget kTargets[] = {{cpu::Target::neon, N_NEON::replace}};
  return kTargets;
#elif defined(__x86_64__)
  static constexpr KernelTarget kTargets[] = {
#if !defined(ANYDML_WITHOUT_AVX512)
    {cpu::Target::avx512, N_AVX3::replace},
#endif
#if !defined(ANYDML_WITHOUT_AVX2)
    {cpu::Target::avx2, N_AVX2::replace},
#endif
  };
  return kTargets;
#else
  return {};
#endif
}

}  // namespace anydml

#endif
