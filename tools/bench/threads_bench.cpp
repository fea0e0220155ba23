// SPDX-License-Identifier: MIT
// Measures the cost of passing work to the CPU backend's threads, with workers that sleep between jobs and with workers
// that spin, as they do while a program runs.
//
//   barrier   one job with a piece for each thread. No piece ends before all threads have begun, so that each thread
//             runs exactly one piece.
//   program   100 small steps. Each takes 20 microseconds on one thread and has four pieces per thread.
//
//   threads_bench [MOST_THREADS]
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "backend/cpu/thread_pool.h"
#include "base/clock.h"

namespace {

using anydml::monotonic_nanoseconds;
using anydml::ThreadPool;
using Between = ThreadPool::Sequence::Between;

struct Times {
  std::vector<std::uint64_t> all;

  [[nodiscard]] double lowest() const { return microseconds(*std::ranges::min_element(all)); }
  [[nodiscard]] double median() {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::ranges::nth_element(all, middle);
    return microseconds(*middle);
  }

 private:
  static double microseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }
};

struct Meeting {
  unsigned threads;
  std::atomic<unsigned> here{0};

  static void attend(void* context, std::uint64_t, unsigned) noexcept {
    auto& meeting = *static_cast<Meeting*>(context);
    meeting.here.fetch_add(1, std::memory_order_relaxed);
    for (int looks = 0; meeting.here.load(std::memory_order_relaxed) < meeting.threads; ++looks) {
      if (looks > 1000) {
        std::this_thread::yield();  // a thread that has not arrived may need this processor
      }
    }
  }
};

Times time_barriers(ThreadPool& pool, Between between) {
  constexpr int kSequences = 40;
  constexpr int kBarriers = 250;  // in a sequence
  Times times;
  for (int i = 0; i < kSequences; ++i) {
    ThreadPool::Sequence sequence(pool, between);
    for (int barrier = 0; barrier < kBarriers; ++barrier) {
      Meeting meeting{.threads = pool.threads()};
      const std::uint64_t begin = monotonic_nanoseconds();
      sequence.run(pool.threads(), Meeting::attend, &meeting);
      times.all.push_back(monotonic_nanoseconds() - begin);
    }
  }
  return times;
}

struct Step {
  std::uint64_t rounds;
  std::atomic<std::uint64_t> result{0};

  // A chain of multiplications: its time does not depend on the data, and it needs no memory.
  static void compute(void* context, std::uint64_t piece, unsigned) noexcept {
    auto& step = *static_cast<Step*>(context);
    std::uint64_t value = piece | 1;
    for (std::uint64_t i = 0; i < step.rounds; ++i) {
      value *= 0x9E3779B97F4A7C15;
    }
    step.result.fetch_xor(value, std::memory_order_relaxed);
  }
};

// The number of multiplications that one thread performs in `nanoseconds`.
std::uint64_t rounds_of(double nanoseconds) {
  constexpr std::uint64_t kRounds = 100'000;
  Times times;
  Step step{.rounds = kRounds};
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t begin = monotonic_nanoseconds();
    Step::compute(&step, 0, 0);
    times.all.push_back(monotonic_nanoseconds() - begin);
  }
  return static_cast<std::uint64_t>(kRounds * nanoseconds / (times.lowest() * 1000));
}

Times time_programs(ThreadPool& pool, Between between) {
  constexpr int kPrograms = 200;
  constexpr int kSteps = 100;
  constexpr double kStepNanoseconds = 20'000;
  const std::uint64_t pieces = pool.threads() == 1 ? 1 : std::uint64_t{4} * pool.threads();
  Step step{.rounds = rounds_of(kStepNanoseconds / static_cast<double>(pieces))};
  Times times;
  for (int i = 0; i < kPrograms; ++i) {
    const std::uint64_t begin = monotonic_nanoseconds();
    ThreadPool::Sequence sequence(pool, between);
    for (int number = 0; number < kSteps; ++number) {
      sequence.run(pieces, Step::compute, &step);
    }
    times.all.push_back(monotonic_nanoseconds() - begin);
  }
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  const int asked = argc > 1 ? std::atoi(argv[1]) : 0;
  const unsigned maximum = asked > 0 ? static_cast<unsigned>(asked) : std::max(1U, std::thread::hardware_concurrency());
  std::printf("microseconds: minimum and median     barrier         program of 100 steps\n");
  for (unsigned threads = 1; threads <= maximum;
       threads = threads < maximum ? std::min(threads * 2, maximum) : maximum + 1) {
    auto& pool = *new ThreadPool(threads);
    for (const Between between : {Between::sleep, Between::spin}) {
      Times barriers = time_barriers(pool, between);
      Times programs = time_programs(pool, between);
      std::printf("%3u threads, workers %s  %7.2f %7.2f   %9.1f %9.1f\n", pool.threads(),
                  between == Between::spin ? "spin " : "sleep", barriers.lowest(), barriers.median(), programs.lowest(),
                  programs.median());
    }
  }
}
