// SPDX-License-Identifier: MIT
#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "table.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

constexpr double kFirstAfter = 1000;  // milliseconds until progress is first shown
constexpr double kEvery = 100;
constexpr std::size_t kBar = 24;

// The first locale variable that is set decides.
bool terminal_shows_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') {
      const std::string_view locale = value;
      return locale.find("UTF-8") != std::string_view::npos || locale.find("utf8") != std::string_view::npos;
    }
  }
  return false;
}

}  // namespace

Progress::Progress(std::string what) : what_(std::move(what)), terminal_(terminal_width(STDERR_FILENO).has_value()) {}

void Progress::clear() {
  if (std::exchange(shown_, false)) {
    std::fputs("\r\x1b[K", stderr);
    std::fflush(stderr);
  }
}

void Progress::show(double fraction, const std::string& detail) {
  if (!terminal_) {
    return;
  }
  const double now = since_.milliseconds();
  if (now < kFirstAfter || now - last_shown_ < kEvery) {
    return;
  }
  last_shown_ = now;
  shown_ = true;
  const double part = std::clamp(fraction, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(part * kBar);
  static const bool utf8 = terminal_shows_utf8();
  std::string bar;
  for (std::size_t i = 0; i < kBar; ++i) {
    bar += utf8 ? (i < full ? "━" : "╌") : (i < full ? "#" : "-");
  }
  std::string line = format_text("{} ", what_) + bar + format_text(" {:3.0f} %", part * 100);
  if (part > 0.01) {
    line += format_text(", {:.0f} s left", now / part * (1 - part) / 1000);
  }
  line += format_text(", {}", detail);
  // A line that wraps could not be overwritten. A character of the bar may have three bytes, but occupies one column.
  const std::size_t columns = terminal_width(STDERR_FILENO).value_or(80) - 1 + bar.size() - kBar;
  if (line.size() > columns) {
    line.resize(std::max(columns, what_.size() + 1 + bar.size()));
  }
  std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
  std::fflush(stderr);
}

}  // namespace anydml::dmlrun
