// SPDX-License-Identifier: MIT
// Checks RNN, LSTM and GRU through the C API, unit by unit, against an independent implementation of their definition
// that ignores layouts, threads and vectors. The test runs with several thread counts and targets; since all runs match
// the same reference, they also match each other.
#include <anydml/anydml.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "ops/scalar/scalars.h"
#include "support/distributions.h"

namespace anydml::test {
namespace {

struct Sizes {
  i64 steps;
  i64 rows;
  i64 inputs;
  i64 units;
};

// A FLOAT32 or FLOAT16 tensor; `numbers` has its values as FLOAT32, all representable in the tensor's type. Its
// elements are `spread` apart.
struct Values {
  std::vector<i64> sizes;
  std::vector<f32> numbers;
};

f32 as_type(f32 value, bool is_half) { return is_half ? widen(narrow<f16>(value)) : value; }

class Memory {
 public:
  Memory(const Values& values, bool is_half, i64 spread)
      : values_(values), is_half_(is_half), spread_(spread), strides_(values.sizes.size()) {
    i64 stride = spread;
    for (std::size_t i = values.sizes.size(); i-- > 0;) {
      strides_[i] = stride;
      stride *= values.sizes[i];
    }
    bytes_.assign(values.numbers.size() * static_cast<std::size_t>(spread) * size() + 1, std::byte{77});
    for (std::size_t i = 0; i < values.numbers.size(); ++i) {
      const f16 half = narrow<f16>(values.numbers[i]);
      std::memcpy(at(i), is_half ? static_cast<const void*>(&half) : &values.numbers[i], size());
    }
  }

  [[nodiscard]] anydml_tensor tensor(bool is_constant = false) {
    const auto type = static_cast<u32>(is_half_ ? ANYDML_FLOAT16 : ANYDML_FLOAT32);
    return {static_cast<anydml_type>(type | (is_constant ? ANYDML_CONSTANT : 0)),
            static_cast<int32_t>(values_.sizes.size()), values_.sizes.data(), strides_.data(), at(0)};
  }
  [[nodiscard]] bool has(const std::vector<f32>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const f16 half = narrow<f16>(expected[i]);
      if (std::memcmp(at(i), is_half_ ? static_cast<const void*>(&half) : &expected[i], size()) != 0) {
        return false;
      }
      for (std::size_t k = size(); k < static_cast<std::size_t>(spread_) * size(); ++k) {
        if (at(i)[k] != std::byte{77}) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  [[nodiscard]] std::size_t size() const { return is_half_ ? sizeof(u16) : sizeof(f32); }
  // An odd address if the elements are spread out.
  [[nodiscard]] std::byte* at(std::size_t i) {
    return bytes_.data() + (spread_ > 1 ? 1 : 0) + i * static_cast<std::size_t>(spread_) * size();
  }

  Values values_;
  bool is_half_;
  i64 spread_;
  std::vector<i64> strides_;
  std::vector<std::byte> bytes_;
};

struct Network {
  std::string kind;
  bool is_half = false;
  bool is_both = false;  // directions
  bool linear_before_reset = false;
  bool has_more = false;  // peepholes, clipping
  Sizes sizes{};
  Values x, w, r, bias, hidden, cell, peephole;
  std::vector<u32> lengths;

  [[nodiscard]] i64 gates() const { return kind == "RNN" ? 1 : kind == "LSTM" ? 4 : 3; }
  [[nodiscard]] i64 directions() const { return is_both ? 2 : 1; }
};

constexpr f32 kClip = 0.75F;

Network draw(const std::string& kind, const Sizes& sizes, bool is_half, bool is_both, u64 seed) {
  Random random(seed);
  Network result;
  result.kind = kind;
  result.is_half = is_half;
  result.is_both = is_both;
  result.linear_before_reset = seed % 2 == 0;
  result.has_more = seed % 3 == 0;
  result.sizes = sizes;
  const i64 d = result.directions();
  const i64 g = result.gates();
  const auto fill = [&](Values& values, std::vector<i64> shape, f64 by) {
    values.sizes = std::move(shape);
    i64 count = 1;
    for (const i64 size : values.sizes) {
      count *= size;
    }
    for (i64 i = 0; i < count; ++i) {
      const f64 unit = static_cast<f64>(random() >> 11) * 0x1p-53;
      values.numbers.push_back(as_type(static_cast<f32>((2 * unit - 1) * by), is_half));
    }
  };
  const f64 by_units = 2 / std::sqrt(static_cast<f64>(sizes.units));
  fill(result.x, {1, sizes.steps, sizes.rows, sizes.inputs}, 1.5);
  fill(result.w, {1, d, g * sizes.units, sizes.inputs}, 2 / std::sqrt(static_cast<f64>(sizes.inputs)));
  fill(result.r, {1, d, g * sizes.units, sizes.units}, by_units);
  fill(result.bias, {1, 1, d, 2 * g * sizes.units}, 0.5);
  fill(result.hidden, {1, d, sizes.rows, sizes.units}, 1);
  fill(result.cell, {1, d, sizes.rows, sizes.units}, 1);
  fill(result.peephole, {1, 1, d, 3 * sizes.units}, 0.7);
  for (i64 i = 0; i < sizes.rows; ++i) {
    result.lengths.push_back(static_cast<u32>(i == 1 ? u64{0xffffffff} : random() % static_cast<u64>(sizes.steps + 1)));
  }
  return result;
}

struct Results {
  std::vector<f32> sequence, single, cell;
};

// The sum of products as defined in docs/numerics.md.
f32 sum_of(const f32* a, const f32* b, i64 depth) {
  f32 total = 0;
  for (i64 first = 0; first < depth; first += 256) {
    f32 sum = 0;
    for (i64 k = first; k < std::min(depth, first + 256); ++k) {
      sum = std::fma(a[k], b[k], sum);
    }
    total = first == 0 ? sum : total + sum;
  }
  return total;
}

f32 sigmoid(f32 x) { return Sigmoid<f32>()(x); }
f32 tangent(f32 x) { return Tanh<f32>()(x); }

Results expected_of(const Network& network, bool has_lengths) {
  const auto [steps, rows, inputs, units] = network.sizes;
  const i64 directions = network.directions();
  const i64 gates = network.gates();
  Results result;
  result.sequence.assign(static_cast<std::size_t>(steps * directions * rows * units), 0.0F);
  result.single = network.hidden.numbers;
  result.cell = network.cell.numbers;
  for (i64 d = 0; d < directions; ++d) {
    for (i64 row = 0; row < rows; ++row) {
      const i64 length = has_lengths ? std::min<i64>(network.lengths[static_cast<std::size_t>(row)], steps) : steps;
      f32* const hidden = result.single.data() + (d * rows + row) * units;
      f32* const cell = result.cell.data() + (d * rows + row) * units;
      for (i64 step = 0; step < length; ++step) {
        const i64 time = d == 1 ? length - 1 - step : step;
        const std::vector<f32> before(hidden, hidden + units);
        const auto x = [&](i64 gate, i64 unit) {
          return sum_of(network.x.numbers.data() + (time * rows + row) * inputs,
                        network.w.numbers.data() + ((d * gates + gate) * units + unit) * inputs, inputs);
        };
        const auto h = [&](i64 gate, i64 unit, const std::vector<f32>& state) {
          return sum_of(state.data(), network.r.numbers.data() + ((d * gates + gate) * units + unit) * units, units);
        };
        const auto bias = [&](i64 gate, i64 unit) {
          return network.bias.numbers[static_cast<std::size_t>((d * 2 * gates + gate) * units + unit)];
        };
        const auto gate = [&](i64 number, i64 unit, const std::vector<f32>& state, i64 peephole, f32 of) {
          f32 sum = x(number, unit) + h(number, unit, state);
          if (network.has_more && peephole >= 0) {
            const f32 product =
                network.peephole.numbers[static_cast<std::size_t>((d * 3 + peephole) * units + unit)] * of;
            sum = sum + product;
          }
          const f32 both = bias(number, unit) + bias(gates + number, unit);
          sum = sum + both;
          return network.has_more && network.kind == "LSTM" ? std::clamp(sum, -kClip, kClip) : sum;
        };
        std::vector<f32> reset(before);
        for (i64 unit = 0; network.kind == "GRU" && !network.linear_before_reset && unit < units; ++unit) {
          const auto at = static_cast<std::size_t>(unit);
          reset[at] = sigmoid(gate(1, unit, before, -1, 0)) * before[at];
        }
        for (i64 unit = 0; unit < units; ++unit) {
          f32 value = 0;
          if (network.kind == "RNN") {
            value = tangent(gate(0, unit, before, -1, 0));
          } else if (network.kind == "LSTM") {
            const f32 i = sigmoid(gate(0, unit, before, 0, cell[unit]));
            const f32 f = sigmoid(gate(2, unit, before, 2, cell[unit]));
            const f32 kept = f * cell[unit];
            const f32 added = i * tangent(gate(3, unit, before, -1, 0));
            cell[unit] = as_type(kept + added, network.is_half);
            value = sigmoid(gate(1, unit, before, 1, cell[unit])) * tangent(cell[unit]);
          } else {
            const f32 update = sigmoid(gate(0, unit, before, -1, 0));
            f32 sum = 0;
            if (network.linear_before_reset) {
              const f32 inner = h(2, unit, before) + bias(gates + 2, unit);
              const f32 product = sigmoid(gate(1, unit, before, -1, 0)) * inner;
              sum = x(2, unit) + product;
              sum = sum + bias(2, unit);
            } else {
              sum = gate(2, unit, reset, -1, 0);
            }
            const f32 rest = 1 - update;
            const f32 added = rest * tangent(sum);
            const f32 kept = update * before[static_cast<std::size_t>(unit)];
            value = added + kept;
          }
          hidden[unit] = as_type(value, network.is_half);
          result.sequence[static_cast<std::size_t>(((time * directions + d) * rows + row) * units + unit)] =
              hidden[unit];
        }
      }
    }
  }
  return result;
}

constexpr anydml_operator kActivations[] = {{"ACTIVATION_SIGMOID", nullptr, 0}, {"ACTIVATION_TANH", nullptr, 0},
                                            {"ACTIVATION_TANH", nullptr, 0},    {"ACTIVATION_SIGMOID", nullptr, 0},
                                            {"ACTIVATION_TANH", nullptr, 0},    {"ACTIVATION_TANH", nullptr, 0}};
constexpr anydml_operator kOfGru[] = {kActivations[0], kActivations[1], kActivations[0], kActivations[1]};

std::vector<anydml_attribute> attributes_of(const Network& network) {
  const u32 count = network.kind == "RNN" ? 1 : network.kind == "LSTM" ? 3 : 2;
  std::vector<anydml_attribute> result(2);
  result[0] = {"ActivationDescs", ANYDML_OPERATOR | ANYDML_ARRAY, count * static_cast<u32>(network.directions()), {}};
  result[0].value.operators = network.kind == "RNN" ? kActivations + 1 : network.kind == "LSTM" ? kActivations : kOfGru;
  result[1] = {"Direction", ANYDML_TEXT, 0, {}};
  result[1].value.text = network.is_both ? "BIDIRECTIONAL" : "FORWARD";
  const auto add = [&](const char* name, f64 value) {
    result.push_back({name, ANYDML_FLOAT64, 0, {}});
    result.back().value.f64 = value;
  };
  if (network.kind == "LSTM") {
    add("ClipThreshold", f64{kClip});
    add("UseClipThreshold", network.has_more ? 1 : 0);
    add("CoupleInputForget", 0);
  }
  if (network.kind == "GRU") {
    add("LinearBeforeReset", network.linear_before_reset ? 1 : 0);
  }
  return result;
}

// The tensors of a network in memory.
class Call {
 public:
  Call(const Network& network, bool has_lengths, i64 spread = 1)
      : network_(network), attributes_(attributes_of(network)), has_lengths_(has_lengths) {
    for (const Values* values :
         {&network.x, &network.w, &network.r, &network.bias, &network.hidden, &network.cell, &network.peephole}) {
      memory_.emplace_back(*values, network.is_half, spread);
    }
    const Sizes& sizes = network.sizes;
    const std::vector<i64> state = {1, network.directions(), sizes.rows, sizes.units};
    const auto blank = [&](std::vector<i64> shape) {
      const auto count = static_cast<std::size_t>(shape[0] * shape[1] * shape[2] * shape[3]);
      memory_.emplace_back(Values{std::move(shape), std::vector<f32>(count, 55)}, network.is_half, spread);
    };
    blank({sizes.steps, network.directions(), sizes.rows, sizes.units});
    blank(state);
    blank(state);
    if (network.kind == "RNN" && network.is_both) {  // the second direction has the same activation
      attributes_[0].value.operators = kTwice;
    }
  }

  [[nodiscard]] std::vector<anydml_tensor> inputs(bool are_constant = false) {
    lengths_sizes_[3] = network_.sizes.rows;
    const anydml_tensor absent{};
    const anydml_tensor lengths{ANYDML_UINT32, 4, lengths_sizes_, nullptr, network_.lengths.data()};
    std::vector<anydml_tensor> result = {memory_[0].tensor(), memory_[1].tensor(are_constant),
                                         memory_[2].tensor(are_constant), memory_[3].tensor(), memory_[4].tensor()};
    if (network_.kind == "LSTM") {
      result.push_back(memory_[5].tensor());
    }
    result.push_back(has_lengths_ ? lengths : absent);
    if (network_.kind == "LSTM") {
      result.push_back(network_.has_more ? memory_[6].tensor() : absent);
    }
    return result;
  }
  [[nodiscard]] std::vector<anydml_tensor> outputs() {
    std::vector<anydml_tensor> result = {memory_[7].tensor(), memory_[8].tensor()};
    if (network_.kind == "LSTM") {
      result.push_back(memory_[9].tensor());
    }
    return result;
  }

  [[nodiscard]] int run() {
    const std::vector<anydml_tensor> in = inputs();
    const std::vector<anydml_tensor> out = outputs();
    return anydml_run(nullptr, network_.kind.c_str(), in.data(), in.size(), out.data(), out.size(), attributes_.data(),
                      attributes_.size());
  }
  // The weights are constants: they are packed once.
  [[nodiscard]] int run_compiled() {
    const std::vector<anydml_tensor> in = inputs(true);
    const std::vector<anydml_tensor> out = outputs();
    anydml_compiled* compiled = nullptr;
    const int result = anydml_compile(nullptr, network_.kind.c_str(), in.data(), in.size(), out.data(), out.size(),
                                      attributes_.data(), attributes_.size(), &compiled);
    if (result != ANYDML_OK) {
      return result;
    }
    std::vector<const void*> from;
    std::vector<void*> to;
    for (const anydml_tensor& tensor : in) {
      from.push_back(tensor.data);
    }
    for (const anydml_tensor& tensor : out) {
      to.push_back(tensor.data);
    }
    const int ran = anydml_compiled_run(compiled, from.data(), from.size(), to.data(), to.size());
    anydml_compiled_release(compiled);
    return ran;
  }

  void expect(const Results& expected, const std::string& what) {
    EXPECT_TRUE(memory_[7].has(expected.sequence)) << what << ": the sequence";
    EXPECT_TRUE(memory_[8].has(expected.single)) << what << ": the last state";
    if (network_.kind == "LSTM") {
      EXPECT_TRUE(memory_[9].has(expected.cell)) << what << ": the last cell";
    }
  }

  std::vector<anydml_attribute>& attributes() { return attributes_; }

 private:
  static constexpr anydml_operator kTwice[] = {kActivations[1], kActivations[1]};

  Network network_;
  std::vector<anydml_attribute> attributes_;
  bool has_lengths_;
  i64 lengths_sizes_[4] = {1, 1, 1, 0};
  std::vector<Memory> memory_;
};

constexpr const char* kKinds[] = {"RNN", "LSTM", "GRU"};

TEST(Recurrent, EqualsTheDefinition) {
  u64 seed = 0;
  for (const char* kind : kKinds) {
    for (const Sizes& sizes : {Sizes{4, 1, 5, 70}, {3, 2, 300, 33}, {2, 19, 7, 50}, {2, 110, 3, 18}, {2, 3, 4, 300}}) {
      for (const bool is_half : {false, true}) {
        ++seed;
        const Network network = draw(kind, sizes, is_half, seed % 4 < 2, seed);
        const std::string what = std::string(kind) + ", " + std::to_string(seed);
        const bool has_lengths = seed % 5 != 0;
        const Results expected = expected_of(network, has_lengths);
        Call call(network, has_lengths);
        ASSERT_EQ(call.run(), ANYDML_OK) << anydml_last_error();
        call.expect(expected, what);
        Call compiled(network, has_lengths);
        ASSERT_EQ(compiled.run_compiled(), ANYDML_OK) << anydml_last_error();
        compiled.expect(expected, what + ", compiled");
        Call spread(network, has_lengths, 3);  // nothing may be written between the elements
        ASSERT_EQ(spread.run(), ANYDML_OK) << anydml_last_error();
        spread.expect(expected, what + ", spread out");
      }
    }
  }
}

// Factors that are integers times a scale, which have a compact form, and one factor that is not.
TEST(Recurrent, DequantizedFactors) {
  u64 seed = 100;
  for (const char* kind : kKinds) {
    for (const Sizes& sizes : {Sizes{3, 1, 6, 70}, {3, 1, 5, 33}, {2, 1, 4, 515}, {2, 3, 4, 40}}) {
      for (const bool has_other : {false, true}) {
        Network network = draw(kind, sizes, false, true, ++seed);
        std::vector<f32>& numbers = network.r.numbers;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          numbers[i] = static_cast<f32>(static_cast<int>(i * 37 % 511) - 255) * 0.00123F;
        }
        if (has_other) {
          numbers[numbers.size() / 3] = 0.01F;
        }
        Call call(network, false);
        ASSERT_EQ(call.run_compiled(), ANYDML_OK) << anydml_last_error();
        call.expect(expected_of(network, false), kind + std::to_string(seed));
      }
    }
  }
}

// Large enough that threads share a time step.
TEST(Recurrent, Large) {
  for (const char* kind : kKinds) {
    const Network network = draw(kind, {3, 13, 40, 260}, false, true, 6);
    Call call(network, false);
    ASSERT_EQ(call.run(), ANYDML_OK) << anydml_last_error();
    call.expect(expected_of(network, false), kind);
  }
}

TEST(Recurrent, MessagesNameTheField) {
  const auto message = [](const Network& network, auto change) {
    Call call(network, false);
    change(call);
    EXPECT_NE(call.run(), ANYDML_OK);
    return std::string(anydml_last_error());
  };
  const auto nothing = [](Call&) {};
  const Network good = draw("LSTM", {2, 3, 4, 5}, false, false, 1);
  EXPECT_EQ(message(good, [](Call& call) { call.attributes()[0].count = 2; }),
            "LSTM: ActivationDescCount is 2; expected 6 if Direction is BIDIRECTIONAL, otherwise 3, which is 3");
  static constexpr anydml_operator kWrong[] = {{"ELEMENT_WISE_ADD", nullptr, 0}, kActivations[1], kActivations[1]};
  EXPECT_EQ(
      message(good, [](Call& call) { call.attributes()[0].value.operators = kWrong; }),
      "LSTM: ActivationDescs[0]: ELEMENT_WISE_ADD cannot be fused into LSTM; expected an activation that can, such "
      "as ACTIVATION_RELU");
  EXPECT_EQ(message(good, [](Call& call) { call.attributes()[1].value.text = "SIDEWAYS"; }).substr(0, 25),
            "LSTM: attribute Direction");
  Network wrong = good;
  wrong.w.sizes[3] = 3;
  EXPECT_EQ(message(wrong, nothing).substr(0, 18), "LSTM: WeightTensor");
  wrong = good;
  wrong.bias.sizes = {1, 40};
  EXPECT_EQ(message(wrong, nothing).substr(0, 16), "LSTM: BiasTensor");
  wrong = good;
  wrong.hidden.sizes = {1, 1, 3, 4};
  EXPECT_EQ(message(wrong, nothing).substr(0, 22), "LSTM: HiddenInitTensor");
}

}  // namespace
}  // namespace anydml::test
