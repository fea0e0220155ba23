// SPDX-License-Identifier: MIT
// Tests every variant of the entries whose tensors differ in type, through the plan and the CPU backend and over every
// kind of layout, and compares the results bit for bit with the scalar definition. The entries come from
// elementwise.def, so new ones are tested automatically.
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstring>
#include <variant>
#include <vector>

#include "base/shape.h"
#include "ops/scalar/scalars.h"
#include "ops/scalar/signature.h"
#include "support/entry_step.h"
#include "support/layouts.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

constexpr int kRounds = kSanitized ? 3 : 12;

// A tensor's memory, with its elements as bits. To compile less code, integer types are distinguished only by size.
// Float types are distinguished individually, because all NaNs of a type count as equal. The rest is compiled once for
// all variants.
class AnyMemory {
 public:
  AnyMemory(DataType type, const Layout& layout, Random& random)
      : memory_(visit_type(type, [&]<class T>() -> Sized {
          using Kept = std::conditional_t<is_float<T>, T, typename UnsignedOf<T>::type>;
          return Memory<Kept>(layout, random);
        })) {}

  [[nodiscard]] u64 load(i64 offset) const {
    return std::visit([offset](const auto& memory) { return test::bits_of(memory.load(offset)); }, memory_);
  }
  void store(i64 offset, u64 bits) {
    std::visit([&]<class T>(Memory<T>& memory) { memory.store(offset, test::from_raw<T>(bits)); }, memory_);
  }
  [[nodiscard]] void* data() {
    return std::visit([](auto& memory) -> void* { return memory.data(); }, memory_);
  }
  [[nodiscard]] bool equals(const AnyMemory& other, const Layout& layout) const {
    return std::visit(
        [&]<class T>(const Memory<T>& memory) {
          return static_cast<bool>(memory.equals(std::get<Memory<T>>(other.memory_), layout, 0));
        },
        memory_);
  }

 private:
  using Sized = std::variant<Memory<u8>, Memory<u16>, Memory<u32>, Memory<u64>, Memory<f16>, Memory<f32>, Memory<f64>>;
  Sized memory_;
};

// Computes one element with the scalar definition, on bits. Only this part is compiled for each variant.
using Apply = u64 (*)(const u64* inputs);

template <class ScalarOp>
u64 apply(const u64* inputs) {
  using Types = Signature<ScalarOp>;
  const auto scalar = make_scalar<ScalarOp>(Attributes{});
  const auto result = [&]<std::size_t... kInputs>(std::index_sequence<kInputs...>) {
    return scalar(from_raw<typename Types::template Input<kInputs>>(inputs[kInputs])...);
  }
  (std::make_index_sequence<Types::kInputs>{});
  u64 bits = 0;
  std::memcpy(&bits, &result, sizeof(result));
  return bits;
}

void check_once(const Entry& entry, std::uint32_t variant, Apply apply_scalar, Random& random, u64& elements) {
  const Variant& types = entry.variants[variant];
  const auto sizes = random_sizes(random, 8, random() % 16 == 0 ? 50'000 : 600);
  EntryStep desc;
  desc.entry = &entry;
  desc.variant = variant;
  std::vector<Layout> layouts;
  for (std::size_t i = 0; i <= entry.inputs; ++i) {
    layouts.push_back(random_layout(sizes, random, i < entry.inputs));
  }
  // Some problems run in place, if an input has the output's type.
  const std::size_t in_place = random() % entry.inputs;
  const bool is_in_place = types[in_place] == types[entry.inputs] && random() % 3 == 0;
  if (is_in_place) {
    layouts[in_place] = layouts[entry.inputs];
  }
  std::vector<AnyMemory> memory;
  for (std::size_t i = 0; i <= entry.inputs; ++i) {
    desc.tensors[i].type = types[i];
    desc.tensors[i].rank = static_cast<u32>(sizes.size());
    std::copy(sizes.begin(), sizes.end(), desc.tensors[i].sizes);
    std::copy(layouts[i].strides.begin(), layouts[i].strides.end(), desc.tensors[i].strides);
    memory.emplace_back(types[i], layouts[i], random);
  }
  AnyMemory& output = memory.back();
  if (is_in_place) {
    output = memory[in_place];
  }
  AnyMemory expected = output;
  for (i64 n = 0; n < layouts[entry.inputs].count(); ++n) {
    u64 inputs[kMaxInputs] = {};
    for (std::size_t i = 0; i < entry.inputs; ++i) {
      inputs[i] = memory[i].load(layouts[i].offset(n));
    }
    expected.store(layouts[entry.inputs].offset(n), apply_scalar(inputs));
    ++elements;
  }
  void* addresses[kMaxOperands + 1] = {};
  for (std::size_t i = 0; i <= entry.inputs; ++i) {
    addresses[i] = is_in_place && i == in_place ? output.data() : memory[i].data();
  }
  run(make_plan(desc), addresses);
  ASSERT_TRUE(output.equals(expected, layouts[entry.inputs]))
      << entry.name << " " << type_name(types[0]) << " to " << type_name(types[entry.inputs]) << " sizes "
      << shape_text(desc.output().sizes, desc.output().rank) << " output strides "
      << shape_text(desc.output().strides, desc.output().rank) << (is_in_place ? " in place" : "");
}

template <class ForEach>
void check_entry(EntryId id, const ForEach& for_each) {
  std::vector<Apply> all;
  for_each([&]<class ScalarOp>() { all.push_back(apply<ScalarOp>); });
  ASSERT_EQ(all.size(), entry(id).variants.size());
  u64 elements = 0;
  for (std::uint32_t variant = 0; variant < all.size(); ++variant) {
    Random random(kSeed + static_cast<u64>(id) * 1000 + variant);
    for (int round = 0; round < kRounds && !testing::Test::HasFatalFailure(); ++round) {
      check_once(entry(id), variant, all[variant], random, elements);
    }
  }
  if (!testing::Test::HasFailure()) {
    std::printf("  %-32s %9" PRIu64 " elements of %zu variants, every layout, all equal to the scalar\n",
                std::string(entry(id).name).c_str(), elements, all.size());
  }
}

#define ANYDML_ENTRY(op, Definition)
#define ANYDML_INTERNAL_ENTRY(op, Definition)
#define ANYDML_TYPED_ENTRY(op, Definition)                                                \
  TEST(TypedEntries, op) {                                                                \
    check_entry(EntryId::op, [](const auto& use) { for_each_variant<Definition>(use); }); \
  }
#include "ops/elementwise/elementwise.def"

// ---- The definitions, computed in a different way ----

template <class T>
u64 class_of(T value) {  // returns the bits of the value, and the same result for all NaNs
  if constexpr (is_float<T>) {
    if (is_nan(value)) {
      return ~u64{0};
    }
  }
  return bits_of(value);
}

// Converts an integer to a float with integer arithmetic only, whereas the definition leaves the rounding to the
// hardware.
template <class To, class From>
To rounded_by_integers(From x) {
  using F = FloatParts<To>;
  const bool negative = x < From{0};
  u64 magnitude = negative ? u64{0} - static_cast<u64>(x) : static_cast<u64>(x);
  if (magnitude == 0) {
    return from_raw<To>(0);
  }
  const int width = 64 - leading_zeros(magnitude);
  const int drop = width - (F::kFractionBits + 1);
  if (drop > 0) {
    const u64 lost = magnitude & ((u64{1} << drop) - 1);
    const u64 half = u64{1} << (drop - 1);
    magnitude >>= drop;
    magnitude += lost > half || (lost == half && (magnitude & 1) != 0) ? 1 : 0;
  } else {
    magnitude <<= -drop;
  }
  // The hidden bit and a carry from the rounding each add one to the exponent.
  const u64 bits = (static_cast<u64>(width - 1 + F::kBias - 1) << F::kFractionBits) + magnitude;
  return from_raw<To>(std::min<u64>(bits, F::kInfinity) | (negative ? u64{F::kSign} : 0));
}

// A cast computed differently from the definition: through integers, wider types and long double.
template <class From, class To>
To expected_cast(From x) {
  if constexpr (is_float<To>) {
    if constexpr (is_float<From>) {
      const auto wide = static_cast<f64>(widen(x));
      if constexpr (sizeof(To) == 2) {
        return round_to<f16>(wide);
      } else {
        return static_cast<To>(wide);
      }
    } else {
      return rounded_by_integers<To>(x);
    }
  } else if constexpr (is_float<From>) {
    const auto wide = static_cast<long double>(widen(x));
    if (wide != wide) {
      return 0;
    }
    constexpr auto kMin = static_cast<long double>(std::numeric_limits<To>::min());
    constexpr auto kMax = static_cast<long double>(std::numeric_limits<To>::max());
    return wide <= kMin   ? std::numeric_limits<To>::min()
           : wide >= kMax ? std::numeric_limits<To>::max()
                          : static_cast<To>(wide);
  } else {
    __extension__ typedef __int128 Wide;
    const Wide modulus = Wide{1} << (8 * sizeof(To));
    Wide rest = static_cast<Wide>(x) % modulus;
    rest = rest < 0 ? rest + modulus : rest;
    if (std::is_signed_v<To> && rest >= modulus / 2) {
      rest -= modulus;
    }
    return static_cast<To>(rest);
  }
}

TEST(TypedEntries, CastIsTheConversionOfOthers) {
  for_each_variant<Cast>([]<class Scalar>() {
    using From = typename Signature<Scalar>::template Input<0>;
    using To = typename Signature<Scalar>::Output;
    // Types of up to 16 bits are tested with every value, and wider types with random bits, small numbers, and numbers
    // around powers of two.
    constexpr bool kAll = sizeof(From) <= 2;
    const u64 count = kAll ? u64{1} << (8 * sizeof(From)) : 20'000;
    Random random(kSeed);
    for (u64 n = 0; n < count && !testing::Test::HasFatalFailure(); ++n) {
      u64 bits = kAll ? n : random();
      if (!kAll && n % 2 == 0) {
        const i64 near = (i64{1} << (random() % 63)) + static_cast<i64>(random() % 5) - 2;
        const i64 signed_near = n % 4 == 0 ? near : -near;
        if constexpr (is_float<From>) {
          const auto value = static_cast<From>(static_cast<f64>(signed_near) / (n % 3 == 0 ? 2 : 1));
          bits = bits_of(value);
        } else {
          bits = static_cast<u64>(signed_near);
        }
      }
      From x;
      std::memcpy(&x, &bits, sizeof(x));
      ASSERT_EQ(class_of(Scalar{}(x)), class_of(expected_cast<From, To>(x)))
          << type_name(kDataTypeOf<From>) << " bits " << bits << " to " << type_name(kDataTypeOf<To>);
    }
  });
}

}  // namespace
}  // namespace anydml::test
