// SPDX-License-Identifier: MIT
// Runs a benchmark row through the C API, with tensors in memory.
#pragma once

#include <anydml/anydml.h>

#include <span>
#include <string>

#include "cases.h"

namespace anydml::bench {

class Call {
 public:
  Call(const Row& row, anydml_type type, const Placement& placement);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { anydml_compiled_release(compiled_); }

  // The error message, which is empty if the library compiled the call and every run succeeded.
  [[nodiscard]] const std::string& error() const { return error_; }
  void run(std::span<const void* const> inputs, void* output);
  // On an asynchronous device, this submits the work, and a later run() waits for all of it.
  void start(std::span<const void* const> inputs, void* output);

 private:
  anydml_compiled* compiled_ = nullptr;
  std::string error_;
};

}  // namespace anydml::bench
