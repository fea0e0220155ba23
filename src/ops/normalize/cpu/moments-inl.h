// SPDX-License-Identifier: MIT
// Computes the mean and variance of rows. Like kernels-inl.h, these are plain loops that the compiler vectorizes for
// each target. Each row is read three times: for the sum, for the sum of squares and for the results. Unless the row is
// too long, it stays in a cache between these passes, in place or gathered in scratch memory.

#include "ops/normalize/cpu/rows-inl.h"

inline constexpr std::int64_t kPaddedStage = kNormalizeStage + kNormalizePadding;

// The sum of squared differences of at most one block.
ANYDML_FLATTEN f32 square_block(const Elements* x, f32 mean, std::int64_t count, bool has_lanes) {
  if (!has_lanes) {
    f32 sum = kNothing<f32>;
    for (std::int64_t i = 0; i < count; ++i) {
      sum += square_of_difference(x[i], mean);
    }
    return sum;
  }
  alignas(64) f32 lanes[kReduceLanes];
  for (f32& lane : lanes) {
    lane = kNothing<f32>;
  }
  std::int64_t first = 0;
  for (; first + kReduceLanes <= count; first += kReduceLanes) {
    for (std::int64_t i = 0; i < kReduceLanes; ++i) {
      lanes[i] += square_of_difference(x[first + i], mean);
    }
  }
  for (std::int64_t i = 0; first + i < count; ++i) {
    lanes[i] += square_of_difference(x[first + i], mean);
  }
  return fold_lanes<kReduceLanes / 2>(lanes);
}

// Computes adjacent results. kScales, kBiases: whether each element has its own scale or bias.
template <bool kScales, bool kBiases>
ANYDML_FLATTEN void finish_run(const Elements* x, f32 mean, f32 root, const Elements* scale, const Elements* bias,
                               std::int64_t count, Elements* to) {
  const f32 one_factor = scale[0] / root;
  const f32 one_bias = bias[0];
  ANYDML_INDEPENDENT
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < count; ++i) {
    const f32 factor = kScales ? scale[i] / root : one_factor;
    to[i] = normalized(x[i], mean, factor, kBiases ? bias[i] : one_bias);
  }
}

#if defined(HWY_NAMESPACE)
namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<f32>;
using FloatVector = hn::Vec<Floats>;

HWY_INLINE FloatVector load_floats(const Elements* from) {
  const hn::Repartition<u8, Floats> d_bytes;
  return hn::BitCast(Floats(), hn::LoadU(d_bytes, reinterpret_cast<const u8*>(from)));
}
template <class T>
HWY_INLINE void store_floats(FloatVector values, std::byte* to) {
  if constexpr (std::is_same_v<T, f16>) {
    const hn::Rebind<hwy::float16_t, Floats> d_half;
    const hn::Repartition<u8, decltype(d_half)> d_bytes;
    hn::StoreU(hn::BitCast(d_bytes, hn::DemoteTo(d_half, values)), d_bytes, reinterpret_cast<u8*>(to));
  } else {
    const hn::Repartition<u8, Floats> d_bytes;
    hn::StoreU(hn::BitCast(d_bytes, values), d_bytes, reinterpret_cast<u8*>(to));
  }
}
#endif

// Computes adjacent results from adjacent elements if all scales and the root are ordinary numbers (is_ordinary). Each
// result is a long chain of operations, so the chains of four vectors are interleaved. Compilers do not do this on
// their own.
template <class T>
ANYDML_FLATTEN void finish_ordinary(const Elements* x, f32 mean, f32 root, const f32* scale, const f32* bias,
                                    std::int64_t count, std::byte* to) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  const OrdinaryDivisor by = OrdinaryDivisor::of(root);
  std::int64_t first = 0;
#if defined(HWY_NAMESPACE)
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const FloatVector means = hn::Set(d, mean);
  const FloatVector roots = hn::Set(d, root);
  const FloatVector inverses = hn::Set(d, by.inverse);
  const FloatVector rests = hn::Set(d, by.rest_of_inverse);
  for (; first + 4 * lanes <= count; first += 4 * lanes) {
    const f32* const own_scale = scale + first;
    const f32* const own_bias = bias + first;
    const Elements* const own = x + first;
    std::byte* const destination = to + first * kBytes;
    const FloatVector a = hn::LoadU(d, own_scale);
    const FloatVector b = hn::LoadU(d, own_scale + lanes);
    const FloatVector c = hn::LoadU(d, own_scale + 2 * lanes);
    const FloatVector e = hn::LoadU(d, own_scale + 3 * lanes);
    const FloatVector near_a = hn::MulAdd(a, inverses, hn::Mul(a, rests));
    const FloatVector near_b = hn::MulAdd(b, inverses, hn::Mul(b, rests));
    const FloatVector near_c = hn::MulAdd(c, inverses, hn::Mul(c, rests));
    const FloatVector near_e = hn::MulAdd(e, inverses, hn::Mul(e, rests));
    const FloatVector of_a = hn::MulAdd(hn::NegMulAdd(near_a, roots, a), inverses, near_a);
    const FloatVector of_b = hn::MulAdd(hn::NegMulAdd(near_b, roots, b), inverses, near_b);
    const FloatVector of_c = hn::MulAdd(hn::NegMulAdd(near_c, roots, c), inverses, near_c);
    const FloatVector of_e = hn::MulAdd(hn::NegMulAdd(near_e, roots, e), inverses, near_e);
    const FloatVector x_a = hn::Sub(load_floats(own), means);
    const FloatVector x_b = hn::Sub(load_floats(own + lanes), means);
    const FloatVector x_c = hn::Sub(load_floats(own + 2 * lanes), means);
    const FloatVector x_e = hn::Sub(load_floats(own + 3 * lanes), means);
    store_floats<T>(hn::MulAdd(x_a, of_a, hn::LoadU(d, own_bias)), destination);
    store_floats<T>(hn::MulAdd(x_b, of_b, hn::LoadU(d, own_bias + lanes)), destination + lanes * kBytes);
    store_floats<T>(hn::MulAdd(x_c, of_c, hn::LoadU(d, own_bias + 2 * lanes)), destination + 2 * lanes * kBytes);
    store_floats<T>(hn::MulAdd(x_e, of_e, hn::LoadU(d, own_bias + 3 * lanes)), destination + 3 * lanes * kBytes);
  }
#endif
  for (; first < count; ++first) {
    const T result = narrow<T>(normalized(x[first], mean, by.quotient(scale[first]), bias[first]));
    std::memcpy(to + first * kBytes, &result, sizeof(T));
  }
}

// Computes adjacent results that share one factor and one bias.
template <class T>
ANYDML_FLATTEN void finish_one(const Elements* x, f32 mean, f32 factor, f32 bias, std::int64_t count, std::byte* to) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  std::int64_t first = 0;
#if defined(HWY_NAMESPACE)
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const FloatVector means = hn::Set(d, mean);
  const FloatVector factors = hn::Set(d, factor);
  const FloatVector biases = hn::Set(d, bias);
  for (; first + 4 * lanes <= count; first += 4 * lanes) {
    const Elements* const own = x + first;
    std::byte* const destination = to + first * kBytes;
    const FloatVector a = hn::MulAdd(hn::Sub(load_floats(own), means), factors, biases);
    const FloatVector b = hn::MulAdd(hn::Sub(load_floats(own + lanes), means), factors, biases);
    const FloatVector c = hn::MulAdd(hn::Sub(load_floats(own + 2 * lanes), means), factors, biases);
    const FloatVector e = hn::MulAdd(hn::Sub(load_floats(own + 3 * lanes), means), factors, biases);
    store_floats<T>(a, destination);
    store_floats<T>(b, destination + lanes * kBytes);
    store_floats<T>(c, destination + 2 * lanes * kBytes);
    store_floats<T>(e, destination + 3 * lanes * kBytes);
  }
#endif
  for (; first < count; ++first) {
    const T result = narrow<T>(normalized(x[first], mean, factor, bias));
    std::memcpy(to + first * kBytes, &result, sizeof(T));
  }
}

ANYDML_FLATTEN bool are_ordinary(const f32* values, std::int64_t count) {
  u32 others = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    others |= is_ordinary(values[i]) ? 0U : 1U;
  }
  return others == 0;
}

inline void finish_any(const Elements* x, f32 mean, f32 root, const Elements* scale, bool scales, const Elements* bias,
                       bool biases, std::int64_t count, Elements* to) {
  if (scales) {
    (biases ? finish_run<true, true> : finish_run<true, false>)(x, mean, root, scale, bias, count, to);
  } else {
    (biases ? finish_run<false, true> : finish_run<false, false>)(x, mean, root, scale, bias, count, to);
  }
}

// The scale or the bias of rows.
template <class T>
class Coefficients {
 public:
  Coefficients(const AxisLoops& loops, const std::byte* memory, bool is_scale)
      : loops_(loops), memory_(memory), is_scale_(is_scale), absent_(is_scale ? kNoScale : kNoBias) {
    if (memory != nullptr) {
      memory_ += is_scale ? loops.input_offset : loops.output_offset;
    }
  }

  [[nodiscard]] std::int64_t stride(const AxisLoop& loop) const {
    return memory_ == nullptr ? 0 : is_scale_ ? loop.input : loop.output;
  }
  [[nodiscard]] const std::byte* at(const LoopWalk& row) const {
    return memory_ == nullptr ? nullptr : memory_ + (is_scale_ ? row.input() : row.output());
  }
  [[nodiscard]] std::int64_t offset(const RowRuns& runs) const { return is_scale_ ? runs.input() : runs.output(); }
  [[nodiscard]] std::int64_t offset(const LoopWalk& line) const { return is_scale_ ? line.input() : line.output(); }

  // Whether all rows share the same coefficients.
  [[nodiscard]] bool is_shared() const { return !varies(loops_.kept, loops_.kept_rank); }
  // Whether the coefficients vary along a row.
  [[nodiscard]] bool varies_in_row() const { return varies(loops_.reduced, loops_.reduced_rank); }

  // Loads coefficients that are `step` bytes apart, in place or gathered in the buffer. Loads only one coefficient if
  // the step is 0.
  const Elements* load(const std::byte* from, std::int64_t step, std::int64_t count, f32* buffer) const {
    if (from == nullptr) {
      return &absent_;
    }
    if (std::is_same_v<T, f32> && (step == sizeof(f32) || step == 0)) {
      return reinterpret_cast<const Elements*>(from);
    }
    gather<T>(from, step, step == 0 ? 1 : count, buffer);
    return buffer;
  }

 private:
  [[nodiscard]] bool varies(const AxisLoop* loops, std::uint32_t rank) const {
    bool any = false;
    for (std::uint32_t i = 0; i < rank; ++i) {
      any = any || stride(loops[i]) != 0;
    }
    return any;
  }

  const AxisLoops& loops_;
  const std::byte* memory_;
  bool is_scale_;
  f32 absent_;
};

// Stores moments `step` bytes apart.
inline void store_moments(const f32* values, std::int64_t count, std::int64_t step, std::byte* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * step, values + i, sizeof(f32));
  }
}

// The data that all rows of a unit need.
template <class T>
struct MomentRows {
  const MomentStep& step;
  const MomentTensors& tensors;
  const AlongRows<T>& rows;
  Coefficients<T> scale;
  Coefficients<T> bias;
  const f32* shared_scale;  // packed, shared by all rows; null if scales are loaded for each row
  const f32* shared_bias;
  bool is_ordinary;  // whether the shared scale is ordinary
  f32 count;         // elements per row
  bool has_room;
  f32* results;
  f32* scales;
  f32* biases;
  f32* held;
};

template <class T>
void finish_stretch(const MomentRows<T>& all, const LoopWalk& row, const LoopWalk& affine, const Elements* x,
                    std::int64_t first, std::int64_t count, f32 mean, f32 root) {
  const AxisLoop& inner = all.step.affine.reduced[all.step.affine.reduced_rank - 1];
  std::byte* const packed = all.rows.packed_output(row, first);
  const bool is_long = all.step.loops.count > kNormalizeStage;  // the scales of long rows are not checked in advance
  if (all.shared_scale != nullptr && packed != nullptr && is_ordinary(root) &&
      (is_long ? are_ordinary(all.shared_scale + first, count) : all.is_ordinary)) {
    finish_ordinary<T>(x, mean, root, all.shared_scale + first, all.shared_bias + first, count, packed);
    return;
  }
  if (packed != nullptr && !all.scale.varies_in_row() && !all.bias.varies_in_row()) {
    const f32 factor = all.scale.load(all.scale.at(affine), 0, 1, all.scales)[0] / root;
    finish_one<T>(x, mean, factor, all.bias.load(all.bias.at(affine), 0, 1, all.biases)[0], count, packed);
    return;
  }
  Elements* to = all.rows.destination(row, first, all.results);
  if (all.shared_scale != nullptr) {
    finish_any(x, mean, root, all.shared_scale + first, true, all.shared_bias + first, true, count, to);
    all.rows.store(row, first, count, all.results);
    return;
  }
  const std::int64_t scale_step = all.scale.stride(inner);
  const std::int64_t bias_step = all.bias.stride(inner);
  const std::byte* const scales = all.scale.at(affine);
  const std::byte* const biases = all.bias.at(affine);
  for (RowRuns runs(all.step.affine, first, count); !runs.done(); runs.next()) {
    const std::int64_t length = runs.length();
    const Elements* const scale =
        all.scale.load(scales == nullptr ? nullptr : scales + all.scale.offset(runs), scale_step, length, all.scales);
    const Elements* const bias =
        all.bias.load(biases == nullptr ? nullptr : biases + all.bias.offset(runs), bias_step, length, all.biases);
    finish_any(x, mean, root, scale, scale_step != 0, bias, bias_step != 0, length, to);
    x += length;
    to += length;
  }
  all.rows.store(row, first, count, all.results);
}

template <class T>
void moment_row(const MomentRows<T>& all, const LoopWalk& row, const LoopWalk& affine) {
  static_assert(kNormalizeStage == kReduceBlock);
  const AxisLoops& loops = all.step.loops;
  const bool has_lanes = loops.has_lanes != 0;
  const std::int64_t step = all.has_room ? 1 : 0;
  bool is_held = false;  // whether the row is now in scratch memory
  f32 mean = 0;
  f32 variance = 0;
  f32 root = 1;
  if (all.step.uses_mean != 0) {
    BlockTree<f32> tree;
    for (std::int64_t first = 0; first < loops.count; first += kReduceBlock) {
      const std::int64_t count = std::min(kReduceBlock, loops.count - first);
      tree.add(sum_block(all.rows.load(row, first, count, all.held + step * first), count, has_lanes), added);
    }
    mean = tree.total(added) / all.count;
    is_held = all.has_room && !all.rows.reads();
  }
  if (all.step.uses_variance != 0) {
    BlockTree<f32> tree;
    for (std::int64_t first = 0; first < loops.count; first += kReduceBlock) {
      const std::int64_t count = std::min(kReduceBlock, loops.count - first);
      f32* const own = all.held + step * first;
      const Elements* const x = is_held ? own : all.rows.load(row, first, count, own);
      tree.add(square_block(x, mean, count, has_lanes), added);
    }
    variance = tree.total(added) / all.count;
    root = root_of_variance(variance, all.step.epsilon);
    is_held = all.has_room && !all.rows.reads();
  }
  if (all.step.gives_moments != 0) {
    store_moments(&mean, 1, 0, all.tensors.mean + all.step.affine.input_offset + affine.input());
    store_moments(&variance, 1, 0, all.tensors.variance + all.step.affine.output_offset + affine.output());
    return;
  }
  for (std::int64_t first = 0; first < loops.count; first += kReduceBlock) {
    const std::int64_t count = std::min(kReduceBlock, loops.count - first);
    f32* const own = all.held + step * first;
    const Elements* const x = is_held ? own : all.rows.load(row, first, count, own);
    finish_stretch(all, row, affine, x, first, count, mean, root);
  }
}

// Returns the packed FLOAT32 scale or bias that all rows share, in place or copied to the buffer. Returns null if
// neither is possible.
template <class T>
const f32* shared_coefficients(const AxisLoops& loops, const Coefficients<T>& of, f32* buffer) {
  const std::byte* const memory = of.at(LoopWalk(loops.kept, loops.kept_rank, 0));
  const std::int64_t step = of.stride(loops.reduced[loops.reduced_rank - 1]);
  if (std::is_same_v<T, f32> && loops.reduced_rank == 1 && step == sizeof(f32) &&
      reinterpret_cast<std::uintptr_t>(memory) % alignof(f32) == 0) {
    return reinterpret_cast<const f32*>(memory);
  }
  if (loops.count > kNormalizeStage) {
    return nullptr;
  }
  f32* to = buffer;
  for (RowRuns runs(loops, 0, loops.count); !runs.done(); runs.next()) {
    const Elements* const found =
        of.load(memory == nullptr ? nullptr : memory + of.offset(runs), step, runs.length(), to);
    if (step == 0) {
      std::fill_n(to, runs.length(), static_cast<f32>(found[0]));
    } else if (found != to) {
      std::memcpy(to, found, static_cast<std::size_t>(runs.length()) * sizeof(f32));
    }
    to += runs.length();
  }
  return buffer;
}

template <class T>
void run_moments_along(const MomentStep& step, const NormalizeCut& cut, std::int64_t first, std::int64_t end,
                       const MomentTensors& tensors, f32* scratch) noexcept {
  const AlongRows<T> rows(step.loops, tensors.input, tensors.output);
  MomentRows<T> all{.step = step,
                    .tensors = tensors,
                    .rows = rows,
                    .scale = Coefficients<T>(step.affine, tensors.scale, true),
                    .bias = Coefficients<T>(step.affine, tensors.bias, false),
                    .shared_scale = nullptr,
                    .shared_bias = nullptr,
                    .is_ordinary = false,
                    .count = static_cast<f32>(step.loops.count),
                    .has_room = cut.has_room,
                    .results = scratch,
                    .scales = scratch + kPaddedStage,
                    .biases = scratch + 2 * kPaddedStage,
                    .held = scratch + 3 * kPaddedStage};
  if (all.scale.is_shared() && all.bias.is_shared() && all.scale.varies_in_row()) {
    all.shared_scale = shared_coefficients(step.affine, all.scale, all.scales);
    all.shared_bias = shared_coefficients(step.affine, all.bias, all.biases);
    if (all.shared_scale == nullptr || all.shared_bias == nullptr) {
      all.shared_scale = nullptr;
    } else if (step.loops.count <= kNormalizeStage) {
      all.is_ordinary = are_ordinary(all.shared_scale, step.loops.count);
    }
  }
  LoopWalk row = rows.walk(first);
  LoopWalk affine(step.affine.kept, step.affine.kept_rank, first);
  for (; first < end; ++first, row.next(), affine.next()) {
    moment_row(all, row, affine);
  }
}

// ---- Across ---------------------------------------------------------------------------------------------------------

ANYDML_FLATTEN void add_squares(const Elements* x, const f32* mean, std::int64_t width, f32* sums) {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < width; ++i) {
    sums[i] += square_of_difference(x[i], mean[i]);
  }
}
ANYDML_FLATTEN void divide_columns(f32* values, f32 count, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) {
    values[i] /= count;
  }
}
ANYDML_FLATTEN void root_columns(f32* values, f32 epsilon, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) {
    values[i] = root_of_variance(values[i], epsilon);
  }
}
ANYDML_FLATTEN void factor_columns(const Elements* scale, bool scales, const f32* roots, std::int64_t width,
                                   f32* factors) {
  if (scales) {
    for (std::int64_t i = 0; i < width; ++i) {
      factors[i] = scale[i] / roots[i];
    }
    return;
  }
  const f32 one = scale[0];
  for (std::int64_t i = 0; i < width; ++i) {
    factors[i] = one / roots[i];
  }
}
template <bool kBiases>
ANYDML_FLATTEN void finish_moment_columns(const Elements* x, const f32* mean, const f32* factors, const Elements* bias,
                                          std::int64_t width, Elements* to) {
  const f32 one_bias = bias[0];
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < width; ++i) {
    to[i] = normalized(x[i], mean[i], factors[i], kBiases ? bias[i] : one_bias);
  }
}

// Computes the sum of each column of a tile, or the sum of squared differences from the mean if a mean is given.
template <class T>
void sum_columns(Lines<T> lines, const f32* mean, f32* totals) {
  alignas(64) f32 gathered[kMaxColumns];
  alignas(64) f32 sums[kReduceLanes * kMaxLaneColumns];
  static_assert(kMaxColumns * kFewElements <= kReduceLanes * kMaxLaneColumns);
  BlockTree<f32> trees[kMaxTreeColumns];
  const Tile<T>& tile = lines.tile;
  const std::int64_t count = tile.loops.count;
  const std::int64_t width = tile.width;
  std::int64_t lanes = 1;
  while (tile.loops.has_lanes != 0 && lanes < count && lanes < kReduceLanes) {
    lanes *= 2;
  }
  for (std::int64_t block = 0; block < count; block += kReduceBlock) {
    const std::int64_t of_block = std::min(kReduceBlock, count - block);
    std::fill_n(sums, lanes * width, kNothing<f32>);
    for (std::int64_t i = 0; i < of_block; ++i, lines.next()) {
      f32* const to = sums + i % lanes * width;
      const Elements* const x = lines.load(gathered);
      if (mean == nullptr) {
        add_columns(x, width, to);
      } else {
        add_squares(x, mean, width, to);
      }
    }
    fold_columns(sums, lanes, width);
    if (count <= kReduceBlock) {
      std::copy_n(sums, width, totals);
      return;
    }
    for (std::int64_t i = 0; i < width; ++i) {
      trees[i].add(sums[i], added);
    }
  }
  for (std::int64_t i = 0; i < width; ++i) {
    totals[i] = trees[i].total(added);
  }
}

// The addresses of a tile's scale, bias and moments, and the distances between columns in bytes.
struct TileCoefficients {
  const std::byte* scale;
  const std::byte* bias;
  std::int64_t scale_step;
  std::int64_t bias_step;
  std::byte* mean;
  std::byte* variance;
  std::int64_t mean_step;
  std::int64_t variance_step;
};

template <class T>
void moment_tile(const MomentStep& step, const Tile<T>& tile, const Coefficients<T>& scale, const Coefficients<T>& bias,
                 const TileCoefficients& at, f32* packed) {
  alignas(64) f32 gathered[kMaxColumns];
  alignas(64) f32 scales[kMaxColumns];
  alignas(64) f32 biases[kMaxColumns];
  alignas(64) f32 mean[kMaxColumns];
  alignas(64) f32 roots[kMaxColumns];
  alignas(64) f32 factors[kMaxColumns];
  const std::int64_t count = tile.loops.count;
  const std::int64_t width = tile.width;
  const Lines<T> all(tile, packed);
  if (packed != nullptr) {
    for (Lines<T> lines = all; lines.number < count; lines.next()) {
      gather<T>(tile.input + lines.line.input(), tile.input_stride, width, lines.own());
    }
  }
  std::fill_n(mean, width, 0.0F);
  std::fill_n(roots, width, 1.0F);
  if (step.uses_mean != 0) {
    sum_columns(all, nullptr, mean);
    divide_columns(mean, static_cast<f32>(count), width);
  }
  if (step.uses_variance != 0) {
    sum_columns(all, mean, roots);
    divide_columns(roots, static_cast<f32>(count), width);
    if (step.gives_moments != 0) {
      store_moments(mean, width, at.mean_step, at.mean);
      store_moments(roots, width, at.variance_step, at.variance);
      return;
    }
    root_columns(roots, step.epsilon, width);
  }
  const bool one_factor = !scale.varies_in_row();  // per column
  LoopWalk affine(step.affine.reduced, step.affine.reduced_rank, 0);
  for (Lines<T> lines = all; lines.number < count; lines.next(), affine.next()) {
    if (lines.number == 0 || !one_factor) {
      const std::byte* const from = at.scale == nullptr ? nullptr : at.scale + scale.offset(affine);
      factor_columns(scale.load(from, at.scale_step, width, scales), at.scale_step != 0, roots, width, factors);
    }
    const std::byte* const from = at.bias == nullptr ? nullptr : at.bias + bias.offset(affine);
    const Elements* const added_bias = bias.load(from, at.bias_step, width, biases);
    const Elements* const x = lines.load(gathered);
    Elements* const to = tile.destination(lines.line, gathered);
    (at.bias_step != 0 ? finish_moment_columns<true> : finish_moment_columns<false>)(x, mean, factors, added_bias,
                                                                                     width, to);
    tile.store(lines.line, gathered);
  }
}

template <class T>
void run_moments_across(const MomentStep& step, const NormalizeCut& cut, std::int64_t first, std::int64_t end,
                        const MomentTensors& tensors, f32* scratch) noexcept {
  const AxisLoops& loops = step.loops;
  const std::uint32_t inner = loops.kept_rank - 1;
  const AxisLoop& column = loops.kept[inner];
  const Coefficients<T> scale(step.affine, tensors.scale, true);
  const Coefficients<T> bias(step.affine, tensors.bias, false);
  TileCoefficients at{.scale = nullptr,
                      .bias = nullptr,
                      .scale_step = scale.stride(step.affine.kept[inner]),
                      .bias_step = bias.stride(step.affine.kept[inner]),
                      .mean = nullptr,
                      .variance = nullptr,
                      .mean_step = step.affine.kept[inner].input,
                      .variance_step = step.affine.kept[inner].output};
  for (; first < end; ++first) {
    const LoopWalk walk(loops.kept, inner, first / cut.tiles);
    const LoopWalk affine(step.affine.kept, inner, first / cut.tiles);
    const std::int64_t number = first % cut.tiles * cut.width;
    const Tile<T> tile{.loops = loops,
                       .input = tensors.input + loops.input_offset + walk.input() + number * column.input,
                       .output = tensors.output + loops.output_offset + walk.output() + number * column.output,
                       .width = std::min(cut.width, column.size - number),
                       .input_stride = column.input,
                       .output_stride = column.output};
    if (tensors.scale != nullptr) {
      at.scale = scale.at(affine) + number * at.scale_step;
    }
    if (tensors.bias != nullptr) {
      at.bias = bias.at(affine) + number * at.bias_step;
    }
    if (step.gives_moments != 0) {
      at.mean = tensors.mean + step.affine.input_offset + affine.input() + number * at.mean_step;
      at.variance = tensors.variance + step.affine.output_offset + affine.output() + number * at.variance_step;
    }
    const bool is_plain = std::is_same_v<T, f32> && tile.input_stride == sizeof(f32);
    moment_tile(step, tile, scale, bias, at, cut.has_room && !is_plain ? scratch + 3 * kPaddedStage : nullptr);
  }
}

MomentRun find_moment_run(const MomentStep& step, bool across) {
  if (step.type == DataType::FLOAT16) {
    return across ? run_moments_across<f16> : run_moments_along<f16>;
  }
  return across ? run_moments_across<f32> : run_moments_along<f32>;
}

#undef ANYDML_FLATTEN
