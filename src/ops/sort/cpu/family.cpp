// SPDX-License-Identifier: MIT
// Finds the first K elements of rows on the CPU. If K is small compared to the length of a row, a pass over the row's
// keys leaves only a few words to sort; otherwise all words are sorted. A row is never split between threads. Rows with
// interleaved elements are read together, so that each cache line is read once.
#include "backend/cpu/family.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "ops/sort/cpu/kernels.h"
#include "ops/sort/cpu/selection.h"
#include "ops/sort/cpu/words.h"
#include "ops/sort/scalar/keys.h"
#include "ops/sort/step.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kMinOfPiece = 8 << 10;  // elements; about ten microseconds of work
constexpr std::int64_t kMaxOfPiece = 256 << 10;
constexpr std::int64_t kLine = 64;            // bytes in a cache line
constexpr std::int64_t kTileBytes = 1 << 20;  // bytes of keys for rows that are read together; they fit the L2 cache
constexpr std::int64_t kMaxTogether = 64;     // rows
constexpr std::int64_t kSmallPart = 8;        // K is small if it is at most 1/8 of a row

// The division of a step into units. A unit consists of `width` rows of the innermost loop. If it has more than one
// row, all of its keys are in scratch memory.
struct SortCut {
  std::int64_t width;
  std::int64_t tiles;  // units per innermost loop
  std::int64_t units;
  std::int64_t units_of_piece;
  bool selects;
  // Offsets in the scratch memory, in bytes.
  std::size_t minima;
  std::size_t words;
  std::size_t spare;
  std::size_t bytes;
};

std::int64_t width_of(const SortStep& step, std::int64_t threads) {
  const auto element = static_cast<std::int64_t>(element_size(step.type));
  const std::int64_t key = element == 8 ? 8 : 4;
  const SortLoop& inner = step.rest[step.rank - 1];
  if (step.axis.size == 1 || inner.input == 0 || std::abs(step.axis.input) <= inner.input || inner.input >= kLine) {
    return 1;
  }
  const std::int64_t line = std::max<std::int64_t>(1, kLine / inner.input);
  std::int64_t width = std::min({inner.size, kTileBytes / (step.axis.size * key), std::min(kMaxTogether, 2 * line)});
  while (width > line && step.rows / width < 2 * threads) {
    width /= 2;
  }
  return std::max<std::int64_t>(1, width);
}

SortCut cut(const SortStep& step, std::int64_t threads) {
  const std::int64_t count = step.axis.size;
  const std::int64_t inner = step.rest[step.rank - 1].size;
  const bool is_wide = element_size(step.type) == 8;
  const std::size_t key_bytes = is_wide ? sizeof(i64) : sizeof(i32);
  const std::size_t word_bytes = is_wide ? sizeof(WideWord) : sizeof(NarrowWord);
  SortCut result{};
  result.width = width_of(step, threads);
  result.tiles = ceil_div(inner, result.width);
  result.units = step.rows / inner * result.tiles;
  const std::int64_t elements = count * result.width;
  const std::int64_t wanted = std::clamp(step.rows * count / (8 * threads), kMinOfPiece, kMaxOfPiece);
  result.units_of_piece = std::max<std::int64_t>(1, wanted / elements);
  result.selects = step.k <= count / kSmallPart;
  const auto aligned = [](std::size_t bytes) { return (bytes + 63) / 64 * 64; };
  const std::int64_t keys = result.width > 1 ? elements : std::min(count, kSortChunk);
  const std::int64_t words = result.selects ? selection_room(step.k) : count;
  result.minima = aligned(static_cast<std::size_t>(keys) * key_bytes);
  result.words = result.minima + aligned(static_cast<std::size_t>(kSelectionKeys) * key_bytes);
  result.spare = result.words + aligned(static_cast<std::size_t>(words) * word_bytes);
  result.bytes = result.spare + aligned(static_cast<std::size_t>(result.selects ? step.k : count) * word_bytes);
  return result;
}

template <class T>
void write_indices(const u32* from, std::int64_t count, std::int64_t stride, std::byte* to) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    const T index = from[i];
    std::memcpy(to + i * stride, &index, sizeof(T));
  }
}
template <std::size_t kBytes>
void write_values(const std::byte* row, std::int64_t row_stride, const u32* indices, std::int64_t count,
                  std::int64_t stride, std::byte* to) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * stride, row + indices[i] * row_stride, kBytes);
  }
}

// The locations of a row and its results.
struct Row {
  const std::byte* input;
  std::byte* values;
  std::byte* indices;
};

// Writes the elements at `order` of the row as the results [first, first + count).
void write_results(const SortStep& step, const Row& row, const u32* order, std::int64_t first,
                   std::int64_t count) noexcept {
  std::byte* const values = row.values + first * step.axis.values;
  std::byte* const indices = row.indices + first * step.axis.indices;
  switch (element_size(step.type)) {
    case 1:
      write_values<1>(row.input, step.axis.input, order, count, step.axis.values, values);
      break;
    case 2:
      write_values<2>(row.input, step.axis.input, order, count, step.axis.values, values);
      break;
    case 4:
      write_values<4>(row.input, step.axis.input, order, count, step.axis.values, values);
      break;
    default:
      write_values<8>(row.input, step.axis.input, order, count, step.axis.values, values);
      break;
  }
  if (step.index_size == sizeof(u32)) {
    write_indices<u32>(order, count, step.axis.indices, indices);
  } else {
    write_indices<u64>(order, count, step.axis.indices, indices);
  }
}

template <class Word>
void write_row(const SortStep& step, const Row& row, const Word* words) noexcept {
  constexpr std::int64_t kSome = 256;
  u32 order[kSome];
  for (std::int64_t first = 0; first < step.k; first += kSome) {
    const std::int64_t some = std::min(kSome, step.k - first);
    std::transform(words + first, words + first + some, order, [](const Word& word) { return word.index(); });
    write_results(step, row, order, first, some);
  }
}

template <class Word>
class Sort final : public cpu::PreparedStep {
 public:
  using Key = typename Word::Key;

  Sort(const SortStep& step, const SortCut& cut, const SortKernels& kernels, cpu::Target target)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(cut.units, cut.units_of_piece)), 1, cut.bytes),
        step_(step),
        cut_(cut),
        kernels_(kernels),
        key_kernels_(vector_sort_kernels(target, kDataTypeOf<Key>)),
        target_(target) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * cut_.units_of_piece;
    const std::int64_t end = std::min(cut_.units, first + cut_.units_of_piece);
    const SortLoop& inner = step_.rest[step_.rank - 1];
    auto* const keys = reinterpret_cast<Key*>(piece.scratch);
    for (std::int64_t unit = first; unit < end; ++unit) {
      const std::int64_t number = unit % cut_.tiles * cut_.width;
      const std::int64_t width = std::min(cut_.width, inner.size - number);
      Row row = row_at(unit / cut_.tiles, number, operands);
      if (cut_.width > 1) {
        gather(row.input, inner.input, width, keys);
      }
      for (std::int64_t i = 0; i < width; ++i) {
        sort_row(row, cut_.width > 1 ? keys + i * step_.axis.size : nullptr, piece.scratch);
        row.input += inner.input;
        row.values += inner.values;
        row.indices += inner.indices;
      }
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s, %s, %s kernel", cut_.selects ? "selected" : "sorted",
                  cut_.width > 1 ? "rows together" : "row by row", cpu::target_name(target_));
  }

 private:
  // `outer` is the index over all loops except the innermost.
  [[nodiscard]] Row row_at(std::int64_t outer, std::int64_t inner, std::byte* const* operands) const noexcept {
    Row row{.input = operands[0] + step_.input_offset,
            .values = operands[1] + step_.values_offset,
            .indices = operands[2] + step_.indices_offset};
    const auto add = [&row](const SortLoop& loop, std::int64_t index) {
      row.input += index * loop.input;
      row.values += index * loop.values;
      row.indices += index * loop.indices;
    };
    add(step_.rest[step_.rank - 1], inner);
    for (std::uint32_t i = step_.rank - 1; i-- > 0; outer /= step_.rest[i].size) {
      add(step_.rest[i], outer % step_.rest[i].size);
    }
    return row;
  }

  // Gathers the keys of adjacent rows, one row after another. Cache lines stay in the L1 cache while all rows are read
  // from them.
  void gather(const std::byte* from, std::int64_t step, std::int64_t width, Key* keys) const noexcept {
    constexpr std::int64_t kLines = 128;
    for (std::int64_t first = 0; first < step_.axis.size; first += kLines) {
      const std::int64_t lines = std::min(kLines, step_.axis.size - first);
      for (std::int64_t i = 0; i < width; ++i) {
        kernels_.keys(from + first * step_.axis.input + i * step, step_.axis.input, lines, step_.largest != 0,
                      keys + i * step_.axis.size + first);
      }
    }
  }

  // `keys` contains the keys of the whole row, or is null if they have not been computed.
  void sort_row(const Row& row, const Key* keys, std::byte* scratch) const noexcept {
    auto* const buffer = reinterpret_cast<Key*>(scratch);
    auto* const words = reinterpret_cast<Word*>(scratch + cut_.words);
    auto* const spare = reinterpret_cast<Word*>(scratch + cut_.spare);
    const bool largest = step_.largest != 0;
    const std::int64_t size = step_.axis.size;
    const auto make_keys = [&](std::int64_t first, std::int64_t count) -> const Key* {
      if (keys != nullptr) {
        return keys + first;
      }
      kernels_.keys(row.input + first * step_.axis.input, step_.axis.input, count, largest, buffer);
      return buffer;
    };
    if (size <= kFewSorted) {
      u32 order[kFewSorted];
      kernels_.rank(make_keys(0, size), size, step_.k, order);
      write_results(step_, row, order, 0, step_.k);
      return;
    }
    if (cut_.selects) {
      const auto element = static_cast<std::int64_t>(element_size(step_.type));
      const bool as_they_are = keys == nullptr && step_.axis.input == element;
      Selection<Word> selection(step_.k, words, reinterpret_cast<Key*>(scratch + cut_.minima));
      for (std::int64_t first = 0; first < size; first += kSortChunk) {
        const std::int64_t count = std::min(kSortChunk, size - first);
        if (as_they_are) {
          selection.take({row.input + first * element, element, largest}, first, count, kernels_);
        } else {
          const auto* const chunk = reinterpret_cast<const std::byte*>(make_keys(first, count));
          selection.take({chunk, sizeof(Key), false}, first, count, key_kernels_);
        }
      }
      write_row(step_, row, sort_words(words, spare, selection.finish(), false));
      return;
    }
    for (std::int64_t first = 0; first < size; first += kSortChunk) {
      const std::int64_t count = std::min(kSortChunk, size - first);
      const Key* const chunk = make_keys(first, count);
      for (std::int64_t i = 0; i < count; ++i) {
        words[first + i] = Word(chunk[i], static_cast<u32>(first + i));
      }
    }
    write_row(step_, row, sort_words(words, spare, size, true));
  }

  SortStep step_;
  SortCut cut_;
  SortKernels kernels_;
  SortKernels key_kernels_;  // for rows that are already keys
  cpu::Target target_;
};

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context, cpu::Neighbors) {
  SortStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const SortCut sort_cut = cut(step, context.threads);
  const SortKernels kernels = vector_sort_kernels(context.target, step.type);
  if (element_size(step.type) == 8) {
    return std::make_unique<Sort<WideWord>>(step, sort_cut, kernels, context.target);
  }
  return std::make_unique<Sort<NarrowWord>>(step, sort_cut, kernels, context.target);
}

}  // namespace

namespace cpu {
extern const FamilyKernels sort_family;
const FamilyKernels sort_family = {.open = nullptr, .prepare = prepare, .prepare_joined = nullptr};
}  // namespace cpu

}  // namespace anydml
