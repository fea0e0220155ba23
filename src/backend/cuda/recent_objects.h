// SPDX-License-Identifier: MIT
// Caches objects for later requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace anydml::cuda {

// Keeps all objects that are in use, by name, and the most recently requested unused objects, up to a maximum number in
// total.
template <class Value>
class RecentObjects {
 public:
  explicit RecentObjects(std::size_t maximum) : maximum_(maximum) {}

  // Returns null if the name is not found. The value itself may also be null.
  [[nodiscard]] const std::shared_ptr<Value>* find(const std::string& name) {
    const auto found = entries_.find(name);
    if (found == entries_.end()) {
      return nullptr;
    }
    found->second.asked = ++clock_;
    return &found->second.value;
  }

  void add(const std::string& name, std::shared_ptr<Value> value) {
    entries_[name] = {.value = std::move(value), .asked = ++clock_};
    while (entries_.size() > maximum_) {
      auto oldest = entries_.end();
      for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
        const bool is_used = entry->second.value.use_count() > 1;
        if (!is_used && (oldest == entries_.end() || entry->second.asked < oldest->second.asked)) {
          oldest = entry;
        }
      }
      if (oldest == entries_.end() || oldest->second.asked == clock_) {  // never the object that was just added
        return;
      }
      entries_.erase(oldest);
    }
  }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::shared_ptr<Value> value;
    std::uint64_t asked = 0;  // time of the last request
  };

  std::size_t maximum_;
  std::uint64_t clock_ = 0;
  std::map<std::string, Entry> entries_;
};

}  // namespace anydml::cuda
