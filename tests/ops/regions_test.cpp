// SPDX-License-Identifier: MIT
// Checks the CPU steps over regions of interest against their definition, bin by bin: every target, pieces for several
// thread counts, layouts and boxes of all kinds. The entire memory of the outputs is compared, so that changes to the
// bytes between elements are detected. tests/ops/regions_oracle.py compares the operators with NumPy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "anydml/anydml.h"
#include "backend/cpu/family.h"
#include "ops/family.h"
#include "ops/regions/step.h"

namespace anydml {

namespace cpu {
extern const FamilyKernels regions_family;
}  // namespace cpu

namespace {

using Random = std::mt19937_64;
constexpr std::uint64_t kSeed = 20240611;

// A tensor with its own memory.
struct Memory {
  std::vector<std::byte> bytes;
  std::int64_t first = 0;  // the element at index 0
  std::byte* at() { return bytes.data() + first; }
};

// Dimensions in any order, with gaps and reversed, or packed.
void lay_out(Random& random, const std::vector<std::int64_t>& sizes, std::int64_t element, bool packed,
             std::int64_t* strides, Memory& memory) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.rbegin(), order.rend(), 0);
  if (!packed) {
    std::ranges::shuffle(order, random);
  }
  std::int64_t next = element;
  std::int64_t last = 0;
  memory.first = 0;
  for (const std::size_t i : order) {
    next += !packed && random() % 3 == 0 ? element * static_cast<std::int64_t>(random() % 3) : 0;
    strides[i] = !packed && random() % 4 == 0 ? -next : next;
    const std::int64_t reach = (sizes[i] - 1) * strides[i];
    (reach < 0 ? memory.first : last) += reach < 0 ? -reach : reach;
    next *= sizes[i];
  }
  memory.bytes.resize(static_cast<std::size_t>(memory.first + last + element));
  std::ranges::generate(memory.bytes, [&random] { return static_cast<std::byte>(random()); });
}

template <class T>
T load(const std::byte* at) {
  T element;
  std::memcpy(&element, at, sizeof(element));
  return element;
}
template <class T>
void store(std::byte* at, f32 value) {
  const T element = narrow<T>(value);
  std::memcpy(at, &element, sizeof(element));
}

struct Drawn {
  RegionStep step{};
  Memory operands[5];
};

// ---- The definition -------------------------------------------------------------------------------------------------

template <class T>
struct Definition {
  const RegionStep& step;
  std::byte* const* operands;

  [[nodiscard]] f32 box(i64 region, i64 i) const {
    return widen(load<T>(operands[1] + region * step.boxes[0] + i * step.boxes[1]));
  }
  [[nodiscard]] i64 batch(i64 region) const {
    const i64 index = load<i32>(operands[2] + region * step.indices);
    return index >= 0 && index < step.batches ? index : -1;
  }
  [[nodiscard]] f32 element(i64 batch, i64 channel, i64 row, i64 column) const {
    return widen(load<T>(operands[0] + batch * step.image[0] + channel * step.image[1] + row * step.image[2] +
                         column * step.image[3]));
  }
  [[nodiscard]] std::byte* bin(i64 region, i64 channel, i64 row, i64 column) const {
    return operands[3] + region * step.bins[0] + channel * step.bins[1] + row * step.bins[2] + column * step.bins[3];
  }
  [[nodiscard]] RegionSamples rows(i64 region) const { return {step.axes[0], box(region, 1), box(region, 3)}; }
  [[nodiscard]] RegionSamples columns(i64 region) const { return {step.axes[1], box(region, 0), box(region, 2)}; }

  [[nodiscard]] f32 pooled(i64 region, i64 channel, i64 row, i64 column) const {
    const f32 scale = step.axes[0].scale;
    i64 corners[4];
    for (i64 i = 0; i < 4; ++i) {
      corners[i] = pooled_corner(box(region, 1 + i), scale);
    }
    const i64 from = pooled_batch(box(region, 0), step.batches);
    const PooledRange y = pooled_range(corners[1], corners[3], row, step.axes[0].bins, step.axes[0].size);
    const PooledRange x = pooled_range(corners[0], corners[2], column, step.axes[1].bins, step.axes[1].size);
    if (from < 0 || y.first == y.end || x.first == x.end) {
      return 0.0F;
    }
    f32 value = -std::numeric_limits<f32>::infinity();
    for (i64 i = y.first; i < y.end; ++i) {
      for (i64 j = x.first; j < x.end; ++j) {
        value = greater_of(value, element(from, channel, i, j));
      }
    }
    return value;
  }

  [[nodiscard]] f32 aligned(i64 region, i64 channel, i64 row, i64 column) const {
    const i64 from = batch(region);
    if (from < 0) {
      return step.outside;
    }
    const RegionSamples ys = rows(region);
    const RegionSamples xs = columns(region);
    const RegionRange y = ys.inside(row);
    const RegionRange x = xs.inside(column);
    const i64 inside = y.count() * x.count();
    const i64 all = ys.count() * xs.count();
    if (step.is_max != 0) {
      f32 value = -std::numeric_limits<f32>::infinity();
      for (i64 i = y.first; i < y.end; ++i) {
        for (i64 j = x.first; j < x.end; ++j) {
          value = greater_of(value, region_sample(ys.tap(row, i), xs.tap(column, j),
                                                  [&](i64 a, i64 b) { return element(from, channel, a, b); }));
        }
      }
      return region_max(value, inside, all, step.outside);
    }
    f32 sum = -0.0F;
    ys.for_each_element(row, y, [&](i64 i, f32 weight) {
      f32 along = -0.0F;
      xs.for_each_element(column, x, [&](i64 j, f32 other) { along += element(from, channel, i, j) * other; });
      sum += along * weight;
    });
    return region_average(sum, inside, all, step.outside);
  }

  // Collects the weights of an element of the image's gradient from all bins.
  [[nodiscard]] f32 image_gradient(i64 of, i64 channel, i64 row, i64 column) const {
    f32 sum = 0.0F;
    for (i64 region = 0; region < step.regions; ++region) {
      if (batch(region) != of) {
        continue;
      }
      const RegionSamples ys = rows(region);
      const RegionSamples xs = columns(region);
      const auto samples = static_cast<f32>(ys.count() * xs.count());
      for (i64 y = 0; y < step.axes[0].bins; ++y) {
        for (i64 x = 0; x < step.axes[1].bins; ++x) {
          f32 weights[2] = {0.0F, 0.0F};
          f32 gradient = widen(load<T>(bin(region, channel, y, x)));
          const auto find = [](const RegionTap& tap, i64 position) {
            return tap.first == position ? 1.0F - tap.second : tap.first + 1 == position ? tap.second : 0.0F;
          };
          if (step.is_max != 0) {
            const RegionPeak peak =
                find_region_peak(ys, xs, y, x, [&](i64 a, i64 b) { return element(of, channel, a, b); });
            if (peak.exists) {
              weights[0] = find(ys.tap(y, peak.numbers[0]), row);
              weights[1] = find(xs.tap(x, peak.numbers[1]), column);
            }
          } else {
            gradient /= samples;
            ys.for_each_element(y, ys.inside(y),
                                [&](i64 i, f32 weight) { weights[0] = i == row ? weight : weights[0]; });
            xs.for_each_element(x, xs.inside(x),
                                [&](i64 j, f32 weight) { weights[1] = j == column ? weight : weights[1]; });
          }
          if (weights[0] != 0.0F && weights[1] != 0.0F) {
            sum += gradient * weights[0] * weights[1];
          }
        }
      }
    }
    return sum;
  }

  void box_gradient(i64 region, f32 (&result)[4]) const {
    f32 lanes[kRegionLanes][4] = {};
    const i64 from = batch(region);
    for (i64 channel = 0; from >= 0 && channel < step.channels; ++channel) {
      for (i64 y = 0; y < step.axes[0].bins; ++y) {
        for (i64 x = 0; x < step.axes[1].bins; ++x) {
          const i64 positions[2] = {y, x};
          add_bin_gradient(
              rows(region), columns(region), positions, step.is_max != 0, widen(load<T>(bin(region, channel, y, x))),
              [&](i64 a, i64 b) { return element(from, channel, a, b); }, lanes[channel % kRegionLanes]);
        }
      }
    }
    for (i64 half = kRegionLanes / 2; half > 0; half /= 2) {
      for (i64 i = 0; i < 4 * half; ++i) {
        lanes[i / 4][i % 4] += lanes[i / 4 + half][i % 4];
      }
    }
    for (i64 i = 0; i < 4; ++i) {
      result[i] = lanes[0][i] * step.axes[i % 2 == 0 ? 1 : 0].scale;
    }
  }

  void apply() const {
    const RegionKind kind = step.kind;
    if (kind == RegionKind::region_gradient) {
      for (i64 region = 0; region < step.regions; ++region) {
        f32 result[4];
        box_gradient(region, result);
        for (i64 i = 0; i < 4; ++i) {
          store<T>(operands[4] + region * step.result[0] + i * step.result[1], result[i]);
        }
      }
      return;
    }
    const bool of_image = kind == RegionKind::image_gradient;
    const i64 outer = of_image ? step.batches : step.regions;
    const i64 height = of_image ? step.axes[0].size : step.axes[0].bins;
    const i64 width = of_image ? step.axes[1].size : step.axes[1].bins;
    for (i64 n = 0; n < outer * step.channels * height * width; ++n) {
      const i64 at[4] = {n / width / height / step.channels, n / width / height % step.channels, n / width % height,
                         n % width};
      if (of_image) {
        store<T>(operands[4] + at[0] * step.result[0] + at[1] * step.result[1] + at[2] * step.result[2] +
                     at[3] * step.result[3],
                 image_gradient(at[0], at[1], at[2], at[3]));
      } else {
        store<T>(bin(at[0], at[1], at[2], at[3]), kind == RegionKind::pooling ? pooled(at[0], at[1], at[2], at[3])
                                                                              : aligned(at[0], at[1], at[2], at[3]));
      }
    }
  }
};

// ---- Steps ----------------------------------------------------------------------------------------------------------

void check(Drawn& drawn, Random& random) {
  const int written = drawn.step.kind == RegionKind::pooling || drawn.step.kind == RegionKind::align ? 3 : 4;
  Memory& output = drawn.operands[written];
  const std::vector<std::byte> before = output.bytes;
  std::byte* addresses[5];
  std::ranges::transform(drawn.operands, addresses, [](Memory& memory) { return memory.at(); });
  if (drawn.step.type == DataType::FLOAT16) {
    Definition<f16>{drawn.step, addresses}.apply();
  } else {
    Definition<f32>{drawn.step, addresses}.apply();
  }
  const std::vector<std::byte> expected = output.bytes;
  Operand operands[5] = {};
  const Step flat{.family = static_cast<std::uint32_t>(FamilyId::regions),
                  .role = StepRole::main,
                  .operands = operands,
                  .parameters = std::as_bytes(std::span(&drawn.step, 1))};
  for (const cpu::Target target : cpu::machine_targets()) {
    for (const unsigned threads : {1U, 3U}) {
      std::ranges::copy(before, output.bytes.begin());
      const auto prepared = cpu::regions_family.prepare(flat, {.target = target, .threads = threads}, {});
      std::vector<std::uint64_t> scratch(prepared->scratch_bytes() / 8 + 16);
      void* room = scratch.data();
      std::size_t space = scratch.size() * 8;
      auto* const aligned = static_cast<std::byte*>(std::align(64, prepared->scratch_bytes(), room, space));
      std::vector<std::uint64_t> pieces(prepared->pieces());
      std::iota(pieces.begin(), pieces.end(), 0);
      std::ranges::shuffle(pieces, random);
      for (const std::uint64_t piece : pieces) {
        std::ranges::fill(scratch, ~std::uint64_t{0});  // NaN, to detect reads before writes
        prepared->run({.number = piece, .phase = 0, .scratch = aligned}, addresses);
      }
      ASSERT_TRUE(output.bytes == expected)
          << cpu::target_name(target) << ", " << threads << " threads, kind " << static_cast<int>(drawn.step.kind);
    }
  }
}

f32 draw_number(Random& random) { return static_cast<f32>(static_cast<int>(random() % 257) - 128) / 16; }

struct Sizes {
  std::int64_t regions, batches, channels, height, width, rows, columns;
};

void fill(Random& random, DataType type, Memory& memory, bool tame = true) {
  const std::size_t element = element_size(type);
  for (std::size_t at = 0; at + element <= memory.bytes.size(); at += element) {
    // No NaNs, since their bits are not defined.
    const f32 number = tame ? draw_number(random) : 0.0F;
    type == DataType::FLOAT16 ? store<f16>(memory.bytes.data() + at, number)
                              : store<f32>(memory.bytes.data() + at, number);
  }
}

Drawn draw(Random& random, RegionKind kind, const Sizes& sizes, DataType type, bool packed) {
  Drawn drawn;
  RegionStep& step = drawn.step;
  step.kind = kind;
  step.type = type;
  step.index_type = kind == RegionKind::pooling ? DataType::unknown : DataType::INT32;
  step.is_max = random() % 3 == 0 ? 1 : 0;
  step.outside = random() % 2 == 0 ? 0.0F : 1.5F;
  step.regions = sizes.regions;
  step.batches = sizes.batches;
  step.channels = sizes.channels;
  const bool offset = random() % 3 != 0;
  const auto nearest = static_cast<u32>(random() % 3 == 0 ? 1 : 0);
  const auto to_corners = static_cast<u32>(random() % 4 == 0 ? 1 : 0);
  const u32 samples[][2] = {{1, 0xffffffff}, {2, 2}, {1, 1}, {0, 3}, {20, 30}};
  const u32(&chosen)[2] = samples[random() % 5];
  for (int i = 0; i < 2; ++i) {
    step.axes[i] = {.size = i == 0 ? sizes.height : sizes.width,
                    .bins = i == 0 ? sizes.rows : sizes.columns,
                    .scale = random() % 2 == 0 ? 1.0F : 0.25F,
                    .input_offset = offset ? 0.5F : 0.0F,
                    .output_offset = offset ? -0.5F : 0.0F,
                    .minimum = chosen[0],
                    .limit = chosen[1],
                    .to_corners = to_corners,
                    .nearest = nearest};
  }
  const auto element = static_cast<std::int64_t>(element_size(type));
  const std::int64_t numbers = kind == RegionKind::pooling ? 5 : 4;
  lay_out(random, {sizes.batches, sizes.channels, sizes.height, sizes.width}, element, packed, step.image,
          drawn.operands[0]);
  lay_out(random, {sizes.regions, numbers}, element, packed, step.boxes, drawn.operands[1]);
  lay_out(random, {sizes.regions}, sizeof(i32), packed, &step.indices, drawn.operands[2]);
  lay_out(random, {sizes.regions, sizes.channels, sizes.rows, sizes.columns}, element, packed, step.bins,
          drawn.operands[3]);
  if (kind == RegionKind::image_gradient) {
    lay_out(random, {sizes.batches, sizes.channels, sizes.height, sizes.width}, element, packed, step.result,
            drawn.operands[4]);
  } else if (kind == RegionKind::region_gradient) {
    lay_out(random, {sizes.regions, 4}, element, packed, step.result, drawn.operands[4]);
  }
  fill(random, type, drawn.operands[0]);
  if (kind == RegionKind::image_gradient || kind == RegionKind::region_gradient) {
    fill(random, type, drawn.operands[3]);
  }
  constexpr f32 kStrange[] = {
      1e30F, -3e38F, std::numeric_limits<f32>::infinity(), std::numeric_limits<f32>::quiet_NaN(), 60000.0F, -1e9F};
  for (i64 region = 0; region < sizes.regions; ++region) {
    const i32 index = random() % 8 == 0 ? -1 : static_cast<i32>(random() % (static_cast<u64>(sizes.batches) + 1));
    std::memcpy(drawn.operands[2].at() + region * step.indices, &index, sizeof(index));
    for (i64 i = 0; i < numbers; ++i) {
      const auto side = static_cast<f32>(i % 2 == numbers % 2 ? sizes.width : sizes.height) / step.axes[0].scale;
      f32 number = side * (static_cast<f32>(random() % 1201) / 1000.0F - 0.1F);
      number = random() % 24 == 0 ? kStrange[random() % 6] : number;
      if (numbers == 5 && i == 0) {
        number = static_cast<f32>(index);
      }
      std::byte* const at = drawn.operands[1].at() + region * step.boxes[0] + i * step.boxes[1];
      type == DataType::FLOAT16 ? store<f16>(at, number) : store<f32>(at, number);
    }
  }
  return drawn;
}

constexpr RegionKind kKinds[] = {RegionKind::pooling, RegionKind::align, RegionKind::image_gradient,
                                 RegionKind::region_gradient};

TEST(Regions, AnyLayouts) {
  Random random(kSeed);
  for (int round = 0; round < 24; ++round) {
    const auto some = [&](std::int64_t limit) {
      return 1 + static_cast<std::int64_t>(random() % static_cast<u64>(limit));
    };
    const Sizes sizes{some(6), some(3), some(20), some(20), some(40), some(4), some(5)};
    for (const RegionKind kind : kKinds) {
      for (const DataType type : {DataType::FLOAT32, DataType::FLOAT16}) {
        Drawn drawn = draw(random, kind, sizes, type, round % 2 == 0);
        check(drawn, random);
        if (HasFatalFailure()) {
          return;
        }
      }
    }
  }
}

// Channel counts around the edges of units, contiguous rows of channels, and images larger than a unit of sums.
TEST(Regions, SizesAroundEdges) {
  Random random(kSeed);
  for (const Sizes& sizes : {Sizes{3, 1, 33, 9, 9, 7, 7}, Sizes{2, 2, 72, 5, 7, 2, 2}, Sizes{1, 1, 2, 300, 260, 3, 3},
                             Sizes{5, 2, 1, 1, 1, 1, 1}, Sizes{2, 1, 40, 3, 3, 1, 9}}) {
    for (const RegionKind kind : kKinds) {
      for (const bool packed : {true, false}) {
        const bool is_large = sizes.height > 100 && kind == RegionKind::image_gradient;
        Drawn drawn = draw(random, kind, is_large ? Sizes{1, 1, 8, 300, 70, 2, 2} : sizes, DataType::FLOAT32, packed);
        check(drawn, random);
        if (HasFatalFailure()) {
          return;
        }
      }
    }
  }
}

// The channels are the innermost dimension, so the elements of a row are not contiguous.
TEST(Regions, ChannelsLast) {
  Random random(kSeed);
  Drawn drawn = draw(random, RegionKind::align, {4, 1, 24, 9, 11, 3, 3}, DataType::FLOAT32, true);
  RegionStep& step = drawn.step;
  step.is_max = 0;
  step.image[1] = sizeof(f32);
  step.image[3] = step.image[1] * step.channels;
  step.image[2] = step.image[3] * step.axes[1].size;
  check(drawn, random);
}

// ---- Samples --------------------------------------------------------------------------------------------------------

RegionAxis axis_of(i64 size, i64 bins) {
  return {.size = size,
          .bins = bins,
          .scale = 1.0F,
          .input_offset = 0.5F,
          .output_offset = -0.5F,
          .minimum = 1,
          .limit = 0xffffffff,
          .to_corners = 0,
          .nearest = 0};
}

TEST(Regions, SamplesOfHugeBoxesAreBounded) {
  const RegionAxis axis = axis_of(100, 7);
  for (const f32 far : {1e6F, 1e9F, 1e20F, 3e38F, std::numeric_limits<f32>::infinity()}) {
    const RegionSamples samples(axis, -far, far);
    EXPECT_LE(samples.count(), kMaxRegionSamples);
    i64 elements = 0;
    for (i64 bin = 0; bin < axis.bins; ++bin) {
      const RegionRange range = samples.inside(bin);
      EXPECT_LE(range.count(), 2000) << far;
      samples.for_each_element(bin, range, [&](i64 element, f32 weight) {
        EXPECT_GE(element, 0);
        EXPECT_LT(element, axis.size);
        EXPECT_GT(weight, 0.0F);
        ++elements;
      });
    }
    EXPECT_LE(elements, max_region_elements(axis));
  }
  RegionAxis bounded = axis;
  bounded.limit = 3;
  EXPECT_EQ(RegionSamples(bounded, 0.0F, 1e20F).count(), 3);
  EXPECT_EQ(RegionSamples(axis, 0.0F, std::numeric_limits<f32>::quiet_NaN()).count(), 1);
}

// Neighboring bins share at most two elements, so the reserved space suffices.
TEST(Regions, ElementsFitTheirRoom) {
  Random random(kSeed);
  for (int round = 0; round < 4000; ++round) {
    RegionAxis axis = axis_of(1 + static_cast<i64>(random() % 20), 1 + static_cast<i64>(random() % 9));
    axis.minimum = static_cast<u32>(random() % 9);
    axis.to_corners = random() % 2 == 0 ? 1 : 0;
    axis.nearest = random() % 4 == 0 ? 1 : 0;
    const auto corner = [&] { return static_cast<f32>(static_cast<int>(random() % 700) - 100) / 16; };
    const RegionSamples samples(axis, corner(), corner());
    i64 count = 0;
    for (i64 bin = 0; bin < axis.bins; ++bin) {
      i64 before = -1;
      samples.for_each_element(bin, samples.inside(bin), [&](i64 element, f32) {
        ASSERT_GT(element, before);
        ASSERT_LT(element, axis.size);
        before = element;
        ++count;
      });
    }
    ASSERT_LE(count, max_region_elements(axis));
  }
}

// ---- Operators ------------------------------------------------------------------------------------------------------

struct Call {
  std::vector<float> image = std::vector<float>(12);
  std::vector<float> box = {0, 0, 4, 3};
  std::vector<float> output = std::vector<float>(4);
  uint32_t index = 0;
  std::vector<int64_t> image_sizes = {1, 1, 3, 4};
  double scale = 1;
  int64_t minimum = 1;
  const char* op = "ROI_ALIGN";
  const char* function = "AVERAGE";
  const anydml_device* device = nullptr;

  int run() {
    const int64_t box_sizes[] = {1, 4};
    const int64_t index_sizes[] = {1};
    const int64_t sizes[] = {1, 1, 2, 2};
    const anydml_tensor inputs[] = {
        {ANYDML_FLOAT32, static_cast<int32_t>(image_sizes.size()), image_sizes.data(), nullptr, image.data()},
        {ANYDML_FLOAT32, 2, box_sizes, nullptr, box.data()},
        {ANYDML_UINT32, 1, index_sizes, nullptr, &index}};
    const anydml_tensor to{ANYDML_FLOAT32, 4, sizes, nullptr, output.data()};
    anydml_attribute attributes[7]{};
    attributes[0] = {"ReductionFunction", ANYDML_TEXT, 0, {.text = function}};
    attributes[1] = {"InterpolationMode", ANYDML_TEXT, 0, {.text = "LINEAR"}};
    attributes[2] = {"SpatialScaleX", ANYDML_FLOAT64, 0, {.f64 = scale}};
    attributes[3] = {"SpatialScaleY", ANYDML_FLOAT64, 0, {.f64 = 1}};
    attributes[4] = {"OutOfBoundsInputValue", ANYDML_FLOAT64, 0, {.f64 = 7}};
    attributes[5] = {"MinimumSamplesPerOutput", ANYDML_INT64, 0, {.i64 = minimum}};
    attributes[6] = {"MaximumSamplesPerOutput", ANYDML_INT64, 0, {.i64 = 0xffffffff}};
    return anydml_run(device, op, inputs, 3, &to, 1, attributes, 7);
  }
  std::string message() {
    EXPECT_EQ(run(), ANYDML_INVALID_ARGUMENT);
    return anydml_last_error();
  }
};

TEST(Regions, BatchesThatDoNotExistAreOutOfBounds) {
  Call call;
  call.index = 1;
  ASSERT_EQ(call.run(), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(call.output, std::vector<float>(4, 7.0F));
}

// How many samples a bin has depends on data, so a kernel can only notice while it runs that a driver does not allow so
// many iterations. The last test of this program on such a device, which has failed then.
TEST(RegionsAtTheEnd, VeryManySamplesAreRightOrRefused) {
  for (const char* function : {"AVERAGE", "MAX"}) {
    constexpr int kSide = 700;
    Call call;
    call.function = function;
    call.image_sizes = {1, 1, kSide, kSide};
    call.image.resize(std::size_t{kSide} * kSide);
    std::mt19937 random(7);
    std::generate(call.image.begin(), call.image.end(),
                  [&] { return static_cast<float>(random() % 2000) / 16.0F - 60.0F; });
    call.box = {0, 0, kSide, kSide};
    Call expected = call;
    expected.device = anydml_find_device("cpu");
    ASSERT_EQ(expected.run(), ANYDML_OK) << anydml_last_error();
    if (call.run() != ANYDML_OK) {
      const std::string why = anydml_last_error();
      EXPECT_NE(why.find("ended a loop of a kernel too early"), std::string::npos) << why;
      continue;
    }
    EXPECT_EQ(std::memcmp(call.output.data(), expected.output.data(), sizeof(float) * 4), 0) << function;
  }
}

TEST(Regions, WrongUseIsExplained) {
  Call infinite;
  infinite.scale = HUGE_VAL;
  EXPECT_NE(infinite.message().find("SpatialScaleX"), std::string::npos) << anydml_last_error();
  Call many;
  many.minimum = 2000;
  EXPECT_NE(many.message().find("MinimumSamplesPerOutput: is 2000; expected at most 1024"), std::string::npos)
      << anydml_last_error();
  Call empty;
  empty.image_sizes = {1, 1, 0, 4};
  EXPECT_NE(empty.message().find("expected an element to sample"), std::string::npos) << anydml_last_error();
}

}  // namespace
}  // namespace anydml
