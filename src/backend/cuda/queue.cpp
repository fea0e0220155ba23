// SPDX-License-Identifier: MIT
#include "backend/cuda/queue.h"

#include <memory>
#include <new>

#include "backend/cuda/kernels/kernels.h"
#include "backend/cuda/program.h"

namespace anydml::cuda {
namespace {

// Launches the collected tasks, then calls body.
template <class Body>
BackendStatus in_order(BackendQueue& queue, const Body& body) {
  const OnDevice scope(*queue.device);
  cudaError_t error = scope.error() != cudaSuccess ? scope.error() : queue.small.launch(queue.stream);
  if (error == cudaSuccess) {
    error = body();
  }
  return status_of(error);
}

// The last small tasks stay in the queue, so that they can be launched together with the small tasks of the next
// program.
cudaError_t launch_steps(BackendQueue& queue, const BackendProgram& program, const DeviceAddress* addresses,
                         cudaStream_t stream) noexcept {
  for (const BackendProgram::PlacedStep& step : program.steps) {
    const PreparedStep& prepared = *step.prepared;
    std::byte* bases[kMaxStepOperands];
    std::size_t next = 0;
    for (const Operand& operand : step.operands) {
      bases[next++] =
          has_address(operand.slot) ? reinterpret_cast<std::byte*>(addresses[operand.slot]) + operand.offset : nullptr;
    }
    SmallTask task;
    if (queue.owned && prepared.make_small_task(bases, task)) {
      if (queue.small.add(*step.family, task)) {
        continue;
      }
      if (const cudaError_t error = queue.small.launch(stream); error != cudaSuccess) {
        return error;
      }
      if (queue.small.add(*step.family, task)) {
        continue;
      }  // if there is no memory to collect the task, it is launched alone
    }
    std::byte* const workspace =
        prepared.workspace_bytes() != 0
            ? reinterpret_cast<std::byte*>(addresses[program.temporary_slot]) + program.workspace_offset
            : nullptr;
    cudaError_t error = queue.small.launch(stream);
    if (error == cudaSuccess) {
      error = prepared.launch(bases, workspace, stream);
    }
    if (error != cudaSuccess) {
      return error;
    }
  }
  return cudaSuccess;
}

void record(BackendQueue& queue, const BackendProgram& program, const DeviceAddress* addresses) noexcept {
  program.recordings->keep(cuda::record([&](cudaStream_t stream) {
    const cudaError_t error = launch_steps(queue, program, addresses, stream);
    const cudaError_t last = queue.small.launch(stream);
    return error != cudaSuccess ? error : last;
  }));
}

// Whether the stream's owner is capturing it. If so, no other recording may be launched on it.
bool is_recorded(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
  }
  return status != cudaStreamCaptureStatusNone;
}

bool is_pinned(const void* address) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, address) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  return attributes.type == cudaMemoryTypeHost;
}

cudaError_t take_event(BackendDevice& device, cudaEvent_t* event) {
  {
    const std::scoped_lock lock(device.events_mutex);
    if (!device.spare_events.empty()) {
      *event = device.spare_events.back();
      device.spare_events.pop_back();
      return cudaSuccess;
    }
  }
  // Threads sleep while they wait for the event.
  return cudaEventCreateWithFlags(event, cudaEventBlockingSync | cudaEventDisableTiming);
}

}  // namespace

BackendStatus create_queue(BackendDevice* device, BackendQueue** queue) noexcept {
  std::unique_ptr<BackendQueue> created(new (std::nothrow) BackendQueue);
  if (created == nullptr) {
    return kOutOfMemory;
  }
  created->device = device;
  created->owned = true;
  const OnDevice scope(*device);
  const cudaError_t error =
      scope.error() != cudaSuccess ? scope.error() : cudaStreamCreateWithFlags(&created->stream, cudaStreamNonBlocking);
  if (error == cudaSuccess) {
    *queue = created.release();
  }
  return status_of(error);
}

BackendStatus create_queue_on(BackendDevice* device, BackendStream* stream, BackendQueue** queue) noexcept {
  std::unique_ptr<BackendQueue> created(new (std::nothrow) BackendQueue);
  if (created == nullptr) {
    return kOutOfMemory;
  }
  created->device = device;
  created->stream = stream != nullptr ? reinterpret_cast<cudaStream_t>(stream) : cudaStreamLegacy;
  *queue = created.release();
  return kOk;
}

void destroy_queue(BackendQueue* queue) noexcept {
  if (queue->owned) {
    const OnDevice scope(*queue->device);
    static_cast<void>(cudaStreamDestroy(queue->stream));
    static_cast<void>(cudaGetLastError());
  }
  delete queue;
}

BackendStatus copy(BackendQueue* queue, MemoryLocation to_location, MemoryLocation from_location,
                   std::uint64_t bytes) noexcept {
  std::byte* const to = address_of(to_location);
  const std::byte* const from = address_of(from_location);
  return in_order(*queue, [&] {
    if (bytes == 0) {  // the addresses may be invalid
      return cudaSuccess;
    }
    // For copies within host memory, CUDA's own copy blocks this thread until all earlier work is done, whereas a
    // kernel does not.
    return is_pinned(to) && is_pinned(from) ? launch_copy(to, from, bytes, queue->stream)
                                            : cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, queue->stream);
  });
}

BackendStatus fill(BackendQueue* queue, MemoryLocation to, std::uint64_t bytes, const std::uint32_t* pattern,
                   std::uint32_t pattern_bytes) noexcept {
  return in_order(*queue, [&] { return launch_fill(address_of(to), bytes, pattern, pattern_bytes, queue->stream); });
}

BackendStatus timestamp(BackendQueue* queue, MemoryLocation to) noexcept {
  auto* const ticks = reinterpret_cast<std::uint64_t*>(address_of(to));
  return in_order(*queue, [&] { return launch_timestamp(ticks, queue->stream); });
}

// The work is executed later, so it cannot be interrupted.
BackendStatus run(BackendQueue* queue, const BackendProgram* program, const DeviceAddress* addresses,
                  const Interrupt* /*interrupt*/) noexcept {
  const OnDevice scope(*queue->device);
  if (program->recordings != nullptr && scope.error() == cudaSuccess && !is_recorded(queue->stream)) {
    // The tasks of earlier programs must run first, and the errors of these tasks must not be lost.
    if (const cudaError_t error = queue->small.launch(queue->stream); error != cudaSuccess) {
      return status_of(error);
    }
    Recordings& recordings = *program->recordings;
    const std::scoped_lock lock(recordings.mutex());
    const Recordings::Advice advice = recordings.advise(addresses, program->slots);
    if (advice == Recordings::Advice::record) {
      record(*queue, *program, addresses);
    }
    if (advice != Recordings::Advice::run && recordings.graph() != nullptr) {
      if (cudaGraphLaunch(recordings.graph(), queue->stream) == cudaSuccess) {
        return kOk;
      }
      static_cast<void>(cudaGetLastError());  // for example, no memory for the recording; separate launches need none
      recordings.keep(nullptr);
    }
  }
  return status_of(scope.error() != cudaSuccess ? scope.error()
                                                : launch_steps(*queue, *program, addresses, queue->stream));
}

BackendStatus mark(BackendQueue* queue, BackendMark** mark) noexcept {
  *mark = nullptr;
  std::unique_ptr<BackendMark> created(new (std::nothrow) BackendMark);
  cudaEvent_t event = nullptr;
  BackendStatus status = in_order(*queue, [&] {
    const cudaError_t error = created == nullptr ? cudaSuccess : take_event(*queue->device, &event);
    return error == cudaSuccess && event != nullptr ? cudaEventRecord(event, queue->stream) : error;
  });
  if (created != nullptr && event != nullptr) {
    *created = {.device = queue->device, .event = event};
  }
  if (created != nullptr && status.code == BackendCode::ok) {
    *mark = created.release();
    return status;
  }
  // Without a mark, callers could not wait for the work before releasing its memory, so wait here.
  if (event != nullptr) {
    destroy_mark(created.release());
  }
  const OnDevice scope(*queue->device);
  const BackendStatus waited = status_of(cudaStreamSynchronize(queue->stream));
  return status.code == BackendCode::ok ? waited : status;
}

void destroy_mark(BackendMark* mark) noexcept {
  BackendDevice& device = *mark->device;
  try {
    const std::scoped_lock lock(device.events_mutex);
    device.spare_events.push_back(mark->event);
  } catch (...) {
    static_cast<void>(cudaEventDestroy(mark->event));
  }
  delete mark;
}

std::uint32_t is_passed(BackendMark* mark) noexcept {
  const OnDevice scope(*mark->device);
  if (cudaEventQuery(mark->event) != cudaErrorNotReady) {
    return 1;
  }
  static_cast<void>(cudaGetLastError());
  return 0;
}

BackendStatus wait(BackendMark* mark) noexcept {
  const OnDevice scope(*mark->device);
  return status_of(cudaEventSynchronize(mark->event));
}

BackendStatus follow(BackendQueue* queue, BackendMark* mark) noexcept {
  return in_order(*queue, [&] { return cudaStreamWaitEvent(queue->stream, mark->event, 0); });
}

}  // namespace anydml::cuda
