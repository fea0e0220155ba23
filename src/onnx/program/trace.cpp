// SPDX-License-Identifier: MIT
#include "onnx/program/trace.h"

#include <unistd.h>

#include "onnx/values/utf8.h"

namespace anydml::onnx {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;  // of all events; about 200,000 of them

// A pointer, because a model may run on any thread, and several models at the same time.
thread_local Trace* current_trace = nullptr;

// Appends a text, which may come from a model and contain anything, as a JSON string.
void append_text(std::string& to, std::string_view text) {
  to += '"';
  while (!text.empty()) {
    std::size_t size = 0;
    const std::uint32_t character = first_character(text, size);
    if (character == kNoCharacter) {
      to += "\\ufffd";  // the replacement character
    } else if (character < 0x20) {
      to += format_text("\\u{:04x}", character);
    } else {
      if (character == '"' || character == '\\') {
        to += '\\';
      }
      to += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  to += '"';
}

double microseconds(Trace::Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

}  // namespace

Trace* Trace::current() { return current_trace; }

void Trace::add(std::string_view category, std::string_view name, Clock::time_point begin, Clock::time_point end,
                std::string_view arguments) {
  std::string event = "{\"ph\":\"X\",\"cat\":";
  append_text(event, category);
  event += ",\"name\":";
  append_text(event, name);
  event += format_text(",\"pid\":{},\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},\"args\":{{{}}}}}", ::getpid(), ::gettid(),
                       microseconds(begin - start_), microseconds(end - begin), arguments);
  const std::scoped_lock lock(mutex_);
  if (bytes_ + event.size() > kMaxBytes) {
    ++dropped_;
    return;
  }
  bytes_ += event.size();
  events_.push_back(std::move(event));
}

void Trace::for_each_line(const std::function<void(const std::string&)>& use) const {
  std::vector<std::string> lines;
  {
    const std::scoped_lock lock(mutex_);
    lines = events_;
    if (dropped_ != 0) {
      lines.push_back(
          format_text("{{\"ph\":\"i\",\"s\":\"g\",\"cat\":\"Session\",\"name\":\"{} later events are "
                      "missing: the trace is full\",\"pid\":{},\"tid\":{},\"ts\":{:.3f}}}",
                      dropped_, ::getpid(), ::gettid(), microseconds(Clock::now() - start_)));
    }
  }
  use("[");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    use(i + 1 < lines.size() ? lines[i] + "," : lines[i]);
  }
  use("]");
}

TraceScope::TraceScope(Trace* trace) : before_(std::exchange(current_trace, trace)) {}
TraceScope::~TraceScope() { current_trace = before_; }

std::string& TraceArguments::member(std::string_view key) {
  if (!text_.empty()) {
    text_ += ',';
  }
  append_text(text_, key);
  return text_ += ':';
}

TraceArguments& TraceArguments::text(std::string_view key, std::string_view value) {
  append_text(member(key), value);
  return *this;
}

TraceArguments& TraceArguments::number(std::string_view key, std::uint64_t value) {
  member(key) += std::to_string(value);
  return *this;
}

TraceArguments& TraceArguments::texts(std::string_view key, std::span<const std::string> values) {
  member(key) += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    text_ += i == 0 ? "" : ",";
    append_text(text_, values[i]);
  }
  text_ += ']';
  return *this;
}

TraceArguments& TraceArguments::forms(std::string_view key, std::span<const Array> arrays) {
  member(key) += '[';
  bool is_first = true;
  for (const Array& array : arrays) {
    if (!array) {
      continue;
    }
    text_ += std::exchange(is_first, false) ? "{" : ",{";
    append_text(text_, kind_name(array.kind()));
    text_ += ":[";
    for (std::size_t i = 0; i < array.shape().size(); ++i) {
      text_ += format_text("{}{}", i == 0 ? "" : ",", array.shape()[i]);
    }
    text_ += "]}";
  }
  text_ += ']';
  return *this;
}

}  // namespace anydml::onnx
