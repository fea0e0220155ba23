// SPDX-License-Identifier: MIT
#include "d3d12/commands.h"

#include "base/reserve.h"

namespace anydml {
namespace {

// Whether the descriptor was written by a binding table with a different number.
bool is_of_another_table(const Descriptor& descriptor, std::uint32_t table) {
  const bool is_of_a_table = descriptor.kind == DescriptorKind::binding || descriptor.kind == DescriptorKind::none;
  return is_of_a_table && descriptor.detail != 0 && descriptor.detail != table;
}

}  // namespace

void Submission::hold(const BufferRange& range, std::uint64_t bytes) {
  bytes_ += bytes;
  if (range.memory->is_new_to(number_)) {
    memory_.push_back(range.memory);
  }
}

bool Submission::resolve(const DeviceCore::BufferLookup& buffers, const Command& command, Missing& missing) {
  return std::visit(
      Overloaded{
          [&](const CopyCommand& copy) {
            const BufferRange* to = buffers.find(copy.to);
            const BufferRange* from = buffers.find(copy.from);
            if (to == nullptr || from == nullptr) {
              missing = to == nullptr ? Missing{"the destination of a copy", copy.to}
                                      : Missing{"the source of a copy", copy.from};
              return false;
            }
            work_.emplace_back(NumberOf<Copy>{copies_.size()});
            copies_.push_back(
                {hold(*to, copy.to_offset, copy.bytes), hold(*from, copy.from_offset, copy.bytes), copy.bytes});
            return true;
          },
          [&](const ClearCommand& clear) {
            const BufferRange* to = buffers.find(clear.view.buffer);
            if (to == nullptr) {
              missing = {"the buffer of a clear", clear.view.buffer};
              return false;
            }
            work_.emplace_back(NumberOf<Clear>{clears_.size()});
            clears_.push_back({hold(*to, clear.view.offset, clear.view.bytes), clear.view.bytes, &clear});
            return true;
          },
          [&](const TimestampCommand& timestamp) {
            work_.emplace_back(Timestamp{timestamp.queries->ticks(timestamp.index)});
            return true;
          },
          [&](const ResolveCommand& resolve) {
            const BufferRange* to = buffers.find(resolve.to);
            if (to == nullptr) {
              missing = {"the destination of ResolveQueryData", resolve.to};
              return false;
            }
            const std::uint64_t bytes = std::uint64_t{resolve.count} * sizeof(std::uint64_t);
            work_.emplace_back(NumberOf<Copy>{copies_.size()});
            copies_.push_back({hold(*to, resolve.to_offset, bytes), resolve.queries->ticks(resolve.first), bytes});
            return true;
          },
          [](const DispatchCommand&) { return true; },
      },
      command);
}

// The caller must not hold the lookup's lock, because DirectML may remove its device and report the removal. heap: on
// entry, the previous dispatch's heap; on return, this dispatch's heap. Most lists use a single heap.
bool Submission::resolve_dispatch(DeviceCore& core, const Recording& recording, const DispatchCommand& command,
                                  std::shared_ptr<DescriptorStorage>& heap) {
  if (heap.owner_before(command.heap) || command.heap.owner_before(heap)) {
    heap = command.heap.lock();
  }
  if (heap == nullptr && command.count != 0) {
    return command.dispatch->submit(nullptr, command.count);
  }
  descriptors_.clear();
  const Dispatch dispatch{command.dispatch.get(), addresses_.size(), locations_.size()};
  {
    const DeviceCore::BufferLookup buffers(core);
    for (std::uint32_t i = 0; i < command.count; ++i) {
      ResolvedDescriptor& resolved = descriptors_.emplace_back();
      MemoryLocation copied = {};
      resolved.descriptor = heap->descriptors[command.first + i];
      if (is_of_another_table(resolved.descriptor, command.table)) {
        resolved.overwritten = true;
        resolved.descriptor = command.first_recorded != DispatchCommand::kNothingRecorded
                                  ? recording.descriptors[command.first_recorded + i]
                                  : Descriptor{};
      }
      if (const BufferRange* range = buffers.find(resolved.descriptor.buffer); range != nullptr) {
        resolved.facts = {resolved.descriptor.buffer, range->bytes, range->heap, range->flags, &core};
        hold(*range, resolved.descriptor.bytes);
        resolved.address = range->address_at(resolved.descriptor.offset);
        copied = range->location_at(resolved.descriptor.offset);
      }
      addresses_.push_back(resolved.address);
      if (command.copies) {
        locations_.push_back(copied);
      }
    }
  }
  if (!command.dispatch->submit(descriptors_.data(), command.count)) {
    return false;
  }
  work_.emplace_back(dispatch);
  return true;
}

bool Submission::add(DeviceCore& core, const std::shared_ptr<const Recording>& recording, Missing& missing,
                     ExecutionBuilder* debug) {
  if (number_ == 0) {
    static constinit std::atomic<std::uint64_t> last = 0;
    number_ = last.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  reserve_more(work_, recording->commands.size());
  recordings_.push_back(recording);
  recording->in_flight.fetch_add(1, std::memory_order_relaxed);
  std::shared_ptr<DescriptorStorage> heap;
  for (const Command& command : recording->commands) {
    if (const auto* dispatch = std::get_if<DispatchCommand>(&command); dispatch != nullptr) {
      const bool resolved = resolve_dispatch(core, *recording, *dispatch, heap);
      if (debug != nullptr && resolved) {
        describe_dispatch(core, *dispatch, heap.get(), static_cast<std::size_t>(&command - recording->commands.data()),
                          *debug);
      }
    } else if (!resolve(DeviceCore::BufferLookup(core), command, missing)) {
      return false;
    } else if (debug != nullptr) {
      describe(DeviceCore::BufferLookup(core), command, static_cast<std::size_t>(&command - recording->commands.data()),
               *debug);
    }
  }
  return true;
}

void Submission::clear() noexcept {
  for (const auto& recording : recordings_) {
    recording->in_flight.fetch_sub(1, std::memory_order_release);
  }
  number_ = 0;
  bytes_ = 0;
  recordings_.clear();
  memory_.clear();
  work_.clear();
  copies_.clear();
  clears_.clear();
  addresses_.clear();
  locations_.clear();
  trail_.reset();
}

void Submission::run(DeviceCore& core, BackendQueue* queue) noexcept {
  const BackendTable& backend = *core.device().backend;
  const Trail::Running running(trail_.get());
  for (const Work& work : work_) {
    if (core.removed()) {
      return;
    }
    constexpr BackendStatus kOk{BackendCode::ok, nullptr};
    const BackendStatus status =
        std::visit(Overloaded{
                       [&](NumberOf<Copy> number) {
                         const Copy& copy = copies_[number.index];
                         return backend.copy(queue, copy.to, copy.from, copy.bytes);
                       },
                       [&](NumberOf<Clear> number) {
                         const Clear& clear = clears_[number.index];
                         const bool raw = clear.command->view.kind == DescriptorKind::raw_view;
                         return backend.fill(queue, clear.to, clear.bytes, clear.command->pattern,
                                             raw ? sizeof(clear.command->pattern) : sizeof(UINT));
                       },
                       [&](const Timestamp& timestamp) { return backend.timestamp(queue, timestamp.to); },
                       [&](const Dispatch& dispatch) {  // if the dispatch fails, it removes its own device
                         dispatch.dispatch->run(queue, addresses_.data() + dispatch.first_address,
                                                locations_.data() + dispatch.first_location);
                         return kOk;
                       },
                   },
                   work);
    if (status.code != BackendCode::ok) {
      core.remove(status.code == BackendCode::failed ? kDeviceHung : kDeviceRemoved, status.message);
    } else if (trail_ != nullptr) {
      trail_->advance();
    }
  }
}

}  // namespace anydml
