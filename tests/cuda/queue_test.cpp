// SPDX-License-Identifier: MIT
// Tests how a queue runs the steps of a program, without a GPU: the addresses passed to launches.
#include "backend/cuda/queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "backend/cuda/kernels/kernels.h"
#include "backend/cuda/program.h"

namespace anydml::cuda {

// Replacements for the parts of the backend that need a device.
const PageHooks kPinnedPages{.prepare = nullptr, .forget = nullptr};
OnDevice::OnDevice(const BackendDevice&) {}
OnDevice::~OnDevice() = default;
BackendStatus status_of(cudaError_t error) noexcept {
  return error == cudaSuccess ? kOk : BackendStatus{BackendCode::failed, "a launch failed"};
}
cudaError_t launch_fill(void*, std::uint64_t, const std::uint32_t*, std::uint32_t, cudaStream_t) noexcept {
  return cudaSuccess;
}
cudaError_t launch_copy(void*, const void*, std::uint64_t, cudaStream_t) noexcept { return cudaSuccess; }
cudaError_t launch_timestamp(std::uint64_t*, cudaStream_t) noexcept { return cudaSuccess; }

namespace {

DeviceAddress number_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

struct Launched {
  std::byte* base;
  std::byte* workspace;
  bool operator==(const Launched&) const = default;
};
std::vector<Launched> g_launched;

class RecordedStep final : public PreparedStep {
 public:
  RecordedStep(std::uint64_t workspace, cudaError_t answer) : workspace_(workspace), answer_(answer) {}
  std::uint64_t workspace_bytes() const noexcept override { return workspace_; }
  cudaError_t launch(std::byte* const* bases, std::byte* workspace, cudaStream_t) const noexcept override {
    g_launched.push_back({bases[0], workspace});
    return answer_;
  }
  void explain(char*, std::size_t) const noexcept override {}

 private:
  std::uint64_t workspace_;
  cudaError_t answer_;
};

void add_step(BackendProgram& program, Operand operand, std::uint64_t workspace, cudaError_t answer = cudaSuccess) {
  BackendProgram::PlacedStep& step = program.steps.emplace_back();
  step.prepared = std::make_unique<RecordedStep>(workspace, answer);
  step.operands = {operand};
}

TEST(Queue, StepsGetTheirOperandsAndTheWorkspaceBehindTheTemporary) {
  BackendDevice device;
  BackendQueue queue;
  queue.device = &device;
  BackendProgram program;
  program.temporary_slot = 1;
  program.workspace_offset = 128;
  add_step(program, {.slot = 0, .type = DataType::FLOAT32, .offset = 12}, 0);
  add_step(program, {.slot = 1, .type = DataType::FLOAT32, .offset = 64}, 1000);
  add_step(program, {.slot = kForwardedSlot, .type = DataType::FLOAT32, .offset = 0}, 8);
  std::byte input[16];
  std::byte temporary[2048];
  const DeviceAddress addresses[] = {number_of(input), number_of(temporary)};
  g_launched.clear();
  EXPECT_EQ(run(&queue, &program, addresses, nullptr).code, BackendCode::ok);
  EXPECT_EQ(g_launched, (std::vector<Launched>{
                            {input + 12, nullptr}, {temporary + 64, temporary + 128}, {nullptr, temporary + 128}}));
}

TEST(Queue, ProgramsThatCannotBeRecordedRunStepByStep) {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) == cudaSuccess && gpus != 0) {
    GTEST_SKIP() << "there is a GPU, which can record every program";
  }
  BackendDevice device;
  BackendQueue queue;
  queue.device = &device;
  BackendProgram program;
  program.recordings = std::make_unique<Recordings>();  // recording fails without a GPU
  program.slots = 1;
  for (int i = 0; i < 4; ++i) {
    add_step(program, {.slot = 0, .type = DataType::FLOAT32, .offset = 0}, 0);
  }
  std::byte memory[16];
  for (int i = 0; i < 3; ++i) {
    const DeviceAddress addresses[] = {number_of(memory)};
    g_launched.clear();
    EXPECT_EQ(run(&queue, &program, addresses, nullptr).code, BackendCode::ok);
    EXPECT_EQ(g_launched, (std::vector<Launched>(4, {memory, nullptr})));
  }
}

TEST(Recordings, AreMadeTheSecondTimeAndKeptForTheLastAddresses) {
  using enum Recordings::Advice;
  Recordings recordings;
  std::byte memory[8];
  const auto advise = [&](int first) {
    const DeviceAddress addresses[] = {number_of(memory + first), number_of(memory)};
    return recordings.advise(addresses, 2);
  };
  EXPECT_EQ(advise(0), run);
  EXPECT_EQ(advise(1), run);
  EXPECT_EQ(advise(0), record);
  EXPECT_EQ(advise(0), record);  // no recording was kept
  for (int other = 2; other < 5; ++other) {
    EXPECT_EQ(advise(other), run);
  }
  EXPECT_EQ(advise(1), run);  // the fourth set of addresses evicted this one
  EXPECT_EQ(advise(4), record);
  recordings.keep(nullptr);
  EXPECT_EQ(advise(4), run);  // the program cannot be recorded
  EXPECT_EQ(advise(4), run);
}

TEST(Queue, NothingRunsAfterALaunchThatFailed) {
  BackendDevice device;
  BackendQueue queue;
  queue.device = &device;
  BackendProgram program;
  add_step(program, {.slot = 0, .type = DataType::FLOAT32, .offset = 0}, 0, cudaErrorLaunchFailure);
  add_step(program, {.slot = 0, .type = DataType::FLOAT32, .offset = 0}, 0);
  const DeviceAddress addresses[] = {0};
  g_launched.clear();
  EXPECT_EQ(run(&queue, &program, addresses, nullptr).code, BackendCode::failed);
  EXPECT_EQ(g_launched.size(), 1U);
}

}  // namespace
}  // namespace anydml::cuda
