// SPDX-License-Identifier: MIT
// Checks gradients against their definition. The steps of resampling and average pooling run on the CPU for every
// target and several thread counts, and are compared with a reference that scatters. The gradients of max pooling and
// of slices run through the C API. The entire memory of the outputs is compared, so that changes to the bytes between
// elements are detected. tests/ops/gradient_oracle.py compares the operators with NumPy and PyTorch.
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
#include "base/scalar.h"
#include "ops/family.h"
#include "ops/resample/step.h"
#include "support/graph_twin.h"
#include "support/layouts.h"
#include "support/sanitizers.h"
#include "support/tensor.h"

namespace anydml {

namespace cpu {
extern const FamilyKernels resample_family;
}  // namespace cpu

namespace test {
namespace {

// ---- Steps ----------------------------------------------------------------------------------------------------------

struct Case {
  std::vector<i64> copied;                 // outermost first
  std::vector<GradientDimension> sampled;  // strides are set later
};

GradientDimension sampled(i64 output, i64 input, ResampleKind kind, f32 offset = 0.5F) {
  GradientDimension result{};
  result.forward = {.input_size = output,
                    .output_size = input,
                    .input_stride = 0,
                    .output_stride = 0,
                    .kind = kind,
                    .scale = static_cast<f32>(input) / static_cast<f32>(output),
                    .input_offset = offset,
                    .output_offset = -offset};
  result.window = result.stride = 1;
  return result;
}
GradientDimension windowed(i64 output, i64 window, i64 stride, i64 padding) {
  GradientDimension result = sampled(output, (output + 2 * padding - window) / stride + 1, ResampleKind::window);
  result.window = window;
  result.stride = stride;
  result.padding = padding;
  return result;
}

// Adds the elements of the input gradient one by one, along one dimension after another.
std::vector<f32> add_along(const std::vector<f32>& from, const GradientDimension& dimension, i64 outer, i64 inner) {
  const i64 inputs = dimension.forward.output_size;
  const i64 outputs = dimension.forward.input_size;
  std::vector<f32> sums(static_cast<std::size_t>(outer * outputs * inner), 0.0F);
  const auto add = [&](i64 o, i64 p, f32 weight) {
    for (i64 a = 0; a < outer; ++a) {
      for (i64 b = 0; b < inner; ++b) {
        f32& sum = sums[static_cast<std::size_t>((a * outputs + p) * inner + b)];
        sum = sum + from[static_cast<std::size_t>((a * inputs + o) * inner + b)] * weight;
      }
    }
  };
  for (i64 o = 0; o < inputs; ++o) {
    if (dimension.forward.kind == ResampleKind::window) {
      const i64 start = o * dimension.stride - dimension.padding;
      for (i64 p = std::max<i64>(0, start); p < std::min(outputs, start + dimension.window); ++p) {
        add(o, p, 1.0F);
      }
      continue;
    }
    const LinearTaps taps = few_taps(dimension.forward, o);
    add(o, taps.first, 1.0F - taps.second);
    if (taps.second != 0.0F) {
      add(o, taps.first + 1, taps.second);
    }
  }
  return sums;
}

template <class T>
class StepTest {
 public:
  StepTest(const Case& drawn, GradientDivisor divisor, Random& random, int order)
      : random_(random), divisor_(divisor), order_(order) {
    step_.way = ResampleWay::gradient;
    step_.type = kDataTypeOf<T>;
    step_.copied = static_cast<u32>(drawn.copied.size());
    step_.rank = step_.copied + static_cast<u32>(drawn.sampled.size());
    step_.divisor = divisor;
    step_.taps = 1.0F;
    for (u32 i = 0; i < step_.rank; ++i) {
      step_.dimensions[i] = i < step_.copied ? sampled(drawn.copied[i], drawn.copied[i], ResampleKind::copied)
                                             : drawn.sampled[i - step_.copied];
      step_.taps *= static_cast<f32>(step_.dimensions[i].window);
      from_sizes_.push_back(step_.dimensions[i].forward.output_size);
      to_sizes_.push_back(step_.dimensions[i].forward.input_size);
    }
  }

  void run() {
    const Layout in = layout(from_sizes_, true);
    const Layout out = layout(to_sizes_, false);
    Memory<T> from(in, random_);
    for (i64 n = 0; n < in.count(); ++n) {
      const auto number = static_cast<f64>(static_cast<i64>(random_() % 4001) - 2000) / 16;
      from.store(in.offset(n), Scalar(random_() % 32 == 0 ? -0.0 : number).as<T>());
    }
    Memory<T> to(out, random_);
    Memory<T> expected = to;
    const std::vector<f32> sums = define(from, in);
    for (i64 n = 0; n < out.count(); ++n) {
      expected.store(out.offset(n), narrow<T>(sums[static_cast<std::size_t>(n)]));
    }
    for (u32 i = 0; i < step_.rank; ++i) {
      step_.dimensions[i].forward.output_stride = in.strides[i] * i64{sizeof(T)};
      step_.dimensions[i].forward.input_stride = out.strides[i] * i64{sizeof(T)};
    }
    const Operand operands[] = {{.slot = 0, .type = step_.type, .offset = 0},
                                {.slot = 1, .type = step_.type, .offset = 0}};
    const Step flat{.family = static_cast<std::uint32_t>(FamilyId::resample),
                    .role = StepRole::main,
                    .operands = operands,
                    .parameters = std::as_bytes(std::span(&step_, 1))};
    for (const cpu::Target target : cpu::machine_targets()) {
      for (const unsigned threads : {1U, 3U}) {
        Memory<T> found = to;
        std::byte* const memories[] = {reinterpret_cast<std::byte*>(from.data()),
                                       reinterpret_cast<std::byte*>(found.data())};
        const auto prepared = cpu::resample_family.prepare(flat, {.target = target, .threads = threads}, {});
        std::vector<u64> scratch(prepared->scratch_bytes() / 8 + 16);
        void* room = scratch.data();
        std::size_t space = scratch.size() * 8;
        auto* const aligned = static_cast<std::byte*>(std::align(64, prepared->scratch_bytes(), room, space));
        std::vector<u64> pieces(prepared->pieces());
        std::iota(pieces.begin(), pieces.end(), 0);
        std::ranges::shuffle(pieces, random_);
        for (const u64 piece : pieces) {
          std::ranges::fill(scratch, ~u64{0});  // NaN, to detect reads before writes
          prepared->run({.number = piece, .phase = 0, .scratch = aligned}, memories);
        }
        char text[96];
        prepared->explain(text, sizeof(text));
        ASSERT_TRUE(found.equals(expected, out, 0))
            << cpu::target_name(target) << ", " << threads << " threads: " << text << ", order " << order_ << ", sizes "
            << to_sizes_.back();
      }
    }
  }

 private:
  // Packed, with the copied dimensions innermost, or in any layout.
  Layout layout(const std::vector<i64>& sizes, bool is_input) {
    if (order_ == 2) {
      return random_layout(sizes, random_, is_input);
    }
    Layout result{sizes, std::vector<i64>(sizes.size())};
    i64 stride = 1;
    const auto add = [&](std::size_t first, std::size_t end) {
      for (std::size_t i = end; i-- > first;) {
        result.strides[i] = stride;
        stride *= sizes[i];
      }
    };
    if (order_ == 1) {
      add(0, step_.copied);
    }
    add(step_.copied, sizes.size());
    if (order_ == 0) {
      add(0, step_.copied);
    }
    return result;
  }

  std::vector<f32> define(const Memory<T>& from, const Layout& in) const {
    std::vector<f32> values;
    for (i64 n = 0; n < in.count(); ++n) {
      i64 elements = 1;
      i64 rest = n;
      for (u32 i = step_.rank; i-- > 0; rest /= from_sizes_[i]) {
        elements *= window_elements(step_.dimensions[i], rest % from_sizes_[i]);
      }
      const f32 divisor = divisor_ == GradientDivisor::elements ? static_cast<f32>(elements) : step_.taps;
      const f32 value = widen(from.load(in.offset(n)));
      values.push_back(divisor_ == GradientDivisor::none ? value : value / divisor);
    }
    i64 outer = 1;
    for (u32 i = 0; i < step_.rank; ++i) {
      i64 inner = 1;
      for (u32 k = i + 1; k < step_.rank; ++k) {
        inner *= from_sizes_[k];
      }
      if (i >= step_.copied) {
        values = add_along(values, step_.dimensions[i], outer, inner);
      }
      outer *= to_sizes_[i];
    }
    return values;
  }

  Random& random_;
  GradientDivisor divisor_;
  int order_;
  GradientStep step_{};
  std::vector<i64> from_sizes_;
  std::vector<i64> to_sizes_;
};

void check(const Case& drawn, GradientDivisor divisor, Random& random) {
  for (const int order : {0, 1, 2}) {
    StepTest<f32>(drawn, divisor, random, order).run();
    StepTest<f16>(drawn, divisor, random, order).run();
  }
}

TEST(Gradient, AnyLayouts) {
  Random random(11);
  constexpr ResampleKind kKinds[] = {ResampleKind::linear, ResampleKind::decreasing, ResampleKind::increasing,
                                     ResampleKind::window};
  for (int round = 0; round < (kSanitized ? 12 : 40) && !HasFatalFailure(); ++round) {
    Case drawn;
    for (u64 i = random() % 3; i > 0; --i) {
      drawn.copied.push_back(static_cast<i64>(1 + random() % 5));
    }
    const ResampleKind kind = kKinds[random() % 4];
    for (u64 i = 1 + random() % 3; i > 0; --i) {
      const auto size = static_cast<i64>(1 + random() % 12);
      if (kind == ResampleKind::window) {
        const i64 window = 1 + static_cast<i64>(random() % 4);
        drawn.sampled.push_back(
            windowed(size + window, window, 1 + static_cast<i64>(random() % 3), static_cast<i64>(random() % 3)));
      } else {
        drawn.sampled.push_back(sampled(size, static_cast<i64>(1 + random() % 30), kind, random() % 3 == 0 ? 0 : 0.5F));
      }
    }
    check(drawn,
          kind != ResampleKind::window ? GradientDivisor::none
          : random() % 2 == 0          ? GradientDivisor::taps
                                       : GradientDivisor::elements,
          random);
  }
}

TEST(Gradient, SizesAroundEdges) {
  Random random(12);
  const auto linear = [](i64 output, i64 input) { return sampled(output, input, ResampleKind::linear); };
  check({{3}, {linear(35, 70), linear(70, 140)}}, GradientDivisor::none, random);
  check({{2}, {linear(20, 60), linear(40, 120)}}, GradientDivisor::none, random);
  check({{2}, {linear(8, 32), linear(41, 164)}}, GradientDivisor::none, random);
  check({{2}, {linear(66, 33), linear(70, 35)}}, GradientDivisor::none, random);
  check({{}, {linear(5000, 10'000)}}, GradientDivisor::none, random);
  check({{}, {linear(2, 40'000)}}, GradientDivisor::none, random);  // sums over several chunks
  check({{}, {linear(1, 20'000)}}, GradientDivisor::none, random);
  check({{4100}, {linear(3, 5)}}, GradientDivisor::none, random);  // a run of more than a tile
  check({{}, {linear(3, 4), linear(4, 9), linear(3, 5), linear(5, 2)}}, GradientDivisor::none, random);
  check({{2}, {windowed(40, 3, 1, 1), windowed(70, 3, 1, 1)}}, GradientDivisor::elements, random);
  check({{2}, {windowed(41, 3, 2, 1), windowed(71, 3, 2, 1)}}, GradientDivisor::elements, random);
  check({{2}, {windowed(40, 2, 2, 0), windowed(80, 2, 2, 0)}}, GradientDivisor::taps, random);
  check({{}, {windowed(9, 9, 1, 4), windowed(50, 20, 3, 7)}}, GradientDivisor::elements, random);
}

// More elements than the step stores taps for.
TEST(Gradient, LongDimensions) {
  Random random(13);
  const Case drawn{.copied = {}, .sampled = {sampled((1 << 20) + 3, (1 << 19) + 5, ResampleKind::linear)}};
  StepTest<f32>(drawn, GradientDivisor::none, random, 0).run();
}

// Offsets too large for fractions, and offsets that send everything to one edge.
TEST(Gradient, WildOffsets) {
  Random random(14);
  for (const auto& [before, after] :
       {std::pair(1e10F, -1000000064.0F), std::pair(-1e6F, 0.0F), std::pair(1e6F, 0.0F)}) {
    Case drawn{.copied = {2}, .sampled = {sampled(300, 400, ResampleKind::linear)}};
    drawn.sampled[0].forward.input_offset = before;
    drawn.sampled[0].forward.output_offset = after;
    check(drawn, GradientDivisor::none, random);
  }
}

// ---- Operators ------------------------------------------------------------------------------------------------------

anydml_attribute integers(const char* name, const std::vector<i64>& values) {
  anydml_attribute attribute = {
      name, uint32_t{ANYDML_INT64} | uint32_t{ANYDML_ARRAY}, static_cast<std::uint32_t>(values.size()), {}};
  attribute.value.i64s = values.data();
  return attribute;
}

struct PoolCase {
  std::vector<i64> sizes;  // of the output gradient
  std::vector<i64> window;
  std::vector<i64> stride;
  std::vector<i64> padding;
  std::vector<i64> dilation;

  [[nodiscard]] std::vector<i64> gradient_sizes() const {
    std::vector<i64> result = sizes;
    for (std::size_t i = 0; i < window.size(); ++i) {
      result[i + 2] = (sizes[i + 2] + 2 * padding[i] - dilation[i] * (window[i] - 1) - 1) / stride[i] + 1;
    }
    return result;
  }
  [[nodiscard]] std::vector<anydml_attribute> attributes() const {
    return {integers("Strides", stride), integers("WindowSize", window), integers("StartPadding", padding),
            integers("EndPadding", padding), integers("Dilations", dilation)};
  }
};

template <class T>
void check_max(const PoolCase& given, Random& random) {
  const std::vector<i64> windows = given.gradient_sizes();
  const Layout in = random_layout(given.sizes, random, true);
  const Layout by = random_layout(windows, random, true);
  const Layout out = random_layout(given.sizes, random, false);
  Memory<T> x(in, random);
  Memory<T> gradient(by, random);
  for (i64 n = 0; n < in.count(); ++n) {  // few distinct numbers, so that many are equal; zeros of both signs; NaN
    const u64 bits = random() % 9;
    x.store(in.offset(n), Scalar(bits == 0   ? std::numeric_limits<f64>::quiet_NaN()
                                 : bits == 1 ? -0.0
                                             : static_cast<f64>(bits) - 4)
                              .as<T>());
  }
  for (i64 n = 0; n < by.count(); ++n) {
    gradient.store(by.offset(n), Scalar(static_cast<f64>(random() % 1001) / 8 - 60).as<T>());
  }
  Memory<T> to(out, random);
  Memory<T> expected = to;
  std::vector<f32> sums(static_cast<std::size_t>(out.count()), 0.0F);
  const i64 plane = std::accumulate(given.sizes.begin() + 2, given.sizes.end(), i64{1}, std::multiplies());
  const i64 of_plane = std::accumulate(windows.begin() + 2, windows.end(), i64{1}, std::multiplies());
  const i64 positions = std::accumulate(given.window.begin(), given.window.end(), i64{1}, std::multiplies());
  for (i64 n = 0; n < by.count(); ++n) {
    i64 best = -1;
    f32 maximum = 0;
    for (i64 k = 0; k < positions; ++k) {
      i64 at = 0;
      i64 step = 1;
      i64 number = n % of_plane;
      i64 tap = k;
      bool exists = true;
      for (std::size_t i = given.window.size(); i-- > 0;) {
        const i64 position =
            number % windows[i + 2] * given.stride[i] + tap % given.window[i] * given.dilation[i] - given.padding[i];
        number /= windows[i + 2];
        tap /= given.window[i];
        exists = exists && position >= 0 && position < given.sizes[i + 2];
        at += position * step;
        step *= given.sizes[i + 2];
      }
      if (!exists) {
        continue;
      }
      at += n / of_plane * plane;
      const f32 value = widen(x.load(in.offset(at)));
      const bool is_above = value > maximum ||
                            (value == 0 && maximum == 0 && std::signbit(maximum) && !std::signbit(value)) ||
                            (std::isnan(value) && !std::isnan(maximum));
      if (best < 0 || is_above) {
        best = at;
        maximum = value;
      }
    }
    if (best >= 0) {
      f32& sum = sums[static_cast<std::size_t>(best)];
      sum = sum + widen(gradient.load(by.offset(n)));
    }
  }
  for (i64 n = 0; n < out.count(); ++n) {
    expected.store(out.offset(n), narrow<T>(sums[static_cast<std::size_t>(n)]));
  }
  const anydml_tensor inputs[] = {tensor_of<T>(in, x.data()), tensor_of<T>(by, gradient.data())};
  const anydml_tensor output = tensor_of<T>(out, to.data());
  const auto attributes = given.attributes();
  ASSERT_EQ(anydml_run(nullptr, "MAX_POOLING_GRAD", inputs, 2, &output, 1, attributes.data(), attributes.size()),
            ANYDML_OK)
      << anydml_last_error();
  ASSERT_TRUE(to.equals(expected, out, 0)) << type_name(kDataTypeOf<T>) << ", " << given.sizes[2];
}

TEST(Gradient, OfTheGreatest) {
  Random random(15);
  const PoolCase cases[] = {
      {{2, 3, 30, 70}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
      {{2, 3, 31, 71}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
      {{1, 40, 17, 19}, {2, 2}, {2, 2}, {0, 0}, {1, 1}},
      {{1, 2, 40, 500}, {2, 5}, {1, 3}, {0, 7}, {2, 4}},
      {{1, 1, 300, 90}, {4, 2}, {3, 1}, {2, 1}, {1, 1}},
      {{2, 2, 5, 12, 33}, {3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 2}},
      {{1, 1, 70'000}, {4}, {2}, {1}, {3}},
      {{1, 2, 4, 5}, {2, 2}, {5, 5}, {0, 0}, {1, 1}},
  };
  for (const PoolCase& given : cases) {
    for (int layout = 0; layout < (kSanitized ? 1 : 3) && !HasFatalFailure(); ++layout) {
      check_max<f32>(given, random);
      check_max<f16>(given, random);
    }
  }
}

// A window far larger than the tensor: every element receives the whole gradient, or its share.
TEST(Gradient, OfWindowsFarLargerThanTheTensor) {
  const i64 far = 4'000'000'000;
  const PoolCase given{{1, 1, 2, 2}, {far, far}, {1, 1}, {far / 2 - 1, far / 2 - 1}, {1, 1}};
  ASSERT_EQ(given.gradient_sizes(), (std::vector<i64>{1, 1, 1, 1}));
  float x[] = {1, -2, 3, 2};
  float gradient[] = {8};
  const std::vector<i64> ones = given.gradient_sizes();
  const anydml_tensor inputs[] = {{ANYDML_FLOAT32, 4, given.sizes.data(), nullptr, x},
                                  {ANYDML_FLOAT32, 4, ones.data(), nullptr, gradient}};
  float y[4] = {7, 7, 7, 7};
  const anydml_tensor output = {ANYDML_FLOAT32, 4, given.sizes.data(), nullptr, y};
  auto attributes = given.attributes();
  ASSERT_EQ(anydml_run(nullptr, "MAX_POOLING_GRAD", inputs, 2, &output, 1, attributes.data(), 5), ANYDML_OK)
      << anydml_last_error();
  EXPECT_TRUE(y[0] == 0 && y[1] == 0 && y[2] == 8 && y[3] == 0);
  attributes.back() = {"IncludePadding", ANYDML_INT64, 0, {.i64 = 0}};
  ASSERT_EQ(anydml_run(nullptr, "AVERAGE_POOLING_GRAD", inputs + 1, 1, &output, 1, attributes.data(), 5), ANYDML_OK)
      << anydml_last_error();
  EXPECT_TRUE(std::ranges::all_of(y, [](float one) { return one == 2; }));
}

// An infinity spreads to the elements that it reaches; all other elements are +0, regardless of the signs of their
// contributions.
TEST(Gradient, NoInfinityFromAside) {
  const i64 sizes[] = {3};
  const i64 gradients[] = {5};
  float x[] = {-0.0F, std::numeric_limits<float>::infinity(), -0.0F, 1, -1};
  float y[] = {7, 7, 7};
  const anydml_tensor input = {ANYDML_FLOAT32, 1, gradients, nullptr, x};
  const anydml_tensor output = {ANYDML_FLOAT32, 1, sizes, nullptr, y};
  const double scale = 1;
  const double zero = 0;
  const anydml_attribute attributes[] = {
      {"InterpolationMode", ANYDML_TEXT, 0, {.text = "LINEAR"}},
      {"Scales", uint32_t{ANYDML_FLOAT64} | ANYDML_ARRAY, 1, {.f64s = &scale}},
      {"InputPixelOffsets", uint32_t{ANYDML_FLOAT64} | ANYDML_ARRAY, 1, {.f64s = &zero}},
      {"OutputPixelOffsets", uint32_t{ANYDML_FLOAT64} | ANYDML_ARRAY, 1, {.f64s = &zero}}};
  ASSERT_EQ(anydml_run(nullptr, "RESAMPLE_GRAD", &input, 1, &output, 1, attributes, 4), ANYDML_OK)
      << anydml_last_error();
  EXPECT_TRUE(y[0] == 0 && !std::signbit(y[0]));
  EXPECT_EQ(y[1], std::numeric_limits<float>::infinity());
  EXPECT_TRUE(y[2] == 0 && !std::signbit(y[2]));  // -0 + 1 - 1
}

TEST(Gradient, WrongSizesAreNamed) {
  float data[64] = {};
  const auto message = [&](const char* name, const std::vector<i64>& from, const std::vector<i64>& to,
                           const std::vector<anydml_attribute>& attributes, std::size_t inputs) {
    const anydml_tensor tensors[] = {
        {ANYDML_FLOAT32, static_cast<int32_t>(to.size()), to.data(), nullptr, data},
        {ANYDML_FLOAT32, static_cast<int32_t>(from.size()), from.data(), nullptr, data},
    };
    const anydml_tensor output = {ANYDML_FLOAT32, static_cast<int32_t>(to.size()), to.data(), nullptr, data + 32};
    EXPECT_EQ(anydml_run(nullptr, name, tensors + 2 - inputs, inputs, &output, 1, attributes.data(), attributes.size()),
              ANYDML_INVALID_ARGUMENT);
    return std::string(anydml_last_error());
  };
  const PoolCase given{{1, 1, 4, 4}, {2, 2}, {2, 2}, {0, 0}, {1, 1}};
  EXPECT_NE(message("MAX_POOLING_GRAD", {1, 1, 3, 2}, given.sizes, given.attributes(), 2).find("InputGradientTensor"),
            std::string::npos);
  auto averaged = given.attributes();
  averaged.back() = {"IncludePadding", ANYDML_INT64, 0, {.i64 = 0}};
  EXPECT_NE(
      message("AVERAGE_POOLING_GRAD", {1, 2, 2, 2}, given.sizes, averaged, 1).find("InputGradientTensor.Sizes[1]"),
      std::string::npos);
  const std::vector<i64> strides = {1, 0};
  averaged[0] = integers("Strides", strides);
  EXPECT_NE(message("AVERAGE_POOLING_GRAD", {1, 1, 3, 3}, given.sizes, averaged, 1).find("Strides"), std::string::npos);
  const std::vector<i64> offsets = {3};
  const std::vector<i64> sizes = {2};
  const std::vector<i64> ones = {1};
  EXPECT_NE(message("SLICE_GRAD", {2}, {4},
                    {integers("InputWindowOffsets", offsets), integers("InputWindowSizes", sizes),
                     integers("InputWindowStrides", ones)},
                    1)
                .find("InputWindowOffsets"),
            std::string::npos);
}

// A preceding operator may write its elements directly into the gradient of a slice, unless the slice has gaps.
TEST(Gradient, OfSlicesInGraphs) {
  for (const std::vector<i64>& steps : {std::vector<i64>{1, 1}, {2, 1}, {-1, 1}, {1, -3}}) {
    const std::vector<i64> offsets = {1, 2};
    const std::vector<i64> sizes = {5, 7};
    const Form part(ANYDML_FLOAT32, {1 + 4 / std::abs(steps[0]), 1 + 6 / std::abs(steps[1])});
    const Form whole(ANYDML_FLOAT32, {9, 10});
    Twin twin;
    Bytes data(part.bytes());
    for (std::size_t i = 0; i < data.size() / sizeof(float); ++i) {
      const auto value = static_cast<float>(i) - 3;
      std::memcpy(&data[i * sizeof(float)], &value, sizeof(value));
    }
    const std::size_t x = twin.input(part, data);
    const std::size_t doubled = twin.run("ELEMENT_WISE_ADD", {x, x}, part);
    const std::size_t result = twin.run("SLICE_GRAD", {doubled}, whole,
                                        {integers("InputWindowOffsets", offsets), integers("InputWindowSizes", sizes),
                                         integers("InputWindowStrides", steps)});
    twin.output(twin.run("ELEMENT_WISE_ADD", {result, result}, whole));
    twin.compile();
    EXPECT_EQ(twin.difference(), "") << steps[0] << ", " << steps[1];
  }
}

}  // namespace
}  // namespace test
}  // namespace anydml
