// SPDX-License-Identifier: MIT
#include "d3d12/live_objects.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/log.h"
#include "text/format.h"

namespace anydml {
namespace {

// Never freed, because threads may still run while the process exits.
constinit std::mutex g_known_mutex;
constinit std::vector<LiveObjects*>* g_known = nullptr;
constinit pid_t g_process = 0;

D3D12_MESSAGE_ID id_of(std::string_view type) {
  constexpr std::pair<std::string_view, int> kIds[] = {
#define ANYDML_LIVE_OBJECT(interface, id) {interface, id},
#include "d3d12/live_objects.def"
#undef ANYDML_LIVE_OBJECT
  };
  const auto* const found = std::ranges::find(kIds, type, [](const auto& known) { return known.first; });
  return found != std::end(kIds) ? static_cast<D3D12_MESSAGE_ID>(found->second) : D3D12_MESSAGE_ID_LIVE_OBJECT_SUMMARY;
}

// A thread that was still running at exit may hold a lock for a moment, or forever.
bool lock_soon(std::unique_lock<std::mutex>& lock) {
  for (int tries = 0; tries < 100; ++tries) {
    if (lock.try_lock()) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

__attribute__((destructor)) void report_when_the_process_exits() { LiveObjects::report_at_exit(); }

}  // namespace

LiveObjects::~LiveObjects() {
  if (known_) {
    const std::scoped_lock lock(g_known_mutex);
    std::erase(*g_known, this);
  }
}

bool LiveObjects::add(const LiveObject& object) noexcept {
  try {
    const std::scoped_lock lock(mutex_);
    if (!known_) {
      const std::scoped_lock known_lock(g_known_mutex);
      if (g_known == nullptr) {
        g_known = new std::vector<LiveObjects*>;
        g_process = getpid();
      }
      g_known->push_back(this);
      known_ = true;
    }
    objects_.emplace(object.object, std::pair(++last_, object));
    return true;
  } catch (...) {
    return false;
  }
}

void LiveObjects::remove(const void* object) noexcept {
  const std::scoped_lock lock(mutex_);
  objects_.erase(object);
}

std::vector<LiveObjects::Line> LiveObjects::list() {
  const std::scoped_lock lock(mutex_);
  return list_locked();
}

std::vector<LiveObjects::Line> LiveObjects::list_locked() const {
  std::vector<const std::pair<std::uint64_t, LiveObject>*> ordered;
  std::uint32_t internal = internal_.load(std::memory_order_relaxed);  // references to the device
  for (const auto& [key, entry] : objects_) {
    ordered.push_back(&entry);
    const std::string_view type = entry.second.type;
    internal += (type.starts_with("ID3D12") && type != "ID3D12Device") || type == "IDMLDevice" ? 1U : 0U;
  }
  std::ranges::sort(ordered, {}, [](const auto* entry) { return entry->first; });
  std::vector<Line> lines;
  for (const auto* entry : ordered) {
    const LiveObject& object = entry->second;
    LiveState state{};
    object.describe(object.object, state);
    if (object.type == "ID3D12Device") {
      state.references -= std::min<ULONG>(state.references, internal);
    }
    if (state.references == 0) {  // the object is being destroyed, or the application has released it
      continue;
    }
    const std::string name = state.name[0] != '\0' ? format_text(", Name: {}", state.name) : std::string();
    lines.push_back({id_of(object.type), std::string(object.type),
                     format_text("Live {} at {:#x}{}, Refcount: {}", object.type,
                                 reinterpret_cast<std::uintptr_t>(object.address), name, state.references)});
  }
  return lines;
}

std::string summary_of(const std::vector<LiveObjects::Line>& lines) {
  std::map<std::string, std::size_t> counts;
  for (const auto& line : lines) {
    ++counts[line.type];
  }
  std::string text = "Live objects: ";
  for (const auto& [type, count] : counts) {
    text += format_text("{}{} {}", text.ends_with(": ") ? "" : ", ", count, type);
  }
  return counts.empty() ? text + "none" : text;
}

void LiveObjects::report_at_exit() noexcept {
  constexpr std::size_t kMaxLines = 100;
  if (g_known == nullptr || g_process != getpid()) {  // in a forked child, locks that other threads held stay locked
    return;
  }
  try {
    std::unique_lock known_lock(g_known_mutex, std::defer_lock);
    if (!lock_soon(known_lock)) {
      return;
    }
    std::vector<Line> lines;
    for (LiveObjects* objects : *g_known) {
      std::unique_lock lock(objects->mutex_, std::defer_lock);
      if (lock_soon(lock)) {
        std::ranges::move(objects->list_locked(), std::back_inserter(lines));
      }
    }
    if (lines.empty()) {
      return;
    }
    print_to_standard_error("the program exits before it has released these objects:");
    for (std::size_t i = 0; i < std::min(lines.size(), kMaxLines); ++i) {
      print_to_standard_error(lines[i].text);
    }
    print_to_standard_error(summary_of(lines));
  } catch (...) {  // no memory for the report
  }
}

}  // namespace anydml
