// SPDX-License-Identifier: MIT
// Helpers for the two classes that measure on a device. They provide several sets of small tensors, sufficiently long
// samples, values in the device's memory, and the results to check.
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

inline constexpr std::uint64_t kDeviceAlignment = 256;  // alignment of the start of a set
// The CPU computes this many values once and copies them repeatedly, because the device's memory can contain billions.
inline constexpr std::uint64_t kDeviceBlock = std::uint64_t{1} << 24;  // elements

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

// Returns how many sets of small tensors to alternate between, so that no run finds its data in a cache.
[[nodiscard]] std::uint64_t sets_for(std::uint64_t bytes_of_one);

// The benchmark row that serves as the memory pass for another row.
[[nodiscard]] const Row& row_named(const char* name);

// A C API operator. Successive runs use successive sets of the device's buffers.
class DeviceCall {
 public:
  struct BufferSets {
    std::uint64_t first;
    std::uint64_t step;  // the number of bytes to the next set
  };

  DeviceCall(const Row& row, anydml_type type, const Placement& placement, std::vector<BufferSets> inputs,
             BufferSets output, std::uint64_t sets)
      : call_(row, type, placement), inputs_(std::move(inputs)), output_(output), sets_(sets) {}

  // The error message, which is empty if the library compiled the call and every run succeeded.
  [[nodiscard]] const std::string& error() const { return call_.error(); }
  // Submits run number `run`. If to_the_end is true, also waits until all submitted work is done.
  void run(std::uint64_t run, bool to_the_end);

 private:
  [[nodiscard]] void* address(const BufferSets& buffer_sets, std::uint64_t run) const {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(buffer_sets.first + run % sets_ * buffer_sets.step));
  }

  Call call_;
  std::vector<BufferSets> inputs_;
  BufferSets output_;
  std::uint64_t sets_;
};

using Samples = std::vector<std::vector<double>>;  // for each timed item, in seconds per run
// Takes `rounds` samples of each item, alternating between items. A sample of item i consists of runs[i] runs.
using Timer = std::function<Samples(const std::vector<std::uint64_t>& runs, int rounds)>;

// Takes the samples with the wall clock.
[[nodiscard]] Samples time_calls(std::span<DeviceCall* const> things, const std::vector<std::uint64_t>& runs,
                                 int rounds);
// Measures for about the time that a case should take, after a warm-up that determines the number of runs per sample.
[[nodiscard]] Samples time_long(std::size_t things, const Settings& settings, const Timer& timer);

// A staging buffer for copying values to the device.
class Staging {
 public:
  Staging(client::Device& device, std::uint64_t bytes);
  // Fills the whole buffer by repeating the block.
  void fill(const Buffer& buffer, std::uint64_t bytes, const Bytes& block);

 private:
  client::Device& device_;
  Buffer memory_;
};

// Memory on the default device, for C API calls. Its functions throw DeviceFailure.
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
  // Fills the first bytes by repeating the block.
  void fill(std::uint64_t bytes, const Bytes& block);

 private:
  anydml_memory* memory_ = nullptr;
};

// Calls take(element, its bytes) for windows of consecutive output elements, either spread over the first set,
// including its first and last elements, or only for the first window.
using ReadBytes = std::function<void(std::uint64_t offset, std::span<std::byte> bytes)>;
void read_windows(const ReadBytes& read, const Placement& placement, std::size_t element_size, std::int64_t samples,
                  bool only_first, const std::function<void(std::int64_t element, const std::byte* result)>& take);
// Reads from a D3D12 buffer.
[[nodiscard]] ReadBytes reader_of(client::Device& device, const Buffer& from);

}  // namespace anydml::bench
