// SPDX-License-Identifier: MIT
// Tests the Vulkan plugin on a device: what happens in a process that was forked or that cannot start threads, and work
// that is split into many submissions. usage: vulkan_device_test PLUGIN
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace {
std::atomic<bool> g_refuses_threads = false;
}  // namespace

// Takes the place of the C library's function in the plugin.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) noexcept {
  static const auto next = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return g_refuses_threads ? EAGAIN : next(thread, attributes, start, argument);
}

namespace anydml {
namespace {

const BackendTable* g_table = nullptr;

BackendDevice* open_device() {
  BackendDevice* device = nullptr;
  const BackendSettings settings{.threads = 0, .cpu_target = ""};
  const BackendStatus status = g_table->open(0, &settings, &device);
  EXPECT_EQ(status.code, BackendCode::ok) << (status.message != nullptr ? status.message : "");
  return device;
}

// Runs body in a child of this process, and returns its exit status, or -1 if it did not end within 20 seconds.
template <class Body>
int in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(body());
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool is_refused(BackendStatus status) {
  return status.code == BackendCode::failed && status.message != nullptr &&
         std::strstr(status.message, "forked") != nullptr;
}

// The first test, because a child cannot use devices that its parent has opened.
TEST(VulkanThreads, AreTriedAgain) {
  EXPECT_EQ(in_child([] {
              setenv("ANYDML_VULKAN_PRIMITIVES", "own", 1);  // so that no kernel was needed before
              BackendDevice* const device = open_device();
              BackendQueue* queue = nullptr;
              MemoryBlock block{};
              if (device == nullptr || g_table->create_queue(device, &queue).code != BackendCode::ok ||
                  g_table->allocate(device, MemoryKind::device_buffer, 4096, &block).code != BackendCode::ok) {
                return 1;
              }
              const std::uint32_t pattern[] = {1, 2, 3, 4};
              const auto fill = [&] { return g_table->fill(queue, {block.handle, 0}, 4096, pattern, 16).code; };
              g_refuses_threads = true;
              int wrong = fill() == BackendCode::out_of_memory ? 0 : 2;
              g_refuses_threads = false;
              wrong += fill() == BackendCode::ok ? 0 : 4;  // must not wait for the kernel of the first call
              g_table->release(device, MemoryKind::device_buffer, 4096, block.handle);
              g_table->destroy_queue(queue);
              g_table->close(device);
              return wrong;
            }),
            0);
}

TEST(VulkanFork, LeavesTheParentsDevicesToTheParent) {
  BackendDevice* const device = open_device();
  ASSERT_NE(device, nullptr);
  BackendQueue* queue = nullptr;
  ASSERT_EQ(g_table->create_queue(device, &queue).code, BackendCode::ok);
  MemoryBlock block{};
  ASSERT_EQ(g_table->allocate(device, MemoryKind::device_buffer, 4096, &block).code, BackendCode::ok);
  const std::uint32_t word = 7;
  ASSERT_EQ(g_table->fill(queue, {block.handle, 0}, 4096, &word, 4).code, BackendCode::ok);
  BackendMark* mark = nullptr;
  ASSERT_EQ(g_table->mark(queue, &mark).code, BackendCode::ok);
  EXPECT_EQ(in_child([&] {
              BackendDevice* another = nullptr;
              BackendQueue* own = nullptr;
              MemoryBlock more{};
              int wrong = 0;
              wrong += is_refused(g_table->open(0, nullptr, &another)) ? 0 : 1;
              wrong += is_refused(g_table->create_queue(device, &own)) ? 0 : 2;
              wrong += is_refused(g_table->allocate(device, MemoryKind::temporary, 64, &more)) ? 0 : 4;
              wrong += is_refused(g_table->fill(queue, {block.handle, 0}, 4096, &word, 4)) ? 0 : 8;
              wrong += mark == nullptr || is_refused(g_table->wait(mark)) ? 0 : 16;
              wrong += mark == nullptr || g_table->is_passed(mark) == 1 ? 0 : 32;
              g_table->release(device, MemoryKind::device_buffer, 4096, block.handle);
              g_table->destroy_queue(queue);
              return wrong;
            }),
            0)
      << "expected every call of the child to be refused, with a reason";
  // The parent's device still works.
  std::vector<std::uint32_t> got(1024);
  ASSERT_EQ(g_table->copy(queue, location_at(got.data()), {block.handle, 0}, 4096).code, BackendCode::ok);
  BackendMark* last = nullptr;
  ASSERT_EQ(g_table->mark(queue, &last).code, BackendCode::ok);
  if (last != nullptr) {
    EXPECT_EQ(g_table->wait(last).code, BackendCode::ok);
    g_table->destroy_mark(last);
  }
  EXPECT_EQ(got, std::vector<std::uint32_t>(1024, 7));
  if (mark != nullptr) {
    g_table->destroy_mark(mark);
  }
  g_table->release(device, MemoryKind::device_buffer, 4096, block.handle);
  g_table->destroy_queue(queue);
  g_table->close(device);
}

// Copies through staging memory are split, wait for each other, and keep their order.
TEST(VulkanCopies, OfMuchMemoryPassThroughLittle) {
  BackendDevice* const device = open_device();
  ASSERT_NE(device, nullptr);
  BackendQueue* queue = nullptr;
  ASSERT_EQ(g_table->create_queue(device, &queue).code, BackendCode::ok);
  constexpr std::uint64_t kBytes = (std::uint64_t{68} << 20) + 12;
  MemoryBlock block{};
  ASSERT_EQ(g_table->allocate(device, MemoryKind::device_buffer, kBytes, &block).code, BackendCode::ok);
  std::vector<std::uint32_t> sent(kBytes / 4);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    sent[i] = static_cast<std::uint32_t>(i * 2654435761U);
  }
  std::vector<std::uint32_t> got(sent.size());
  std::vector<std::uint32_t> again(sent.size());
  EXPECT_EQ(g_table->copy(queue, {block.handle, 0}, location_at(sent.data()), kBytes).code, BackendCode::ok);
  EXPECT_EQ(g_table->copy(queue, location_at(got.data()), {block.handle, 0}, kBytes).code, BackendCode::ok);
  // This copy reads what the last one writes.
  EXPECT_EQ(g_table->copy(queue, {block.handle, 8}, location_at(got.data()), kBytes - 8).code, BackendCode::ok);
  EXPECT_EQ(g_table->copy(queue, location_at(again.data()), {block.handle, 8}, kBytes - 8).code, BackendCode::ok);
  BackendMark* mark = nullptr;
  ASSERT_EQ(g_table->mark(queue, &mark).code, BackendCode::ok);
  if (mark != nullptr) {
    EXPECT_EQ(g_table->wait(mark).code, BackendCode::ok);
    g_table->destroy_mark(mark);
  }
  EXPECT_TRUE(got == sent);
  again.resize(sent.size() - 2);
  sent.resize(sent.size() - 2);
  EXPECT_TRUE(again == sent);
  g_table->release(device, MemoryKind::device_buffer, kBytes, block.handle);
  g_table->destroy_queue(queue);
  g_table->close(device);
}

}  // namespace
}  // namespace anydml

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  void* const library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  void* const entry = library != nullptr ? dlsym(library, anydml::kPluginEntry) : nullptr;
  if (entry == nullptr) {
    std::printf("usage: vulkan_device_test PLUGIN\n");
    return 2;
  }
  const char* why = nullptr;
  anydml::g_table = reinterpret_cast<anydml::PluginEntry>(entry)(&why);
  if (anydml::g_table == nullptr) {
    std::printf("skipped: %s\n", why);
    return 77;
  }
  return RUN_ALL_TESTS();
}
