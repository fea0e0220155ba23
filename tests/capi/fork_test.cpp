// SPDX-License-Identifier: MIT
// A process may fork at any moment, even during another thread's first call. Parent and child must both continue to
// work.
#include <anydml/anydml.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

bool call_works() {
  std::vector<float> a(100'000, 7.0F);
  std::vector<float> out(a.size());
  float b = 3.0F;
  const int64_t sizes[] = {static_cast<int64_t>(a.size())};
  const anydml_tensor ta = {ANYDML_FLOAT32, 1, sizes, nullptr, a.data()};
  const anydml_tensor tb = {ANYDML_FLOAT32, 0, nullptr, nullptr, &b};
  const anydml_tensor to = {ANYDML_FLOAT32, 1, sizes, nullptr, out.data()};
  return anydml_modulus_floor(&ta, &tb, &to) == ANYDML_OK && out.back() == 1.0F;
}

// Waits for a child that reports success through its exit code. The child's alarm kills it if it hangs.
bool succeeded(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Each round runs in its own process, so that its first call is really the first one. It forks at a different moment
// during that call.
TEST(Fork, InTheMidstOfTheFirstCall) {
  for (int round = 0; round < 60; ++round) {
    const pid_t process = fork();
    ASSERT_GE(process, 0);
    if (process == 0) {
      alarm(60);
      setenv("ANYDML_THREADS", "48", 1);  // this slows the first call down
      bool parent_works = false;
      std::thread caller([&parent_works] { parent_works = call_works(); });
      std::this_thread::sleep_for(std::chrono::microseconds(round * 40));
      const pid_t child = fork();
      if (child == 0) {
        alarm(30);
        _exit(call_works() ? 0 : 1);
      }
      caller.join();
      _exit(succeeded(child) && parent_works && call_works() ? 0 : 1);
    }
    ASSERT_TRUE(succeeded(process)) << "forked " << round * 40 << " microseconds after the first call began";
  }
}

TEST(Fork, GrandchildrenWorkToo) {
  ASSERT_TRUE(call_works());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(30);
    const bool works = call_works();
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      alarm(30);
      _exit(call_works() ? 0 : 1);
    }
    _exit(works && succeeded(grandchild) ? 0 : 1);
  }
  EXPECT_TRUE(succeeded(child));
}

}  // namespace
