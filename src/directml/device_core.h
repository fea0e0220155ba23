// SPDX-License-Identifier: MIT
// State shared by the objects of one DirectML device: the destination of messages, whether the device was removed, and
// its feature level. The state is separate from the device's COM object, so that work in flight can outlive the device.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "backend/core.h"
#include "base/result.h"
#include "com/com_ptr.h"
#include "com/hresult.h"
#include "d3d12/bridge.h"
#include "facts/facts.h"

namespace anydml {

// Creates the error for a call with invalid arguments.
[[nodiscard]] inline Error wrong(std::string what) { return {ErrorKind::invalid_argument, std::move(what)}; }

class DmlCore {
 public:
  DmlCore(ComPtr<IBridgeDevice> parent, const CoreTable& core, const CoreDevice& device, facts::FeatureLevel level,
          bool debug)
      : parent_(std::move(parent)),
        core_(core),
        device_(device),
        level_(level),
        debug_(debug),
        debugging_(parent_->debugging_flag()) {
    parent_->count_internal(1);
  }
  ~DmlCore() { parent_->count_internal(-1); }
  DmlCore(const DmlCore&) = delete;
  DmlCore& operator=(const DmlCore&) = delete;

  [[nodiscard]] IBridgeDevice& parent() const { return *parent_; }
  [[nodiscard]] const CoreDevice& device() const { return device_; }
  [[nodiscard]] facts::FeatureLevel level() const { return level_; }
  [[nodiscard]] bool debug() const { return debug_; }
  // Whether the D3D12 device is being debugged. Costs one relaxed load.
  [[nodiscard]] bool debugging() const noexcept { return debugging_.load(std::memory_order_relaxed); }

  // Reports to the user, through the usual channels, why a call failed, and returns the code.
  HRESULT fail(HRESULT code, const char* message, MessageSeverity severity = MessageSeverity::error) noexcept;
  HRESULT fail(HRESULT code, const std::string& message) noexcept { return fail(code, message.c_str()); }
  // Like fail, but for failures that programs provoke to probe the device. Standard error shows them only if ANYDML_LOG
  // enables errors.
  HRESULT answer(HRESULT code, const std::string& message) noexcept;
  // Reports a method's error in a message that begins with the method's name.
  HRESULT fail(const char* method, const Error& error);
  void warn(const char* message) noexcept;

  // Removes the device after misuse that no HRESULT can report. Only the first removal counts. The D3D12 device is not
  // removed.
  void remove(HRESULT reason, const char* message) noexcept;
  void remove(HRESULT reason, const std::string& message) noexcept { remove(reason, message.c_str()); }
  // Removes the device because the backend could not run its work: either memory ran out, or the backend's device
  // failed, which the D3D12 device reports as hung, too.
  void remove(const BackendStatus& status) noexcept {
    remove(status.code == BackendCode::out_of_memory ? E_OUTOFMEMORY : kDeviceHung, status.message);
  }
  // S_OK unless this device or the D3D12 device was removed.
  [[nodiscard]] HRESULT removed_reason() const noexcept;
  [[nodiscard]] bool removed() const noexcept { return removed_reason() != S_OK; }

  // Returns "buffer", followed by its name if it has one. The buffer may have been released.
  [[nodiscard]] std::string buffer_text(std::uint64_t buffer) const;
  // Returns a phrase such as " in buffer 'weights'", or an empty string if the buffer has no name.
  [[nodiscard]] std::string in_buffer(std::uint64_t buffer) const;

  void set_muted(bool muted) noexcept { muted_.store(muted, std::memory_order_relaxed); }

 private:
  // Returns whether the message was printed.
  bool post(MessageSeverity severity, const char* message, bool logged) noexcept;
  [[nodiscard]] std::string buffer_name(std::uint64_t buffer) const;

  const ComPtr<IBridgeDevice> parent_;
  const CoreTable& core_;
  const CoreDevice& device_;
  const facts::FeatureLevel level_;
  const bool debug_;
  const std::atomic<bool>& debugging_;
  std::atomic<HRESULT> removed_reason_{S_OK};
  std::atomic<bool> muted_{false};
};

}  // namespace anydml
