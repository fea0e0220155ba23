// SPDX-License-Identifier: MIT
// A trace of a model: when it was loaded, recorded, compiled and run, as one document in Chrome's trace event format.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/values/array.h"

namespace anydml::onnx {

// Collects events from any number of threads, up to a maximum size; later events are only counted.
class Trace {
 public:
  using Clock = std::chrono::steady_clock;

  // An event that has ended. arguments: the members of a JSON object, without its braces.
  void add(std::string_view category, std::string_view name, Clock::time_point begin, Clock::time_point end,
           std::string_view arguments);
  // Calls a function with each line of the document, a JSON array with an object for each event.
  void for_each_line(const std::function<void(const std::string&)>& use) const;

  // The trace of the models that the calling thread is working on, or null.
  [[nodiscard]] static Trace* current();

 private:
  const Clock::time_point start_ = Clock::now();
  mutable std::mutex mutex_;
  std::vector<std::string> events_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

// Makes a trace, or null, the calling thread's current one while this object exists.
class TraceScope {
 public:
  explicit TraceScope(Trace* trace);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  Trace* const before_;
};

// The members of an event's "args".
class TraceArguments {
 public:
  TraceArguments& text(std::string_view key, std::string_view value);
  TraceArguments& number(std::string_view key, std::uint64_t value);
  TraceArguments& texts(std::string_view key, std::span<const std::string> values);
  // The types and shapes of the arrays that are present, in the form of ONNX Runtime: [{"float":[1,3]}].
  TraceArguments& forms(std::string_view key, std::span<const Array> arrays);
  [[nodiscard]] const std::string& get() const { return text_; }

 private:
  std::string& member(std::string_view key);
  std::string text_;
};

// An event of the current trace that begins now and is added by `end`. Without a trace it costs one comparison.
class TraceEvent {
 public:
  TraceEvent() : trace_(Trace::current()) {
    if (trace_ != nullptr) {
      begin_ = Trace::Clock::now();
    }
  }
  explicit operator bool() const { return trace_ != nullptr; }  // whether there is a trace
  // Stops the clock, so that describing the event takes none of its time.
  void stop() { end_ = Trace::Clock::now(); }
  void add(std::string_view category, std::string_view name, const TraceArguments& arguments = {}) const {
    trace_->add(category, name, begin_, end_, arguments.get());
  }
  void end(std::string_view category, std::string_view name, const TraceArguments& arguments = {}) {
    if (trace_ != nullptr) {
      stop();
      add(category, name, arguments);
    }
  }

 private:
  Trace* const trace_;
  Trace::Clock::time_point begin_{}, end_{};
};

}  // namespace anydml::onnx
