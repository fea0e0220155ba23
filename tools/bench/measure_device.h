// SPDX-License-Identifier: MIT
// Measures a case on a device with its own memory, through D3D12 and DirectML as a client would: device buffers, one
// closed list, and the device's clock read before and after every sample.
//
// The baseline is a pass on the same device through the same API: for an operator that reads two arrays, a UINT32
// ELEMENT_WISE_ADD; for an operator that reads one, the faster of a UINT32 ELEMENT_WISE_IDENTITY and CopyBufferRegion.
//
// FLOAT64, which DirectML's modulus does not support, uses the C API over the same buffers, timed with the wall clock:
// each sample is then long enough that launching and waiting are negligible.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure.h"

namespace anydml::bench {

class DeviceMeasurer {
 public:
  // Opens the default adapter. The constructor and the functions below throw DeviceFailure.
  DeviceMeasurer(const std::vector<Case>& cases, Settings settings);
  DeviceMeasurer(const DeviceMeasurer&) = delete;
  DeviceMeasurer& operator=(const DeviceMeasurer&) = delete;
  ~DeviceMeasurer();

  std::optional<Result> measure(const Case& of, std::string& error);

 private:
  class State;
  std::unique_ptr<State> state_;
};

// The device memory needed for all cases.
std::uint64_t device_bytes(const std::vector<Case>& cases);

}  // namespace anydml::bench
