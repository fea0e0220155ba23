// SPDX-License-Identifier: MIT
// The device under test, and RAII owners for the objects created through its backend's table. Nothing here accesses
// memory through a device address: data is transferred with copies, or through a block's CPU pointer if it has one.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"

namespace anydml::device {

using Bytes = std::vector<std::byte>;

struct Device {
  const BackendTable* table = nullptr;
  std::uint32_t index = 0;  // the index in the backend's table
  BackendDevice* handle = nullptr;
  BackendDeviceInfo info = {};
};

// Opened by main.
extern Device g_device;

// Opens the device a second time while the first is still open. If that is impossible, adds a failure and returns null.
[[nodiscard]] BackendDevice* open_another();

[[nodiscard]] inline const char* name_of(BackendCode code) {
  constexpr const char* kNames[] = {"ok", "out_of_memory", "failed", "interrupted", "not_joined"};
  return static_cast<std::uint32_t>(code) < std::size(kNames) ? kNames[static_cast<std::uint32_t>(code)]
                                                              : "a code that backend.h does not define";
}

// For EXPECT_TRUE: whether a function returned the expected code, with a message unless the code is ok.
[[nodiscard]] inline testing::AssertionResult returns(BackendCode expected, BackendStatus got) {
  if (got.code != expected) {
    return testing::AssertionFailure() << "it returned " << name_of(got.code) << " ("
                                       << (got.message != nullptr ? got.message : "without a message") << "); expected "
                                       << name_of(expected);
  }
  if (got.code != BackendCode::ok && (got.message == nullptr || *got.message == '\0')) {
    return testing::AssertionFailure() << "it returned " << name_of(got.code)
                                       << " without a message; expected one that says why";
  }
  return testing::AssertionSuccess();
}
[[nodiscard]] inline testing::AssertionResult is_ok(BackendStatus got) { return returns(BackendCode::ok, got); }

inline constexpr MemoryKind kAllKinds[] = {MemoryKind::temporary, MemoryKind::device_buffer, MemoryKind::upload_buffer,
                                           MemoryKind::readback_buffer};
inline constexpr MemoryKind kBufferKinds[] = {MemoryKind::device_buffer, MemoryKind::upload_buffer,
                                              MemoryKind::readback_buffer};
[[nodiscard]] inline const char* name_of(MemoryKind kind) {
  constexpr const char* kNames[] = {"temporary", "device_buffer", "upload_buffer", "readback_buffer"};
  return kNames[static_cast<std::uint32_t>(kind)];
}

// Device memory. If the allocation fails, the block has no handle and a failure is added.
class Block {
 public:
  Block(MemoryKind kind, std::uint64_t bytes, const Device& device = g_device)
      : device_(&device), kind_(kind), bytes_(bytes) {
    const BackendStatus status = device.table->allocate(device.handle, kind, bytes, &block_);
    EXPECT_TRUE(is_ok(status)) << "allocate " << name_of(kind) << " of " << bytes << " bytes";
  }
  ~Block() {
    if (device_ != nullptr && block_.handle != nullptr) {
      device_->table->release(device_->handle, kind_, bytes_, block_.handle);
    }
  }
  Block(Block&& other) noexcept
      : device_(std::exchange(other.device_, nullptr)),
        kind_(other.kind_),
        bytes_(other.bytes_),
        block_(other.block_) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  Block& operator=(Block&&) = delete;

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const MemoryBlock& get() const { return block_; }
  [[nodiscard]] DeviceAddress address(std::uint64_t offset = 0) const { return block_.address + offset; }
  [[nodiscard]] std::byte* host() const { return block_.host; }
  [[nodiscard]] MemoryLocation at(std::uint64_t offset = 0) const { return {block_.handle, offset}; }

 private:
  const Device* device_;
  MemoryKind kind_;
  std::uint64_t bytes_;
  MemoryBlock block_ = {};
};

// Owns a mark, or null if the work was already done.
class Mark {
 public:
  Mark() = default;
  Mark(const Device& device, BackendMark* mark) : device_(&device), mark_(mark) {}
  ~Mark() {
    if (mark_ != nullptr) {
      device_->table->destroy_mark(mark_);
    }
  }
  Mark(Mark&& other) noexcept : device_(other.device_), mark_(std::exchange(other.mark_, nullptr)) {}
  Mark& operator=(Mark&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(mark_, other.mark_);
    return *this;
  }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

  [[nodiscard]] BackendMark* get() const { return mark_; }
  [[nodiscard]] bool is_passed() const { return mark_ == nullptr || device_->table->is_passed(mark_) != 0; }
  [[nodiscard]] BackendStatus wait() const {
    return mark_ == nullptr ? BackendStatus{BackendCode::ok, nullptr} : device_->table->wait(mark_);
  }

 private:
  const Device* device_ = nullptr;
  BackendMark* mark_ = nullptr;
};

// A queue. The destructor waits for its work.
class Queue {
 public:
  explicit Queue(const Device& device = g_device) : device_(&device) {
    EXPECT_TRUE(is_ok(device.table->create_queue(device.handle, &queue_))) << "create_queue";
  }
  Queue(const Device& device, BackendQueue* queue) : device_(&device), queue_(queue) {}
  ~Queue() {
    if (queue_ != nullptr) {
      BackendMark* last = nullptr;
      if (device_->table->mark(queue_, &last).code == BackendCode::ok && last != nullptr) {
        static_cast<void>(device_->table->wait(last));
        device_->table->destroy_mark(last);
      }
      device_->table->destroy_queue(queue_);
    }
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  [[nodiscard]] BackendQueue* get() const { return queue_; }
  void copy(MemoryLocation to, MemoryLocation from, std::uint64_t bytes) const {
    EXPECT_TRUE(is_ok(device_->table->copy(queue_, to, from, bytes))) << "copy of " << bytes << " bytes";
  }
  void fill(MemoryLocation to, std::uint64_t bytes, const std::vector<std::uint32_t>& pattern) const {
    EXPECT_TRUE(is_ok(device_->table->fill(queue_, to, bytes, pattern.data(),
                                           static_cast<std::uint32_t>(pattern.size() * sizeof(pattern[0])))))
        << "fill of " << bytes << " bytes";
  }
  void timestamp(MemoryLocation to) const { EXPECT_TRUE(is_ok(device_->table->timestamp(queue_, to))) << "timestamp"; }
  void run(const BackendProgram* program, const std::vector<DeviceAddress>& addresses) const {
    EXPECT_TRUE(is_ok(device_->table->run(queue_, program, addresses.data(), nullptr))) << "run";
  }
  void follow(const Mark& mark) const {
    if (mark.get() != nullptr) {
      EXPECT_TRUE(is_ok(device_->table->follow(queue_, mark.get()))) << "follow";
    }
  }
  [[nodiscard]] Mark mark() const {
    BackendMark* result = nullptr;
    EXPECT_TRUE(is_ok(device_->table->mark(queue_, &result))) << "mark";
    return Mark(*device_, result);
  }
  void finish() const { EXPECT_TRUE(is_ok(mark().wait())) << "wait"; }

  // Copies to and from a block through CPU memory, and waits for the copies.
  void write(const Block& to, std::uint64_t offset, const Bytes& bytes) const {
    copy(to.at(offset), location_at(bytes.data()), bytes.size());
    finish();
  }
  [[nodiscard]] Bytes read(const Block& from, std::uint64_t offset, std::uint64_t bytes) const {
    Bytes got(bytes);
    copy(location_at(got.data()), from.at(offset), bytes);
    finish();
    return got;
  }
  [[nodiscard]] Bytes read(const Block& from) const { return read(from, 0, from.bytes()); }

 private:
  const Device* device_;
  BackendQueue* queue_ = nullptr;
};

// Returns bytes that differ from their neighbors and from the bytes for other seeds.
[[nodiscard]] inline Bytes some_bytes(std::uint64_t count, std::uint64_t seed = 1) {
  Bytes result(count);
  std::uint64_t state = seed * 0x9e37'79b9'7f4a'7c15;
  for (std::byte& one : result) {
    state = state * 6364136223846793005 + 1442695040888963407;
    one = static_cast<std::byte>(state >> 56);
  }
  return result;
}

template <class T>
[[nodiscard]] std::vector<T> as(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}
template <class T>
[[nodiscard]] Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// For EXPECT_TRUE: names the first byte that differs.
[[nodiscard]] inline testing::AssertionResult same(const Bytes& got, const Bytes& expected) {
  if (got.size() != expected.size()) {
    return testing::AssertionFailure() << got.size() << " bytes; expected " << expected.size();
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] != expected[i]) {
      return testing::AssertionFailure() << "byte " << i << " of " << got.size() << " is "
                                         << std::to_integer<unsigned>(got[i]) << "; expected "
                                         << std::to_integer<unsigned>(expected[i]);
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace anydml::device
