// SPDX-License-Identifier: MIT
#include "device_parts.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "machine.h"

namespace anydml::bench {
namespace {

constexpr std::uint64_t kSetBytes = std::uint64_t{384} << 20;  // far beyond any device's cache
constexpr std::uint64_t kMaxSets = 64;
// The clock is coarse, and reading it requires a launch, so a sample consists of enough runs to last this long.
constexpr double kSampleSeconds = 4e-3;
constexpr std::uint64_t kMaxRuns = 1000;
constexpr int kMaxDeviceRounds = 101;
constexpr std::int64_t kWindow = 1 << 16;  // the number of consecutive elements checked in one sample

}  // namespace

std::uint64_t sets_for(std::uint64_t bytes_of_one) {
  return std::clamp<std::uint64_t>(kSetBytes / bytes_of_one, 1, kMaxSets);
}

const Row& row_named(const char* name) {
  std::vector<const Row*> found;
  parse_operator(name, found);
  if (found.empty()) {
    throw DeviceFailure{std::string("the pass needs ") + name + ", which this device does not have"};
  }
  return *found.front();
}

void DeviceCall::run(std::uint64_t run, bool to_the_end) {
  const void* from[8] = {};
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    from[i] = address(inputs_[i], run);
  }
  const std::span<const void* const> given(from, inputs_.size());
  void* const to = address(output_, run);
  to_the_end ? call_.run(given, to) : call_.start(given, to);
}

Samples time_calls(std::span<DeviceCall* const> things, const std::vector<std::uint64_t>& runs, int rounds) {
  Samples seconds(things.size());
  std::vector<std::uint64_t> next(things.size());  // every sample continues with the set after the last one used
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < things.size(); ++i) {
      const double begin = seconds_now();
      for (std::uint64_t run = 1; run <= runs[i]; ++run) {
        things[i]->run(next[i]++, run == runs[i]);
      }
      seconds[i].push_back((seconds_now() - begin) / static_cast<double>(runs[i]));
    }
  }
  return seconds;
}

Samples time_long(std::size_t things, const Settings& settings, const Timer& timer) {
  const double sample_seconds = std::min(kSampleSeconds, settings.min_time / 25);
  std::vector<std::uint64_t> runs(things, 1);
  (void)timer(runs, 1);
  const Samples first = timer(runs, 3);
  double round_seconds = 0;
  for (std::size_t i = 0; i < things; ++i) {
    const double one = *std::ranges::min_element(first[i]);
    runs[i] =
        static_cast<std::uint64_t>(std::clamp(std::ceil(sample_seconds / one), 1.0, static_cast<double>(kMaxRuns)));
    round_seconds += one * static_cast<double>(runs[i]);
  }
  const double wanted = std::clamp(settings.min_time / round_seconds, static_cast<double>(settings.min_rounds),
                                   static_cast<double>(kMaxDeviceRounds));
  return timer(runs, static_cast<int>(wanted));
}

Staging::Staging(client::Device& device, std::uint64_t bytes)
    : device_(device),
      memory_(device.create_committed(client::heap_of(D3D12_HEAP_TYPE_UPLOAD), bytes, D3D12_RESOURCE_STATE_GENERIC_READ,
                                      D3D12_RESOURCE_FLAG_NONE)) {}

void Staging::fill(const Buffer& buffer, std::uint64_t bytes, const Bytes& block) {
  std::memcpy(client::Mapped(memory_.Get()).bytes().data(), block.data(), block.size());
  for (std::uint64_t at = 0; at < bytes; at += block.size()) {
    device_.list()->CopyBufferRegion(buffer.Get(), at, memory_.Get(), 0,
                                     std::min<std::uint64_t>(block.size(), bytes - at));
  }
  device_.run();
}

namespace {

void check(int status) {
  if (status != ANYDML_OK) {
    throw DeviceFailure{anydml_last_error()};
  }
}

}  // namespace

CallMemory::CallMemory(std::uint64_t bytes) { check(anydml_memory_create(nullptr, bytes, 0, &memory_)); }

void CallMemory::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  check(anydml_memory_write(memory_, offset, bytes.data(), bytes.size()));
}

void CallMemory::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  check(anydml_memory_read(memory_, offset, bytes.data(), bytes.size()));
}

void CallMemory::fill(std::uint64_t bytes, const Bytes& block) {
  for (std::uint64_t at = 0; at < bytes; at += block.size()) {
    write(at, std::span(block).first(std::min<std::uint64_t>(block.size(), bytes - at)));
  }
}

ReadBytes reader_of(client::Device& device, const Buffer& from) {
  return [&device, &from](std::uint64_t offset, std::span<std::byte> bytes) {
    const auto readback = device.create_committed(client::heap_of(D3D12_HEAP_TYPE_READBACK), bytes.size(),
                                                  D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_FLAG_NONE);
    device.list()->CopyBufferRegion(readback.Get(), 0, from.Get(), offset, bytes.size());
    device.run();
    const client::Mapped mapped(readback.Get());
    std::ranges::copy(mapped.bytes().first(bytes.size()), bytes.begin());
  };
}

void read_windows(const ReadBytes& read, const Placement& placement, std::size_t element_size, std::int64_t samples,
                  bool only_first, const std::function<void(std::int64_t element, const std::byte* result)>& take) {
  const std::int64_t wanted = std::min(samples, placement.elements);
  const std::int64_t window = std::min(wanted, kWindow);
  const std::int64_t windows = only_first ? 1 : (wanted + window - 1) / window;
  for (std::int64_t i = 0; i < windows; ++i) {
    const std::int64_t begin = windows == 1 ? 0 : (placement.elements - window) / (windows - 1) * i;
    const std::int64_t end = i + 1 == windows && !only_first ? placement.elements : begin + window;
    const std::int64_t first = placement.offset(placement.output.strides, begin);
    const std::int64_t last = placement.offset(placement.output.strides, end - 1);
    Bytes bytes(static_cast<std::uint64_t>(last - first + 1) * element_size);
    read(static_cast<std::uint64_t>(first) * element_size, bytes);
    for (std::int64_t element = begin; element < end; ++element) {
      const auto at =
          static_cast<std::size_t>(placement.offset(placement.output.strides, element) - first) * element_size;
      take(element, bytes.data() + at);
    }
  }
}

}  // namespace anydml::bench
