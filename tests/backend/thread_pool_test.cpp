// SPDX-License-Identifier: MIT
// Tests the CPU backend's threads and their scratch memory, without any operators.
#include "backend/cpu/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backend/cpu/scratch.h"
#include "base/process.h"
#include "base/processors.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

using Between = ThreadPool::Sequence::Between;

// Pools are never destroyed. This list keeps them reachable for the leak checker.
ThreadPool& make_pool(unsigned threads) {
  static auto& pools = *new std::vector<ThreadPool*>;
  return *pools.emplace_back(new ThreadPool(threads));
}

// A pool with at most this many threads lets its workers spin.
unsigned most_that_spin() { return usable_processors(); }

struct Counted {
  std::vector<std::atomic<int>> chunks;
  static void count(void* context, std::uint64_t chunk, unsigned) noexcept {
    ++static_cast<Counted*>(context)->chunks[chunk];
  }
  void expect_once() const {
    for (const auto& chunk : chunks) {
      ASSERT_EQ(chunk.load(), 1);
    }
  }
};

TEST(ThreadPool, RunsEachChunkOnce) {
  for (const unsigned threads : {1U, 2U, 5U}) {
    ThreadPool& pool = make_pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const std::size_t chunks : {0U, 1U, 2U, 3U, 17U, 1000U}) {
      Counted counted{std::vector<std::atomic<int>>(chunks)};
      pool.run(chunks, Counted::count, &counted);
      counted.expect_once();
    }
  }
}

// ---- The threads of the program
// --------------------------------------------------------------------------------------

// A parallel loop over new threads. It makes only the calls below `made`.
struct Others {
  std::size_t made = SIZE_MAX;
  std::size_t loops = 0;
  static void run(void* context, std::size_t count, void (*body)(void*, std::size_t), void* argument) {
    auto& others = *static_cast<Others*>(context);
    ++others.loops;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < std::min(count, others.made); ++i) {
      threads.emplace_back(body, argument, i);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
};

TEST(ThreadPool, WorksOnThreadsOfTheProgram) {
  ThreadPool& pool = make_pool(3);
  for (const std::size_t made : {0U, 1U, 3U}) {
    Others others{made};
    ThreadPool::set_parallel_of_thread({Others::run, &others});
    for (const std::size_t chunks : {0U, 1U, 2U, 1000U}) {
      Counted counted{std::vector<std::atomic<int>>(chunks)};
      pool.run(chunks, Counted::count, &counted);
      counted.expect_once();
    }
    ThreadPool::set_parallel_of_thread({});
    EXPECT_EQ(others.loops, 2U);  // a job of one chunk needs no loop
    Counted counted{std::vector<std::atomic<int>>(50)};
    pool.run(50, Counted::count, &counted);
    EXPECT_EQ(others.loops, 2U);
  }
}

// The numbers of such threads repeat in runs at the same time, so their scratch memory must not be the workers'.
TEST(Scratch, RunsOnThreadsOfTheProgramShareNoBlock) {
  Scratch set(1000, 2);
  std::set<const std::byte*> blocks{set.of_worker(1), set.of_worker(2)};
  for (int round = 0; round < 2; ++round) {  // the blocks are used again
    const Scratch::OfCaller first_caller(&set);
    const Scratch::OfCaller second_caller(&set);
    const Scratch::OfOthers first(set, 2);
    const Scratch::OfOthers second(set, 2);
    ASSERT_TRUE(first.is_complete() && second.is_complete());
    blocks.insert({first_caller.memory(), second_caller.memory(), first.of_thread(1), first.of_thread(2),
                   second.of_thread(1), second.of_thread(2)});
    EXPECT_EQ(blocks.size(), 8U);
  }
}

TEST(ThreadPool, AnInterruptedJobEndsEarlyOnThreadsOfTheProgram) {
  ThreadPool& pool = make_pool(2);
  Others others;
  ThreadPool::set_parallel_of_thread({Others::run, &others});
  static constexpr Interrupt kAlways = {.is_wanted = [](void*) -> std::int32_t { return 1; }, .context = nullptr};
  Interruption interruption(&kAlways);
  struct Slow {
    std::atomic<int> done{0};
    static void run(void* context, std::uint64_t, unsigned) noexcept {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++static_cast<Slow*>(context)->done;
    }
  } slow;
  ThreadPool::Sequence jobs(pool, Between::sleep, &interruption);
  constexpr int kChunks = 500;
  // Only the caller asks, and all chunks run on other threads, so the job that follows is the one that ends.
  EXPECT_TRUE(jobs.run(4, Slow::run, &slow));
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_FALSE(jobs.run(kChunks, Slow::run, &slow));
  EXPECT_LT(slow.done.load(), kChunks);
  ThreadPool::set_parallel_of_thread({});
}

// An interrupted job skips its remaining chunks. No chunk runs later, and the sequence starts no further jobs.
TEST(ThreadPool, AnInterruptedJobEndsEarly) {
  struct Slow {
    std::atomic<int> running{0};
    std::atomic<int> done{0};
    static void run(void* context, std::uint64_t, unsigned) noexcept {
      auto& slow = *static_cast<Slow*>(context);
      slow.running.fetch_add(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      slow.running.fetch_sub(1);
      slow.done.fetch_add(1);
    }
  };
  constexpr int kChunks = 100'000;
  for (const unsigned threads : {1U, 2U, 5U}) {
    ThreadPool& pool = make_pool(threads);
    int asked = 0;
    const Interrupt interrupt{
        .is_wanted = [](void* context) -> std::int32_t { return ++*static_cast<int*>(context) == 2 ? 1 : 0; },
        .context = &asked};
    Interruption interruption(&interrupt);
    {
      ThreadPool::Sequence sequence(pool, Between::spin, &interruption);
      Slow slow;
      EXPECT_FALSE(sequence.run(kChunks, Slow::run, &slow));
      EXPECT_EQ(slow.running.load(), 0);
      EXPECT_LT(slow.done.load(), kChunks);
      EXPECT_EQ(asked, 2);
      const int before = slow.done.load();
      EXPECT_FALSE(sequence.run(1, Slow::run, &slow));
      EXPECT_FALSE(sequence.run(3, Slow::run, &slow));
      EXPECT_EQ(slow.done.load(), before);
    }
    Counted counted{std::vector<std::atomic<int>>(100)};
    pool.run(100, Counted::count, &counted);
    counted.expect_once();
  }
}

// A job counts as interrupted even if the caller's last chunk was the last one of all: the caller's answer may have had
// effects, such as Python's KeyboardInterrupt.
TEST(ThreadPool, AJobThatIsInterruptedAfterItsLastChunkSaysSo) {
  struct Together {
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> begun{0};
    static void run(void* context, std::uint64_t, unsigned) noexcept {
      auto& together = *static_cast<Together*>(context);
      ++together.begun;
      while (together.begun.load() < 2) {  // so that no chunk is left
        std::this_thread::yield();
      }
      if (std::this_thread::get_id() == together.caller) {
        std::this_thread::sleep_for(std::chrono::milliseconds(80));  // until it is time to ask
      }
    }
  } together;
  ThreadPool& pool = make_pool(2);
  static constexpr Interrupt kAlways = {.is_wanted = [](void*) -> std::int32_t { return 1; }, .context = nullptr};
  Interruption interruption(&kAlways);
  ThreadPool::Sequence sequence(pool, Between::spin, &interruption);
  EXPECT_FALSE(sequence.run(2, Together::run, &together));
  EXPECT_EQ(together.begun.load(), 2);
}

// The numbers are not atomic, so that ThreadSanitizer finds a job that starts too early.
struct Layers {
  std::vector<std::uint64_t> before;
  std::vector<std::uint64_t> after;

  // Each number becomes the sum of all previous numbers, plus its index.
  static void add(void* context, std::uint64_t chunk, unsigned) noexcept {
    auto& layers = *static_cast<Layers*>(context);
    std::uint64_t sum = chunk;
    for (const std::uint64_t value : layers.before) {
      sum += value;
    }
    layers.after[chunk] = sum;
  }
};

bool layers_are_right(ThreadPool& pool, Between between, std::size_t width, int jobs) {
  Layers layers{std::vector<std::uint64_t>(width, 1), std::vector<std::uint64_t>(width)};
  Layers expected = layers;
  ThreadPool::Sequence sequence(pool, between);
  for (int job = 0; job < jobs; ++job) {
    // Occasionally submits a job with one chunk, which the caller runs without the workers.
    const std::uint64_t count = job % 7 == 3 ? 1 : width;
    sequence.run(count, Layers::add, &layers);
    std::swap(layers.before, layers.after);
    for (std::uint64_t chunk = 0; chunk < count; ++chunk) {
      Layers::add(&expected, chunk, 0);
    }
    std::swap(expected.before, expected.after);
    if (layers.before != expected.before) {
      return false;
    }
  }
  return true;
}

TEST(ThreadPool, AJobSeesWhatEarlierJobsWrote) {
  for (const unsigned threads : {1U, 2U, 3U, 5U, most_that_spin()}) {
    ThreadPool& pool = make_pool(threads);
    for (const Between between : {Between::sleep, Between::spin}) {
      for (const std::size_t width : {2U, 16U, 40U}) {
        EXPECT_TRUE(layers_are_right(pool, between, width, kThreadSanitizer ? 100 : 400));
      }
    }
  }
}

TEST(ThreadPool, ServesManyCallersAtOnce) {
  ThreadPool& pool = make_pool(3);
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&pool, i] {
      for (int round = 0; round < 200; ++round) {
        Counted counted{std::vector<std::atomic<int>>(static_cast<std::size_t>(round % 9))};
        pool.run(counted.chunks.size(), Counted::count, &counted);
        counted.expect_once();
      }
      EXPECT_TRUE(layers_are_right(pool, i % 2 == 0 ? Between::spin : Between::sleep, 12, 100));
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
}

// There are 64 job slots. A caller that finds no free slot runs its job alone.
TEST(ThreadPool, ServesMoreCallersThanItHasPlaces) {
  ThreadPool& pool = make_pool(2);
  constexpr int kCallers = 70;
  struct Crowd {
    std::atomic<int> inside{0};
  } crowd;
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&pool, &crowd] {
      ThreadPool::Sequence sequence(pool, Between::spin);
      Counted counted{std::vector<std::atomic<int>>(3)};
      sequence.run(3, Counted::count, &counted);
      counted.expect_once();
      // No caller frees its slot until all callers have tried to get one.
      ++crowd.inside;
      while (crowd.inside < kCallers) {
        std::this_thread::yield();
      }
      Counted again{std::vector<std::atomic<int>>(5)};
      sequence.run(5, Counted::count, &again);
      again.expect_once();
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
}

TEST(ThreadPool, WorksWithMoreThreadsThanProcessors) {
  ThreadPool& pool = make_pool(3 * most_that_spin() + 2);
  for (const Between between : {Between::sleep, Between::spin}) {
    EXPECT_TRUE(layers_are_right(pool, between, 50, 100));
  }
}

// A caller does not wait for workers that did not join its job. Here all workers are busy with another caller's job,
// which ends later.
TEST(ThreadPool, FinishesWhileEveryWorkerIsBusy) {
  ThreadPool& pool = make_pool(3);
  if (pool.threads() != 3) {
    GTEST_SKIP() << "the system could not create the worker threads";
  }
  struct Held {
    std::atomic<int> begun{0};
    std::atomic<bool> may_end{false};
    static void wait(void* context, std::uint64_t, unsigned) noexcept {
      auto& held = *static_cast<Held*>(context);
      ++held.begun;
      while (!held.may_end) {
        std::this_thread::yield();
      }
    }
  } held;
  std::thread other([&] { pool.run(3, Held::wait, &held); });
  while (held.begun < 3) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(layers_are_right(pool, Between::spin, 9, 50));
  held.may_end = true;
  other.join();
}

// Every thread of a job has a different number, and the caller's number is 0.
TEST(ThreadPool, ThreadsOfAJobHaveDifferentNumbers) {
  ThreadPool& pool = make_pool(4);
  struct Numbers {
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<bool> is_used[4]{};
    std::atomic<bool> is_wrong{false};
    static void use(void* context, std::uint64_t, unsigned thread) noexcept {
      auto& numbers = *static_cast<Numbers*>(context);
      if (thread >= 4 || (thread == 0) != (std::this_thread::get_id() == numbers.caller)) {
        numbers.is_wrong = true;
        return;
      }
      if (numbers.is_used[thread].exchange(true)) {
        numbers.is_wrong = true;
      }
      std::this_thread::yield();
      numbers.is_used[thread] = false;
    }
  } numbers;
  ThreadPool::Sequence sequence(pool, Between::spin);
  for (int job = 0; job < 200; ++job) {
    sequence.run(20, Numbers::use, &numbers);
  }
  EXPECT_FALSE(numbers.is_wrong);
}

// A worker that received a signal would run the host's handler, or the signal would kill the process although the host
// waits for it on a different thread.
TEST(ThreadPool, WorkersTakeNoSignals) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  make_pool(4);
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGUSR1), sigismember(&after, SIGUSR1));
  int workers = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    std::string name;
    std::string blocked;
    for (std::string line; std::getline(status, line);) {
      (line.starts_with("Name:") ? name : line.starts_with("SigBlk:") ? blocked : line) = line;
    }
    if (name == "Name:\tanydml") {
      ++workers;
      const std::uint64_t mask = std::stoull(blocked.substr(8), nullptr, 16);
      EXPECT_NE(mask & std::uint64_t{1} << (SIGUSR1 - 1), 0U) << blocked;
      EXPECT_NE(mask & std::uint64_t{1} << (SIGTERM - 1), 0U) << blocked;
    }
  }
  EXPECT_GE(workers, 3);
}

// Returns the CPU time of all threads while this one sleeps for 200 milliseconds. A spinning worker alone would use 200
// milliseconds.
double milliseconds_while_idle() {
  const std::clock_t begin = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  return 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(ThreadPool, AnIdleProcessTakesNoProcessorTime) {
  constexpr double kMax = 30;
  ThreadPool& pool = make_pool(std::max(2U, most_that_spin()));
  {
    ThreadPool::Sequence sequence(pool, Between::spin);
    Counted counted{std::vector<std::atomic<int>>(8)};
    for (int job = 0; job < 100; ++job) {
      sequence.run(8, Counted::count, &counted);
    }
    EXPECT_LT(milliseconds_while_idle(), kMax) << "inside a sequence, while its caller does something else";
    sequence.run(8, Counted::count, &counted);
  }
  EXPECT_LT(milliseconds_while_idle(), kMax) << "after a sequence";
}

// A forked child has neither the spinning workers nor the sequences of other threads.
TEST(ThreadPool, WorksInAChildThatWasForkedWhileWorkersSpin) {
  if (kSanitized) {
    GTEST_SKIP() << "a fork during other threads' work can leave the sanitizers' own locks held";
  }
  ThreadPool& pool = [&]() -> ThreadPool& {
    const std::scoped_lock lock(process_mutex());
    return ThreadPool::of_process(std::max(2U, most_that_spin()));
  }();
  std::atomic<bool> may_end{false};
  std::thread other([&] {
    while (!may_end) {
      EXPECT_TRUE(layers_are_right(pool, Between::spin, 8, 50));
    }
  });
  for (int round = 0; round < 8; ++round) {
    EXPECT_TRUE(layers_are_right(pool, Between::spin, 8, 20));
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(30);  // a hang must not block the test
      const bool is_right = layers_are_right(pool, Between::spin, 8, 20);
      _exit(is_right && pool.threads() == std::max(2U, most_that_spin()) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  may_end = true;
  other.join();
}

// Each chunk fills its thread's memory and checks that the contents persist.
struct Filled {
  const Scratch* set;
  std::byte* of_caller;
  std::size_t bytes;
  std::atomic<bool> is_wrong{false};

  static void fill(void* context, std::uint64_t chunk, unsigned thread) noexcept {
    auto& filled = *static_cast<Filled*>(context);
    std::byte* const memory = thread == 0 ? filled.of_caller : filled.set->of_worker(thread);
    const auto value = static_cast<std::byte>(chunk);
    std::memset(memory, static_cast<int>(value), filled.bytes);
    std::this_thread::yield();
    if (reinterpret_cast<std::uintptr_t>(memory) % Scratch::kAlignment != 0 ||
        !std::all_of(memory, memory + filled.bytes, [value](std::byte byte) { return byte == value; })) {
      filled.is_wrong = true;
    }
  }
};

TEST(Scratch, BelongsToOneThreadAtATime) {
  ThreadPool& pool = make_pool(4);
  constexpr std::size_t kBytes = 3001;
  const std::shared_ptr<Scratch> set = pool.scratch(kBytes);
  std::vector<std::thread> callers;
  for (int i = 0; i < 5; ++i) {
    callers.emplace_back([&] {
      for (int run = 0; run < 10; ++run) {
        const Scratch::OfCaller own(set.get());
        Filled filled{.set = set.get(), .of_caller = own.memory(), .bytes = kBytes};
        ThreadPool::Sequence sequence(pool, Between::spin);
        for (int job = 0; job < 10; ++job) {
          sequence.run(13, Filled::fill, &filled);
        }
        EXPECT_FALSE(filled.is_wrong);
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
}

TEST(Scratch, IsSharedAndGrowsAndGoes) {
  ThreadPool& pool = make_pool(3);
  std::shared_ptr<Scratch> small = pool.scratch(1000);
  EXPECT_GE(small->bytes(), 1000U);
  EXPECT_EQ(pool.scratch(500), small);
  const std::shared_ptr<Scratch> large = pool.scratch(100'000);
  EXPECT_GE(large->bytes(), 100'000U);
  EXPECT_EQ(pool.scratch(1000), large) << "the largest allocation serves all sizes";
  const std::weak_ptr<Scratch> gone = small;
  small.reset();
  EXPECT_TRUE(gone.expired());
}

TEST(Scratch, CallersKeepTheBlocksThatTheyMade) {
  ThreadPool& pool = make_pool(1);
  const std::shared_ptr<Scratch> set = pool.scratch(64);
  std::byte* blocks[2];
  {
    const Scratch::OfCaller first(set.get());
    const Scratch::OfCaller second(set.get());
    blocks[0] = first.memory();
    blocks[1] = second.memory();
    EXPECT_NE(blocks[0], blocks[1]);
  }
  const Scratch::OfCaller again(set.get());
  EXPECT_NE(std::ranges::find(blocks, again.memory()), std::end(blocks));
  EXPECT_EQ(Scratch::OfCaller(nullptr).memory(), nullptr);
}

TEST(Scratch, SaysWhenMemoryIsOut) {
  ThreadPool& pool = make_pool(5);
  EXPECT_THROW(static_cast<void>(pool.scratch(~std::size_t{0})), std::bad_alloc);
  if (!kSanitized) {  // sanitizers abort on an allocation of this size
    EXPECT_THROW(static_cast<void>(pool.scratch(std::size_t{1} << 46)), std::bad_alloc);
  }
}

}  // namespace
}  // namespace anydml::test
