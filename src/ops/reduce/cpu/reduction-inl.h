// SPDX-License-Identifier: MIT
// Reductions on the CPU. The direction in which elements are contiguous determines the method: along the reduced
// elements of each output, or across outputs whose elements are adjacent, row by row. Elements with any other layout
// are gathered first. The order in which elements are combined is always the same. Each kind of fold has its own file
// that includes this one, so that the files compile in parallel.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "backend/cpu/family.h"
#include "ops/reduce/cpu/kernels.h"
#include "ops/reduce/cpu/walk-inl.h"
#include "ops/reduce/scalar/totals.h"
#include "ops/reduce/step.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kGatheredRows = 4;
constexpr std::int64_t kSearchedRows = 32;
constexpr std::int64_t kBatch = 64;      // outputs searched together
constexpr std::int64_t kTogether = 256;  // outputs per call to the kernel `along`

// The extreme of some elements and its index.
template <class Key>
struct Found {
  Key key;
  u32 index;  // row-major within the reduced axes, whose size is below 2^32
};

template <class T>
void store_element(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(value));
}

// Stores the index as an element of the output. Sums have no index.
[[maybe_unused]] void store_index(DataType type, u32 index, std::byte* to) {
  if (element_size(type) == sizeof(u64)) {
    store_element(to, u64{index});
  } else {
    store_element(to, index);
  }
}

template <class Fold, bool kIsArg>
class Reduction final : public cpu::PreparedStep {
 public:
  using T = typename Fold::Element;
  using Accumulator = typename Fold::Accumulator;
  using Partial = std::conditional_t<kIsArg, Found<Accumulator>, Accumulator>;
  static_assert(sizeof(Partial) <= static_cast<std::size_t>(kIsArg ? 16 : 8));
  static constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  static constexpr bool kLanes = Fold::kOrdered;  // folds without an order need no lanes

  Reduction(const ReduceStep& step, const ReduceKernels<Fold>& kernels, const cpu::StepContext& context,
            cpu::Neighbors neighbors)
      : PreparedStep(pieces_of(make_cut(step, context, neighbors))),
        step_(step),
        kernels_(kernels),
        cut_(make_cut(step, context, neighbors)),
        neighbors_(std::move(neighbors)),
        target_(context.target) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * cut_.units_of_piece;
    const std::int64_t end = std::min(cut_.units, first + cut_.units_of_piece);
    Outputs outputs(step_, neighbors_, operands);
    if (!cut_.across) {
      run_along(operands, first, end, outputs);
      return;
    }
    for (std::int64_t unit = first; unit < end; ++unit) {
      run_across(operands, unit, outputs);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s, %s kernel", cut_.across ? "across" : "along", cpu::target_name(target_));
  }

 private:
  static Cut make_cut(const ReduceStep& step, const cpu::StepContext& context, const cpu::Neighbors& neighbors) {
    return cut(step, kBytes, static_cast<std::int64_t>(sizeof(Accumulator)), kLanes, context.threads,
               neighbors.before.step != nullptr);
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

  // Stores the result of a block as a partial result for the next step, or as the output's element.
  void put(std::byte* const* operands, Outputs& outputs, std::int64_t output, std::int64_t output_offset,
           std::int64_t block, const Partial& partial) const {
    if (step_.phase == ReducePhase::blocks) {
      const std::int64_t number = output * step_.blocks() + block;
      std::memcpy(operands[1] + number * static_cast<std::int64_t>(sizeof(Partial)), &partial, sizeof(Partial));
      return;
    }
    std::byte* const to = outputs.destination(output, output_offset);
    if constexpr (kIsArg) {
      store_index(step_.output_type, partial.index, to);
    } else {
      store_element(to, element_of_total<Fold>(step_.function, static_cast<u64>(step_.count), partial));
    }
  }

  // Calls the joined step before this one, which computes `count` elements starting at this offset and writes them,
  // packed, to `to`.
  void make(std::byte* const* operands, std::int64_t offset, std::int64_t count, std::byte* to) const {
    neighbors_.before.run(offset / kBytes, count, to, operands);
  }
  [[nodiscard]] bool are_computed() const { return neighbors_.before.step != nullptr; }

  // Returns `count` contiguous elements of one output's reduction, starting at `first`. They are returned in place, or
  // gathered or computed in the buffer.
  const std::byte* contiguous(std::byte* const* operands, std::int64_t input, std::int64_t first, std::int64_t count,
                              std::byte* buffer) const {
    const std::byte* source = buffer;
    std::byte* to = buffer;
    for_each_run(step_, first, count, [&](std::int64_t offset, std::int64_t stride, std::int64_t length) {
      if (are_computed()) {
        make(operands, input + offset, length, to);
        to += length * kBytes;
        return;
      }
      const std::byte* from = operands[0] + input + offset;
      if (stride == kBytes) {
        if (length == count) {
          source = from;
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
    return source;
  }

  // Used to find the extreme among contiguous elements: first the key of each stretch is computed, then the best
  // stretch is searched for the index.
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

  void run_along(std::byte* const* operands, std::int64_t unit, std::int64_t end, Outputs& outputs) const {
    alignas(64) std::byte buffer[kReduceBlock * sizeof(T)];
    Accumulator results[kTogether];
    const bool plain = step_.reduced_rank == 1 && step_.reduced[0].input == kBytes;
    // Process several outputs together if the elements of each output form a single row. If elements are computed, they
    // must fit into the buffer.
    const std::int64_t maximum = !plain || step_.blocks() > 1 ? 1
                                 : are_computed()             ? kReduceBlock / step_.count
                                                              : kTogether;
    const std::int64_t blocks = step_.blocks();
    std::int64_t known = -1;  // the output whose best key so far is `best`
    Accumulator best = Fold::kNeutral;
    while (unit < end) {
      const std::int64_t output = unit / blocks;
      const std::int64_t block = unit % blocks;
      const Offsets at = offsets_of(output);
      const std::int64_t first = block * kReduceBlock;
      const std::int64_t count = std::min(kReduceBlock, step_.count - first);
      if constexpr (kIsArg) {
        const std::byte* elements = contiguous(operands, at.input, first, count, buffer);
        const Stretch stretch = best_stretch(elements, count);
        Partial partial{stretch.key, 0};
        // A block is never chosen if an earlier block is at least as good, so its index is not needed.
        const bool last = step_.takes_last != 0;
        if (known != output || is_better(stretch.key, best, last)) {
          const std::byte* from = elements + stretch.first * kBytes;
          partial.index =
              static_cast<u32>(first + stretch.first + kernels_.find(from, stretch.count, stretch.key, last));
          known = output;
          best = stretch.key;
        }
        put(operands, outputs, output, at.output, block, partial);
        ++unit;
      } else {
        const std::int64_t together =
            std::min({maximum, kTogether, end - unit, column().size - output % column().size});
        const std::byte* elements = buffer;
        if (together > 1 && are_computed()) {
          make(operands, at.input, together * count, buffer);
        } else {
          elements = contiguous(operands, at.input, first, count, buffer);
        }
        kernels_.along(elements, column().input, together, count, results);
        for (std::int64_t i = 0; i < together; ++i) {
          put(operands, outputs, output + i, at.output + i * column().output, block, results[i]);
        }
        unit += together;
      }
    }
  }

  // Calls use(rows, stride, count, number) for the elements of a block, which are passed as rows of `width` outputs.
  // The rows passed are contiguous: in place, gathered or computed. number: the index, within the block, of the first
  // of these rows.
  template <class Use>
  void for_each_rows(std::byte* const* operands, std::int64_t input, std::int64_t first, std::int64_t count,
                     std::int64_t width, Use use) const {
    alignas(64) std::byte buffer[kGatheredRows * kRowBytes];
    const std::int64_t fitting =
        are_computed() ? std::max<std::int64_t>(1, kRowBytes / (width * kBytes)) : kGatheredRows;
    std::int64_t number = 0;
    for_each_run(step_, first, count, [&](std::int64_t offset, std::int64_t stride, std::int64_t length) {
      if (column().input == kBytes && !are_computed()) {
        use(operands[0] + input + offset, stride, length, number);
        number += length;
        return;
      }
      for (std::int64_t row = 0; row < length; row += fitting) {
        const std::int64_t rows = std::min(fitting, length - row);
        const std::int64_t from = input + offset + row * stride;
        if (are_computed()) {  // consecutive whole rows
          make(operands, from, rows * width, buffer);
        } else {
          std::byte* to = buffer;
          for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t i = 0; i < width; ++i, to += kBytes) {
              std::memcpy(to, operands[0] + from + r * stride + i * column().input, sizeof(T));
            }
          }
        }
        use(buffer, width * kBytes, rows, number);
        number += rows;
      }
    });
  }

  void run_across(std::byte* const* operands, std::int64_t unit, Outputs& outputs) const {
    const std::int64_t tile = unit % cut_.tiles;
    const std::int64_t block = unit / cut_.tiles % step_.blocks();
    const std::int64_t output = unit / cut_.tiles / step_.blocks() * column().size + tile * cut_.width;
    const Offsets at = offsets_of(output);
    const std::int64_t width = std::min(cut_.width, column().size - tile * cut_.width);
    const std::int64_t first = block * kReduceBlock;
    const std::int64_t count = std::min(kReduceBlock, step_.count - first);
    alignas(64)
        Accumulator accumulators[static_cast<std::size_t>(kLanes ? kLaneBytes : kRowBytes) / sizeof(Accumulator)];
    u32 indices[kIsArg ? static_cast<std::size_t>(kRowBytes) / sizeof(Accumulator) : 1];
    if constexpr (kIsArg) {
      search_rows(operands, at.input, first, count, width, accumulators, indices);
    } else if (kLanes && step_.has_lanes != 0) {
      add_by_lanes(operands, at.input, first, count, width, accumulators);
    } else {
      std::fill_n(accumulators, width, Fold::kNeutral);
      for_each_rows(operands, at.input, first, count, width,
                    [&](const std::byte* rows, std::int64_t stride, std::int64_t length, std::int64_t) {
                      kernels_.accumulate(accumulators, rows, stride, length, width);
                    });
    }
    for (std::int64_t i = 0; i < width; ++i) {
      if constexpr (kIsArg) {
        put(operands, outputs, output + i, at.output + i * column().output, block, {accumulators[i], indices[i]});
      } else {
        put(operands, outputs, output + i, at.output + i * column().output, block, accumulators[i]);
      }
    }
  }

  void add_by_lanes(std::byte* const* operands, std::int64_t input, std::int64_t first, std::int64_t count,
                    std::int64_t width, Accumulator* accumulators) const {
    std::int64_t lanes = 1;
    while (lanes < count && lanes < kReduceLanes) {
      lanes *= 2;
    }
    std::fill_n(accumulators, lanes * width, Fold::kNeutral);
    for_each_rows(operands, input, first, count, width,
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

  // Searches several rows at a time. If an output's extreme among these rows is better than its best key so far,
  // locates the row that contains the extreme.
  void search_rows(std::byte* const* operands, std::int64_t input, std::int64_t first, std::int64_t count,
                   std::int64_t width, Accumulator* keys, u32* indices) const {
    alignas(64) Accumulator some[static_cast<std::size_t>(kRowBytes) / sizeof(Accumulator)];
    const bool last = step_.takes_last != 0;
    bool found = false;
    for_each_rows(operands, input, first, count, width,
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

  // Whether a later key replaces an earlier one.
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
  cpu::Neighbors neighbors_;
  cpu::Target target_;
};

// The second step: combines the partial results of each output's blocks.
template <class Fold, bool kIsArg>
class Combination final : public cpu::PreparedStep {
 public:
  using Partial = typename Reduction<Fold, kIsArg>::Partial;

  Combination(const ReduceStep& step, cpu::Neighbors neighbors)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(step.outputs, outputs_of_piece(step)))),
        step_(step),
        neighbors_(std::move(neighbors)) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * outputs_of_piece(step_);
    const std::int64_t end = std::min(step_.outputs, first + outputs_of_piece(step_));
    const std::int64_t blocks = step_.blocks();
    auto* const partials = reinterpret_cast<Partial*>(operands[0]);
    Outputs outputs(step_, neighbors_, operands);
    for (std::int64_t output = first; output < end; ++output) {
      std::int64_t offset = step_.output_offset;
      std::int64_t rest = output;
      for (std::uint32_t i = step_.kept_rank; i-- > 0;) {
        offset += rest % step_.kept[i].size * step_.kept[i].output;
        rest /= step_.kept[i].size;
      }
      store(partials + output * blocks, blocks, outputs.destination(output, offset));
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "blocks combined");
  }

 private:
  static std::int64_t outputs_of_piece(const ReduceStep& step) {
    return std::max<std::int64_t>(1, kMinOfPiece / (step.blocks() * static_cast<std::int64_t>(sizeof(Partial))));
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
  cpu::Neighbors neighbors_;
};

template <class Fold, bool kIsArg = false>
std::unique_ptr<cpu::PreparedStep> prepare_fold(FoldId id, const ReduceStep& step, const cpu::StepContext& context,
                                                cpu::Neighbors neighbors) {
  if (step.phase == ReducePhase::combine) {
    return std::make_unique<Combination<Fold, kIsArg>>(step, std::move(neighbors));
  }
  const void* kernels = vector_reduce_kernels(context.target, id, step.input_type);
  if (kernels == nullptr) {
    kernels = generic_reduce_kernels(id, step.input_type);
  }
  return std::make_unique<Reduction<Fold, kIsArg>>(step, *static_cast<const ReduceKernels<Fold>*>(kernels), context,
                                                   std::move(neighbors));
}

}  // namespace
}  // namespace anydml
