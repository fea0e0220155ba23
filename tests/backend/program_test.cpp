// SPDX-License-Identifier: MIT
// Runs element-wise programs of any length on values of any type, with several stores, in place and out of place. The
// results are compared with the scalar definitions applied one after another.
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/cpu/target.h"
#include "ops/elementwise/cpu/vector_kernels.h"
#include "ops/scalar/scalars.h"
#include "ops/scalar/signature.h"
#include "support/entry_step.h"
#include "support/layouts.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

// Computes one element with the scalar definition; inputs and result are bits.
using Apply = u64 (*)(const Attributes& attributes, const u64* inputs);

template <class ScalarOp>
u64 apply(const Attributes& attributes, const u64* inputs) {
  using Types = Signature<ScalarOp>;
  const auto scalar = make_scalar<ScalarOp>(attributes);
  const auto from_raw = [inputs]<class T>(std::size_t i, T*) {
    T value;
    std::memcpy(&value, &inputs[i], sizeof(value));
    return value;
  };
  const auto result = [&]<std::size_t... kInputs>(std::index_sequence<kInputs...>) {
    return scalar(from_raw(kInputs, static_cast<typename Types::template Input<kInputs>*>(nullptr))...);
  }
  (std::make_index_sequence<Types::kInputs>{});
  u64 bits = 0;
  std::memcpy(&bits, &result, sizeof(result));
  return bits;
}

struct Definition {
  EntryId entry;
  std::uint32_t variant;
  Apply apply;
};

const std::vector<Definition>& definitions() {
  static const std::vector<Definition> all = [] {
    std::vector<Definition> built;
#define ANYDML_ENTRY(op, Scalar)                                                                                     \
  {                                                                                                                  \
    std::uint32_t variant = 0;                                                                                       \
    for_each_variant<Scalar>([&]<class ScalarOp>() { built.push_back({EntryId::op, variant++, apply<ScalarOp>}); }); \
  }
#include "ops/elementwise/elementwise.def"
    return built;
  }();
  return all;
}

bool same_bits(DataType type, u64 a, u64 b) {
  const auto is_nan_of = [type](u64 bits) {
    switch (type) {
      case DataType::FLOAT16:
        return (bits & 0x7fff) > 0x7c00;
      case DataType::FLOAT32:
        return (bits & 0x7fffffff) > 0x7f800000;
      case DataType::FLOAT64:
        return (bits & ~(u64{1} << 63)) > u64{0x7ff} << 52;
      default:
        return false;
    }
  };
  return a == b || (is_nan_of(a) && is_nan_of(b));
}

// A tensor with its bytes. The bytes between its elements act as guards.
struct Held {
  DataType type;
  Layout layout;
  std::size_t before;  // counted in bytes, so that elements can have any alignment
  std::vector<std::byte> bytes;

  Held(DataType of, Layout laid, Random& random)
      : type(of),
        layout(std::move(laid)),
        before(random() % 8),
        bytes(before + static_cast<std::size_t>(layout.highest() - layout.lowest() + 1) * element_size(of)) {
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(random() % 4 == 0 ? 0 : random());
    }
  }
  [[nodiscard]] std::byte* element(i64 n) {
    return bytes.data() + before + static_cast<std::size_t>(layout.offset(n) - layout.lowest()) * element_size(type);
  }
  [[nodiscard]] std::byte* first() {
    return bytes.data() + before + static_cast<std::size_t>(-layout.lowest()) * element_size(type);
  }
  [[nodiscard]] u64 load(i64 n) {
    u64 bits = 0;
    std::memcpy(&bits, element(n), element_size(type));
    return bits;
  }
  void store(i64 n, u64 bits) { std::memcpy(element(n), &bits, element_size(type)); }
  [[nodiscard]] PlacedTensor placed(std::uint32_t slot) const {
    PlacedTensor built{.tensor = {}, .slot = slot};
    built.tensor.type = type;
    built.tensor.rank = static_cast<u32>(layout.sizes.size());
    std::copy(layout.sizes.begin(), layout.sizes.end(), built.tensor.sizes);
    std::copy(layout.strides.begin(), layout.strides.end(), built.tensor.strides);
    return built;
  }
};

struct BuiltProgram {
  const Definition* definition;
  std::vector<std::uint16_t> sources;
  Attributes attributes;
};

// Describes a program for messages: "; the program is ELEMENT_WISE_ADD(0, 1), ...".
std::string names_of(const std::vector<BuiltProgram>& program) {
  std::string text = "; the program is";
  for (const BuiltProgram& built : program) {
    text.append(" ").append(entry(built.definition->entry).name).append("(");
    for (std::size_t i = 0; i < built.sources.size(); ++i) {
      text.append(i == 0 ? "" : ", ").append(std::to_string(built.sources[i]));
    }
    text.append(")");
  }
  return text;
}

// A random instruction that reads some of the existing values.
std::optional<BuiltProgram> random_instruction(const std::vector<Definition>& among,
                                               const std::vector<DataType>& values, Random& random) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    const Definition& definition = among[random() % among.size()];
    const Entry& of = entry(definition.entry);
    // The bits of a NaN are unspecified, and a bitwise entry after another operation would expose them.
    if (of.name.find("_BIT_") != std::string_view::npos && is_float_type(of.variants[definition.variant][0])) {
      continue;
    }
    BuiltProgram built{&definition, {}, {}};
    for (std::size_t i = 0; i < of.inputs; ++i) {
      std::vector<std::uint16_t> fitting;
      for (std::uint16_t value = 0; value < values.size(); ++value) {
        if (values[value] == of.variants[definition.variant][i]) {
          fitting.push_back(value);
        }
      }
      if (fitting.empty()) {
        break;
      }
      built.sources.push_back(fitting[random() % fitting.size()]);
    }
    if (built.sources.size() == of.inputs) {
      for (Scalar& value : built.attributes.values) {
        value = Scalar(static_cast<f64>(static_cast<i64>(random() % 801) - 400) / 8);
      }
      return built;
    }
  }
  return std::nullopt;
}

// The instructions that programs are drawn from, and the device on which they run.
struct Kind {
  const std::vector<Definition>& definitions;
  std::size_t max_instructions;
  bool in_rows;  // FLOAT32 in rows that are contiguous or broadcast
  BackendDevice* device = cpu_of_tests();
  BackendQueue* queue = queue_of_tests();
};

// Returns a layout with two dimensions. With `repeats`, a row, a column or a single number may be broadcast.
Layout layout_in_rows(const std::vector<i64>& sizes, Random& random, bool repeats) {
  const i64 padding = random() % 3 == 0 ? static_cast<i64>(random() % 5) : 0;
  const u64 kind = repeats ? random() % 6 : 0;
  return {sizes, {kind == 1 || kind == 3 ? 0 : sizes[1] + padding, kind == 2 || kind == 3 ? 0 : 1}};
}

void check_once(Random& random, const Kind& kind, u64& elements, std::size_t& longest) {
  const auto sizes = kind.in_rows ? std::vector<i64>{1 + static_cast<i64>(random() % 3),
                                                     1 + static_cast<i64>(random() % (random() % 4 == 0 ? 3000 : 200))}
                                  : random_sizes(random, 5, random() % 16 == 0 ? 20'000 : 600);
  const auto lay = [&](bool repeats) {
    return kind.in_rows ? layout_in_rows(sizes, random, repeats) : random_layout(sizes, random, repeats);
  };
  const std::size_t loads = 1 + random() % 5;
  std::vector<DataType> values;
  std::vector<Held> held;
  for (std::size_t i = 0; i < loads; ++i) {
    values.push_back(kind.in_rows ? DataType::FLOAT32 : static_cast<DataType>(1 + random() % 11));
    held.emplace_back(values.back(), lay(true), random);
  }
  ElementwiseProgram program(static_cast<std::uint32_t>(loads));
  std::vector<BuiltProgram> built;
  for (std::size_t wanted = 1 + random() % kind.max_instructions; built.size() < wanted;) {
    const auto one = random_instruction(kind.definitions, values, random);
    if (!one) {
      break;
    }
    built.push_back(*one);
    const Entry& of = entry(one->definition->entry);
    values.push_back(of.variants[one->definition->variant][of.inputs]);
    program.add(of.id, one->definition->variant, one->sources, one->attributes);
  }
  if (built.empty()) {
    return;
  }
  longest = std::max(longest, built.size());
  std::vector<std::uint16_t> stored;
  for (std::size_t i = 0, count = 1 + random() % 4; i < count; ++i) {
    const bool last = i == 0 || random() % 3 == 0;
    stored.push_back(static_cast<std::uint16_t>(loads + (last ? built.size() - 1 : random() % built.size())));
    held.emplace_back(values[stored.back()], lay(false), random);
  }
  // A store may overwrite a load's tensor if their elements have the same size.
  const std::size_t under = random() % loads;
  const std::size_t over = loads + random() % stored.size();
  const bool in_place = element_size(held[under].type) == element_size(held[over].type) && random() % 2 == 0;
  if (in_place) {
    held[under] = Held(held[under].type, held[over].layout, random);
    held[over].before = held[under].before;
    held[over].bytes = held[under].bytes;
  }

  std::vector<Held> expected = held;
  const i64 count = held[loads].layout.count();
  for (i64 n = 0; n < count; ++n) {
    std::vector<u64> results;
    for (std::size_t i = 0; i < loads; ++i) {
      results.push_back(held[i].load(n));
    }
    for (const BuiltProgram& one : built) {
      u64 inputs[kMaxInputs] = {};
      for (std::size_t i = 0; i < one.sources.size(); ++i) {
        inputs[i] = results[one.sources[i]];
      }
      results.push_back(one.definition->apply(one.attributes, inputs));
    }
    for (std::size_t i = 0; i < stored.size(); ++i) {
      expected[loads + i].store(n, results[stored[i]]);
    }
    ++elements;
  }

  Plan plan(static_cast<std::uint32_t>(loads), static_cast<std::uint32_t>(stored.size()));
  std::vector<PlacedTensor> tensors;
  std::vector<void*> addresses;
  for (std::uint32_t i = 0; i < held.size(); ++i) {
    tensors.push_back(held[i].placed(i));
    addresses.push_back(in_place && i == under ? held[over].first() : held[i].first());
  }
  add_elementwise(plan, program, tensors, stored);
  run(plan, addresses.data(), kind.device, kind.queue);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    Held& got = held[loads + i];
    Held& wanted = expected[loads + i];
    for (i64 n = 0; n < count; ++n) {
      ASSERT_TRUE(same_bits(got.type, got.load(n), wanted.load(n)))
          << "element " << n << " of store " << i << " is 0x" << std::hex << got.load(n) << "; expected 0x"
          << wanted.load(n) << std::dec << names_of(built);
      wanted.store(n, got.load(n));
    }
    ASSERT_EQ(got.bytes, wanted.bytes) << "a byte between the elements was written";
  }
}

TEST(Programs, AreTheirDefinitionsOneAfterAnother) {
  Random random(kSeed);
  u64 elements = 0;
  std::size_t longest = 0;
  for (int round = 0; round < (kSanitized ? 40 : 400) && !HasFatalFailure(); ++round) {
    const Kind kind{.definitions = definitions(), .max_instructions = round % 8 == 0 ? 60U : 8U, .in_rows = false};
    check_once(random, kind, elements, longest);
  }
  EXPECT_GT(longest, 25U);
  std::printf("  %" PRIu64 " elements, programs of up to %zu instructions, all equal to the scalars\n", elements,
              longest);
}

// Programs with only FLOAT32 instructions, which keep their results in registers.
TEST(Runs, AreTheirDefinitionsOneAfterAnother) {
  u64 elements = 0;
  std::size_t longest = 0;
  for (const KernelTarget& target : vector_targets()) {
    const auto runs = cpu::machine_targets();
    if (std::ranges::find(runs, target.target) == runs.end()) {
      continue;
    }
    KernelTable table = generic_kernels();
    target.replace(table);
    std::vector<Definition> in_runs;
    std::ranges::copy_if(definitions(), std::back_inserter(in_runs), [&](const Definition& definition) {
      return table.find_run(definition.entry, definition.variant) != nullptr;
    });
    EXPECT_GT(in_runs.size(), 25U);
    const BackendSettings settings{.threads = 3, .cpu_target = cpu::target_name(target.target)};
    Kind kind{.definitions = in_runs, .max_instructions = 0, .in_rows = true, .device = nullptr, .queue = nullptr};
    {
      const std::scoped_lock lock(process_mutex());
      ASSERT_EQ(cpu_backend().open(0, &settings, &kind.device).code, BackendCode::ok);
    }
    ASSERT_EQ(cpu_backend().create_queue(kind.device, &kind.queue).code, BackendCode::ok);
    Random random(kSeed);
    for (int round = 0; round < (kSanitized ? 40 : 600) && !HasFatalFailure(); ++round) {
      kind.max_instructions = round % 8 == 0 ? 60 : 8;
      check_once(random, kind, elements, longest);
    }
    cpu_backend().destroy_queue(kind.queue);
    const std::scoped_lock lock(process_mutex());
    cpu_backend().close(kind.device);
  }
  std::printf("  %" PRIu64 " elements, all equal to the scalars\n", elements);
}

// A program with more live values than fit in the scratch memory. Compilation rejects it, and nothing runs.
TEST(Programs, WithTooManyLiveValuesAreRefused) {
  ElementwiseProgram program(1);
  const Entry& negate = entry(EntryId::ELEMENT_WISE_NEGATE);
  const Entry& add = entry(EntryId::ELEMENT_WISE_ADD);
  std::vector<std::uint16_t> results;
  for (int i = 0; i < 100; ++i) {
    const std::uint16_t source[] = {0};
    results.push_back(program.add(negate.id, find_variant(negate, DataType::FLOAT32), source));
  }
  std::uint16_t sum = results[0];
  for (int i = 1; i < 100; ++i) {
    const std::uint16_t sources[] = {sum, results[static_cast<std::size_t>(i)]};
    sum = program.add(add.id, find_variant(add, DataType::FLOAT32), sources);
  }
  PlacedTensor tensors[2];
  for (std::uint32_t i = 0; i < 2; ++i) {
    tensors[i] = {.tensor = {.type = DataType::FLOAT32, .rank = 1, .sizes = {8}, .strides = {1}}, .slot = i};
  }
  Plan plan(1, 1);
  const std::uint16_t stored[] = {sum};
  add_elementwise(plan, program, tensors, stored);
  BackendProgram* compiled = nullptr;
  const BackendPlan flat = backend_plan(plan);
  EXPECT_EQ(cpu_backend().compile(cpu_of_tests(), &flat, &compiled).code, BackendCode::failed);
  EXPECT_EQ(compiled, nullptr);
}

}  // namespace
}  // namespace anydml::test
