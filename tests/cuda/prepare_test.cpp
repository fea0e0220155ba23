// SPDX-License-Identifier: MIT
// Tests how element-wise steps are prepared for the GPU, without a GPU: the choice of a kernel for each layout and
// address, and the interpreter's code. The tables of kernels are fakes that record the launches.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "ops/elementwise/cuda/prepared.h"
#include "ops/elementwise/cuda/variants.h"
#include "ops/elementwise/program.h"

namespace anydml::cuda {
namespace {

std::string g_launched;

template <char kName>
cudaError_t record(const KernelLaunch& launch, cudaStream_t) noexcept {
  g_launched = kName;
  g_launched += launch.aligned ? "" : " unaligned";
  return cudaSuccess;
}

constexpr KernelSet make_set(bool tuned, bool scaled, std::initializer_list<std::uint8_t> sizes) {
  KernelSet set{};
  set.strided = scaled ? record<'S'> : record<'s'>;
  set.vector = scaled ? record<'V'> : record<'v'>;
  set.transposed = tuned ? record<'t'> : nullptr;
  set.inputs = static_cast<std::uint8_t>(sizes.size() - 1);
  set.max_staying = tuned ? 1 : set.inputs;
  set.vector_elements = static_cast<std::uint8_t>(16 / std::max(sizes));
  set.tile_elements = 64;
  set.output_type = static_cast<std::uint8_t>(DataType::FLOAT32);
  std::copy(sizes.begin(), sizes.end(), set.element_sizes);
  set.make_scalar = [](const Attributes&, const Attributes&, ScalarBytes&) {};
  return set;
}
constexpr KernelSet kAdd = make_set(false, false, {4, 4, 4});
constexpr KernelSet kModulus = make_set(true, false, {4, 4, 4});
constexpr KernelSet kClip = make_set(false, false, {4, 4});
constexpr KernelSet kScaledClip = make_set(false, true, {4, 4});
constexpr KernelSet kCast = make_set(false, false, {1, 4});

}  // namespace

const KernelSet* find_kernels(EntryId entry, std::uint32_t) noexcept {
  return entry == EntryId::ELEMENT_WISE_ADD             ? &kAdd
         : entry == EntryId::ELEMENT_WISE_MODULUS_FLOOR ? &kModulus
         : entry == EntryId::ELEMENT_WISE_CLIP          ? &kClip
         : entry == EntryId::CAST                       ? &kCast
                                                        : nullptr;
}
const KernelSet* find_scaled_kernels(EntryId entry, std::uint32_t) noexcept {
  return entry == EntryId::ELEMENT_WISE_CLIP ? &kScaledClip : nullptr;
}
std::shared_ptr<const RuntimeKernels> find_runtime_kernels(const KernelSource&, const GpuProperties&) {
  return nullptr;  // NVRTC is not available
}
bool takes_small_tasks(EntryId entry) noexcept { return entry == EntryId::ELEMENT_WISE_ADD; }
cudaError_t launch_at_once(const SmallTask*, std::uint32_t, cudaStream_t) noexcept { return cudaSuccess; }
cudaError_t launch_in_waves(const SmallTask*, std::uint32_t, cudaStream_t) noexcept { return cudaSuccess; }
cudaError_t launch_code(const Code&, const KernelLaunch&, cudaStream_t) noexcept {
  g_launched = "code";
  return cudaSuccess;
}
// All elements are 4 bytes wide. ADD has two inputs, and every other entry has one.
bool find_function(EntryId entry, std::uint32_t, CodeFunction& function) noexcept {
  function = {};
  function.number = static_cast<std::uint16_t>(entry);
  function.inputs = entry == EntryId::ELEMENT_WISE_ADD ? 2 : 1;
  std::fill_n(function.element_sizes, function.inputs + 1, 4);
  function.scalar_words = 0;
  function.make_scalar = [](const Attributes&, std::uint64_t*) {};
  return entry != EntryId::ELEMENT_WISE_IF;
}

namespace {

constexpr std::uint64_t kBase = 1 << 20;
const GpuProperties kProperties{};

TensorDesc tensor(DataType type, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides) {
  TensorDesc built;
  built.type = type;
  built.rank = static_cast<std::uint32_t>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), built.sizes);
  std::copy(strides.begin(), strides.end(), built.strides);
  return built;
}

ElementStep step_of(EntryId entry, const std::vector<TensorDesc>& tensors) {
  ElementStep step{.nest = make_loop_nest(tensors), .types = {}, .loads = 0, .program = {}, .stored = {}};
  step.loads = step.nest.operands - 1;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    step.types[i] = tensors[i].type;
  }
  step.program.push_back({.entry = entry, .variant = 0, .sources = {}, .attributes = {}});
  for (std::uint16_t i = 0; i < step.loads; ++i) {
    step.program[0].sources[i] = i;
  }
  step.stored = {static_cast<std::uint16_t>(step.loads)};
  return step;
}

// The kernel that is launched if these bytes are added to the operands' addresses, which are multiples of 16.
std::string launched(const ElementStep& step, std::vector<std::uint64_t> added = {}) {
  PreparedElements prepared;
  if (const char* const why = prepared.prepare(step, kProperties); why != nullptr) {
    return why;
  }
  std::byte* bases[kMaxOperands] = {};
  for (std::size_t i = 0; i < step.nest.operands; ++i) {
    bases[i] = reinterpret_cast<std::byte*>(kBase * (i + 1) + (i < added.size() ? added[i] : 0));
  }
  g_launched.clear();
  EXPECT_EQ(prepared.launch(bases, nullptr, nullptr), cudaSuccess);
  return g_launched;
}

constexpr DataType kFloat = DataType::FLOAT32;

TEST(Prepare, ContiguousRowsUseVectors) {
  const TensorDesc whole = tensor(kFloat, {3, 64}, {64, 1});
  const ElementStep step = step_of(EntryId::ELEMENT_WISE_ADD, {whole, whole, whole});
  EXPECT_EQ(launched(step), "v");
  EXPECT_EQ(launched(step, {0, 4, 0}), "s");
  EXPECT_EQ(launched(step, {0, 0, 2}), "s unaligned");
}

TEST(Prepare, EachOperandIsAlignedToItsOwnAccess) {
  const ElementStep step = step_of(EntryId::CAST, {tensor(DataType::UINT8, {1001}, {1}), tensor(kFloat, {1001}, {1})});
  EXPECT_EQ(launched(step, {4, 0}), "v");  // the kernel processes four one-byte elements at a time
  EXPECT_EQ(launched(step, {2, 0}), "s");
  EXPECT_EQ(launched(step, {4, 8}), "s");
  EXPECT_EQ(launched(step, {1, 0}), "s");
  EXPECT_EQ(launched(step, {0, 1}), "s unaligned");
  // Rows of one-byte elements begin at multiples of 4, not of 16.
  EXPECT_EQ(launched(step_of(EntryId::CAST,
                             {tensor(DataType::UINT8, {5, 100}, {104, 1}), tensor(kFloat, {5, 100}, {100, 1})})),
            "v");
  EXPECT_EQ(launched(step_of(EntryId::CAST,
                             {tensor(DataType::UINT8, {5, 100}, {102, 1}), tensor(kFloat, {5, 100}, {100, 1})})),
            "s");
}

TEST(Prepare, RepeatedElementsStay) {
  const TensorDesc whole = tensor(kFloat, {64, 64}, {64, 1});
  const TensorDesc one = tensor(kFloat, {64, 64}, {1, 0});
  EXPECT_EQ(launched(step_of(EntryId::ELEMENT_WISE_ADD, {whole, one, whole}), {0, 4, 0}), "v");
  EXPECT_EQ(launched(step_of(EntryId::ELEMENT_WISE_ADD, {one, one, whole}), {4, 4, 0}), "v");
  EXPECT_EQ(launched(step_of(EntryId::ELEMENT_WISE_MODULUS_FLOOR, {whole, one, whole}), {0, 4, 0}), "v");
  EXPECT_EQ(launched(step_of(EntryId::ELEMENT_WISE_MODULUS_FLOOR, {one, one, whole}), {4, 4, 0}), "s");
}

TEST(Prepare, ShortRowsThatFillNoVectorsAreStrided) {
  const TensorDesc narrow = tensor(kFloat, {100, 5}, {8, 1});
  const TensorDesc packed = tensor(kFloat, {100, 5}, {8, 1});
  EXPECT_EQ(launched(step_of(EntryId::ELEMENT_WISE_ADD, {narrow, packed, narrow})), "s");
  const TensorDesc wide = tensor(kFloat, {100, 30}, {32, 1});
  EXPECT_EQ(launched(step_of(EntryId::ELEMENT_WISE_ADD, {wide, wide, wide})), "v");
}

TEST(Prepare, TransposedInputsUseTilesIfAvailable) {
  const TensorDesc whole = tensor(kFloat, {64, 64}, {64, 1});
  const TensorDesc turned = tensor(kFloat, {64, 64}, {1, 64});
  EXPECT_EQ(launched(step_of(EntryId::ELEMENT_WISE_MODULUS_FLOOR, {whole, turned, whole})), "t");
  EXPECT_EQ(launched(step_of(EntryId::ELEMENT_WISE_MODULUS_FLOOR, {whole, turned, whole}), {0, 1, 0}), "s unaligned");
  EXPECT_EQ(launched(step_of(EntryId::ELEMENT_WISE_ADD, {whole, turned, whole})), "s");
}

TEST(Prepare, OperandsMayRepeatAndComeInAnyOrder) {
  const TensorDesc whole = tensor(kFloat, {64}, {1});
  ElementStep step = step_of(EntryId::ELEMENT_WISE_ADD, {whole, whole, whole});
  step.program[0].sources[0] = 1;
  EXPECT_EQ(launched(step, {4, 0, 0}), "v");  // nothing reads the first operand
  EXPECT_EQ(launched(step, {0, 4, 0}), "s");
}

ElementStep scaled_step(EntryId entry) {
  const TensorDesc whole = tensor(kFloat, {64}, {1});
  ElementStep step = step_of(entry, {whole, whole});
  step.program.insert(step.program.begin(),
                      {.entry = EntryId::SCALE_BIAS, .variant = 0, .sources = {}, .attributes = {}});
  step.program[1].sources[0] = 1;
  step.stored = {2};
  return step;
}

TEST(Prepare, AScaleBiasIsPartOfTheKernelOrInterpreted) {
  EXPECT_EQ(launched(scaled_step(EntryId::ELEMENT_WISE_CLIP)), "V");
  EXPECT_EQ(launched(scaled_step(EntryId::ELEMENT_WISE_CLIP), {4, 0}), "S");
  EXPECT_EQ(launched(scaled_step(EntryId::ELEMENT_WISE_ABS)), "code");
  ElementStep two = scaled_step(EntryId::ELEMENT_WISE_CLIP);
  two.program[0].entry = EntryId::ELEMENT_WISE_ABS;
  EXPECT_EQ(launched(two), "code");
}

TEST(Prepare, WhatIsNotDefinedIsRefused) {
  const TensorDesc whole = tensor(kFloat, {64}, {1});
  EXPECT_NE(launched(step_of(EntryId::ELEMENT_WISE_IF, {whole, whole})).find("not defined"), std::string::npos);
  const TensorDesc bytes = tensor(DataType::UINT8, {64}, {1});
  EXPECT_NE(launched(step_of(EntryId::ELEMENT_WISE_ADD, {whole, whole, bytes})).find("not defined"), std::string::npos);
}

TEST(Prepare, SmallTasks) {
  const TensorDesc whole = tensor(kFloat, {64}, {1});
  const TensorDesc one = tensor(kFloat, {64}, {0});
  PreparedElements prepared;
  ASSERT_EQ(prepared.prepare(step_of(EntryId::ELEMENT_WISE_ADD, {whole, one, whole}), kProperties), nullptr);
  std::byte* bases[] = {reinterpret_cast<std::byte*>(kBase), reinterpret_cast<std::byte*>(2 * kBase),
                        reinterpret_cast<std::byte*>(3 * kBase)};
  SmallTask task;
  ASSERT_TRUE(prepared.make_small_task(bases, task));
  EXPECT_EQ(task.code, static_cast<std::uint16_t>(EntryId::ELEMENT_WISE_ADD));
  EXPECT_EQ(task.count, 64U);
  EXPECT_EQ(task.broadcast, 6);  // the second operand, and the third, which is absent
  EXPECT_EQ(task.operands[0], kBase);
  EXPECT_EQ(task.operands[1], 2 * kBase);
  EXPECT_EQ(task.operands[2], 0U);
  EXPECT_EQ(task.operands[3], 3 * kBase);
  bases[0] += 1;
  EXPECT_FALSE(prepared.make_small_task(bases, task));
  PreparedElements other;
  ASSERT_EQ(other.prepare(step_of(EntryId::ELEMENT_WISE_CLIP, {whole, whole}), kProperties), nullptr);
  EXPECT_FALSE(other.make_small_task(bases, task));
}

// Runs both the generated code and the program on values that encode their origin. Both must store the same values.
void check_code(const ElementStep& step) {
  Code code;
  ASSERT_EQ(make_code(step, code), nullptr);
  std::uint64_t slots[kMaxSlots] = {};
  const auto combine = [](std::uint64_t function, std::uint64_t a, std::uint64_t b) {
    return (a * 31 + b) * 0x9e3779b97f4a7c15U + function;
  };
  for (const CodeAccess& load : code.loads) {
    ASSERT_LT(load.slot, kMaxSlots);
    slots[load.slot] = load.operand + 1000U;
  }
  for (const CodeInstruction& instruction : code.instructions) {
    ASSERT_LT(instruction.result, kMaxSlots);
    const bool two = instruction.function == static_cast<std::uint16_t>(EntryId::ELEMENT_WISE_ADD);
    slots[instruction.result] =
        combine(instruction.function, slots[instruction.sources[0]], two ? slots[instruction.sources[1]] : 0);
  }
  std::vector<std::uint64_t> values;
  for (std::uint32_t i = 0; i < step.loads; ++i) {
    values.push_back(i + 1000U);
  }
  for (const Instruction& instruction : step.program) {
    const bool two = instruction.entry == EntryId::ELEMENT_WISE_ADD;
    values.push_back(combine(static_cast<std::uint16_t>(instruction.entry), values[instruction.sources[0]],
                             two ? values[instruction.sources[1]] : 0));
  }
  ASSERT_EQ(code.stores.size(), step.stored.size());
  for (std::size_t i = 0; i < code.stores.size(); ++i) {
    EXPECT_EQ(code.stores[i].operand, step.loads + i);
    EXPECT_EQ(slots[code.stores[i].slot], values[step.stored[i]]);
  }
}

TEST(Code, ValuesKeepTheirSlotsAsLongAsTheyAreNeeded) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    ElementStep step{.nest = {}, .types = {}, .loads = 0, .program = {}, .stored = {}};
    std::fill_n(step.types, kMaxOperands, kFloat);
    step.loads = static_cast<std::uint32_t>(1 + random() % (kMaxOperands - 1));
    const std::size_t count = 1 + random() % 40;
    for (std::size_t i = 0; i < count; ++i) {
      const EntryId entry = random() % 2 == 0 ? EntryId::ELEMENT_WISE_ADD : EntryId::ELEMENT_WISE_CLIP;
      Instruction& instruction = step.program.emplace_back();
      instruction = {.entry = entry, .variant = 0, .sources = {}, .attributes = {}};
      instruction.sources[0] = static_cast<std::uint16_t>(random() % (step.loads + i));
      instruction.sources[1] = static_cast<std::uint16_t>(random() % (step.loads + i));
    }
    for (std::size_t i = step.loads; i < kMaxOperands; ++i) {
      step.stored.push_back(static_cast<std::uint16_t>(step.loads + random() % count));
    }
    check_code(step);
  }
}

TEST(Code, SlotsAreUsedAgainAndTooLongProgramsAreRefused) {
  ElementStep step{.nest = {}, .types = {}, .loads = 1, .program = {}, .stored = {}};
  std::fill_n(step.types, kMaxOperands, kFloat);
  const auto extend = [&](std::size_t count) {
    while (step.program.size() < count) {
      step.program.push_back({.entry = EntryId::ELEMENT_WISE_CLIP,
                              .variant = 0,
                              .sources = {static_cast<std::uint16_t>(step.program.size())},
                              .attributes = {}});
    }
    step.stored = {static_cast<std::uint16_t>(count)};
  };
  extend(kMaxInstructions);
  check_code(step);
  Code code;
  ASSERT_EQ(make_code(step, code), nullptr);
  for (const CodeInstruction& instruction : code.instructions) {
    EXPECT_EQ(instruction.result, 0);
  }
  extend(kMaxInstructions + 1);
  Code more;
  EXPECT_NE(make_code(step, more), nullptr);
}

TEST(Code, TooManyValuesAtOnceAreRefused) {
  ElementStep step{.nest = {}, .types = {}, .loads = 1, .program = {}, .stored = {}};
  std::fill_n(step.types, kMaxOperands, kFloat);
  for (std::uint32_t i = 0; i <= kMaxSlots; ++i) {
    step.program.push_back({.entry = EntryId::ELEMENT_WISE_CLIP, .variant = 0, .sources = {0}, .attributes = {}});
  }
  for (std::uint32_t i = 0; i < kMaxSlots; ++i) {  // all values are needed at the same time
    const auto before = static_cast<std::uint16_t>(i == 0 ? 1 : step.program.size());
    step.program.push_back({.entry = EntryId::ELEMENT_WISE_ADD,
                            .variant = 0,
                            .sources = {before, static_cast<std::uint16_t>(i + 2)},
                            .attributes = {}});
  }
  step.stored = {static_cast<std::uint16_t>(step.program.size())};
  Code code;
  EXPECT_NE(make_code(step, code), nullptr);
}

// Reads steps in the form that plans store.
TEST(ReadStep, ScaleBias) {
  const TensorDesc whole = tensor(DataType::FLOAT16, {64}, {1});
  ElementwiseProgram program(1);
  const std::uint16_t first[] = {0};
  const Entry& scale = entry(EntryId::SCALE_BIAS);
  const Entry& clip = entry(EntryId::ELEMENT_WISE_CLIP);
  const std::uint16_t second[] = {program.add(scale.id, find_variant(scale, DataType::FLOAT16), first)};
  const std::uint16_t stored[] = {program.add(clip.id, find_variant(clip, DataType::FLOAT16), second)};
  Plan plan(1, 1);
  const PlacedTensor tensors[] = {{.tensor = whole, .slot = 0}, {.tensor = whole, .slot = 1}};
  add_elementwise(plan, program, tensors, stored);
  for_each_step(plan.words(), [](const Step& step) {
    const ElementStep both = read_element_step(step);
    EXPECT_EQ(both.program.size(), 2U);
    EXPECT_EQ(both.program[1].sources[0], 1);
    EXPECT_EQ(both.stored, std::vector<std::uint16_t>{2});
    EXPECT_EQ(both.types[1], DataType::FLOAT16);
    EXPECT_EQ(both.nest.count, 64);
    return true;
  });
}

// Variants are numbered as in the table of entries.
TEST(Variants, AreThoseOfTheEntries) {
  std::uint32_t total = 0;
#define ANYDML_ENTRY(op, Definition)                                                     \
  EXPECT_EQ(VariantsOf<EntryId::op>::kCount, entry(EntryId::op).variants.size()) << #op; \
  EXPECT_EQ(total, entry(EntryId::op).first_variant) << #op;                             \
  total += VariantsOf<EntryId::op>::kCount;
#include "ops/elementwise/elementwise.def"
  EXPECT_EQ(total, variant_count());
  EXPECT_EQ(total, AllVariants::kCount);
  EXPECT_EQ((kVariantOf<EntryId::CAST, Cast<u8, f32>>),
            find_variant(entry(EntryId::CAST), Variant{DataType::UINT8, DataType::FLOAT32}));
  EXPECT_EQ((kVariantOf<EntryId::ELEMENT_WISE_LOGICAL_EQUALS, LogicalEquals<f64, u32>>),
            find_variant(entry(EntryId::ELEMENT_WISE_LOGICAL_EQUALS),
                         Variant{DataType::FLOAT64, DataType::FLOAT64, DataType::UINT32}));
}

}  // namespace
}  // namespace anydml::cuda
