// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "base/checked.h"
#include "base/environment.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/processors.h"
#include "base/quoted.h"
#include "base/scalar.h"
#include "support/bits.h"
#include "support/oracle.h"

namespace {
bool g_nothing_is_written = false;
int g_writes = 0;
}  // namespace

// Replaces the C library's writev so that the log's writes can be counted and made to fail.
extern "C" ssize_t writev(int file, const iovec* pieces, int count) {
  ++g_writes;
  if (!g_nothing_is_written) {
    return syscall(SYS_writev, file, pieces, count);
  }
  if (g_writes < 1000) {
    return 0;
  }
  errno = EIO;  // this ends the loop if the log retries
  return -1;
}

namespace anydml::test {
namespace {

// writev() may accept 0 bytes without reporting an error.
TEST(Log, AWriteOfNothingIsNotTriedAgain) {
  g_nothing_is_written = true;
  g_writes = 0;
  show_line(LogLevel::error, "a line");
  g_nothing_is_written = false;
  EXPECT_EQ(g_writes, 1);
}

TEST(Log, AFunctionTakesTheLines) {
  std::vector<std::string> lines;
  const auto take = [](void* context, int level, const char* line) {
    static_cast<std::vector<std::string>*>(context)->push_back(std::to_string(level) + " " + line);
  };
  set_log_function(take, &lines, LogLevel::info);
  EXPECT_TRUE(log_line(LogLevel::error, "one", " line", " of three"));
  EXPECT_TRUE(log_line(LogLevel::info, "another"));
  EXPECT_FALSE(log_line(LogLevel::graph, "not asked for"));
  EXPECT_TRUE(log_failure("again"));
  EXPECT_TRUE(log_failure("again"));
  EXPECT_TRUE(log_failure("again"));
  show_line(LogLevel::info, std::string(5000, 'x'));
  set_log_function(nullptr, nullptr, LogLevel::none);
  EXPECT_FALSE(log_line(LogLevel::error, "to nobody"));
  EXPECT_EQ(lines, (std::vector<std::string>{"1 one line of three", "2 another", "1 again", "1 again", "1 again",
                                             "2 " + std::string(5000, 'x')}));
}

TEST(Float16, WidensEveryValueExactly) {
  for (u32 bits = 0; bits <= 0xffff; ++bits) {
    const f16 half{static_cast<u16>(bits)};
    ASSERT_TRUE(same(widen_to<f32>(half), static_cast<f32>(to_double(half)))) << show(half);
    ASSERT_TRUE(same(widen_to<f64>(half), to_double(half))) << show(half);
  }
}

// Every sign, exponent and upper fraction of FLOAT32, each with lower bits around the rounding boundaries.
TEST(Float16, RoundsFromFloat32AsTheMachineDoes) {
  u64 checked = 0;
  for (u32 upper = 0; upper <= 0xffff; ++upper) {
    for (const u32 lower : {0x0000U, 0x0001U, 0x0fffU, 0x1000U, 0x1001U, 0x1fffU, 0x2000U, 0x2001U, 0x3000U, 0x5000U,
                            0x7fffU, 0x8000U, 0x9000U, 0xb000U, 0xd000U, 0xefffU, 0xf000U, 0xf001U, 0xffffU}) {
      const f32 value = from_bits<f32>(upper << 16 | lower);
      ASSERT_TRUE(same(round_to<f16>(value), from_double<f16>(to_double(value)))) << show(value);
      ++checked;
    }
  }
  EXPECT_EQ(checked, 65536U * 19);
}

TEST(Float, RoundsFromFloat64AsTheMachineDoes) {
  u64 state = 88172645463325252U;
  for (int i = 0; i < 3'000'000; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    // The exponents are near those of the narrower formats. Half of the numbers have few bits below the rounding point,
    // so that ties occur.
    const u64 exponent = i % 3 == 0 ? state >> 52 & 0x7ff : 1023 - 160 + (state >> 52) % 320;
    u64 fraction = state & 0xfffffffffffffU;
    if (i % 2 == 0) {
      fraction &= ~u64{0} << (state % 53);
    }
    const f64 value = from_bits<f64>((state & u64{1} << 63) | exponent << 52 | fraction);
    ASSERT_TRUE(same(round_to<f32>(value), static_cast<f32>(value))) << show(value);
    ASSERT_TRUE(same(round_to<f16>(value), from_double<f16>(value))) << show(value);
  }
}

TEST(Scalar, ConvertsOnceAndStopsAtLimits) {
  EXPECT_EQ(Scalar(2.9).as<i32>(), 2);
  EXPECT_EQ(Scalar(-2.9).as<i32>(), -2);
  EXPECT_EQ(Scalar(1e30).as<i8>(), 127);
  EXPECT_EQ(Scalar(-1e30).as<i8>(), -128);
  EXPECT_EQ(Scalar(-1.0).as<u16>(), 0);
  EXPECT_EQ(Scalar(1e30).as<u64>(), ~u64{0});
  EXPECT_EQ(Scalar(9.3e18).as<i64>(), std::numeric_limits<i64>::max());
  EXPECT_EQ(Scalar(std::nan("")).as<i32>(), 0);
  EXPECT_EQ(Scalar(i64{-5}).as<u8>(), 0);
  EXPECT_EQ(Scalar(i64{300}).as<u8>(), 255);
  EXPECT_EQ(Scalar(i64{300}).as<i8>(), 127);
  EXPECT_EQ(Scalar(~u64{0}).as<i64>(), std::numeric_limits<i64>::max());
  EXPECT_EQ(Scalar(~u64{0}).as<u64>(), ~u64{0});
  EXPECT_EQ(Scalar((((i64{1} << 24) + 1) << 30) + 1).as<f32>(), 18014400656965632.0F) << "rounded once, not twice";
  EXPECT_EQ(Scalar(i64{7}).as<f32>(), 7.0F);
  EXPECT_EQ(Scalar(u64{7}).as<f64>(), 7.0);
  EXPECT_TRUE(same(Scalar(0.1).as<f16>(), from_double<f16>(0.1)));
}

TEST(Checked, SaysWhenANumberDoesNotFit) {
  constexpr i64 kMax = std::numeric_limits<i64>::max();
  EXPECT_EQ(checked_add(1, 2), 3);
  EXPECT_EQ(checked_add(kMax, 1), std::nullopt);
  EXPECT_EQ(checked_subtract(-2, kMax), std::nullopt);
  EXPECT_EQ(checked_multiply(kMax, 2), std::nullopt);
  EXPECT_EQ(magnitude(std::numeric_limits<i64>::min()), u64{1} << 63);
}

std::map<std::string, std::string> g_variables;
const char* read_variable(const char* name) {
  const auto found = g_variables.find(name);
  return found == g_variables.end() ? nullptr : found->second.c_str();
}

TEST(Environment, UnderstandsWhatIsDocumented) {
  g_variables = {};
  auto read = read_environment(read_variable);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().threads, 0U);
  EXPECT_EQ(read.value().log, std::nullopt);

  g_variables = {{"ANYDML_THREADS", "3"},  {"ANYDML_LOG", "dispatch"}, {"ANYDML_ADAPTER", "cpu"},
                 {"ANYDML_GRAPHICS", "1"}, {"ANYDML_DEBUG", "abort"},  {"ANYDML_ALLOW_HALF_PRECISION", "1"}};
  read = read_environment(read_variable);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().threads, 3U);
  EXPECT_EQ(read.value().log, LogLevel::dispatch);
  EXPECT_EQ(read.value().adapter, "cpu");
  EXPECT_TRUE(read.value().graphics);
  EXPECT_TRUE(read.value().allow_half);
  EXPECT_EQ(read.value().debug, DebugSetting::abort);

  g_variables = {{"ANYDML_DEBUG", "1"}};
  EXPECT_EQ(read_environment(read_variable).value().debug, DebugSetting::on);
  for (const char* off : {"0", ""}) {
    g_variables = {{"ANYDML_DEBUG", off}};
    EXPECT_EQ(read_environment(read_variable).value().debug, DebugSetting::off);
  }
  for (const char* level : {"none", "error", "info"}) {
    g_variables = {{"ANYDML_LOG", level}};
    EXPECT_TRUE(read_environment(read_variable).ok()) << level;
  }
}

TEST(Environment, SaysWhatItDoesNotUnderstand) {
  for (const char* threads : {"0", "-1", "1025", "two", "2x", "99999999999999999999"}) {
    g_variables = {{"ANYDML_THREADS", threads}};
    const auto read = read_environment(read_variable);
    ASSERT_FALSE(read.ok()) << threads;
    EXPECT_EQ(read.error().message,
              std::string("environment: ANYDML_THREADS is '") + threads + "'; expected a whole number from 1 to 1024");
  }
  g_variables = {{"ANYDML_GRAPHICS", "yes"}};
  EXPECT_EQ(read_environment(read_variable).error().message, "environment: ANYDML_GRAPHICS is 'yes'; expected 0 or 1");
  g_variables = {{"ANYDML_ALLOW_HALF_PRECISION", "yes"}};
  EXPECT_EQ(read_environment(read_variable).error().message,
            "environment: ANYDML_ALLOW_HALF_PRECISION is 'yes'; expected 0 or 1");
  g_variables = {{"ANYDML_DEBUG", "yes"}};
  EXPECT_EQ(read_environment(read_variable).error().message,
            "environment: ANYDML_DEBUG is 'yes'; expected 0, 1 or abort");
  g_variables = {{"ANYDML_LOG", "verbose"}};
  const auto read = read_environment(read_variable);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message,
            "environment: ANYDML_LOG is 'verbose'; expected none, error, info, graph, dispatch or onnxruntime");
}

// A root directory with the files that report the amount of memory and the number of processors.
class MachineFiles : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  const std::string root_ = testing::TempDir() + "anydml_machine_" + std::to_string(getpid());
};

TEST_F(MachineFiles, TheMachinesOwnWithoutGroups) {
  write("/proc/meminfo", "MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:  600 kB\n");
  const MemoryState state = read_memory_state(root_);
  EXPECT_EQ(state.limit, 1000U * 1024);
  EXPECT_EQ(state.available, 600U * 1024);
}

TEST_F(MachineFiles, TheTightestGroupCounts) {
  write("/proc/meminfo", "MemTotal:  1000 kB\nMemAvailable:  600 kB\n");
  write("/proc/self/cgroup", "0::/outer/inner\n");
  write("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write("/sys/fs/cgroup/outer/inner/memory.current", "1000\n");
  write("/sys/fs/cgroup/outer/memory.max", "400000\n");
  write("/sys/fs/cgroup/outer/memory.current", "300000\n");
  write("/sys/fs/cgroup/outer/memory.stat", "anon 1\ninactive_file 50000\nactive_file 10000\n");
  const MemoryState state = read_memory_state(root_);
  EXPECT_EQ(state.limit, 400'000U);
  EXPECT_EQ(state.available, 160'000U);  // the page cache can be reclaimed
}

TEST_F(MachineFiles, GroupsOfTheFirstVersion) {
  write("/proc/meminfo", "MemTotal:  1000 kB\nMemAvailable:  600 kB\n");
  write("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/box\n");
  write("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "200000\n");
  write("/sys/fs/cgroup/memory/box/memory.usage_in_bytes", "250000\n");
  const MemoryState state = read_memory_state(root_);
  EXPECT_EQ(state.limit, 200'000U);
  EXPECT_EQ(state.available, 0U);
}

// A container's CPU quota is rounded up to whole processors. Without a quota, all processors count.
TEST_F(MachineFiles, ProcessorsOfTheTightestGroup) {
  const unsigned all = std::max(1U, std::thread::hardware_concurrency());
  EXPECT_EQ(usable_processors(root_), all);
  write("/proc/self/cgroup", "0::/outer/inner\n");
  write("/sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  EXPECT_EQ(usable_processors(root_), all);
  write("/sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  EXPECT_EQ(usable_processors(root_), std::min(all, 2U));
  write("/sys/fs/cgroup/outer/inner/cpu.max", "50000 100000\n");
  EXPECT_EQ(usable_processors(root_), 1U);
  write("/sys/fs/cgroup/outer/inner/cpu.max", "nonsense");
  EXPECT_EQ(usable_processors(root_), std::min(all, 2U));
}

TEST_F(MachineFiles, ProcessorsOfGroupsOfTheFirstVersion) {
  const unsigned all = std::max(1U, std::thread::hardware_concurrency());
  write("/proc/self/cgroup", "6:cpuset:/set\n5:cpu,cpuacct:/x\n4:memory:/box\n");
  write("/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(usable_processors(root_), all);
  write("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "100000\n");
  EXPECT_EQ(usable_processors(root_), 1U);
}

TEST(Memory, OfThisMachine) {
  const MemoryState state = read_memory_state();
  EXPECT_GT(state.limit, u64{1} << 20);
  EXPECT_LE(state.available, state.limit);
}

TEST(Quoted, KeepsWhatCanBePrinted) {
  EXPECT_EQ(anydml::quoted(""), "''");
  EXPECT_EQ(anydml::quoted("conv1/weights"), "'conv1/weights'");
  EXPECT_EQ(anydml::quoted("Gewicht \xc3\xa4, \xe9\x87\x8d, \xf0\x9f\x98\x80"),
            "'Gewicht \xc3\xa4, \xe9\x87\x8d, \xf0\x9f\x98\x80'");
}

TEST(Quoted, ALineStaysALine) {
  EXPECT_EQ(anydml::quoted("a\nanydml: b\r\x1b[2J\x7f"), "'a\\x0Aanydml: b\\x0D\\x1B[2J\\x7F'");
  EXPECT_EQ(anydml::quoted("\xc2\x85"), "'\\xC2\\x85'");           // U+0085, the next line
  EXPECT_EQ(anydml::quoted("\xff\xc3"), "'\\xFF\\xC3'");           // not UTF-8, and a truncated character
  EXPECT_EQ(anydml::quoted("\xed\xa0\x80"), "'\\xED\\xA0\\x80'");  // half of a surrogate pair
  EXPECT_EQ(anydml::quoted(std::string_view("a\0b", 3)), "'a\\x00b'");
}

TEST(Quoted, LongNamesAreShortenedBetweenCharacters) {
  EXPECT_EQ(anydml::quoted(std::string(kMaxQuotedBytes, 'x')), "'" + std::string(kMaxQuotedBytes, 'x') + "'");
  EXPECT_EQ(anydml::quoted(std::string(std::size_t{1} << 20, 'x')), "'" + std::string(kMaxQuotedBytes, 'x') + "...'");
  EXPECT_EQ(anydml::quoted(std::string(kMaxQuotedBytes - 1, 'x') + "\xc3\xa4"),
            "'" + std::string(kMaxQuotedBytes - 1, 'x') + "...'");
}

}  // namespace
}  // namespace anydml::test
