// SPDX-License-Identifier: MIT
#include "capi/boundary.h"

#include <pthread.h>

#include <cstdio>
#include <new>
#include <optional>

#include "base/log.h"

namespace anydml {
namespace {

struct Message {
  char text[1024];
};

// The string that anydml_last_error returns: the thread's own text, or one of the constants here. Only pointers are in
// thread-local storage, because it is scarce and exists for every thread from the start (-ftls-model=initial-exec).
// glibc would allocate a larger thread-local object at its first use, and would terminate the process if memory ran
// out.
constinit thread_local const char* t_last_error = "";
constinit thread_local Message* t_message = nullptr;

// Frees a thread's text when the thread ends. A later call allocates a new one.
const std::optional<pthread_key_t> g_end_of_thread = [] {
  pthread_key_t key{};
  const int failed = pthread_key_create(&key, [](void* message) {
    t_message = nullptr;
    t_last_error = "";
    delete static_cast<Message*>(message);
  });
  return failed != 0 ? std::nullopt : std::optional(key);
}();

Message* message_of_thread() noexcept {
  if (t_message == nullptr && g_end_of_thread) {
    auto* created = new (std::nothrow) Message;
    if (created != nullptr && pthread_setspecific(*g_end_of_thread, created) == 0) {
      t_message = created;
    } else {
      delete created;
    }
  }
  return t_message;
}

}  // namespace

const char* keep_last_error(const char* message) noexcept {
  Message* const own = message_of_thread();
  if (own == nullptr) {
    t_last_error = "out of memory: the call failed, and there was no memory for an error message";
    return message;
  }
  std::snprintf(own->text, sizeof(own->text), "%s", message);
  // Messages contain names from the caller, which must not start a new line in a log.
  for (char* letter = own->text; *letter != '\0'; ++letter) {
    if (static_cast<unsigned char>(*letter) < ' ') {
      *letter = '?';
    }
  }
  t_last_error = own->text;
  return own->text;
}

bool set_last_error(const char* message) noexcept { return log_line(LogLevel::error, keep_last_error(message)); }

void set_out_of_memory() noexcept {
  t_last_error = "out of memory: an allocation of this call failed; nothing was written";
  log_line(LogLevel::error, t_last_error);
}

const char* last_error() noexcept { return t_last_error; }

}  // namespace anydml
