// SPDX-License-Identifier: MIT
// Pools windows on the CPU: splits a step into units and lays out the scratch memory of a unit.
#include "backend/cpu/family.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "ops/pool/cpu/kernels.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kTileElements = 4096;  // part of an input row; fits in the L1 cache
constexpr std::int64_t kMinColumns = 16;      // per tile
constexpr std::int64_t kMaxSpan = 1 << 18;    // elements of a converted row, including padding
constexpr std::int64_t kMaxWindowRows = 1 << 16;
constexpr std::int64_t kMaxIndexed = std::int64_t{1} << 31;  // elements of a plane with indices, whose taps are 32-bit
constexpr std::int64_t kMaxHeld = 512 << 10;                 // bytes of kept rows; fits in the L2 cache
constexpr std::int64_t kMinOfPiece = 16 << 10;               // elements read
constexpr std::int64_t kMaxOfPiece = 512 << 10;
constexpr std::int64_t kElementsOfPiece = 256;  // outputs computed element by element

std::int64_t value_bytes(const PoolStep& step) {
  const auto element = static_cast<std::int64_t>(element_size(step.type));
  return step.function == PoolFunction::max ? element : std::max(element, static_cast<std::int64_t>(sizeof(f32)));
}

void set_phases(const PoolAxis& last, PoolCut& cut) {
  const std::int64_t reach = (last.window - 1) * last.dilation;
  cut.phase = (cut.tile + reach / last.stride) * cut.inner + kPoolSlack;
  for (std::int64_t tap = 0; tap < last.window; ++tap) {
    const std::int64_t at = tap * last.dilation;
    if (last.stride == 1) {
      cut.taps_at.push_back(at * cut.inner);
      continue;
    }
    const std::int64_t rest = at % last.stride;
    auto found = std::ranges::find(cut.rests, rest);
    if (found == cut.rests.end()) {
      found = cut.rests.insert(found, rest);
    }
    cut.taps_at.push_back((found - cut.rests.begin()) * cut.phase + at / last.stride * cut.inner);
  }
  cut.ready_length =
      std::max(cut.span * cut.inner + kPoolSlack, static_cast<std::int64_t>(cut.rests.size()) * cut.phase + kPoolSlack);
}

void set_scratch(const PoolStep& step, PoolCut& cut) {
  const std::int64_t value = value_bytes(step);
  const std::int64_t outer = cut.window_rows / (step.rank > 1 ? step.axes[step.rank - 2].window : 1);
  const PoolAxis* const height = step.rank > 1 ? &step.axes[step.rank - 2] : nullptr;
  cut.kept_rows =
      height == nullptr
          ? 1
          : std::max<std::int64_t>(1, height->dilation > height->input
                                          ? height->input
                                          : std::min(height->input, (height->window - 1) * height->dilation + 1));
  if (outer * cut.kept_rows * cut.ready_length * value > kMaxHeld) {
    cut.kept_rows = 0;
  }
  std::int64_t at = 0;
  const auto take = [&at](std::int64_t bytes) { return std::exchange(at, at + (bytes + 63) / 64 * 64); };
  const std::int64_t row = (cut.span * cut.inner + kPoolSlack) * value;
  const std::int64_t outputs = cut.tile * cut.inner + kPoolSlack;
  cut.held = take(std::max<std::int64_t>(1, outer * cut.kept_rows) * cut.ready_length * value);
  cut.folded = take(row);
  cut.ready = take(cut.ready_length * value);
  cut.totals = take(outputs * value);
  cut.divisors = take(outputs * value);
  cut.gathered = take(std::max(row, outputs * static_cast<std::int64_t>(sizeof(f64))));
  cut.numbers = take(outputs * static_cast<std::int64_t>(sizeof(u32)));
  cut.tags = take(outer * cut.kept_rows * static_cast<std::int64_t>(sizeof(std::int64_t)));
  cut.results =
      take((std::max(kPoolResults, outputs) + kPoolSlack) * static_cast<std::int64_t>(element_size(step.type)));
  cut.bytes = at;
}

// Returns nothing if a row would be too long; the step then runs element by element.
std::optional<PoolCut> make_cut(const PoolStep& step, std::int64_t threads, bool is_joined) {
  const PoolAxis& last = step.axes[step.rank - 1];
  const auto element = static_cast<std::int64_t>(element_size(step.type));
  PoolCut cut{};
  const bool has_channels_inside =
      !is_joined && step.channel.output > 1 && step.channel.input_step == element && last.input_step != element;
  cut.inner = has_channels_inside ? step.channel.output : 1;
  cut.planes = step.batch.output * (has_channels_inside ? 1 : step.channel.output);
  cut.rows = 1;
  cut.window_rows = 1;
  for (std::uint32_t i = 0; i + 1 < step.rank; ++i) {
    cut.rows *= step.axes[i].output;
    if (step.axes[i].window > kMaxWindowRows / cut.window_rows) {
      return std::nullopt;
    }
    cut.window_rows *= step.axes[i].window;
  }
  std::int64_t plane = 1;
  for (std::uint32_t i = 0; i < step.rank; ++i) {
    plane *= step.axes[i].input;
  }
  if (step.index_type != DataType::unknown && plane > kMaxIndexed) {
    return std::nullopt;
  }
  if (last.window > kMaxSpan || last.dilation > kMaxSpan || last.stride > kMaxSpan || cut.inner > kMaxSpan) {
    return std::nullopt;
  }
  cut.tile = std::min(last.output, std::max(kMinColumns, kTileElements / (last.stride * cut.inner)));
  while (cut.tile > 1 && cut.tile * last.stride * cut.inner > kMaxSpan / 2) {
    cut.tile = (cut.tile + 1) / 2;
  }
  cut.span = (cut.tile - 1) * last.stride + (last.window - 1) * last.dilation + 1;
  if (cut.span > kMaxSpan / cut.inner) {
    return std::nullopt;
  }
  cut.tiles = ceil_div(last.output, cut.tile);
  cut.units = cut.planes * cut.tiles * cut.rows;
  set_phases(last, cut);
  set_scratch(step, cut);
  // If a plane is split into pieces, some input rows are read twice, so pieces are whole planes if possible.
  const std::int64_t of_unit = std::max<std::int64_t>(1, cut.tile * cut.inner * last.stride);
  const std::int64_t wanted = std::clamp(cut.units * of_unit / (8 * threads), kMinOfPiece, kMaxOfPiece);
  cut.units_of_piece = std::max<std::int64_t>(1, wanted / of_unit);
  if (cut.units_of_piece > cut.rows) {
    cut.units_of_piece = cut.units_of_piece / cut.rows * cut.rows;
  }
  return cut;
}

class Pooling final : public cpu::PreparedStep {
 public:
  Pooling(const PoolStep& step, PoolCut cut, PoolRun kernel, const char* name, cpu::Neighbor after)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(cut.units, cut.units_of_piece)), 1,
                     static_cast<std::size_t>(cut.bytes)),
        step_(step),
        cut_(std::move(cut)),
        kernel_(kernel),
        name_(name),
        after_(std::move(after)) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * cut_.units_of_piece;
    const PoolAddresses at{.input = operands[0],
                           .output = after_.step != nullptr ? nullptr : operands[1],
                           .indices = step_.index_type != DataType::unknown ? operands[2] : nullptr,
                           .after = &after_,
                           .operands = operands};
    kernel_(step_, cut_, first, std::min(cut_.units, first + cut_.units_of_piece), at, piece.scratch);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "windows, %s%s", name_, cut_.inner > 1 ? ", channels innermost" : "");
  }

 private:
  PoolStep step_;
  PoolCut cut_;
  PoolRun kernel_;
  const char* name_;
  cpu::Neighbor after_;
};

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context,
                                           cpu::Neighbors neighbors) {
  PoolFunction function{};
  std::memcpy(&function, flat.parameters.data(), sizeof(function));
  if (function == PoolFunction::unpool) {
    UnpoolStep step;
    std::memcpy(&step, flat.parameters.data(), sizeof(step));
    return prepare_unpooling(step);
  }
  PoolStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  if (function == PoolFunction::max_gradient) {
    return prepare_max_gradient(step, context.threads);
  }
  auto cut = make_cut(step, context.threads, neighbors.after.step != nullptr);
  if (!cut) {
    PoolCut elements{};
    elements.inner = 1;
    elements.units = step.batch.output * step.channel.output;
    for (std::uint32_t i = 0; i < step.rank; ++i) {
      elements.units *= step.axes[i].output;
    }
    elements.units_of_piece = kElementsOfPiece;
    return std::make_unique<Pooling>(step, std::move(elements), element_pool_run(step), "element by element",
                                     std::move(neighbors.after));
  }
  PoolRun run = vector_pool_run(context.target, step);
  if (run == nullptr) {
    run = generic_pool_run(step);
  }
  return std::make_unique<Pooling>(step, std::move(*cut), run, cpu::target_name(context.target),
                                   std::move(neighbors.after));
}

}  // namespace

namespace cpu {
extern const FamilyKernels pool_family;
const FamilyKernels pool_family = {.open = nullptr, .prepare = prepare, .prepare_joined = nullptr};
}  // namespace cpu

}  // namespace anydml
