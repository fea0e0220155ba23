// SPDX-License-Identifier: MIT
#include "d3d12/debug/scope.h"

#include <utility>

#include "d3d12/debug/states.h"
#include "text/format.h"

namespace anydml {
namespace {

// UPLOAD and READBACK heaps have one state that never changes.
bool has_fixed_state(D3D12_HEAP_TYPE heap) {
  return heap == D3D12_HEAP_TYPE_UPLOAD || heap == D3D12_HEAP_TYPE_READBACK;
}

}  // namespace

std::string describe_op(const DebugExecution& execution, std::size_t op) {
  const DebugOp& found = execution.ops[op];
  const std::string list =
      execution.list_names[found.list].empty() ? format_text("list {}", found.list) : execution.list_names[found.list];
  return found.kind == DebugOp::Kind::command
             ? format_text("command {} of {} ({})", found.command, list, execution.labels[found.index])
             : format_text("a barrier before command {} of {}", found.command, list);
}

std::string DebugScope::buffer_text(std::uint64_t buffer) const {
  const std::string name = buffer_name_(buffer);
  return name.empty() ? "an unnamed buffer" : "buffer" + name;
}

std::string DebugScope::access_text(const DebugAccess& access, bool reads) const {
  return format_text("{} bytes {} to {} of {} as {}", reads ? "reads" : "writes", access.offset,
                     access.offset + (access.end - access.first), buffer_text(access.buffer), access.role);
}

void DebugScope::check() {
  for (std::size_t i = 0; i < execution_->ops.size(); ++i) {
    const DebugOp& op = execution_->ops[i];
    switch (op.kind) {
      case DebugOp::Kind::unseen:  // the barriers of these commands are unknown
        states_.clear();
        barriers_.add(0, i);
        aliasing_barriers_.add(0, i);
        break;
      case DebugOp::Kind::barrier: {
        const DebugBarrier& barrier = execution_->barriers[op.index];
        if (barrier.type == D3D12_RESOURCE_BARRIER_TYPE_TRANSITION) {
          check_transition(i, barrier);
        }
        barriers_.add(barrier.buffer, i);
        if (barrier.type == D3D12_RESOURCE_BARRIER_TYPE_ALIASING) {
          aliasing_barriers_.add(barrier.buffer, i);
        }
        break;
      }
      case DebugOp::Kind::command:
        check_command(i);
        break;
    }
  }
  for (std::size_t i = 0; i < std::size(reported_); ++i) {
    if (reported_[i] > kMaxReports) {
      report_(static_cast<DebugMessage>(i),
              format_text("ID3D12CommandQueue::ExecuteCommandLists{}: {} more messages of this kind in this call",
                          execution_->queue_name, reported_[i] - kMaxReports));
    }
  }
}

void DebugScope::check_command(std::size_t i) {
  const DebugOp& op = execution_->ops[i];
  bool reported = false;  // one message per command is enough
  for (std::size_t k = op.first_access; k < op.first_access + op.access_count; ++k) {
    check_state(i, execution_->accesses[k]);
  }
  // Check writes first, because recording this command's reads would hide earlier reads from its writes.
  for (std::size_t n = 0; n < 2 * std::size_t{op.access_count}; ++n) {
    const std::size_t k = op.first_access + n % op.access_count;
    const DebugAccess& access = execution_->accesses[k];
    if (access.write != (n < op.access_count)) {
      continue;
    }
    memories_[access.memory].add({execution_, i, k},
                                 [&](const PastAccess& past) { reported = reported || check_order(i, access, past); });
  }
}

void DebugScope::check_transition(std::size_t op, const DebugBarrier& barrier) {
  const auto report = [&](DebugMessage message, const std::string& what) {
    if (may_report(message)) {
      report_(message, format_text("ID3D12CommandQueue::ExecuteCommandLists{}: {}: the transition of {} {}",
                                   execution_->queue_name, where(op), buffer_text(barrier.buffer), what));
    }
  };
  if (has_fixed_state(barrier.heap)) {
    const bool upload = barrier.heap == D3D12_HEAP_TYPE_UPLOAD;
    report(DebugMessage::transition_in_fixed_heap,
           format_text("from {} to {} changes a buffer in {} heap; expected no transition, since it always stays {}",
                       state_text(barrier.before), state_text(barrier.after), upload ? "an UPLOAD" : "a READBACK",
                       upload ? "GENERIC_READ" : "COPY_DEST"));
    return;
  }
  BufferState& known = states_[barrier.buffer];
  const bool ends = (barrier.flags & D3D12_RESOURCE_BARRIER_FLAG_END_ONLY) != 0;
  const bool begins = (barrier.flags & D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY) != 0;
  if (known.splitting != ends || (ends && known.next != barrier.after)) {
    report(DebugMessage::split_barrier,
           ends ? "ends a split barrier that did not begin with the same states; expected BEGIN_ONLY before END_ONLY"
                : "follows a split barrier that has begun but not ended; expected END_ONLY first");
  }
  if (known.state != D3D12_RESOURCE_STATE_COMMON && known.state != barrier.before) {
    report(DebugMessage::state_before_mismatch,
           format_text("has StateBefore {}, but the buffer is in state {} since {}; expected StateBefore {}",
                       state_text(barrier.before), state_text(known.state), where(known.last_op),
                       state_text(known.state)));
  }
  known.splitting = begins;
  known.next = barrier.after;
  known.last_op = op;
  if (begins) {
    known.state = barrier.before;
  } else {
    known.state = barrier.after;
    known.promoted = false;
  }
}

void DebugScope::check_state(std::size_t op, const DebugAccess& access) {
  if (has_fixed_state(access.heap)) {
    return;
  }
  BufferState& known = states_[access.buffer];
  const auto report = [&](const std::string& what) {
    if (may_report(DebugMessage::wrong_state)) {
      report_(DebugMessage::wrong_state,
              format_text("ID3D12CommandQueue::ExecuteCommandLists{}: {}: {}, {}", execution_->queue_name, where(op),
                          access_text(access, !access.write), what));
    }
  };
  if (known.splitting) {
    report(format_text("while a split barrier to {}, which began with {}, has not ended; expected END_ONLY first",
                       state_text(known.next), where(known.last_op)));
    return;
  }
  const auto has = static_cast<unsigned>(known.state);
  const auto needed = static_cast<unsigned>(access.state);
  if (known.state == D3D12_RESOURCE_STATE_COMMON) {
    known = {.state = access.state, .promoted = true, .last_op = op};
  } else if ((has & needed) == needed && is_write_state(known.state) == is_write_state(access.state)) {
    // The state allows the access.
  } else if (known.promoted && !is_write_state(known.state) && !is_write_state(access.state)) {
    known.state = static_cast<D3D12_RESOURCE_STATES>(has | needed);  // D3D12 can combine read states
  } else if (known.last_op == op) {
    report("which the same command reads; expected two buffers, since one cannot be in both states");
  } else {
    report(
        format_text("which needs the state {}, but the buffer is in state {} since {}; expected a transition from "
                    "{} to {} between them",
                    state_text(access.state), state_text(known.state), where(known.last_op), state_text(known.state),
                    state_text(access.state)));
    known = {.state = access.state, .promoted = false, .last_op = op};  // report each mistake once
    barriers_.add(access.buffer, op);
  }
}

bool DebugScope::check_order(std::size_t op, const DebugAccess& access, const PastAccess& past) {
  const DebugAccess& before = past.get();
  const ExecutionId& id = execution_->id;
  const ExecutionId& earlier = past.execution->id;
  const auto report = [&](DebugMessage message, const std::string& expected) {
    if (!may_report(message)) {
      return true;
    }
    report_(message, format_text("ID3D12CommandQueue::ExecuteCommandLists{}: {}: {}, which {}{} {} as {}; expected {}",
                                 execution_->queue_name, where(op), access_text(access, !access.write),
                                 describe_op(*past.execution, past.op),
                                 earlier.queue == id.queue            ? std::string()
                                 : past.execution->queue_name.empty() ? std::string(" on a different queue")
                                                                      : " on queue" + past.execution->queue_name,
                                 before.write ? "writes" : "reads", before.role, expected));
    return true;
  };
  // Tensors with strides may be interleaved without sharing an element.
  if (access.has_gaps && before.has_gaps && (access.first != before.first || access.end != before.end)) {
    return false;
  }
  if (earlier.queue != id.queue) {
    return finished_.includes(earlier)
               ? false
               : report(DebugMessage::missing_fence,
                        "this queue to wait for a fence that the other queue signals after that command");
  }
  if (earlier.number != id.number || past.op == op) {
    return false;
  }
  if (before.buffer != access.buffer) {
    return !aliasing_barriers_.separate(before.buffer, past.op) &&
           report(
               DebugMessage::missing_aliasing_barrier,
               format_text("an aliasing barrier between them, since {} shares its memory", buffer_text(before.buffer)));
  }
  if (barriers_.separate(before.buffer, past.op)) {
    return false;
  }
  // Copies in one list run in order. A change between copying and unordered access needs a transition; check_state
  // reports it if it is missing.
  const bool unordered =
      access.state == D3D12_RESOURCE_STATE_UNORDERED_ACCESS && before.state == D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
  return unordered && report(DebugMessage::missing_uav_barrier, "a UAV barrier between them");
}

}  // namespace anydml
