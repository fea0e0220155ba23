// SPDX-License-Identifier: MIT
// Fuzzes ONNX models: reading, preparing and running the bytes of a model either works or throws one of the library's
// own errors. A run ends after a second. tests/onnx/model_fuzz.cpp changes the fields of models instead.
#include <cstdint>
#include <string>

#include "onnx/tested_model.h"

namespace {
std::uint64_t g_ran;  // models that ran
std::uint64_t g_rejected;
}  // namespace

std::string fuzz_summary() {
  return g_ran == 0 ? "" : std::to_string(g_ran) + " ran, " + std::to_string(g_rejected) + " rejected";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static_cast<void>(anydml_set_interrupt(anydml::onnx::is_late, nullptr));
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  ++(anydml::onnx::load(bytes, "/nonexistent", true) ? g_ran : g_rejected);
  return 0;
}
