// SPDX-License-Identifier: MIT
// Copies, fills and timestamps.
//
// Copies between blocks are commands of the device. The CPU's memory is not known to the device, so copies from it and
// to it pass through staging memory: the CPU copies from its memory during the call, and to its memory when somebody
// asks whether a later mark has been passed.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/vulkan/pipelines.h"
#include "backend/vulkan/queue.h"
#include "shaders/fill_pattern.h"
#include "shaders/timestamp.h"

namespace anydml::vulkan {
namespace {

constexpr std::uint64_t kMaxStaged = std::uint64_t{16} << 20;         // bytes of one piece of staging memory
constexpr std::uint64_t kMaxStagedInBatch = std::uint64_t{64} << 20;  // then the batch is submitted
constexpr std::uint64_t kMaxSpare = std::uint64_t{64} << 20;
constexpr std::uint32_t kFillThreads = 256;
constexpr std::uint32_t kFillWords = 4;  // for each thread

std::byte* pointer_of(MemoryLocation location) { return reinterpret_cast<std::byte*>(location.offset); }

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

// Pointers to mapped blocks are as good as their handles, and the device sees what earlier work wrote there.
MemoryLocation resolve(const BackendQueue& queue, MemoryLocation location, std::uint64_t bytes) {
  if (location.block == nullptr) {
    static_cast<void>(queue.device.memory->find(pointer_of(location), bytes, location));
  }
  return location;
}

BackendStatus copy_blocks(BackendQueue& queue, const BackendMemory& to, std::uint64_t to_offset,
                          const BackendMemory& from, std::uint64_t from_offset, std::uint64_t bytes) {
  BackendStatus status = kOk;
  VkCommandBuffer commands = begin_work(queue, status);
  if (commands != VK_NULL_HANDLE) {
    const VkBufferCopy region{
        .srcOffset = from.offset + from_offset, .dstOffset = to.offset + to_offset, .size = bytes};
    queue.device.vk.CmdCopyBuffer(commands, from.buffer, to.buffer, 1, &region);
  }
  return status;
}

// Takes staging memory that lives until the batch is done.
BackendStatus stage(BackendQueue& queue, Placement placement, std::uint64_t bytes,
                    std::shared_ptr<StagingBlock>& block) {
  BackendStatus status = kOk;
  if (queue.staging_bytes + bytes > kMaxStagedInBatch) {
    // At most two batches use staging memory.
    status = flush(queue);
    if (status.code == BackendCode::ok && queue.next > 2) {
      status = queue.timeline->wait(queue.next - 2);
    }
  }
  if (status.code == BackendCode::ok) {
    status = queue.device.staging->take(placement, bytes, block);
  }
  if (status.code == BackendCode::ok) {
    queue.staging_bytes += bytes;
    queue.held.push_back(block);
  }
  return status;
}

BackendStatus copy_from_cpu(BackendQueue& queue, const BackendMemory& to, std::uint64_t offset, const std::byte* from,
                            std::uint64_t bytes) {
  BackendStatus status = queue.timeline->will_write(from, bytes) ? finish(queue) : kOk;
  while (bytes != 0 && status.code == BackendCode::ok) {
    const std::uint64_t piece = std::min(bytes, kMaxStaged);
    std::shared_ptr<StagingBlock> block;
    status = stage(queue, Placement::upload, piece, block);
    if (status.code == BackendCode::ok) {
      std::memcpy(block->memory().host, from, piece);
      status = copy_blocks(queue, to, offset, block->memory(), 0, piece);
    }
    from += piece;
    offset += piece;
    bytes -= piece;
  }
  return status;
}

BackendStatus copy_to_cpu(BackendQueue& queue, std::byte* to, const BackendMemory& from, std::uint64_t offset,
                          std::uint64_t bytes) {
  BackendStatus status = kOk;
  while (bytes != 0 && status.code == BackendCode::ok) {
    const std::uint64_t piece = std::min(bytes, kMaxStaged);
    std::shared_ptr<StagingBlock> block;
    status = stage(queue, Placement::readback, piece, block);
    if (status.code == BackendCode::ok) {
      status = copy_blocks(queue, block->memory(), 0, from, offset, piece);
    }
    if (status.code == BackendCode::ok) {
      queue.timeline->copy_later(queue.next, std::move(block), to, piece);
    }
    to += piece;
    offset += piece;
    bytes -= piece;
  }
  return status;
}

// The constants of fill_pattern.comp.
struct FillConstants {
  std::uint64_t to;
  std::uint64_t words;
  std::uint32_t pattern[4];
};

BackendStatus fill_pattern(BackendQueue& queue, DeviceAddress to, std::uint64_t bytes, const std::uint32_t* pattern) {
  const auto kernel =
      queue.device.pipelines->find_now({.key = "fill_pattern", .words = k_fill_pattern, .make = {}}, {});
  if (!kernel.error.empty()) {
    return {BackendCode::failed, keep_message(kernel.error)};
  }
  FillConstants constants{.to = to, .words = bytes / 4, .pattern = {}};
  std::copy_n(pattern, 4, constants.pattern);
  const std::uint64_t groups = (bytes / 4 + kFillThreads * kFillWords - 1) / (kFillThreads * kFillWords);
  constexpr std::uint64_t kMaxGroups = 0xffff'fffc;  // more than any memory has
  if (groups > kMaxGroups) {
    return kOutOfMemory;
  }
  BackendStatus status = kOk;
  VkCommandBuffer commands = begin_work(queue, status);
  if (commands != VK_NULL_HANDLE) {
    record_dispatch(queue.device, commands, *kernel.kernel, {}, std::as_bytes(std::span(&constants, 1)),
                    static_cast<std::uint32_t>(groups));
    queue.held.push_back(std::const_pointer_cast<Kernel>(kernel.kernel));
  }
  return status;
}

// The constants of timestamp.comp.
struct TimestampConstants {
  std::uint64_t raw;  // the address of the ticks, and of the last ticks and the wraps of the counter after them
  std::uint64_t to;
  std::uint64_t mask;
  std::uint64_t period_whole;
  std::uint64_t period_fraction;  // in units of 2^-32
};

BackendStatus prepare_times(BackendQueue& queue) {
  if (queue.times != nullptr) {
    return kOk;
  }
  BackendDevice& device = queue.device;
  if (queue.queries == VK_NULL_HANDLE) {
    VkQueryPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = 1;
    if (const VkResult result = device.vk.CreateQueryPool(device.handle, &info, nullptr, &queue.queries);
        result != VK_SUCCESS) {
      return status_of(device, result);
    }
  }
  BackendMemory* memory = nullptr;
  BackendStatus status = device.memory->allocate(Placement::device, 24, &memory);
  if (status.code != BackendCode::ok) {
    return status;
  }
  queue.times = memory;
  VkCommandBuffer commands = begin_work(queue, status);
  if (commands != VK_NULL_HANDLE) {
    device.vk.CmdFillBuffer(commands, memory->buffer, memory->offset, 24, 0);
  }
  return status;
}

}  // namespace

// ---- Staging memory ----

StagingBlock::~StagingBlock() { owner_.give_back(placement_, memory_); }

Staging::~Staging() {
  for (auto& blocks : spare_) {
    for (BackendMemory* block : blocks) {
      memory_.release(block);
    }
  }
}

BackendStatus Staging::take(Placement placement, std::uint64_t bytes, std::shared_ptr<StagingBlock>& block) {
  BackendMemory* memory = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    auto& spare = spare_[static_cast<std::size_t>(placement)];
    auto best = spare.end();
    for (auto one = spare.begin(); one != spare.end(); ++one) {
      if ((*one)->bytes >= bytes && (best == spare.end() || (*one)->bytes < (*best)->bytes)) {
        best = one;
      }
    }
    if (best != spare.end()) {
      memory = *best;
      spare.erase(best);
      spare_bytes_ -= memory->bytes;
    }
  }
  if (memory == nullptr) {
    if (const BackendStatus status = memory_.allocate(placement, bytes, &memory); status.code != BackendCode::ok) {
      return status;
    }
  }
  try {
    block = std::make_shared<StagingBlock>(*this, placement, memory);
  } catch (...) {
    give_back(placement, memory);
    throw;
  }
  return kOk;
}

void Staging::give_back(Placement placement, BackendMemory* memory) noexcept {
  try {
    const std::scoped_lock lock(mutex_);
    if (spare_bytes_ + memory->bytes <= kMaxSpare) {
      spare_[static_cast<std::size_t>(placement)].push_back(memory);
      spare_bytes_ += memory->bytes;
      return;
    }
  } catch (...) {  // without memory for the list, the block is released
  }
  memory_.release(memory);
}

// ---- The table's functions ----

BackendStatus copy(BackendQueue* queue, MemoryLocation to, MemoryLocation from, std::uint64_t bytes) noexcept {
  return guarded(*queue, [&] {
    if (bytes == 0) {  // the addresses may be invalid
      return kOk;
    }
    const MemoryLocation target = resolve(*queue, to, bytes);
    const MemoryLocation source = resolve(*queue, from, bytes);
    if (target.block != nullptr && source.block != nullptr) {
      return copy_blocks(*queue, *target.block, target.offset, *source.block, source.offset, bytes);
    }
    if (target.block != nullptr) {
      return copy_from_cpu(*queue, *target.block, target.offset, pointer_of(source), bytes);
    }
    if (source.block != nullptr) {
      return copy_to_cpu(*queue, pointer_of(target), *source.block, source.offset, bytes);
    }
    const BackendStatus status = finish(*queue);
    if (status.code == BackendCode::ok) {
      std::memcpy(pointer_of(target), pointer_of(source), bytes);
    }
    return status;
  });
}

BackendStatus fill(BackendQueue* queue, MemoryLocation to, std::uint64_t bytes, const std::uint32_t* pattern,
                   std::uint32_t pattern_bytes) noexcept {
  return guarded(*queue, [&] {
    if (bytes == 0) {
      return kOk;
    }
    const MemoryLocation target = resolve(*queue, to, bytes);
    BackendStatus status = kOk;
    if (target.block == nullptr) {
      status = finish(*queue);
      for (std::uint64_t i = 0; i < bytes && status.code == BackendCode::ok; i += pattern_bytes) {
        std::memcpy(pointer_of(target) + i, pattern, std::min<std::uint64_t>(pattern_bytes, bytes - i));
      }
      return status;
    }
    if (pattern_bytes == 16) {
      return fill_pattern(*queue, target.block->address + target.offset, bytes, pattern);
    }
    VkCommandBuffer commands = begin_work(*queue, status);
    if (commands != VK_NULL_HANDLE) {
      queue->device.vk.CmdFillBuffer(commands, target.block->buffer, target.block->offset + target.offset, bytes,
                                     *pattern);
    }
    return status;
  });
}

BackendStatus timestamp(BackendQueue* queue, MemoryLocation to) noexcept {
  return guarded(*queue, [&] {
    BackendDevice& device = queue->device;
    const auto kernel = device.pipelines->find_now({.key = "timestamp", .words = k_timestamp, .make = {}}, {});
    if (!kernel.error.empty()) {
      return BackendStatus{BackendCode::failed, keep_message(kernel.error)};
    }
    BackendStatus status = prepare_times(*queue);
    if (status.code != BackendCode::ok) {
      return status;
    }
    const MemoryLocation target = resolve(*queue, to, 8);
    if (target.block == nullptr) {
      return BackendStatus{BackendCode::failed, "a timestamp was written to memory that the device does not know"};
    }
    VkCommandBuffer commands = begin_work(*queue, status);
    if (commands == VK_NULL_HANDLE) {
      return status;
    }
    const BackendMemory& times = *queue->times;
    device.vk.CmdResetQueryPool(commands, queue->queries, 0, 1);
    device.vk.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queue->queries, 0);
    device.vk.CmdCopyQueryPoolResults(commands, queue->queries, 0, 1, times.buffer, times.offset, 8,
                                      VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    full_barrier(device.vk, commands);
    double whole = 0;
    const double fraction = std::modf(device.candidate.timestamp_period, &whole);
    const TimestampConstants constants{
        .raw = times.address,
        .to = target.block->address + target.offset,
        .mask = device.candidate.timestamp_mask,
        .period_whole = static_cast<std::uint64_t>(whole),
        .period_fraction = static_cast<std::uint64_t>(std::ldexp(fraction, 32)),
    };
    record_dispatch(device, commands, *kernel.kernel, {}, std::as_bytes(std::span(&constants, 1)), 1);
    queue->held.push_back(std::const_pointer_cast<Kernel>(kernel.kernel));
    return status;
  });
}

BackendStatus clear(BackendDevice& device, const BackendMemory& block) {
  const std::scoped_lock lock(device.service_mutex);
  BackendQueue& queue = *device.service;
  BackendStatus status = kOk;
  VkCommandBuffer commands = begin_work(queue, status);
  if (commands != VK_NULL_HANDLE) {
    device.vk.CmdFillBuffer(commands, block.buffer, block.offset, block.bytes, 0);
    status = finish(queue);
  }
  return status;
}

}  // namespace anydml::vulkan
