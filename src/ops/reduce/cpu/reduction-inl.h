// SPDX-License-Identifier: MIT
// Reductions on the CPU. What is contiguous decides how: along the reduced elements, or across outputs whose elements
// lie beside each other, row after row. Elements that lie otherwise are gathered first. The order in which they are
// combined is the same either way. Included by the files of the folds, which compile side by side.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "backend/cpu/family.h"
#include "ops/reduce/cpu/kernels.h"
#include "ops/reduce/scalar/totals.h"
#include "ops/reduce/step.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kLeastOfPiece = 128 << 10;  // bytes of the input
constexpr std::int64_t kMostOfPiece = 2 << 20;
constexpr std::int64_t kRowBytes = 16 << 10;   // of accumulators across outputs
constexpr std::int64_t kLeastRowBytes = 256;   // of the input, however many threads there are
constexpr std::int64_t kLaneBytes = 16 << 10;  // of accumulators across outputs, with lanes
constexpr std::int64_t kGatheredRows = 4;
constexpr std::int64_t kSearchedRows = 32;
constexpr std::int64_t kBatch = 64;  // outputs

// The extreme of some elements, and where it is.
template <class Key>
struct Found {
  Key key;
  u32 index;  // row-major within the reduced axes, of which there are less than 2^32
};

// Calls use(offset, stride, length) for each row of the innermost reduced loop among the elements [first, first +
// count) of a reduction, in order.
template <class Use>
void for_each_run(const ReduceStep& step, std::int64_t first, std::int64_t count, Use use) {
  const ReduceLoop& inner = step.reduced[step.reduced_rank - 1];
  std::int64_t indices[kMaxRank] = {};
  std::int64_t rest = first;
  std::int64_t offset = 0;  // of the outer loops
  for (std::uint32_t i = step.reduced_rank; i-- > 0;) {
    indices[i] = rest % step.reduced[i].size;
    rest /= step.reduced[i].size;
    offset += i + 1 == step.reduced_rank ? 0 : indices[i] * step.reduced[i].input;
  }
  std::int64_t column = indices[step.reduced_rank - 1];
  while (count > 0) {
    const std::int64_t length = std::min(count, inner.size - column);
    use(offset + column * inner.input, inner.input, length);
    count -= length;
    column = 0;
    for (std::uint32_t i = step.reduced_rank - 1; i-- > 0;) {
      offset += step.reduced[i].input;
      if (++indices[i] < step.reduced[i].size) {
        break;
      }
      offset -= step.reduced[i].size * step.reduced[i].input;
      indices[i] = 0;
    }
  }
}

// How the work is cut. A unit is a block of some outputs: of one along its elements, of `width` across.
struct Cut {
  bool across;
  std::int64_t width;  // of the innermost kept loop
  std::int64_t tiles;  // of such a width
  std::int64_t units;
  std::int64_t units_of_piece;
};

Cut cut(const ReduceStep& step, std::int64_t element, std::int64_t accumulator, bool ordered, std::int64_t threads) {
  const ReduceLoop& column = step.kept[step.kept_rank - 1];
  const bool reduced_is_contiguous = step.reduced[step.reduced_rank - 1].input == element;
  const bool column_is_contiguous = column.size > 1 && column.input == element;
  Cut made{};
  // An ordered fold without lanes takes an output's elements one after another: vectors must go across.
  made.across = ordered && step.has_lanes == 0 ? true : column_is_contiguous && !reduced_is_contiguous;
  std::int64_t bytes = std::min(step.count, kReduceBlock) * element;  // of a unit
  if (made.across) {
    const std::int64_t others = step.outputs / column.size * step.blocks();
    made.width =
        std::min(column.size, (ordered && step.has_lanes != 0 ? kLaneBytes / kReduceLanes : kRowBytes) / accumulator);
    // Few units are made as many as there are threads, or twice as many, and no more: short pieces of long rows are
    // what memory is slowest at.
    if (const std::int64_t units = others * parts(column.size, made.width);
        units < 2 * threads && units % threads != 0) {
      const std::int64_t line = std::max<std::int64_t>(1, 64 / element);
      const std::int64_t share = parts(column.size, others < threads ? parts(threads, others) : 2);
      made.width = std::min(made.width, std::max(parts(share, line) * line, kLeastRowBytes / element));
    }
    made.tiles = parts(column.size, made.width);
    made.units = others * made.tiles;
    bytes *= made.width;
  } else {
    made.width = 1;
    made.tiles = column.size;
    made.units = step.outputs * step.blocks();
  }
  const std::int64_t wanted =
      std::clamp(step.outputs * step.count * element / (8 * threads), kLeastOfPiece, kMostOfPiece);
  made.units_of_piece = std::max<std::int64_t>(1, wanted / bytes);
  return made;
}

std::uint64_t pieces_of(const Cut& cut) { return static_cast<std::uint64_t>(parts(cut.units, cut.units_of_piece)); }

template <class T>
void store_element(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(value));
}

// The index as an element of the output. Sums have none.
[[maybe_unused]] void store_index(DataType type, u32 index, std::byte* to) {
  if (element_size(type) == sizeof(u64)) {
    store_element(to, u64{index});
  } else {
    store_element(to, index);
  }
}

template <class Fold, bool kIsArg>
class Reduction final : public cpu::Prepared {
 public:
  using T = typename Fold::Element;
  using Accumulator = typename Fold::Accumulator;
  using Partial = std::conditional_t<kIsArg, Found<Accumulator>, Accumulator>;
  static_assert(sizeof(Partial) <= static_cast<std::size_t>(kIsArg ? 16 : 8));
  static constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  static constexpr bool kLanes = Fold::kOrdered;  // those that have no order need none

  Reduction(const ReduceStep& step, const ReduceKernels<Fold>& kernels, const cpu::Machine& machine)
      : Prepared(pieces_of(make_cut(step, machine))),
        step_(step),
        kernels_(kernels),
        cut_(make_cut(step, machine)),
        target_(machine.target) {}

  void run(std::uint64_t piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece) * cut_.units_of_piece;
    const std::int64_t end = std::min(cut_.units, first + cut_.units_of_piece);
    if (!cut_.across) {
      run_along(operands, first, end);
      return;
    }
    for (std::int64_t unit = first; unit < end; ++unit) {
      run_across(operands, unit);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s, %s kernel", cut_.across ? "across" : "along", cpu::target_name(target_));
  }

 private:
  static Cut make_cut(const ReduceStep& step, const cpu::Machine& machine) {
    return cut(step, kBytes, static_cast<std::int64_t>(sizeof(Accumulator)), kLanes, machine.threads);
  }

  struct Offsets {
    std::int64_t input;
    std::int64_t output;
  };
  [[nodiscard]] Offsets offsets_of(std::int64_t output) const {
    Offsets offsets{.input = step_.input_offset, .output = step_.output_offset};
    for (std::uint32_t i = step_.kept_rank; i-- > 0;) {
      const std::int64_t index = output % step_.kept[i].size;
      output /= step_.kept[i].size;
      offsets.input += index * step_.kept[i].input;
      offsets.output += index * step_.kept[i].output;
    }
    return offsets;
  }

  [[nodiscard]] const ReduceLoop& column() const { return step_.kept[step_.kept_rank - 1]; }

  // The result of a block goes where the next step looks for it, or is the output's element.
  void put(std::byte* const* operands, std::int64_t output, std::int64_t output_offset, std::int64_t block,
           const Partial& partial) const {
    if (step_.phase == ReducePhase::blocks) {
      const std::int64_t place = output * step_.blocks() + block;
      std::memcpy(operands[1] + place * static_cast<std::int64_t>(sizeof(Partial)), &partial, sizeof(Partial));
      return;
    }
    if constexpr (kIsArg) {
      store_index(step_.output_type, partial.index, operands[1] + output_offset);
    } else {
      store_element(operands[1] + output_offset,
                    element_of_total<Fold>(step_.function, static_cast<u64>(step_.count), partial));
    }
  }

  // `count` elements of one output's reduction from `first` on, contiguous: where they are, or gathered into the
  // buffer.
  const std::byte* contiguous(const std::byte* input, std::int64_t first, std::int64_t count, std::byte* buffer) const {
    const std::byte* place = buffer;
    std::byte* to = buffer;
    for_each_run(step_, first, count, [&](std::int64_t offset, std::int64_t stride, std::int64_t length) {
      const std::byte* from = input + offset;
      if (stride == kBytes) {
        if (length == count) {
          place = from;
          return;
        }
        std::memcpy(to, from, static_cast<std::size_t>(length * kBytes));
        to += length * kBytes;
        return;
      }
      for (std::int64_t i = 0; i < length; ++i, to += kBytes) {
        std::memcpy(to, from + i * stride, sizeof(T));
      }
    });
    return place;
  }

  // Where among contiguous elements the extreme is: the key of each stretch first, then the place in the best of them.
  struct Stretch {
    std::int64_t first;
    std::int64_t count;
    Accumulator key;
  };
  [[nodiscard]] Stretch best_stretch(const std::byte* elements, std::int64_t count) const {
    constexpr std::int64_t kStretch = 1024;
    Accumulator keys[kReduceBlock / kStretch] = {};
    const std::int64_t whole = count / kStretch;
    kernels_.along(elements, kStretch * kBytes, whole, kStretch, keys);
    Stretch best{.first = 0, .count = kStretch, .key = keys[0]};
    for (std::int64_t i = 1; i < whole; ++i) {
      if (is_better(keys[i], best.key, step_.takes_last != 0)) {
        best = {.first = i * kStretch, .count = kStretch, .key = keys[i]};
      }
    }
    if (const std::int64_t rest = count % kStretch; rest != 0) {
      kernels_.along(elements + whole * kStretch * kBytes, 0, 1, rest, keys);
      if (whole == 0 || is_better(keys[0], best.key, step_.takes_last != 0)) {
        best = {.first = whole * kStretch, .count = rest, .key = keys[0]};
      }
    }
    return best;
  }

  void run_along(std::byte* const* operands, std::int64_t unit, std::int64_t end) const {
    alignas(64) std::byte buffer[kReduceBlock * sizeof(T)];
    Accumulator results[kBatch];
    const bool plain = step_.reduced_rank == 1 && step_.reduced[0].input == kBytes;
    const std::int64_t blocks = step_.blocks();
    std::int64_t known = -1;  // the output whose best key so far is `best`
    Accumulator best = Fold::kNeutral;
    while (unit < end) {
      const std::int64_t output = unit / blocks;
      const std::int64_t block = unit % blocks;
      const Offsets at = offsets_of(output);
      const std::int64_t first = block * kReduceBlock;
      const std::int64_t count = std::min(kReduceBlock, step_.count - first);
      const std::byte* elements = contiguous(operands[0] + at.input, first, count, buffer);
      if constexpr (kIsArg) {
        const Stretch stretch = best_stretch(elements, count);
        Partial partial{stretch.key, 0};
        // A block that is no better than one before it is never chosen, so its place need not be looked for.
        const bool last = step_.takes_last != 0;
        if (known != output || is_better(stretch.key, best, last)) {
          const std::byte* from = elements + stretch.first * kBytes;
          partial.index =
              static_cast<u32>(first + stretch.first + kernels_.find(from, stretch.count, stretch.key, last));
          known = output;
          best = stretch.key;
        }
        put(operands, output, at.output, block, partial);
        ++unit;
      } else {
        // Outputs of one row each go together.
        const std::int64_t together =
            plain && blocks == 1 ? std::min({kBatch, end - unit, column().size - output % column().size}) : 1;
        kernels_.along(elements, column().input, together, count, results);
        for (std::int64_t i = 0; i < together; ++i) {
          put(operands, output + i, at.output + i * column().output, block, results[i]);
        }
        unit += together;
      }
    }
  }

  // Calls use(rows, stride, count, number) for the elements of a block by rows of `width` outputs, contiguous or
  // gathered; number: of the first row within the block.
  template <class Use>
  void for_each_rows(const std::byte* input, std::int64_t first, std::int64_t count, std::int64_t width,
                     Use use) const {
    alignas(64) std::byte buffer[kGatheredRows * kRowBytes];
    std::int64_t number = 0;
    for_each_run(step_, first, count, [&](std::int64_t offset, std::int64_t stride, std::int64_t length) {
      const std::byte* from = input + offset;
      if (column().input == kBytes) {
        use(from, stride, length, number);
        number += length;
        return;
      }
      for (std::int64_t row = 0; row < length; row += kGatheredRows) {
        const std::int64_t rows = std::min(kGatheredRows, length - row);
        std::byte* to = buffer;
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t i = 0; i < width; ++i, to += kBytes) {
            std::memcpy(to, from + (row + r) * stride + i * column().input, sizeof(T));
          }
        }
        use(buffer, width * kBytes, rows, number);
        number += rows;
      }
    });
  }

  void run_across(std::byte* const* operands, std::int64_t unit) const {
    const std::int64_t tile = unit % cut_.tiles;
    const std::int64_t block = unit / cut_.tiles % step_.blocks();
    const std::int64_t output = unit / cut_.tiles / step_.blocks() * column().size + tile * cut_.width;
    const Offsets at = offsets_of(output);
    const std::int64_t width = std::min(cut_.width, column().size - tile * cut_.width);
    const std::int64_t first = block * kReduceBlock;
    const std::int64_t count = std::min(kReduceBlock, step_.count - first);
    const std::byte* const input = operands[0] + at.input;
    alignas(64)
        Accumulator accumulators[static_cast<std::size_t>(kLanes ? kLaneBytes : kRowBytes) / sizeof(Accumulator)];
    u32 indices[kIsArg ? static_cast<std::size_t>(kRowBytes) / sizeof(Accumulator) : 1];
    if constexpr (kIsArg) {
      search_rows(input, first, count, width, accumulators, indices);
    } else if (kLanes && step_.has_lanes != 0) {
      add_by_lanes(input, first, count, width, accumulators);
    } else {
      std::fill_n(accumulators, width, Fold::kNeutral);
      for_each_rows(input, first, count, width,
                    [&](const std::byte* rows, std::int64_t stride, std::int64_t length, std::int64_t) {
                      kernels_.accumulate(accumulators, rows, stride, length, width);
                    });
    }
    for (std::int64_t i = 0; i < width; ++i) {
      if constexpr (kIsArg) {
        put(operands, output + i, at.output + i * column().output, block, {accumulators[i], indices[i]});
      } else {
        put(operands, output + i, at.output + i * column().output, block, accumulators[i]);
      }
    }
  }

  void add_by_lanes(const std::byte* input, std::int64_t first, std::int64_t count, std::int64_t width,
                    Accumulator* accumulators) const {
    std::int64_t lanes = 1;
    while (lanes < count && lanes < kReduceLanes) {
      lanes *= 2;
    }
    std::fill_n(accumulators, lanes * width, Fold::kNeutral);
    for_each_rows(input, first, count, width,
                  [&](const std::byte* rows, std::int64_t stride, std::int64_t length, std::int64_t number) {
                    for (std::int64_t row = 0; row < length; ++row) {
                      kernels_.accumulate(accumulators + (number + row) % kReduceLanes * width, rows + row * stride, 0,
                                          1, width);
                    }
                  });
    for (std::int64_t half = lanes / 2; half > 0; half /= 2) {
      for (std::int64_t i = 0; i < half * width; ++i) {
        accumulators[i] = Fold::combine(accumulators[i], accumulators[i + half * width]);
      }
    }
  }

  // Some rows at a time: their extremes, and where one is better than what was found so far its row is looked for.
  void search_rows(const std::byte* input, std::int64_t first, std::int64_t count, std::int64_t width,
                   Accumulator* keys, u32* indices) const {
    alignas(64) Accumulator some[static_cast<std::size_t>(kRowBytes) / sizeof(Accumulator)];
    const bool last = step_.takes_last != 0;
    bool found = false;
    for_each_rows(input, first, count, width,
                  [&](const std::byte* rows, std::int64_t stride, std::int64_t length, std::int64_t number) {
                    for (std::int64_t row = 0; row < length; row += kSearchedRows) {
                      const std::int64_t high = std::min(kSearchedRows, length - row);
                      const std::byte* from = rows + row * stride;
                      std::fill_n(some, width, Fold::kNeutral);
                      kernels_.accumulate(some, from, stride, high, width);
                      for (std::int64_t column = 0; column < width; column += kBatch) {
                        const std::int64_t end = std::min(width, column + kBatch);
                        if (found && !any_better(some + column, keys + column, end - column, last)) {
                          continue;
                        }
                        for (std::int64_t i = column; i < end; ++i) {
                          if (!found || is_better(some[i], keys[i], last)) {
                            keys[i] = some[i];
                            indices[i] = static_cast<u32>(first + number + row +
                                                          find_row(from + i * kBytes, stride, high, some[i]));
                          }
                        }
                      }
                      found = true;
                    }
                  });
  }

  // Whether a later key takes the place of an earlier one.
  [[nodiscard]] static bool is_better(Accumulator key, Accumulator than, bool last) {
    return last ? Fold::combine(key, than) == key : Fold::combine(key, than) != than;
  }
  [[nodiscard]] static bool any_better(const Accumulator* keys, const Accumulator* than, std::int64_t count,
                                       bool last) {
    Accumulator any = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const Accumulator better = Fold::combine(keys[i], than[i]);
      any = static_cast<Accumulator>(
          any | ((last ? better == keys[i] : better != than[i]) ? Accumulator{1} : Accumulator{0}));
    }
    return any != 0;
  }

  [[nodiscard]] std::int64_t find_row(const std::byte* column, std::int64_t stride, std::int64_t count,
                                      Accumulator key) const {
    std::int64_t found = 0;
    for (std::int64_t row = 0; row < count; ++row) {
      typename Fold::Loaded element;
      std::memcpy(&element, column + row * stride, sizeof(element));
      if (Fold::lift(element) == key) {
        found = row;
        if (step_.takes_last == 0) {
          break;
        }
      }
    }
    return found;
  }

  ReduceStep step_;
  const ReduceKernels<Fold>& kernels_;
  Cut cut_;
  cpu::Target target_;
};

// The second step: of each output the partial results of its blocks.
template <class Fold, bool kIsArg>
class Combination final : public cpu::Prepared {
 public:
  using Partial = typename Reduction<Fold, kIsArg>::Partial;

  explicit Combination(const ReduceStep& step)
      : Prepared(static_cast<std::uint64_t>(parts(step.outputs, outputs_of_piece(step)))), step_(step) {}

  void run(std::uint64_t piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece) * outputs_of_piece(step_);
    const std::int64_t end = std::min(step_.outputs, first + outputs_of_piece(step_));
    const std::int64_t blocks = step_.blocks();
    auto* const partials = reinterpret_cast<Partial*>(operands[0]);
    for (std::int64_t output = first; output < end; ++output) {
      std::int64_t offset = step_.output_offset;
      std::int64_t rest = output;
      for (std::uint32_t i = step_.kept_rank; i-- > 0;) {
        offset += rest % step_.kept[i].size * step_.kept[i].output;
        rest /= step_.kept[i].size;
      }
      store(partials + output * blocks, blocks, operands[1] + offset);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "blocks combined");
  }

 private:
  static std::int64_t outputs_of_piece(const ReduceStep& step) {
    return std::max<std::int64_t>(1, kLeastOfPiece / (step.blocks() * static_cast<std::int64_t>(sizeof(Partial))));
  }

  void store(Partial* partials, std::int64_t blocks, std::byte* to) const {
    if constexpr (kIsArg) {
      Partial best = partials[0];
      for (std::int64_t i = 1; i < blocks; ++i) {
        const bool better = partials[i].key == best.key ? step_.takes_last != 0
                                                        : Fold::combine(partials[i].key, best.key) == partials[i].key;
        best = better ? partials[i] : best;
      }
      store_index(step_.output_type, best.index, to);
    } else if constexpr (std::is_same_v<typename Fold::Element, f16> && std::is_same_v<Partial, f64>) {
      HalfSum sum;
      for (std::int64_t i = 0; i < blocks; ++i) {
        sum.add(partials[i]);
      }
      store_element(to, sum.over(step_.function == ReduceFunction::AVERAGE ? static_cast<u64>(step_.count) : 1));
    } else {
      store_element(to, element_of_total<Fold>(step_.function, static_cast<u64>(step_.count),
                                               combine_blocks<Fold>(partials, blocks)));
    }
  }

  ReduceStep step_;
};

template <class Fold, bool kIsArg = false>
std::unique_ptr<cpu::Prepared> prepare_fold(FoldId id, const ReduceStep& step, const cpu::Machine& machine) {
  if (step.phase == ReducePhase::combine) {
    return std::make_unique<Combination<Fold, kIsArg>>(step);
  }
  const void* kernels = vector_reduce_kernels(machine.target, id, step.input_type);
  if (kernels == nullptr) {
    kernels = generic_reduce_kernels(id, step.input_type);
  }
  return std::make_unique<Reduction<Fold, kIsArg>>(step, *static_cast<const ReduceKernels<Fold>*>(kernels), machine);
}

}  // namespace
}  // namespace anydml
