// SPDX-License-Identifier: MIT
#include "backend/vulkan/program.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

#include "backend/vulkan/pipelines.h"
#include "backend/vulkan/queue.h"
#include "base/checked.h"

namespace anydml::vulkan {
namespace {

constexpr std::size_t kMaxIdle = 4;  // recordings of a program that are kept
constexpr std::uint64_t kParametersAlignment = 256;

BackendStatus prepare_step(const Step& step, ProgramBody& body) {
  if (step.role != StepRole::main) {
    return {BackendCode::not_joined, "the Vulkan backend joins no steps"};
  }
  const FamilyEntry entry = find_family(step.family);
  if (entry.family == nullptr) {
    return {BackendCode::failed, entry.missing};
  }
  PlacedStep& placed = body.steps.emplace_back();
  const char* why = "the plan requires a kernel that the Vulkan backend does not have";
  placed.prepared = entry.family->prepare(step, *body.device.pipelines, &why);
  if (placed.prepared == nullptr) {
    return {BackendCode::failed, why};
  }
  placed.operands.assign(step.operands.begin(), step.operands.end());
  placed.first_entry = body.entries + 1;
  body.entries += static_cast<std::uint32_t>(placed.operands.size()) + 2;  // with the workspace and cut_loops
  std::vector<KernelRef> kernels = placed.prepared->kernels();
  std::ranges::move(kernels, std::back_inserter(body.kernels));
  return kOk;
}

// The steps run one after another, so one workspace is enough for all of them.
BackendStatus place_workspace(const BackendPlan& plan, ProgramBody& body) {
  std::uint64_t maximum = 0;
  for (const PlacedStep& step : body.steps) {
    maximum = std::max(maximum, step.prepared->workspace_bytes());
  }
  body.temporary_slot = plan.temporary_slot;
  body.temporary_bytes = plan.temporary_bytes;
  if (maximum == 0) {
    return kOk;
  }
  const auto offset = checked_align_bytes(plan.temporary_bytes, kTemporaryAlignment);
  const auto end = offset ? checked_add_bytes(*offset, maximum) : std::nullopt;
  if (!end) {
    return {BackendCode::out_of_memory, "the workspace of the kernels has more bytes than 64 bits can count"};
  }
  body.workspace_offset = *offset;
  body.temporary_bytes = *end;
  return kOk;
}

BackendStatus place_parameters(ProgramBody& body) {
  std::uint64_t bytes = 0;
  for (PlacedStep& step : body.steps) {
    step.parameters_offset = bytes;
    const std::uint64_t own = step.prepared->parameters().size();
    bytes += (own + kParametersAlignment - 1) / kParametersAlignment * kParametersAlignment;
  }
  if (bytes == 0) {
    return kOk;
  }
  const BackendStatus status = body.device.memory->allocate(Placement::table, bytes, &body.parameters);
  if (status.code == BackendCode::ok) {
    for (const PlacedStep& step : body.steps) {
      const std::span<const std::byte> own = step.prepared->parameters();
      std::copy(own.begin(), own.end(), body.parameters->host + step.parameters_offset);
    }
  }
  return status;
}

BackendStatus wait_for_kernels(const ProgramBody& body) {
  for (const KernelRef& kernel : body.kernels) {
    if (const std::string& error = kernel->wait(); !error.empty()) {
      return {BackendCode::failed, keep_message(error)};
    }
  }
  body.device.pipelines->save();
  return kOk;
}

// Gives a recording back to its program when the run is done.
struct ReturnRecording {
  std::shared_ptr<ProgramBody> body;
  void operator()(Recording* recording) const noexcept {
    std::unique_ptr<Recording> owned(recording);
    try {
      const std::scoped_lock lock(body->mutex);
      if (body->idle.size() < kMaxIdle) {
        body->idle.push_back(std::move(owned));
      }
    } catch (...) {  // without memory for the list, the recording is destroyed
    }
  }
};

std::unique_ptr<Recording> take_idle(ProgramBody& body, const std::vector<std::uint8_t>& low_bits) {
  const std::scoped_lock lock(body.mutex);
  const auto found = std::ranges::find(body.idle, low_bits, &Recording::low_bits);
  if (found == body.idle.end()) {
    // One that was not used for the longest time makes room.
    if (body.idle.size() == kMaxIdle) {
      body.idle.erase(body.idle.begin());
    }
    return nullptr;
  }
  std::unique_ptr<Recording> taken = std::move(*found);
  body.idle.erase(found);
  return taken;
}

void fail_if_told(BackendDevice& device) {
  if (device.runs_left.load(std::memory_order_relaxed) > 0 && device.runs_left.fetch_sub(1) == 1) {
    fail(device, "the Vulkan device was told to fail (ANYDML_VULKAN_FAILS)");
  }
}

}  // namespace

Recording::~Recording() {
  if (pool != VK_NULL_HANDLE && !was_forked()) {
    device.vk.DestroyCommandPool(device.handle, pool, nullptr);
  }
  if (table != nullptr) {
    device.memory->release(table);
  }
}

ProgramBody::~ProgramBody() {
  idle.clear();
  if (parameters != nullptr) {
    device.memory->release(parameters);
  }
}

BackendStatus compile(BackendDevice* device, const BackendPlan* plan, BackendProgram** program) noexcept {
  if (const BackendStatus state = state_of(*device); state.code != BackendCode::ok) {
    return state;
  }
  try {
    auto compiled = std::make_unique<BackendProgram>();
    compiled->body = std::make_shared<ProgramBody>(*device);
    ProgramBody& body = *compiled->body;
    BackendStatus status = kOk;
    for_each_step(std::span(plan->words, plan->word_count), [&](const Step& step) {
      status = prepare_step(step, body);
      return status.code == BackendCode::ok;
    });
    for (const auto next : {+[](const BackendPlan&given, ProgramBody&to) { return place_workspace(given, to); },
                            +[](const BackendPlan&, ProgramBody&to) { return place_parameters(to); },
                            +[](const BackendPlan&, ProgramBody&to) { return wait_for_kernels(to); }}) {
      if (status.code == BackendCode::ok) {
        status = next(*plan, body);
      }
    }
    if (status.code == BackendCode::ok) {
      *program = compiled.release();
    }
    return status;
  } catch (...) {
    return kOutOfMemory;
  }
}

BackendStatus run(BackendQueue* queue, const BackendProgram* program, const DeviceAddress* addresses,
                  const Interrupt* /*interrupt*/) noexcept {
  BackendDevice& device = queue->device;
  fail_if_told(device);
  if (const BackendStatus state = state_of(device); state.code != BackendCode::ok) {
    return state;
  }
  try {
    ProgramBody& body = *program->body;
    if (body.entries == 0) {
      return kOk;
    }
    std::vector<DeviceAddress> table(body.entries);
    std::vector<std::uint8_t> low_bits(body.entries);
    for (const PlacedStep& step : body.steps) {
      std::size_t entry = step.first_entry;
      table[entry - 1] = device.cut_loops != nullptr ? device.cut_loops->address : 0;
      for (const Operand& operand : step.operands) {
        table[entry++] = has_address(operand.slot) ? addresses[operand.slot] + operand.offset : 0;
      }
      table[entry] = step.prepared->workspace_bytes() != 0 ? addresses[body.temporary_slot] + body.workspace_offset : 0;
    }
    for (std::size_t i = 0; i < table.size(); ++i) {
      low_bits[i] = static_cast<std::uint8_t>(table[i] % Recorder::kLowBits);
    }
    std::unique_ptr<Recording> found = take_idle(body, low_bits);
    if (found == nullptr) {
      if (const BackendStatus status = record(body, low_bits, found); status.code != BackendCode::ok) {
        return status;
      }
    }
    const std::shared_ptr<Recording> recording(found.release(), ReturnRecording{program->body});
    std::memcpy(recording->table->host, table.data(), table.size() * sizeof(table[0]));
    for (const Recording::Part& part : recording->parts) {
      if (const BackendStatus status = add_recorded(*queue, part.commands, part.operations);
          status.code != BackendCode::ok) {
        return status;
      }
      // Each batch with a part keeps the recording.
      if (queue->held.empty() || queue->held.back() != recording) {
        queue->held.push_back(recording);
      }
    }
    return kOk;
  } catch (...) {
    return kOutOfMemory;
  }
}

void explain(const BackendProgram* program, char* text, std::uint64_t capacity) noexcept {
  const ProgramBody& body = *program->body;
  if (body.steps.empty()) {
    std::snprintf(text, capacity, "nothing to do");
    return;
  }
  char kernel[128];
  body.steps.back().prepared->explain(kernel, sizeof(kernel));
  if (body.steps.size() == 1) {
    std::snprintf(text, capacity, "%s, Vulkan kernel", kernel);
  } else {
    std::snprintf(text, capacity, "%s, Vulkan kernel, %zu steps", kernel, body.steps.size());
  }
}

}  // namespace anydml::vulkan
