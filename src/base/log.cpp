// SPDX-License-Identifier: MIT
#include "base/log.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <span>

#include "base/cancellation.h"
#include "base/process.h"

namespace anydml {

constinit LogState g_own_log_state = {};

namespace {

constinit std::atomic<bool> g_show_errors = false;

constinit std::atomic<LogState*> g_state = &g_own_log_state;

struct Receiver {
  LogFunction function = nullptr;
  void* context = nullptr;
  LogLevel level = LogLevel::none;
};

// Returns the default, standard error, if the state keeps changing: a signal handler may have interrupted the thread
// that is changing it.
Receiver find_receiver() noexcept {
  const LogState& state = *g_state.load(std::memory_order_acquire);
  for (int tries = 0; tries < 1000; ++tries) {
    const std::uint32_t before = state.version.load(std::memory_order_acquire);
    // A thread that reads a new member also sees the odd version that was stored before it.
    const Receiver found{.function = state.function.load(std::memory_order_acquire),
                         .context = state.context.load(std::memory_order_acquire),
                         .level = static_cast<LogLevel>(state.level.load(std::memory_order_acquire))};
    if (before % 2 == 0 && state.version.load(std::memory_order_relaxed) == before) {
      return found;
    }
  }
  return {};
}

// The most recent error lines: each slot has a hash in its upper half and the number of occurrences in its lower half.
// A new line replaces the old line in its slot. If the old line occurs again, its count starts over.
constexpr std::size_t kRemembered = 256;
constinit std::atomic<std::uint64_t> g_seen[kRemembered] = {};

std::uint32_t hash_of(std::string_view text, std::uint32_t hash) {
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619U;  // FNV-1a
  }
  return hash;
}

// Returns the number of times that the line with this hash has occurred, including this one.
std::uint32_t count_again(std::uint32_t hash) noexcept {
  std::atomic<std::uint64_t>& seen = g_seen[hash % kRemembered];
  std::uint64_t known = seen.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    const auto count = static_cast<std::uint32_t>(known);
    const bool same = known >> 32 == hash && count != 0;
    next = std::uint64_t{hash} << 32 | (!same ? 1 : count == UINT32_MAX ? count : count + 1);
  } while (!seen.compare_exchange_weak(known, next, std::memory_order_relaxed));
  return static_cast<std::uint32_t>(next);
}

// Joins the parts into one string. If there is not enough memory for a long line, only its beginning is passed on.
void hand_over(const Receiver& receiver, LogLevel level, std::span<const std::string_view> parts) noexcept {
  char few[1024];
  std::size_t length = 0;
  for (const std::string_view part : parts) {
    length += part.size();
  }
  const std::unique_ptr<char[]> many(length < sizeof(few) ? nullptr : new (std::nothrow) char[length + 1]);
  char* const line = many != nullptr ? many.get() : few;
  const std::size_t room = many != nullptr ? length : sizeof(few) - 1;
  std::size_t at = 0;
  for (const std::string_view part : parts) {
    at += part.copy(line + at, room - at);
  }
  line[at] = '\0';
  receiver.function(receiver.context, static_cast<int>(level), line);
}

void write_to_standard_error(std::span<const std::string_view> parts) noexcept {
  constexpr std::size_t kMaxParts = 6;
  iovec pieces[kMaxParts];
  const std::size_t count = std::min(parts.size(), kMaxParts);
  for (std::size_t i = 0; i < count; ++i) {
    pieces[i] = {const_cast<char*>(parts[i].data()), parts[i].size()};
  }
  for (std::size_t first = 0; first < count;) {
    const ssize_t written = writev(STDERR_FILENO, pieces + first, static_cast<int>(count - first));
    if (written == 0 || (written < 0 && errno != EINTR)) {  // bytes remain, so a second write would return 0 again
      break;
    }
    // Usually one call writes everything, but a signal can interrupt the write of a long line.
    auto left = static_cast<std::size_t>(written < 0 ? 0 : written);
    while (first < count && left >= pieces[first].iov_len) {
      left -= pieces[first++].iov_len;
    }
    if (first < count) {
      pieces[first].iov_base = static_cast<char*>(pieces[first].iov_base) + left;
      pieces[first].iov_len -= left;
    }
  }
}

void print_line(LogLevel level, std::string_view text, std::string_view more, std::string_view last,
                std::string_view end = "") noexcept {
  const CancellationDeferred deferred;  // writing is a cancellation point, and some callers must not be unwound
  const int error = errno;
  const std::string_view parts[] = {"anydml: ", text, more, last, end, "\n"};
  if (const Receiver receiver = find_receiver(); receiver.function != nullptr) {
    hand_over(receiver, level, std::span(parts).subspan(1, std::size(parts) - 2));
  } else {
    write_to_standard_error(parts);
  }
  errno = error;
}

// Whether ANYDML_LOG is unset, so that each library chooses its own default.
bool is_default() noexcept {
  try {
    const auto& settings = environment();
    return settings.ok() && !settings.value().log;
  } catch (...) {  // reading the settings ran out of memory
    return false;
  }
}

}  // namespace

void share_log_state(LogState& state) noexcept { g_state.store(&state, std::memory_order_release); }

void set_log_function(LogFunction function, void* context, LogLevel level) noexcept {
  LogState& state = *g_state.load(std::memory_order_acquire);
  const std::scoped_lock lock(process_mutex());  // a fork waits for this lock, so it never leaves an odd version behind
  state.version.fetch_add(1, std::memory_order_relaxed);
  state.function.store(function, std::memory_order_release);
  state.context.store(context, std::memory_order_release);
  state.level.store(static_cast<int>(function != nullptr ? level : LogLevel::none), std::memory_order_release);
  state.version.fetch_add(1, std::memory_order_release);
}

void show_errors() noexcept { g_show_errors.store(true, std::memory_order_relaxed); }

bool log_enabled(LogLevel level) noexcept {
  try {
    const auto& settings = environment();
    const bool shown = !settings.ok() || g_show_errors.load(std::memory_order_relaxed);
    return (settings.ok() && settings.value().log >= level) || (shown && level <= LogLevel::error) ||
           find_receiver().level >= level;
  } catch (...) {  // reading the settings ran out of memory
    return false;
  }
}

bool log_line(LogLevel level, std::string_view text, std::string_view more, std::string_view last) noexcept {
  const bool shown = log_enabled(level);
  if (shown) {
    print_line(level, text, more, last);
  }
  return shown;
}

bool log_failure(std::string_view text, std::string_view more, std::string_view last) noexcept {
  if (log_line(LogLevel::error, text, more, last)) {
    return true;
  }
  if (!is_default()) {
    return false;
  }
  const std::uint32_t count = count_again(hash_of(last, hash_of(more, hash_of(text, 2166136261U))));
  if (count == 1) {
    print_line(LogLevel::error, text, more, last);
  } else if (std::has_single_bit(count)) {
    char times[32] = " (";
    char* const begin = times + 2;
    char* const end = std::to_chars(begin, begin + 10, count).ptr;
    constexpr std::string_view kRest = " times so far)";
    kRest.copy(end, kRest.size());
    print_line(LogLevel::error, text, more, last, {times, static_cast<std::size_t>(end - times) + kRest.size()});
  }
  return std::has_single_bit(count);
}

void show_line(LogLevel level, std::string_view text) noexcept { print_line(level, text, "", ""); }

void print_to_standard_error(std::string_view text, std::string_view more, std::string_view last) noexcept {
  const CancellationDeferred deferred;
  const int error = errno;
  const std::string_view parts[] = {"anydml: ", text, more, last, "\n"};
  write_to_standard_error(parts);
  errno = error;
}

void end_if_strict(bool shown, std::string_view text, std::string_view more, std::string_view last) noexcept {
  try {
    if (const auto& settings = environment(); !settings.ok() || settings.value().debug != DebugSetting::abort) {
      return;
    }
  } catch (...) {  // reading the settings ran out of memory
    return;
  }
  if (!shown || find_receiver().function != nullptr) {
    print_to_standard_error(text, more, last);
  }
  print_to_standard_error("ANYDML_DEBUG=abort ended the program at this error");
  std::abort();
}

}  // namespace anydml
