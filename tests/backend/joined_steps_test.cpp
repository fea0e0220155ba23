// SPDX-License-Identifier: MIT
// Tests the data structures for joined steps without a backend: how neighbors are attached to the main step, and the
// loops, vectors and addresses of an element-wise neighbor.
#include "backend/joined_steps.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend/equal_work.h"
#include "ops/elementwise/joined_elements.h"
#include "ops/elementwise/program.h"

namespace anydml {
namespace {

constexpr DataType kFloat = DataType::FLOAT32;

// A stand-in for a backend's representation of a step, which stores only the step's family.
struct Form {
  std::uint32_t family;
};
struct FormNeighbor : Neighbor<Form> {};

Operand in_slot(std::uint32_t slot) { return {.slot = slot, .type = kFloat, .offset = 0}; }
Operand passed(std::uint64_t number) { return {.slot = kForwardedSlot, .type = kFloat, .offset = number}; }

std::unique_ptr<Form> join(const Step& step) { return std::make_unique<Form>(Form{step.family}); }

TEST(JoinSteps, NeighborsFollowTheMainStepWithTheirOperands) {
  const Operand main[] = {in_slot(0), passed(7), passed(8)};
  const Operand before[] = {in_slot(1), in_slot(2), passed(7)};
  const Operand after[] = {passed(8), in_slot(3)};
  const Step steps[] = {{.family = 5, .role = StepRole::prologue, .operands = before, .parameters = {}},
                        {.family = 6, .role = StepRole::main, .operands = main, .parameters = {}},
                        {.family = 7, .role = StepRole::epilogue, .operands = after, .parameters = {}}};
  const auto work = join_steps<FormNeighbor>(steps, join);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->main, &steps[1]);
  ASSERT_EQ(work->operands.size(), 8U);
  EXPECT_EQ(work->operands[3].slot, 1U);
  EXPECT_EQ(work->operands[7].slot, 3U);
  const auto& [first, last] = work->neighbors;
  ASSERT_TRUE(first.step != nullptr && last.step != nullptr);
  EXPECT_EQ(first.step->family, 5U);
  EXPECT_EQ(first.first_operand, 3U);
  EXPECT_EQ(first.joined_operand, 1U);
  EXPECT_EQ(last.step->family, 7U);
  EXPECT_EQ(last.first_operand, 6U);
  EXPECT_EQ(last.joined_operand, 2U);
}

TEST(EqualWork, StepsThatDifferOnlyInTheirMemoryAreEqual) {
  const std::uint64_t numbers[] = {1, 2, 3};
  const std::uint64_t others[] = {1, 2, 4};
  const auto step = [](std::span<const Operand> operands, std::span<const std::uint64_t> parameters) {
    return Step{.family = 3, .role = StepRole::main, .operands = operands, .parameters = std::as_bytes(parameters)};
  };
  const Operand one[] = {in_slot(0), in_slot(1)};
  const Operand elsewhere[] = {in_slot(5), {.slot = 6, .type = kFloat, .offset = 64}};
  const Operand absent[] = {in_slot(0), {.slot = kAbsentSlot, .type = kFloat, .offset = 0}};
  const Operand forwarded[] = {in_slot(0), passed(1)};
  const Operand forwarded_elsewhere[] = {in_slot(7), passed(1)};
  const Operand forwarded_to_another[] = {in_slot(0), passed(2)};
  const Operand of_another_type[] = {in_slot(0), {.slot = 1, .type = DataType::FLOAT16, .offset = 0}};
  const Step first = step(one, numbers);
  EXPECT_TRUE(are_equal_steps(first, step(elsewhere, numbers)));
  EXPECT_TRUE(are_equal_steps(step(forwarded, numbers), step(forwarded_elsewhere, numbers)));
  EXPECT_FALSE(are_equal_steps(first, step(one, others)));
  EXPECT_FALSE(are_equal_steps(first, step(one, std::span(numbers).first(2))));
  EXPECT_FALSE(are_equal_steps(first, step(std::span(one).first(1), numbers)));
  EXPECT_FALSE(are_equal_steps(first, step(absent, numbers)));
  EXPECT_FALSE(are_equal_steps(first, step(forwarded, numbers)));
  EXPECT_FALSE(are_equal_steps(step(forwarded, numbers), step(forwarded_to_another, numbers)));
  EXPECT_FALSE(are_equal_steps(first, step(of_another_type, numbers)));
  Step of_another_family = first;
  of_another_family.family = 4;
  EXPECT_FALSE(are_equal_steps(first, of_another_family));

  EqualWork work;
  const Step second = step(elsewhere, numbers), third = step(one, others);
  const Step joined[] = {first, third};
  EXPECT_EQ(work.find_or_add({&first, 1}, 0), 0U);
  EXPECT_EQ(work.find_or_add({&third, 1}, 1), 1U);
  EXPECT_EQ(work.find_or_add({&second, 1}, 2), 0U);
  EXPECT_EQ(work.find_or_add(joined, 3), 3U);
  EXPECT_EQ(work.find_or_add(joined, 4), 3U);
}

TEST(JoinSteps, AStepAloneHasNoNeighbors) {
  const Operand main[] = {in_slot(0)};
  const Step step{.family = 0, .role = StepRole::main, .operands = main, .parameters = {}};
  const auto work = join_steps<FormNeighbor>({&step, 1}, join);
  ASSERT_TRUE(work);
  EXPECT_TRUE(work->neighbors.before.step == nullptr && work->neighbors.after.step == nullptr);
}

TEST(JoinSteps, RefusesWhatIsNoPieceOfWork) {
  const Operand main[] = {in_slot(0), passed(7)};
  const Operand after[] = {passed(7), in_slot(3)};
  const Operand stranger[] = {passed(9), in_slot(3)};
  const Step of_main{.family = 0, .role = StepRole::main, .operands = main, .parameters = {}};
  const Step of_after{.family = 0, .role = StepRole::epilogue, .operands = after, .parameters = {}};
  const Step of_stranger{.family = 0, .role = StepRole::epilogue, .operands = stranger, .parameters = {}};
  const std::vector<Operand> many(kMaxStepOperands, in_slot(0));
  const Step of_many{.family = 0, .role = StepRole::main, .operands = many, .parameters = {}};
  const auto joins = [](std::vector<Step> steps) { return join_steps<FormNeighbor>(steps, join).has_value(); };
  EXPECT_TRUE(joins({of_main, of_after}));
  EXPECT_FALSE(joins({of_after}));
  EXPECT_FALSE(joins({of_main, of_after, of_after}));
  EXPECT_FALSE(joins({of_main, of_stranger}));
  EXPECT_TRUE(joins({of_many}));
  EXPECT_FALSE(joins({of_many, of_after}));
  const Step both[] = {of_main, of_after};
  EXPECT_FALSE(join_steps<FormNeighbor>(both, [](const Step&) { return std::unique_ptr<Form>(); }));
}

TensorDesc tensor(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides, DataType type = kFloat) {
  TensorDesc result;
  result.type = type;
  result.rank = static_cast<std::uint32_t>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), result.sizes);
  std::copy(strides.begin(), strides.end(), result.strides);
  return result;
}

// Calls use(step) for an ADD of the first two tensors in which the given operand has no slot.
template <class Use>
void with_add(std::vector<TensorDesc> tensors, std::size_t without_slot, Use use) {
  const Entry& add = entry(EntryId::ELEMENT_WISE_ADD);
  ElementwiseProgram program(2);
  const std::uint16_t sources[] = {0, 1};
  const std::uint16_t stored[] = {program.add(add.id, find_variant(add, tensors[0].type), sources)};
  std::vector<PlacedTensor> placed;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    placed.push_back(
        {.tensor = tensors[i], .slot = i == without_slot ? kForwardedSlot : static_cast<std::uint32_t>(i)});
  }
  Plan plan(2, 1);
  add_elementwise(plan, program, placed, stored);
  for_each_step(plan.words(), [&](const Step& step) {
    use(step);
    return true;
  });
}

TEST(JoinedElements, HoldTheProgramAndTheOperandThatIsPassedOn) {
  const TensorDesc whole = tensor({4, 16}, {16, 1});
  with_add({whole, tensor({4, 16}, {0, 1}), whole}, 2, [](const Step& step) {
    const auto joined = read_joined_elements(step);
    ASSERT_TRUE(joined);
    EXPECT_TRUE(joined->produces());
    EXPECT_EQ(joined->operand, 2U);
    EXPECT_EQ(joined->step.loads, 2U);
    ASSERT_EQ(joined->step.program.size(), 1U);
    EXPECT_EQ(joined->step.program[0].entry, EntryId::ELEMENT_WISE_ADD);
    EXPECT_EQ(joined->step.types[2], kFloat);
    EXPECT_EQ(joined->step.stored, (std::vector<std::uint16_t>{2}));
    const ElementwiseStep view = joined->step.view();
    EXPECT_EQ(view.nest, &joined->step.nest);
    EXPECT_EQ(view.program.data(), joined->step.program.data());
  });
  with_add({whole, whole, whole}, 1, [](const Step& step) {
    const auto joined = read_joined_elements(step);
    ASSERT_TRUE(joined);
    EXPECT_FALSE(joined->produces());
    EXPECT_EQ(joined->operand, 1U);
  });
  with_add({whole, whole, whole}, 3, [](const Step& step) { EXPECT_FALSE(read_joined_elements(step)); });
}

// A plan walks the output in ascending order. Here the forwarded operand is packed, and that order would visit its rows
// in reverse, so the loops are reversed to follow it.
TEST(JoinedElements, LoopsFollowTheOperandThatIsPassedOn) {
  const TensorDesc reversed = tensor({4, 16}, {-16, 1});
  const TensorDesc packed = tensor({4, 16}, {16, 1});
  with_add({packed, packed, reversed}, 0, [](const Step& step) {
    const auto joined = read_joined_elements(step);
    ASSERT_TRUE(joined);
    const LoopNest& nest = joined->step.nest;
    ASSERT_EQ(nest.rank, 2U);
    EXPECT_EQ(nest.loops[0].strides[0], 64);
    EXPECT_EQ(nest.loops[0].strides[2], -64);
    EXPECT_EQ(nest.offsets[0], 0);
    EXPECT_EQ(nest.offsets[2], 0);
  });
  // If the operand is transposed, adjacent elements follow the outer loop.
  with_add({tensor({4, 16}, {1, 4}), packed, packed}, 0,
           [](const Step& step) { EXPECT_FALSE(read_joined_elements(step)); });
}

std::uint32_t vector_of(std::vector<TensorDesc> tensors, std::size_t without_slot, std::uint32_t bytes = 16) {
  std::uint32_t elements = 99;
  with_add(std::move(tensors), without_slot,
           [&](const Step& step) { elements = vector_elements(*read_joined_elements(step), bytes); });
  return elements;
}

TEST(JoinedElements, VectorsNeedElementsBesideEachOther) {
  const TensorDesc whole = tensor({4, 16}, {16, 1});
  EXPECT_EQ(vector_of({whole, whole, whole}, 2), 4U);
  EXPECT_EQ(vector_of({whole, whole, whole}, 2, 32), 8U);
  EXPECT_EQ(vector_of({whole, tensor({4, 16}, {1, 0}), whole}, 2), 4U);   // one element is broadcast along a row
  EXPECT_EQ(vector_of({whole, tensor({4, 16}, {18, 1}), whole}, 2), 0U);  // rows start inside a vector
  EXPECT_EQ(vector_of({whole, tensor({4, 16}, {32, 2}), whole}, 2), 0U);  // every second element
  EXPECT_EQ(vector_of({whole, whole, whole}, 0), 0U);                     // the step consumes forwarded elements
  const TensorDesc odd = tensor({4, 6}, {8, 1});
  EXPECT_EQ(vector_of({odd, odd, tensor({4, 6}, {6, 1})}, 2), 0U);  // a row is not a whole number of vectors
  const TensorDesc halves = tensor({4, 16}, {16, 1}, DataType::FLOAT16);
  EXPECT_EQ(vector_of({halves, halves, halves}, 2), 8U);
}

// Addresses are plain numbers here. They belong to a device and are invalid on the host.
TEST(JoinedOperands, SayWhatAddressesAllow) {
  constexpr std::uint64_t kMemory = 0xffff'8000'0000'0000;
  const TensorDesc whole = tensor({4, 16}, {16, 1});
  with_add({tensor({4, 16}, {-16, 1}), tensor({4, 16}, {1, 0}), whole}, 2, [](const Step& step) {
    const auto joined = read_joined_elements(step);
    ASSERT_TRUE(joined);
    const JoinedOperands operands(*joined, vector_elements(*joined, 16));
    ASSERT_EQ(operands.count(), 3U);
    EXPECT_EQ(operands.first_element(0, kMemory), kMemory + static_cast<std::uint64_t>(joined->step.nest.offsets[0]));
    EXPECT_TRUE(operands.fits_vectors(0, kMemory));
    EXPECT_FALSE(operands.fits_vectors(0, kMemory + 4));
    EXPECT_TRUE(operands.is_aligned(0, kMemory + 4));
    EXPECT_FALSE(operands.is_aligned(0, kMemory + 2));
    EXPECT_TRUE(operands.fits_vectors(1, kMemory + 4));  // one element
    EXPECT_FALSE(operands.fits_vectors(1, kMemory + 2));
    EXPECT_TRUE(operands.fits_vectors(2, 0));  // the operand has no address
    EXPECT_TRUE(operands.is_aligned(2, 1));
    const JoinedOperands one_by_one(*joined, 0);
    EXPECT_FALSE(one_by_one.fits_vectors(0, kMemory));
    EXPECT_TRUE(one_by_one.is_aligned(0, kMemory));
  });
}

}  // namespace
}  // namespace anydml
