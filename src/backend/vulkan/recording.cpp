// SPDX-License-Identifier: MIT
// Records the steps of a program, with barriers only between steps that depend on each other.
#include <algorithm>
#include <cstdint>
#include <span>

#include "backend/vulkan/pipelines.h"
#include "backend/vulkan/program.h"
#include "backend/vulkan/queue.h"

namespace anydml::vulkan {
namespace {

// Bytes of a slot that a step uses. The end of an open range is INT64_MAX.
struct Range {
  std::uint32_t slot;
  std::int64_t begin;
  std::int64_t end;
  bool is_written;
};

std::int64_t shifted(std::int64_t position, std::uint64_t offset) {
  if (position == INT64_MIN || position == INT64_MAX) {
    return position;
  }
  std::int64_t result = 0;
  return __builtin_add_overflow(position, static_cast<std::int64_t>(offset), &result) ? INT64_MAX : result;
}

// The uses of all steps since the last barrier.
class Uses {
 public:
  explicit Uses(std::uint32_t temporary_slot) : temporary_slot_(temporary_slot) {}

  [[nodiscard]] bool conflict(const Range& next) const {
    return std::ranges::any_of(ranges_, [&](const Range& one) {
      if (!one.is_written && !next.is_written) {
        return false;
      }
      if (one.slot != next.slot) {
        // Tensors of the caller in different slots may be at the same address: an output in place of an input.
        return one.slot != temporary_slot_ && next.slot != temporary_slot_ && !(one.is_written && next.is_written);
      }
      return one.begin < next.end && next.begin < one.end;
    });
  }
  void add(const Range& range) { ranges_.push_back(range); }
  void clear() { ranges_.clear(); }

 private:
  std::uint32_t temporary_slot_;
  std::vector<Range> ranges_;
};

void kernel_barrier(const DeviceFunctions& vk, VkCommandBuffer commands) {
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
  vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1,
                        &barrier, 0, nullptr, 0, nullptr);
}

class StepRecorder final : public Recorder {
 public:
  StepRecorder(const ProgramBody& body, Recording& recording)
      : body_(body), recording_(recording), uses_(body.temporary_slot) {}

  BackendStatus record_all() {
    for (const PlacedStep& step : body_.steps) {
      begin_step(step);
      step.prepared->record(*this);
      if (status_.code != BackendCode::ok) {
        return status_;
      }
    }
    end_part();
    return status_;
  }

  [[nodiscard]] std::uint32_t low_bits(std::size_t operand) const noexcept override {
    return recording_.low_bits[step_->first_entry + operand];
  }

  void dispatch(const Kernel& kernel, std::uint32_t groups, std::span<const std::byte> constants,
                std::uint64_t operations) override {
    const std::uint64_t most = body_.device.max_operations;
    const std::uint64_t each = std::max<std::uint64_t>(operations, 1);
    const auto whole = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(most / each, 1, groups));
    const KernelHeader header{
        .operands = recording_.table->address + std::uint64_t{step_->first_entry} * sizeof(DeviceAddress),
        .parameters = step_->prepared->parameters().empty() ? 0 : body_.parameters->address + step_->parameters_offset,
        .first_group = 0,
        .columns = 0};
    for (std::uint32_t first = 0; first < groups;) {
      const std::uint32_t count = std::min(whole, groups - first);
      const std::uint64_t cost = count * each;
      if (commands_ != VK_NULL_HANDLE && recording_.parts.back().operations + cost > most) {
        end_part();
      }
      if (!begin_part()) {
        return;
      }
      record_dispatch(body_.device, commands_, kernel, header, constants, count, first);
      recording_.parts.back().operations += cost;
      first += count;
    }
  }

  void barrier() override {
    if (commands_ != VK_NULL_HANDLE) {
      kernel_barrier(body_.device.vk, commands_);
    }
  }

 private:
  void begin_step(const PlacedStep& step) {
    step_ = &step;
    ranges_.clear();
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      const Operand& operand = step.operands[i];
      if (has_address(operand.slot)) {
        const OperandUse use = step.prepared->use_of(i);
        ranges_.push_back({.slot = operand.slot,
                           .begin = shifted(use.begin, operand.offset),
                           .end = shifted(use.end, operand.offset),
                           .is_written = use.is_written});
      }
    }
    if (const std::uint64_t bytes = step.prepared->workspace_bytes(); bytes != 0) {
      const auto begin = static_cast<std::int64_t>(body_.workspace_offset);
      ranges_.push_back({.slot = body_.temporary_slot,
                         .begin = begin,
                         .end = begin + static_cast<std::int64_t>(bytes),
                         .is_written = true});
    }
    if (std::ranges::any_of(ranges_, [&](const Range& range) { return uses_.conflict(range); })) {
      barrier();
      uses_.clear();
    }
    for (const Range& range : ranges_) {
      uses_.add(range);
    }
  }

  bool begin_part() {
    if (commands_ != VK_NULL_HANDLE) {
      return true;
    }
    const DeviceFunctions& vk = body_.device.vk;
    recording_.parts.reserve(recording_.parts.size() + 1);
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = recording_.pool;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkResult result = vk.AllocateCommandBuffers(body_.device.handle, &info, &commands);
    if (result == VK_SUCCESS) {
      VkCommandBufferBeginInfo begin{};
      begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
      result = vk.BeginCommandBuffer(commands, &begin);
    }
    if (result != VK_SUCCESS) {
      status_ = status_of(body_.device, result);
      return false;
    }
    commands_ = commands;
    recording_.parts.push_back({.commands = commands, .operations = 0});
    full_barrier(vk, commands_);
    return true;
  }

  void end_part() {
    if (commands_ == VK_NULL_HANDLE) {
      return;
    }
    barrier_for_cpu(body_.device.vk, commands_);
    const VkResult result = body_.device.vk.EndCommandBuffer(commands_);
    commands_ = VK_NULL_HANDLE;
    if (result != VK_SUCCESS) {
      status_ = status_of(body_.device, result);
    }
  }

  const ProgramBody& body_;
  Recording& recording_;
  Uses uses_;
  const PlacedStep* step_ = nullptr;
  std::vector<Range> ranges_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  BackendStatus status_ = kOk;
};

}  // namespace

BackendStatus record(const ProgramBody& body, const std::vector<std::uint8_t>& low_bits,
                     std::unique_ptr<Recording>& recording) {
  BackendDevice& device = body.device;
  auto made = std::make_unique<Recording>(device);
  made->low_bits = low_bits;
  BackendStatus status =
      device.memory->allocate(Placement::table, low_bits.size() * sizeof(DeviceAddress), &made->table);
  if (status.code != BackendCode::ok) {
    return status;
  }
  VkCommandPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.queueFamilyIndex = device.candidate.queue_family;
  if (const VkResult result = device.vk.CreateCommandPool(device.handle, &pool, nullptr, &made->pool);
      result != VK_SUCCESS) {
    return status_of(device, result);
  }
  status = StepRecorder(body, *made).record_all();
  if (status.code == BackendCode::ok) {
    recording = std::move(made);
  }
  return status;
}

}  // namespace anydml::vulkan
