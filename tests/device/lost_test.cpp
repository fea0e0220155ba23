// SPDX-License-Identifier: MIT
// Tests a device that fails. After the failure, every function reports it, and nothing waits forever. The tests need
// help to make the device fail. A backend called `name` may support ANYDML_NAME_FAILS=N, which makes the N-th run on an
// opened device fail. Alternatively, ANYDML_TEST_TRAP names a library with a function anydml_test_trap that breaks this
// process's device (cuda/trap.cu). These tests come last, because a broken device does not recover.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "device/programs.h"

namespace anydml::device {
namespace {

std::string fails_variable() {
  std::string name = g_device.table->name;
  std::ranges::transform(name, name.begin(), [](unsigned char one) { return std::toupper(one); });
  return "ANYDML_" + name + "_FAILS";
}

// Breaks the device with the library named by ANYDML_TEST_TRAP, if that is set.
void trap() {
  const char* const path = std::getenv("ANYDML_TEST_TRAP");
  if (path == nullptr) {
    return;
  }
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << "ANYDML_TEST_TRAP: " << dlerror();
  const auto function = reinterpret_cast<int (*)()>(dlsym(library, "anydml_test_trap"));
  ASSERT_NE(function, nullptr) << "ANYDML_TEST_TRAP: expected a function anydml_test_trap";
  ASSERT_EQ(function(), 0);
}

// A device that is configured to fail at a given run.
class Lost {
 public:
  explicit Lost(const char* run) : device_(g_device) {
    setenv(fails_variable().c_str(), run, 1);
    device_.handle = open_another();
    unsetenv(fails_variable().c_str());
  }
  ~Lost() {
    if (device_.handle != nullptr) {
      device_.table->close(device_.handle);
    }
  }
  Lost(const Lost&) = delete;
  Lost& operator=(const Lost&) = delete;
  [[nodiscard]] const Device& get() const { return device_; }

 private:
  Device device_;
};

// Records functions that succeed on a failed device. They may succeed if they need nothing from it.
class Afterwards {
 public:
  // Returns whether the function succeeded.
  bool operator()(const char* function, BackendStatus status) {
    if (status.code == BackendCode::ok) {
      succeeded_ += std::string(succeeded_.empty() ? "" : ", ") + function;
      return true;
    }
    EXPECT_TRUE(returns(BackendCode::failed, status)) << function << " on a device that failed";
    return false;
  }
  ~Afterwards() {
    if (!succeeded_.empty()) {
      std::printf("functions that still succeed on the device that failed: %s\n", succeeded_.c_str());
    }
  }
  Afterwards() = default;
  Afterwards(const Afterwards&) = delete;
  Afterwards& operator=(const Afterwards&) = delete;

 private:
  std::string succeeded_;
};

TEST(DeviceLost, EveryFunctionSaysSoAndNothingWaits) {
  const Lost owner("1");
  const Device& lost = owner.get();
  ASSERT_NE(lost.handle, nullptr);
  const BackendTable& table = *lost.table;
  std::string why;
  const auto plans = plan_of(sum_graph(1000), lost.info.traits, why);
  if (!plans) {
    GTEST_SKIP() << "lacking: " << why;
  }
  Afterwards afterwards;
  Program program(lost, nullptr);
  ASSERT_TRUE(is_ok(compile(plans->run, program, lost)));
  const Queue queue(lost);
  const Queue other(lost);
  const Block memory(MemoryKind::device_buffer, 4000, lost);
  const Block read(MemoryKind::readback_buffer, 4000, lost);
  const Block temporary(MemoryKind::temporary, program.temporary_bytes(), lost);
  const std::vector<DeviceAddress> addresses = {
      memory.address(), memory.address(), memory.address(), temporary.address(), 0, 0};
  queue.fill(memory.at(), 4000, {1});
  BackendMark* before = nullptr;  // this mark was passed before the failure
  ASSERT_TRUE(is_ok(table.mark(queue.get(), &before)));
  const Mark first(lost, before);
  ASSERT_TRUE(is_ok(first.wait()));
  trap();
  static_cast<void>(table.run(queue.get(), program.get(), addresses.data(), nullptr));
  // The failure is reported by the run or, on an asynchronous device, by a later wait.
  BackendMark* result = nullptr;
  BackendStatus status = table.mark(queue.get(), &result);
  const Mark mark(lost, result);
  if (status.code == BackendCode::ok && result != nullptr) {
    static_cast<void>(table.follow(other.get(), result));  // the failure may not be known yet
    status = mark.wait();
    if (status.code == BackendCode::failed) {
      EXPECT_TRUE(mark.is_passed()) << "expected a failed mark to count as passed, so that polling ends";
      EXPECT_TRUE(returns(BackendCode::failed, mark.wait())) << "a second wait";
    }
  }
  if (status.code == BackendCode::ok) {
    GTEST_SKIP() << "nothing made the device fail; " << fails_variable() << "=1 or ANYDML_TEST_TRAP may";
  }
  EXPECT_TRUE(returns(BackendCode::failed, status)) << "mark or wait after the run that failed";
  EXPECT_TRUE(first.is_passed()) << "expected an earlier mark to stay passed";

  for (BackendQueue* const one : {queue.get(), other.get()}) {
    const std::uint32_t pattern = 5;
    afterwards("copy", table.copy(one, read.at(), memory.at(), 4000));
    afterwards("fill", table.fill(one, memory.at(), 4000, &pattern, 4));
    afterwards("run", table.run(one, program.get(), addresses.data(), nullptr));
    afterwards("timestamp", table.timestamp(one, read.at()));
    if (result != nullptr) {
      afterwards("follow", table.follow(one, result));
    }
    BackendMark* none = nullptr;
    EXPECT_TRUE(returns(BackendCode::failed, table.mark(one, &none))) << "mark: no further work would be done";
    EXPECT_EQ(none, nullptr) << "expected no mark after a failure";
  }
  for (const MemoryKind kind : kAllKinds) {
    MemoryBlock block{};
    if (afterwards(name_of(kind), table.allocate(lost.handle, kind, 100, &block))) {
      table.release(lost.handle, kind, 100, block.handle);
    } else {
      EXPECT_EQ(block.handle, nullptr);
    }
  }
  if (table.allocate_in_order != nullptr) {
    MemoryBlock block{};
    if (afterwards("allocate_in_order", table.allocate_in_order(queue.get(), 100, &block)) && block.handle != nullptr) {
      table.release_in_order(queue.get(), block.handle);
    }
  }
  if (table.import_host != nullptr) {
    alignas(4096) static std::byte page[4096];
    MemoryBlock block{};
    if (afterwards("import_host", table.import_host(lost.handle, page, sizeof(page), &block))) {
      table.forget_host(lost.handle, block.handle);
    }
  }
  Program second(lost, nullptr);
  afterwards("compile", compile(plans->run, second, lost));
  BackendQueue* third = nullptr;
  if (afterwards("create_queue", table.create_queue(lost.handle, &third))) {
    table.destroy_queue(third);
  }
  // Descriptions and the destruction of existing objects need no device.
  BackendDeviceInfo info{};
  table.describe(lost.handle, &info);
  EXPECT_STREQ(info.name, lost.info.name);
  EXPECT_NE(program.explain(), "");
  EXPECT_EQ(program.temporary_bytes(), temporary.bytes());
  static_cast<void>(table.buffer_bytes(lost.handle));
}

// Threads wait and poll while the device fails.
TEST(DeviceLost, WakesWhoeverWaits) {
  if (std::getenv("ANYDML_TEST_TRAP") != nullptr) {
    GTEST_SKIP() << "the previous test broke this process's device";
  }
  const Lost owner("20");
  const Device& lost = owner.get();
  ASSERT_NE(lost.handle, nullptr);
  std::string why;
  const auto plans = plan_of(sum_graph(1000), lost.info.traits, why);
  Program program(lost, nullptr);
  if (!plans || compile(plans->run, program, lost).code != BackendCode::ok) {
    GTEST_SKIP() << "lacking: " << why;
  }
  constexpr std::size_t kThreads = 4;
  constexpr int kRuns = 20;
  std::atomic<int> failures = 0;
  {
    // All objects are created before the failure.
    std::vector<std::unique_ptr<Queue>> queues;
    std::vector<Block> memory;
    std::vector<Block> temporaries;
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      queues.push_back(std::make_unique<Queue>(lost));
      memory.emplace_back(MemoryKind::device_buffer, 4000, lost);
      temporaries.emplace_back(MemoryKind::temporary, program.temporary_bytes(), lost);
    }
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const DeviceAddress position = memory[t].address();
        const DeviceAddress addresses[] = {position, position, position, temporaries[t].address(), 0, 0};
        BackendQueue* const queue = queues[t]->get();
        for (int i = 0; i < kRuns; ++i) {
          static_cast<void>(lost.table->run(queue, program.get(), addresses, nullptr));
          BackendMark* result = nullptr;
          BackendStatus status = lost.table->mark(queue, &result);
          const Mark mark(lost, result);
          while (t % 2 == 0 && !mark.is_passed()) {
            std::this_thread::yield();
          }
          status = status.code == BackendCode::ok ? mark.wait() : status;
          failures += status.code == BackendCode::failed ? 1 : 0;
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  if (failures == 0) {
    GTEST_SKIP() << "nothing made the device fail; " << fails_variable() << "=1 or ANYDML_TEST_TRAP may";
  }
  EXPECT_GE(failures, static_cast<int>(kThreads) * kRuns - 19) << "expected all but the first 19 runs to fail";
}

}  // namespace
}  // namespace anydml::device
