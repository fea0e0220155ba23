// SPDX-License-Identifier: MIT
// Runs resampling and its gradients on a device with Vulkan. Taps and weights depend only on the sizes and scales, so
// the definitions in ops/resample/scalar compute them here, once for each dimension, when a step is prepared. The
// kernels need no coordinates, and therefore no FLOAT64.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backend/vulkan/family.h"
#include "backend/vulkan/spirv/functions.h"
#include "base/float_bits.h"
#include "base/float_environment.h"
#include "ops/resample/step.h"
#include "shaders/resample_gradient.h"
#include "shaders/resample_means.h"
#include "shaders/resample_nearest.h"

namespace anydml::vulkan {
namespace {

constexpr u32 kThreads = 256;
constexpr u64 kMaxElements = (u64{1} << 32) - kThreads;  // kernels number elements in 32 bits
constexpr u64 kMaxWords = u64{1} << 27;                  // of tables
constexpr u64 kOperations = 64;                          // for each tap, roughly
constexpr u32 kMaxLevels = kMaxRank + 1;
constexpr u32 kCopied = 0xffffffff;

// The layouts in taps.glsl.
struct LoopParameters {
  u32 size;
  u32 level;
  i64 from;
  i64 to;
};
struct LevelParameters {
  i64 stride;
  u32 spans;
  u32 weights;
};
struct TapParameters {
  u32 rank;
  u32 levels;
  LoopParameters loops[kMaxLevels];
  LevelParameters level[kMaxLevels];
};
struct TapConstants {
  u32 count;
  u32 input_is_aligned;
  u32 output_is_aligned;
  u32 divisor;
  u32 first_tap;
  u32 end_tap;
  u32 is_last_part;
};
static_assert(sizeof(TapParameters) == 8 + kMaxLevels * (24 + 16));
static_assert(static_cast<u32>(GradientDivisor::taps) == 1 && static_cast<u32>(GradientDivisor::elements) == 2);

enum class Kind : u32 { unsigned_integer, signed_integer, floating };  // resample_means.comp

// The parameters of a step, with the tables of its sampled dimensions.
class Tables {
 public:
  // A loop over a dimension, with its size and stride in the tensor that is written.
  void add_loop(i64 size, u32 level, i64 from, i64 to) {
    parameters_.loops[parameters_.rank++] = {.size = static_cast<u32>(size), .level = level, .from = from, .to = to};
    count_ *= static_cast<u64>(size);
    input_steps_ |= static_cast<u64>(from);
    output_steps_ |= static_cast<u64>(to);
  }
  // A sampled dimension with its stride in the tensor that is read. Its tables begin here.
  LevelParameters& add_level(i64 stride) {
    LevelParameters& level = parameters_.level[parameters_.levels++];
    level.stride = stride;
    level.spans = here();
    level.weights = here();
    return level;
  }
  [[nodiscard]] u32 here() const { return static_cast<u32>(words_.size()); }
  void add_word(u32 word) { words_.push_back(word); }
  void add_word(f32 number) { words_.push_back(to_bits(number)); }

  void finish() {
    // Adjacent threads write adjacent memory.
    std::stable_sort(parameters_.loops, parameters_.loops + parameters_.rank,
                     [](const LoopParameters& a, const LoopParameters& b) {
                       return (a.to < 0 ? -a.to : a.to) > (b.to < 0 ? -b.to : b.to);
                     });
    const auto fixed = std::as_bytes(std::span(&parameters_, 1));
    const auto words = std::as_bytes(std::span(words_));
    bytes_.reserve(fixed.size() + words.size());
    bytes_.insert(bytes_.end(), fixed.begin(), fixed.end());
    bytes_.insert(bytes_.end(), words.begin(), words.end());
    words_ = {};
  }

  [[nodiscard]] u32 levels() const { return parameters_.levels; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] TapConstants constants(std::size_t element, const Recorder& recorder) const {
    const auto is_aligned = [&](u64 steps, std::size_t operand) {
      return ((steps | recorder.low_bits(operand)) & (element - 1)) == 0 ? 1U : 0U;
    };
    return {.count = static_cast<u32>(count_),
            .input_is_aligned = is_aligned(input_steps_, 0),
            .output_is_aligned = is_aligned(output_steps_, 1),
            .divisor = 0,
            .first_tap = 0,
            .end_tap = UINT32_MAX,
            .is_last_part = 1};
  }
  [[nodiscard]] u64 count() const { return count_; }

 private:
  TapParameters parameters_{};
  std::vector<u32> words_;
  std::vector<std::byte> bytes_;
  u64 count_ = 1;
  u64 input_steps_ = 0;
  u64 output_steps_ = 0;
};

// The greatest number of taps of an element along each level, innermost first.
using TapCounts = std::vector<u64>;

u64 product_of(std::span<const u64> counts) {
  u64 all = 1;
  for (const u64 count : counts) {
    all = std::min(all * count, u64{1} << 30);
  }
  return all;
}
// The iterations of all loops over the taps: two nested ones, and one over the levels around them.
u64 iterations_of(const TapCounts& taps) {
  const u64 inner = product_of(std::span(taps).first(2)) + 2 * taps[1] + 2;
  return product_of(std::span(taps).subspan(2)) * (inner + 2 * taps.size()) + 64;
}

class TapRun final : public PreparedStep {
 public:
  // A step has parts if elements have more taps along the outermost level than taps_of_part.
  TapRun(Tables tables, DataType type, KernelRef kernel, const TapCounts& taps, u64 taps_of_part, f32 divisor,
         const char* name)
      : tables_(std::move(tables)),
        type_(type),
        kernel_(std::move(kernel)),
        taps_(taps.empty() ? 1 : taps.back()),
        taps_of_part_(std::min(taps_of_part, taps_)),
        operations_(kOperations * (product_of(taps) / taps_ * taps_of_part_ + 1)),
        divisor_(divisor),
        name_(name) {}

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override {
    return taps_of_part_ < taps_ ? tables_.count() * sizeof(f32) : 0;
  }
  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override { return tables_.bytes(); }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand == 1};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return {kernel_}; }
  void record(Recorder& recorder) const override {
    TapConstants constants = tables_.constants(element_size(type_), recorder);
    constants.divisor = to_bits(divisor_);
    for (u64 first = 0; first < taps_ && constants.count != 0; first += taps_of_part_) {
      if (first != 0) {
        recorder.barrier();
      }
      constants.first_tap = static_cast<u32>(first);
      constants.end_tap = static_cast<u32>(first + taps_of_part_);
      constants.is_last_part = first + taps_of_part_ >= taps_ ? 1 : 0;
      recorder.dispatch(*kernel_, (constants.count + kThreads - 1) / kThreads, std::as_bytes(std::span(&constants, 1)),
                        kThreads * operations_);
    }
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s, %u dimension%s", name_, tables_.levels(), tables_.levels() == 1 ? "" : "s");
  }

 private:
  Tables tables_;
  DataType type_;
  KernelRef kernel_;
  u64 taps_;  // along the outermost level
  u64 taps_of_part_;
  u64 operations_;  // of a thread, roughly
  f32 divisor_;
  const char* name_;
};

void add_nearest(const ResampleDimension& dimension, Tables& tables) {
  tables.add_level(dimension.input_stride);
  for (i64 o = 0; o < dimension.output_size; ++o) {
    tables.add_word(static_cast<u32>(nearest_of(dimension, o)));
  }
}

// For each output its first tap, their number and where their weights are. Returns the greatest number of taps.
u64 add_means(const ResampleDimension& dimension, Tables& tables) {
  const LevelParameters& level = tables.add_level(dimension.input_stride);
  std::vector<f32> weights;
  u64 most = 1;
  const u32 first_weight = level.spans + 3 * static_cast<u32>(dimension.output_size);
  for (i64 o = 0; o < dimension.output_size; ++o) {
    const u32 at = first_weight + static_cast<u32>(weights.size());
    if (dimension.kind == ResampleKind::stretched) {
      const StretchedTaps taps(dimension, o);
      tables.add_word(static_cast<u32>(taps.first()));
      tables.add_word(static_cast<u32>(taps.count()));
      for (i64 i = 0; i < taps.count(); ++i) {
        weights.push_back(taps.weight(i));
      }
      most = std::max(most, static_cast<u64>(taps.count()));
    } else {
      const LinearTaps taps = few_taps(dimension, o);
      tables.add_word(static_cast<u32>(taps.first));
      tables.add_word(taps.second == 0.0F ? 1U : 2U);
      weights.push_back(1.0F - taps.second);
      weights.push_back(taps.second);
      most = std::max<u64>(most, taps.second == 0.0F ? 1 : 2);
    }
    tables.add_word(at);
  }
  std::ranges::for_each(weights, [&](f32 weight) { tables.add_word(weight); });
  return most;
}

// A level with one tap of weight 1, which changes no mean.
void add_single_mean(Tables& tables) {
  LevelParameters& level = tables.add_level(0);
  tables.add_word(0U);
  tables.add_word(1U);
  tables.add_word(level.spans + 3);
  tables.add_word(1.0F);
}

// The spans of the output gradient's elements, and the weights of the input gradient's elements with the number of
// elements in their windows. Returns the greatest number of taps.
u64 add_gradient(const GradientDimension& dimension, Tables& tables) {
  LevelParameters& level = tables.add_level(dimension.forward.output_stride);
  u64 most = 1;
  for (i64 p = 0; p < dimension.forward.input_size; ++p) {
    const GradientTaps of = gradient_taps(dimension, p);
    tables.add_word(static_cast<u32>(of.first));
    tables.add_word(static_cast<u32>(of.second));
    tables.add_word(static_cast<u32>(of.end));
    most = std::max(most, static_cast<u64>(of.end - of.first));
  }
  level.weights = tables.here();
  for (i64 o = 0; o < dimension.forward.output_size; ++o) {
    tables.add_word(gradient_weight(dimension, o, false));
    tables.add_word(gradient_weight(dimension, o, true));
    tables.add_word(static_cast<u32>(window_elements(dimension, o)));
  }
  return most;
}

// A last level with one element, whose sum begins with +0 like every other and therefore changes no result.
void add_single_sum(Tables& tables) {
  LevelParameters& level = tables.add_level(0);
  for (const u32 word : {0U, 0U, 1U}) {
    tables.add_word(word);
  }
  level.weights = tables.here();
  tables.add_word(1.0F);
  tables.add_word(1.0F);
  tables.add_word(1U);
}

constexpr const char* kTooMany = "the Vulkan kernels for resampling write at most 4,294,967,040 elements";
constexpr const char* kTooLong =
    "the Vulkan kernels for resampling have tables of at most 134,217,728 words for the taps along all dimensions";
constexpr const char* kTooManyTaps =
    "an element has so many taps that this software driver would end the loops over them too early";

// The sizes of the tensor that is written, and the words of all tables.
template <class Dimension, class SizeOf, class WordsOf>
bool fits(std::span<const Dimension> dimensions, u32 copied, SizeOf size_of, WordsOf words_of, const char** why) {
  u64 elements = 1;
  f64 words = 0;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const u64 size = size_of(dimensions[i]);
    if (size > kMaxElements / elements) {
      *why = kTooMany;
      return false;
    }
    elements *= size;
    words += i < copied ? 0 : words_of(dimensions[i]);
  }
  *why = kTooLong;
  return words <= static_cast<f64>(kMaxWords);
}

f64 words_of(const ResampleDimension& dimension) {
  const auto outputs = static_cast<f64>(dimension.output_size);
  const f64 taps = dimension.kind == ResampleKind::stretched ? static_cast<f64>(max_stretched_taps(dimension)) : 2;
  return static_cast<f64>(dimension.input_size) > static_cast<f64>(UINT32_MAX) ? static_cast<f64>(kMaxWords) + 1
                                                                               : outputs * (3 + taps);
}

std::unique_ptr<PreparedStep> prepare_forward(const ResampleStep& step, Kernels& kernels, const char** why) {
  const std::span dimensions(step.dimensions, step.rank);
  if (!fits(
          dimensions, step.copied, [](const ResampleDimension& one) { return static_cast<u64>(one.output_size); },
          words_of, why)) {
    return nullptr;
  }
  Tables tables;
  TapCounts taps;
  if (step.interpolates != 0 && step.rank == step.copied + 1) {
    add_single_mean(tables);
    taps.push_back(1);
  }
  for (u32 i = 0; i < step.rank; ++i) {
    const ResampleDimension& dimension = step.dimensions[i];
    const bool is_copied = i < step.copied;
    tables.add_loop(dimension.output_size, is_copied ? kCopied : tables.levels(), dimension.input_stride,
                    dimension.output_stride);
    if (is_copied) {
      continue;
    }
    if (step.interpolates != 0) {
      taps.insert(taps.begin(), add_means(dimension, tables));
    } else {
      add_nearest(dimension, tables);
    }
  }
  tables.finish();
  const auto bytes = static_cast<u32>(element_size(step.type));
  if (step.interpolates == 0) {
    const KernelRef kernel =
        kernels.find({.key = "resample_nearest", .words = k_resample_nearest, .make = {}}, {&bytes, 1});
    return std::make_unique<TapRun>(std::move(tables), step.type, kernel, taps, 1, 1.0F, "nearest");
  }
  if (iterations_of(taps) > kernels.gpu().max_iterations) {
    *why = kTooManyTaps;
    return nullptr;
  }
  const Kind kind = step.type == DataType::INT8    ? Kind::signed_integer
                    : step.type == DataType::UINT8 ? Kind::unsigned_integer
                                                   : Kind::floating;
  const u32 constants[] = {bytes, static_cast<u32>(kind)};
  const KernelRef kernel =
      kernels.find(spirv::linked_kernel("resample_means", k_resample_means, kernels.gpu()), constants);
  return std::make_unique<TapRun>(std::move(tables), step.type, kernel, taps, taps.back(), 1.0F, "means");
}

std::unique_ptr<PreparedStep> prepare_gradient(const GradientStep& step, Kernels& kernels, const char** why) {
  const std::span dimensions(step.dimensions, step.rank);
  if (!fits(
          dimensions, step.copied,
          [](const GradientDimension& one) { return static_cast<u64>(one.forward.input_size); },
          [](const GradientDimension& one) {
            return 3 * (static_cast<f64>(one.forward.input_size) + static_cast<f64>(one.forward.output_size));
          },
          why)) {
    return nullptr;
  }
  Tables tables;
  TapCounts taps;
  for (u32 i = 0; i < step.rank; ++i) {
    const GradientDimension& dimension = step.dimensions[i];
    const bool is_copied = i < step.copied;
    tables.add_loop(dimension.forward.input_size, is_copied ? kCopied : tables.levels(),
                    dimension.forward.output_stride, dimension.forward.input_stride);
    if (!is_copied) {
      taps.push_back(add_gradient(dimension, tables));
    }
  }
  if (tables.levels() == 1) {
    add_single_sum(tables);
    taps.push_back(1);
  }
  const u64 most = std::min<u64>(4096, kernels.gpu().max_iterations / 16);
  const u64 taps_of_part = std::max<u64>(most / product_of(std::span(taps).first(taps.size() - 1)), 1);
  TapCounts of_part = taps;
  of_part.back() = std::min(taps.back(), taps_of_part);
  if (iterations_of(of_part) > kernels.gpu().max_iterations) {
    *why = kTooManyTaps;
    return nullptr;
  }
  tables.finish();
  const u32 constants[] = {static_cast<u32>(element_size(step.type)), static_cast<u32>(step.divisor)};
  const KernelRef kernel =
      kernels.find(spirv::linked_kernel("resample_gradient", k_resample_gradient, kernels.gpu()), constants);
  return std::make_unique<TapRun>(std::move(tables), step.type, kernel, taps, taps_of_part, step.taps, "gradient");
}

}  // namespace

extern const FamilyKernels resample_family;
const FamilyKernels resample_family = {
    .lacks = [](const GpuProperties&, const AskedOperator&) -> const char* { return nullptr; },
    .prepare = [](const Step& flat, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      const DefaultFloatEnvironment environment;  // the tables need the default rounding
      ResampleWay way{};
      std::memcpy(&way, flat.parameters.data(), sizeof(way));
      if (way == ResampleWay::gradient) {
        GradientStep step;
        std::memcpy(&step, flat.parameters.data(), sizeof(step));
        return prepare_gradient(step, kernels, why);
      }
      ResampleStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      return prepare_forward(step, kernels, why);
    },
};

}  // namespace anydml::vulkan
