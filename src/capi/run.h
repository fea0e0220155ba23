// SPDX-License-Identifier: MIT
// One unit of work of the C API on a device, and memory for its duration.
#pragma once

#include <utility>

#include "backend/dispatch_log.h"
#include "capi/addresses.h"
#include "capi/compiled.h"
#include "capi/interrupt.h"

namespace anydml {

// Memory of a device for the duration of one run.
class Temporary {
 public:
  explicit Temporary(const Device& device) : device_(device) {}
  ~Temporary() {
    if (address_ != nullptr) {
      device_.backend->release(device_.handle, MemoryKind::temporary, bytes_, address_);
    }
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  BackendStatus allocate(std::uint64_t bytes) {
    bytes_ = bytes;
    return device_.backend->allocate(device_.handle, MemoryKind::temporary, bytes, &address_);
  }
  [[nodiscard]] void* address() const { return address_; }

 private:
  const Device& device_;
  std::uint64_t bytes_ = 0;
  void* address_ = nullptr;
};

// The work of one call on a queue. Everything that it uses must live until finish() has returned.
class Run {
 public:
  Run(const Device& device, std::string_view label) : device_(device), label_(label) {}
  ~Run() {
    static_cast<void>(finish());  // after a failure, which has already been reported
    if (queue_ != nullptr && wrapped_) {
      device_.backend->destroy_queue(queue_);
    } else if (queue_ != nullptr) {
      device_.give_queue_back(queue_);
    }
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // On one of the device's own queues, or on a stream.
  Status begin() {
    auto taken = device_.take_queue();
    ANYDML_TRY(taken);
    queue_ = taken.value();
    return {};
  }
  Status begin_on(void* stream) {
    wrapped_ = true;
    return check(device_.backend->create_queue(device_.handle, stream, &queue_));
  }

  Status copy(void* to, const void* from, std::uint64_t bytes) {
    unfinished_ = true;
    return check(device_.backend->copy(queue_, to, from, bytes));
  }
  // addresses: one for each slot of the program.
  Status run(const BackendProgram* program, void* const* addresses) {
    unfinished_ = true;
    return check(device_.backend->run(queue_, program, addresses, interrupt_of_thread()));
  }
  Status run(const anydml_compiled& compiled, const Addresses& addresses);
  // Memory for the work, from now until this object is destroyed; it has no address if the device cannot allocate in
  // the order of its work.
  class InOrder {
   public:
    InOrder(const Device& device, BackendQueue* queue, void* address)
        : device_(&device), queue_(queue), address_(address) {}
    ~InOrder() {
      if (address_ != nullptr) {
        device_->backend->release_in_order(queue_, address_);
      }
    }
    InOrder(InOrder&& other) noexcept
        : device_(other.device_), queue_(other.queue_), address_(std::exchange(other.address_, nullptr)) {}
    InOrder(const InOrder&) = delete;
    InOrder& operator=(const InOrder&) = delete;
    InOrder& operator=(InOrder&&) = delete;
    [[nodiscard]] void* address() const { return address_; }

   private:
    const Device* device_;
    BackendQueue* queue_;
    void* address_;
  };
  Result<InOrder> memory_in_order(std::uint64_t bytes) {
    void* address = nullptr;
    if (device_.backend->allocate_in_order != nullptr) {
      ANYDML_TRY(check(device_.backend->allocate_in_order(queue_, bytes, &address)));
    }
    return InOrder(device_, queue_, address);
  }
  // Returns when the work is done.
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
  // From here on the work belongs to the stream.
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
