// SPDX-License-Identifier: MIT
// The kernels of a device: pipelines that are created on demand, by several threads, and kept on disk by the driver's
// own cache.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "backend/vulkan/device.h"
#include "backend/vulkan/family.h"

namespace anydml::vulkan {

class Kernel {
 public:
  explicit Kernel(BackendDevice& device) : device_(device) {}
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // Waits until the pipeline has been created. Returns an empty text, or the reason for a failure.
  [[nodiscard]] const std::string& wait() const;
  [[nodiscard]] bool has_failed() const;
  // Not before wait.
  [[nodiscard]] VkPipeline pipeline() const { return pipeline_; }
  void set(VkPipeline pipeline, std::string error);

 private:
  BackendDevice& device_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool done_ = false;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  std::string error_;
};

class Pipelines final : public Kernels {
 public:
  // Reads the cache on disk.
  explicit Pipelines(BackendDevice& device) : device_(device) {}
  ~Pipelines() override;
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;
  // Called once, before anything else.
  [[nodiscard]] VkResult open();

  [[nodiscard]] const GpuProperties& gpu() const noexcept override { return device_.gpu; }
  [[nodiscard]] KernelRef find(KernelCode code, std::span<const std::uint32_t> constants) override;
  struct Found {
    KernelRef kernel;
    std::string error;  // empty if the kernel can be used
  };
  // For the backend's own kernels: waits for the kernel. May throw std::bad_alloc.
  [[nodiscard]] Found find_now(KernelCode code, std::span<const std::uint32_t> constants);
  [[nodiscard]] VkPipelineLayout layout() const { return layout_; }
  // Writes new pipelines to disk, unless this was done a short time ago.
  void save() noexcept;

 private:
  struct Job {
    std::shared_ptr<Kernel> kernel;
    KernelCode code;
    std::vector<std::uint32_t> constants;
    bool is_guarded;  // spirv/loop_guard.h
  };
  using Key = std::pair<std::string, std::vector<std::uint32_t>>;
  [[nodiscard]] KernelRef find(KernelCode code, std::span<const std::uint32_t> constants, bool is_guarded);
  void start_threads();
  void work() noexcept;
  void create(const Job& job) noexcept;

  BackendDevice& device_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  std::mutex mutex_;
  std::condition_variable wanted_;
  bool ends_ = false;
  std::deque<Job> jobs_;
  std::vector<std::thread> threads_;
  std::map<Key, std::weak_ptr<Kernel>> kernels_;
  std::deque<std::shared_ptr<Kernel>> recent_;  // kept although no program may use them
  std::uint64_t created_ = 0;
  std::mutex save_mutex_;
  std::uint64_t saved_ = 0;
  std::int64_t next_save_ = 0;  // in nanoseconds
};

// Records a dispatch of a kernel that has been created, or a part of it that begins with the group `begin`. It is split
// into rows that the device allows. header: the members for groups are set here.
void record_dispatch(const BackendDevice& device, VkCommandBuffer commands, const Kernel& kernel, KernelHeader header,
                     std::span<const std::byte> constants, std::uint32_t groups, std::uint32_t begin = 0);

// Keeps a message for this thread, until the next one.
[[nodiscard]] const char* keep_message(std::string message);

}  // namespace anydml::vulkan
