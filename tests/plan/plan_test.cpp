// SPDX-License-Identifier: MIT
// Plans are pure functions of descriptions, so they are tested here without a backend.
#include "plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "base/shape.h"
#include "graph/compile.h"
#include "ops/elementwise/step.h"
#include "ops/operators.h"
#include "plan/overlap.h"
#include "plan/reshape.h"
#include "plan/tiling.h"
#include "support/distributions.h"

namespace anydml::test {
namespace {

TensorDesc tensor(std::vector<i64> sizes, std::vector<i64> strides, DataType type = DataType::FLOAT32) {
  const TensorSpec spec{.type = static_cast<u32>(type),
                        .rank = static_cast<i64>(sizes.size()),
                        .sizes = sizes.data(),
                        .strides = strides.size() == sizes.size() && !sizes.empty() ? strides.data() : nullptr};
  auto result = make_tensor({"TEST", "Tensor"}, spec);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.value();
}

TensorDesc packed(std::vector<i64> sizes, DataType type = DataType::FLOAT32) {
  return tensor(std::move(sizes), {}, type);
}

LoopNest nest_of(std::initializer_list<TensorDesc> tensors) {
  return make_loop_nest(std::span(tensors.begin(), tensors.size()));
}

TEST(Tensor, PacksLastDimensionFastest) {
  const TensorDesc desc = packed({2, 3, 4});
  EXPECT_EQ(std::vector<i64>(desc.strides, desc.strides + 3), (std::vector<i64>{12, 4, 1}));
  EXPECT_EQ(element_count(desc), 24);
  EXPECT_EQ(reach_of(desc).first, 0);
  EXPECT_EQ(reach_of(desc).end, 96);
}

TEST(Tensor, ReachesBothWays) {
  const Reach reach = reach_of(tensor({3, 5}, {10, -2}, DataType::INT16));
  EXPECT_EQ(reach.first, -16);
  EXPECT_EQ(reach.end, 42);
}

TEST(Tensor, CountsAnEmptyTensorWhateverItsOtherSizes) {
  const TensorDesc desc = packed({i64{1} << 62, 0, i64{1} << 62});
  EXPECT_EQ(element_count(desc), 0);
  EXPECT_EQ(reach_of(desc).end, 0);
}

TEST(Nest, MergesPackedTensorsIntoOneLoop) {
  const LoopNest nest = nest_of({packed({2, 3, 4}), packed({2, 3, 4}), packed({2, 3, 4})});
  EXPECT_EQ(nest.rank, 1U);
  EXPECT_EQ(nest.innermost().size, 24);
  EXPECT_EQ(nest.inner, InnerLayout::contiguous);
}

TEST(Nest, KeepsALoopForEachBreak) {
  // b repeats along the first dimension, so only the last two merge.
  const LoopNest nest = nest_of({packed({2, 3, 4}), tensor({2, 3, 4}, {0, 4, 1}), packed({2, 3, 4})});
  EXPECT_EQ(nest.rank, 2U);
  EXPECT_EQ(nest.loops[0].size, 2);
  EXPECT_EQ(nest.innermost().size, 12);
  EXPECT_EQ(nest.inner, InnerLayout::contiguous);
}

TEST(Nest, ClassifiesTheInnermostLoop) {
  const TensorDesc plain = packed({6});
  EXPECT_EQ(nest_of({plain, tensor({6}, {0}), plain}).inner, InnerLayout::second_broadcast);
  EXPECT_EQ(nest_of({tensor({6}, {0}), plain, plain}).inner, InnerLayout::first_broadcast);
  EXPECT_EQ(nest_of({tensor({6}, {0}), tensor({6}, {0}), plain}).inner, InnerLayout::strided);
  EXPECT_EQ(nest_of({tensor({6}, {2}), plain, plain}).inner, InnerLayout::strided);
  EXPECT_EQ(nest_of({plain, plain, tensor({6}, {2})}).inner, InnerLayout::strided);
  EXPECT_EQ(nest_of({plain, plain}).inner, InnerLayout::contiguous);
}

TEST(Nest, WalksTheOutputUpwards) {
  const TensorDesc reversed = tensor({6}, {-1});
  const LoopNest nest = nest_of({reversed, reversed});
  EXPECT_EQ(nest.inner, InnerLayout::contiguous);
  EXPECT_EQ(nest.offsets[0], -20);
  EXPECT_EQ(nest.offsets[1], -20);
}

TEST(Nest, OrdersLoopsByTheOutput) {
  const TensorDesc transposed = tensor({3, 4}, {1, 3});
  const LoopNest nest = nest_of({transposed, transposed});
  EXPECT_EQ(nest.rank, 1U);
  EXPECT_EQ(nest.inner, InnerLayout::contiguous);
}

TEST(Nest, HoldsASingleElementAndNone) {
  EXPECT_EQ(nest_of({packed({}), packed({})}).count, 1);
  EXPECT_EQ(nest_of({packed({1, 1}), packed({1, 1})}).rank, 1U);
  EXPECT_EQ(nest_of({packed({2, 0}), packed({2, 0})}).count, 0);
}

TEST(Nest, SurvivesStridesThatReachTheLimit) {
  const TensorDesc far = tensor({2, 2}, {i64{1} << 58, i64{1} << 59});
  const LoopNest nest = nest_of({far, far});
  EXPECT_EQ(nest.count, 4);
}

// Every element is visited once, together with the same elements of the other tensors, regardless of the normalization.
TEST(Nest, VisitsTheSameElements) {
  Random random(kSeed);
  u64 visited = 0;
  for (int round = 0; round < 2000; ++round) {
    const u32 rank = static_cast<u32>(random() % 5);
    TensorDesc tensors[3];
    std::vector<i64> sizes;
    for (u32 i = 0; i < rank; ++i) {
      sizes.push_back(static_cast<i64>(random() % 4 + 1));
    }
    for (TensorDesc& desc : tensors) {
      desc = packed(sizes);
      std::vector<u32> order(rank);
      for (u32 i = 0; i < rank; ++i) {
        order[i] = i;
      }
      std::shuffle(order.begin(), order.end(), random);
      i64 stride = 1 + static_cast<i64>(random() % 2);
      for (const u32 i : order) {
        desc.strides[i] = random() % 4 == 0 && &desc != &tensors[2] ? 0 : (random() % 2 == 0 ? stride : -stride);
        stride *= desc.sizes[i] + static_cast<i64>(random() % 2);
      }
    }
    using Visit = std::array<i64, 3>;
    std::set<Visit> expected;
    for (i64 n = 0; n < element_count(tensors[2]); ++n) {
      Visit offsets{};
      i64 rest = n;
      for (u32 i = rank; i-- > 0;) {
        const i64 index = rest % sizes[i];
        rest /= sizes[i];
        for (int t = 0; t < 3; ++t) {
          offsets[static_cast<std::size_t>(t)] += index * tensors[t].strides[i] * 4;
        }
      }
      expected.insert(offsets);
    }
    const LoopNest nest = make_loop_nest(tensors);
    std::set<Visit> actual;
    for (i64 n = 0; n < nest.count; ++n) {
      Visit offsets{nest.offsets[0], nest.offsets[1], nest.offsets[2]};
      i64 rest = n;
      for (u32 i = nest.rank; i-- > 0;) {
        const i64 index = rest % nest.loops[i].size;
        rest /= nest.loops[i].size;
        for (std::size_t t = 0; t < 3; ++t) {
          offsets[t] += index * nest.loops[i].strides[t];
        }
      }
      EXPECT_TRUE(actual.insert(offsets).second);
    }
    ASSERT_EQ(actual, expected);
    visited += actual.size();
  }
  EXPECT_GT(visited, 10'000U);
}

TEST(Tiling, VisitsEachElementOnceHoweverItIsCut) {
  for (const LoopNest& nest :
       {nest_of({packed({1000}), packed({1000})}), nest_of({tensor({7, 300}, {304, 1}), packed({7, 300})}),
        nest_of({tensor({5, 40, 10}, {4000, 50, 3}), packed({5, 40, 10})}),
        nest_of({tensor({3, 70, 90}, {6300, 1, 70}), packed({3, 70, 90})})}) {
    for (const std::int64_t elements : {64, 256, 4096}) {
      const Tiling tiling = make_tiling(nest, elements);
      for (const std::int64_t step : {std::int64_t{1}, std::int64_t{3}, tiling.tiles}) {
        std::vector<int> visits(static_cast<std::size_t>(nest.count));
        for (std::int64_t begin = 0; begin < tiling.tiles; begin += step) {
          for_each_tile(nest, tiling, begin, std::min(begin + step, tiling.tiles), [&](const Block& block) {
            const std::int64_t row_stride = nest.rank >= 2 ? nest.loops[nest.rank - 2].strides[1] : 0;
            for (std::int64_t row = 0; row < block.rows; ++row) {
              for (std::int64_t column = 0; column < block.columns; ++column) {
                ++visits.at(static_cast<std::size_t>((block.offsets[1] + row * row_stride) / 4 + column));
              }
            }
          });
        }
        EXPECT_EQ(std::ranges::count(visits, 1), nest.count) << elements << ' ' << step;
      }
    }
  }
}

TEST(SelfOverlap, IsDecidedExactly) {
  EXPECT_EQ(find_self_overlap(packed({3, 4})), SelfOverlap::none);
  EXPECT_EQ(find_self_overlap(tensor({3, 4}, {0, 1})), SelfOverlap::found);
  EXPECT_EQ(find_self_overlap(tensor({1, 4}, {0, 1})), SelfOverlap::none);
  EXPECT_EQ(find_self_overlap(tensor({3, 4}, {1, 3})), SelfOverlap::none);
  EXPECT_EQ(find_self_overlap(tensor({3, 4}, {3, 1})), SelfOverlap::found);
  EXPECT_EQ(find_self_overlap(tensor({3, 2}, {2, 3})), SelfOverlap::none);  // 0 3 2 5 4 7: interleaved, no collision
  EXPECT_EQ(find_self_overlap(tensor({4, 3}, {2, 3})), SelfOverlap::found);
  EXPECT_EQ(find_self_overlap(tensor({0, 3}, {0, 0})), SelfOverlap::none);
  EXPECT_EQ(find_self_overlap(tensor({1000, 1000, 1000}, {1000000, -1000, 1})), SelfOverlap::none);
}

TEST(SelfOverlap, AgreesWithCountingPlaces) {
  Random random(kSeed);
  int found = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<i64> sizes;
    std::vector<i64> strides;
    for (u64 i = random() % 4 + 1; i > 0; --i) {
      sizes.push_back(static_cast<i64>(random() % 4 + 1));
      strides.push_back(static_cast<i64>(random() % 25) - 12);
    }
    const TensorDesc desc = tensor(sizes, strides);
    std::set<i64> positions;
    for (i64 n = 0; n < element_count(desc); ++n) {
      i64 rest = n;
      i64 position = 0;
      for (std::size_t i = sizes.size(); i-- > 0;) {
        position += rest % sizes[i] * strides[i];
        rest /= sizes[i];
      }
      positions.insert(position);
    }
    const bool collides = static_cast<i64>(positions.size()) != element_count(desc);
    ASSERT_EQ(find_self_overlap(desc), collides ? SelfOverlap::found : SelfOverlap::none)
        << shape_text(desc.sizes, desc.rank) << shape_text(desc.strides, desc.rank);
    found += collides ? 1 : 0;
  }
  EXPECT_GT(found, 500);
  EXPECT_LT(found, 4500);
}

TEST(SelfOverlap, GivesUpRatherThanRunForEver) {
  // Coprime strides of similar size, with many steps each.
  const TensorDesc desc = tensor({13, 13, 13, 13, 13, 13, 13, 13},
                                 {1000003, 1000033, 1000037, 1000039, 1000081, 1000099, 1000117, 1000121});
  EXPECT_NE(find_self_overlap(desc), SelfOverlap::none);
}

TEST(Sharing, TellsInPlaceFromOverlap) {
  const TensorDesc plain = packed({8});
  EXPECT_EQ(find_sharing(plain, 4096, plain, 4096), Sharing::identical);
  EXPECT_EQ(find_sharing(plain, 4096, plain, 4096 + 32), Sharing::disjoint);
  EXPECT_EQ(find_sharing(plain, 4096, plain, 4096 + 28), Sharing::partial);
  EXPECT_EQ(find_sharing(plain, 4096, tensor({8}, {0}), 4096), Sharing::partial);
  EXPECT_EQ(find_sharing(plain, 4096, tensor({8}, {-1}), 4096 + 28), Sharing::partial);
  EXPECT_EQ(find_sharing(tensor({1, 8}, {5, 1}), 4096, tensor({1, 8}, {99, 1}), 4096), Sharing::identical);
}

TEST(Sharing, SeesThatInterleavedTensorsAreDisjoint) {
  const TensorDesc even = tensor({8}, {2});
  EXPECT_EQ(find_sharing(even, 4096, even, 4100), Sharing::disjoint);
  EXPECT_EQ(find_sharing(even, 4100, even, 4096), Sharing::disjoint);
  EXPECT_EQ(find_sharing(even, 4096, even, 4104), Sharing::partial);
  EXPECT_EQ(find_sharing(even, 4096, even, 4098), Sharing::partial);  // misaligned: elements overlap by half
  EXPECT_EQ(find_sharing(tensor({4, 2}, {4, 1}), 4096, tensor({4, 2}, {4, 1}), 4104), Sharing::partial);
}

bool meet(const ByteRange& a, const ByteRange& b) {
  return a.buffer == b.buffer && a.first < a.end && b.first < b.end && a.first < b.end && b.first < a.end;
}

TEST(Conflicts, AreThoseOfAllPairs) {
  Random random(kSeed);
  int found = 0;
  int all = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<ByteRange> ranges(random() % 12);
    const u64 bytes = u64{8} << random() % 5;
    for (ByteRange& range : ranges) {
      range.buffer = random() % 3;
      range.first = random() % bytes;
      range.end = range.first + random() % 6;  // sometimes empty
      range.written = random() % 3 == 0;
    }
    std::vector<bool> expected(ranges.size());
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      for (std::size_t j = 0; j < ranges.size(); ++j) {
        expected[i] = expected[i] || (i != j && (ranges[i].written || ranges[j].written) && meet(ranges[i], ranges[j]));
      }
      found += expected[i] ? 1 : 0;
      ++all;
    }
    ASSERT_EQ(find_conflicts(ranges), expected) << "round " << round;
  }
  EXPECT_GT(found, all / 10);
  EXPECT_LT(found, all * 9 / 10);
}

TEST(Conflicts, ReachTheEndsOfTheAddressSpace) {
  constexpr u64 kEnd = ~u64{0};
  const ByteRange ranges[] = {{.first = 0, .end = 1, .written = true},
                              {.first = kEnd - 1, .end = kEnd, .written = true},
                              {.first = 0, .end = kEnd},
                              {.first = 5, .end = 5, .written = true},
                              {.first = 9, .end = 8, .written = true}};
  EXPECT_EQ(find_conflicts(ranges), (std::vector<bool>{true, true, true, false, false}));
}

// If two tensors share memory, both are candidates. Every candidate's address range overlaps that of another tensor.
TEST(Sharing, CandidatesHoldAllThatShare) {
  Random random(kSeed);
  int shared = 0;
  int spared = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<TensorDesc> descs;
    std::vector<TensorAt> tensors;
    const i64 stride = static_cast<i64>(random() % 6);
    for (u64 i = random() % 8; i > 0; --i) {
      const i64 own = random() % 4 == 0 ? static_cast<i64>(random() % 9) - 4 : stride;
      descs.push_back(
          tensor({static_cast<i64>(random() % 5)}, {own}, random() % 4 == 0 ? DataType::FLOAT16 : DataType::FLOAT32));
    }
    for (const TensorDesc& desc : descs) {
      tensors.push_back({random() % 16 == 0 ? nullptr : &desc, 4096 + random() % 64 * (random() % 4 == 0 ? 2 : 4)});
    }
    const std::vector<bool> candidates = find_sharing_candidates(tensors);
    std::vector<bool> met(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      for (std::size_t j = 0; j < tensors.size(); ++j) {
        if (i == j || tensors[i].tensor == nullptr || tensors[j].tensor == nullptr) {
          continue;
        }
        const TensorAt& a = tensors[i];
        const TensorAt& b = tensors[j];
        met[i] = met[i] || ranges_meet(a.address, reach_of(*a.tensor), b.address, reach_of(*b.tensor));
        if (find_sharing(*a.tensor, a.address, *b.tensor, b.address) != Sharing::disjoint) {
          ASSERT_TRUE(candidates[i]) << "round " << round;
          ++shared;
        }
      }
      ASSERT_TRUE(met[i] || !candidates[i]) << "round " << round;
      spared += met[i] && !candidates[i] ? 1 : 0;
    }
  }
  EXPECT_GT(shared, 1000);
  EXPECT_GT(spared, 1000);  // interleaved tensors, whose ranges overlap
}

schema::GivenTensor given(const TensorSpec& spec) {
  schema::GivenTensor tensor{.type = spec.type, .rank = static_cast<u32>(spec.rank)};
  std::copy_n(spec.sizes, spec.rank, tensor.sizes);
  return tensor;
}

OpDesc modulus(const TensorSpec& a, const TensorSpec& b, const TensorSpec& out) {
  schema::Described described(*facts::find_operator("ELEMENT_WISE_MODULUS_FLOOR"));
  described.arguments[0] = {.present = true, .tensors = {given(a)}, .numbers = {}, .operators = {}};
  described.arguments[1] = {.present = true, .tensors = {given(b)}, .numbers = {}, .operators = {}};
  described.arguments[2] = {.present = true, .tensors = {given(out)}, .numbers = {}, .operators = {}};
  auto result = make_op_desc(described, SchemaState::unchecked);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.value();
}

// The steps of a plan. They point into the plan and must not outlive it.
std::vector<Step> steps_of(const Plan& plan) {
  std::vector<Step> steps;
  for_each_step(plan.words(), [&](const Step& step) {
    steps.push_back(step);
    return true;
  });
  return steps;
}

Plan plan_of(OpDesc desc) {
  auto plans = compile_graph(graph_of(std::make_shared<const OpDesc>(std::move(desc))), DeviceTraits{});
  EXPECT_TRUE(plans.ok());
  return std::move(plans.value().run);
}

TEST(OpDesc, BroadcastsAsNumpyDoes) {
  const i64 big[] = {2, 3, 4};
  const i64 row_sizes[] = {3, 1};
  const auto type = static_cast<u32>(DataType::FLOAT32);
  const OpDesc desc = modulus({type, 3, big, nullptr}, {type, 2, row_sizes, nullptr}, {type, 3, big, nullptr});
  const TensorDesc& b = desc.tensors[1].tensor;
  EXPECT_EQ(b.rank, 3U);
  EXPECT_EQ(std::vector<i64>(b.sizes, b.sizes + 3), (std::vector<i64>{2, 3, 4}));
  EXPECT_EQ(std::vector<i64>(b.strides, b.strides + 3), (std::vector<i64>{0, 1, 0}));
  EXPECT_FALSE(desc.empty);
}

// Calls use(offset in elements) for each element, in row-major order.
template <class Use>
void for_each_offset(const TensorDesc& tensor, Use use) {
  std::vector<i64> index(tensor.rank);
  for (i64 left = element_count(tensor); left > 0; --left) {
    i64 offset = 0;
    for (u32 i = 0; i < tensor.rank; ++i) {
      offset += index[i] * tensor.strides[i];
    }
    use(offset);
    for (u32 i = tensor.rank; i-- > 0 && ++index[i] == tensor.sizes[i];) {
      index[i] = 0;
    }
  }
}

TEST(Reshape, SeesAReaderThroughAView) {
  // The second half of each row of a 4-by-6 matrix, written as a packed 4-by-3 tensor.
  const TensorDesc result = packed({4, 3});
  const TensorDesc view = tensor({4, 3}, {6, 1});
  const auto columns = seen_through(tensor({3, 4}, {1, 3}), 0, result, view);  // read transposed
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->tensor.strides[0], 1);
  EXPECT_EQ(columns->tensor.strides[1], 6);
  const auto last = seen_through(packed({2, 3}), 2 * 3 * 4, result, view);  // the last two rows
  ASSERT_TRUE(last);
  EXPECT_EQ(last->offset, 2 * 6 * 4);
  EXPECT_EQ(last->tensor.strides[0], 6);
  EXPECT_FALSE(seen_through(packed({12}), 0, result, view));  // no stride can skip a gap
  EXPECT_FALSE(seen_through(packed({4, 3}), 4, result, view));
  EXPECT_FALSE(seen_through(packed({4, 3}, DataType::FLOAT64), 0, result, view));
  EXPECT_TRUE(seen_through(packed({12}), 0, result, packed({4, 3})));
}

// Random readers of random views: if the reader can be rewritten, it reads the right elements.
TEST(Reshape, SeesTheSameElements) {
  std::mt19937 random(27);
  const auto upto = [&](i64 maximum) { return static_cast<i64>(random() % static_cast<u64>(maximum + 1)); };
  int seen_count = 0;
  for (int round = 0; round < 20000; ++round) {
    const auto rank = static_cast<std::size_t>(1 + upto(3));
    std::vector<i64> sizes(rank);
    std::vector<i64> result_strides(rank);
    std::vector<i64> view_strides(rank);
    i64 stride = 1;
    for (std::size_t i = rank; i-- > 0;) {
      sizes[i] = 1 + upto(4);
      result_strides[i] = stride;
      stride *= sizes[i] + (upto(3) == 0 ? 1 : 0);
      view_strides[i] = upto(40) - 10;
    }
    const TensorDesc result = tensor(sizes, result_strides);
    const TensorDesc view = tensor(sizes, view_strides);
    std::map<i64, i64> position;  // from offsets in `result` to offsets in the view
    std::vector<i64> from;
    for_each_offset(result, [&](i64 offset) { from.push_back(offset); });
    std::size_t next = 0;
    for_each_offset(view, [&](i64 offset) { position[from[next++]] = offset; });
    std::vector<i64> read_sizes(static_cast<std::size_t>(1 + upto(2)));
    std::vector<i64> read_strides(read_sizes.size());
    for (std::size_t i = 0; i < read_sizes.size(); ++i) {
      read_sizes[i] = 1 + upto(4);
      read_strides[i] =
          upto(1) == 0 ? result_strides[static_cast<std::size_t>(upto(static_cast<i64>(rank) - 1))] : upto(12) - 4;
    }
    const TensorDesc read = tensor(read_sizes, read_strides);
    const i64 begin = upto(1) == 0 ? 0 : upto(8);
    const auto seen = seen_through(read, begin * 4, result, view);
    if (!seen) {
      continue;
    }
    ++seen_count;
    std::vector<i64> wanted;
    for_each_offset(read, [&](i64 offset) {
      const auto found = position.find(begin + offset);
      ASSERT_NE(found, position.end()) << "an element outside the tensor";
      wanted.push_back(found->second);
    });
    std::size_t at = 0;
    for_each_offset(seen->tensor, [&](i64 offset) { EXPECT_EQ(seen->offset / 4 + offset, wanted[at++]); });
  }
  EXPECT_GT(seen_count, 2000);
}

TEST(Plan, IsOneStepWithoutTemporary) {
  const i64 sizes[] = {5};
  const auto type = static_cast<u32>(DataType::INT8);
  const TensorSpec spec{type, 1, sizes, nullptr};
  const Plan plan = plan_of(modulus(spec, spec, spec));
  const auto steps = steps_of(plan);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(read_elementwise(steps[0]).program.size(), 1U);
  EXPECT_EQ(plan.temporary_bytes(), 0U);
}

TEST(Plan, IsEmptyForAnEmptyTensor) {
  const i64 sizes[] = {5, 0};
  const TensorSpec spec{static_cast<u32>(DataType::INT8), 2, sizes, nullptr};
  EXPECT_TRUE(plan_of(modulus(spec, spec, spec)).words().empty());
}

}  // namespace
}  // namespace anydml::test
