// SPDX-License-Identifier: MIT
// The move kernels, compiled once per target and once as portable code. blocks.cpp includes this file inside each
// namespace, so it has no include guard. The kernels are plain loops, which the compiler vectorizes where strides are
// constants.

// A unit that is not an integer, such as a pixel or a short vector.
template <std::size_t kBytes>
struct UnitOf {
  std::byte bytes[kBytes];
};

// Gathers units that are kStep apart in the source and contiguous in the destination. kStep is 1 for a plain copy and
// -1 to reverse.
template <class Unit, std::int64_t kStep>
void gather_row(const std::byte* from, std::byte* to, std::int64_t count) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Unit));
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    Unit unit;
    std::memcpy(&unit, from + i * kStep * kBytes, sizeof(unit));
    std::memcpy(to + i * kBytes, &unit, sizeof(unit));
  }
}

template <class Unit>
void move_row(const MoveBlock& block, const std::byte* from, std::byte* to) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Unit));
  if (block.to_column == kBytes) {
    switch (block.from_column) {
      case 0:
        return gather_row<Unit, 0>(from, to, block.columns);
      case kBytes:
        return gather_row<Unit, 1>(from, to, block.columns);
      case -kBytes:
        return gather_row<Unit, -1>(from, to, block.columns);
      case 2 * kBytes:
        return gather_row<Unit, 2>(from, to, block.columns);
      default:
        break;
    }
  }
  for (std::int64_t i = 0; i < block.columns; ++i) {
    Unit unit;
    std::memcpy(&unit, from + i * block.from_column, sizeof(unit));
    std::memcpy(to + i * block.to_column, &unit, sizeof(unit));
  }
}

// Swaps rows and columns if there are few columns and more rows, because the inner loop should be the longer one.
inline MoveBlock with_long_rows(MoveBlock block) {
  constexpr std::int64_t kFew = 8;
  if (block.columns < kFew && block.columns < block.rows) {
    std::swap(block.columns, block.rows);
    std::swap(block.from_column, block.from_row);
    std::swap(block.to_column, block.to_row);
  }
  return block;
}

// If the block consists of two rows whose units alternate in the destination, moves both rows in one pass, so that
// whole cache lines are written. Returns false for all other blocks.
template <class Unit>
bool move_pairs(const MoveBlock& block) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Unit));
  if (block.rows != 2) {
    return false;
  }
  const auto unit_at = [](const std::byte* at) {
    Unit unit;
    std::memcpy(&unit, at, sizeof(unit));
    return unit;
  };
  const std::byte* const from = block.from;
  std::byte* const to = block.to;
  if (block.to_row == kBytes && block.to_column == 2 * kBytes && block.from_column == kBytes) {
    const std::byte* const second = from + block.from_row;
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < block.columns; ++i) {
      const Unit units[] = {unit_at(from + i * kBytes), unit_at(second + i * kBytes)};
      std::memcpy(to + 2 * i * kBytes, &units[0], sizeof(Unit));
      std::memcpy(to + (2 * i + 1) * kBytes, &units[1], sizeof(Unit));
    }
    return true;
  }
  return false;
}

template <class Unit>
void move_units(const MoveBlock& given) noexcept {
  const MoveBlock block = with_long_rows(given);
  if constexpr (std::is_integral_v<Unit>) {
    if (move_pairs<Unit>(block)) {
      return;
    }
  }
  for (std::int64_t row = 0; row < block.rows; ++row) {
    move_row<Unit>(block, block.from + row * block.from_row, block.to + row * block.to_row);
  }
}

// Copies in parts of a fixed size, where the last part may overlap the previous one. For a few bytes, this is faster
// than a call to memcpy.
template <std::size_t kPart>
void move_bytes(const std::byte* from, std::byte* to, std::size_t bytes) {
  for (std::size_t n = 0; n + kPart <= bytes; n += kPart) {
    std::memcpy(to + n, from + n, kPart);
  }
  std::memcpy(to + bytes - kPart, from + bytes - kPart, kPart);
}

// Moves units of kPart bytes or more that have no special kernel.
template <std::size_t kPart>
void move_odd_units(const MoveBlock& given) noexcept {
  const MoveBlock block = with_long_rows(given);
  const auto bytes = static_cast<std::size_t>(block.unit);
  for (std::int64_t row = 0; row < block.rows; ++row) {
    const std::byte* const from = block.from + row * block.from_row;
    std::byte* const to = block.to + row * block.to_row;
    for (std::int64_t i = 0; i < block.columns; ++i) {
      move_bytes<kPart>(from + i * block.from_column, to + i * block.to_column, bytes);
    }
  }
}

inline void move_rows(const MoveBlock& block) noexcept {
  constexpr std::int64_t kShort = 256;  // bytes
  const auto bytes = static_cast<std::size_t>(block.columns);
  for (std::int64_t row = 0; row < block.rows; ++row) {
    const std::byte* const from = block.from + row * block.from_row;
    std::byte* const to = block.to + row * block.to_row;
    if (block.columns >= 16 && block.columns < kShort) {
      move_bytes<16>(from, to, bytes);
    } else {
      std::memcpy(to, from, bytes);
    }
  }
}

inline void fill_rows(const MoveBlock& block) noexcept {
  for (std::int64_t row = 0; row < block.rows; ++row) {
    std::byte* to = block.to + row * block.to_row;
    auto bytes = static_cast<std::size_t>(block.columns);
    for (; bytes >= kPatternBytes; to += kPatternBytes, bytes -= kPatternBytes) {
      std::memcpy(to, block.from, kPatternBytes);
    }
    std::memcpy(to, block.from, bytes);
  }
}

#if ANYDML_MOVE_VECTORS
// Transposes a square that fits into 16-byte vectors in registers, by interleaving its halves log2(side) times.
template <class Unit>
inline constexpr std::int64_t kSquare = 16 / sizeof(Unit);

template <class Unit>
HWY_INLINE void transpose_square(const MoveBlock& block, const std::byte* from, std::byte* to) {
  constexpr auto kCount = static_cast<std::size_t>(kSquare<Unit>);
  const hn::FixedTag<Unit, kCount> d;
  const hn::Repartition<std::uint8_t, decltype(d)> d_bytes;
  hn::Vec<decltype(d)> vectors[kCount];
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::byte* const at = from + static_cast<std::int64_t>(i) * block.from_column;
    vectors[i] = hn::BitCast(d, hn::LoadU(d_bytes, reinterpret_cast<const std::uint8_t*>(at)));
  }
  for (std::size_t zipped = 1; zipped < kCount; zipped *= 2) {
    hn::Vec<decltype(d)> next[kCount];
    for (std::size_t i = 0; i < kCount / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, vectors[i], vectors[i + kCount / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, vectors[i], vectors[i + kCount / 2]);
    }
    for (std::size_t i = 0; i < kCount; ++i) {
      vectors[i] = next[i];
    }
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    std::byte* const at = to + static_cast<std::int64_t>(i) * block.to_row;
    hn::StoreU(hn::BitCast(d_bytes, vectors[i]), d_bytes, reinterpret_cast<std::uint8_t*>(at));
  }
}
#else
template <class Unit>
inline constexpr std::int64_t kSquare = 1;

template <class Unit>
void transpose_square(const MoveBlock&, const std::byte* from, std::byte* to) {
  std::memcpy(to, from, sizeof(Unit));
}
#endif

template <class Unit>
void transpose_part(const MoveBlock& block, std::int64_t row, std::int64_t rows, std::int64_t column,
                    std::int64_t columns) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Unit));
  for (std::int64_t r = row; r < row + rows; ++r) {
    for (std::int64_t c = column; c < column + columns; ++c) {
      std::memcpy(block.to + r * block.to_row + c * kBytes, block.from + c * block.from_column + r * kBytes,
                  sizeof(Unit));
    }
  }
}

// Transposes squares whose sides are one cache line long. Destination lines are written whole, and source lines are
// first copied to a buffer, since lines that are a power of two apart would evict each other from the L1 cache.
template <class Unit>
void move_transposed(const MoveBlock& block) noexcept {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Unit));
  constexpr std::int64_t kLine = 64;
  constexpr std::int64_t kUnits = kLine / kBytes;
  constexpr std::int64_t kSide = kSquare<Unit>;
  alignas(64) std::byte lines[static_cast<std::size_t>(kUnits * kLine)];
  MoveBlock packed = block;
  packed.from_column = kLine;
  for (std::int64_t column = 0; column < block.columns; column += kUnits) {
    if (column + kUnits > block.columns) {
      transpose_part<Unit>(block, 0, block.rows, column, block.columns - column);
      break;
    }
    std::int64_t row = 0;
    for (; row + kUnits <= block.rows; row += kUnits) {
      const std::byte* from = block.from + column * block.from_column + row * kBytes;
      for (std::int64_t i = 0; i < kUnits; ++i, from += block.from_column) {
        std::memcpy(lines + i * kLine, from, kLine);
        // Prefetches the next square; this is only a hint, so the address may be beyond the tensor.
        __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(from) + std::size_t{kLine}));
      }
      std::byte* const to = block.to + row * block.to_row + column * kBytes;
      for (std::int64_t r = 0; r < kUnits; r += kSide) {
        for (std::int64_t c = 0; c < kUnits; c += kSide) {
          transpose_square<Unit>(packed, lines + c * kLine + r * kBytes, to + r * block.to_row + c * kBytes);
        }
      }
    }
    for (; row + kSide <= block.rows; row += kSide) {
      for (std::int64_t c = column; c < column + kUnits; c += kSide) {
        transpose_square<Unit>(block, block.from + c * block.from_column + row * kBytes,
                               block.to + row * block.to_row + c * kBytes);
      }
    }
    transpose_part<Unit>(block, row, block.rows - row, column, kUnits);
  }
}

inline MoveKernel find_kernel(MoveShape shape, std::int64_t unit) {
  if (shape == MoveShape::rows) {
    return move_rows;
  }
  if (shape == MoveShape::filled) {
    return fill_rows;
  }
  const bool transposed = shape == MoveShape::transposed;
  switch (unit) {
    case 1:
      return transposed ? move_transposed<std::uint8_t> : move_units<std::uint8_t>;
    case 2:
      return transposed ? move_transposed<std::uint16_t> : move_units<std::uint16_t>;
    case 4:
      return transposed ? move_transposed<std::uint32_t> : move_units<std::uint32_t>;
    case 8:
      return transposed ? move_transposed<std::uint64_t> : move_units<std::uint64_t>;
    case 3:
      return move_units<UnitOf<3>>;
    case 6:
      return move_units<UnitOf<6>>;
    case 12:
      return move_units<UnitOf<12>>;
    case 16:
      return move_units<UnitOf<16>>;
    case 24:
      return move_units<UnitOf<24>>;
    case 32:
      return move_units<UnitOf<32>>;
    case 48:
      return move_units<UnitOf<48>>;
    default:
      return unit > 16 ? move_odd_units<16> : unit > 8 ? move_odd_units<8> : move_odd_units<4>;
  }
}
