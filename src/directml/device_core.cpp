// SPDX-License-Identifier: MIT
#include "directml/device_core.h"

#include "base/log.h"
#include "base/quoted.h"

namespace anydml {

bool DmlCore::post(MessageSeverity severity, const char* message, bool logged) noexcept {
  return debug_ && !muted_.load(std::memory_order_relaxed) &&
         parent_->post_message(severity, message, logged) == Posted::printed;
}

HRESULT DmlCore::fail(HRESULT code, const char* message, MessageSeverity severity) noexcept {
  const bool logged = core_.report(message);
  const bool printed = post(severity, message, logged);
  end_if_strict(logged || printed, message);
  return code;
}

HRESULT DmlCore::answer(HRESULT code, const std::string& message) noexcept {
  const bool logged = core_.report_answer(message.c_str());
  post(MessageSeverity::error, message.c_str(), logged);
  return code;
}

HRESULT DmlCore::fail(const char* method, const Error& error) {
  return fail(hresult_of(error.kind), std::string(method) + ": " + error.message);
}

void DmlCore::warn(const char* message) noexcept {
  const bool logged = log_line(LogLevel::info, "warning: ", message);
  post(MessageSeverity::warning, message, logged);
}

void DmlCore::remove(HRESULT reason, const char* message) noexcept {
  HRESULT alive = S_OK;
  if (removed_reason_.compare_exchange_strong(alive, reason, std::memory_order_acq_rel)) {
    parent_->note_removal();
    fail(reason, message, MessageSeverity::removal);
  }
}

std::string DmlCore::buffer_name(std::uint64_t buffer) const {
  char name[kMaxQuotedBytes + 8];
  parent_->buffer_name(buffer, name, sizeof(name));
  return name;
}

std::string DmlCore::buffer_text(std::uint64_t buffer) const { return with_name("buffer", buffer_name(buffer)); }

std::string DmlCore::in_buffer(std::uint64_t buffer) const {
  const std::string name = buffer_name(buffer);
  return name.empty() ? name : with_name(" in buffer", name);
}

HRESULT DmlCore::removed_reason() const noexcept {
  const HRESULT own = removed_reason_.load(std::memory_order_acquire);
  return own != S_OK ? own : parent_->removed_reason();
}

}  // namespace anydml
