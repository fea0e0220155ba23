// SPDX-License-Identifier: MIT
// Runs NONZERO_COORDINATES on the CPU, in three phases: each block of the input counts its nonzero elements, prefix
// sums of the counts give the first row of each block, and each block writes its rows. The remaining rows of the output
// are zero. Each block writes one of these rows for each of its zeros, so all blocks do the same amount of work.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/gather/cpu/rows.h"

namespace anydml {
namespace {

constexpr std::int64_t kElementsAtOnce = 1024;

// Calls use(first, from, stride, count) for each run of the elements [begin, end). The arguments are the index of the
// run's first element, its address, the stride and the number of elements.
template <class Use>
void for_each_run(const NonzeroStep& step, const std::byte* input, std::int64_t begin, std::int64_t end, Use use) {
  // Merge the last dimensions that are contiguous with each other.
  std::uint32_t outer = step.rank - 1;
  std::int64_t inner = step.sizes[outer];
  const std::int64_t stride = step.strides[outer];
  while (outer > 0 && (step.sizes[outer - 1] == 1 || step.strides[outer - 1] == stride * inner)) {
    inner *= step.sizes[--outer];
  }
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t count = std::min({end - at, inner - at % inner, kElementsAtOnce});
    const std::byte* from = input + at % inner * stride;
    std::int64_t rest = at / inner;
    for (std::uint32_t i = outer; i-- > 0; rest /= step.sizes[i]) {
      from += rest % step.sizes[i] * step.strides[i];
    }
    use(at, from, stride, count);
    at += count;
  }
}

// Writes the positions of the nonzero elements and returns how many there are.
template <class T>
std::int64_t find_nonzero(const std::byte* from, std::int64_t stride, std::int64_t count, T mask,
                          std::uint16_t* positions) {
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < count; ++i, from += stride) {
    T bits;
    std::memcpy(&bits, from, sizeof(bits));
    positions[found] = static_cast<std::uint16_t>(i);
    found += (bits & mask) != 0 ? 1 : 0;
  }
  return found;
}

template <class T>
std::int64_t count_nonzero(const std::byte* from, std::int64_t stride, std::int64_t count, T mask) {
  using Unaligned [[gnu::aligned(1), gnu::may_alias]] = const T;
  std::int64_t found = 0;
  if (stride == static_cast<std::int64_t>(sizeof(T))) {
    const auto* const elements = reinterpret_cast<Unaligned*>(from);
    T narrow = 0;  // sums of up to 255 elements fit into every type
    for (std::int64_t first = 0; first < count; first += 255, narrow = 0) {
      for (std::int64_t i = first; i < std::min(count, first + 255); ++i) {
        narrow = static_cast<T>(narrow + ((elements[i] & mask) != 0 ? 1 : 0));
      }
      found += static_cast<std::int64_t>(narrow);
    }
    return found;
  }
  for (std::int64_t i = 0; i < count; ++i, from += stride) {
    T bits;
    std::memcpy(&bits, from, sizeof(bits));
    found += (bits & mask) != 0 ? 1 : 0;
  }
  return found;
}

// Computes the coordinates of elements, which must be requested in ascending order.
class Coordinates {
 public:
  explicit Coordinates(const NonzeroStep& step) : step_(step) {}

  // Writes the coordinates of an element as a row.
  void write(std::int64_t element, std::byte* row) {
    const std::uint32_t last = step_.rank - 1;
    if (element < begin_ || element >= begin_ + step_.sizes[last]) {
      std::int64_t rest = element / step_.sizes[last];
      begin_ = rest * step_.sizes[last];
      for (std::uint32_t i = last; i-- > 0; rest /= step_.sizes[i]) {
        outer_[i] = static_cast<std::uint32_t>(rest % step_.sizes[i]);
      }
    }
    outer_[last] = static_cast<std::uint32_t>(element - begin_);
    for (std::uint32_t i = 0; i < step_.columns; ++i, row += step_.column_stride) {
      std::memcpy(row, &outer_[step_.rank - step_.columns + i], sizeof(std::uint32_t));
    }
  }

 private:
  const NonzeroStep& step_;
  // The first element of the current input row; initially there is none.
  std::int64_t begin_ = std::numeric_limits<std::int64_t>::min();
  std::uint32_t outer_[kMaxRank] = {};
};

template <class T>
class Nonzero final : public cpu::PreparedStep {
 public:
  explicit Nonzero(const NonzeroStep& step)
      : PreparedStep(static_cast<std::uint64_t>(std::max<std::int64_t>(1, step.blocks())), 3), step_(step) {}

  [[nodiscard]] std::uint64_t pieces_in(std::uint32_t phase) const noexcept override {
    return phase == 1 ? 1 : pieces();
  }

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    auto* const counts = reinterpret_cast<std::uint32_t*>(operands[3]);
    const auto block = static_cast<std::int64_t>(piece.number);
    const std::int64_t begin = block * kNonzeroBlock;
    const std::int64_t end = std::min(step_.count, begin + kNonzeroBlock);
    if (piece.phase == 1) {
      add_up(counts, operands[1]);
    } else if (begin < end && piece.phase == 0) {
      std::int64_t found = 0;
      for_each_run(step_, operands[0], begin, end,
                   [&](std::int64_t, const std::byte* from, std::int64_t stride, std::int64_t count) {
                     found += count_nonzero(from, stride, count, static_cast<T>(step_.mask));
                   });
      counts[block] = static_cast<std::uint32_t>(found);
    } else if (begin < end && operands[2] != nullptr) {
      // After add_up, counts[b] is the number of rows up to the end of block b.
      write_rows(begin, end, block == 0 ? 0 : counts[block - 1], counts[block], counts[step_.blocks() - 1], operands);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%lld block%s of elements", static_cast<long long>(step_.blocks()),
                  step_.blocks() == 1 ? "" : "s");
  }

 private:
  void add_up(std::uint32_t* counts, std::byte* count) const noexcept {
    std::uint32_t total = 0;
    for (std::int64_t i = 0; i < step_.blocks(); ++i) {
      counts[i] = total += counts[i];
    }
    if (count != nullptr) {
      std::memcpy(count, &total, sizeof(total));
    }
  }

  void write_rows(std::int64_t begin, std::int64_t end, std::int64_t first_row, std::int64_t end_row,
                  std::int64_t all_rows, std::byte* const* operands) const noexcept {
    Coordinates coordinates(step_);
    std::uint16_t positions[kElementsAtOnce];
    std::byte* row = operands[2] + first_row * step_.row_stride;
    for_each_run(step_, operands[0], begin, end,
                 [&](std::int64_t first, const std::byte* from, std::int64_t stride, std::int64_t count) {
                   const std::int64_t found = find_nonzero(from, stride, count, static_cast<T>(step_.mask), positions);
                   for (std::int64_t i = 0; i < found; ++i, row += step_.row_stride) {
                     coordinates.write(first + positions[i], row);
                   }
                 });
    // The zero rows follow the rows of all nonzero elements. The zero rows of earlier blocks come before the zero rows
    // of this block.
    row = operands[2] + (all_rows + begin - first_row) * step_.row_stride;
    const std::int64_t zeros = end - begin - (end_row - first_row);
    const auto packed = static_cast<std::int64_t>(step_.columns * sizeof(std::uint32_t));
    if (step_.column_stride == sizeof(std::uint32_t) && step_.row_stride == packed) {
      std::memset(row, 0, static_cast<std::size_t>(zeros * packed));
      return;
    }
    for (std::int64_t i = 0; i < zeros; ++i, row += step_.row_stride) {
      for (std::uint32_t column = 0; column < step_.columns; ++column) {
        std::memset(row + column * step_.column_stride, 0, sizeof(std::uint32_t));
      }
    }
  }

  NonzeroStep step_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_nonzero(const NonzeroStep& step) {
  switch (step.element) {
    case 1:
      return std::make_unique<Nonzero<std::uint8_t>>(step);
    case 2:
      return std::make_unique<Nonzero<std::uint16_t>>(step);
    case 4:
      return std::make_unique<Nonzero<std::uint32_t>>(step);
    default:
      return std::make_unique<Nonzero<std::uint64_t>>(step);
  }
}

}  // namespace anydml
