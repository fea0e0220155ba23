// SPDX-License-Identifier: MIT
// Tests programs: plans that the device compiles and runs, the memory that a run needs, and plans that the device
// rejects. operator_digests checks operator results bit for bit.
#include "device/programs.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string_view>
#include <thread>

namespace anydml::device {
namespace {

// Computes the row sums of the sum of two inputs. This takes two steps, with an intermediate tensor in the temporary
// memory unless the steps are joined.
constexpr std::uint64_t kRows = 64;
constexpr std::uint64_t kColumns = 300;
std::string rows_graph() {
  return "a = input 76800\nb = input 76800\n"
         "t = ADD a:u32[64,300] b:u32[64,300] -> u32[64,300]\n"
         "s = REDUCE t:u32[64,300] -> u32[64,1] Function=SUM Axes=[1]\n"
         "out s\n";
}
std::vector<std::uint32_t> row_sums(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  const std::vector<std::uint32_t> all = sums(a, b);
  std::vector<std::uint32_t> built(kRows);
  for (std::uint64_t row = 0; row < kRows; ++row) {
    const auto* const first = all.data() + row * kColumns;
    built[row] = std::accumulate(first, first + kColumns, std::uint32_t{0});
  }
  return built;
}

TEST(DeviceDescription, IsComplete) {
  const BackendDeviceInfo& info = g_device.info;
  const auto is_terminated = [](const auto& text) { return std::ranges::find(text, '\0') != std::end(text); };
  ASSERT_TRUE(is_terminated(info.name));
  ASSERT_TRUE(is_terminated(info.description));
  const std::string_view name = info.name;
  const std::string_view table = g_device.table->name;
  EXPECT_TRUE(name == table || name.starts_with(std::string(table) + ":"))
      << "the device's name is '" << name << "'; expected the table's, '" << table << "', with a colon and a number";
  EXPECT_STRNE(info.description, "") << "expected a description for users";
  EXPECT_GE(info.memory_bytes, std::uint64_t{1} << 20) << "expected the bytes of its memory";
  EXPECT_LE(info.unified_memory, 1U);
  EXPECT_LE(info.shares_addresses, 1U);
  EXPECT_LE(info.asynchronous, 1U);
  EXPECT_TRUE(info.unified_memory == 0 || info.shares_addresses == 1)
      << "unified_memory is 1 and shares_addresses is 0; expected 1, because the memory is shared with the CPU";
  EXPECT_GE(info.traits.threads, 1U) << "expected the number of concurrent pieces of work, at least 1";
  BackendDeviceInfo again{};
  g_device.table->describe(g_device.handle, &again);
  EXPECT_STREQ(again.name, info.name) << "expected the same description every time";
  EXPECT_EQ(again.memory_bytes, info.memory_bytes);
}

TEST(DeviceDescription, ReplacesAllThatWasThere) {
  BackendDeviceInfo filled;
  std::memset(static_cast<void*>(&filled), 0x7f, sizeof(filled));
  g_device.table->describe(g_device.handle, &filled);
  EXPECT_EQ(filled.unified_memory, g_device.info.unified_memory);
  EXPECT_EQ(filled.shares_addresses, g_device.info.shares_addresses);
  EXPECT_EQ(filled.asynchronous, g_device.info.asynchronous);
  EXPECT_EQ(filled.threads, g_device.info.threads);
  EXPECT_EQ(filled.vendor, g_device.info.vendor);
  EXPECT_EQ(filled.product, g_device.info.product);
  EXPECT_EQ(filled.traits.joins_from, g_device.info.traits.joins_from);
}

TEST(DevicePrograms, GiveTheirResults) {
  const Queue queue;
  for (const std::uint64_t count : {1U, 3U, 64U, 1000U, 100'003U}) {
    SCOPED_TRACE(testing::Message() << count << " numbers");
    ANYDML_MAKE_PROGRAM(plans, program, sum_graph(count));
    const auto a = some_words(count, 1);
    const auto b = some_words(count, 2);
    const Block memory_a(MemoryKind::device_buffer, count * 4);
    const Block memory_b(MemoryKind::upload_buffer, count * 4);
    const Block temporary(MemoryKind::temporary, program.temporary_bytes());
    queue.write(memory_a, 0, bytes_of(a));
    queue.write(memory_b, 0, bytes_of(b));
    for (const MemoryKind kind : kAllKinds) {
      const Block out(kind, count * 4);
      queue.run(program.get(), {memory_a.address(), memory_b.address(), out.address(), temporary.address(), 0, 0});
      EXPECT_TRUE(same(queue.read(out), bytes_of(sums(a, b)))) << "the result in " << name_of(kind);
    }
  }
}

// Operands may start at any element-aligned offset, and no other bytes are written.
TEST(DevicePrograms, WriteTheirOutputsAlone) {
  constexpr std::uint64_t kCount = 1001;
  constexpr std::uint64_t kRoom = 8192;
  const Queue queue;
  ANYDML_MAKE_PROGRAM(plans, program, sum_graph(kCount));
  const Block in(MemoryKind::device_buffer, 2 * kRoom);
  const Block out(MemoryKind::device_buffer, kRoom);
  const Block temporary(MemoryKind::temporary, program.temporary_bytes());
  const Bytes given = some_bytes(2 * kRoom, 1);
  queue.write(in, 0, given);
  for (const std::uint64_t offset : {4U, 8U, 12U, 20U, 52U, 4000U}) {
    SCOPED_TRACE(testing::Message() << "offset " << offset);
    Bytes expected = some_bytes(kRoom, 2);
    queue.write(out, 0, expected);
    queue.run(program.get(), {in.address(offset), in.address(kRoom + 2 * offset % 36), out.address(offset),
                              temporary.address(), 0, 0});
    const auto words = as<std::uint32_t>(given);
    const auto part = [&](std::uint64_t at) {
      return std::vector<std::uint32_t>(words.begin() + static_cast<std::ptrdiff_t>(at / 4),
                                        words.begin() + static_cast<std::ptrdiff_t>(at / 4 + kCount));
    };
    const Bytes result = bytes_of(sums(part(offset), part(kRoom + 2 * offset % 36)));
    std::ranges::copy(result, expected.begin() + static_cast<std::ptrdiff_t>(offset));
    EXPECT_TRUE(same(queue.read(out), expected));
  }
  EXPECT_TRUE(same(queue.read(in), given)) << "expected the inputs to be unchanged";
}

TEST(DevicePrograms, RunInTheOrderOfTheirQueue) {
  constexpr std::uint64_t kCount = 3000;
  const Queue queue;
  ANYDML_MAKE_PROGRAM(plans, program, sum_graph(kCount));
  const Block sum(MemoryKind::device_buffer, kCount * 4);
  const Block one(MemoryKind::device_buffer, kCount * 4);
  const Block between(MemoryKind::device_buffer, kCount * 4);
  const Block temporary(MemoryKind::temporary, program.temporary_bytes());
  queue.fill(one.at(), one.bytes(), {1});
  for (int i = 0; i < 100; ++i) {  // in place, with copies and fills in between
    queue.run(program.get(), {sum.address(), one.address(), sum.address(), temporary.address(), 0, 0});
    queue.copy(between.at(), sum.at(), sum.bytes());
    queue.fill(sum.at(), sum.bytes(), {0xffffffff});
    queue.run(program.get(), {between.address(), one.address(), sum.address(), temporary.address(), 0, 0});
  }
  EXPECT_EQ(as<std::uint32_t>(queue.read(sum)), std::vector<std::uint32_t>(kCount, 200));
}

TEST(DevicePrograms, RunManyTimesAtOnce) {
  constexpr std::uint64_t kCount = 20'000;
  ANYDML_MAKE_PROGRAM(plans, program, sum_graph(kCount));
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([t, &program] {
      const Queue queue;
      const Block a(MemoryKind::device_buffer, kCount * 4);
      const Block b(MemoryKind::device_buffer, kCount * 4);
      const Block temporary(MemoryKind::temporary, program.temporary_bytes());
      auto expected = some_words(kCount, t);
      const auto step = some_words(kCount, t + 10);
      queue.write(a, 0, bytes_of(expected));
      queue.write(b, 0, bytes_of(step));
      for (int i = 0; i < 15; ++i) {
        queue.run(program.get(), {a.address(), b.address(), a.address(), temporary.address(), 0, 0});
        expected = sums(std::move(expected), step);
      }
      EXPECT_TRUE(same(queue.read(a), bytes_of(expected))) << "thread " << t;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(DevicePrograms, AreCompiledByManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (std::uint64_t i = 0; i < 5; ++i) {
        const std::uint64_t count = 100 + t * 10 + i;
        std::string why;
        const auto plans = plan_of(sum_graph(count), g_device.info.traits, why);
        if (!plans) {
          return;
        }
        Program program(g_device, nullptr);
        ASSERT_TRUE(is_ok(compile(plans->run, program)));
        const Queue queue;
        const Block a(MemoryKind::device_buffer, count * 4);
        const Block temporary(MemoryKind::temporary, program.temporary_bytes());
        queue.write(a, 0, bytes_of(some_words(count, t)));
        queue.run(program.get(), {a.address(), a.address(), a.address(), temporary.address(), 0, 0});
        EXPECT_TRUE(same(queue.read(a), bytes_of(sums(some_words(count, t), some_words(count, t)))));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// Runs a program of rows_graph. Its temporary memory is surrounded by other memory and has arbitrary contents at first.
void check_rows(const Program& program, const GraphPlans& plans) {
  constexpr std::uint64_t kBefore = kTemporaryAlignment * 5;
  const Queue queue;
  const auto a = some_words(kRows * kColumns, 1);
  const auto b = some_words(kRows * kColumns, 2);
  const Block memory_a(MemoryKind::device_buffer, kRows * kColumns * 4);
  const Block memory_b(MemoryKind::device_buffer, kRows * kColumns * 4);
  const Block out(MemoryKind::device_buffer, kRows * 4);
  queue.write(memory_a, 0, bytes_of(a));
  queue.write(memory_b, 0, bytes_of(b));
  ASSERT_GE(program.temporary_bytes(), plans.run.temporary_bytes())
      << "expected the plan's own bytes plus the workspace of the kernels";
  const std::uint64_t needed = program.temporary_bytes();
  const Block around(MemoryKind::device_buffer, kBefore + needed + 1000);
  std::vector<DeviceAddress> addresses(plans.slots());
  addresses[0] = memory_a.address();
  addresses[1] = memory_b.address();
  addresses[plans.output_slot(0)] = out.address();
  addresses[plans.temporary_slot()] = around.address(kBefore);
  for (std::uint64_t round = 0; round < 2; ++round) {
    const Bytes before = some_bytes(around.bytes(), 10 + round);
    queue.write(around, 0, before);
    queue.run(program.get(), addresses);
    EXPECT_EQ(as<std::uint32_t>(queue.read(out)), row_sums(a, b)) << "round " << round;
    Bytes after = queue.read(around);
    // The temporary memory may have any contents.
    std::copy_n(before.begin() + static_cast<std::ptrdiff_t>(kBefore), needed,
                after.begin() + static_cast<std::ptrdiff_t>(kBefore));
    EXPECT_TRUE(same(after, before)) << "a run wrote outside the " << needed << " bytes of its temporary";
  }
}

TEST(DevicePrograms, UseTheirTemporaryAndNothingBesideIt) {
  std::string why;
  DeviceTraits traits = g_device.info.traits;
  traits.joins_from = 0;
  const auto plans = plan_of(rows_graph(), traits, why);
  if (!plans) {
    GTEST_SKIP() << "lacking: " << why;
  }
  ASSERT_GT(plans->run.temporary_bytes(), 0U);
  Program program(g_device, nullptr);
  ASSERT_TRUE(is_ok(compile(plans->run, program)));
  check_rows(program, *plans);
}

TEST(DevicePrograms, JoinStepsOrSayThatTheyCannot) {
  if (g_device.info.traits.joins_from == 0) {
    GTEST_SKIP() << "the device joins no steps (traits.joins_from is 0)";
  }
  std::string why;
  DeviceTraits traits = g_device.info.traits;
  traits.joins_from = 1;
  const auto plans = plan_of(rows_graph(), traits, why);
  if (!plans) {
    GTEST_SKIP() << "lacking: " << why;
  }
  Program program(g_device, nullptr);
  const BackendStatus status = compile(plans->run, program);
  if (status.code == BackendCode::not_joined) {
    EXPECT_TRUE(returns(BackendCode::not_joined, status));
    return;
  }
  ASSERT_TRUE(is_ok(status)) << "expected ok or not_joined";
  check_rows(program, *plans);
}

TEST(DevicePrograms, GetMemoryInTheOrderOfTheirQueue) {
  ASSERT_EQ(g_device.table->allocate_in_order == nullptr, g_device.table->release_in_order == nullptr)
      << "expected both allocate_in_order and release_in_order, or neither";
  if (g_device.table->allocate_in_order == nullptr) {
    GTEST_SKIP() << "the device does not allocate memory in queue order (allocate_in_order is null)";
  }
  const Queue queue;
  const Block out(MemoryKind::readback_buffer, 50 * 4096);
  int given = 0;
  for (std::uint32_t i = 0; i < 50; ++i) {  // an allocation may reuse memory that earlier work still uses
    MemoryBlock block{};
    ASSERT_TRUE(is_ok(g_device.table->allocate_in_order(queue.get(), 4096 + i, &block)));
    if (block.handle == nullptr) {
      continue;
    }
    ++given;
    EXPECT_EQ(block.address % kTemporaryAlignment, 0U);
    queue.fill({block.handle, 0}, 4096, {i + 1});
    queue.copy(out.at(i * std::uint64_t{4096}), {block.handle, 0}, 4096);
    g_device.table->release_in_order(queue.get(), block.handle);
  }
  queue.finish();
  for (std::uint32_t i = 0; i < 50 && given == 50; ++i) {
    const std::byte* const part = out.host() + std::uint64_t{i} * 4096;
    EXPECT_EQ(as<std::uint32_t>(Bytes(part, part + 4096)), std::vector<std::uint32_t>(1024, i + 1));
  }
}

TEST(DevicePrograms, AreExplained) {
  ANYDML_MAKE_PROGRAM(plans, program, sum_graph(1000));
  EXPECT_NE(program.explain(), "") << "expected a text that names the kernels";
  for (const std::uint64_t capacity : {1U, 2U, 7U, 40U}) {
    std::string text(capacity + 8, '\x7f');
    g_device.table->explain(program.get(), text.data(), capacity);
    EXPECT_LT(text.find('\0'), capacity) << "expected a text that ends within " << capacity << " bytes";
    EXPECT_EQ(text.substr(capacity), std::string(8, '\x7f')) << "it wrote beyond " << capacity << " bytes";
  }
}

TEST(DevicePrograms, MayBeInterrupted) {
  constexpr std::uint64_t kCount = 200'000;
  const Queue queue;
  ANYDML_MAKE_PROGRAM(plans, program, sum_graph(kCount));
  const Block a(MemoryKind::device_buffer, kCount * 4);
  const Block out(MemoryKind::device_buffer, kCount * 4);
  const Block temporary(MemoryKind::temporary, program.temporary_bytes());
  queue.write(a, 0, bytes_of(some_words(kCount, 1)));
  const DeviceAddress addresses[] = {a.address(), a.address(), out.address(), temporary.address(), 0, 0};
  for (std::int32_t wanted = 1; wanted >= 0; --wanted) {
    const Interrupt interrupt{.is_wanted = [](void* context) { return *static_cast<std::int32_t*>(context); },
                              .context = &wanted};
    const BackendStatus status = g_device.table->run(queue.get(), program.get(), addresses, &interrupt);
    if (wanted == 1 && status.code == BackendCode::interrupted) {
      EXPECT_TRUE(returns(BackendCode::interrupted, status));
      EXPECT_EQ(g_device.info.asynchronous, 0U) << "an asynchronous device cannot know that the run was interrupted";
      continue;
    }
    EXPECT_TRUE(is_ok(status)) << "interrupt wanted: " << wanted;
    EXPECT_TRUE(same(queue.read(out), bytes_of(sums(some_words(kCount, 1), some_words(kCount, 1)))));
  }
}

TEST(DevicePrograms, WithoutStepsDoNothing) {
  const Queue queue;
  Program program(g_device, nullptr);
  ASSERT_TRUE(is_ok(compile(Plan(1, 1), program))) << "a plan without steps";
  EXPECT_EQ(program.temporary_bytes(), 0U);
  EXPECT_LT(program.explain().size(), 512U);
  const Block memory(MemoryKind::device_buffer, 64);
  queue.run(program.get(), {memory.address(), memory.address(), 0});
  EXPECT_TRUE(same(queue.read(memory), Bytes(64)));
}

TEST(DeviceRefusals, PlansOfUnknownFamilies) {
  const Operand operands[] = {{.slot = 0, .type = DataType::FLOAT32, .offset = 0},
                              {.slot = 1, .type = DataType::FLOAT32, .offset = 0}};
  const std::byte parameters[64] = {};
  for (const std::uint32_t family : {63U, 64U, 1000U, 0xffffffffU}) {
    SCOPED_TRACE(testing::Message() << "family " << family);
    Plan plan(1, 1);
    plan.add(family, operands, parameters);
    Program program(g_device, nullptr);
    EXPECT_TRUE(returns(BackendCode::failed, compile(plan, program))) << "a plan of an unknown family";
  }
  ANYDML_MAKE_PROGRAM(plans, program, sum_graph(10));  // the device still compiles
}

TEST(DeviceRefusals, StepsThatCannotBeJoined) {
  std::string why;
  DeviceTraits traits = g_device.info.traits;
  traits.joins_from = 1;
  const auto plans = plan_of(rows_graph(), traits, why);
  if (!plans) {
    GTEST_SKIP() << "lacking: " << why;
  }
  // In this plan, the prologue that sums the inputs is joined twice.
  Plan twice(2, 1);
  std::size_t steps = 0;
  for_each_step(plans->run.words(), [&](const Step& step) {
    twice.set_role(step.role);
    for (int i = 0; i < (step.role == StepRole::main ? 1 : 2); ++i, ++steps) {
      twice.add(step.family, step.operands, step.parameters);
    }
    return true;
  });
  ASSERT_EQ(steps, 3U) << "expected a plan of two joined steps";
  Program program(g_device, nullptr);
  EXPECT_TRUE(returns(BackendCode::not_joined, compile(twice, program)))
      << "expected not_joined, so that the graph is compiled with separate steps";
}

}  // namespace
}  // namespace anydml::device
