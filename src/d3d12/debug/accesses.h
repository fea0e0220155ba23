// SPDX-License-Identifier: MIT
// The most recent accesses to every byte of a block of memory, as disjoint ranges.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "d3d12/debug/execution.h"

namespace anydml {

// One access, kept as long as a later access may conflict with it.
struct PastAccess {
  std::shared_ptr<const DebugExecution> execution;  // null if there is none
  std::size_t op = 0;
  std::size_t access = 0;  // index among the execution's accesses

  explicit operator bool() const { return execution != nullptr; }
  [[nodiscard]] const DebugAccess& get() const { return execution->accesses[access]; }
};

class AccessMap {
 public:
  // Calls check(past) for the last write to the bytes and, if the new access is a write, for the last read from each
  // queue. Then records the new access.
  template <class Check>
  void add(const PastAccess& added, const Check& check) {
    const DebugAccess& access = added.get();
    split(access.first);
    split(access.end);
    std::uint64_t at = access.first;
    auto segment = segments_.lower_bound(access.first);
    while (at < access.end) {
      if (segment == segments_.end() || segment->first != at) {  // bytes that nothing has accessed yet
        const std::uint64_t end =
            segment == segments_.end() || segment->first > access.end ? access.end : segment->first;
        segment = segments_.emplace_hint(segment, at, Segment{.end = end, .write = {}, .reads = {}});
      }
      Segment& found = segment->second;
      if (found.write) {
        check(found.write);
      }
      if (access.write) {
        for (const PastAccess& read : found.reads) {
          check(read);
        }
        found.write = added;
        found.reads.clear();
      } else {
        add_read(found, added);
      }
      at = found.end;
      ++segment;
    }
    merge(access.first, access.end);
  }

  // Forgets accesses that no later access can conflict with.
  void forget(const DebugClock& finished);
  [[nodiscard]] bool empty() const { return segments_.empty(); }
  [[nodiscard]] std::size_t size() const { return segments_.size(); }

 private:
  struct Segment {
    std::uint64_t end;
    PastAccess write;
    std::vector<PastAccess> reads;  // the last read from each queue since the write
  };

  // Makes the offset a boundary between segments.
  void split(std::uint64_t offset);
  // Joins equal neighbors in the range, so that a block does not stay fragmented if it was accessed in many ways at
  // first.
  void merge(std::uint64_t first, std::uint64_t end);
  static void add_read(Segment& segment, const PastAccess& read);

  std::map<std::uint64_t, Segment> segments_;  // by first byte
};

}  // namespace anydml
