// SPDX-License-Identifier: MIT
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

#include "call.h"
#include "pass.h"

namespace anydml::bench {
namespace {

constexpr double kSampleTime = 1e-4;  // the minimum length of a sample, so that reading the clock is negligible
constexpr int kMaxRounds = 1001;
constexpr double kSlow = 10;  // times the minimum time: see Settings::kSlowRounds
constexpr std::size_t kPage = 4096;
// Tensors begin at different page offsets. If the low address bits were equal, loads would wait for stores to another
// array.
constexpr std::size_t kStagger = 17 * 64;
// Below this size, one thread may be faster than a team that has to be woken.
constexpr std::int64_t kTeamBytes = std::int64_t{8} << 20;
constexpr int kTries = 7;  // the number of attempts to determine whether one thread or the team is faster

using Body = std::function<void()>;

double time_of(const Body& body, int runs) {
  const double begin = seconds_now();
  for (int i = 0; i < runs; ++i) {
    body();
  }
  return (seconds_now() - begin) / runs;
}

// Returns how many runs a sample needs.
int runs_per_sample(const Body& body) {
  int runs = 1;
  for (;; runs *= 2) {
    if (const double time = time_of(body, runs) * runs; time >= kSampleTime || runs >= 1 << 20) {
      return runs;
    }
  }
}

}  // namespace

// A condition has its own memory, so that it stays valid while types change.
std::size_t buffer_of(const Row& row, std::size_t input) {
  if (row.inputs[input].holds == Operand::condition) {
    return kCondition;
  }
  std::size_t before = 0;
  for (std::size_t i = 0; i < input; ++i) {
    before += !row.inputs[i].single && row.inputs[i].holds != Operand::condition ? 1U : 0U;
  }
  return before == 0 ? kFirst : kSecond;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Timing summarize(std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  const double median = samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
  return {median, samples.front(), static_cast<int>(samples.size())};
}

void Measurer::PagesDelete::operator()(std::byte* memory) const {
  ::operator delete[](memory, std::align_val_t{kPage});
}

void Measurer::need(std::size_t buffer, std::int64_t elements, anydml_type type) {
  buffers_[buffer].bytes =
      std::max(buffers_[buffer].bytes, static_cast<std::size_t>(elements) * anydml_type_size(type));
}

Measurer::Measurer(const std::vector<Case>& cases, unsigned threads, Settings settings, Reference& reference)
    : settings_(settings), team_(threads), reference_(reference) {
  for (const Case& of : cases) {
    if (const auto placement = lay_out(of)) {
      for (const std::size_t i : of.row->tensors()) {
        // The pass reads packed arrays of the elements.
        need(buffer_of(*of.row, i), std::max(placement->inputs[i].extent, placement->elements),
             of.row->input_type(i, of.type));
      }
      need(kOutput, placement->output.extent, of.row->output_type(of.type));
      if (of.layout == Layout::inplace) {
        need(kPristine, placement->elements, of.type);
      }
    }
  }
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    OperandBuffer& buffer = buffers_[i];
    buffer.memory.reset(static_cast<std::byte*>(
        ::operator new[](buffer.bytes + kStagger * buffers_.size() + kPage, std::align_val_t{kPage})));
    buffer.data = buffer.memory.get() + kStagger * i;
    // The team fills the memory, so that each page is first touched by a thread that will use it.
    team_.share(buffer.bytes, kPage,
                [&](std::size_t begin, std::size_t end) { std::memset(buffer.data + begin, 0, end - begin); });
  }
}

void Measurer::fill_buffer(std::size_t index, std::int64_t elements, anydml_type type, const Data& values,
                           Operand operand) {
  OperandBuffer& buffer = buffers_[index];
  const auto count = static_cast<std::size_t>(elements);
  if (buffer.type == type && buffer.values == values && buffer.operand == operand && buffer.elements >= count) {
    return;
  }
  buffer.elements = count;
  buffer.type = type;
  buffer.values = values;
  buffer.operand = operand;
  fill(buffer.data, buffer.elements, type, values, operand, team_);
}

void Measurer::prepare(const Case& of, const Placement& placement) {
  for (const std::size_t i : of.row->tensors()) {
    fill_buffer(buffer_of(*of.row, i), std::max(placement.inputs[i].extent, placement.elements),
                of.row->input_type(i, of.type), of.data, of.row->inputs[i].holds);
  }
  if (of.layout == Layout::inplace) {
    fill_buffer(kPristine, placement.elements, of.type, of.data, of.row->inputs[of.row->tensors().front()].holds);
  }
}

Measurer::Pass Measurer::pass_of(const Case& of, const Placement& placement, std::byte* out) const {
  const Row& row = *of.row;
  const auto elements = static_cast<std::size_t>(placement.elements);
  const std::size_t out_size = anydml_type_size(row.output_type(of.type));
  const std::byte* condition = nullptr;
  std::vector<const std::byte*> arrays;
  std::size_t in_size = 0;
  for (const std::size_t i : row.tensors()) {
    const std::byte* const data = buffers_[buffer_of(row, i)].data;
    if (is_stream(of, i) && row.inputs[i].holds == Operand::condition) {
      condition = data;
    } else if (is_stream(of, i)) {
      arrays.push_back(data);
      in_size = anydml_type_size(row.input_type(i, of.type));
    }
  }
  if (row.family == RowKind::reduce) {
    return {[=](std::size_t begin, std::size_t end) { pass_read(arrays[0] + begin, end - begin); }, elements * in_size};
  }
  if (row.family == RowKind::fill) {
    return {[=](std::size_t begin, std::size_t end) { pass_write(out + begin, end - begin); }, elements * out_size};
  }
  if (condition != nullptr || in_size != out_size) {
    MixedArrays mixed{out, out_size, arrays[0], arrays.size() == 2 ? arrays[1] : nullptr, in_size, condition};
    return {[=](std::size_t begin, std::size_t end) { pass_mixed(mixed, begin, end); }, elements};
  }
  const bool streaming = settings_.pass == PassKind::streaming;
  if (arrays.size() == 2) {
    return {[=, two = streaming ? pass_two_streaming : pass_two](std::size_t begin, std::size_t end) {
              two(out + begin, arrays[0] + begin, arrays[1] + begin, end - begin);
            },
            elements * out_size};
  }
  return {[=, one = streaming ? pass_one_streaming : pass_one](std::size_t begin, std::size_t end) {
            one(out + begin, arrays[0] + begin, end - begin);
          },
          elements * out_size};
}

std::optional<Result> Measurer::measure(const Case& of, std::string& error) {
  const auto placed = lay_out(of);
  if (!placed) {
    error = "the layout does not fit the size";
    return std::nullopt;
  }
  const Placement& placement = *placed;
  const Row& row = *of.row;
  prepare(of, placement);
  const bool in_place = of.layout == Layout::inplace;
  std::byte* const out = buffers_[in_place ? kFirst : kOutput].data;

  Result result;
  result.of = of;
  result.elements = placement.elements;
  result.bytes = placement.output_elements * static_cast<std::int64_t>(anydml_type_size(row.output_type(of.type)));
  // These hold one element for each single-element input, each in its own cache line.
  alignas(64) std::array<std::array<std::byte, 64>, 8> singles{};
  std::vector<const void*> inputs;
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    const anydml_type type = row.input_type(i, of.type);
    const bool is_single = row.inputs[i].single || of.layout == Layout::scalar || of.layout == Layout::dividend;
    if (is_stream(of, i)) {
      result.bytes += placement.elements * static_cast<std::int64_t>(anydml_type_size(type));
    }
    if (!is_stream(of, i) && is_single) {
      fill_single(singles[i].data(), type, of.data, row.inputs[i].holds);
      inputs.push_back(singles[i].data());
    } else {
      inputs.push_back(buffers_[buffer_of(row, i)].data);
    }
  }
  Call call(row, of.type, placement);
  if (!call.error().empty()) {
    error = call.error();
    return std::nullopt;
  }
  const Body kernel = [&] { call.run(inputs, out); };

  // An in-place run overwrites the dividends, and dividing the remainders again takes almost no time, so the dividends
  // are restored before each run.
  const Body restore = [&] {
    team_.share(static_cast<std::size_t>(placement.elements) * anydml_type_size(of.type), kPage,
                [&](std::size_t begin, std::size_t end) {
                  std::memcpy(buffers_[kFirst].data + begin, buffers_[kPristine].data + begin, end - begin);
                });
  };

  const Pass moved = pass_of(of, placement, out);
  const Body pass_alone = [&] { moved.over(0, moved.units); };
  const Body pass_by_team = [&] { team_.share(moved.units, kPage, moved.over); };

  kernel();  // the first run of a kernel also starts threads
  if (!call.error().empty()) {
    error = call.error();
    return std::nullopt;
  }
  pass_by_team();
  bool alone = team_.threads() == 1;
  if (!alone && result.bytes < kTeamBytes) {
    const int runs_alone = runs_per_sample(pass_alone);
    const int runs_team = runs_per_sample(pass_by_team);
    double min_alone = time_of(pass_alone, runs_alone);
    double min_team = time_of(pass_by_team, runs_team);
    for (int i = 0; i < kTries; ++i) {
      min_alone = std::min(min_alone, time_of(pass_alone, runs_alone));
      min_team = std::min(min_team, time_of(pass_by_team, runs_team));
    }
    alone = min_alone < min_team;
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
        (round >= Settings::kSlowRounds && spent >= settings_.min_time * kSlow)) {
      break;
    }
    if (in_place) {
      // Each run is timed separately, between untimed copies. A sample is still as long as in other layouts.
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
  result.kernel = summarize(kernel_samples);
  result.pass = summarize(pass_samples);

  // The last pass overwrote the output, so the kernel runs again before its output is checked.
  if (row.family == RowKind::reduce) {
    std::memset(out, 0x55,
                static_cast<std::size_t>(placement.output.extent) * anydml_type_size(row.output_type(of.type)));
  }
  if (in_place) {
    restore();
  }
  kernel();
  if (!call.error().empty()) {
    error = call.error();
    return std::nullopt;
  }
  if (in_place) {
    inputs[row.tensors().front()] = buffers_[kPristine].data;
  }
  result.check = check(of, placement, inputs, out, settings_.samples, reference_);
  if (in_place) {
    restore();  // the other layouts share the dividends
  }
  return result;
}

}  // namespace anydml::bench
