// SPDX-License-Identifier: MIT
#include "d3d12/debug/builder.h"

#include <mutex>
#include <set>
#include <utility>

#include "d3d12/commands.h"
#include "d3d12/debug/tracker.h"
#include "text/format.h"

namespace anydml {

// Each role is stored once, because the names from the application's operators recur in every execution.
const char* role_of(std::string_view name) {
  static std::mutex mutex;
  static auto* const roles = new std::set<std::string, std::less<>>;  // never freed: messages may be posted at exit
  std::string role = "its ";
  role += name;
  const std::scoped_lock lock(mutex);
  return roles->insert(std::move(role)).first->c_str();
}

ExecutionBuilder::ExecutionBuilder(const ExecutionId& id, std::string queue_name)
    : execution_(std::make_shared<DebugExecution>()) {
  execution_->id = id;
  execution_->queue_name = std::move(queue_name);
}

void ExecutionBuilder::begin_list(const Recording& recording, const std::string& name) {
  execution_->list_names.push_back(name.empty() ? name : "list" + name);
  recording_ = &recording.debug;
  commands_ = recording.commands.size();
  next_barrier_ = 0;
  const std::shared_ptr<AllocatorUse>& allocator = recording.debug.allocator;
  if (allocator == nullptr) {
    add_op(DebugOp::Kind::unseen, 0, 0);
    return;
  }
  const bool released = allocator->released.load(std::memory_order_acquire);
  if (released || allocator->resets.load(std::memory_order_acquire) != recording.debug.resets) {
    report(
        DebugMessage::executed_after_reset,
        format_text("ID3D12CommandQueue::ExecuteCommandLists{}: ppCommandLists[{}]{}: its command allocator{} was {} "
                    "after the list was recorded; expected the allocator to keep the commands until they have run",
                    execution_->queue_name, execution_->list_names.size() - 1, name, recording.debug.allocator_name,
                    released ? "released" : "reset"));
  } else {
    use(DebugObject::Kind::allocator, allocator.get());
  }
}

void ExecutionBuilder::add_op(DebugOp::Kind kind, std::size_t command, std::size_t index) {
  execution_->ops.push_back({.kind = kind,
                             .list = static_cast<std::uint32_t>(execution_->list_names.size() - 1),
                             .command = static_cast<std::uint32_t>(command + 1),
                             .index = static_cast<std::uint32_t>(index),
                             .first_access = static_cast<std::uint32_t>(execution_->accesses.size()),
                             .access_count = 0});
}

void ExecutionBuilder::add_barriers(std::size_t next_command) {
  for (;
       next_barrier_ < recording_->barriers.size() && recording_->barriers[next_barrier_].next_command <= next_command;
       ++next_barrier_) {
    add_op(DebugOp::Kind::barrier, next_command, execution_->barriers.size());
    execution_->barriers.push_back(recording_->barriers[next_barrier_]);
  }
}

void ExecutionBuilder::begin_command(std::size_t index, std::string label) {
  if (recording_->allocator == nullptr) {
    return;
  }
  add_barriers(index);
  if (execution_->labels.empty() || execution_->labels.back() != label) {
    execution_->labels.push_back(std::move(label));
  }
  last_dispatch_ = nullptr;
  add_op(DebugOp::Kind::command, index, execution_->labels.size() - 1);
}

void ExecutionBuilder::begin_command(std::size_t index, IBridgeDispatch& dispatch) {
  if (last_dispatch_ != &dispatch) {
    begin_command(index, dispatch_label(dispatch));
    last_dispatch_ = &dispatch;
  } else if (recording_->allocator != nullptr) {
    add_barriers(index);
    add_op(DebugOp::Kind::command, index, execution_->labels.size() - 1);
  }
}

void ExecutionBuilder::access(const BufferRange& range, std::uint64_t buffer, std::uint64_t offset, std::uint64_t bytes,
                              bool write, D3D12_RESOURCE_STATES state, const char* role, bool has_gaps) {
  uses_.objects.push_back({DebugObject::Kind::buffer, buffer});
  const std::uint64_t first = range.offset + offset;
  if (write && range.memory->block().host != nullptr && range.heap != D3D12_HEAP_TYPE_DEFAULT) {
    uses_.mappable_writes.push_back({range.memory->number(), first, first + bytes});
  }
  if (recording_->allocator == nullptr || bytes == 0) {
    return;
  }
  execution_->accesses.push_back({.memory = range.memory->number(),
                                  .first = first,
                                  .end = first + bytes,
                                  .buffer = buffer,
                                  .offset = offset,
                                  .role = role,
                                  .state = state,
                                  .heap = range.heap,
                                  .write = write,
                                  .has_gaps = has_gaps});
  ++execution_->ops.back().access_count;
}

void ExecutionBuilder::use_descriptors(const void* heap, std::uint32_t first, std::uint32_t count) {
  use(DebugObject::Kind::descriptor_heap, heap);
  uses_.descriptors.push_back({heap, first, count});
}

void ExecutionBuilder::end_list() {
  if (recording_->allocator != nullptr) {
    add_barriers(commands_);
  } else {
    add_op(DebugOp::Kind::unseen, 0, 0);
  }
}

void ExecutionBuilder::finish(DebugTracker& tracker) {
  tracker.add_messages(std::move(messages_));
  tracker.execute(execution_, uses_);
}

}  // namespace anydml
