// SPDX-License-Identifier: MIT
// Runs copies on a GPU. Copies with the same word size and a similar number of loops share a launch.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <limits>
#include <span>
#include <vector>

#include "backend/cuda/family.h"
#include "base/integers.h"
#include "ops/move/cuda/kernels.cuh"
#include "ops/move/cuda/reversal.h"

namespace anydml::cuda {
namespace {

constexpr u64 kMaxBytes = u64{1} << 30;   // per copy, so that byte indices fit in 32 bits
constexpr u64 kMaxBlocks = u64{1} << 30;  // per launch
constexpr u32 kMaxWord = 16;
constexpr i64 kMinTransposed = 1 << 14;  // in elements; fewer are not worth a separate launch

// A copy whose indices and strides fit into 32 bits.
struct CopyPart {
  MoveCopy copy;
  std::vector<MoveLoop> loops;
  u64 steps = 0;  // the OR of the strides and the run: a power of two divides it if and only if it divides each of them
  bool transposed = false;
};

[[nodiscard]] bool fits(i64 stride) {
  return stride >= std::numeric_limits<i32>::min() && stride <= std::numeric_limits<i32>::max();
}

void add_part(const MoveCopy& copy, std::vector<MoveLoop> loops, std::vector<CopyPart>& parts) {
  const auto again = [&](i64 from, i64 to, i64 run, std::vector<MoveLoop> kept) {
    MoveCopy other = copy;
    other.from_offset += copy.from == kFromConstant ? 0 : from;
    other.to_offset += to;
    other.run = run;
    add_part(other, std::move(kept), parts);
  };
  if (static_cast<u64>(copy.run) > kMaxBytes) {
    for (i64 at = 0; at < copy.run; at += static_cast<i64>(kMaxBytes)) {
      again(at, at, std::min(copy.run - at, static_cast<i64>(kMaxBytes)), loops);
    }
    return;
  }
  u64 bytes = static_cast<u64>(copy.run);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const MoveLoop loop = loops[i];
    if (!fits(loop.from) || !fits(loop.to)) {
      loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
      for (i64 index = 0; index < loop.size; ++index) {
        again(index * loop.from, index * loop.to, copy.run, loops);
      }
      return;
    }
    bytes *= static_cast<u64>(loop.size);  // at most the size of a tensor
  }
  if (bytes > kMaxBytes) {
    const auto longest = std::ranges::max_element(loops, {}, &MoveLoop::size);
    const i64 half = longest->size / 2;
    const i64 from = half * longest->from;
    const i64 to = half * longest->to;
    const i64 rest = longest->size - half;
    longest->size = half;
    again(0, 0, copy.run, loops);
    longest->size = rest;
    again(from, to, copy.run, loops);
    return;
  }
  std::erase_if(loops, [](const MoveLoop& loop) { return loop.size == 1; });
  CopyPart& part = parts.emplace_back(CopyPart{.copy = copy, .loops = std::move(loops)});
  part.steps = static_cast<u64>(copy.run);
  for (const MoveLoop& loop : part.loops) {
    part.steps |= static_cast<u64>(loop.from) | static_cast<u64>(loop.to);
  }
  if (part.loops.size() >= 2 && copy.from != kFromConstant) {
    const MoveLoop& column = part.loops.back();
    const MoveLoop& row = part.loops[part.loops.size() - 2];
    part.transposed = std::has_single_bit(static_cast<u64>(copy.run)) && copy.run <= 8 && column.to == copy.run &&
                      row.from == copy.run && column.from != 0 && column.size >= 8 && row.size >= 8 &&
                      bytes / static_cast<u64>(copy.run) >= static_cast<u64>(kMinTransposed);
  }
}

[[nodiscard]] u32 count_loops(const CopyPart& part, u32 word) {
  return std::max(1U, static_cast<u32>(part.loops.size()) + (part.copy.run > word ? 1 : 0));
}

template <u32 kRank>
[[nodiscard]] MoveEntry<kRank> make_entry(const CopyPart& part, u32 word, const std::byte* from, std::byte* to) {
  MoveEntry<kRank> entry{};
  entry.from = from;
  entry.to = to;
  entry.constant = part.copy.constant;
  entry.count = 1;
  const auto add = [&](i64 size, i64 from_stride, i64 to_stride) {
    entry.sizes[entry.rank] = make_divisor(static_cast<u32>(size));
    entry.from_strides[entry.rank] = static_cast<i32>(from_stride);
    entry.to_strides[entry.rank++] = static_cast<i32>(to_stride);
    entry.count *= static_cast<u32>(size);
  };
  for (const MoveLoop& loop : part.loops) {
    add(loop.size, loop.from, loop.to);
  }
  if (part.copy.run > word) {
    add(part.copy.run / word, word, word);
    entry.has_run = 1;
  }
  return entry;
}

template <class Use>
void visit_word(u32 word, Use use) {
  switch (word) {
    case 1:
      return use(u8{});
    case 2:
      return use(u16{});
    case 4:
      return use(u32{});
    case 8:
      return use(u64{});
    default:
      return use(uint4{});
  }
}

class MoveRun final : public PreparedStep {
 public:
  explicit MoveRun(const Step& flat) {
    const MoveTable table(flat.parameters);
    for (const MoveCopy& copy : table.copies()) {
      const auto loops = table.loops(copy);
      add_part(copy, {loops.begin(), loops.end()}, parts_);
    }
    copies_ = table.copies().size();
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    bool present[2][std::size(kRanks)][kMaxWord + 1] = {};
    for (const CopyPart& part : parts_) {
      const u32 word = word_of(part, bases);
      if (goes_transposed(part, word)) {
        launch_transposed(part, bases, stream);
      } else {
        present[goes_by_rows(part, word) ? 1 : 0][rank_class(part, word)][word] = true;
      }
    }
    for (u32 word = 1; word <= kMaxWord; word *= 2) {
      launch_all<false>(word, present[0], bases, stream);
      launch_all<true>(word, present[1], bases, stream);
    }
    return cudaGetLastError();
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    const auto transposed = std::ranges::count(parts_, true, &CopyPart::transposed);
    std::snprintf(text, capacity, "%zu cop%s, %zu transposed", copies_, copies_ == 1 ? "y" : "ies",
                  static_cast<std::size_t>(transposed));
  }

 private:
  // Each kernel supports up to one of these numbers of loops. The last entry is the maximum number of loops of a copy,
  // plus one loop over the words of a run.
  static constexpr u32 kRanks[] = {1, 2, 4, kMaxMoveRank + 1};

  [[nodiscard]] static const std::byte* source_of(const CopyPart& part, std::byte* const* bases) {
    return part.copy.from == kFromConstant ? nullptr : bases[part.copy.from] + part.copy.from_offset;
  }
  [[nodiscard]] static std::byte* destination_of(const CopyPart& part, std::byte* const* bases) {
    return bases[part.copy.to] + part.copy.to_offset;
  }

  // The longest word that the addresses and strides allow.
  [[nodiscard]] static u32 word_of(const CopyPart& part, std::byte* const* bases) {
    const u64 all = part.steps | reinterpret_cast<std::uintptr_t>(source_of(part, bases)) |
                    reinterpret_cast<std::uintptr_t>(destination_of(part, bases)) | kMaxWord;
    return u32{1} << std::countr_zero(all);
  }

  [[nodiscard]] static bool goes_transposed(const CopyPart& part, u32 word) {
    return part.transposed && part.copy.run == word;
  }

  // Whether the length of a row of the last loop is suitable for a group of lanes: long enough, but not too long.
  [[nodiscard]] static bool goes_by_rows(const CopyPart& part, u32 word) {
    const i64 words = part.copy.run > word ? part.copy.run / word : part.loops.empty() ? 1 : part.loops.back().size;
    return count_loops(part, word) >= 2 && words >= i64{kMinOfRow} && words <= i64{kMaxOfRow};
  }

  [[nodiscard]] static u32 rank_class(const CopyPart& part, u32 word) {
    const u32 loops = count_loops(part, word);
    return static_cast<u32>(std::ranges::find_if(kRanks, [loops](u32 maximum) { return loops <= maximum; }) - kRanks);
  }

  template <bool kByRows>
  void launch_all(u32 word, const bool (&present)[std::size(kRanks)][kMaxWord + 1], std::byte* const* bases,
                  cudaStream_t stream) const noexcept {
    if constexpr (!kByRows) {  // rows have at least two loops
      if (present[0][word]) {
        launch_words<0, kByRows>(word, bases, stream);
      }
    }
    if (present[1][word]) {
      launch_words<1, kByRows>(word, bases, stream);
    }
    if (present[2][word]) {
      launch_words<2, kByRows>(word, bases, stream);
    }
    if (present[3][word]) {
      launch_words<3, kByRows>(word, bases, stream);
    }
  }

  template <class Word, u32 kRank, bool kByRows, u32 kBytes>
  static void launch_kernel(u32 blocks, const MoveEntries<kRank, kBytes>& table, cudaStream_t stream) {
    if constexpr (kByRows) {
      move_rows<Word, kRank, kBytes><<<blocks, kMoveThreads, 0, stream>>>(table);
    } else {
      move_words<Word, kRank, kBytes><<<blocks, kMoveThreads, 0, stream>>>(table);
    }
  }

  // Launches the copies with this word size and class of loops.
  template <u32 kClass, bool kByRows>
  void launch_words(u32 word, std::byte* const* bases, cudaStream_t stream) const noexcept {
    constexpr u32 kRank = kRanks[kClass];
    MoveEntries<kRank, kLongParameter> table;
    table.count = 0;
    u64 blocks = 0;
    visit_word(word, [&]<class Word>(Word) {
      const auto flush = [&] {
        if (table.count == 0) {
          return;
        }
        if (table.count <= MoveEntries<kRank, kShortParameter>::kMax) {
          MoveEntries<kRank, kShortParameter> short_table;
          short_table.count = table.count;
          std::copy_n(table.entries, table.count, short_table.entries);
          launch_kernel<Word, kRank, kByRows>(static_cast<u32>(blocks), short_table, stream);
        } else {
          launch_kernel<Word, kRank, kByRows>(static_cast<u32>(blocks), table, stream);
        }
        table.count = 0;
        blocks = 0;
      };
      for (const CopyPart& part : parts_) {
        if (word_of(part, bases) != word || goes_transposed(part, word) || rank_class(part, word) != kClass ||
            goes_by_rows(part, word) != kByRows) {
          continue;
        }
        auto entry = make_entry<kRank>(part, word, source_of(part, bases), destination_of(part, bases));
        u64 of_block = u64{kMoveThreads} * kMoveEach<Word>;
        if constexpr (kByRows) {
          const u32 words = entry.sizes[entry.rank - 1].divisor;
          entry.count /= words;
          entry.lanes = lanes_of_row(words);
          of_block = u64{kMoveThreads} / entry.lanes * kRowsOfGroup;
        }
        const u64 more = static_cast<u32>(ceil_div<u64>(entry.count, of_block));
        if (table.count == MoveEntries<kRank, kLongParameter>::kMax || blocks + more > kMaxBlocks) {
          flush();
        }
        table.entries[table.count] = entry;
        table.entries[table.count++].first_block = static_cast<u32>(blocks);
        blocks += more;
      }
      flush();
    });
  }

  void launch_transposed(const CopyPart& part, std::byte* const* bases, cudaStream_t stream) const noexcept {
    TransposedCopy copy{};
    copy.from = source_of(part, bases);
    copy.to = destination_of(part, bases);
    const MoveLoop& column = part.loops.back();
    const MoveLoop& row = part.loops[part.loops.size() - 2];
    copy.columns = static_cast<u32>(column.size);
    copy.rows = static_cast<u32>(row.size);
    copy.from_column = column.from;
    copy.to_row = row.to;
    u64 blocks = 1;
    for (const MoveLoop& loop : std::span(part.loops).first(part.loops.size() - 2)) {
      copy.sizes[copy.rank] = make_divisor(static_cast<u32>(loop.size));
      copy.from_strides[copy.rank] = static_cast<i32>(loop.from);
      copy.to_strides[copy.rank++] = static_cast<i32>(loop.to);
      blocks *= static_cast<u64>(loop.size);
    }
    const auto launch_kernel = [&]<class Word>(Word) {
      if constexpr (sizeof(Word) <= 8) {
        const u32 column_tiles = static_cast<u32>(ceil_div<u64>(copy.columns, kMoveTile<Word>));
        const u32 row_tiles = static_cast<u32>(ceil_div<u64>(copy.rows, kMoveTile<Word>));
        copy.column_tiles = make_divisor(column_tiles);
        copy.row_tiles = make_divisor(row_tiles);
        blocks *= u64{column_tiles} * row_tiles;
        move_transposed<Word><<<static_cast<u32>(blocks), kMoveThreads, 0, stream>>>(copy);
      }
    };
    visit_word(static_cast<u32>(part.copy.run), launch_kernel);
  }

  std::vector<CopyPart> parts_;
  std::size_t copies_ = 0;
};

}  // namespace

extern const FamilyKernels move_family;
const FamilyKernels move_family = {
    .prepare = [](const Step& flat, const GpuProperties&, Neighbors, const char**) -> std::unique_ptr<PreparedStep> {
      if (kind_of(flat.parameters) == MoveKind::reversal) {
        return prepare_reversal(*reinterpret_cast<const ReversalStep*>(flat.parameters.data()));
      }
      return std::make_unique<MoveRun>(flat);
    },
};

}  // namespace anydml::cuda
