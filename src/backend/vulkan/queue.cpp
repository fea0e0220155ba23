// SPDX-License-Identifier: MIT
#include "backend/vulkan/queue.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace anydml::vulkan {
namespace {

constexpr std::uint64_t kWaitNanoseconds = 200'000'000;  // then a waiting thread checks whether the device has failed
constexpr std::size_t kMaxBuffers = 512;                 // command buffers in a batch

BackendStatus end_open(BackendQueue& queue) {
  if (queue.open == VK_NULL_HANDLE) {
    return kOk;
  }
  const VkResult result = queue.device.vk.EndCommandBuffer(queue.open);
  queue.open = VK_NULL_HANDLE;
  return status_of(queue.device, result);
}

// Frees what finished batches used.
void retire(BackendQueue& queue) {
  while (!queue.submitted.empty() && queue.timeline->is_reached(queue.submitted.front().value)) {
    std::vector<VkCommandBuffer>& own = queue.submitted.front().own;
    queue.spare.insert(queue.spare.end(), own.begin(), own.end());
    queue.submitted.pop_front();
  }
}

BackendStatus take_buffer(BackendQueue& queue, VkCommandBuffer* buffer) {
  if (queue.spare.empty()) {
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = queue.pool;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    return status_of(queue.device, queue.device.vk.AllocateCommandBuffers(queue.device.handle, &info, buffer));
  }
  *buffer = queue.spare.back();
  queue.spare.pop_back();
  return kOk;
}

// The last commands of a batch make its results visible to the CPU.
BackendStatus show_results(BackendQueue& queue) {
  BackendStatus status = kOk;
  VkCommandBuffer commands = queue.open != VK_NULL_HANDLE ? queue.open : begin_work(queue, status);
  if (commands == VK_NULL_HANDLE) {
    return status;
  }
  barrier_for_cpu(queue.device.vk, commands);
  return end_open(queue);
}

BackendStatus submit(BackendQueue& queue) {
  std::vector<VkSemaphore> semaphores;
  std::vector<std::uint64_t> values;
  std::vector<VkPipelineStageFlags> stages(queue.waits.size(), VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  for (const auto& [timeline, value] : queue.waits) {
    semaphores.push_back(timeline->semaphore());
    values.push_back(value);
  }
  const VkSemaphore signaled = queue.timeline->semaphore();
  VkTimelineSemaphoreSubmitInfo timelines{};
  timelines.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  timelines.waitSemaphoreValueCount = static_cast<std::uint32_t>(values.size());
  timelines.pWaitSemaphoreValues = values.data();
  timelines.signalSemaphoreValueCount = 1;
  timelines.pSignalSemaphoreValues = &queue.next;
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.pNext = &timelines;
  info.waitSemaphoreCount = static_cast<std::uint32_t>(semaphores.size());
  info.pWaitSemaphores = semaphores.data();
  info.pWaitDstStageMask = stages.data();
  info.commandBufferCount = static_cast<std::uint32_t>(queue.batch.size());
  info.pCommandBuffers = queue.batch.data();
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &signaled;
  const std::scoped_lock lock(queue.target->mutex);
  if (const BackendStatus state = state_of(queue.device); state.code != BackendCode::ok) {
    return state;
  }
  const DeviceFunctions& vk = queue.device.vk;
  VkResult result = vk.QueueSubmit(queue.target->handle, 1, &info, VK_NULL_HANDLE);
  const auto lacks_memory = [&] {
    return result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
  };
  if (lacks_memory() && vk.QueueWaitIdle(queue.target->handle) == VK_SUCCESS) {
    result = vk.QueueSubmit(queue.target->handle, 1, &info, VK_NULL_HANDLE);
  }
  // Calls that returned without an error put work into this batch, and their callers may soon release its memory, so it
  // can neither be left out nor submitted later.
  if (lacks_memory()) {
    fail(queue.device, "Vulkan: the driver had no memory to submit work");
    return state_of(queue.device);
  }
  return status_of(queue.device, result);
}

template <class Body>
BackendStatus guarded(BackendQueue& queue, const Body& body) noexcept {
  if (const BackendStatus state = state_of(queue.device); state.code != BackendCode::ok) {
    return state;
  }
  try {
    return body();
  } catch (...) {
    return kOutOfMemory;
  }
}

}  // namespace

// ---- Timelines ----

Timeline::~Timeline() {
  if (!was_forked()) {
    device_.vk.DestroySemaphore(device_.handle, semaphore_, nullptr);
  }
}

bool Timeline::is_reached(std::uint64_t value) {
  if (reached_.load(std::memory_order_acquire) >= value) {
    return true;
  }
  if (was_forked()) {
    return false;
  }
  std::uint64_t now = 0;
  const VkResult result = device_.vk.GetSemaphoreCounterValue(device_.handle, semaphore_, &now);
  if (result != VK_SUCCESS) {
    static_cast<void>(status_of(device_, result));
    return false;
  }
  std::uint64_t before = reached_.load();
  while (before < now && !reached_.compare_exchange_weak(before, now)) {
  }
  return now >= value;
}

bool Timeline::is_passed(std::uint64_t value) {
  if (!is_reached(value)) {
    return false;
  }
  fail_if_loops_were_cut(device_);
  finish_copies(value);
  return true;
}

BackendStatus Timeline::wait(std::uint64_t value) {
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore_;
  info.pValues = &value;
  while (true) {
    if (const BackendStatus state = state_of(device_); state.code != BackendCode::ok) {
      return state;
    }
    if (is_passed(value)) {
      return state_of(device_);
    }
    const VkResult result = device_.vk.WaitSemaphores(device_.handle, &info, kWaitNanoseconds);
    if (result != VK_SUCCESS && result != VK_TIMEOUT) {
      return status_of(device_, result);
    }
  }
}

void Timeline::copy_later(std::uint64_t value, std::shared_ptr<StagingBlock> from, void* to, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  copies_.push_back({value, std::move(from), static_cast<std::byte*>(to), bytes});
}

bool Timeline::has_copies(std::uint64_t value) {
  const std::scoped_lock lock(mutex_);
  return !copies_.empty() && copies_.front().value <= value;
}

bool Timeline::will_write(const std::byte* bytes, std::uint64_t count) {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(copies_,
                             [&](const Copy& copy) { return bytes < copy.to + copy.bytes && copy.to < bytes + count; });
}

void Timeline::finish_copies(std::uint64_t value) {
  const std::scoped_lock lock(mutex_);
  while (!copies_.empty() && copies_.front().value <= value) {
    const Copy& copy = copies_.front();
    std::memcpy(copy.to, copy.from->memory().host, copy.bytes);
    copies_.pop_front();
  }
}

// ---- Queues ----

void full_barrier(const DeviceFunctions& vk, VkCommandBuffer commands) {
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
                          VK_ACCESS_TRANSFER_WRITE_BIT;
  constexpr VkPipelineStageFlags kStages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  vk.CmdPipelineBarrier(commands, kStages, kStages, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

void barrier_for_cpu(const DeviceFunctions& vk, VkCommandBuffer commands) {
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT;
  vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                        VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

VkCommandBuffer begin_work(BackendQueue& queue, BackendStatus& status) {
  const DeviceFunctions& vk = queue.device.vk;
  if (queue.open == VK_NULL_HANDLE) {
    retire(queue);
    VkCommandBuffer buffer = VK_NULL_HANDLE;
    queue.batch.reserve(queue.batch.size() + 1);
    queue.own.reserve(queue.own.size() + 1);
    status = take_buffer(queue, &buffer);
    if (status.code != BackendCode::ok) {
      return VK_NULL_HANDLE;
    }
    queue.batch.push_back(buffer);
    queue.own.push_back(buffer);
    VkCommandBufferBeginInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    status = status_of(queue.device, vk.BeginCommandBuffer(buffer, &info));
    if (status.code != BackendCode::ok) {
      return VK_NULL_HANDLE;
    }
    queue.open = buffer;
  }
  full_barrier(vk, queue.open);
  queue.shows_results = false;
  return queue.open;
}

BackendStatus add_recorded(BackendQueue& queue, VkCommandBuffer commands, std::uint64_t operations) {
  BackendStatus status = end_open(queue);
  if (status.code == BackendCode::ok && !queue.batch.empty() &&
      (queue.operations + operations > queue.device.max_operations || queue.batch.size() >= kMaxBuffers)) {
    status = flush(queue);
  }
  if (status.code == BackendCode::ok) {
    queue.batch.push_back(commands);
    queue.operations += operations;
    queue.shows_results = true;
  }
  return status;
}

BackendStatus flush(BackendQueue& queue) {
  if (queue.batch.empty() && queue.waits.empty()) {
    return kOk;
  }
  BackendStatus status = queue.batch.empty() || queue.shows_results ? end_open(queue) : show_results(queue);
  if (status.code != BackendCode::ok) {
    return status;
  }
  for (const auto& [timeline, value] : queue.waits) {
    queue.held.push_back(timeline);  // its semaphore must live until the device has waited for it
  }
  queue.submitted.emplace_back();  // before the submission, because nothing may fail after it
  status = submit(queue);
  if (status.code != BackendCode::ok) {
    queue.submitted.pop_back();
    return status;
  }
  queue.submitted.back().value = queue.next++;
  std::swap(queue.submitted.back().own, queue.own);
  std::swap(queue.submitted.back().held, queue.held);
  queue.batch.clear();
  queue.waits.clear();
  queue.operations = 0;
  queue.staging_bytes = 0;
  return kOk;
}

BackendStatus finish(BackendQueue& queue) {
  const BackendStatus status = flush(queue);
  return status.code == BackendCode::ok ? queue.timeline->wait(queue.next - 1) : status;
}

BackendStatus create_queue(BackendDevice* device, BackendQueue** queue) noexcept {
  if (const BackendStatus state = state_of(*device); state.code != BackendCode::ok) {
    return state;
  }
  try {
    auto created = std::make_unique<BackendQueue>(*device);
    created->target = device->queues[device->next_queue++ % device->queues.size()].get();
    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT | VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
    pool.queueFamilyIndex = device->candidate.queue_family;
    VkResult result = device->vk.CreateCommandPool(device->handle, &pool, nullptr, &created->pool);
    VkSemaphoreTypeCreateInfo type{};
    type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkSemaphoreCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
    info.pNext = &type;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    if (result == VK_SUCCESS) {
      result = device->vk.CreateSemaphore(device->handle, &info, nullptr, &semaphore);
    }
    if (result != VK_SUCCESS) {
      return status_of(*device, result);
    }
    created->timeline = std::make_shared<Timeline>(*device, semaphore);
    *queue = created.release();
    return kOk;
  } catch (...) {
    return kOutOfMemory;
  }
}

// The work is done, except after a failure that the device itself does not know about.
void destroy_queue(BackendQueue* queue) noexcept {
  if (!was_forked() && !queue->submitted.empty()) {
    const std::scoped_lock lock(queue->target->mutex);
    static_cast<void>(queue->device.vk.QueueWaitIdle(queue->target->handle));
  }
  delete queue;
}

// ---- Marks ----

BackendStatus mark(BackendQueue* queue, BackendMark** mark) noexcept {
  *mark = nullptr;
  return guarded(*queue, [&] {
    auto made = std::make_unique<BackendMark>();
    const BackendStatus status = flush(*queue);
    if (status.code != BackendCode::ok) {
      return status;
    }
    const std::uint64_t value = queue->next - 1;
    if (!queue->timeline->is_passed(value)) {
      *made = {queue->timeline, value};
      *mark = made.release();
    }
    return state_of(queue->device);
  });
}

void destroy_mark(BackendMark* mark) noexcept { delete mark; }

std::uint32_t is_passed(BackendMark* mark) noexcept {
  try {
    return mark->timeline->is_passed(mark->value) || mark->timeline->has_failed() ? 1 : 0;
  } catch (...) {
    return 0;
  }
}

BackendStatus wait(BackendMark* mark) noexcept {
  try {
    return mark->timeline->wait(mark->value);
  } catch (...) {
    return kOutOfMemory;
  }
}

BackendStatus follow(BackendQueue* queue, BackendMark* mark) noexcept {
  return guarded(*queue, [&] {
    if (mark->timeline == queue->timeline || mark->timeline->is_passed(mark->value)) {
      return kOk;
    }
    // The CPU must finish copies to its own memory, which later work may read.
    if (mark->timeline->has_copies(mark->value)) {
      return mark->timeline->wait(mark->value);
    }
    // The work so far does not wait.
    const BackendStatus status = queue->batch.empty() ? kOk : flush(*queue);
    if (status.code != BackendCode::ok) {
      return status;
    }
    for (auto& [timeline, value] : queue->waits) {
      if (timeline == mark->timeline) {
        value = std::max(value, mark->value);
        return kOk;
      }
    }
    queue->waits.emplace_back(mark->timeline, mark->value);
    return kOk;
  });
}

}  // namespace anydml::vulkan

namespace anydml {

BackendQueue::~BackendQueue() {
  if (vulkan::was_forked()) {
    return;
  }
  if (queries != VK_NULL_HANDLE) {
    device.vk.DestroyQueryPool(device.handle, queries, nullptr);
  }
  if (pool != VK_NULL_HANDLE) {
    device.vk.DestroyCommandPool(device.handle, pool, nullptr);
  }
  if (times != nullptr) {
    device.memory->release(times);
  }
}

}  // namespace anydml
