// SPDX-License-Identifier: MIT
// Any element-wise operator or fill on a device with memory of its own: by the C API over buffers of D3D12, by the wall
// clock. A sample is so long that to start and to wait are nothing in it. (The modulus goes through DirectML and by the
// device's clock: measure_device.h.)
//
// The floor is a pass by the same device that moves as many bytes in arrays of UINT32: IDENTITY for one input, ADD for
// more, FILL_VALUE_CONSTANT for none.
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
  // Opens the default adapter. All three throw DeviceFailure.
  DeviceRowMeasurer(const std::vector<Case>& cases, Settings settings, Reference& reference);
  DeviceRowMeasurer(const DeviceRowMeasurer&) = delete;
  DeviceRowMeasurer& operator=(const DeviceRowMeasurer&) = delete;
  ~DeviceRowMeasurer();

  std::optional<Result> measure(const Case& of, std::string& error);

  // Reductions are not measured on devices, and nothing in place.
  static bool takes(const Case& of);

 private:
  class State;
  std::unique_ptr<State> state_;
};

// Of the device's memory, for all cases.
std::uint64_t device_row_bytes(const std::vector<Case>& cases);

}  // namespace anydml::bench
