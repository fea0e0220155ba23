// SPDX-License-Identifier: MIT
// Compares every vector kernel of every target that this machine supports with the generic kernel, which is a loop over
// the scalar definition. Every entry and variant must agree bit for bit, with all NaNs equal. The entries come from the
// tables, so new ones are tested automatically. The test covers all values of unary variants of up to 16 bits and all
// pairs of 8-bit values. It then covers layouts: sizes around the edges of vectors and tiles, every kind of stride for
// every operand, and unaligned operands, both out of place and in place. Every byte of the output's memory is compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "ops/elementwise/cpu/kernels.h"
#include "ops/elementwise/cpu/vector_kernels.h"
#include "support/distributions.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

constexpr int kLayouts = kSanitized ? 6 : 36;

// A number that exposes differences between kernels: random bits, special values, small numbers, and numbers around
// powers of two and halves.
template <class T>
T telling_value(Random& random) {
  if (random() % 3 != 0) {
    return any_value<T>(random);
  }
  const i64 near = (i64{1} << (random() % 63)) + static_cast<i64>(random() % 5) - 2;
  const i64 number = random() % 2 == 0 ? near : -near;
  if constexpr (is_float<T>) {
    const f64 value = static_cast<f64>(number) / (random() % 2 == 0 ? 2 : 1);
    if constexpr (sizeof(T) == 8) {
      return value;
    } else {
      return round_to<T>(value);
    }
  } else {
    return static_cast<T>(number);
  }
}

void fill(std::byte* to, DataType type, std::size_t count, Random& random) {
  visit_type(type, [&]<class T>() {
    for (std::size_t i = 0; i < count; ++i) {
      const T value = telling_value<T>(random);
      std::memcpy(to + i * sizeof(T), &value, sizeof(T));
    }
  });
}

bool same_element(const std::byte* a, const std::byte* b, DataType type) {
  return visit_type(type, [&]<class T>() {
    T x;
    T y;
    std::memcpy(&x, a, sizeof(T));
    std::memcpy(&y, b, sizeof(T));
    return same(x, y);
  });
}

Attributes telling_attributes(Random& random) {
  Attributes attributes;
  for (Scalar& value : attributes.values) {
    switch (random() % 6) {
      case 0:
        value = Scalar(telling_value<f64>(random));
        break;
      case 1:
        value = Scalar(random() % 2 == 0 ? 0.0 : -0.0);
        break;
      case 2:
        value = Scalar(static_cast<i64>(random()));
        break;
      default:
        value = Scalar(static_cast<f64>(static_cast<i64>(random() % 4001) - 2000) / 8);
    }
  }
  return attributes;
}

// One kernel call: the operands, with the output last.
struct Call {
  const Entry* entry;
  const Variant* types;
  std::size_t rows;
  std::size_t columns;
  struct Operand {
    std::vector<std::byte> memory;
    std::size_t first = 0;  // offset of the element at row 0 and column 0
    std::int64_t row_stride = 0;
    std::int64_t stride = 0;
  };
  Operand operands[kMaxInputs + 1];
  std::size_t in_place = kMaxInputs + 1;  // the input that shares its memory with the output
  Attributes attributes;

  [[nodiscard]] std::size_t size(std::size_t operand) const { return element_size((*types)[operand]); }

  // Runs the kernel and returns the output's memory.
  [[nodiscard]] std::vector<std::byte> run(Kernel kernel) const {
    const std::size_t inputs = entry->inputs;
    const Operand& output = in_place < inputs ? operands[in_place] : operands[inputs];
    std::vector<std::byte> memory = output.memory;
    KernelArguments arguments{};
    arguments.rows = rows;
    arguments.columns = columns;
    for (std::size_t i = 0; i < inputs; ++i) {
      const std::byte* data = i == in_place ? memory.data() : operands[i].memory.data();
      arguments.inputs[i] = {data + operands[i].first, operands[i].row_stride, operands[i].stride};
    }
    arguments.output = {memory.data() + output.first, output.row_stride, output.stride};
    arguments.attributes = &attributes;
    kernel(arguments);
    return memory;
  }

  // Whether the memory is as expected. Elements are compared as numbers, and all other bytes exactly.
  [[nodiscard]] testing::AssertionResult agrees(std::vector<std::byte> actual, const std::vector<std::byte>& expected) {
    const std::size_t inputs = entry->inputs;
    const Operand& output = in_place < inputs ? operands[in_place] : operands[inputs];
    const DataType type = (*types)[inputs];
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        const auto at = static_cast<std::size_t>(static_cast<std::int64_t>(output.first) +
                                                 static_cast<std::int64_t>(r) * output.row_stride +
                                                 static_cast<std::int64_t>(c) * output.stride);
        if (!same_element(actual.data() + at, expected.data() + at, type)) {
          return testing::AssertionFailure() << "element " << r << ", " << c << " of " << rows << " x " << columns;
        }
        std::memcpy(actual.data() + at, expected.data() + at, element_size(type));
      }
    }
    return actual == expected ? testing::AssertionSuccess()
                              : testing::AssertionFailure() << "bytes between elements were written";
  }

  [[nodiscard]] std::string text() const {
    std::string text(entry->name);
    for (std::size_t i = 0; i <= entry->inputs; ++i) {
      text.append(" ").append(type_name((*types)[i])).append("[").append(std::to_string(operands[i].row_stride));
      text.append(",").append(std::to_string(operands[i].stride)).append("]");
    }
    return text + (in_place < entry->inputs ? " in place of input " + std::to_string(in_place) : "");
  }
};

std::size_t pick(Random& random, std::initializer_list<std::size_t> sizes) {
  return sizes.begin()[random() % sizes.size()];
}

// Any layout that two loops can walk. Only inputs repeat elements.
Call::Operand random_operand(Random& random, std::size_t rows, std::size_t columns, DataType type, bool repeats) {
  const auto size = static_cast<std::int64_t>(element_size(type));
  const auto wide = static_cast<std::int64_t>(columns);
  Call::Operand operand;
  std::int64_t stride = size;
  std::int64_t row_stride = 0;
  const u64 kind = random() % (repeats ? 10 : 7);
  switch (kind) {
    case 0:  // transposed
      stride = (static_cast<std::int64_t>(rows) + static_cast<std::int64_t>(random() % 2)) * size;
      row_stride = size;
      break;
    case 1:
      stride = size * static_cast<std::int64_t>(2 + random() % 2);
      row_stride = wide * stride + (random() % 2 == 0 ? size : 0);
      break;
    case 2:
      stride = -size * static_cast<std::int64_t>(1 + random() % 2);
      row_stride = (random() % 2 == 0 ? 1 : -1) * wide * stride;
      break;
    case 7:
      stride = 0;
      row_stride = 0;
      break;
    case 8:
      stride = 0;
      row_stride = size;
      break;
    case 9:
      row_stride = 0;
      break;
    default:
      row_stride = wide * size + static_cast<std::int64_t>(random() % 3) * size;
  }
  operand.stride = stride;
  operand.row_stride = row_stride;
  const std::int64_t row_reach = (static_cast<std::int64_t>(rows) - 1) * row_stride;
  const std::int64_t reach = (wide - 1) * stride;
  const std::int64_t lowest = std::min<std::int64_t>(0, row_reach) + std::min<std::int64_t>(0, reach);
  const std::int64_t highest = std::max<std::int64_t>(0, row_reach) + std::max<std::int64_t>(0, reach);
  // The first and the last element are at the ends of the memory, except for a byte or two that break the alignment.
  const std::size_t skew = random() % 3;
  const auto count = static_cast<std::size_t>((highest - lowest) / size + 1);
  operand.memory.resize(skew + count * static_cast<std::size_t>(size));
  fill(operand.memory.data() + skew, type, count, random);
  operand.first = skew + static_cast<std::size_t>(-lowest);
  return operand;
}

Call random_call(const Entry& entry, const Variant& types, Random& random) {
  Call call{.entry = &entry, .types = &types, .rows = 1, .columns = 1, .operands = {}, .attributes = {}};
  call.rows = pick(random, {1, 1, 1, 2, 3, 9, 65, 130});
  call.columns = pick(random, {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 129, 255, 511, 513, 1030});
  if (call.rows >= 65 && call.columns > 129) {
    call.rows = 9;
  }
  if (call.rows == 1 && random() % 4 == 0) {
    call.columns = pick(random, {2049, 6145, 12'289});
  }
  call.attributes = telling_attributes(random);
  const std::size_t inputs = entry.inputs;
  for (std::size_t i = 0; i <= inputs; ++i) {
    call.operands[i] = random_operand(random, call.rows, call.columns, types[i], i < inputs);
  }
  const std::size_t shared = random() % inputs;
  if (types[shared] == types[inputs] && random() % 3 == 0) {
    call.operands[shared] = call.operands[inputs];
    call.in_place = shared;
  }
  return call;
}

// Contiguous operands of one row, with the values that value_of returns for each input and element.
template <class ValueOf>
Call packed_call(const Entry& entry, const Variant& types, std::size_t count, const Attributes& attributes,
                 ValueOf value_of) {
  Call call{.entry = &entry, .types = &types, .rows = 1, .columns = count, .operands = {}, .attributes = attributes};
  for (std::size_t i = 0; i <= entry.inputs; ++i) {
    const std::size_t size = element_size(types[i]);
    call.operands[i].memory.resize(count * size);
    call.operands[i].stride = static_cast<std::int64_t>(size);
    for (std::size_t n = 0; i < entry.inputs && n < count; ++n) {
      const u64 value = value_of(i, n);
      std::memcpy(call.operands[i].memory.data() + n * size, &value, size);
    }
  }
  return call;
}

class EachTarget : public testing::Test {
 protected:
  // Calls use(kernels, entry, variant).
  template <class Use>
  void for_each_variant(Use use) {
    const auto runs = cpu::machine_targets();
    std::size_t tried = 0;
    for (const KernelTarget& target : vector_targets()) {
      if (std::ranges::find(runs, target.target) == runs.end()) {
        continue;
      }
      ++tried;
      KernelTable table = generic_kernels();
      target.replace(table);
      for (const Entry& entry : entries()) {
        for (std::uint32_t variant = 0; variant < entry.variants.size(); ++variant) {
          use(table, entry, variant);
          ASSERT_FALSE(HasFatalFailure()) << cpu::target_name(target.target);
        }
      }
    }
    EXPECT_EQ(tried + 1, runs.size())
        << "expected every target of this machine, except for generic, which has no vectors";
  }
  void check(const KernelTable& table, std::uint32_t variant, InnerLayout layout, Call& call) {
    elements_ += call.rows * call.columns;
    ASSERT_TRUE(call.agrees(call.run(table.find(call.entry->id, variant, layout)),
                            call.run(generic_kernels().find(call.entry->id, variant, InnerLayout::strided))))
        << call.text();
  }
  u64 elements_ = 0;
};

TEST_F(EachTarget, HasAKernelForEveryVariantAndLayout) {
#if defined(ANYDML_SOME_VECTORS)  // one file of entries has vectors, and four entries have kernels of their own
  std::set<EntryId> with_vectors;
  for_each_variant([&](const KernelTable& table, const Entry& entry, std::uint32_t variant) {
    if (table.find(entry.id, variant, InnerLayout::contiguous) !=
        generic_kernels().find(entry.id, variant, InnerLayout::contiguous)) {
      with_vectors.insert(entry.id);
    }
  });
  EXPECT_GT(with_vectors.size(), 4U);
#else
  for_each_variant([](const KernelTable& table, const Entry& entry, std::uint32_t variant) {
    const bool is_plain =  // same_bits.h explains why
        entry.id == EntryId::ELEMENT_WISE_POW && !is_float_type(entry.variants[variant][0]);
    for (std::size_t i = 0; i < kInnerLayouts; ++i) {
      const auto layout = static_cast<InnerLayout>(i);
      EXPECT_EQ(table.find(entry.id, variant, layout) == generic_kernels().find(entry.id, variant, layout), is_plain)
          << entry.name << " variant " << variant;
    }
  });
#endif
}

TEST_F(EachTarget, AllValuesOfUpTo16Bits) {
  Random random(kSeed);
  for_each_variant([&](const KernelTable& table, const Entry& entry, std::uint32_t variant) {
    const Variant& types = entry.variants[variant];
    const std::size_t size = element_size(types[0]);
    if (entry.inputs == 1 && size <= 2) {
      for (int round = 0; round < 8; ++round) {  // with different attributes
        Call call = packed_call(entry, types, std::size_t{1} << (8 * size), telling_attributes(random),
                                [](std::size_t, std::size_t n) { return n; });
        check(table, variant, InnerLayout::contiguous, call);
      }
    } else if (entry.inputs == 2 && size == 1 && element_size(types[1]) == 1) {
      Call call =
          packed_call(entry, types, 65'536, {}, [](std::size_t i, std::size_t n) { return i == 0 ? n >> 8 : n & 255; });
      check(table, variant, InnerLayout::contiguous, call);
    }
  });
  std::printf("  %" PRIu64 " elements\n", elements_);
}

TEST_F(EachTarget, EveryLayout) {
  for_each_variant([&](const KernelTable& table, const Entry& entry, std::uint32_t variant) {
    Random random(kSeed + entry.first_variant + variant);
    for (int round = 0; round < kLayouts; ++round) {
      Call call = random_call(entry, entry.variants[variant], random);
      check(table, variant, InnerLayout::strided, call);
      ASSERT_FALSE(HasFatalFailure());
    }
  });
  std::printf("  %" PRIu64 " elements\n", elements_);
}

// The layouts with dedicated kernels, at all lengths around the vector lengths.
TEST_F(EachTarget, RowsOfEveryLength) {
  for_each_variant([&](const KernelTable& table, const Entry& entry, std::uint32_t variant) {
    const Variant& types = entry.variants[variant];
    Random random(kSeed + entry.first_variant + variant);
    for (std::size_t count = 1; count < (kSanitized ? 40 : 140); ++count) {
      for (std::size_t repeated = 0; repeated <= entry.inputs; ++repeated) {  // one input is repeated, or none
        Call call = packed_call(entry, types, count, telling_attributes(random), [&](std::size_t i, std::size_t) {
          u64 bits = 0;
          fill(reinterpret_cast<std::byte*>(&bits), types[i], 1, random);
          return bits;
        });
        if (repeated < entry.inputs) {
          call.operands[repeated].stride = 0;
        }
        const InnerLayout layout = repeated == entry.inputs             ? InnerLayout::contiguous
                                   : entry.inputs == 2 && repeated == 0 ? InnerLayout::first_broadcast
                                   : entry.inputs == 2                  ? InnerLayout::second_broadcast
                                                                        : InnerLayout::strided;
        check(table, variant, layout, call);
      }
    }
  });
  std::printf("  %" PRIu64 " elements\n", elements_);
}

}  // namespace
}  // namespace anydml::test
