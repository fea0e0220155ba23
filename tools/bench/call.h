// SPDX-License-Identifier: MIT
// A row over placed tensors as a call of the C API.
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

  // Empty where the library has compiled it and every run has succeeded; otherwise its sentence.
  [[nodiscard]] const std::string& error() const { return error_; }
  void run(std::span<const void* const> inputs, void* output);
  // Of a device that works later: gives it the work, and a later run() waits for all of it.
  void start(std::span<const void* const> inputs, void* output);

 private:
  anydml_compiled* compiled_ = nullptr;
  std::string error_;
};

}  // namespace anydml::bench
