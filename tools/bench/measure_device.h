// SPDX-License-Identifier: MIT
// A case on a device with memory of its own, through D3D12 and DirectML as a program of theirs does it: buffers of the
// device, one closed list, and the device's clock read before and after every sample.
//
// The floor is a pass by the same device through the same API: ELEMENT_WISE_ADD of UINT32 where an operator reads two
// arrays; where it reads one, the faster of ELEMENT_WISE_IDENTITY of UINT32 and CopyBufferRegion.
//
// FLOAT64, which DirectML's modulus does not take, goes through the C API over the same buffers, by the wall clock: a
// sample is then so long that to start and to wait are nothing in it.
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
  // Opens the default adapter. All three throw DeviceFailure.
  DeviceMeasurer(const std::vector<Case>& cases, Settings settings);
  DeviceMeasurer(const DeviceMeasurer&) = delete;
  DeviceMeasurer& operator=(const DeviceMeasurer&) = delete;
  ~DeviceMeasurer();

  std::optional<Result> measure(const Case& of, std::string& error);

 private:
  class State;
  std::unique_ptr<State> state_;
};

// Of the device's memory, for all cases.
std::uint64_t device_bytes(const std::vector<Case>& cases);

}  // namespace anydml::bench
