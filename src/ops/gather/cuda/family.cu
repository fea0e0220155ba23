// SPDX-License-Identifier: MIT
// Runs the gather family's steps on a GPU. If several items of a scatter have the same target, the last one wins: a
// first pass finds it with atomic maxima, and the pass that writes skips all other items.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <vector>

#include "backend/cuda/family.h"
#include "base/integers.h"
#include "ops/gather/cuda/kernels.cuh"

namespace anydml::cuda {
namespace {

constexpr i64 kMaxIterations = i64{1} << 30;  // per launch, so that they fit in 32 bits
constexpr i64 kMaxRun = i64{1} << 30;         // bytes
constexpr u32 kMaxWord = 16;
// with more targets per item than this, clear only the targets that some item writes
constexpr i64 kManyTargets = 8;

struct PartLoop {
  i64 size;
  i64 strides[kChannels];
};

// A part of a step, small enough for its iterations to fit in one launch.
struct Part {
  i64 base[kChannels];
  std::vector<PartLoop> loops;
  i64 run;
};

void add_parts(Part part, std::vector<Part>& parts) {
  i64 iterations = 1;
  for (const PartLoop& loop : part.loops) {
    iterations *= loop.size;
  }
  if (part.run > kMaxRun) {
    Part rest = part;
    part.run = kMaxRun;
    rest.run -= kMaxRun;
    rest.base[kTable] += kMaxRun;
    rest.base[kSlices] += kMaxRun;
    add_parts(std::move(part), parts);
    add_parts(std::move(rest), parts);
    return;
  }
  // Counted in bytes, since a word may be a single byte.
  if (iterations > std::max<i64>(1, kMaxIterations / part.run)) {
    const auto longest = std::ranges::max_element(part.loops, {}, &PartLoop::size);
    Part rest = part;
    PartLoop& second = rest.loops[static_cast<std::size_t>(longest - part.loops.begin())];
    longest->size /= 2;
    second.size -= longest->size;
    for (u32 channel = 0; channel < kChannels; ++channel) {
      rest.base[channel] += longest->size * longest->strides[channel];
    }
    add_parts(std::move(part), parts);
    add_parts(std::move(rest), parts);
    return;
  }
  std::erase_if(part.loops, [](const PartLoop& loop) { return loop.size == 1; });
  parts.push_back(std::move(part));
}

[[nodiscard]] GatherNest make_nest(const Part& part, u32 word) {
  GatherNest nest{};
  nest.count = 1;
  std::ranges::copy(part.base, nest.base);
  const auto add = [&nest](const PartLoop& loop) {
    nest.sizes[nest.rank] = make_divisor(static_cast<u32>(loop.size));
    std::ranges::copy(loop.strides, nest.strides[nest.rank++]);
    nest.count *= static_cast<u32>(loop.size);
  };
  std::ranges::for_each(part.loops, add);
  if (part.run > word) {
    PartLoop words{.size = part.run / word, .strides = {}};
    words.strides[kTable] = word;
    words.strides[kSlices] = word;
    add(words);
  }
  return nest;
}

[[nodiscard]] bool is_aligned(const void* address, u64 steps, u64 bytes) {
  return (reinterpret_cast<std::uintptr_t>(address) | steps) % bytes == 0;
}

template <class Use>
void visit_element(u32 bytes, Use use) {
  switch (bytes) {
    case 1:
      return use(u8{});
    case 2:
      return use(u16{});
    case 4:
      return use(u32{});
    default:
      return use(u64{});
  }
}

class SelectionRun final : public PreparedStep {
 public:
  explicit SelectionRun(const GatherStep& step) : step_(step) {
    Part whole{.base = {}, .loops = {}, .run = step.run};
    i64 item = step.iterations(step.item_rank);
    steps_ = static_cast<u64>(step.run);
    for (u32 i = 0; i < step.rank; ++i) {
      const GatherLoop& loop = step.loops[i];
      PartLoop part_loop{.size = loop.size, .strides = {loop.table, loop.indices, loop.slices, 0, loop.number}};
      if (i < step.item_rank) {
        item /= loop.size;
        part_loop.strides[kItem] = item;
        items_.loops.push_back(part_loop);
      }
      whole.loops.push_back(part_loop);
      steps_ |= static_cast<u64>(loop.table) | static_cast<u64>(loop.slices);
      index_steps_ |= static_cast<u64>(loop.indices);
    }
    for (u32 k = 0; k < step.coordinates; ++k) {
      steps_ |= step.table[k].size == 1 ? 0 : static_cast<u64>(step.table[k].stride);
    }
    index_steps_ |= static_cast<u64>(step.coordinate_stride);
    items_.run = 1;
    add_parts(std::move(whole), parts_);
  }

  [[nodiscard]] u64 workspace_bytes() const noexcept override {
    return has_winners() ? static_cast<u64>(step_.targets) * sizeof(u32) : 0;
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte* workspace,
                                   cudaStream_t stream) const noexcept override {
    GatherTask task{};
    task.table = bases[0];
    task.indices = bases[1];
    task.slices = bases[2];
    task.index_type = step_.index_type;
    task.indices_aligned = is_aligned(bases[1], index_steps_, element_size(step_.index_type)) ? 1 : 0;
    task.coordinates = step_.coordinates;
    task.coordinate_stride = step_.coordinate_stride;
    std::ranges::copy(step_.table, task.dimensions);
    if (has_winners()) {
      task.winners = reinterpret_cast<u32*>(workspace);
      task.nest = make_nest(items_, 1);
      const u32 blocks = static_cast<u32>(ceil_div<u64>(task.nest.count, kGatherThreads));
      if (i64{task.nest.count} * kManyTargets < step_.targets) {
        find_winners<true><<<blocks, kGatherThreads, 0, stream>>>(task);
      } else if (const cudaError_t error = cudaMemsetAsync(workspace, 0, workspace_bytes(), stream);
                 error != cudaSuccess) {
        return error;
      }
      find_winners<false><<<blocks, kGatherThreads, 0, stream>>>(task);
    }
    const u64 all =
        steps_ | reinterpret_cast<std::uintptr_t>(bases[0]) | reinterpret_cast<std::uintptr_t>(bases[2]) | kMaxWord;
    const u32 word = u32{1} << std::countr_zero(all);
    for (const Part& part : parts_) {
      task.nest = make_nest(part, word);
      const u32 blocks = static_cast<u32>(ceil_div<u64>(task.nest.count, u64{kGatherThreads} * 4));
      const auto launch_words = [&]<class Word>(Word) {
        if (step_.kind == GatherKind::gather) {
          gather_words<Word><<<blocks, kGatherThreads, 0, stream>>>(task);
        } else {
          scatter_words<Word><<<blocks, kGatherThreads, 0, stream>>>(task);
        }
      };
      if (word == kMaxWord) {
        launch_words(uint4{});
      } else {
        visit_element(word, launch_words);
      }
    }
    return cudaGetLastError();
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s, %u loop%s, runs of %lld bytes",
                  step_.kind == GatherKind::gather ? "gather" : "scatter", step_.rank, step_.rank == 1 ? "" : "s",
                  static_cast<long long>(step_.run));
  }

 private:
  // A single item needs no search for a winner.
  [[nodiscard]] bool has_winners() const {
    return step_.kind == GatherKind::scatter && step_.iterations(step_.item_rank) > 1;
  }

  GatherStep step_;
  Part items_{};  // scatter: the items, without the loops over slices
  std::vector<Part> parts_;
  // The OR of all strides and the run: a power of two divides it if and only if it divides each of them.
  u64 steps_ = 0;
  u64 index_steps_ = 0;  // the OR of the strides of the indices
};

class OneHotRun final : public PreparedStep {
 public:
  explicit OneHotRun(const OneHotStep& step) : step_(step) {
    Part whole{.base = {}, .loops = {}, .run = 1};
    steps_ = static_cast<u64>(step.axis_stride) | static_cast<u64>(step.on_offset);
    for (u32 i = 0; i < step.rank; ++i) {
      whole.loops.push_back(
          {.size = step.loops[i].size, .strides = {0, step.loops[i].indices, step.loops[i].output, 0, 0}});
      steps_ |= static_cast<u64>(step.loops[i].output);
      index_steps_ |= static_cast<u64>(step.loops[i].indices);
    }
    whole.loops.push_back({.size = step.depth, .strides = {1, 0, step.axis_stride, 0, 0}});
    // Adjacent threads write adjacent memory.
    std::ranges::stable_sort(whole.loops, std::ranges::greater(), [](const PartLoop& loop) {
      return loop.strides[kSlices] < 0 ? -loop.strides[kSlices] : loop.strides[kSlices];
    });
    add_parts(std::move(whole), parts_);
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    OneHotTask task{};
    task.indices = bases[0];
    task.off = bases[1];
    task.on = bases[1] + step_.on_offset;
    task.output = bases[2];
    task.index_type = step_.index_type;
    task.indices_aligned = is_aligned(bases[0], index_steps_, element_size(step_.index_type)) ? 1 : 0;
    task.elements_aligned =
        is_aligned(bases[1], steps_, step_.element) && is_aligned(bases[2], steps_, step_.element) ? 1 : 0;
    task.depth = step_.depth;
    for (const Part& part : parts_) {
      task.nest = make_nest(part, 1);
      const u32 blocks = static_cast<u32>(ceil_div<u64>(task.nest.count, u64{kGatherThreads} * 4));
      visit_element(step_.element, [&]<class T>(T) { fill_one_hot<T><<<blocks, kGatherThreads, 0, stream>>>(task); });
    }
    return cudaGetLastError();
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "one-hot of %lld", static_cast<long long>(step_.depth));
  }

 private:
  OneHotStep step_;
  std::vector<Part> parts_;
  u64 steps_ = 0;
  u64 index_steps_ = 0;
};

class NonzeroRun final : public PreparedStep {
 public:
  NonzeroRun(const NonzeroStep& step, bool has_count, bool has_coordinates)
      : step_(step), has_count_(has_count), has_coordinates_(has_coordinates) {}

  [[nodiscard]] u64 workspace_bytes() const noexcept override { return u64{tiles()} * sizeof(u32); }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte* workspace,
                                   cudaStream_t stream) const noexcept override {
    NonzeroTask task{};
    task.input = bases[0];
    task.total = has_count_ ? bases[1] : nullptr;
    task.coordinates = has_coordinates_ ? bases[2] : nullptr;
    task.counts = reinterpret_cast<u32*>(workspace);
    task.mask = step_.mask;
    task.count = static_cast<u32>(step_.count);
    task.tiles = tiles();
    task.rank = step_.rank;
    task.columns = step_.columns;
    u64 steps = 0;
    for (u32 i = 0; i < step_.rank; ++i) {
      task.sizes[i] = make_divisor(static_cast<u32>(std::max<i64>(1, step_.sizes[i])));
      task.strides[i] = step_.strides[i];
      steps |= static_cast<u64>(step_.strides[i]);
    }
    task.row_stride = step_.row_stride;
    task.column_stride = step_.column_stride;
    task.input_aligned = is_aligned(bases[0], steps, step_.element) ? 1 : 0;
    task.total_aligned = is_aligned(task.total, 0, sizeof(u32)) ? 1 : 0;
    const auto row_steps = static_cast<u64>(step_.row_stride) | static_cast<u64>(step_.column_stride);
    task.coordinates_aligned = is_aligned(task.coordinates, row_steps, sizeof(u32)) ? 1 : 0;
    visit_element(step_.element, [&]<class T>(T) {
      if (task.tiles > 0) {
        count_nonzero<T><<<task.tiles, kGatherThreads, 0, stream>>>(task);
      }
      add_up_nonzero<<<1, kSumThreads, 0, stream>>>(task);
      if (task.tiles > 0 && task.columns > 0 && task.coordinates != nullptr) {
        write_nonzero<T><<<task.tiles, kGatherThreads, 0, stream>>>(task);
      }
    });
    return cudaGetLastError();
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%u tile%s of elements", tiles(), tiles() == 1 ? "" : "s");
  }

 private:
  [[nodiscard]] u32 tiles() const {
    return static_cast<u32>(ceil_div<u64>(static_cast<u64>(step_.count), kNonzeroTile));
  }

  NonzeroStep step_;
  bool has_count_;  // false if nothing reads the count, in which case it has no address
  bool has_coordinates_;
};

template <class Parameters>
[[nodiscard]] Parameters read(const Step& flat) {
  Parameters step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  return step;
}

std::unique_ptr<PreparedStep> prepare(const Step& flat, const GpuProperties&, Neighbors, const char** why) {
  switch (read<GatherKind>(flat)) {
    case GatherKind::one_hot:
      return std::make_unique<OneHotRun>(read<OneHotStep>(flat));
    case GatherKind::nonzero:
      return std::make_unique<NonzeroRun>(read<NonzeroStep>(flat), has_address(flat.operands[1].slot),
                                          has_address(flat.operands[2].slot));
    case GatherKind::gather:
    case GatherKind::scatter:
      break;
  }
  const auto step = read<GatherStep>(flat);
  if (step.kind == GatherKind::scatter && step.iterations(step.item_rank) > kMaxIterations) {
    *why = "the CUDA backend supports scatters of at most 2^30 items";
    return nullptr;
  }
  return std::make_unique<SelectionRun>(step);
}

}  // namespace

extern const FamilyKernels gather_family;
const FamilyKernels gather_family = {.prepare = prepare};

}  // namespace anydml::cuda
