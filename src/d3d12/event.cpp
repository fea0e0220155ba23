// SPDX-License-Identifier: MIT
#include "d3d12/event.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "base/cancellation.h"

namespace anydml {
namespace {

// The registered events, by the application's descriptor. The application may have closed the descriptor since, and the
// kernel may have reused it for a different event.
constinit std::mutex g_events_mutex;
using Events = std::unordered_map<int, std::weak_ptr<const EventDescriptor>>;
constinit Events* g_events = nullptr;     // never freed
constinit std::size_t g_most_events = 0;  // the size at which released entries are removed

// The kernel's id for an eventfd; -1 if the kernel does not report one.
long eventfd_id(int descriptor) noexcept {
  char path[48];
  std::snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", descriptor);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) {
    return -1;
  }
  long id = -1;
  char line[128];
  while (id < 0 && std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::string_view(line).starts_with("eventfd-id:")) {
      id = std::strtol(line + 11, nullptr, 10);
    }
  }
  std::fclose(file);
  return id;
}

// Whether the two descriptors refer to the same event. If the kernel cannot tell, they are treated as different.
bool is_same_event(int a, int b) noexcept {
  const CancellationDeferred deferred;
  const pid_t self = getpid();
  if (const long order = syscall(SYS_kcmp, self, self, KCMP_FILE, a, b); order >= 0) {
    return order == 0;
  }
  const long id = eventfd_id(a);  // containers often block kcmp
  return id >= 0 && id == eventfd_id(b);
}

// Writing to anything but an eventfd could block, or raise SIGPIPE on a thread that did not open the descriptor.
bool is_eventfd(int descriptor) noexcept {
  char path[48];
  char target[32] = "";
  std::snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(path, target, sizeof(target));
  return length < 0 || std::string_view(target, static_cast<std::size_t>(length)) == "anon_inode:[eventfd]";
}

std::shared_ptr<const EventDescriptor> own(int descriptor) {
  if (descriptor < 0) {
    return nullptr;
  }
  try {
    return std::make_shared<const EventDescriptor>(descriptor);
  } catch (...) {
    close(descriptor);
    throw;
  }
}

void remember(int number, const std::shared_ptr<const EventDescriptor>& event) {
  if (g_events == nullptr) {
    g_events = new Events;
    g_most_events = 64;
  }
  if (g_events->size() >= g_most_events) {
    std::erase_if(*g_events, [](const auto& known) { return known.second.expired(); });
    g_most_events = 64 + 2 * g_events->size();
  }
  (*g_events)[number] = event;
}

}  // namespace

EventDescriptor::~EventDescriptor() {
  const CancellationDeferred deferred;
  close(descriptor_);
}

void EventDescriptor::set() const noexcept {
  const CancellationDeferred deferred;
  // An event with a full counter is already set, and waiting for room in the counter could block forever.
  pollfd ready{.fd = descriptor_, .events = POLLOUT, .revents = 0};
  if (poll(&ready, 1, 0) == 1) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(descriptor_, &one, sizeof(one));
  }
}

void EventDescriptor::wait() const noexcept {
  const CancellationDeferred deferred;
  pollfd ready{.fd = descriptor_, .events = POLLIN, .revents = 0};
  while (poll(&ready, 1, -1) < 0 && errno == EINTR) {
  }
}

std::shared_ptr<const EventDescriptor> find_event(HANDLE event) {
  const auto given = reinterpret_cast<std::intptr_t>(event);
  if (given < 0 || given > INT32_MAX) {
    errno = EBADF;
    return nullptr;
  }
  const int number = static_cast<int>(given);
  const std::scoped_lock lock(g_events_mutex);
  if (g_events != nullptr) {
    if (const auto known = g_events->find(number); known != g_events->end()) {
      if (auto shared = known->second.lock(); shared != nullptr && is_same_event(number, shared->number())) {
        return shared;
      }
    }
  }
  auto created = own(fcntl(number, F_DUPFD_CLOEXEC, 0));
  if (created != nullptr && !is_eventfd(created->number())) {
    created.reset();
    errno = EBADF;
  }
  if (created != nullptr) {
    remember(number, created);
  }
  return created;
}

std::shared_ptr<const EventDescriptor> make_event() { return own(eventfd(0, EFD_CLOEXEC)); }

void EventTarget::arrive() noexcept {
  if (awaited_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    event_->set();
    event_.reset();
  }
}

}  // namespace anydml
