// SPDX-License-Identifier: MIT
// A cache of the last values that were computed for string keys.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <unordered_map>

namespace anydml::python {

// Evicts the oldest value when it is full. Callers must hold the GIL.
template <class Value>
class KeyedCache {
 public:
  static constexpr std::size_t kMax = 256;

  [[nodiscard]] std::size_t size() const { return by_key_.size(); }

  // Returns the value for a key. If it is not cached, make() computes it; other threads may run in the meantime.
  template <class Make>
  Value get(const std::string& key, Make make) {
    if (const auto known = by_key_.find(key); known != by_key_.end()) {
      return known->second;
    }
    Value created = make();
    if (by_key_.size() == kMax) {
      by_key_.erase(oldest_.front());
      oldest_.pop_front();
    }
    if (by_key_.emplace(key, created).second) {
      oldest_.push_back(key);
    }
    return created;
  }

 private:
  std::unordered_map<std::string, Value> by_key_;
  std::deque<std::string> oldest_;
};

}  // namespace anydml::python
