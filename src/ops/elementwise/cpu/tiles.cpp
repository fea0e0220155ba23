// SPDX-License-Identifier: MIT
// Runs a kernel over tensors of any layout. This code is compiled once for each target and shared by all entries, since
// it depends only on the sizes of the elements.
#include "ops/elementwise/cpu/tiles.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/tiles.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

#include "ops/elementwise/cpu/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

template <std::size_t kSize>
struct UnitOf;
template <>
struct UnitOf<1> {
  using type = u8;
};
template <>
struct UnitOf<2> {
  using type = u16;
};
template <>
struct UnitOf<4> {
  using type = u32;
};
template <>
struct UnitOf<8> {
  using type = u64;
};

// Copies bytes that do not overlap, usually only a few, such as a row of a tile. A call to memcpy would cost more than
// the copy, so this function copies units of a fixed size. The last unit may overlap the previous one.
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

template <std::size_t kSize>
HWY_INLINE void copy_element(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, kSize);
}

// Repeats one element.
template <std::size_t kSize>
HWY_INLINE void repeat_row(std::byte* to, const std::byte* from, std::size_t count) {
  using Unit = typename UnitOf<kSize>::type;
  const hn::ScalableTag<Unit> d;
  Unit value;
  std::memcpy(&value, from, kSize);
  const auto lanes = hn::Set(d, value);
  std::size_t n = 0;
  for (; n + hn::Lanes(d) <= count; n += hn::Lanes(d)) {
    store_bytes(d, lanes, to + n * kSize);
  }
  for (; n < count; ++n) {
    copy_element<kSize>(to + n * kSize, from);
  }
}

// Copies every other element. Vector loads read one element more than they need, so the last elements are copied one by
// one.
template <std::size_t kSize>
HWY_INLINE void copy_every_other(std::byte* to, const std::byte* from, std::size_t count) {
  const hn::ScalableTag<typename UnitOf<kSize>::type> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t n = 0;
  for (; n + lanes < count; n += lanes) {
    const auto low = load_bytes(d, from + 2 * n * kSize);
    const auto high = load_bytes(d, from + (2 * n + lanes) * kSize);
    store_bytes(d, hn::ConcatEven(d, high, low), to + n * kSize);
  }
  for (; n < count; ++n) {
    copy_element<kSize>(to + n * kSize, from + 2 * n * kSize);
  }
}

// The columns of a crossed operand are too far apart for hardware prefetchers, so this code prefetches them. The
// addresses may lie beyond the tensor, since a prefetch never faults.
inline constexpr std::ptrdiff_t kColumnsAhead = 4;

// Gathers an operand that is contiguous along the rows: a few columns at a time, each in memory order.
template <std::size_t kSize>
HWY_NOINLINE void gather_crossed(std::byte* tile, const KernelArguments::Input& from, std::size_t rows,
                                 std::size_t columns) {
  constexpr std::size_t kTogether = 4;
  const std::size_t row_bytes = columns * kSize;
  std::size_t column = 0;
  for (; column + kTogether <= columns; column += kTogether) {
    const std::byte* sources[kTogether];
    for (std::size_t k = 0; k < kTogether; ++k) {
      sources[k] = from.data + static_cast<std::ptrdiff_t>(column + k) * from.stride;
      for (std::size_t n = 0; n < rows * kSize; n += 64) {
        fetch(sources[k] + n, kColumnsAhead * from.stride);
      }
    }
    std::byte* target = tile + column * kSize;
    std::size_t row = 0;
    if constexpr (kSize == 4) {
      const hn::FixedTag<u32, 4> d;
      for (; row + 4 <= rows; row += 4) {
        const auto load4 = [&](std::size_t k) HWY_ATTR { return load_bytes(d, sources[k] + row * kSize); };
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
        copy_element<kSize>(target + k * kSize, sources[k] + row * kSize);
      }
      target += row_bytes;
    }
  }
  for (; column < columns; ++column) {
    const std::byte* source = from.data + static_cast<std::ptrdiff_t>(column) * from.stride;
    for (std::size_t row = 0; row < rows; ++row) {
      copy_element<kSize>(tile + row * row_bytes + column * kSize, source + row * kSize);
    }
  }
}

HWY_INLINE bool crosses(const KernelArguments::Input& input, std::int64_t size) {
  return input.row_stride == size && input.stride != size && input.stride != 0;
}

template <std::size_t kSize>
HWY_NOINLINE void gather(std::byte* tile, const KernelArguments::Input& from, std::size_t rows, std::size_t columns) {
  constexpr auto kStride = static_cast<std::int64_t>(kSize);
  const std::size_t row_bytes = columns * kSize;
  if (crosses(from, kStride)) {
    gather_crossed<kSize>(tile, from, rows, columns);
    return;
  }
  const std::byte* source = from.data;
  if (from.stride == kStride) {
    for (std::size_t row = 0; row < rows; ++row, source += from.row_stride, tile += row_bytes) {
      copy_row(tile, source, row_bytes);
    }
    return;
  }
  for (std::size_t row = 0; row < rows; ++row, source += from.row_stride, tile += row_bytes) {
    if (from.stride == 0) {
      repeat_row<kSize>(tile, source, columns);
    } else if (from.stride == 2 * kStride) {
      copy_every_other<kSize>(tile, source, columns);
    } else {
#pragma GCC unroll 4
      for (std::size_t column = 0; column < columns; ++column) {
        copy_element<kSize>(tile + column * kSize, source + static_cast<std::ptrdiff_t>(column) * from.stride);
      }
    }
  }
}

template <std::size_t kSize>
HWY_NOINLINE void scatter(const std::byte* tile, const KernelArguments::Output& to, std::size_t rows,
                          std::size_t columns) {
  constexpr auto kStride = static_cast<std::int64_t>(kSize);
  const std::size_t row_bytes = columns * kSize;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::byte* source = tile + row * row_bytes;
    std::byte* target = to.data + static_cast<std::ptrdiff_t>(row) * to.row_stride;
    if (to.stride == kStride) {
      copy_row(target, source, row_bytes);
      continue;
    }
#pragma GCC unroll 4
    for (std::ptrdiff_t column = 0; column < static_cast<std::ptrdiff_t>(columns); ++column) {
      copy_element<kSize>(target + column * to.stride, source + column * kStride);
    }
  }
}

// Calls use.template operator()<size>().
template <class Use>
HWY_INLINE void with_size(std::size_t size, Use use) {
  switch (size) {
    case 1:
      return use.template operator()<1>();
    case 2:
      return use.template operator()<2>();
    case 4:
      return use.template operator()<4>();
    default:
      return use.template operator()<8>();
  }
}

// The total size of the tiles of all operands.
inline constexpr std::size_t kTileBytes = 3 * 16384;
// Limits for a tile if all operands are contiguous or constant. Filling the tile with a repeated element is then the
// only cost and should be small compared with the computation, but each new tile has to wait for memory again.
inline constexpr std::size_t kRepeatedElements = 1024;
inline constexpr std::size_t kRepeatedBytes = 8192;
inline constexpr std::size_t kRepeatedPart = 8;
// A row of a tile has at least this many vectors; otherwise several rows are computed as one.
inline constexpr std::size_t kRowVectors = 2;

// Walks over the tensors of one call.
struct Walk {
  const TiledRow& row;
  const KernelArguments& arguments;
  const void* scalar;
  std::size_t elements;  // per tile
  bool narrow = false;   // an operand is contiguous along the rows
  bool by_rows = false;  // rows are long enough to be computed one by one
  std::byte* tiles[kMaxInputs + 1] = {};
  bool constant[kMaxInputs] = {};  // input i is a single element, so its tile is filled only once

  [[nodiscard]] std::int64_t size(std::size_t operand) const { return row.sizes[operand]; }

  [[nodiscard]] bool is_constant(std::size_t input) const {
    const KernelArguments::Input& of = arguments.inputs[input];
    return of.stride == 0 && (of.row_stride == 0 || arguments.rows == 1);
  }

  void tile(std::size_t first_row, std::size_t first_column, std::size_t rows, std::size_t columns) noexcept;
};

// The part of an operand that begins at the given element.
template <class Operand>
HWY_INLINE Operand part_of(Operand operand, std::size_t row, std::size_t column) {
  operand.data +=
      static_cast<std::ptrdiff_t>(row) * operand.row_stride + static_cast<std::ptrdiff_t>(column) * operand.stride;
  return operand;
}

void Walk::tile(std::size_t first_row, std::size_t first_column, std::size_t rows, std::size_t columns) noexcept {
  const std::size_t inputs = row.inputs;
  const auto row_bytes = [&](std::size_t operand) { return static_cast<std::int64_t>(columns) * size(operand); };
  RowBlock block;
  block.scalar = scalar;
  block.fetches = narrow;
  bool plain = true;
  bool packed = true;
  for (std::size_t i = 0; i < inputs; ++i) {
    const KernelArguments::Input& input = arguments.inputs[i];
    const KernelArguments::Input part = part_of(input, first_row, first_column);
    const bool near = input.stride == size(i) || (by_rows && row.stepped != nullptr && input.stride == 2 * size(i));
    if (!constant[i] && near && (by_rows || rows == 1 || input.row_stride == row_bytes(i))) {
      block.inputs[i] = part.data;  // in place
      block.row_strides[i] = input.row_stride;
      block.steps[i] = static_cast<std::size_t>(input.stride / size(i));
      block.fetched[i] = narrow ? row_bytes(i) : 0;
    } else {
      if (!constant[i]) {
        with_size(row.sizes[i], [&]<std::size_t kSize>() HWY_ATTR { gather<kSize>(tiles[i], part, rows, columns); });
      }
      block.inputs[i] = tiles[i];
      block.row_strides[i] = row_bytes(i);
      block.steps[i] = 1;
      block.fetched[i] = 0;
    }
    plain = plain && block.steps[i] == 1;
    packed = packed && block.row_strides[i] == row_bytes(i);
  }
  const KernelArguments::Output& output = arguments.output;
  const KernelArguments::Output part = part_of(output, first_row, first_column);
  const bool direct = output.stride == size(inputs) && (by_rows || rows == 1 || output.row_stride == row_bytes(inputs));
  block.output = direct ? part.data : tiles[inputs];
  block.row_strides[inputs] = direct ? output.row_stride : row_bytes(inputs);
  block.fetched[inputs] = narrow && direct ? row_bytes(inputs) : 0;
  packed = packed && plain && block.row_strides[inputs] == row_bytes(inputs);
  block.rows = packed ? 1 : rows;
  block.columns = packed ? rows * columns : columns;
  (plain ? row.plain : row.stepped)(block);
  if (!direct) {
    with_size(row.sizes[inputs],
              [&]<std::size_t kSize>() HWY_ATTR { scatter<kSize>(tiles[inputs], part, rows, columns); });
  }
}

// Processes operands that need no gathering.
HWY_INLINE void run_in_place(const TiledRow& row, const KernelArguments& arguments, const void* scalar) {
  RowBlock block;
  for (std::size_t i = 0; i < row.inputs; ++i) {
    block.inputs[i] = arguments.inputs[i].data;
    block.row_strides[i] = arguments.inputs[i].row_stride;
  }
  block.output = arguments.output.data;
  block.row_strides[row.inputs] = arguments.output.row_stride;
  block.rows = arguments.rows;
  block.columns = arguments.columns;
  block.fetches = false;
  block.scalar = scalar;
  row.plain(block);
}

// This is a separate function because run_in_place, the other path of run_tiled, needs none of this state.
HWY_NOINLINE void run_in_tiles(const TiledRow& row, const KernelArguments& arguments, const void* scalar) {
  Walk walk{.row = row, .arguments = arguments, .scalar = scalar, .elements = 0};
  std::size_t bytes = row.output_size();  // the size of one element, summed over all operands
  std::size_t minimum = row.output_size();
  bool near = arguments.output.stride == walk.size(row.inputs);  // all operands are contiguous or constant
  for (std::size_t i = 0; i < row.inputs; ++i) {
    bytes += row.sizes[i];
    minimum = std::min<std::size_t>(minimum, row.sizes[i]);
    walk.narrow = walk.narrow || crosses(arguments.inputs[i], walk.size(i));
    walk.constant[i] = walk.is_constant(i);
    near = near && (arguments.inputs[i].stride == walk.size(i) || walk.constant[i]);
  }
  walk.elements = kTileBytes / bytes / 64 * 64;
  if (near && arguments.columns >= kRepeatedElements) {
    walk.elements = std::min(walk.elements, std::clamp(arguments.columns / kRepeatedPart / 64 * 64, kRepeatedElements,
                                                       kRepeatedBytes / row.output_size()));
  }
  const std::size_t wide = std::min(arguments.columns, walk.narrow ? std::size_t{64} : walk.elements);
  const std::size_t high = std::min(arguments.rows, walk.elements / wide);
  walk.by_rows = wide * minimum >= kRowVectors * HWY_LANES(u8);
  alignas(64) std::byte memory[kTileBytes];
  std::byte* next = memory;
  for (std::size_t i = 0; i <= row.inputs; ++i) {
    walk.tiles[i] = next;
    next += walk.elements * row.sizes[i];
    if (i < row.inputs && walk.constant[i]) {
      const std::byte* const element = arguments.inputs[i].data;
      with_size(row.sizes[i],
                [&]<std::size_t kSize>() HWY_ATTR { repeat_row<kSize>(walk.tiles[i], element, wide * high); });
    }
  }
  for (std::size_t first_row = 0; first_row < arguments.rows; first_row += high) {
    for (std::size_t column = 0; column < arguments.columns; column += wide) {
      walk.tile(first_row, column, std::min(high, arguments.rows - first_row),
                std::min(wide, arguments.columns - column));
    }
  }
}

void run_tiled(const TiledRow& row, const KernelArguments& arguments, const void* scalar) noexcept {
  if (arguments.rows == 0 || arguments.columns == 0) {
    return;
  }
  std::size_t minimum = row.output_size();
  bool contiguous = arguments.output.stride == static_cast<std::int64_t>(minimum);
  for (std::size_t i = 0; i < row.inputs; ++i) {
    const std::size_t size = row.sizes[i];
    minimum = std::min(minimum, size);
    contiguous = contiguous && arguments.inputs[i].stride == static_cast<std::int64_t>(size);
  }
  if (contiguous && (arguments.rows == 1 || arguments.columns * minimum >= HWY_LANES(u8))) {
    run_in_place(row, arguments, scalar);
  } else {
    run_in_tiles(row, arguments, scalar);
  }
}

// ---- FLOAT16 ----

void widen_halves(const std::byte* from, f32* to, std::size_t count) noexcept {
  const hn::ScalableTag<f32> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> d_half;
  const hn::Rebind<u16, decltype(d)> d_bits;
  const std::size_t lanes = hn::Lanes(d);
  const auto widened = [&](const std::byte* bits)
                           HWY_ATTR { return hn::PromoteTo(d, hn::BitCast(d_half, load_bytes(d_bits, bits))); };
  std::size_t n = 0;
#pragma GCC unroll 4
  for (; n + lanes <= count; n += lanes) {
    hn::StoreU(widened(from + n * sizeof(u16)), d, to + n);
  }
  if (n < count) {
    alignas(HWY_MAX_BYTES) std::byte rest[HWY_MAX_BYTES] = {};
    alignas(HWY_MAX_BYTES) f32 results[HWY_MAX_BYTES / sizeof(f32)];
    std::memcpy(rest, from + n * sizeof(u16), (count - n) * sizeof(u16));
    hn::Store(widened(rest), d, results);
    std::memcpy(to + n, results, (count - n) * sizeof(f32));
  }
}

void narrow_halves(const f32* from, std::byte* to, std::size_t count) noexcept {
  const hn::ScalableTag<f32> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> d_half;
  const hn::Rebind<u16, decltype(d)> d_bits;
  const std::size_t lanes = hn::Lanes(d);
  const auto store_narrowed = [&](hn::Vec<decltype(d)> v, std::byte* bits)
                                  HWY_ATTR { store_bytes(d_bits, hn::BitCast(d_bits, hn::DemoteTo(d_half, v)), bits); };
  std::size_t n = 0;
#pragma GCC unroll 4
  for (; n + lanes <= count; n += lanes) {
    store_narrowed(hn::LoadU(d, from + n), to + n * sizeof(u16));
  }
  if (n < count) {
    alignas(HWY_MAX_BYTES) f32 rest[HWY_MAX_BYTES / sizeof(f32)] = {};
    alignas(HWY_MAX_BYTES) std::byte results[HWY_MAX_BYTES];
    std::memcpy(rest, from + n, (count - n) * sizeof(f32));
    store_narrowed(hn::Load(d, rest), results);
    std::memcpy(to + n * sizeof(u16), results, (count - n) * sizeof(u16));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
