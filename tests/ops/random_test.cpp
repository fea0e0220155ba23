// SPDX-License-Identifier: MIT
// Checks Philox against the answers published by its authors, and the CPU kernels against the definition: every target,
// pieces for several thread counts, outputs at any address, counters whose lower half wraps. tests/ops/random_oracle.py
// compares the operator with a NumPy program.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "anydml/anydml.h"
#include "backend/cpu/family.h"
#include "ops/family.h"
#include "ops/random/step.h"

namespace anydml {

namespace cpu {
extern const FamilyKernels random_family;
}  // namespace cpu

namespace {

// The first, second and last of Random123's test vectors (kat_vectors) for philox4x32 with 10 rounds.
TEST(Philox, PublishedAnswers) {
  constexpr u32 kVectors[][10] = {{0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                  {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
                                   0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                  {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
                                   0x94fdcceb, 0x5001e420, 0x24126ea1}};
  for (const auto& vector : kVectors) {
    u32 words[kPhiloxStateWords];
    std::copy_n(vector, kPhiloxStateWords, words);
    const PhiloxBlock block = philox(PhiloxState::of(words));
    for (u32 i = 0; i < kPhiloxWords; ++i) {
      EXPECT_EQ(block.words[i], vector[6 + i]);
    }
  }
}

TEST(Philox, CountersWrap) {
  const PhiloxState state = PhiloxState::of({0xfffffffe, 0xffffffff, 0xffffffff, 7, 1, 2}).after(3);
  const u32 expected[] = {1, 0, 0, 8, 1, 2};
  for (u32 i = 0; i < kPhiloxStateWords; ++i) {
    EXPECT_EQ(state.word(i), expected[i]);
  }
}

TEST(Philox, EveryTarget) {
  for (const std::int64_t count : {1, 3, 4, 5, 63, 64, 65, 257, 4099, 300'001}) {
    for (const std::size_t shift : {0U, 1U, 4U}) {
      const TensorDesc output{.type = DataType::UINT32, .rank = 1, .sizes = {count}, .strides = {1}};
      const TensorDesc index{.type = DataType::UINT8, .rank = 1, .sizes = {count}, .strides = {1}};
      const TensorDesc walked[] = {index, output};
      const RandomStep step{.nest = make_loop_nest(walked), .from = sizeof(u32), .to = sizeof(u32)};
      u32 words[kPhiloxStateWords] = {0xfffffff0, 0xffffffff, 5, 6, 7, 8};
      u32 next[kPhiloxStateWords] = {};
      Operand operands[3] = {};
      const Step flat{.family = static_cast<std::uint32_t>(FamilyId::random),
                      .role = StepRole::main,
                      .operands = operands,
                      .parameters = std::as_bytes(std::span(&step, 1))};
      const PhiloxState state = PhiloxState::of(words);
      for (const cpu::Target target : cpu::machine_targets()) {
        std::vector<std::byte> memory(static_cast<std::size_t>(count) * sizeof(u32) + shift + 1);
        std::byte* const addresses[] = {reinterpret_cast<std::byte*>(words), memory.data() + shift,
                                        reinterpret_cast<std::byte*>(next)};
        const auto prepared = cpu::random_family.prepare(flat, {.target = target, .threads = 3}, {});
        for (std::uint64_t piece = prepared->pieces(); piece-- > 0;) {
          prepared->run({.number = piece, .phase = 0, .scratch = nullptr}, addresses);
        }
        for (std::int64_t i = 0; i < count; ++i) {
          u32 found = 0;
          std::memcpy(&found, memory.data() + shift + static_cast<std::size_t>(i) * sizeof(u32), sizeof(found));
          ASSERT_EQ(found, philox_element(state, static_cast<u64>(i))) << cpu::target_name(target) << " " << i;
        }
        ASSERT_EQ(memory.back(), std::byte{0});
        const PhiloxState after = state.after(static_cast<u64>(count + 3) / 4);
        for (u32 i = 0; i < kPhiloxStateWords; ++i) {
          ASSERT_EQ(next[i], after.word(i));
        }
      }
    }
  }
}

TEST(Philox, StatesHaveSixWords) {
  std::vector<uint32_t> state(12);
  std::vector<uint32_t> result(4);
  const int64_t state_sizes[] = {2, 6};
  const int64_t sizes[] = {4};
  const anydml_tensor from{ANYDML_UINT32, 2, state_sizes, nullptr, state.data()};
  const anydml_tensor to[] = {{ANYDML_UINT32, 1, sizes, nullptr, result.data()}, {}};
  const anydml_attribute type = {"Type", ANYDML_TEXT, 0, {.text = "PHILOX_4X32_10"}};
  EXPECT_EQ(anydml_run(nullptr, "RANDOM_GENERATOR", &from, 1, to, 2, &type, 1), ANYDML_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace anydml
