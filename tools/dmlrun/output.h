// SPDX-License-Identifier: MIT
// Prints the output of a run as it proceeds: lines in DxDispatch's format, or one JSON document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compare.h"
#include "json_writer.h"
#include "model.h"
#include "timing.h"

namespace anydml::dmlrun {

struct DispatchReport {
  std::string_view name;
  std::size_t iterations = 0;
  std::span<const double> cpu;     // milliseconds of each iteration
  std::span<const double> device;  // milliseconds of the last iterations, according to the device's clock
  std::size_t warm_up = 0;
  std::uint64_t bytes = 0;  // of the input and output tensors
};

struct StepReport {
  std::string nodes;        // "ELEMENT_WISE_ADD 'shifted', ACTIVATION_RELU 'positive'"
  bool is_once = false;     // runs when the graph is initialized
  double milliseconds = 0;  // the median
};

struct ProfileReport {
  std::string_view name;
  double whole = 0;  // the median of the whole dispatch, measured with the same clock
  std::span<const StepReport> steps;
};

class Output {
 public:
  virtual ~Output() = default;
  // level: empty for an ONNX model, which has none.
  virtual void running_on(std::string_view model, std::string_view adapter, std::string_view level) = 0;
  virtual void command(std::size_t index, std::string_view text) = 0;
  virtual void initialized(std::string_view dispatchable, double milliseconds) = 0;
  virtual void dispatched(const DispatchReport& report) = 0;
  virtual void profiled(const ProfileReport& report) = 0;
  virtual void compared(const Resource& resource, const Comparison& comparison, const Tolerance& tolerance) = 0;
  virtual void values(const Resource& resource, std::span<const std::byte> bytes, bool verbose) = 0;
  virtual void written(std::string_view resource, std::string_view path) = 0;
  // Of ONNX models. what: "input" or "output"; form: "FLOAT32[1, 3]"; values: where an input's values come from.
  virtual void tensor(std::string_view what, std::string_view name, std::string_view form, std::string_view values) = 0;
  virtual void explained(std::span<const std::string> lines) = 0;
  virtual void traced(std::string_view path) = 0;
  // After a failed run, `add` adds members to the unfinished document.
  virtual void finish(const std::function<void(JsonWriter&)>& add = {}) = 0;
};

// verbosity: 0 to 2, like DxDispatch's --timing_verbosity.
// clock: the name of the second clock, next to the CPU's: "GPU", or "device" if the device is also a CPU.
[[nodiscard]] std::unique_ptr<Output> text_output(int verbosity, std::string_view clock);
[[nodiscard]] std::unique_ptr<Output> json_output();

}  // namespace anydml::dmlrun
