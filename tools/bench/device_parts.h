// SPDX-License-Identifier: MIT
// Shared by the two ways to measure on a device: several sets of small tensors, samples that are long enough, values in
// the device's memory, and the results that are checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "call.h"
#include "client.h"
#include "measure.h"

namespace anydml::bench {

using Buffer = client::ComPtr<ID3D12Resource>;
using Bytes = std::vector<std::byte>;

inline constexpr std::uint64_t kDeviceAlignment = 256;  // where a set begins
// Values are made once by the CPU, then copied over and over: the device's memory may hold thousands of millions.
inline constexpr std::uint64_t kDeviceBlock = std::uint64_t{1} << 24;  // elements

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

// Small tensors are there several times and taken in turn, so that a run does not find what the last left in a cache.
[[nodiscard]] std::uint64_t sets_for(std::uint64_t bytes_of_one);

// The row of the benchmark that is the pass of another one.
[[nodiscard]] const Row& row_named(const char* name);

// An operator of the C API over each set of the device's buffers.
class DeviceCall {
 public:
  struct Place {
    std::uint64_t first;
    std::uint64_t step;  // to the next set
  };

  DeviceCall(const Row& row, anydml_type type, const Placement& placement, std::vector<Place> inputs, Place output,
             std::uint64_t sets)
      : call_(row, type, placement), inputs_(std::move(inputs)), output_(output), sets_(sets) {}

  // Empty where the library has compiled it and every run has succeeded; otherwise its sentence.
  [[nodiscard]] const std::string& error() const { return call_.error(); }
  // Gives the device run number `run`; or all that was given is done at its end.
  void run(std::uint64_t run, bool to_the_end);

 private:
  [[nodiscard]] void* address(const Place& place, std::uint64_t run) const {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(place.first + run % sets_ * place.step));
  }

  Call call_;
  std::vector<Place> inputs_;
  Place output_;
  std::uint64_t sets_;
};

using Samples = std::vector<std::vector<double>>;  // of each thing that is timed, in seconds a run
// Of each thing `rounds` samples of as many runs as `runs` says, by turns.
using Timer = std::function<Samples(const std::vector<std::uint64_t>& runs, int rounds)>;

// By the wall clock.
[[nodiscard]] Samples time_calls(std::span<DeviceCall* const> things, const std::vector<std::uint64_t>& runs,
                                 int rounds);
// For about the time of a case, after a warm-up that finds out how many runs make a sample.
[[nodiscard]] Samples time_long(std::size_t things, const Settings& settings, const Timer& timer);

// Memory through which values go to the device's.
class Staging {
 public:
  Staging(client::Device& device, std::uint64_t bytes);
  // The values of the whole buffer are those of the block, again and again.
  void fill(const Buffer& buffer, std::uint64_t bytes, const Bytes& block);

 private:
  client::Device& device_;
  Buffer memory_;
};

// Memory of the default device for calls of the C API, which take it on every device. Throws DeviceFailure.
class CallMemory {
 public:
  explicit CallMemory(std::uint64_t bytes);
  ~CallMemory() { anydml_memory_release(memory_); }
  CallMemory(const CallMemory&) = delete;
  CallMemory& operator=(const CallMemory&) = delete;

  [[nodiscard]] std::uint64_t first() const {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(anydml_memory_pointer(memory_)));
  }
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;
  // The values of the first bytes are those of the block, again and again.
  void fill(std::uint64_t bytes, const Bytes& block);

 private:
  anydml_memory* memory_ = nullptr;
};

// Calls take(element, its bytes) for windows of consecutive elements of the output, spread over the first set with its
// first and last elements among them; or for the first window only.
using ReadBytes = std::function<void(std::uint64_t offset, std::span<std::byte> bytes)>;
void read_windows(const ReadBytes& read, const Placement& placement, std::size_t element_size, std::int64_t samples,
                  bool only_first, const std::function<void(std::int64_t element, const std::byte* result)>& take);
// Of a buffer of D3D12.
[[nodiscard]] ReadBytes reader_of(client::Device& device, const Buffer& from);

}  // namespace anydml::bench
