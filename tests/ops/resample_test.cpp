// SPDX-License-Identifier: MIT
// Checks the CPU steps that resample against their definition, element by element: every target, pieces for several
// thread counts, layouts of all kinds, sizes around the edges of tiles and loads. The entire memory of the outputs is
// compared, so that changes to the bytes between elements are detected. tests/ops/resample_oracle.py compares the
// operators with NumPy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "anydml/anydml.h"
#include "backend/cpu/family.h"
#include "base/scalar.h"
#include "ops/family.h"
#include "ops/resample/step.h"

namespace anydml {

namespace cpu {
extern const FamilyKernels resample_family;
}  // namespace cpu

namespace {

using Random = std::mt19937_64;
constexpr std::uint64_t kSeed = 20240611;

// A step with its own memory. `first`: the offset of the element at index 0.
struct Drawn {
  ResampleStep step{};
  std::int64_t input_first = 0;
  std::int64_t output_first = 0;
  std::int64_t input_bytes = 0;
  std::int64_t output_bytes = 0;
};

// The strides of one side: dimensions in any order, with gaps and reversed, or packed.
void lay_out(Random& random, std::span<ResampleDimension> dimensions, bool packed, std::int64_t element,
             std::int64_t ResampleDimension::*size, std::int64_t ResampleDimension::*stride, std::int64_t& first,
             std::int64_t& bytes) {
  std::vector<std::size_t> order(dimensions.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::reverse(order);
  if (!packed) {
    std::ranges::shuffle(order, random);
  }
  std::int64_t next = element;
  first = 0;
  std::int64_t last = 0;
  for (const std::size_t i : order) {
    next += !packed && random() % 3 == 0 ? element * static_cast<std::int64_t>(random() % 3) : 0;
    dimensions[i].*stride = !packed && random() % 4 == 0 ? -next : next;
    const std::int64_t reach = (dimensions[i].*size - 1) * (dimensions[i].*stride);
    (reach < 0 ? first : last) += reach < 0 ? -reach : reach;
    next *= dimensions[i].*size;
  }
  bytes = first + last + element;
}

f32 mean_of(const ResampleStep& step, std::uint32_t at, const std::byte* from, const std::int64_t* outputs) {
  if (at == step.rank) {
    return visit_type(step.type, [&]<class T>() -> f32 {
      if constexpr (std::is_same_v<T, f32> || sizeof(T) < 4) {
        T element;
        std::memcpy(&element, from, sizeof(T));
        return to_resample(element);
      } else {
        return 0.0F;
      }
    });
  }
  const ResampleDimension& dimension = step.dimensions[at];
  const auto next = [&](std::int64_t i) { return mean_of(step, at + 1, from + i * dimension.input_stride, outputs); };
  if (dimension.kind == ResampleKind::linear) {
    const LinearTaps taps = linear_taps(dimension, outputs[at]);
    const f32 first = next(taps.first);
    return taps.second == 0.0F ? first : first * (1.0F - taps.second) + next(taps.first + 1) * taps.second;
  }
  if (dimension.kind == ResampleKind::stretched) {
    const StretchedTaps taps(dimension, outputs[at]);
    f32 sum = next(taps.first()) * taps.weight(0);
    for (std::int64_t t = 1; t < taps.count(); ++t) {
      sum = sum + next(taps.first() + t) * taps.weight(t);
    }
    return sum;
  }
  return next(nearest_of(dimension, outputs[at]));
}

void apply(const ResampleStep& step, const std::byte* from, std::byte* to) {
  std::int64_t count = 1;
  for (std::uint32_t i = 0; i < step.rank; ++i) {
    count *= step.dimensions[i].output_size;
  }
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t outputs[kMaxRank] = {};
    std::int64_t rest = n;
    std::byte* position = to;
    const std::byte* nearest = from;
    for (std::uint32_t i = step.rank; i-- > 0;) {
      const ResampleDimension& dimension = step.dimensions[i];
      outputs[i] = rest % dimension.output_size;
      rest /= dimension.output_size;
      position += outputs[i] * dimension.output_stride;
      nearest += step.interpolates != 0 ? 0 : nearest_of(dimension, outputs[i]) * dimension.input_stride;
    }
    if (step.interpolates == 0) {
      std::memcpy(position, nearest, element_size(step.type));
      continue;
    }
    const f32 mean = mean_of(step, 0, from, outputs);
    visit_type(step.type, [&]<class T>() {
      if constexpr (std::is_same_v<T, f32> || sizeof(T) < 4) {
        const T element = resampled<T>(mean);
        std::memcpy(position, &element, sizeof(T));
      }
    });
  }
}

// Runs the same step for each target, split for 1 to 3 threads, with its pieces in random order.
void check(const Drawn& drawn, Random& random) {
  const auto element = static_cast<std::int64_t>(element_size(drawn.step.type));
  std::vector<std::byte> from(static_cast<std::size_t>(drawn.input_bytes));
  std::vector<std::byte> to(static_cast<std::size_t>(drawn.output_bytes) + 1);
  for (std::int64_t at = 0; at + element <= drawn.input_bytes; at += element) {  // no NaN: its bits are not defined
    const auto number = static_cast<f32>(static_cast<std::int64_t>(random() % 4001) - 2000) / 16;
    visit_type(drawn.step.type, [&]<class T>() {
      const T value = [&] {
        if constexpr (is_float<T>) {
          return Scalar(f64{number}).as<T>();
        } else {
          return static_cast<T>(random());
        }
      }();
      std::memcpy(from.data() + at, &value, sizeof(T));
    });
  }
  std::ranges::generate(to, [&random] { return static_cast<std::byte>(random()); });
  std::vector<std::byte> expected = to;
  apply(drawn.step, from.data() + drawn.input_first, expected.data() + drawn.output_first);

  const Operand operands[] = {{.slot = 0, .type = drawn.step.type, .offset = 0},
                              {.slot = 1, .type = drawn.step.type, .offset = 0}};
  const Step flat{.family = static_cast<std::uint32_t>(FamilyId::resample),
                  .role = StepRole::main,
                  .operands = operands,
                  .parameters = std::as_bytes(std::span(&drawn.step, 1))};
  for (const cpu::Target target : cpu::machine_targets()) {
    for (const unsigned threads : {1U, 3U}) {
      std::vector<std::byte> found = to;
      std::byte* const memories[] = {from.data() + drawn.input_first, found.data() + drawn.output_first};
      const auto prepared = cpu::resample_family.prepare(flat, {.target = target, .threads = threads}, {});
      std::vector<std::uint64_t> scratch(prepared->scratch_bytes() / 8 + 16);
      void* room = scratch.data();
      std::size_t space = scratch.size() * 8;
      auto* const aligned = static_cast<std::byte*>(std::align(64, prepared->scratch_bytes(), room, space));
      std::vector<std::uint64_t> pieces(prepared->pieces());
      std::iota(pieces.begin(), pieces.end(), 0);
      std::ranges::shuffle(pieces, random);
      for (const std::uint64_t piece : pieces) {
        std::ranges::fill(scratch, ~std::uint64_t{0});  // NaN, to detect reads before writes
        prepared->run({.number = piece, .phase = 0, .scratch = aligned}, memories);
      }
      char text[96];
      prepared->explain(text, sizeof(text));
      ASSERT_TRUE(found == expected) << cpu::target_name(target) << ", " << threads << " threads: " << text;
    }
  }
}

constexpr DataType kMeanTypes[] = {DataType::FLOAT32, DataType::FLOAT16, DataType::INT8, DataType::UINT8};
constexpr DataType kMoveTypes[] = {DataType::UINT8, DataType::FLOAT16, DataType::FLOAT32, DataType::FLOAT64};

struct Sizes {
  std::vector<std::int64_t> copied;                            // outermost first
  std::vector<std::pair<std::int64_t, std::int64_t>> sampled;  // of the input and of the output
};

// The copied dimensions are inside or outside the sampled ones.
Drawn draw(Random& random, const Sizes& sizes, ResampleKind kind, DataType type, bool packed, bool inside) {
  Drawn drawn;
  ResampleStep& step = drawn.step;
  step.type = type;
  step.copied = static_cast<std::uint32_t>(sizes.copied.size());
  step.rank = step.copied + static_cast<std::uint32_t>(sizes.sampled.size());
  step.interpolates = kind == ResampleKind::linear || kind == ResampleKind::stretched ? 1 : 0;
  for (std::uint32_t i = 0; i < step.rank; ++i) {
    ResampleDimension& dimension = step.dimensions[i];
    const bool copies = i < step.copied;
    dimension.kind = copies ? ResampleKind::copied : kind;
    dimension.input_size = copies ? sizes.copied[i] : sizes.sampled[i - step.copied].first;
    dimension.output_size = copies ? sizes.copied[i] : sizes.sampled[i - step.copied].second;
    dimension.scale = copies ? 1.0F : static_cast<f32>(dimension.output_size) / static_cast<f32>(dimension.input_size);
    dimension.input_offset = random() % 3 == 0 ? 0.0F : 0.5F;
    dimension.output_offset = -dimension.input_offset;
    if (dimension.kind == ResampleKind::stretched && dimension.scale >= 1.0F) {
      dimension.kind = ResampleKind::linear;
    }
  }
  std::vector<ResampleDimension> order(step.dimensions, step.dimensions + step.rank);
  if (inside) {
    std::ranges::rotate(order, order.begin() + step.copied);
  }
  const auto element = static_cast<std::int64_t>(element_size(type));
  lay_out(random, order, packed, element, &ResampleDimension::input_size, &ResampleDimension::input_stride,
          drawn.input_first, drawn.input_bytes);
  lay_out(random, order, packed, element, &ResampleDimension::output_size, &ResampleDimension::output_stride,
          drawn.output_first, drawn.output_bytes);
  if (inside) {
    std::ranges::rotate(order, order.end() - step.copied);
  }
  std::ranges::copy(order, step.dimensions);
  return drawn;
}

constexpr ResampleKind kKinds[] = {ResampleKind::linear, ResampleKind::stretched, ResampleKind::decreasing,
                                   ResampleKind::increasing};

void check_all(const Sizes& sizes, Random& random) {
  for (const ResampleKind kind : kKinds) {
    const bool is_mean = kind == ResampleKind::linear || kind == ResampleKind::stretched;
    for (const DataType type : is_mean ? kMeanTypes : kMoveTypes) {
      for (const int layout : {0, 1, 2}) {
        check(draw(random, sizes, kind, type, layout < 2, layout == 1), random);
        if (testing::Test::HasFatalFailure()) {
          return;
        }
      }
    }
  }
}

TEST(Resample, AnyLayouts) {
  Random random(kSeed);
  for (int round = 0; round < 40; ++round) {
    Sizes sizes;
    for (std::uint64_t i = random() % 3; i > 0; --i) {
      sizes.copied.push_back(static_cast<std::int64_t>(1 + random() % 5));
    }
    for (std::uint64_t i = 1 + random() % 3; i > 0; --i) {
      sizes.sampled.emplace_back(2 + random() % 9, 1 + random() % 14);
    }
    check_all(sizes, random);
  }
}

TEST(Resample, SizesAroundEdges) {
  Random random(kSeed);
  check_all({.copied = {}, .sampled = {{3000, 6000}}}, random);
  check_all({.copied = {}, .sampled = {{9001, 4500}}}, random);
  check_all({.copied = {}, .sampled = {{40'001, 11}}}, random);  // taps that are far apart
  check_all({.copied = {3}, .sampled = {{5, 9}, {70, 140}}}, random);
  check_all({.copied = {2}, .sampled = {{12, 6}, {66, 33}}}, random);
  check_all({.copied = {4100}, .sampled = {{3, 5}}}, random);  // a run of more than a tile
  check_all({.copied = {}, .sampled = {{3, 4}, {4, 3}, {3, 5}, {5, 2}}}, random);
}

// More columns than the step stores taps for.
TEST(Resample, ManyColumns) {
  Random random(kSeed);
  const Sizes sizes{.copied = {}, .sampled = {{(1 << 20) - 3, (1 << 20) + 5}}};
  check(draw(random, sizes, ResampleKind::linear, DataType::FLOAT32, true, false), random);
  check(draw(random, sizes, ResampleKind::increasing, DataType::UINT8, true, false), random);
}

// ---- Operators ------------------------------------------------------------------------------------------------------

struct Call {
  std::vector<float> input;
  std::vector<float> output;
  std::int64_t input_size;
  std::int64_t output_size;
  double scale = 2;
  double before = 0.5;
  double after = -0.5;
  const char* mode = "LINEAR";
  std::int64_t antialiased = 0;
  std::uint32_t type = ANYDML_FLOAT32;

  Call(std::vector<float> x, std::int64_t outputs)
      : input(std::move(x)),
        output(static_cast<std::size_t>(outputs)),
        input_size(static_cast<std::int64_t>(input.size())),
        output_size(outputs) {}

  int run() {
    const anydml_tensor from{type, 1, &input_size, nullptr, input.data()};
    const anydml_tensor to{type, 1, &output_size, nullptr, output.data()};
    anydml_attribute attributes[6]{};
    attributes[0] = {"InterpolationMode", ANYDML_TEXT, 0, {.text = mode}};
    attributes[1] = {"RoundingDirection", ANYDML_TEXT, 0, {.text = "DECREASING"}};
    attributes[2] = {"Scales", uint32_t{ANYDML_FLOAT64} | ANYDML_ARRAY, 1, {.f64s = &scale}};
    attributes[3] = {"InputPixelOffsets", uint32_t{ANYDML_FLOAT64} | ANYDML_ARRAY, 1, {.f64s = &before}};
    attributes[4] = {"OutputPixelOffsets", uint32_t{ANYDML_FLOAT64} | ANYDML_ARRAY, 1, {.f64s = &after}};
    attributes[5] = {"Antialiased", ANYDML_INT64, 0, {.i64 = antialiased}};
    return anydml_run(nullptr, "RESAMPLE3", &from, 1, &to, 1, attributes, 6);
  }
  std::string message() {
    EXPECT_EQ(run(), ANYDML_INVALID_ARGUMENT);
    return anydml_last_error();
  }
};

// An element whose weight is 0 is not read, so an infinity next to a copied element does not turn it into NaN. With an
// offset too large for fractions, coordinates jump over a thousand elements at a time.
TEST(Resample, OffsetsWithoutFractions) {
  Random random(kSeed);
  for (const DataType type : kMeanTypes) {
    Drawn drawn = draw(random, {.copied = {}, .sampled = {{3000, 40}}}, ResampleKind::linear, type, true, false);
    ResampleDimension& dimension = drawn.step.dimensions[0];
    dimension.scale = 0.1F;
    dimension.input_offset = 1e10F;
    dimension.output_offset = -1000000064.0F;
    check(drawn, random);
  }
}

TEST(Resample, NoInfinityFromAside) {
  const float infinity = std::numeric_limits<float>::infinity();
  Call call({1, infinity, 3, infinity}, 4);
  call.scale = 1;
  call.before = call.after = 0;
  EXPECT_EQ(call.run(), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(call.output, call.input);
  Call doubled({1, infinity, -3}, 5);
  doubled.before = doubled.after = 0;
  EXPECT_EQ(doubled.run(), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(doubled.output, (std::vector<float>{1, infinity, infinity, infinity, -3}));
}

TEST(Resample, WrongNumbers) {
  Call call({1, 2}, 4);
  call.scale = 0;
  EXPECT_NE(call.message().find("Scales[0] is 0; expected a finite number above 0"), std::string::npos);
  call.scale = std::numeric_limits<double>::infinity();
  EXPECT_NE(call.message().find("Scales[0] is inf"), std::string::npos);
  call.scale = 2;
  call.before = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(call.message().find("InputPixelOffsets[0] is nan; expected a finite number"), std::string::npos);
  call.before = 0.5;
  call.type = ANYDML_INT32;
  EXPECT_NE(call.message().find("InputTensor: the type is INT32; expected FLOAT32, FLOAT16, INT8 or UINT8, unless "
                                "InterpolationMode is NEAREST_NEIGHBOR"),
            std::string::npos);
  call.mode = "NEAREST_NEIGHBOR";
  EXPECT_EQ(call.run(), ANYDML_OK) << anydml_last_error();
  Call empty({}, 3);
  EXPECT_NE(empty.message().find("InputTensor: sizes are [0]; expected an element to sample"), std::string::npos);
}

// The filter is stretched if and only if the scale is below 1. This includes scales between one half and 1.
TEST(Resample, AntialiasingOfEveryScaleBelowOne) {
  for (const double scale : {0.25, 0.5, 0.75, 0.875, 1.0, 1.5}) {
    Call plain({0, 0, 0, 8, 0, 0, 0, 0}, static_cast<std::int64_t>(8 * scale));
    plain.scale = scale;
    Call stretched = plain;
    stretched.antialiased = 1;
    ASSERT_EQ(plain.run(), ANYDML_OK) << anydml_last_error();
    ASSERT_EQ(stretched.run(), ANYDML_OK) << anydml_last_error();
    EXPECT_EQ(plain.output != stretched.output, scale < 1) << scale;
  }
}

TEST(Resample, TooManyTaps) {
  Call call(std::vector<float>(10'000, 1.0F), 10'000);
  call.scale = 1e-6;
  call.antialiased = 1;
  EXPECT_NE(call.message().find("Scales[0] is 1e-06; expected at most 67108864 taps"), std::string::npos);
}

}  // namespace
}  // namespace anydml
