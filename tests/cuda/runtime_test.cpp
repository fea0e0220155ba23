// SPDX-License-Identifier: MIT
// Tests, without a GPU, kernels that are compiled at run time, from source to launch. NVRTC compiles them, if it is
// available, and a fake driver records how they are loaded and launched.
#include "backend/cuda/runtime.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cuda/runtime_driver.h"

namespace anydml::cuda {
namespace {

using test::recorded_driver;

GpuProperties gpu(int device) {
  return {.device = device, .multiprocessors = 132, .compute_capability = 90, .shared_bytes_of_block = 227 << 10};
}

// Every test compiles different source, in its own cache folder.
class Runtime : public testing::Test {
 protected:
  void SetUp() override {
    if (runtime_compiler().empty()) {
      GTEST_SKIP() << "NVRTC was not found";
    }
    folder_ = testing::TempDir() + "anydml_runtime_test_" + std::to_string(::getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    recorded_driver() = {};
  }
  void TearDown() override {
    if (!folder_.empty()) {
      std::filesystem::remove_all(folder_);
    }
  }

  static KernelSource source(const std::string& comment, std::uint32_t shared_bytes = 0) {
    return {.text = "// " + comment + "\n__global__ void one(int*) {}\n__global__ void two(int*) {}\n",
            .kernels = {"one", "two"},
            .max_shared_bytes = shared_bytes};
  }

 private:
  std::string folder_;
};

TEST_F(Runtime, ALaunchHasThreeDimensionsAndSharedMemory) {
  const auto kernels = find_runtime_kernels(source("shape", 1000), gpu(0));
  ASSERT_NE(kernels, nullptr);
  int parameter = 0;
  void* parameters[] = {&parameter};
  EXPECT_EQ(kernels->launch(1, {.blocks = {7, 5, 3}, .threads = {32, 4, 2}, .shared_bytes = 1000}, parameters, nullptr),
            cudaSuccess);
  EXPECT_EQ(kernels->launch(0, {.blocks = {9}, .threads = {256}}, parameters, nullptr), cudaSuccess);
  const auto& launches = recorded_driver().launches;
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0].kernel, 2U);
  EXPECT_EQ(launches[0].blocks, (std::array{7U, 5U, 3U}));
  EXPECT_EQ(launches[0].threads, (std::array{32U, 4U, 2U}));
  EXPECT_EQ(launches[0].shared_bytes, 1000U);
  EXPECT_EQ(launches[0].parameter, &parameter);
  EXPECT_EQ(launches[1].kernel, 1U);
  EXPECT_EQ(launches[1].blocks, (std::array{9U, 1U, 1U}));
  EXPECT_EQ(launches[1].threads, (std::array{256U, 1U, 1U}));
  EXPECT_EQ(launches[1].shared_bytes, 0U);
}

TEST_F(Runtime, MuchSharedMemoryIsAskedForOnEachDevice) {
  constexpr int kMaxDynamicShared = 8;
  constexpr int kBytes = 100 << 10;
  const auto plain = find_runtime_kernels(source("plain"), gpu(0));
  ASSERT_NE(plain, nullptr);
  EXPECT_TRUE(recorded_driver().attributes.empty());
  const auto first = find_runtime_kernels(source("much", kBytes), gpu(0));
  ASSERT_NE(first, nullptr);
  const auto second = find_runtime_kernels(source("much", kBytes), gpu(1));
  EXPECT_EQ(first, second);  // the code depends only on the architecture
  using Attribute = test::RecordedDriver::Attribute;
  EXPECT_EQ(recorded_driver().attributes, (std::vector<Attribute>{{kMaxDynamicShared, kBytes, 3, 0},
                                                                  {kMaxDynamicShared, kBytes, 4, 0},
                                                                  {kMaxDynamicShared, kBytes, 3, 1},
                                                                  {kMaxDynamicShared, kBytes, 4, 1}}));
}

TEST_F(Runtime, MoreSharedMemoryThanTheDeviceHasIsRefused) {
  EXPECT_EQ(find_runtime_kernels(source("too much", 228 << 10), gpu(0)), nullptr);
  EXPECT_EQ(recorded_driver().loads, 0);
  recorded_driver().max_shared_bytes = 1000;  // static memory uses the remaining bytes
  EXPECT_EQ(find_runtime_kernels(source("with static memory", 200 << 10), gpu(0)), nullptr);
}

TEST_F(Runtime, SourceThatDoesNotCompileHasNoKernels) {
  KernelSource broken = source("broken");
  broken.text += "this is not C++\n";
  EXPECT_EQ(find_runtime_kernels(broken, gpu(0)), nullptr);
  EXPECT_EQ(recorded_driver().loads, 0);
  EXPECT_TRUE(compiles_while_running(gpu(0)));
}

TEST_F(Runtime, CodeThatTheDriverRefusesHasNoKernels) {
  recorded_driver().refuses_code = true;
  EXPECT_EQ(find_runtime_kernels(source("refused"), gpu(0)), nullptr);
}

}  // namespace
}  // namespace anydml::cuda
