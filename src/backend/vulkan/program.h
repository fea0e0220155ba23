// SPDX-License-Identifier: MIT
// A compiled plan: its steps, prepared by their families, and the command buffers in which they are recorded.
//
// A recording has its own table of addresses, which a run fills before it is submitted, so one recording serves all
// runs whose addresses have the same low bits, one run at a time. Runs at the same time use several recordings.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/backend.h"
#include "backend/vulkan/device.h"
#include "backend/vulkan/family.h"
#include "backend/vulkan/memory.h"

namespace anydml {
namespace vulkan {

struct PlacedStep {
  std::unique_ptr<PreparedStep> prepared;
  std::vector<Operand> operands;
  std::uint32_t first_entry = 0;        // of its operands in the table of addresses, after that of cut_loops
  std::uint64_t parameters_offset = 0;  // in the program's parameters, if it has any
};

struct Recording {
  struct Part {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    std::uint64_t operations = 0;
  };
  explicit Recording(BackendDevice& owner) : device(owner) {}
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  BackendDevice& device;
  VkCommandPool pool = VK_NULL_HANDLE;
  std::vector<Part> parts;
  BackendMemory* table = nullptr;
  std::vector<std::uint8_t> low_bits;  // of each entry of the table
};

// The part of a program that its runs keep alive.
struct ProgramBody {
  explicit ProgramBody(BackendDevice& owner) : device(owner) {}
  ~ProgramBody();
  ProgramBody(const ProgramBody&) = delete;
  ProgramBody& operator=(const ProgramBody&) = delete;

  BackendDevice& device;
  std::vector<PlacedStep> steps;
  std::vector<KernelRef> kernels;
  BackendMemory* parameters = nullptr;  // null if no step has any
  std::uint32_t entries = 0;            // in a table of addresses
  std::uint32_t temporary_slot = 0;
  std::uint64_t workspace_offset = 0;  // from the address of the temporary slot
  std::uint64_t temporary_bytes = 0;   // up to the end of the workspace, which all steps share

  std::mutex mutex;
  std::vector<std::unique_ptr<Recording>> idle;
};

}  // namespace vulkan

struct BackendProgram {
  std::shared_ptr<vulkan::ProgramBody> body;
};

namespace vulkan {

[[nodiscard]] BackendStatus compile(BackendDevice* device, const BackendPlan* plan, BackendProgram** program) noexcept;
[[nodiscard]] BackendStatus run(BackendQueue* queue, const BackendProgram* program, const DeviceAddress* addresses,
                                const Interrupt* interrupt) noexcept;
void explain(const BackendProgram* program, char* text, std::uint64_t capacity) noexcept;

// Records the steps for addresses with these low bits. May throw std::bad_alloc.
[[nodiscard]] BackendStatus record(const ProgramBody& body, const std::vector<std::uint8_t>& low_bits,
                                   std::unique_ptr<Recording>& recording);

}  // namespace vulkan
}  // namespace anydml
