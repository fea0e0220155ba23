// SPDX-License-Identifier: MIT
// Compiled operators that calls over arrays on a GPU keep for later calls.
#pragma once

#include <anydml/anydml.h>

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

namespace anydml::python {

// The last compiled operators, keyed by everything in a call except its addresses. Used with the GIL held.
class CompiledCalls {
 public:
  static constexpr std::size_t kMost = 256;
  using Compiled = std::shared_ptr<const anydml_compiled>;

  static CompiledCalls& of_process() {
    static auto* const all = new CompiledCalls;
    return *all;
  }
  [[nodiscard]] std::size_t size() const { return by_key_.size(); }

  template <class Make>
  Compiled get(const std::string& key, Make make) {
    if (const auto known = by_key_.find(key); known != by_key_.end()) {
      return known->second;
    }
    Compiled made(make(), [](const anydml_compiled* compiled) {
      anydml_compiled_release(const_cast<anydml_compiled*>(compiled));
    });
    if (by_key_.size() == kMost) {
      by_key_.erase(oldest_.front());
      oldest_.pop_front();
    }
    by_key_.emplace(key, made);
    oldest_.push_back(key);
    return made;
  }

 private:
  std::unordered_map<std::string, Compiled> by_key_;
  std::deque<std::string> oldest_;
};

}  // namespace anydml::python
