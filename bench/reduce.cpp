// SPDX-License-Identifier: MIT
// How fast reductions are beside a pass that only reads the same bytes, with the library's number of threads.
// usage: bench_reduce [MiB [cpu]]; bench/reduce_peers.py has NumPy's times.
#include <anydml/anydml.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <random>

#include "team.h"

namespace {

volatile std::uint64_t g_sink;

// Reads and does next to nothing.
void read_pass(const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kWords = 32;
  std::uint64_t kept[kWords] = {};
  for (std::size_t at = 0; at + sizeof(kept) <= bytes; at += sizeof(kept)) {
    for (std::size_t i = 0; i < kWords; ++i) {
      std::uint64_t word;
      std::memcpy(&word, from + at + i * sizeof(word), sizeof(word));
      kept[i] ^= word;
    }
  }
  g_sink = *std::max_element(kept, kept + kWords);
}

// On a machine that others use too, the processor's time of one thread says more than the clock: ANYDML_THREADS=1.
double now(bool of_processor) {
  timespec time{};
  clock_gettime(of_processor ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <class Body>
double seconds(bool of_processor, const Body& body) {
  double best = 1e9;
  for (int i = 0; i < 7; ++i) {
    const double start = now(of_processor);
    body();
    best = std::min(best, now(of_processor) - start);
  }
  return best;
}

struct Type {
  anydml_type type;
  const char* name;
  std::size_t bytes;
};
constexpr Type kTypes[] = {{ANYDML_FLOAT32, "FLOAT32", 4},
                           {ANYDML_FLOAT16, "FLOAT16", 2},
                           {ANYDML_INT8, "INT8", 1},
                           {ANYDML_INT32, "INT32", 4}};

void fill(const Type& type, std::byte* to, std::size_t bytes) {
  std::mt19937 random(7);
  for (std::size_t at = 0; at < bytes; at += type.bytes) {
    if (type.type == ANYDML_FLOAT32) {
      const float value = static_cast<float>(random() % 2000) / 1000.0F - 1.0F;
      std::memcpy(to + at, &value, 4);
    } else if (type.type == ANYDML_FLOAT16) {
      const auto bits = static_cast<std::uint16_t>(random() & 0xbbffU);  // below 1, either sign
      std::memcpy(to + at, &bits, 2);
    } else {
      const auto bits = static_cast<std::uint32_t>(random());
      std::memcpy(to + at, &bits, type.bytes);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t bytes = (count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 128) << 20;
  const bool of_processor = count > 2 && std::strcmp(arguments[2], "cpu") == 0;
  const anydml_device_info* info = anydml_device_get_info(nullptr);
  if (info == nullptr) {
    std::fprintf(stderr, "%s\n", anydml_last_error());
    return 1;
  }
  anydml::bench::Team team(std::max(1U, info->threads));
  const std::unique_ptr<std::byte[]> input(new std::byte[bytes]);
  const std::unique_ptr<std::byte[]> output(new std::byte[bytes]);
  std::printf("%s, %zu MiB\n%-8s %-11s %20s %21s %21s   fraction of a read-only pass\n", info->description, bytes >> 20,
              "type", "function", "inner", "outer", "all");
  for (const Type& type : kTypes) {
    fill(type, input.get(), bytes);
    const auto pass = [&] {
      team.share(bytes, 1 << 12,
                 [&](std::size_t begin, std::size_t end) { read_pass(input.get() + begin, end - begin); });
    };
    for (const char* function : {"SUM", "MAX", "ARGMAX", "L2", "AVERAGE", "MULTIPLY"}) {
      const bool floats_alone = std::strcmp(function, "L2") == 0 || std::strcmp(function, "AVERAGE") == 0;
      if (floats_alone && (type.type == ANYDML_INT8 || type.type == ANYDML_INT32)) {
        continue;
      }
      std::printf("%-8s %-11s", type.name, function);
      constexpr std::int64_t kColumns = 4096;
      const std::int64_t rows = static_cast<std::int64_t>(bytes / type.bytes) / kColumns;
      const std::uint64_t axes[] = {1, 0, 1};
      for (int which = 0; which < 3; ++which) {  // inner, outer, all
        const std::int64_t sizes[] = {rows, kColumns};
        const std::int64_t out_sizes[] = {which == 0 ? rows : 1, which == 1 ? kColumns : 1};
        const bool is_arg = std::strcmp(function, "ARGMAX") == 0;
        const anydml_tensor in = {type.type, 2, sizes, nullptr, input.get()};
        const anydml_tensor out = {is_arg ? anydml_type{ANYDML_UINT32} : type.type, 2, out_sizes, nullptr,
                                   output.get()};
        anydml_attribute attributes[] = {
            {"Function", ANYDML_TEXT, 0, {}},
            {"Axes", uint32_t{ANYDML_UINT64} | uint32_t{ANYDML_ARRAY}, which == 2 ? 2U : 1U, {}}};
        attributes[0].value.text = function;
        attributes[1].value.u64s = which == 2 ? axes + 1 : axes + which;
        anydml_compiled* compiled = nullptr;
        if (anydml_compile(nullptr, "REDUCE", &in, 1, &out, 1, attributes, 2, &compiled) != ANYDML_OK) {
          std::fprintf(stderr, "%s\n", anydml_last_error());
          return 1;
        }
        const void* from[] = {input.get()};
        void* to[] = {output.get()};
        const double ours = seconds(of_processor, [&] { anydml_compiled_run(compiled, from, 1, to, 1); });
        const double floor = seconds(of_processor, pass);
        anydml_compiled_release(compiled);
        std::printf(" %9.0f%%", 100 * floor / ours);
        std::printf(" %5.1f GB/s", static_cast<double>(bytes) / ours / 1e9);
      }
      std::printf("\n");
      std::fflush(stdout);
    }
  }
  return 0;
}
