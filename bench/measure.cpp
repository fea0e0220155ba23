// SPDX-License-Identifier: MIT
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <new>

#include "pass.h"

namespace anydml::bench {
namespace {

constexpr double kSampleTime = 1e-4;  // of a sample, at least: the clock and the call to it are then nothing
constexpr int kMaxRounds = 1001;
// A run that is this many times the time of a case gets three rounds, and no more.
constexpr double kSlow = 10;
constexpr int kSlowRounds = 3;
constexpr std::size_t kPage = 4096;
// Tensors begin at different places of a page: where low address bits agree, loads wait for stores of another array.
constexpr std::size_t kStaggerB = 17 * 64;
constexpr std::size_t kStaggerOut = 34 * 64;
// Below this, one thread may pass over memory faster than a team that has to be woken.
constexpr std::int64_t kTeamBytes = std::int64_t{8} << 20;
constexpr int kTries = 7;  // to find out which it is

using Body = std::function<void()>;

double time_of(const Body& body, int runs) {
  const double begin = seconds_now();
  for (int i = 0; i < runs; ++i) {
    body();
  }
  return (seconds_now() - begin) / runs;
}

// How many runs make a sample.
int runs_per_sample(const Body& body) {
  int runs = 1;
  for (;; runs *= 2) {
    if (const double time = time_of(body, runs) * runs; time >= kSampleTime || runs >= 1 << 20) {
      return runs;
    }
  }
}

struct Compiled {
  anydml_compiled* pointer = nullptr;
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() { anydml_compiled_release(pointer); }
};

}  // namespace

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Timing summarise(std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  const double median = samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
  return {median, samples.front(), static_cast<int>(samples.size())};
}

void Measurer::FreeDelete::operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{kPage}); }

Measurer::Memory Measurer::reserve(std::size_t bytes) {
  return Memory(static_cast<std::byte*>(::operator new[](bytes + kPage, std::align_val_t{kPage})));
}

Measurer::Measurer(const std::vector<Case>& cases, unsigned threads, Settings settings)
    : settings_(settings), team_(threads), cases_(cases) {
  Extents most;
  for (const Case& of : cases_) {
    if (const auto placement = place(of)) {
      const std::size_t size = anydml_type_size(of.type);
      most.a = std::max(most.a, static_cast<std::size_t>(placement->extent_a) * size);
      most.b = std::max(most.b, static_cast<std::size_t>(placement->extent_b) * size);
      most.out = std::max(most.out, static_cast<std::size_t>(placement->extent_out) * size);
      // A pass over a packed array of the elements walks the input that a broadcast does not have.
      const std::size_t packed = static_cast<std::size_t>(placement->elements) * size;
      most.a = std::max(most.a, packed);
      most.b = std::max(most.b, packed);
      if (of.layout == Layout::inplace) {
        most.pristine = std::max(most.pristine, packed);
      }
    }
  }
  memory_a_ = reserve(most.a);
  memory_b_ = reserve(most.b);
  memory_out_ = reserve(most.out);
  memory_pristine_ = reserve(most.pristine);
  a_ = memory_a_.get();
  b_ = memory_b_.get() + kStaggerB;
  out_ = memory_out_.get() + kStaggerOut;
  pristine_ = memory_pristine_.get();
}

void Measurer::prepare(const Case& of) {
  if (filled_ && filled_->type == of.type && filled_->data == of.data) {
    return;
  }
  Extents most;
  for (const Case& other : cases_) {
    if (const auto placement = place(other); placement && other.type == of.type && other.data == of.data) {
      const auto packed = static_cast<std::size_t>(placement->elements);
      most.a = std::max({most.a, packed, static_cast<std::size_t>(placement->extent_a)});
      most.b = std::max({most.b, packed, static_cast<std::size_t>(placement->extent_b)});
      most.out = std::max(most.out, static_cast<std::size_t>(placement->extent_out));
      if (other.layout == Layout::inplace) {
        most.pristine = std::max(most.pristine, packed);
      }
    }
  }
  fill(a_, most.a, of.type, of.data, Operand::dividend, team_);
  fill(b_, most.b, of.type, of.data, Operand::divisor, team_);
  fill(out_, most.out, of.type, of.data, Operand::divisor, team_);
  fill(pristine_, most.pristine, of.type, of.data, Operand::dividend, team_);
  filled_ = of;
}

std::optional<Result> Measurer::measure(const Case& of, std::string& error) {
  const auto placed = place(of);
  if (!placed) {
    error = "the layout does not fit the size";
    return std::nullopt;
  }
  const Placement& placement = *placed;
  prepare(of);
  const auto size = static_cast<std::int64_t>(anydml_type_size(of.type));
  const bool in_place = of.layout == Layout::inplace;
  alignas(64) std::byte single[64] = {};
  std::byte* const a = of.layout == Layout::dividend ? single : a_;
  std::byte* const b = of.layout == Layout::scalar ? single : b_;
  std::byte* const out = in_place ? a_ : out_;
  fill_single(single, of.type, of.data, of.layout == Layout::dividend ? Operand::dividend : Operand::divisor);

  const anydml_tensor inputs[] = {
      {of.type, placement.rank, placement.sizes.data(), placement.strides_a.data(), nullptr},
      {of.type, placement.rank, placement.sizes.data(), placement.strides_b.data(), nullptr}};
  const anydml_tensor output{of.type, placement.rank, placement.sizes.data(), placement.strides_out.data(), nullptr};
  Compiled compiled;
  if (anydml_compile(nullptr, directml_name(of.op).data(), inputs, 2, &output, 1, nullptr, 0, &compiled.pointer) !=
      ANYDML_OK) {
    error = anydml_last_error();
    return std::nullopt;
  }
  const void* const input_data[] = {a, b};
  void* const output_data[] = {out};
  int status = ANYDML_OK;
  const Body kernel = [&] { status |= anydml_compiled_run(compiled.pointer, input_data, 2, output_data, 1); };

  Result result;
  result.of = of;
  result.elements = placement.elements;
  const std::int64_t array = placement.elements * size;
  result.bytes = array * (arrays_read(of.layout) + 1);

  // In place the dividends are gone after a run, and what is left needs no division: they are put back before each.
  const Body restore = [&] {
    team_.share(static_cast<std::size_t>(array), kPage,
                [&](std::size_t begin, std::size_t end) { std::memcpy(a_ + begin, pristine_ + begin, end - begin); });
  };

  const bool streaming = settings_.pass == PassKind::streaming;
  const std::byte* const one = of.layout == Layout::dividend ? b_ : a_;
  const auto pass_over = [&](std::size_t begin, std::size_t end) {
    if (arrays_read(of.layout) == 2) {
      (streaming ? pass_two_streaming : pass_two)(out + begin, a_ + begin, b_ + begin, end - begin);
    } else {
      (streaming ? pass_one_streaming : pass_one)(out + begin, one + begin, end - begin);
    }
  };
  const std::function<void(std::size_t, std::size_t)> shared_pass = pass_over;
  const Body pass_alone = [&] { pass_over(0, static_cast<std::size_t>(array)); };
  const Body pass_by_team = [&] { team_.share(static_cast<std::size_t>(array), kPage, shared_pass); };

  kernel();  // the first run of a kernel also starts threads
  if (status != ANYDML_OK) {
    error = anydml_last_error();
    return std::nullopt;
  }
  pass_by_team();
  bool alone = team_.threads() == 1;
  if (!alone && result.bytes < kTeamBytes) {
    const int runs_alone = runs_per_sample(pass_alone);
    const int runs_team = runs_per_sample(pass_by_team);
    double least_alone = time_of(pass_alone, runs_alone);
    double least_team = time_of(pass_by_team, runs_team);
    for (int i = 0; i < kTries; ++i) {
      least_alone = std::min(least_alone, time_of(pass_alone, runs_alone));
      least_team = std::min(least_team, time_of(pass_by_team, runs_team));
    }
    alone = least_alone < least_team;
  }
  const Body& pass = alone ? pass_alone : pass_by_team;
  result.pass_threads = alone ? 1 : team_.threads();

  const int pass_runs = runs_per_sample(pass);
  const int kernel_runs = in_place ? 1 : runs_per_sample(kernel);
  std::vector<double> kernel_samples;
  std::vector<double> pass_samples;
  const double begin = seconds_now();
  for (int round = 0; round < kMaxRounds; ++round) {
    const double spent = seconds_now() - begin;
    if ((round >= settings_.min_rounds && spent >= settings_.min_time) ||
        (round >= kSlowRounds && spent >= settings_.min_time * kSlow)) {
      break;
    }
    if (in_place) {
      // Each run is timed by itself, between copies that are not; a sample is still as long as another's.
      double sum = 0;
      int runs = 0;
      do {
        restore();
        sum += time_of(kernel, 1);
        ++runs;
      } while (sum < kSampleTime);
      kernel_samples.push_back(sum / runs);
    } else {
      kernel_samples.push_back(time_of(kernel, kernel_runs));
    }
    pass_samples.push_back(time_of(pass, pass_runs));
  }
  result.kernel = summarise(kernel_samples);
  result.pass = summarise(pass_samples);

  // The last pass has written over the output, so what is checked is what this run writes.
  if (in_place) {
    restore();
  }
  kernel();
  if (status != ANYDML_OK) {
    error = anydml_last_error();
    return std::nullopt;
  }
  result.check = check(of, placement, in_place ? pristine_ : a, b, out, settings_.samples);
  if (in_place) {
    restore();  // the other layouts share the dividends
  }
  return result;
}

}  // namespace anydml::bench
