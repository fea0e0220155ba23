// SPDX-License-Identifier: MIT
// State that calls over arrays on a GPU keep for later calls: the devices and the compiled operators.
#pragma once

#include <anydml/anydml.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "call.h"

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

inline const anydml_device* device_with_id(std::int32_t id) {
  static auto* const known = new std::map<std::int32_t, const anydml_device*>;
  const anydml_device*& device = (*known)[id];
  if (device == nullptr) {
    const std::string name = "cuda:" + std::to_string(id);
    device = anydml_find_device(name.c_str());
    if (device == nullptr) {
      raise(PyExc_RuntimeError, "an array is on " + name +
                                    ", and anydml has no such device: the plugin libanydml-cuda.so is missing or does "
                                    "not work here (docs/python.md says where it goes); arrays in the CPU's memory are "
                                    "taken without it. " +
                                    anydml_last_error());
    }
  }
  return device;
}

}  // namespace anydml::python
