// SPDX-License-Identifier: MIT
// Checks the gathers, the scatters, ONE_HOT and NONZERO_COORDINATES through the C API against an independent
// implementation of their definitions, element by element. Indices are random bits, tensors have any layout, and each
// allocation ends where its tensor ends, so that a sanitizer detects accesses outside of it. The bytes between elements
// are compared too. tests/ops/gather_oracle.py compares the operators with NumPy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "anydml/anydml.h"
#include "base/element.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

using Random = std::mt19937_64;
using Sizes = std::vector<std::int64_t>;
constexpr std::uint64_t kGatherSeed = 20240611;
constexpr DataType kIndexTypes[] = {DataType::UINT32, DataType::INT32, DataType::UINT64, DataType::INT64};
constexpr DataType kElementTypes[] = {DataType::UINT8, DataType::FLOAT16, DataType::FLOAT32, DataType::INT64};

std::int64_t count_of(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

enum class Draw : std::uint8_t { packed, any };

// A tensor of random bytes, and its memory.
class Placed {
 public:
  Placed(DataType type, Sizes sizes, Draw draw, Random& random)
      : type_(type), sizes_(std::move(sizes)), strides_(sizes_.size()) {
    std::vector<std::size_t> order(sizes_.size());
    std::iota(order.rbegin(), order.rend(), 0);
    if (draw == Draw::any) {
      std::ranges::shuffle(order, random);
    }
    std::int64_t stride = 1;
    std::int64_t last = 0;
    for (const std::size_t axis : order) {
      stride += draw == Draw::any && random() % 3 == 0 ? static_cast<std::int64_t>(random() % 3) : 0;
      strides_[axis] = stride;
      const std::int64_t reach = std::max<std::int64_t>(0, sizes_[axis] - 1) * stride;
      if (draw == Draw::any && random() % 4 == 0) {
        strides_[axis] = -stride;
        first_ += reach;
      }
      last += reach;
      stride *= std::max<std::int64_t>(1, sizes_[axis]);
    }
    shift_ = draw == Draw::any ? random() % 3 : 0;
    memory_.resize(shift_ + static_cast<std::size_t>(last + 1) * bytes());
    std::ranges::generate(memory_, [&random] { return static_cast<std::byte>(random() >> 11); });
  }

  [[nodiscard]] anydml_tensor tensor() {
    return {static_cast<std::uint32_t>(type_), static_cast<std::int32_t>(sizes_.size()), sizes_.data(), strides_.data(),
            count_of(sizes_) == 0 ? memory_.data() : at(0)};
  }
  [[nodiscard]] const Sizes& sizes() const { return sizes_; }
  [[nodiscard]] std::size_t bytes() const { return element_size(type_); }
  [[nodiscard]] const std::vector<std::byte>& memory() const { return memory_; }
  // The n-th element in row-major order.
  [[nodiscard]] std::byte* at(std::int64_t n) {
    std::int64_t offset = first_;
    for (std::size_t i = sizes_.size(); i-- > 0; n /= sizes_[i]) {
      offset += n % sizes_[i] * strides_[i];
    }
    return memory_.data() + shift_ + static_cast<std::size_t>(offset) * bytes();
  }
  void copy_element(std::int64_t to, Placed& from, std::int64_t element) {
    std::memcpy(at(to), from.at(element), bytes());
  }
  // The index as the documentation interprets it, or -1 if it is out of range; and the nearest index in range.
  [[nodiscard]] std::int64_t position(std::int64_t n, std::int64_t size) { return resolve(n, size, false); }
  [[nodiscard]] std::int64_t nearest(std::int64_t n, std::int64_t size) { return resolve(n, size, true); }
  // Indices that are in range, or close to it, instead of random bits.
  void set_indices(std::int64_t size, Random& random) {
    for (std::int64_t n = 0; n < count_of(sizes_); ++n) {
      const bool is_signed = type_ == DataType::INT32 || type_ == DataType::INT64;
      const auto drawn = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * size + 4));
      const std::int64_t index = is_signed ? drawn - size - 2 : drawn / 2;
      std::memcpy(at(n), &index, bytes());  // the low bytes come first
    }
  }

 private:
  std::int64_t resolve(std::int64_t n, std::int64_t size, bool nearest) {
    std::int64_t index = 0;
    std::memcpy(&index, at(n), bytes());
    if (type_ == DataType::INT32) {
      index = static_cast<std::int32_t>(index);
    }
    if (type_ == DataType::UINT64 && index < 0) {
      return nearest ? size - 1 : -1;
    }
    index += index < 0 ? size : 0;
    return nearest        ? std::clamp<std::int64_t>(index, 0, size - 1)
           : index < size ? std::max<std::int64_t>(-1, index)
                          : -1;
  }

  DataType type_;
  Sizes sizes_;
  std::vector<std::int64_t> strides_;
  std::int64_t first_ = 0;
  std::size_t shift_ = 0;
  std::vector<std::byte> memory_;
};

struct Attribute {
  const char* name;
  std::uint64_t value;
};

int run(const char* op, std::vector<Placed*> inputs, std::vector<Placed*> outputs, std::vector<Attribute> attributes) {
  std::vector<anydml_tensor> in;
  std::vector<anydml_tensor> out;
  std::vector<anydml_attribute> given;
  std::ranges::transform(inputs, std::back_inserter(in), [](Placed* one) { return one->tensor(); });
  std::ranges::transform(outputs, std::back_inserter(out), [](Placed* one) { return one->tensor(); });
  for (const Attribute& one : attributes) {
    anydml_attribute& result = given.emplace_back(anydml_attribute{one.name, ANYDML_UINT64, 0, {}});
    result.value.u64 = one.value;
  }
  return anydml_run(nullptr, op, in.data(), in.size(), out.data(), out.size(), given.data(), given.size());
}

// Runs an operator with one output and compares it with `expected`, which starts as a copy of the output.
void check(const char* op, std::vector<Placed*> inputs, Placed& output, const Placed& expected,
           std::vector<Attribute> attributes) {
  ASSERT_EQ(run(op, std::move(inputs), {&output}, std::move(attributes)), ANYDML_OK) << anydml_last_error();
  ASSERT_TRUE(output.memory() == expected.memory()) << op;
}

struct Trial {
  DataType type;
  DataType index_type;
  Draw draw;
  bool garbage;  // the indices are random bits
  std::int64_t a, n, k, b, items;
};

Placed draw_indices(const Trial& trial, Sizes sizes, std::int64_t size, Random& random) {
  Placed indices(trial.index_type, std::move(sizes), trial.draw, random);
  if (!trial.garbage) {
    indices.set_indices(size, random);
  }
  return indices;
}

void try_gathers(const Trial& t, Random& random) {
  Placed table(t.type, {t.a, t.n, t.b}, t.draw, random);
  Placed few = draw_indices(t, {1, 1, t.items}, t.n, random);
  Placed many = draw_indices(t, {t.a, t.items, t.b}, t.n, random);
  Placed output(t.type, {t.a, t.items, t.b}, t.draw, random);
  Placed rows = output;
  Placed elements = output;
  for (std::int64_t i = 0; i < t.a * t.items * t.b; ++i) {
    const std::int64_t a = i / (t.items * t.b);
    const std::int64_t m = i / t.b % t.items;
    rows.copy_element(i, table, (a * t.n + few.nearest(m, t.n)) * t.b + i % t.b);
    elements.copy_element(i, table, (a * t.n + many.nearest(i, t.n)) * t.b + i % t.b);
  }
  check("GATHER", {&table, &few}, output, rows, {{"Axis", 1}, {"IndexDimensions", 1}});
  check("GATHER_ELEMENTS", {&table, &many}, output, elements, {{"Axis", 1}});

  // Tuples of two coordinates, with and without a batch dimension.
  Placed wide(t.type, {t.a, t.n, t.k, t.b}, t.draw, random);
  Placed pairs = draw_indices(t, {1, t.a, t.items, 2}, t.n, random);
  Placed batches(t.type, {1, t.a, t.items, t.b}, t.draw, random);
  Placed wanted = batches;
  for (std::int64_t i = 0; i < t.a * t.items * t.b; ++i) {
    const std::int64_t item = i / t.b;
    const std::int64_t first = item / t.items * t.n + pairs.nearest(2 * item, t.n);
    wanted.copy_element(i, wide, (first * t.k + pairs.nearest(2 * item + 1, t.k)) * t.b + i % t.b);
  }
  check("GATHER_ND1", {&wide, &pairs}, batches, wanted,
        {{"InputDimensionCount", 4}, {"IndicesDimensionCount", 3}, {"BatchDimensionCount", 1}});
  if (t.a == 1) {
    check("GATHER_ND", {&wide, &pairs}, batches, wanted, {{"InputDimensionCount", 3}, {"IndicesDimensionCount", 2}});
  }
}

void try_scatters(const Trial& t, Random& random) {
  Placed table(t.type, {t.a, t.n, t.b}, t.draw, random);
  Placed indices = draw_indices(t, {t.a, t.items, t.b}, t.n, random);
  Placed updates(t.type, {t.a, t.items, t.b}, t.draw, random);
  Placed output(t.type, {t.a, t.n, t.b}, t.draw, random);
  Placed wanted = output;
  for (std::int64_t i = 0; i < t.a * t.n * t.b; ++i) {
    wanted.copy_element(i, table, i);
  }
  for (std::int64_t i = 0; i < t.a * t.items * t.b; ++i) {  // of several updates, the last wins
    if (const std::int64_t position = indices.position(i, t.n); position >= 0) {
      wanted.copy_element((i / (t.items * t.b) * t.n + position) * t.b + i % t.b, updates, i);
    }
  }
  check("SCATTER_ELEMENTS", {&table, &indices, &updates}, output, wanted, {{"Axis", 1}});
  check("SCATTER", {&table, &indices, &updates}, output, wanted, {{"Axis", 1}});

  Placed wide(t.type, {t.n, t.k, t.b}, t.draw, random);
  Placed pairs = draw_indices(t, {1, t.items, 2}, t.n, random);
  Placed slices(t.type, {1, t.items, t.b}, t.draw, random);
  Placed changed(t.type, {t.n, t.k, t.b}, t.draw, random);
  Placed expected = changed;
  for (std::int64_t i = 0; i < t.n * t.k * t.b; ++i) {
    expected.copy_element(i, wide, i);
  }
  for (std::int64_t i = 0; i < t.items * t.b; ++i) {
    const std::int64_t row = pairs.position(i / t.b * 2, t.n);
    const std::int64_t column = pairs.position(i / t.b * 2 + 1, t.k);
    if (row >= 0 && column >= 0) {
      expected.copy_element((row * t.k + column) * t.b + i % t.b, slices, i);
    }
  }
  check("SCATTER_ND", {&wide, &pairs, &slices}, changed, expected,
        {{"InputDimensionCount", 3}, {"IndicesDimensionCount", 2}});
}

void try_one_hot(const Trial& t, Random& random) {
  Placed indices = draw_indices(t, {t.a, 1, t.b}, t.n, random);
  Placed values(t.type, {1, 1, 2}, t.draw, random);
  Placed output(t.type, {t.a, t.n, t.b}, t.draw, random);
  Placed wanted = output;
  for (std::int64_t i = 0; i < t.a * t.n * t.b; ++i) {
    const bool is_hot = indices.position(i / (t.n * t.b) * t.b + i % t.b, t.n) == i / t.b % t.n;
    wanted.copy_element(i, values, is_hot ? 1 : 0);
  }
  check("ONE_HOT", {&indices, &values}, output, wanted, {{"Axis", 1}});
}

void try_nonzero(const Trial& t, Random& random) {
  Placed input(t.type, {t.a, t.n, t.b}, t.draw, random);
  const std::int64_t all = t.a * t.n * t.b;
  Placed count(DataType::UINT32, {1, 1, 1}, t.draw, random);
  Placed rows(DataType::UINT32, {1, all, 3}, t.draw, random);
  Placed wanted = rows;
  std::uint32_t found = 0;
  for (std::int64_t i = 0; i < all; ++i) {
    const std::uint64_t zeros[] = {0, t.type == DataType::FLOAT16   ? 0x8000
                                      : t.type == DataType::FLOAT32 ? 1U << 31
                                                                    : 0U};
    if (random() % 2 == 0) {
      std::memcpy(input.at(i), &zeros[random() % 2], input.bytes());
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, input.at(i), input.bytes());
    if (bits != 0 && bits != zeros[1]) {
      const std::uint32_t position[] = {static_cast<std::uint32_t>(i / (t.n * t.b)),
                                        static_cast<std::uint32_t>(i / t.b % t.n), static_cast<std::uint32_t>(i % t.b)};
      for (std::int64_t column = 0; column < 3; ++column) {
        std::memcpy(wanted.at(3 * found + column), &position[column], sizeof(position[column]));
      }
      ++found;
    }
  }
  for (std::int64_t i = 3 * std::int64_t{found}; i < 3 * all; ++i) {
    std::memset(wanted.at(i), 0, sizeof(std::uint32_t));
  }
  ASSERT_EQ(run("NONZERO_COORDINATES", {&input}, {&count, &rows}, {}), ANYDML_OK) << anydml_last_error();
  std::uint32_t counted = 0;
  std::memcpy(&counted, count.at(0), sizeof(counted));
  ASSERT_EQ(counted, found);
  ASSERT_TRUE(rows.memory() == wanted.memory());
}

void try_all(const Trial& trial, Random& random) {
  try_gathers(trial, random);
  try_scatters(trial, random);
  try_one_hot(trial, random);
  try_nonzero(trial, random);
}

TEST(Gather, AnyIndicesInAnyLayout) {
  Random random(kGatherSeed);
  const auto size = [&random](std::uint64_t maximum) { return static_cast<std::int64_t>(1 + random() % maximum); };
  for (int round = 0; round < 40; ++round) {
    for (const DataType type : kElementTypes) {
      for (const DataType index_type : kIndexTypes) {
        try_all({type, index_type, round % 4 == 0 ? Draw::packed : Draw::any, round % 2 == 0, size(3), size(7), size(5),
                 size(9), size(12)},
                random);
        if (HasFatalFailure()) {
          return;
        }
      }
    }
  }
}

// Sizes at which threads share the work: long and short runs, few and many indices.
TEST(Gather, ManyItems) {
  Random random(kGatherSeed);
  const Trial trials[] = {
      {DataType::FLOAT32, DataType::INT64, Draw::packed, false, 1, 500, 3, 300, 400},
      {DataType::UINT8, DataType::INT32, Draw::packed, false, 3, 7, 5, 1, 40'000},
      {DataType::FLOAT16, DataType::UINT32, Draw::packed, false, 300, 40, 2, 8, 60},
      {DataType::INT64, DataType::UINT64, Draw::packed, false, 1, 30'000, 2, 1, 50'000},
      {DataType::FLOAT32, DataType::INT64, Draw::packed, true, 2, 900, 3, 100, 300},
      {DataType::FLOAT32, DataType::INT32, Draw::any, false, 5, 60, 30, 70, 90},
      {DataType::UINT8, DataType::INT32, Draw::packed, false, 1, 2, 3, 300'000, 4},
  };
  for (const Trial& trial : trials) {
    if (kThreadSanitizer && (&trial - trials) % 2 != 0) {
      continue;
    }
    try_all(trial, random);
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST(Gather, Empty) {
  Random random(kGatherSeed);
  Placed table(DataType::FLOAT32, {2, 3, 4}, Draw::packed, random);
  Placed none(DataType::INT64, {2, 0, 4}, Draw::packed, random);
  Placed no_updates(DataType::FLOAT32, {2, 0, 4}, Draw::packed, random);
  Placed output(DataType::FLOAT32, {2, 3, 4}, Draw::packed, random);
  check("SCATTER_ELEMENTS", {&table, &none, &no_updates}, output, table, {{"Axis", 1}});
  Placed nothing(DataType::FLOAT32, {2, 0, 4}, Draw::packed, random);
  ASSERT_EQ(run("GATHER_ELEMENTS", {&table, &none}, {&nothing}, {{"Axis", 1}}), ANYDML_OK) << anydml_last_error();
  Placed empty(DataType::FLOAT32, {2, 0}, Draw::packed, random);
  Placed count(DataType::UINT32, {1, 1}, Draw::packed, random);
  Placed rows(DataType::UINT32, {0, 2}, Draw::packed, random);
  ASSERT_EQ(run("NONZERO_COORDINATES", {&empty}, {&count, &rows}, {}), ANYDML_OK) << anydml_last_error();
  EXPECT_TRUE(std::ranges::all_of(count.memory(), [](std::byte one) { return one == std::byte{0}; }));
}

TEST(Gather, WrongUseIsRefused) {
  Random random(kGatherSeed);
  const auto result = [&random](DataType type, Sizes sizes) {
    return Placed(type, std::move(sizes), Draw::packed, random);
  };
  const auto refused = [](const char* op, std::vector<Placed*> inputs, std::vector<Placed*> outputs,
                          std::vector<Attribute> attributes, const char* message) {
    EXPECT_NE(run(op, std::move(inputs), std::move(outputs), std::move(attributes)), ANYDML_OK) << message;
    EXPECT_NE(std::string(anydml_last_error()).find(message), std::string::npos) << anydml_last_error();
  };
  Placed table = result(DataType::FLOAT32, {4, 3});
  Placed output = result(DataType::FLOAT32, {2, 3});
  Placed indices = result(DataType::INT32, {1, 2});
  Placed floats = result(DataType::FLOAT32, {1, 2});
  refused("GATHER", {&table, &floats}, {&output}, {{"Axis", 0}, {"IndexDimensions", 1}},
          "IndicesTensor: type is FLOAT32; expected UINT32, INT32, UINT64, INT64");
  refused("GATHER", {&table, &indices}, {&output}, {{"Axis", 2}, {"IndexDimensions", 1}}, "Axis");
  Placed high = result(DataType::INT32, {2, 2});
  refused("GATHER", {&table, &high}, {&output}, {{"Axis", 0}, {"IndexDimensions", 1}},
          "IndicesTensor: sizes are [2, 2]; expected 1 for all but the last 1, which IndexDimensions counts");
  Placed empty = result(DataType::FLOAT32, {0, 3});
  refused("GATHER", {&empty, &indices}, {&output}, {{"Axis", 0}, {"IndexDimensions", 1}},
          "InputTensor: sizes are [0, 3]; expected an element to gather");
  refused("GATHER_ND", {&table, &high}, {&output}, {{"InputDimensionCount", 1}, {"IndicesDimensionCount", 2}},
          "IndicesTensor");
  Placed batches = result(DataType::INT32, {3, 1});
  Placed three = result(DataType::FLOAT32, {1, 3});
  refused("GATHER_ND1", {&table, &batches}, {&three},
          {{"InputDimensionCount", 2}, {"IndicesDimensionCount", 2}, {"BatchDimensionCount", 1}},
          "IndicesTensor: Sizes[0] is 3; expected 4, the batch size of InputTensor");
  Placed count = result(DataType::UINT32, {1, 1});
  Placed flat = result(DataType::UINT32, {24});
  refused("NONZERO_COORDINATES", {&table}, {&count, &flat}, {}, "OutputCoordinatesTensor");
}

}  // namespace
}  // namespace anydml::test
