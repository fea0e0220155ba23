// SPDX-License-Identifier: MIT
// Tests the parts of the Vulkan plugin that need no device: the choice of devices, the features that it needs, its
// files on disk, and its division.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "backend/vulkan/catalog.h"
#include "backend/vulkan/disk.h"
#include "backend/vulkan/fast_divisor.h"

namespace anydml::vulkan {
namespace {

Candidate candidate(const char* name, VkPhysicalDeviceType type, const char* uuid, bool layered = false) {
  Candidate made;
  made.gpu.name = name;
  made.gpu.driver = "a driver 1.0";
  made.uuid = uuid;
  made.driver_uuid = "d";
  made.type = type;
  made.is_layered = layered;
  return made;
}

std::vector<Candidate> machine() {
  return {candidate("Fast GPU", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, "aaaa-1"),
          candidate("Small GPU", VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, "bbbb-2"),
          candidate("llvmpipe", VK_PHYSICAL_DEVICE_TYPE_CPU, "cccc-3"),
          candidate("Layer GPU", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, "dddd-4", true)};
}

std::string names(const std::string& adapter, const std::string& wanted) {
  std::string why;
  std::string text;
  for (const Candidate& one : choose(machine(), adapter, wanted, why)) {
    text += (text.empty() ? "" : ", ") + one.gpu.name;
  }
  return text.empty() ? why : text;
}

TEST(VulkanDevices, OfSoftwareAreOfferedOnlyByName) {
  EXPECT_EQ(names("", ""), "Fast GPU, Small GPU");
  EXPECT_EQ(names("cpu", ""), "Fast GPU, Small GPU");
  EXPECT_EQ(names("vulkan:0", ""), "Fast GPU, Small GPU, llvmpipe, Layer GPU");
  EXPECT_EQ(names("LLVMpipe", ""), "Fast GPU, Small GPU, llvmpipe");
  EXPECT_EQ(names("dddd", ""), "Fast GPU, Small GPU, Layer GPU");
}

TEST(VulkanDevices, AreChosenByNumberNameOrUuid) {
  EXPECT_EQ(names("", "all"), "Fast GPU, Small GPU, llvmpipe, Layer GPU");
  EXPECT_EQ(names("", "1,0"), "Small GPU, Fast GPU");
  EXPECT_EQ(names("", "CCCC-3"), "llvmpipe");
  EXPECT_EQ(names("", "small,all"), "Small GPU, Fast GPU, llvmpipe, Layer GPU");
  EXPECT_EQ(names("", "0,,0,fast"), "Fast GPU");
  const std::string wrong = names("", "7");
  EXPECT_NE(wrong.find("ANYDML_VULKAN_DEVICES is '7'"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("2 (llvmpipe, a driver 1.0, cccc-3)"), std::string::npos) << wrong;
}

TEST(VulkanDevices, ThatAreMissingHaveAReason) {
  std::string why;
  EXPECT_TRUE(choose({}, "", "", why).empty());
  EXPECT_EQ(why, "no GPU with a Vulkan driver was found");
  EXPECT_TRUE(choose({candidate("llvmpipe", VK_PHYSICAL_DEVICE_TYPE_CPU, "c")}, "", "", why).empty());
  EXPECT_NE(why.find("only software drivers were found (llvmpipe)"), std::string::npos) << why;
}

TEST(VulkanFeatures, ThatAreMissingAreNamed) {
  Features features;
  EXPECT_EQ(missing_features(features),
            "shaderInt64, shaderInt16, storageBuffer16BitAccess, storageBuffer8BitAccess, shaderInt8, "
            "bufferDeviceAddress, timelineSemaphore, scalarBlockLayout");
  require_features(features);
  EXPECT_EQ(missing_features(features), "");
  features.v12.timelineSemaphore = VK_FALSE;
  features.core.features.shaderInt64 = VK_FALSE;
  EXPECT_EQ(missing_features(features), "shaderInt64, timelineSemaphore");
  features.v12.timelineSemaphore = VK_TRUE;
  EXPECT_EQ(features.core.features.shaderFloat64, VK_FALSE) << "expected only what is needed";
}

TEST(VulkanDivision, IsExact) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t bit = 0; bit < 31; ++bit) {
    for (std::uint32_t near = 0; near < 5; ++near) {
      numbers.push_back((1U << bit) + near);
      numbers.push_back((1U << bit) - near);
    }
  }
  for (std::uint32_t i = 0; i < 2000; ++i) {
    numbers.push_back(i * 1'073'741 + i);
  }
  for (const std::uint32_t divisor : numbers) {
    if (divisor == 0 || divisor > kMaxDividend) {
      continue;
    }
    const FastDivisor fast = make_divisor(divisor);
    const auto check = [&](std::uint64_t dividend) {
      if (dividend >= kMaxDividend) {
        return;
      }
      // As in shaders/strided.glsl.
      const std::uint64_t quotient = fast.multiplier == 0 ? dividend : (dividend * fast.multiplier >> 32) >> fast.shift;
      ASSERT_EQ(quotient, dividend / divisor) << dividend << " / " << divisor;
    };
    for (const std::uint32_t dividend : numbers) {
      check(dividend);
    }
    for (std::uint64_t multiple = divisor; multiple < kMaxDividend; multiple *= 3) {
      check(multiple - 1);
      check(multiple);
    }
    check(kMaxDividend - 1);
    check(kMaxDividend / divisor * divisor - 1);
  }
}

class VulkanFiles : public testing::Test {
 protected:
  VulkanFiles() {
    char name[] = "/tmp/anydml-vulkan-XXXXXX";
    folder_ = mkdtemp(name);
    setenv("ANYDML_VULKAN_CACHE", folder_.c_str(), 1);
    path_ = cache_file(candidate("GPU", VK_PHYSICAL_DEVICE_TYPE_CPU, "u"), "test");
  }
  ~VulkanFiles() override {
    unsetenv("ANYDML_VULKAN_CACHE");
    std::remove(path_.c_str());
    rmdir(folder_.c_str());
  }
  [[nodiscard]] std::vector<char> raw() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::vector<char>& bytes) const {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  std::string folder_;
  std::string path_;
};

TEST_F(VulkanFiles, KeepBytesAndIgnoreDamage) {
  EXPECT_TRUE(path_.starts_with(folder_ + "/vulkan-test-d-00000000-u")) << path_;
  EXPECT_TRUE(read_cache(path_).empty());
  std::vector<std::byte> bytes(1000, std::byte{7});
  write_cache(path_, bytes);
  EXPECT_EQ(read_cache(path_), bytes);
  const std::vector<char> whole = raw();
  std::vector<char> cut(whole.begin(), whole.end() - 1);
  put(cut);
  EXPECT_TRUE(read_cache(path_).empty()) << "a file that is too short";
  std::vector<char> changed = whole;
  changed[500] ^= 1;
  put(changed);
  EXPECT_TRUE(read_cache(path_).empty()) << "a changed byte";
  write_cache(path_, bytes);
  EXPECT_EQ(read_cache(path_), bytes) << "a damaged file is replaced";
}

TEST_F(VulkanFiles, MayBeTurnedOff) {
  setenv("ANYDML_VULKAN_CACHE", "none", 1);
  EXPECT_EQ(cache_file(candidate("GPU", VK_PHYSICAL_DEVICE_TYPE_CPU, "u"), "test"), "");
  write_cache("", std::vector<std::byte>(5));
  EXPECT_TRUE(read_cache("").empty());
}

}  // namespace
}  // namespace anydml::vulkan
