// SPDX-License-Identifier: MIT
#include "d3d12/debug/accesses.h"

#include <algorithm>

namespace anydml {
namespace {

bool same_access(const PastAccess& a, const PastAccess& b) {
  return a.execution == b.execution && a.op == b.op && a.access == b.access;
}

}  // namespace

void AccessMap::split(std::uint64_t offset) {
  auto after = segments_.upper_bound(offset);
  if (after == segments_.begin()) {
    return;
  }
  auto segment = std::prev(after);
  if (segment->first == offset || segment->second.end <= offset) {
    return;
  }
  Segment rest = segment->second;
  segment->second.end = offset;
  segments_.emplace_hint(after, offset, std::move(rest));
}

void AccessMap::merge(std::uint64_t first, std::uint64_t end) {
  auto segment = segments_.lower_bound(first);
  if (segment != segments_.begin()) {
    --segment;
  }
  while (segment != segments_.end() && segment->first <= end) {
    const auto next = std::next(segment);
    if (next == segments_.end() || next->first > end) {
      return;
    }
    const bool equal = segment->second.end == next->first && same_access(segment->second.write, next->second.write) &&
                       std::ranges::equal(segment->second.reads, next->second.reads, same_access);
    if (equal) {
      segment->second.end = next->second.end;
      segments_.erase(next);
    } else {
      segment = next;
    }
  }
}

void AccessMap::add_read(Segment& segment, const PastAccess& read) {
  const auto same_queue = std::ranges::find_if(
      segment.reads, [&](const PastAccess& past) { return past.execution->id.queue == read.execution->id.queue; });
  if (same_queue != segment.reads.end()) {
    *same_queue = read;
  } else {
    segment.reads.push_back(read);
  }
}

void AccessMap::forget(const DebugClock& finished) {
  const auto is_finished = [&](const PastAccess& past) { return finished.includes(past.execution->id); };
  for (auto segment = segments_.begin(); segment != segments_.end();) {
    Segment& found = segment->second;
    if (found.write && is_finished(found.write)) {
      found.write = {};
    }
    std::erase_if(found.reads, is_finished);
    segment = !found.write && found.reads.empty() ? segments_.erase(segment) : std::next(segment);
  }
}

}  // namespace anydml
