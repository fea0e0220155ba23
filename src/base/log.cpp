// SPDX-License-Identifier: MIT
#include "base/log.h"

#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <iterator>

#include "base/cancellation.h"

namespace anydml {
namespace {

constinit std::atomic<bool> g_show_errors = false;

// The lines of failures that were seen last: a hash in the upper half, how often it came in the lower. A line whose
// hash has the same place takes it over, and the old one counts from the start when it comes again.
constexpr std::size_t kRemembered = 256;
constinit std::atomic<std::uint64_t> g_seen[kRemembered] = {};

std::uint32_t hash_of(std::string_view text, std::uint32_t hash) {
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619U;  // FNV-1a
  }
  return hash;
}

// How often the line with this hash has come, this time included.
std::uint32_t count_again(std::uint32_t hash) noexcept {
  std::atomic<std::uint64_t>& place = g_seen[hash % kRemembered];
  std::uint64_t known = place.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    const auto count = static_cast<std::uint32_t>(known);
    const bool same = known >> 32 == hash && count != 0;
    next = std::uint64_t{hash} << 32 | (!same ? 1 : count == UINT32_MAX ? count : count + 1);
  } while (!place.compare_exchange_weak(known, next, std::memory_order_relaxed));
  return static_cast<std::uint32_t>(next);
}

void print_line(std::string_view text, std::string_view more, std::string_view last,
                std::string_view end = "") noexcept {
  const CancellationDeferred deferred;  // to write is a cancellation point, and some of our callers let nothing out
  const int error = errno;
  const std::string_view parts[] = {"anydml: ", text, more, last, end, "\n"};
  iovec pieces[std::size(parts)];
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    pieces[i] = {const_cast<char*>(parts[i].data()), parts[i].size()};
  }
  for (std::size_t first = 0; first < std::size(pieces);) {
    const ssize_t written = writev(STDERR_FILENO, pieces + first, static_cast<int>(std::size(pieces) - first));
    if (written < 0 && errno != EINTR) {
      break;
    }
    // Mostly all of it; a signal can part a long text.
    auto left = static_cast<std::size_t>(written < 0 ? 0 : written);
    while (first < std::size(pieces) && left >= pieces[first].iov_len) {
      left -= pieces[first++].iov_len;
    }
    if (first < std::size(pieces)) {
      pieces[first].iov_base = static_cast<char*>(pieces[first].iov_base) + left;
      pieces[first].iov_len -= left;
    }
  }
  errno = error;
}

// Whether ANYDML_LOG was left to the library that asks.
bool is_default() noexcept {
  try {
    const auto& settings = environment();
    return settings.ok() && !settings.value().log;
  } catch (...) {  // reading the settings ran out of memory
    return false;
  }
}

}  // namespace

void show_errors() noexcept { g_show_errors.store(true, std::memory_order_relaxed); }

bool log_enabled(LogLevel level) noexcept {
  try {
    const auto& settings = environment();
    const bool shown = !settings.ok() || g_show_errors.load(std::memory_order_relaxed);
    return (settings.ok() && settings.value().log >= level) || (shown && level <= LogLevel::error);
  } catch (...) {  // reading the settings ran out of memory
    return false;
  }
}

void log_line(LogLevel level, std::string_view text, std::string_view more, std::string_view last) noexcept {
  if (log_enabled(level)) {
    print_line(text, more, last);
  }
}

void log_failure(std::string_view text, std::string_view more, std::string_view last) noexcept {
  if (log_enabled(LogLevel::error)) {
    return print_line(text, more, last);
  }
  if (!is_default()) {
    return;
  }
  const std::uint32_t count = count_again(hash_of(last, hash_of(more, hash_of(text, 2166136261U))));
  if (count == 1) {
    print_line(text, more, last);
  } else if (std::has_single_bit(count)) {
    char times[32] = " (";
    char* const begin = times + 2;
    char* const end = std::to_chars(begin, begin + 10, count).ptr;
    constexpr std::string_view kRest = " times so far)";
    kRest.copy(end, kRest.size());
    print_line(text, more, last, {times, static_cast<std::size_t>(end - times) + kRest.size()});
  }
}

void show_unless_logged(LogLevel level, std::string_view text) noexcept {
  if (!log_enabled(level) && !(level == LogLevel::error && is_default())) {
    print_line(text, "", "");
  }
}

}  // namespace anydml
