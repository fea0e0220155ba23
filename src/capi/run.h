// SPDX-License-Identifier: MIT
// A unit of work that the C API runs on a device, and temporary memory for it.
#pragma once

#include <utility>

#include "backend/dispatch_log.h"
#include "capi/addresses.h"
#include "capi/compiled.h"
#include "capi/interrupt.h"

namespace anydml {

// A device's memory for the duration of one run.
class Temporary {
 public:
  explicit Temporary(const Device& device) : device_(device) {}
  ~Temporary() {
    if (block_.handle != nullptr) {
      device_.backend->release(device_.handle, MemoryKind::temporary, bytes_, block_.handle);
    }
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  BackendStatus allocate(std::uint64_t bytes) {
    bytes_ = bytes;
    return device_.backend->allocate(device_.handle, MemoryKind::temporary, bytes, &block_);
  }
  [[nodiscard]] DeviceAddress address() const { return block_.address; }
  [[nodiscard]] MemoryLocation location(std::uint64_t offset) const { return {block_.handle, offset}; }

 private:
  const Device& device_;
  std::uint64_t bytes_ = 0;
  MemoryBlock block_ = {};
};

// The work of one call on a queue. Everything that the work uses must live until finish() has returned.
class Run {
 public:
  Run(const Device& device, std::string_view label) : device_(device), label_(label) {}
  ~Run() {
    static_cast<void>(finish());  // after a failure, which was already reported
    if (queue_ != nullptr && wrapped_) {
      device_.backend->destroy_queue(queue_);
    } else if (queue_ != nullptr) {
      device_.give_queue_back(queue_);
    }
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // begin uses one of the device's own queues, and begin_on uses a stream.
  Status begin() {
    auto taken = device_.take_queue();
    ANYDML_TRY(taken);
    queue_ = taken.value();
    return {};
  }
  Status begin_on(BackendStream* stream) {
    wrapped_ = true;
    return check(device_.backend->create_queue_on(device_.handle, stream, &queue_));
  }

  Status copy(MemoryLocation to, MemoryLocation from, std::uint64_t bytes) {
    unfinished_ = true;
    return check(device_.backend->copy(queue_, to, from, bytes));
  }
  // addresses: one for each slot of the program.
  Status run(const BackendProgram* program, const DeviceAddress* addresses) {
    unfinished_ = true;
    return check(device_.backend->run(queue_, program, addresses, interrupt_of_thread()));
  }
  Status run(const anydml_compiled& compiled, const Addresses& addresses);
  // Memory for the work, valid until this object is destroyed. It is empty if the device cannot allocate memory in
  // queue order.
  class InOrder {
   public:
    InOrder(const Device& device, BackendQueue* queue, const MemoryBlock& block)
        : device_(&device), queue_(queue), block_(block) {}
    ~InOrder() {
      if (block_.handle != nullptr) {
        device_->backend->release_in_order(queue_, block_.handle);
      }
    }
    InOrder(InOrder&& other) noexcept
        : device_(other.device_), queue_(other.queue_), block_(std::exchange(other.block_, {})) {}
    InOrder(const InOrder&) = delete;
    InOrder& operator=(const InOrder&) = delete;
    InOrder& operator=(InOrder&&) = delete;
    [[nodiscard]] explicit operator bool() const { return block_.handle != nullptr; }
    [[nodiscard]] DeviceAddress address() const { return block_.address; }

   private:
    const Device* device_;
    BackendQueue* queue_;
    MemoryBlock block_;
  };
  Result<InOrder> memory_in_order(std::uint64_t bytes) {
    MemoryBlock block = {};
    if (device_.backend->allocate_in_order != nullptr) {
      ANYDML_TRY(check(device_.backend->allocate_in_order(queue_, bytes, &block)));
    }
    return InOrder(device_, queue_, block);
  }
  // Waits until the work is done.
  Status finish() {
    if (!std::exchange(unfinished_, false)) {
      return {};
    }
    BackendMark* mark = nullptr;
    const Status marked = check(device_.backend->mark(queue_, &mark));
    if (mark == nullptr) {
      return marked;
    }
    const Status waited = check(device_.backend->wait(mark));
    device_.backend->destroy_mark(mark);
    return waited;
  }
  // After this, the stream owns the work.
  void leave() { unfinished_ = false; }

 private:
  Status check(BackendStatus status) const { return from_backend(label_, *device_.backend, status); }

  const Device& device_;
  const std::string_view label_;
  BackendQueue* queue_ = nullptr;
  bool wrapped_ = false;
  bool unfinished_ = false;
};

}  // namespace anydml
