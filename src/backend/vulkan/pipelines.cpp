// SPDX-License-Identifier: MIT
#include "backend/vulkan/pipelines.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "backend/vulkan/disk.h"
#include "backend/vulkan/spirv/loop_guard.h"

namespace anydml::vulkan {
namespace {

constexpr std::size_t kMaxThreads = 8;
constexpr std::size_t kMaxRecent = 512;
constexpr std::uint32_t kMaxRowGroups = 65535;  // that every device allows
constexpr std::int64_t kSaveShare = 20;         // of the time may pass until pipelines are saved again

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

const char* keep_message(std::string message) {
  thread_local auto* const kept = new std::string;  // never freed, because other code may use it while the thread ends
  *kept = std::move(message);
  return kept->c_str();
}

// ---- One kernel ----

Kernel::~Kernel() {
  if (pipeline_ != VK_NULL_HANDLE && !was_forked()) {
    device_.vk.DestroyPipeline(device_.handle, pipeline_, nullptr);
  }
}

const std::string& Kernel::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_; });
  return error_;
}

bool Kernel::has_failed() const {
  const std::scoped_lock lock(mutex_);
  return !error_.empty();
}

void Kernel::set(VkPipeline pipeline, std::string error) {
  {
    const std::scoped_lock lock(mutex_);
    pipeline_ = pipeline;
    error_ = std::move(error);
    done_ = true;
  }
  changed_.notify_all();
}

// ---- All kernels ----

VkResult Pipelines::open() {
  VkPushConstantRange range{};
  range.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  range.size = kMaxPushBytes;
  VkPipelineLayoutCreateInfo layout{};
  layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
  if (const VkResult result = device_.vk.CreatePipelineLayout(device_.handle, &layout, nullptr, &layout_);
      result != VK_SUCCESS) {
    return result;
  }
  const std::vector<std::byte> known = read_cache(cache_file(device_.candidate, "pipelines"));
  VkPipelineCacheCreateInfo cache{};
  cache.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  cache.initialDataSize = known.size();
  cache.pInitialData = known.empty() ? nullptr : known.data();
  return device_.vk.CreatePipelineCache(device_.handle, &cache, nullptr, &cache_);
}

Pipelines::~Pipelines() {
  if (was_forked()) {
    for (std::thread& thread : threads_) {
      thread.detach();  // it does not exist in this process
    }
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  wanted_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  next_save_ = 0;
  save();
  recent_.clear();
  device_.vk.DestroyPipelineCache(device_.handle, cache_, nullptr);
  device_.vk.DestroyPipelineLayout(device_.handle, layout_, nullptr);
}

// Called with the mutex held. Signals belong to the application, so the threads start with all of them blocked.
void Pipelines::start_threads() {
  const std::size_t wanted =
      std::min({jobs_.size(), kMaxThreads, std::max<std::size_t>(1, std::thread::hardware_concurrency())});
  if (threads_.size() >= wanted) {
    return;
  }
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    while (threads_.size() < wanted) {
      threads_.emplace_back([this] { work(); });
    }
  } catch (...) {  // the threads that exist do all the work
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Pipelines::work() noexcept {
  std::unique_lock lock(mutex_);
  while (true) {
    wanted_.wait(lock, [&] { return ends_ || !jobs_.empty(); });
    if (jobs_.empty()) {
      return;
    }
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    create(job);
    lock.lock();
    ++created_;
  }
}

void Pipelines::create(const Job& job) noexcept {
  const auto fail = [&](const char* why) noexcept {
    try {
      job.kernel->set(VK_NULL_HANDLE, "the Vulkan kernel " + job.code.key + ": " + why);
    } catch (...) {
      job.kernel->set(VK_NULL_HANDLE, "no memory");
    }
  };
  try {
    std::vector<std::uint32_t> made;
    std::span<const std::uint32_t> words = job.code.words;
    if (words.empty()) {
      made = job.code.make();
      words = made;
    }
    if (job.is_guarded) {
      made = spirv::guard_loops(words);
      words = made;
    }
    VkShaderModuleCreateInfo module_info{};
    module_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module_info.codeSize = words.size_bytes();
    module_info.pCode = words.data();
    VkShaderModule module = VK_NULL_HANDLE;
    VkResult result = device_.vk.CreateShaderModule(device_.handle, &module_info, nullptr, &module);
    VkPipeline pipeline = VK_NULL_HANDLE;
    if (result == VK_SUCCESS) {
      std::vector<VkSpecializationMapEntry> entries;
      for (std::uint32_t i = 0; i < job.constants.size(); ++i) {
        entries.push_back({.constantID = i, .offset = i * 4, .size = 4});
      }
      VkSpecializationInfo constants{};
      constants.mapEntryCount = static_cast<std::uint32_t>(entries.size());
      constants.pMapEntries = entries.data();
      constants.dataSize = job.constants.size() * 4;
      constants.pData = job.constants.data();
      VkComputePipelineCreateInfo info{};
      info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
      info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
      info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
      info.stage.module = module;
      info.stage.pName = "main";
      info.stage.pSpecializationInfo = entries.empty() ? nullptr : &constants;
      info.layout = layout_;
      result = device_.vk.CreateComputePipelines(device_.handle, cache_, 1, &info, nullptr, &pipeline);
      device_.vk.DestroyShaderModule(device_.handle, module, nullptr);
    }
    if (result != VK_SUCCESS) {
      fail(name_of(result));
      return;
    }
    job.kernel->set(pipeline, {});
  } catch (const std::runtime_error& error) {
    fail(error.what());
  } catch (...) {
    fail("no memory");
  }
}

KernelRef Pipelines::find(KernelCode code, std::span<const std::uint32_t> constants) {
  return find(std::move(code), constants, device_.cut_loops != nullptr);
}

KernelRef Pipelines::find(KernelCode code, std::span<const std::uint32_t> constants, bool is_guarded) {
  Key key{code.key, {constants.begin(), constants.end()}};
  const std::scoped_lock lock(mutex_);
  if (const auto known = kernels_.find(key); known != kernels_.end()) {
    if (std::shared_ptr<Kernel> kernel = known->second.lock(); kernel != nullptr && !kernel->has_failed()) {
      return kernel;
    }
  }
  auto kernel = std::make_shared<Kernel>(device_);
  // The kernel becomes known only when a thread will create it: others would wait for it forever.
  jobs_.push_back({kernel, std::move(code), key.second, is_guarded});
  try {
    start_threads();
    if (threads_.empty()) {
      throw std::bad_alloc();
    }
    recent_.push_back(kernel);
    kernels_[std::move(key)] = kernel;
  } catch (...) {
    jobs_.pop_back();
    throw;
  }
  if (recent_.size() > kMaxRecent) {
    recent_.pop_front();
    std::erase_if(kernels_, [](const auto& one) { return one.second.expired(); });
  }
  wanted_.notify_one();
  return kernel;
}

Pipelines::Found Pipelines::find_now(KernelCode code, std::span<const std::uint32_t> constants) {
  Found found{.kernel = find(std::move(code), constants, false), .error = {}};
  found.error = found.kernel->wait();
  return found;
}

void Pipelines::save() noexcept {
  const std::scoped_lock save_lock(save_mutex_);
  try {
    std::uint64_t created = 0;
    {
      const std::scoped_lock lock(mutex_);
      created = created_;
    }
    const std::int64_t begin = now();
    if (created == saved_ || begin < next_save_) {
      return;
    }
    const std::string path = cache_file(device_.candidate, "pipelines");
    std::size_t bytes = 0;
    if (path.empty() || device_.vk.GetPipelineCacheData(device_.handle, cache_, &bytes, nullptr) != VK_SUCCESS) {
      return;
    }
    std::vector<std::byte> data(bytes);
    if (device_.vk.GetPipelineCacheData(device_.handle, cache_, &bytes, data.data()) == VK_SUCCESS) {
      data.resize(bytes);
      write_cache(path, data);
      saved_ = created;
    }
    next_save_ = now() + kSaveShare * (now() - begin);
  } catch (...) {  // the next process creates the pipelines again
  }
}

// ---- Dispatches ----

void record_dispatch(const BackendDevice& device, VkCommandBuffer commands, const Kernel& kernel, KernelHeader header,
                     std::span<const std::byte> constants, std::uint32_t groups, std::uint32_t begin) {
  const DeviceFunctions& vk = device.vk;
  vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline());
  std::byte push[kMaxPushBytes] = {};
  std::memcpy(push + sizeof(header), constants.data(), std::min(constants.size(), kMaxConstantBytes));
  const std::uint32_t max_columns = std::min(device.candidate.max_groups[0], std::max(kMaxRowGroups, groups));
  const std::uint32_t max_rows = std::min(device.candidate.max_groups[1], kMaxRowGroups);
  for (std::uint32_t first = 0; first < groups;) {
    const std::uint32_t rest = groups - first;
    header.first_group = begin + first;
    header.columns = std::min(rest, max_columns);
    const std::uint32_t rows = std::min(rest / header.columns, max_rows);
    std::memcpy(push, &header, sizeof(header));
    vk.CmdPushConstants(commands, device.pipelines->layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(push), push);
    vk.CmdDispatch(commands, header.columns, rows, 1);
    first += header.columns * rows;
  }
}

}  // namespace anydml::vulkan
