// SPDX-License-Identifier: MIT
// Describes the accesses of a list's commands for the debug layer.
#include "d3d12/commands.h"
#include "text/format.h"

namespace anydml {

std::string dispatch_label(IBridgeDispatch& dispatch) {
  char text[256];
  dispatch.copy_label(text, sizeof(text));
  return text;
}

void Submission::describe(const DeviceCore::BufferLookup& buffers, const Command& command, std::size_t index,
                          ExecutionBuilder& debug) {
  const auto access = [&](std::uint64_t buffer, std::uint64_t offset, std::uint64_t bytes, bool write,
                          D3D12_RESOURCE_STATES state, const char* role) {
    if (const BufferRange* range = buffers.find(buffer); range != nullptr) {
      write ? debug.write(*range, buffer, offset, bytes, state, role)
            : debug.read(*range, buffer, offset, bytes, state, role);
    }
  };
  std::visit(Overloaded{
                 [&](const CopyCommand& copy) {
                   debug.begin_command(index, "a copy");
                   access(copy.from, copy.from_offset, copy.bytes, false, D3D12_RESOURCE_STATE_COPY_SOURCE,
                          "its source");
                   access(copy.to, copy.to_offset, copy.bytes, true, D3D12_RESOURCE_STATE_COPY_DEST, "its destination");
                 },
                 [&](const ClearCommand& clear) {
                   debug.begin_command(index, "ClearUnorderedAccessViewUint");
                   access(clear.view.buffer, clear.view.offset, clear.view.bytes, true,
                          D3D12_RESOURCE_STATE_UNORDERED_ACCESS, "its view");
                 },
                 [&](const TimestampCommand& timestamp) {
                   debug.begin_command(index, "EndQuery");
                   debug.use(DebugObject::Kind::query_heap, timestamp.queries.get());
                 },
                 [&](const ResolveCommand& resolve) {
                   debug.begin_command(index, "ResolveQueryData");
                   debug.use(DebugObject::Kind::query_heap, resolve.queries.get());
                   access(resolve.to, resolve.to_offset, std::uint64_t{resolve.count} * sizeof(std::uint64_t), true,
                          D3D12_RESOURCE_STATE_COPY_DEST, "its destination");
                 },
                 [](const DispatchCommand&) {},
             },
             command);
}

void Submission::describe_dispatch(DeviceCore& core, const DispatchCommand& command, const DescriptorStorage* heap,
                                   std::size_t index, ExecutionBuilder& debug) const {
  IBridgeDispatch& dispatch = *command.dispatch;
  debug.begin_command(index, dispatch);
  if (!dispatch.is_released()) {
    debug.use(DebugObject::Kind::dispatch, &dispatch);
  } else {
    debug.report(DebugMessage::released_before_execution,
                 format_text("ID3D12CommandQueue::ExecuteCommandLists{}: {}: its operator or initializer was released "
                             "or reset before the list was executed; expected it alive until the work is finished",
                             debug.queue_name(), debug.where()));
  }
  if (command.count == 0) {
    return;
  }
  debug.use_descriptors(heap, command.first, command.count);
  const DeviceCore::BufferLookup buffers(core);
  for (std::uint32_t i = 0; i < command.count; ++i) {
    const Descriptor& bound = descriptors_[i].descriptor;
    const BufferRange* range = buffers.find(bound.buffer);
    const BindingUse use = dispatch.binding_use(i);
    if (range == nullptr || use.access == BindingUse::Access::none) {
      continue;
    }
    const char* role = role_of(use.name);
    if (use.access == BindingUse::Access::write) {
      debug.write(*range, bound.buffer, bound.offset, use.bytes, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, role,
                  use.has_gaps);
    } else {
      debug.read(*range, bound.buffer, bound.offset, use.bytes, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, role,
                 use.has_gaps);
    }
  }
}

}  // namespace anydml
