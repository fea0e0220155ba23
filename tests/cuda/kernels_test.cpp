// SPDX-License-Identifier: MIT
// Compares the CUDA kernels bit for bit with the scalar definitions. Entries, layouts, programs, small tasks and fills
// (kernels_entries.cpp) as well as reductions, copies, products and normalized rows (kernels_reduce.cpp,
// kernels_move.cpp, kernels_product.cpp, kernels_normalize.cpp) are compared with the host. The tuned kernels are
// compared with generic kernels on the device (kernels_modulus.cu). Exits with 77, "skipped", if there is no device.
// --quick uses few elements, for tools that track every access.
#include <cinttypes>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cuda/kernels/kernels.h"
#include "cuda/kernels_harness.h"

namespace anydml::cuda {
namespace {

u64 g_failures = 0;

void check_fill() {
  constexpr std::size_t kBytes = 1 << 16;
  std::byte* device = nullptr;
  CHECK(cudaMalloc(&device, kBytes));
  test::Random random(test::kSeed);
  u64 elements = 0;
  u64 different = 0;
  for (int round = 0; round < (g_quick ? 40 : 2000); ++round) {
    const u32 pattern_bytes = random() % 2 == 0 ? 4 : 16;
    const u32 pattern[4] = {static_cast<u32>(random()), static_cast<u32>(random()), static_cast<u32>(random()),
                            static_cast<u32>(random())};
    const std::size_t at = 64 + random() % 16 * 4;
    const std::size_t bytes = round < 200 ? static_cast<std::size_t>(round) : random() % (kBytes - 256);
    CHECK(cudaMemset(device, 0x11, kBytes));
    CHECK(launch_fill(device + at, bytes, pattern, pattern_bytes, nullptr));
    std::vector<std::byte> found(kBytes);
    CHECK(cudaMemcpy(found.data(), device, kBytes, cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < kBytes; ++i) {
      const bool inside = i >= at && i < at + bytes;
      const auto* from = reinterpret_cast<const std::byte*>(pattern);
      different += found[i] != (inside ? from[(i - at) % pattern_bytes] : std::byte{0x11}) ? 1 : 0;
    }
    elements += bytes;
  }
  report("fill", elements, different);

  auto* ticks = reinterpret_cast<std::uint64_t*>(device);
  CHECK(launch_timestamp(ticks, nullptr));
  CHECK(launch_timestamp(ticks + 1, nullptr));
  std::uint64_t read[2];
  CHECK(cudaMemcpy(read, ticks, sizeof(read), cudaMemcpyDeviceToHost));
  report("timestamps", 2, read[0] != 0 && read[1] >= read[0] ? 0 : 1);
  CHECK(cudaFree(device));
}

int run_all() {
  check_fill();
  check_entries();
  check_programs();
  check_small_tasks();
  check_modulus();
  check_reductions();
  check_moves();
  check_products();
  check_convolutions();
  check_integer_products();
  check_integer_convolutions();
  check_normalizations();
  std::printf(g_failures == 0 ? "all the same\n" : "%" PRIu64 " failures\n", g_failures);
  return g_failures == 0 ? 0 : 1;
}

}  // namespace

void report(const std::string& name, u64 elements, u64 different) {
  std::printf("%s: %" PRIu64 " elements, %" PRIu64 " different\n", name.c_str(), elements, different);
  std::fflush(stdout);
  g_failures += different;
}

void report_error(const std::string& what) {
  std::printf("  %s\n", what.c_str());
  ++g_failures;
}

}  // namespace anydml::cuda

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--quick") {
      std::fprintf(stderr, "usage: kernels_test [--quick]\n");
      return 2;
    }
    anydml::cuda::g_quick = true;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no CUDA device was found\n");
    return 77;
  }
  return anydml::cuda::run_all();
}
