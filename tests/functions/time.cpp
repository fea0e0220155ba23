// SPDX-License-Identifier: MIT
// Measures the speed of the definitions, vectorized for this machine, on one core with data in the L1 cache. The
// program is for developers who change a definition.
// usage: time NAME MINIMUM MAXIMUM
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "oracles.h"

int main(int count, char** arguments) {
  using namespace anydml;
  const double minimum = count > 2 ? std::atof(arguments[2]) : -4;
  const double maximum = count > 3 ? std::atof(arguments[3]) : 4;
  for (const functions::Oracle& oracle : functions::kOracles) {
    if (count > 1 && oracle.name != arguments[1]) {
      continue;
    }
    constexpr std::size_t kElements = 4096;
    std::vector<f32> from(kElements);
    std::vector<f32> to(kElements);
    for (std::size_t i = 0; i < kElements; ++i) {
      from[i] = static_cast<f32>(minimum + (maximum - minimum) * static_cast<double>(i) / kElements);
    }
    double best = 1;
    for (int round = 0; round < 50; ++round) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < 50; ++i) {
        oracle.ours(from.data(), to.data(), kElements);
      }
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::printf("%-12.*s %6.2f ns per element\n", static_cast<int>(oracle.name.size()), oracle.name.data(),
                best / 50 / kElements * 1e9);
  }
}
