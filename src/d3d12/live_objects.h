// SPDX-License-Identifier: MIT
// The objects of one device that were created while it was being debugged and are still alive.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "com/live_object.h"
#include "d3d12/headers.h"

namespace anydml {

class LiveObjects {
 public:
  LiveObjects() = default;
  ~LiveObjects();
  LiveObjects(const LiveObjects&) = delete;
  LiveObjects& operator=(const LiveObjects&) = delete;

  // Returns false if there was no memory to remember the object.
  [[nodiscard]] bool add(const LiveObject& object) noexcept;
  // Returns when no report is reading the object.
  void remove(const void* object) noexcept;

  // Counts references to the device that do not belong to the application, in addition to the references from the
  // objects above: a DirectML device has a reference to the device, which may last as long as its work in flight.
  void count_internal(int change) noexcept {
    internal_.fetch_add(static_cast<std::uint32_t>(change), std::memory_order_relaxed);
  }

  struct Line {
    D3D12_MESSAGE_ID id;
    std::string type;
    std::string text;  // "Live ID3D12Resource at 0x55d0, Name: weights, Refcount: 1"
  };
  // Lists the live objects in the order of their creation.
  [[nodiscard]] std::vector<Line> list();

  // Lists the objects that are still alive when the process exits, on standard error.
  static void report_at_exit() noexcept;

 private:
  std::vector<Line> list_locked() const;

  std::mutex mutex_;
  std::map<const void*, std::pair<std::uint64_t, LiveObject>> objects_;  // with numbers in order of creation
  std::uint64_t last_ = 0;
  std::atomic<std::uint32_t> internal_{0};
  bool known_ = false;  // whether this is in the list that report_at_exit reads
};

// Returns a line such as "Live objects: 2 ID3D12Resource, 1 ID3D12Fence".
[[nodiscard]] std::string summary_of(const std::vector<LiveObjects::Line>& lines);

}  // namespace anydml
