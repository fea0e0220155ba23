// SPDX-License-Identifier: MIT
// A device's most recent work, for ID3D12DeviceRemovedExtendedData: the commands in the last submissions, and how many
// of them were completed when the device, or a DirectML device on it, was removed.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "d3d12/headers.h"

namespace anydml {

// The application's settings for the devices that it creates afterwards.
struct DredSettings {
  std::atomic<D3D12_DRED_ENABLEMENT> breadcrumbs{D3D12_DRED_ENABLEMENT_SYSTEM_CONTROLLED};
  std::atomic<D3D12_DRED_ENABLEMENT> contexts{D3D12_DRED_ENABLEMENT_SYSTEM_CONTROLLED};
  std::atomic<D3D12_DRED_ENABLEMENT> page_faults{D3D12_DRED_ENABLEMENT_SYSTEM_CONTROLLED};
};
extern DredSettings g_dred_settings;

// A name in the forms that DRED returns: null pointers if it is empty.
struct DredName {
  explicit DredName(std::string text);
  [[nodiscard]] const char* narrow_text() const { return narrow.empty() ? nullptr : narrow.c_str(); }
  [[nodiscard]] const wchar_t* wide_text() const { return wide.empty() ? nullptr : wide.c_str(); }

  std::string narrow;
  std::wstring wide;
};

// The commands in one list of a submission.
struct TrailOfList {
  DredName list_name;
  DredName queue_name;
  ID3D12GraphicsCommandList* list = nullptr;
  ID3D12CommandQueue* queue = nullptr;
  std::vector<D3D12_AUTO_BREADCRUMB_OP> commands = {};
  std::vector<std::pair<UINT, std::wstring>> contexts = {};  // by the index of the command
  // For each piece of the list's work: the number of commands that are complete once the piece is complete.
  std::vector<std::uint32_t> completed_after = {};
  std::uint32_t first_work = 0;              // index of the list's first piece in the submission's work
  std::uint32_t first_refused = UINT32_MAX;  // the first command that DirectML refused to run
};

// The commands in one submission. The thread that runs the submission counts the work as it completes.
class Trail {
 public:
  // If the trail is asynchronous, all of the work counts as completed at once, some time after the device has received
  // it.
  explicit Trail(bool asynchronous) : asynchronous_(asynchronous) {}

  std::deque<TrailOfList> lists;  // Breadcrumbs adds them, under its lock, before the submission runs

  // Notes that the device has received the next piece of work.
  void advance() noexcept { given_.fetch_add(1, std::memory_order_relaxed); }
  void complete() noexcept { is_complete_.store(true, std::memory_order_relaxed); }
  // Notes that the current piece of work removed a DirectML device. Neither this piece nor any later one counts as
  // completed.
  void stop() noexcept;
  [[nodiscard]] std::uint32_t completed_in(const TrailOfList& list) const noexcept;

  // Sets the trail that this thread is working on, which may be null.
  class Running {
   public:
    explicit Running(Trail* trail) noexcept : trail_(trail) {
      if (trail_ != nullptr) {
        set(trail_);
      }
    }
    ~Running() {
      if (trail_ != nullptr) {
        set(nullptr);
      }
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    static void set(Trail* trail) noexcept;
    Trail* const trail_;
  };
  static void stop_running() noexcept;

 private:
  const bool asynchronous_;
  std::atomic<std::uint32_t> given_{0};
  std::atomic<std::uint32_t> stopped_at_{UINT32_MAX};
  std::atomic<bool> is_complete_{false};
};

class Breadcrumbs {
 public:
  explicit Breadcrumbs(bool asynchronous);

  [[nodiscard]] bool forced_on() const { return breadcrumbs_ == D3D12_DRED_ENABLEMENT_FORCED_ON; }
  [[nodiscard]] bool forced_off() const { return breadcrumbs_ == D3D12_DRED_ENABLEMENT_FORCED_OFF; }
  [[nodiscard]] bool has_contexts() const { return contexts_ != D3D12_DRED_ENABLEMENT_FORCED_OFF; }
  [[nodiscard]] bool has_page_faults(bool debugging) const {
    return page_faults_ == D3D12_DRED_ENABLEMENT_FORCED_ON ||
           (debugging && page_faults_ != D3D12_DRED_ENABLEMENT_FORCED_OFF);
  }

  // Adds a list to the trail. The first list creates the trail.
  void add(std::shared_ptr<Trail>& trail, TrailOfList list);

  // The head of a linked list of the last command lists, newest first; null if there are none. It stays valid as long
  // as this object. It describes the state at the first call with this number of removals.
  const D3D12_AUTO_BREADCRUMB_NODE1* collect(std::uint32_t removals);
  const D3D12_AUTO_BREADCRUMB_NODE* collect_without_contexts(std::uint32_t removals);
  // The head of a linked list of released buffers, given their names; null if there are none.
  const D3D12_DRED_ALLOCATION_NODE1* collect_freed(std::vector<std::string> names);
  const D3D12_DRED_ALLOCATION_NODE* collect_freed_without_objects(std::vector<std::string> names);

 private:
  static constexpr std::size_t kMaxTrails = 16;

  struct Collected {
    std::uint32_t removals = 0;
    std::vector<std::shared_ptr<Trail>> trails = {};
    std::deque<UINT> completed = {};
    std::deque<std::vector<D3D12_DRED_BREADCRUMB_CONTEXT>> contexts = {};
    std::vector<D3D12_AUTO_BREADCRUMB_NODE1> nodes1 = {};
    std::vector<D3D12_AUTO_BREADCRUMB_NODE> nodes = {};
  };
  struct Freed {
    std::deque<DredName> names;
    std::vector<D3D12_DRED_ALLOCATION_NODE1> nodes1;
    std::vector<D3D12_DRED_ALLOCATION_NODE> nodes;
  };
  const Collected& collected(std::uint32_t removals);
  const Freed& freed(std::vector<std::string> names);

  const bool asynchronous_;
  const D3D12_DRED_ENABLEMENT breadcrumbs_;
  const D3D12_DRED_ENABLEMENT contexts_;
  const D3D12_DRED_ENABLEMENT page_faults_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<Trail>> trails_;
  std::list<Collected> collected_;  // never changed once the application has seen them
  std::list<Freed> freed_;
};

}  // namespace anydml
