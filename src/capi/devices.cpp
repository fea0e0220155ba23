// SPDX-License-Identifier: MIT
#include "capi/devices.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "backend/cpu/cpu_backend.h"
#include "base/environment.h"
#include "base/log.h"
#include "base/process.h"
#include "base/reserve.h"
#include "capi/plugins.h"
#include "text/format.h"

namespace anydml {
namespace {

// Every device in the process, in the order that users see.
struct DeviceList {
  std::vector<const Device*> devices;
  std::vector<std::string> notes;  // reasons why devices that users may request are unavailable
};

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && contains_ignoring_case(a, b);
}

// Exact names are compared first, so that "cpu" never matches a description that contains these letters. After that,
// "cuda" matches "cuda:0".
std::vector<const Device*>::const_iterator search(const std::vector<const Device*>& devices, std::string_view name) {
  const auto first = [&](const auto& fits) { return std::ranges::find_if(devices, fits); };
  auto found = first([name](const Device* device) { return same_ignoring_case(device->info.name, name); });
  if (found == devices.end()) {
    found = first([name](const Device* device) {
      const std::string_view full = device->info.name;
      return same_ignoring_case(full.substr(0, full.find(':')), name);
    });
  }
  return found != devices.end()
             ? found
             : first([name](const Device* device) { return contains_ignoring_case(device->info.description, name); });
}

Error no_such_device(std::string_view wanted_by, std::string_view name, const DeviceList& list) {
  std::string known;
  for (const Device* device : list.devices) {
    known += format_text("{}{} ({})", known.empty() ? "" : ", ", device->info.name, device->info.description);
  }
  std::string why;
  for (const std::string& note : list.notes) {
    why += "; " + note;
  }
  return {ErrorKind::invalid_argument,
          format_text("{} is '{}'; expected the name or a part of the description of a device: {}{}", wanted_by, name,
                      known, why)};
}

// The number passed to anydml_set_threads, or 0 if the settings apply.
std::atomic<std::uint32_t> g_threads = 0;

// The device is never closed, because threads may outlive main.
Result<const Device*> open_device(const BackendTable& table, std::uint32_t index, const Environment& settings) {
  const std::uint32_t threads = g_threads.load(std::memory_order_relaxed);
  const BackendSettings given{.threads = threads != 0 ? threads : settings.threads,
                              .cpu_target = settings.cpu_target.c_str()};
  auto device = std::make_unique<Device>();
  device->backend = &table;
  ANYDML_TRY(from_backend("opening", table, table.open(index, &given, &device->handle)));
  table.describe(device->handle, &device->info);
  device->public_info = {.name = device->info.name,
                         .description = device->info.description,
                         .memory_bytes = device->info.memory_bytes,
                         .threads = device->info.threads,
                         .own_memory = device->info.unified_memory != 0 ? 0U : 1U};
  device->core = {.backend = device->backend, .handle = device->handle, .info = &device->info};
  if (device->info.asynchronous == 0) {
    ANYDML_TRY(from_backend("opening", table, table.create_queue(device->handle, &device->shared_queue)));
  }
  log_line(LogLevel::info, format_text("device {}: {}", device->info.name, device->info.description));
  return device.release();
}

const Device* g_cpu = nullptr;  // guarded by the process mutex

Result<const Device*> open_cpu() {
  const std::scoped_lock lock(process_mutex());
  if (g_cpu == nullptr) {
    const auto& settings = environment();
    ANYDML_TRY(settings);
    const auto opened = open_device(cpu_backend(), 0, settings.value());
    if (!opened && !settings.value().cpu_target.empty()) {
      show_errors();
    }
    ANYDML_TRY(opened);
    g_cpu = opened.value();
  }
  return g_cpu;
}

// The lock for loading plugins. It is separate from the process mutex, because a fork locks the process mutex, and a
// plugin may fork (CUDA starts a helper if its kernel module is not loaded) or wait for a thread that forks.
std::mutex g_probe_mutex;
std::atomic<bool> g_probing = false;
std::atomic<bool> g_forked_in_probe = false;

// If a child is forked while plugins are being loaded, it has no thread to finish the loading, and locks held by the
// plugins stay locked. The child runs without plugins.
[[maybe_unused]] const int g_registered = pthread_atfork(nullptr, nullptr, [] {
  new (&g_probe_mutex) std::mutex;  // unconditionally, because it may have been locked just before the flag was set
  if (g_probing.exchange(false)) {
    g_forked_in_probe = true;
  }
});

class ProbeLock {
 public:
  ProbeLock() : lock_(g_probe_mutex) { g_probing = true; }
  ~ProbeLock() { g_probing = false; }
  ProbeLock(const ProbeLock&) = delete;
  ProbeLock& operator=(const ProbeLock&) = delete;

 private:
  const std::scoped_lock<std::mutex> lock_;
};

Result<Plugins> plugins_of(const Environment& settings) {
  if (!g_forked_in_probe) {
    return load_plugins(settings.plugins);
  }
  Plugins none;
  none.notes.emplace_back("this process was forked while its parent loaded plugins, and has none");
  return none;
}

// Called under a ProbeLock. If a plugin's device fails, the reason becomes a note, and the other devices remain
// available.
Result<std::unique_ptr<DeviceList>> open_devices() {
  const auto cpu = open_cpu();
  ANYDML_TRY(cpu);
  const Environment& settings = environment().value();
  auto list = std::make_unique<DeviceList>();
  list->devices.push_back(cpu.value());
  auto plugins = plugins_of(settings);
  ANYDML_TRY(plugins);
  list->notes = std::move(plugins.value().notes);
  for (const BackendTable* table : plugins.value().backends) {
    for (std::uint32_t i = 0; i < table->device_count(); ++i) {
      const auto device = open_device(*table, i, settings);
      if (device) {
        list->devices.push_back(device.value());
      } else {
        list->notes.push_back(device.error().message);
        log_line(LogLevel::info, device.error().message);
      }
    }
  }
  if (!settings.adapter.empty()) {
    const auto found = search(list->devices, settings.adapter);
    if (found == list->devices.end()) {
      show_errors();
      return no_such_device("environment: ANYDML_ADAPTER", settings.adapter, *list);
    }
    const auto chosen = list->devices.begin() + (found - list->devices.cbegin());
    std::rotate(list->devices.begin(), chosen, chosen + 1);
  }
  return list;
}

std::atomic<const DeviceList*> g_list = nullptr;

Result<const DeviceList*> device_list() {
  if (const auto* known = g_list.load(std::memory_order_acquire); known != nullptr) {
    return known;
  }
  const ProbeLock lock;
  if (g_list.load(std::memory_order_relaxed) == nullptr) {
    auto opened = open_devices();
    ANYDML_TRY(opened);
    g_list.store(opened.value().release(), std::memory_order_release);
  }
  return g_list.load(std::memory_order_relaxed);
}

}  // namespace

Result<const std::vector<const Device*>*> devices() {
  const auto list = device_list();
  ANYDML_TRY(list);
  return &list.value()->devices;
}

std::span<const Device* const> opened_devices() {
  const auto* const known = g_list.load(std::memory_order_acquire);
  return known != nullptr ? std::span<const Device* const>(known->devices) : std::span<const Device* const>();
}

Result<const Device*> cpu_device() { return open_cpu(); }

Status set_threads(std::uint32_t count) {
  constexpr std::uint32_t kMax = 1024;  // the same limit as for ANYDML_THREADS
  const auto wrong = [](std::string text) {
    return Error{ErrorKind::invalid_argument, "anydml_set_threads: " + std::move(text)};
  };
  if (count == 0 || count > kMax) {
    return wrong(format_text("count is {}; expected 1 to {}", count, kMax));
  }
  const std::scoped_lock lock(process_mutex());
  if (g_cpu != nullptr && g_cpu->info.threads != count) {
    return wrong(
        format_text("count is {}, but the CPU device already runs with {}; expected the call before the first "
                    "one that uses a device",
                    count, g_cpu->info.threads));
  }
  g_threads.store(count, std::memory_order_relaxed);
  return {};
}

Result<const Device*> default_device() {
  static std::atomic<const Device*> process = nullptr;
  if (const Device* known = process.load(std::memory_order_acquire); known != nullptr) {
    return known;
  }
  const auto& settings = environment();
  ANYDML_TRY(settings);
  const Device* chosen = nullptr;
  if (settings.value().adapter.empty() || same_ignoring_case(settings.value().adapter, cpu_backend().name)) {
    const auto cpu = cpu_device();
    ANYDML_TRY(cpu);
    chosen = cpu.value();
  } else {
    const auto all = devices();
    ANYDML_TRY(all);
    chosen = all.value()->front();
  }
  process.store(chosen, std::memory_order_release);
  return chosen;
}

Result<const Device*> find_device(std::string_view name) {
  const auto list = device_list();
  ANYDML_TRY(list);
  const auto found = search(list.value()->devices, name);
  if (name.empty() || found == list.value()->devices.end()) {
    return no_such_device("anydml_find_device: name", name, *list.value());
  }
  return *found;
}

Result<BackendQueue*> Device::take_queue() const {
  if (shared_queue != nullptr) {
    return shared_queue;
  }
  {
    const std::scoped_lock lock(queues_mutex);
    if (!queues.empty()) {
      BackendQueue* queue = queues.back();
      queues.pop_back();
      return queue;
    }
    reserve_total(queues, ++queue_count);  // so that returning a queue cannot fail
  }
  BackendQueue* queue = nullptr;
  ANYDML_TRY(from_backend("opening a queue", *backend, backend->create_queue(handle, &queue)));
  return queue;
}

void Device::give_queue_back(BackendQueue* queue) const noexcept {
  if (queue == shared_queue) {
    return;
  }
  const std::scoped_lock lock(queues_mutex);
  queues.push_back(queue);
}

}  // namespace anydml
