// SPDX-License-Identifier: MIT
// Tests every single-type entry through the plan and the CPU backend, over every kind of layout, and compares the
// results bit for bit with the scalar definition. The entries come from elementwise.def, so new ones are tested
// automatically. typed_entries_test.cpp covers entries whose tensors differ in type.
#include "backend/backend.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <mutex>

#include "backend/cpu/cpu_backend.h"
#include "base/process.h"
#include "base/shape.h"
#include "ops/elementwise/cpu/kernels.h"
#include "ops/scalar/scalars.h"
#include "ops/scalar/signature.h"
#include "support/entry_step.h"
#include "support/layouts.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

constexpr int kRounds = kThreadSanitizer ? 5 : kSanitized ? 12 : 60;

BackendDevice* device() { return cpu_of_tests(); }
BackendQueue* queue() { return queue_of_tests(); }

Attributes random_attributes(Random& random) {
  Attributes attributes;
  for (Scalar& value : attributes.values) {
    value = Scalar(static_cast<double>(static_cast<i64>(random() % 4001) - 2000) / 8);
  }
  return attributes;
}

// Computes one element with the scalar definition. Only this function is compiled for each entry and type; the rest is
// compiled once per type.
template <class T>
using Apply = T (*)(const Attributes& attributes, const T* inputs);

template <class ScalarOp, class T>
T apply(const Attributes& attributes, const T* inputs) {
  constexpr std::size_t kInputs = scalar_inputs<ScalarOp, T>();
  const auto op = make_scalar<ScalarOp>(attributes);
  if constexpr (kInputs == 1) {
    return op(inputs[0]);
  } else if constexpr (kInputs == 2) {
    return op(inputs[0], inputs[1]);
  } else {
    return op(inputs[0], inputs[1], inputs[2]);
  }
}

bool takes_scale_bias(const Entry& entry) {
  return entry.facts != nullptr && std::ranges::find(entry.facts->fields, facts::FieldType::scale_bias,
                                                     &facts::Field::type) != entry.facts->fields.end();
}

// One random problem with its layouts and values. Some problems run in place, and some have a ScaleBias before the
// entry.
template <class T>
void check_once(const Entry& entry, Apply<T> apply_scalar, Random& random, u64& elements) {
  const std::size_t input_count = entry.inputs;
  // Most sizes are small for speed, but some are larger than a chunk, so that threads share the work.
  const auto sizes = random_sizes(random, 8, random() % 16 == 0 ? 50'000 : 600);
  EntryStep desc;
  desc.entry = &entry;
  desc.variant = find_variant(entry, kDataTypeOf<T>);
  desc.attributes = random_attributes(random);
  // Only entries that accept a ScaleBias get one. Bitwise entries would expose the bits of a NaN, which are
  // unspecified.
  desc.has_scale_bias = is_float<T> && takes_scale_bias(entry) && random() % 2 == 0;
  desc.scale_bias = random_attributes(random);

  std::vector<Layout> layouts;
  for (std::size_t i = 0; i <= input_count; ++i) {
    layouts.push_back(random_layout(sizes, random, i < input_count));
  }
  const std::size_t in_place = random() % 3 == 0 ? random() % input_count : input_count;
  layouts[in_place] = layouts[input_count];
  std::vector<Memory<T>> memory;
  void* addresses[kMaxOperands + 1] = {};
  for (std::size_t i = 0; i <= input_count; ++i) {
    desc.tensors[i].type = kDataTypeOf<T>;
    desc.tensors[i].rank = static_cast<u32>(sizes.size());
    std::copy(sizes.begin(), sizes.end(), desc.tensors[i].sizes);
    std::copy(layouts[i].strides.begin(), layouts[i].strides.end(), desc.tensors[i].strides);
    memory.emplace_back(layouts[i], random);
  }
  if (in_place < input_count) {
    memory[input_count] = memory[in_place];
  }
  for (std::size_t i = 0; i <= input_count; ++i) {
    addresses[i] = memory[i].data();
  }
  if (in_place < input_count) {
    addresses[in_place] = addresses[input_count];
  }

  Memory<T> expected = memory[input_count];
  for (i64 n = 0; n < layouts[input_count].count(); ++n) {
    T inputs[kMaxInputs] = {};
    for (std::size_t i = 0; i < input_count; ++i) {
      inputs[i] = memory[i].load(layouts[i].offset(n));
    }
    if constexpr (is_float<T>) {
      if (desc.has_scale_bias) {
        inputs[0] = ScaleBias<T>(desc.scale_bias)(inputs[0]);
      }
    }
    expected.store(layouts[input_count].offset(n), apply_scalar(desc.attributes, inputs));
    ++elements;
  }
  run(make_plan(desc), addresses);
  ASSERT_TRUE(memory[input_count].equals(expected, layouts[input_count], 0))
      << entry.name << " " << type_name(kDataTypeOf<T>) << " sizes "
      << shape_text(desc.output().sizes, desc.output().rank) << " output strides "
      << shape_text(desc.output().strides, desc.output().rank) << " in place " << in_place;
}

template <template <class> class ScalarOp, class T>
void check_type(const Entry& entry, u64& elements) {
  if constexpr (scalar_inputs<ScalarOp<T>, T>() != 0) {
    Random random(kSeed + static_cast<u64>(entry.id) * 100 + static_cast<u64>(kDataTypeOf<T>));
    for (int round = 0; round < kRounds && !testing::Test::HasFatalFailure(); ++round) {
      check_once<T>(entry, apply<ScalarOp<T>, T>, random, elements);
    }
  }
}

template <template <class> class ScalarOp>
void check_entry(EntryId id) {
  u64 elements = 0;
#define ANYDML_CHECK(T, name, value) check_type<ScalarOp, T>(entry(id), elements);
  ANYDML_FOR_EACH_TYPE(ANYDML_CHECK)
#undef ANYDML_CHECK
  if (!testing::Test::HasFailure()) {
    std::printf("  %-32s %9" PRIu64 " elements, every type and layout, all equal to the scalar\n",
                std::string(entry(id).name).c_str(), elements);
  }
}

#define ANYDML_TYPED_ENTRY(op, Scalar)
#define ANYDML_ENTRY(op, Scalar) \
  TEST(Kernels, op) { check_entry<Scalar>(EntryId::op); }
#include "ops/elementwise/elementwise.def"

TEST(Kernels, TableHasOneForEachVariantOfAnEntry) {
  EXPECT_EQ(generic_kernels().kernels.size(), variant_count());
  for (const Entry& entry : entries()) {
    ASSERT_FALSE(entry.variants.empty()) << entry.name;
    for (std::uint32_t variant = 0; variant <= entry.variants.size(); ++variant) {
      for (std::size_t layout = 0; layout < kInnerLayouts; ++layout) {
        const bool found = generic_kernels().find(entry.id, variant, static_cast<InnerLayout>(layout)) != nullptr;
        EXPECT_EQ(found, variant < entry.variants.size()) << entry.name << " variant " << variant;
      }
    }
  }
  EXPECT_EQ(entry(EntryId::CAST).variants.size(), 121U);
  EXPECT_EQ(entry(EntryId::ELEMENT_WISE_LOGICAL_EQUALS).variants.size(), 22U);
  EXPECT_EQ(entry(EntryId::ELEMENT_WISE_IF).variants.size(), 11U);
}

TEST(CpuBackend, TargetsByName) {
  const std::scoped_lock lock(process_mutex());
  for (const char* name : {"", "generic"}) {
    const BackendSettings settings{.threads = 3, .cpu_target = name};
    BackendDevice* opened = nullptr;
    ASSERT_EQ(cpu_backend().open(0, &settings, &opened).code, BackendCode::ok) << name;
    cpu_backend().close(opened);
  }
  const BackendSettings settings{.threads = 3, .cpu_target = "abacus"};
  BackendDevice* none = nullptr;
  const BackendStatus status = cpu_backend().open(0, &settings, &none);
  ASSERT_EQ(status.code, BackendCode::failed);
  EXPECT_NE(std::string(status.message).find("ANYDML_CPU_TARGET is 'abacus'; expected one that this machine runs: "),
            std::string::npos);
  EXPECT_NE(std::string(status.message).find("generic"), std::string::npos);
}

TEST(CpuBackend, DescribesItsDevice) {
  BackendDeviceInfo info{};
  cpu_backend().describe(device(), &info);
  EXPECT_STREQ(info.name, "cpu");
  EXPECT_GE(info.threads, 1U);
  EXPECT_GT(info.memory_bytes, 0U);
  EXPECT_EQ(cpu_backend().device_count(), 1U);
  BackendDevice* none = nullptr;
  const BackendSettings settings{};
  EXPECT_EQ(cpu_backend().open(1, &settings, &none).code, BackendCode::failed);
}

TEST(CpuBackend, AllocatesAndCopies) {
  MemoryBlock memory = {};
  ASSERT_EQ(cpu_backend().allocate(device(), MemoryKind::temporary, 1000, &memory).code, BackendCode::ok);
  EXPECT_EQ(memory.address % kTemporaryAlignment, 0U);
  const char text[] = "bytes";
  EXPECT_EQ(cpu_backend().copy(queue(), {memory.handle, 0}, location_at(text), sizeof(text)).code, BackendCode::ok);
  EXPECT_STREQ(reinterpret_cast<const char*>(memory.host), text);
  cpu_backend().release(device(), MemoryKind::temporary, 1000, memory.handle);
}

TEST(CpuBackend, SaysWhenMemoryIsNotToBeHad) {
  if (kSanitized) {
    GTEST_SKIP() << "sanitizers abort on an allocation of this size";
  }
  MemoryBlock memory = {};
  EXPECT_EQ(cpu_backend().allocate(device(), MemoryKind::temporary, u64{1} << 60, &memory).code,
            BackendCode::out_of_memory);
  EXPECT_EQ(memory.handle, nullptr);
}

// A forked child has no workers and must still finish its jobs.
TEST(CpuBackend, WorksInAForkedChild) {
  if (kThreadSanitizer) {
    GTEST_SKIP() << "ThreadSanitizer does not support a fork with many threads";
  }
  std::vector<f32> a(100'000, 7.0F);
  std::vector<f32> out(a.size());
  EntryStep desc;
  desc.entry = &entry(EntryId::ELEMENT_WISE_MODULUS_FLOOR);
  for (TensorDesc& tensor : desc.tensors) {
    tensor = {.type = DataType::FLOAT32, .rank = 1, .sizes = {static_cast<i64>(a.size())}, .strides = {1}};
  }
  void* addresses[] = {a.data(), a.data(), out.data(), nullptr};
  const Plan plan = make_plan(desc);
  run(plan, addresses);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(30);  // a hang must not block the test
    run(plan, addresses);
    // The workers are created again by the first job that can use them.
    BackendDeviceInfo info{};
    cpu_backend().describe(device(), &info);
    _exit(out[50'000] == 0.0F && info.threads == 3 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace anydml::test
