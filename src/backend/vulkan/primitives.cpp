// SPDX-License-Identifier: MIT
#include "backend/vulkan/primitives.h"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "backend/vulkan/disk.h"
#include "backend/vulkan/pipelines.h"
#include "backend/vulkan/queue.h"
#include "backend/vulkan/spirv/primitives.h"
#include "backend/vulkan/trials.h"

namespace anydml::vulkan {
namespace {

class BlockOwner {
 public:
  explicit BlockOwner(Memory& memory) : memory_(memory) {}
  ~BlockOwner() {
    if (block != nullptr) {
      memory_.release(block);
    }
  }
  BlockOwner(const BlockOwner&) = delete;
  BlockOwner& operator=(const BlockOwner&) = delete;
  BackendMemory* block = nullptr;

 private:
  Memory& memory_;
};

class DeviceTrials final : public TrialRunner {
 public:
  explicit DeviceTrials(BackendDevice& device) : device_(device) {}

  bool run(const KernelCode& code, std::span<const std::uint32_t> constants, std::uint32_t groups,
           std::span<const std::byte> input, std::span<std::byte> output) override {
    const Pipelines::Found kernel = device_.pipelines->find_now(code, constants);
    BlockOwner in(*device_.memory);
    BlockOwner out(*device_.memory);
    BlockOwner table(*device_.memory);
    // The CPU writes and reads all three.
    if (!kernel.error.empty() || !is_ok(device_.memory->allocate(Placement::upload, input.size(), &in.block)) ||
        !is_ok(device_.memory->allocate(Placement::readback, output.size(), &out.block)) ||
        !is_ok(device_.memory->allocate(Placement::table, 2 * sizeof(DeviceAddress), &table.block))) {
      return false;
    }
    const DeviceAddress addresses[2] = {in.block->address, out.block->address};
    std::memcpy(in.block->host, input.data(), input.size());
    std::memset(out.block->host, 0, output.size());
    std::memcpy(table.block->host, addresses, sizeof(addresses));
    const std::scoped_lock lock(device_.service_mutex);
    BackendStatus status = kOk;
    VkCommandBuffer commands = begin_work(*device_.service, status);
    if (commands == VK_NULL_HANDLE) {
      return false;
    }
    KernelHeader header{};
    header.operands = table.block->address;
    record_dispatch(device_, commands, *kernel.kernel, header, {}, groups);
    if (!is_ok(finish(*device_.service))) {
      return false;
    }
    std::memcpy(output.data(), out.block->host, output.size());
    return true;
  }

 private:
  static bool is_ok(BackendStatus status) { return status.code == BackendCode::ok; }

  BackendDevice& device_;
};

// What the file on disk contains.
struct KnownPrimitives {
  std::uint32_t version;
  std::uint32_t unused;
  std::uint64_t primitives;
};

}  // namespace

BackendStatus find_primitives(BackendDevice& device) {
  const char* const setting = ::secure_getenv("ANYDML_VULKAN_PRIMITIVES");
  if (setting != nullptr && std::string_view(setting) == "own") {
    device.gpu.primitives = 0;
    return kOk;
  }
  // A test of the kernels that use spirv::kFusedFlushes, on a device of any kind.
  const bool pretends = setting != nullptr && std::string_view(setting) == "flushing";
  if (setting != nullptr && *setting != '\0' && !pretends) {
    return {BackendCode::failed, "ANYDML_VULKAN_PRIMITIVES is set to an unknown value; expected own or flushing"};
  }
  const auto set = [&](std::uint64_t primitives) {
    device.gpu.primitives = primitives | (pretends ? spirv::kFusedPretends : 0);
  };
  const std::string path = cache_file(device.candidate, "primitives");
  KnownPrimitives known{};
  if (const std::vector<std::byte> bytes = read_cache(path); bytes.size() == sizeof(known)) {
    std::memcpy(&known, bytes.data(), sizeof(known));
    if (known.version == trials_version()) {
      set(known.primitives);
      return kOk;
    }
  }
  DeviceTrials trials(device);
  const std::uint64_t found = try_primitives(device.gpu, trials);
  set(found);
  if (const BackendStatus state = state_of(device); state.code != BackendCode::ok) {
    return state;
  }
  known = {.version = trials_version(), .unused = 0, .primitives = found};
  write_cache(path, std::as_bytes(std::span(&known, 1)));
  return kOk;
}

}  // namespace anydml::vulkan
