// SPDX-License-Identifier: MIT
// Measures any element-wise operator or fill on a device with its own memory, through the C API over D3D12 buffers,
// with the wall clock. Samples are long enough that launching and waiting are negligible. (The modulus uses DirectML
// and the device's clock: measure_device.h.)
//
// The baseline is a pass on the same device that moves the same number of bytes in UINT32 arrays: IDENTITY for one
// input, ADD for more inputs, FILL_VALUE_CONSTANT for none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure.h"

namespace anydml::bench {

class DeviceRowMeasurer {
 public:
  // Opens the default adapter. The constructor and the functions below throw DeviceFailure.
  DeviceRowMeasurer(const std::vector<Case>& cases, Settings settings, Reference& reference);
  DeviceRowMeasurer(const DeviceRowMeasurer&) = delete;
  DeviceRowMeasurer& operator=(const DeviceRowMeasurer&) = delete;
  ~DeviceRowMeasurer();

  std::optional<Result> measure(const Case& of, std::string& error);

  // Reductions and in-place cases are not measured on devices.
  static bool takes(const Case& of);

 private:
  class State;
  std::unique_ptr<State> state_;
};

// The device memory needed for all cases.
std::uint64_t device_row_bytes(const std::vector<Case>& cases);

}  // namespace anydml::bench
