// SPDX-License-Identifier: MIT
// Describes a call to ExecuteCommandLists for the debug layer while its lists are resolved.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "d3d12/debug/execution.h"
#include "d3d12/device_core.h"

namespace anydml {

struct Recording;

class ExecutionBuilder {
 public:
  ExecutionBuilder(const ExecutionId& id, std::string queue_name);

  // Everything until end_list belongs to this list. name: an empty string, or a space and the quoted name.
  void begin_list(const Recording& recording, const std::string& name);
  void end_list();

  // Begins a command, given its index in the recording. The caller then adds the command's accesses.
  void begin_command(std::size_t index, std::string label);
  // Like the function above, but for DirectML work. If the same work is recorded several times in a row, its label is
  // read only once.
  void begin_command(std::size_t index, IBridgeDispatch& dispatch);
  // has_gaps: whether the command may skip some of the bytes.
  void read(const BufferRange& range, std::uint64_t buffer, std::uint64_t offset, std::uint64_t bytes,
            D3D12_RESOURCE_STATES state, const char* role, bool has_gaps = false) {
    access(range, buffer, offset, bytes, false, state, role, has_gaps);
  }
  void write(const BufferRange& range, std::uint64_t buffer, std::uint64_t offset, std::uint64_t bytes,
             D3D12_RESOURCE_STATES state, const char* role, bool has_gaps = false) {
    access(range, buffer, offset, bytes, true, state, role, has_gaps);
  }
  void use(DebugObject::Kind kind, const void* object) {
    uses_.objects.push_back({kind, reinterpret_cast<std::uintptr_t>(object)});
  }
  void use_descriptors(const void* heap, std::uint32_t first, std::uint32_t count);
  // Adds a message about a mistake that was found without looking at other executions. It is reported together with the
  // other messages.
  void report(DebugMessage message, std::string text) { messages_.emplace_back(message, std::move(text)); }
  [[nodiscard]] std::string where() const { return describe_op(*execution_, execution_->ops.size() - 1); }
  [[nodiscard]] const std::string& queue_name() const { return execution_->queue_name; }

  // Passes the description and the messages to the tracker.
  void finish(DebugTracker& tracker);

 private:
  void access(const BufferRange& range, std::uint64_t buffer, std::uint64_t offset, std::uint64_t bytes, bool write,
              D3D12_RESOURCE_STATES state, const char* role, bool has_gaps);
  void add_barriers(std::size_t next_command);
  void add_op(DebugOp::Kind kind, std::size_t command, std::size_t index);

  const std::shared_ptr<DebugExecution> execution_;
  DebugUses uses_;
  std::vector<std::pair<DebugMessage, std::string>> messages_;
  const DebugRecording* recording_ = nullptr;
  const IBridgeDispatch* last_dispatch_ = nullptr;  // the dispatch that the last label belongs to
  std::size_t commands_ = 0;
  std::size_t next_barrier_ = 0;
};

// The role of a tensor or resource in DirectML work, for DebugAccess: "its " and the name.
[[nodiscard]] const char* role_of(std::string_view name);

}  // namespace anydml
