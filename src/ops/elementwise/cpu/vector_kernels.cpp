// SPDX-License-Identifier: MIT
// The kernels of both modulus operators, once for each target that Highway compiles this file for.
#include "ops/elementwise/cpu/vector_kernels.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

// Enabled is what was run: NEON, AVX2 and AVX-512. Without a fused multiply-add the proof of the floats does not hold.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/vector_kernels.cpp"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#pragma GCC diagnostic pop

#if HWY_TARGET == HWY_NEON || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

#include "ops/elementwise/cpu/vector_floats-inl.h"
#include "ops/elementwise/cpu/vector_integers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

// Through bytes, since tensors lie at any address.
template <class D>
HWY_INLINE hn::Vec<D> load_bytes(D d, const std::byte* address) {
  const hn::Repartition<u8, D> d_bytes;
  return hn::BitCast(d, hn::LoadU(d_bytes, reinterpret_cast<const u8*>(address)));
}

template <class D>
HWY_INLINE void store_bytes(D d, hn::Vec<D> lanes, std::byte* address) {
  const hn::Repartition<u8, D> d_bytes;
  hn::StoreU(hn::BitCast(d_bytes, lanes), d_bytes, reinterpret_cast<u8*>(address));
  static_cast<void>(d);
}

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

// A hint, so that the address may lie beyond the tensor.
HWY_INLINE void fetch(const std::byte* from, std::int64_t ahead) {
  __builtin_prefetch(
      reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(from) + static_cast<std::uintptr_t>(ahead)));
}

enum class Operand {
  tensor,
  repeated,  // a single element
  stepped,   // every element or every other one, as an argument says
};

// The vector at an address, or every other element from there on. That reads one element further than it needs.
template <class D>
HWY_INLINE hn::Vec<D> load_stepped(D d, const std::byte* address, std::size_t step) {
  const auto low = load_bytes(d, address);
  return HWY_LIKELY(step == 1) ? low
                               : hn::ConcatEven(d, load_bytes(d, address + hn::Lanes(d) * sizeof(hn::TFromD<D>)), low);
}

// The same without that, one by one.
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

// The vectors of one group again, thoroughly. Out of line: the loop should stay small, and need no memory.
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

// How far ahead of itself a row fetches, if it is as long: the divisions leave the machine little room to look ahead.
inline constexpr std::int64_t kBytesAhead = 4096;

// One row of elements, into a contiguous one.
template <class T, bool kFloor, Operand kA, Operand kB>
HWY_INLINE void run_row(const std::byte* a, const std::byte* b, std::byte* out, std::size_t count, Steps steps = {}) {
  using A = Arithmetic<T, kFloor>;
  using V = typename A::V;
  const typename A::D d;
  constexpr std::size_t kUnroll = kB == Operand::repeated ? A::kUnrollOneDivisor : A::kUnroll;
  const std::size_t step = hn::Lanes(d) * sizeof(T);  // in bytes, as all below
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
  if (bytes < step) {  // in a vector of its own, filled up with 0 mod 1
    alignas(HWY_MAX_BYTES) std::byte a_padded[HWY_MAX_BYTES] = {};
    alignas(HWY_MAX_BYTES) std::byte b_padded[HWY_MAX_BYTES];
    store_bytes(d, repeated(T(1)), b_padded);
    for (std::size_t i = 0; i < bytes; i += sizeof(T)) {
      std::memcpy(a_padded + i, a + (kA == Operand::repeated ? 0 : i * steps.a), sizeof(T));
      std::memcpy(b_padded + i, b + (kB == Operand::repeated ? 0 : i * steps.b), sizeof(T));
    }
    store_bytes(d, one(load_bytes(d, a_padded), load_bytes(d, b_padded)), a_padded);
    std::memcpy(out, a_padded, bytes);
    return;
  }
  // The last vector overlaps the one before it. Its operands are loaded first, since the output may be an input.
  const std::size_t last = bytes - step;
  const bool skips = (kA == Operand::stepped && steps.a != 1) || (kB == Operand::stepped && steps.b != 1);
  const V a_last = skips ? load_singly(d, a + last * steps.a, steps.a) : load_a(last);
  const V b_last = skips ? load_singly(d, b + last * steps.b, steps.b) : load_b(last);
  // Vectors that skip elements read one further than they need, which the last must not.
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
    for (std::size_t k = 0; k < kUnroll; ++k) {  // in lock step, so that their divisions overlap
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

// The same as calls, for the rows of tiles.
template <class T, bool kFloor>
HWY_NOINLINE void run_stepped_row(const std::byte* a, const std::byte* b, std::byte* out, std::size_t count,
                                  Steps steps) {
  run_row<T, kFloor, Operand::stepped, Operand::stepped>(a, b, out, count, steps);
}

template <class T, bool kFloor>
HWY_NOINLINE void run_plain_row(const std::byte* a, const std::byte* b, std::byte* out, std::size_t count, Steps) {
  run_row<T, kFloor, Operand::tensor, Operand::tensor>(a, b, out, count);
}

// Bytes that do not overlap, mostly few of them: a row of a tile. In units of a fixed size, of which the last may
// repeat a part of the one before: a call of memcpy costs more than the copy.
template <std::size_t kUnit>
HWY_INLINE void copy_units(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t n = 0; n + kUnit <= bytes; n += kUnit) {
    std::memcpy(to + n, from + n, kUnit);
  }
  std::memcpy(to + bytes - kUnit, from + bytes - kUnit, kUnit);
}

HWY_INLINE void copy_row(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes >= 16) {
    copy_units<16>(to, from, bytes);
  } else if (bytes >= 4) {
    copy_units<4>(to, from, bytes);
  } else {
    copy_units<1>(to, from, bytes);
  }
}

// A tile is rows x columns elements, packed, in the first-level cache.
inline constexpr std::size_t kTileBytes = 16384;

template <class T>
HWY_INLINE void copy_element(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, sizeof(T));
}

// The columns of a crossed operand lie far from one another, where no hardware looks ahead: this does. The addresses
// may lie beyond the tensor, which a prefetch does not mind.
inline constexpr std::ptrdiff_t kColumnsAhead = 4;
inline constexpr std::ptrdiff_t kRowsAhead = 2;

template <class T>
HWY_INLINE bool crosses(const KernelArguments::Input& input) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  return input.row_stride == kSize && input.stride != kSize && input.stride != 0;
}

// An operand that is contiguous along the rows: a few columns at a time, each read as it lies.
template <class T>
HWY_NOINLINE void gather_crossed(std::byte* tile, const KernelArguments::Input& from, std::size_t rows,
                                 std::size_t columns) {
  constexpr std::size_t kTogether = 4;
  const std::size_t row_bytes = columns * sizeof(T);
  std::size_t column = 0;
  for (; column + kTogether <= columns; column += kTogether) {
    const std::byte* sources[kTogether];
    for (std::size_t k = 0; k < kTogether; ++k) {
      sources[k] = from.data + static_cast<std::ptrdiff_t>(column + k) * from.stride;
      for (std::size_t n = 0; n < rows * sizeof(T); n += 64) {
        fetch(sources[k] + n, kColumnsAhead * from.stride);
      }
    }
    std::byte* target = tile + column * sizeof(T);
    std::size_t row = 0;
    if constexpr (sizeof(T) == 4) {
      const hn::FixedTag<u32, 4> d;
      for (; row + 4 <= rows; row += 4) {
        const auto load4 = [&](std::size_t k) HWY_ATTR { return load_bytes(d, sources[k] + row * sizeof(T)); };
        const auto v0 = load4(0);
        const auto v1 = load4(1);
        const auto v2 = load4(2);
        const auto v3 = load4(3);
        const auto low02 = hn::InterleaveLower(d, v0, v2);
        const auto low13 = hn::InterleaveLower(d, v1, v3);
        const auto high02 = hn::InterleaveUpper(d, v0, v2);
        const auto high13 = hn::InterleaveUpper(d, v1, v3);
        store_bytes(d, hn::InterleaveLower(d, low02, low13), target);
        store_bytes(d, hn::InterleaveUpper(d, low02, low13), target + row_bytes);
        store_bytes(d, hn::InterleaveLower(d, high02, high13), target + 2 * row_bytes);
        store_bytes(d, hn::InterleaveUpper(d, high02, high13), target + 3 * row_bytes);
        target += 4 * row_bytes;
      }
    }
    for (; row < rows; ++row) {
      for (std::size_t k = 0; k < kTogether; ++k) {
        copy_element<T>(target + k * sizeof(T), sources[k] + row * sizeof(T));
      }
      target += row_bytes;
    }
  }
  for (; column < columns; ++column) {
    const std::byte* source = from.data + static_cast<std::ptrdiff_t>(column) * from.stride;
    for (std::size_t row = 0; row < rows; ++row) {
      copy_element<T>(tile + row * row_bytes + column * sizeof(T), source + row * sizeof(T));
    }
  }
}

template <class T>
HWY_NOINLINE void gather(std::byte* tile, const KernelArguments::Input& from, std::size_t rows, std::size_t columns) {
  const std::size_t row_bytes = columns * sizeof(T);
  if (crosses<T>(from)) {
    gather_crossed<T>(tile, from, rows, columns);
    return;
  }
  for (std::size_t row = 0; row < rows; ++row) {
    const std::byte* source = from.data + static_cast<std::ptrdiff_t>(row) * from.row_stride;
    if (from.stride == static_cast<std::int64_t>(sizeof(T))) {
      copy_row(tile + row * row_bytes, source, row_bytes);
      continue;
    }
#pragma GCC unroll 4
    for (std::size_t column = 0; column < columns; ++column) {
      copy_element<T>(tile + row * row_bytes + column * sizeof(T),
                      source + static_cast<std::ptrdiff_t>(column) * from.stride);
    }
  }
}

template <class T>
HWY_NOINLINE void scatter(const std::byte* tile, const KernelArguments::Output& to, std::size_t rows,
                          std::size_t columns) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const std::size_t row_bytes = columns * sizeof(T);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::byte* source = tile + row * row_bytes;
    std::byte* target = to.data + static_cast<std::ptrdiff_t>(row) * to.row_stride;
    if (to.stride == kSize) {
      copy_row(target, source, row_bytes);
      continue;
    }
#pragma GCC unroll 4
    for (std::ptrdiff_t column = 0; column < static_cast<std::ptrdiff_t>(columns); ++column) {
      copy_element<T>(target + column * to.stride, source + column * kSize);
    }
  }
}

// Any strides, and rows too short for vectors: gathered into tiles, and scattered from them. Where rows are long
// enough, the tile is computed row by row, and inputs of which every or every other element is taken stay where they
// are.
template <class T, bool kFloor>
void strided_kernel(const KernelArguments& arguments) noexcept {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  constexpr std::size_t kElements = kTileBytes / sizeof(T);
  alignas(64) std::byte a_tile[kTileBytes];
  alignas(64) std::byte b_tile[kTileBytes];
  alignas(64) std::byte out_tile[kTileBytes];
  const auto& a = arguments.inputs[0];
  const auto& b = arguments.inputs[1];
  const auto& out = arguments.output;
  const bool narrow = crosses<T>(a) || crosses<T>(b);
  const std::size_t wide = std::min(arguments.columns, narrow ? std::size_t{64} : kElements);
  const std::size_t high = std::min(arguments.rows, kElements / wide);
  const bool by_rows = wide * sizeof(T) >= 2 * HWY_LANES(u8);
  for (std::size_t row = 0; row < arguments.rows; row += high) {
    for (std::size_t column = 0; column < arguments.columns; column += wide) {
      const std::size_t rows = std::min(high, arguments.rows - row);
      const std::size_t columns = std::min(wide, arguments.columns - column);
      const auto row_bytes = static_cast<std::ptrdiff_t>(columns) * kSize;
      // The part of an operand in this tile: where its rows can be read or written as they are, or the packed tile.
      const auto part_of = [row, column](auto operand) {
        operand.data += static_cast<std::ptrdiff_t>(row) * operand.row_stride +
                        static_cast<std::ptrdiff_t>(column) * operand.stride;
        return operand;
      };
      const auto input = [&](const KernelArguments::Input& operand, std::byte* tile) {
        KernelArguments::Input part = part_of(operand);
        const bool near = operand.stride == kSize || (by_rows && operand.stride == 2 * kSize);
        if (!near || !(by_rows || rows == 1 || operand.row_stride == row_bytes)) {
          gather<T>(tile, part, rows, columns);
          part = {tile, row_bytes, kSize};
        }
        return part;
      };
      const KernelArguments::Input x = input(a, a_tile);
      const KernelArguments::Input y = input(b, b_tile);
      const KernelArguments::Output part = part_of(out);
      const bool direct = out.stride == kSize && (by_rows || rows == 1 || out.row_stride == row_bytes);
      const KernelArguments::Output result = direct ? part : KernelArguments::Output{out_tile, row_bytes, kSize};
      const Steps steps{static_cast<std::size_t>(x.stride / kSize), static_cast<std::size_t>(y.stride / kSize)};
      const auto row_function = steps.a == 1 && steps.b == 1 ? run_plain_row<T, kFloor> : run_stepped_row<T, kFloor>;
      const auto is_packed = [row_bytes](const auto& operand) {
        return operand.stride == kSize && operand.row_stride == row_bytes;
      };
      const bool packed = rows == 1 || (is_packed(x) && is_packed(y) && is_packed(result));
      const std::size_t runs = packed ? 1 : rows;
      for (std::size_t run = 0; run < runs; ++run) {
        const auto nth = static_cast<std::ptrdiff_t>(run);
        if (narrow) {  // some rows ahead: they are too short for the hardware to notice
          for (std::ptrdiff_t n = 0; n < row_bytes; n += 64) {
            fetch(x.data + n, (nth + kRowsAhead) * x.row_stride);
            fetch(y.data + n, (nth + kRowsAhead) * y.row_stride);
            fetch(result.data + n, (nth + kRowsAhead) * result.row_stride);
          }
        }
        row_function(x.data + nth * x.row_stride, y.data + nth * y.row_stride, result.data + nth * result.row_stride,
                     packed ? rows * columns : columns, steps);
      }
      if (!direct) {
        scatter<T>(out_tile, part, rows, columns);
      }
    }
  }
}

template <class T, bool kFloor, Operand kA, Operand kB>
void kernel(const KernelArguments& arguments) noexcept {
  const auto& a = arguments.inputs[0];
  const auto& b = arguments.inputs[1];
  if (arguments.rows > 1 && arguments.columns * sizeof(T) < HWY_LANES(u8)) {
    strided_kernel<T, kFloor>(arguments);
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
  const RowId row = kFloor ? RowId::ELEMENT_WISE_MODULUS_FLOOR : RowId::ELEMENT_WISE_MODULUS_TRUNCATE;
  auto& slots = table.at(anydml::row(row), find_variant(anydml::row(row), kDataTypeOf<T>));
  // Unsigned numbers have no sign to round towards: one kernel for both.
  constexpr bool kRounds = kFloor && !std::is_unsigned_v<T>;
  slots[static_cast<std::size_t>(InnerLayout::contiguous)] = kernel<T, kRounds, Operand::tensor, Operand::tensor>;
  slots[static_cast<std::size_t>(InnerLayout::first_broadcast)] =
      kernel<T, kRounds, Operand::repeated, Operand::tensor>;
  slots[static_cast<std::size_t>(InnerLayout::second_broadcast)] =
      kernel<T, kRounds, Operand::tensor, Operand::repeated>;
  slots[static_cast<std::size_t>(InnerLayout::strided)] = strided_kernel<T, kRounds>;
}

template <class... Types>
void replace_types(KernelTable& table) {
  (replace_type<Types, true>(table), ...);
  (replace_type<Types, false>(table), ...);
}

void replace(KernelTable& table) { replace_types<f16, f32, f64, i8, u8, i16, u16, i32, u32, i64, u64>(table); }

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
  static constexpr KernelTarget kTargets[] = {{cpu::Target::avx512, N_AVX3::replace},
                                              {cpu::Target::avx2, N_AVX2::replace}};
  return kTargets;
#else
  return {};
#endif
}

}  // namespace anydml

#endif
