// SPDX-License-Identifier: MIT
// Memory between two inaccessible pages, so that an access one byte outside of it crashes the program. The text of the
// running case is then printed.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace anydml::test {

class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    bytes_ = (bytes + page_ - 1) / page_ * page_;
    whole_ = mmap(nullptr, bytes_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (whole_ == MAP_FAILED || mprotect(begin(), bytes_, PROT_READ | PROT_WRITE) != 0) {
      throw std::runtime_error("cannot allocate memory between guard pages");
    }
  }
  ~GuardedMemory() { munmap(whole_, bytes_ + 2 * page_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  [[nodiscard]] std::byte* begin() const { return static_cast<std::byte*>(whole_) + page_; }
  [[nodiscard]] std::byte* end() const { return begin() + bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  std::size_t page_;
  std::size_t bytes_;
  void* whole_;
};

// The running case, printed if it touches a guard page.
inline char g_running_case[1024] = {};

inline void print_running_case() {
  static constexpr char kBefore[] = "\ncrashed in: ";
  static_cast<void>(!write(STDERR_FILENO, kBefore, sizeof(kBefore) - 1));
  static_cast<void>(!write(STDERR_FILENO, g_running_case, strnlen(g_running_case, sizeof(g_running_case))));
  static_cast<void>(!write(STDERR_FILENO, "\n", 1));
}

inline void name_case_on_crash() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(print_running_case);  // after the sanitizer's own report
#else
  struct sigaction action = {};
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  action.sa_handler = [](int number) {
    print_running_case();
    raise(number);
  };
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    sigaction(number, &action, nullptr);
  }
#endif
}

inline void note_case(const char* text) { std::snprintf(g_running_case, sizeof(g_running_case), "%s", text); }

}  // namespace anydml::test
