// SPDX-License-Identifier: MIT
// Vector clocks: which submissions on which queues are known to be finished at some point in the program.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace anydml {

// A call to ExecuteCommandLists: the number of its queue, and its position among the queue's calls, starting from 1.
struct ExecutionId {
  std::uint32_t queue = 0;
  std::uint64_t number = 0;
};

class DebugClock {
 public:
  [[nodiscard]] bool includes(const ExecutionId& execution) const {
    return execution.queue < finished_.size() && finished_[execution.queue] >= execution.number;
  }
  void add(const ExecutionId& execution) {
    if (execution.queue >= finished_.size()) {
      finished_.resize(execution.queue + std::size_t{1});
    }
    finished_[execution.queue] = std::max(finished_[execution.queue], execution.number);
  }
  void join(const DebugClock& other) {
    finished_.resize(std::max(finished_.size(), other.finished_.size()));
    for (std::size_t i = 0; i < other.finished_.size(); ++i) {
      finished_[i] = std::max(finished_[i], other.finished_[i]);
    }
  }

 private:
  std::vector<std::uint64_t> finished_;  // by queue: all executions up to this number are finished
};

}  // namespace anydml
