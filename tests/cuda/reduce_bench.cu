// SPDX-License-Identifier: MIT
// Checks and measures reductions on a GPU, without the rest of the plugin. Results are compared with the host, and the
// speed is reported as a fraction of a pass that reads the same bytes. Built from this file, kernels_reduce.cpp and
// src/ops/reduce/cuda.
//   reduce_bench [--check | --quick-check | --check-part N] [--bench]     N: 0 to 9, one of the functions
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string_view>
#include <vector>

#include "backend/cuda/family.h"
#include "backend/cuda/runtime.h"
#include "cuda/kernels_harness.h"
#include "ops/reduce/step.h"

namespace anydml::cuda {

extern const FamilyKernels reduce_family;
std::shared_ptr<const RuntimeKernels> find_runtime_kernels(const KernelSource&, const GpuProperties&) {
  return nullptr;  // nothing is joined here
}
bool g_quick = false;

namespace {

u64 g_failures = 0;
constexpr std::int64_t kBytes = 1 << 29;

__global__ void fill_random(u32* words, u64 count) {
  for (u64 i = u64{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += u64{gridDim.x} * blockDim.x) {
    u64 x = (i + 1) * 0x9e3779b97f4a7c15;
    x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9;
    words[i] = static_cast<u32>(x >> 32) & 0xbfffbfff;  // this excludes infinities for every type
  }
}

// Reads every byte once, and does almost nothing else.
__global__ void __launch_bounds__(256) read_all(const uint4* from, u64 count, u32* to) {
  u32 sum = 0;
  u64 i = u64{blockIdx.x} * 1024 + threadIdx.x;
  uint4 some[4];
#pragma unroll
  for (u32 k = 0; k < 4; ++k) {
    some[k] = i + k * 256 < count ? __ldcs(from + i + k * 256) : uint4{};
  }
#pragma unroll
  for (u32 k = 0; k < 4; ++k) {
    sum ^= some[k].x ^ some[k].y ^ some[k].z ^ some[k].w;
  }
  if (sum == 0x12345678) {
    *to = sum;
  }
}

// The median of several runs, in milliseconds.
template <class Run>
float time_of(Run run) {
  cudaEvent_t begin;
  cudaEvent_t end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> all;
  float spent = 0;
  run();
  while (all.size() < 5 || (spent < 20 && all.size() < 25)) {
    CHECK(cudaEventRecord(begin));
    run();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float time = 0;
    CHECK(cudaEventElapsedTime(&time, begin, end));
    all.push_back(time);
    spent += time;
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

struct Bench {
  std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::byte* partials = nullptr;
  float pass = 0;  // in milliseconds for kBytes

  Bench() {
    CHECK(cudaMalloc(&input, kBytes));
    CHECK(cudaMalloc(&output, 2 * kBytes));
    CHECK(cudaMalloc(&partials, kBytes));
    fill_random<<<1024, 256>>>(reinterpret_cast<u32*>(input), kBytes / 4);
    CHECK(cudaGetLastError());
    pass = time_of([&] {
      read_all<<<kBytes / 16 / 1024, 256>>>(reinterpret_cast<const uint4*>(input), kBytes / 16,
                                            reinterpret_cast<u32*>(output));
    });
    std::printf("a pass over %lld bytes: %.3f ms, %.0f GB/s\n", static_cast<long long>(kBytes), pass,
                kBytes / pass * 1e-6);
  }

  // The tensor is packed. Bit i of `reduced` is set if axis i is reduced.
  void run(ReduceFunction function, DataType type, const std::vector<std::int64_t>& sizes, u32 reduced) {
    ReduceStep step{};
    step.function = function;
    step.input_type = type;
    step.output_type = is_arg(function) ? DataType::UINT32 : type;
    step.outputs = 1;
    step.count = 1;
    auto stride = static_cast<std::int64_t>(element_size(type));
    auto output_stride = static_cast<std::int64_t>(element_size(step.output_type));
    std::vector<ReduceLoop> kept;
    std::vector<ReduceLoop> gone;
    step.has_lanes = reduced >> (sizes.size() - 1) & 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      if ((reduced >> i & 1) != 0) {
        gone.insert(gone.begin(), {sizes[i], stride, 0});
        step.count *= sizes[i];
      } else {
        kept.insert(kept.begin(), {sizes[i], stride, output_stride});
        step.outputs *= sizes[i];
        output_stride *= sizes[i];
      }
      stride *= sizes[i];
    }
    if (kept.empty()) {
      kept.push_back({1, 0, 0});
    }
    step.kept_rank = static_cast<u32>(kept.size());
    step.reduced_rank = static_cast<u32>(gone.size());
    std::copy(kept.begin(), kept.end(), step.kept);
    std::copy(gone.begin(), gone.end(), step.reduced);
    const auto prepare = [&](ReducePhase phase) {
      step.phase = phase;
      const char* why = nullptr;
      return reduce_family.prepare({.family = 0, .operands = {}, .parameters = std::as_bytes(std::span(&step, 1))},
                                   machine_of_tests(), {}, &why);
    };
    const bool one = step.blocks() == 1;
    const auto first = prepare(one ? ReducePhase::whole : ReducePhase::blocks);
    const auto second = prepare(ReducePhase::combine);
    std::byte* const first_bases[] = {input, one ? output : partials};
    std::byte* const second_bases[] = {partials, output};
    const float time = time_of([&] {
      CHECK(first->launch(first_bases, nullptr, nullptr));
      if (!one) {
        CHECK(second->launch(second_bases, nullptr, nullptr));
      }
    });
    const auto read = static_cast<float>(step.outputs * step.count) * static_cast<float>(element_size(type));
    std::printf(" %5.0f %%", pass * read / static_cast<float>(kBytes) / time * 100);
    std::fflush(stdout);
  }
};

void bench() {
  Bench all;
  constexpr ReduceFunction kFunctions[] = {ReduceFunction::SUM, ReduceFunction::SUM_SQUARE, ReduceFunction::MAX,
                                           ReduceFunction::ARGMAX};
  std::printf("%-34s     SUM  SUM_SQ     MAX  ARGMAX\n", "% of the pass");
  for (const DataType type :
       {DataType::FLOAT32, DataType::FLOAT16, DataType::INT8, DataType::INT64, DataType::FLOAT64, DataType::INT32}) {
    const std::int64_t elements = kBytes / static_cast<std::int64_t>(element_size(type));
    const auto line = [&](const char* name, const std::vector<std::int64_t>& sizes, u32 reduced) {
      std::printf("%-8s %-25s", std::string(type_name(type)).c_str(), name);
      for (const ReduceFunction function : kFunctions) {
        all.run(function, type, sizes, reduced);
      }
      std::printf("\n");
    };
    line("whole", {elements}, 1);
    line("whole, 16 MiB", {elements / 32}, 1);
    line("inner, 1,048,576", {elements >> 20, 1 << 20}, 2);
    line("inner, 4,096", {elements / 4096, 4096}, 2);
    line("inner, 1,000", {elements / 1000, 1000}, 2);
    line("inner, 64", {elements / 64, 64}, 2);
    line("inner, 16", {elements / 16, 16}, 2);
    line("inner, 7", {elements / 7, 7}, 2);
    line("outer, 4,096 columns", {elements / 4096, 4096}, 1);
    line("outer, 1,000 columns", {elements / 1000, 1000}, 1);
    line("outer, 3 columns", {elements / 3, 3}, 1);
    line("outer, 4,096 rows", {4096, elements / 4096}, 1);
    line("outer, 4,096 by 4,096", {4096, 4096}, 1);
    line("outer, 64 rows", {64, elements / 64}, 1);
    line("middle, 64 x 4,096 x n", {64, 4096, elements / (64 * 4096)}, 2);
    line("first and last, 32 x 512", {32, 512, elements / (32 * 512)}, 5);
  }
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
  using namespace anydml::cuda;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--check" || option == "--quick-check") {
      g_quick = option == "--quick-check";
      check_reductions();
      std::printf(g_failures == 0 ? "all the same\n" : "%" PRIu64 " failures\n", g_failures);
    } else if (option == "--check-part" && i + 1 < argc) {
      check_reductions(static_cast<anydml::u32>(std::atoi(argv[++i])), 10);
      std::printf(g_failures == 0 ? "all the same\n" : "%" PRIu64 " failures\n", g_failures);
    } else if (option == "--bench") {
      bench();
    } else {
      std::fprintf(stderr, "usage: reduce_bench [--check | --quick-check | --check-part N] [--bench]\n");
      return 2;
    }
  }
  return g_failures == 0 ? 0 : 1;
}
