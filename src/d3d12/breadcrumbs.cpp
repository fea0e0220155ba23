// SPDX-License-Identifier: MIT
#include "d3d12/breadcrumbs.h"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "d3d12/commands.h"

namespace anydml {

constinit DredSettings g_dred_settings;

namespace {

constinit thread_local Trail* t_running = nullptr;

std::wstring widened(std::string_view text) {
  std::wstring wide;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = printable_bytes(text.substr(at));
    if (bytes < 2) {
      wide.push_back(static_cast<unsigned char>(text[at++]));
      continue;
    }
    std::uint32_t letter = static_cast<unsigned char>(text[at]) & (0xffU >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
      letter = letter << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
    }
    wide.push_back(static_cast<wchar_t>(letter));
    at += bytes;
  }
  return wide;
}

// Links the nodes in the order of the array.
template <class Node>
const Node* linked(std::vector<Node>& nodes) {
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    nodes[i].pNext = &nodes[i + 1];
  }
  return nodes.empty() ? nullptr : nodes.data();
}

// The operation that DRED lists for a command; empty if DRED does not list it.
std::optional<D3D12_AUTO_BREADCRUMB_OP> op_of(const Command& command) {
  return std::visit(
      [](const auto& one) -> std::optional<D3D12_AUTO_BREADCRUMB_OP> {
        using Kind = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<Kind, CopyCommand>) {
          return D3D12_AUTO_BREADCRUMB_OP_COPYBUFFERREGION;
        } else if constexpr (std::is_same_v<Kind, ClearCommand>) {
          return D3D12_AUTO_BREADCRUMB_OP_CLEARUNORDEREDACCESSVIEW;
        } else if constexpr (std::is_same_v<Kind, ResolveCommand>) {
          return D3D12_AUTO_BREADCRUMB_OP_RESOLVEQUERYDATA;
        } else if constexpr (std::is_same_v<Kind, DispatchCommand>) {
          return D3D12_AUTO_BREADCRUMB_OP_DISPATCH;
        } else {
          return std::nullopt;
        }
      },
      command);
}

}  // namespace

DredName::DredName(std::string text) : narrow(std::move(text)), wide(widened(narrow)) {}

void Trail::stop() noexcept {
  std::uint32_t never = UINT32_MAX;
  stopped_at_.compare_exchange_strong(never, given_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

std::uint32_t Trail::completed_in(const TrailOfList& list) const noexcept {
  const bool is_completed = !asynchronous_ || is_complete_.load(std::memory_order_relaxed);
  const std::uint32_t work =
      std::min(is_completed ? given_.load(std::memory_order_relaxed) : 0, stopped_at_.load(std::memory_order_relaxed));
  if (list.completed_after.empty()) {  // barriers only, or everything was refused
    const auto all = static_cast<std::uint32_t>(list.commands.size());
    return work >= list.first_work ? std::min(all, list.first_refused) : 0;
  }
  if (work <= list.first_work) {
    return 0;
  }
  const std::size_t own = std::min<std::size_t>(work - list.first_work, list.completed_after.size());
  return std::min(list.completed_after[own - 1], list.first_refused);
}

void Trail::Running::set(Trail* trail) noexcept { t_running = trail; }

void Trail::stop_running() noexcept {
  if (t_running != nullptr) {
    t_running->stop();
  }
}

Breadcrumbs::Breadcrumbs(bool asynchronous)
    : asynchronous_(asynchronous),
      breadcrumbs_(g_dred_settings.breadcrumbs),
      contexts_(g_dred_settings.contexts),
      page_faults_(g_dred_settings.page_faults) {}

void Breadcrumbs::add(std::shared_ptr<Trail>& trail, TrailOfList list) {
  const std::scoped_lock lock(mutex_);
  if (trail == nullptr) {
    trail = std::make_shared<Trail>(asynchronous_);
    trails_.push_back(trail);
    if (trails_.size() > kMaxTrails) {
      trails_.pop_front();
    }
  }
  trail->lists.push_back(std::move(list));
}

const Breadcrumbs::Collected& Breadcrumbs::collected(std::uint32_t removals) {
  if (!collected_.empty() && collected_.back().removals == removals) {
    return collected_.back();
  }
  Collected found{.removals = removals, .trails = {trails_.rbegin(), trails_.rend()}};
  for (const auto& trail : found.trails) {
    for (auto list = trail->lists.rbegin(); list != trail->lists.rend(); ++list) {
      auto& contexts = found.contexts.emplace_back();
      for (const auto& [index, text] : list->contexts) {
        contexts.push_back({.BreadcrumbIndex = index, .pContextString = text.c_str()});
      }
      const UINT& completed = found.completed.emplace_back(trail->completed_in(*list));
      const auto count = static_cast<UINT>(list->commands.size());
      found.nodes.push_back({list->list_name.narrow_text(), list->list_name.wide_text(), list->queue_name.narrow_text(),
                             list->queue_name.wide_text(), list->list, list->queue, count, &completed,
                             list->commands.data(), nullptr});
      found.nodes1.push_back({list->list_name.narrow_text(), list->list_name.wide_text(),
                              list->queue_name.narrow_text(), list->queue_name.wide_text(), list->list, list->queue,
                              count, &completed, list->commands.data(), nullptr, static_cast<UINT>(contexts.size()),
                              contexts.data()});
    }
  }
  Collected& kept = collected_.emplace_back(std::move(found));
  linked(kept.nodes);
  linked(kept.nodes1);
  return kept;
}

const D3D12_AUTO_BREADCRUMB_NODE1* Breadcrumbs::collect(std::uint32_t removals) {
  const std::scoped_lock lock(mutex_);
  const auto& nodes = collected(removals).nodes1;
  return nodes.empty() ? nullptr : nodes.data();
}

const D3D12_AUTO_BREADCRUMB_NODE* Breadcrumbs::collect_without_contexts(std::uint32_t removals) {
  const std::scoped_lock lock(mutex_);
  const auto& nodes = collected(removals).nodes;
  return nodes.empty() ? nullptr : nodes.data();
}

const Breadcrumbs::Freed& Breadcrumbs::freed(std::vector<std::string> names) {
  Freed& kept = freed_.emplace_back();
  for (std::string& name : names) {
    const DredName& stored = kept.names.emplace_back(std::move(name));
    kept.nodes.push_back({stored.narrow_text(), stored.wide_text(), D3D12_DRED_ALLOCATION_TYPE_RESOURCE, nullptr});
    kept.nodes1.push_back(
        {stored.narrow_text(), stored.wide_text(), D3D12_DRED_ALLOCATION_TYPE_RESOURCE, nullptr, nullptr});
  }
  linked(kept.nodes);
  linked(kept.nodes1);
  return kept;
}

const D3D12_DRED_ALLOCATION_NODE1* Breadcrumbs::collect_freed(std::vector<std::string> names) {
  const std::scoped_lock lock(mutex_);
  const auto& nodes = freed(std::move(names)).nodes1;
  return nodes.empty() ? nullptr : nodes.data();
}

const D3D12_DRED_ALLOCATION_NODE* Breadcrumbs::collect_freed_without_objects(std::vector<std::string> names) {
  const std::scoped_lock lock(mutex_);
  const auto& nodes = freed(std::move(names)).nodes;
  return nodes.empty() ? nullptr : nodes.data();
}

// Compares the commands in the most recently added list with its work: a dispatch that DirectML refused has no work.
void Submission::leave_breadcrumbs(Breadcrumbs& breadcrumbs, TrailOfList list) {
  std::size_t at = 0;
  if (trail_ != nullptr) {
    const TrailOfList& before = trail_->lists.back();
    at = before.first_work + before.completed_after.size();
  }
  list.first_work = static_cast<std::uint32_t>(at);
  const Recording& recording = *recordings_.back();
  auto barrier = recording.debug.barriers.begin();  // empty unless the debug layer is on
  const auto add_barriers_before = [&](std::size_t command) {
    if (barrier != recording.debug.barriers.end() && barrier->next_command <= command) {
      list.commands.push_back(D3D12_AUTO_BREADCRUMB_OP_RESOURCEBARRIER);  // one for all adjacent barriers
    }
    while (barrier != recording.debug.barriers.end() && barrier->next_command <= command) {
      ++barrier;
    }
  };
  for (std::size_t number = 0; number < recording.commands.size(); ++number) {
    add_barriers_before(number);
    const Command& command = recording.commands[number];
    const auto index = static_cast<UINT>(list.commands.size());
    const auto op = op_of(command);
    if (op) {
      list.commands.push_back(*op);
    }
    bool has_work = op.has_value() || std::holds_alternative<TimestampCommand>(command);
    if (const auto* recorded = std::get_if<DispatchCommand>(&command); recorded != nullptr) {
      const auto* dispatch = at < work_.size() ? std::get_if<Dispatch>(&work_[at]) : nullptr;
      has_work = dispatch != nullptr && dispatch->dispatch == recorded->dispatch.get();
      if (!has_work) {
        list.first_refused = std::min(list.first_refused, index);
      }
      if (breadcrumbs.has_contexts()) {
        list.contexts.emplace_back(index, widened(dispatch_label(*recorded->dispatch.get())));
      }
    }
    if (has_work) {
      list.completed_after.push_back(static_cast<std::uint32_t>(list.commands.size()));
      ++at;
    }
  }
  add_barriers_before(recording.commands.size());
  if (!list.completed_after.empty()) {
    list.completed_after.back() = static_cast<std::uint32_t>(list.commands.size());
  }
  breadcrumbs.add(trail_, std::move(list));
}

}  // namespace anydml
