// SPDX-License-Identifier: MIT
// rows_bench: any element-wise operator and types beside a pass that moves the same bytes, run in turn with it. For who
// works on kernels; `dmlrun bench` is the benchmark, with checks of every result, and knows the modulus alone.
//   rows_bench [BYTES [THREADS [FILTER]]]   BYTES of the largest tensor, 64 MiB; THREADS of the pass, as many as the
//                                           library has; FILTER a part of the name of a case
#include <anydml/anydml.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "machine.h"
#include "measure.h"
#include "pass.h"
#include "team.h"

namespace anydml::bench {
namespace {

constexpr int kRounds = 9;
constexpr std::size_t kPage = 4096;

struct RowCase {
  std::string op;
  std::vector<anydml_type> inputs;
  anydml_type output;
  int repeated = -1;  // an input that is one element

  [[nodiscard]] std::string name() const {
    std::string text = op;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      text.append(" ").append(anydml_type_name(inputs[i])).append(static_cast<int>(i) == repeated ? "*" : "");
    }
    return text + " " + anydml_type_name(output);
  }
};

std::vector<RowCase> all_cases() {
  constexpr anydml_type kTypes[] = {ANYDML_FLOAT32, ANYDML_FLOAT16, ANYDML_FLOAT64, ANYDML_INT8,
                                    ANYDML_INT16,   ANYDML_INT32,   ANYDML_INT64,   ANYDML_UINT8};
  std::vector<RowCase> cases;
  for (const anydml_type type : kTypes) {
    const bool floats = type == ANYDML_FLOAT32 || type == ANYDML_FLOAT16 || type == ANYDML_FLOAT64;
    for (const char* op : {"IDENTITY", "ABS", "NEGATE", "CLIP", "FLOOR", "CEIL"}) {
      if (floats || (op[0] != 'F' && std::strcmp(op, "CEIL") != 0)) {
        cases.push_back({std::string("ELEMENT_WISE_") + op, {type}, type});
      }
    }
    for (const char* op : {"ADD", "SUBTRACT", "MULTIPLY", "DIVIDE"}) {
      cases.push_back({std::string("ELEMENT_WISE_") + op, {type, type}, type});
    }
    cases.push_back({"ELEMENT_WISE_ADD", {type, type}, type, 1});
    cases.push_back({"ELEMENT_WISE_IF", {ANYDML_UINT8, type, type}, type});
    cases.push_back({"ELEMENT_WISE_LOGICAL_EQUALS", {type, type}, ANYDML_UINT8});
    for (const anydml_type to : kTypes) {
      cases.push_back({"CAST", {type}, to});
    }
  }
  return cases;
}

struct PagesDelete {
  void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{kPage}); }
};
using Pages = std::unique_ptr<std::byte[], PagesDelete>;

// Everyday numbers of the type, a short piece repeated.
void fill_ordinary(std::byte* to, std::size_t bytes, anydml_type type) {
  std::mt19937_64 random(7);
  const std::size_t size = anydml_type_size(type);
  std::vector<std::byte> piece(std::min<std::size_t>(bytes, (1 << 20) * size));
  for (std::size_t n = 0; n < piece.size(); n += size) {
    std::uint64_t bits = random();
    if (type == ANYDML_FLOAT32) {
      const auto value = static_cast<float>(static_cast<std::int64_t>(bits % 20'000) - 10'000) / 64;
      std::memcpy(&bits, &value, sizeof(value));
    } else if (type == ANYDML_FLOAT64) {
      const double value = static_cast<double>(static_cast<std::int64_t>(bits % 20'000) - 10'000) / 64;
      std::memcpy(&bits, &value, sizeof(value));
    } else if (type == ANYDML_FLOAT16) {
      bits = (bits & 0x83ff) | (12 + bits % 8) << 10;
    }
    std::memcpy(piece.data() + n, &bits, size);
  }
  for (std::size_t n = 0; n < bytes; n += piece.size()) {
    std::memcpy(to + n, piece.data(), std::min(piece.size(), bytes - n));
  }
}

template <class Body>
double time_of(Body body, int runs) {
  const double begin = seconds_now();
  for (int i = 0; i < runs; ++i) {
    body();
  }
  return (seconds_now() - begin) / runs;
}

bool measure(const RowCase& of, std::size_t largest, Team& team) {
  std::size_t widest = anydml_type_size(of.output);
  for (const anydml_type type : of.inputs) {
    widest = std::max(widest, anydml_type_size(type));
  }
  const auto count = static_cast<std::int64_t>(largest / widest);
  const std::int64_t one = 1;
  const std::int64_t zero = 0;
  std::vector<Pages> memory;
  std::vector<anydml_tensor> tensors;
  std::size_t moved = 0;
  std::size_t arrays = 0;
  for (std::size_t i = 0; i <= of.inputs.size(); ++i) {
    const anydml_type type = i < of.inputs.size() ? of.inputs[i] : of.output;
    const bool repeated = static_cast<int>(i) == of.repeated;
    const std::size_t bytes = static_cast<std::size_t>(count) * anydml_type_size(type);
    // Not at the same place of a page, as the benchmark has it.
    memory.emplace_back(static_cast<std::byte*>(::operator new[](bytes + 4 * kPage, std::align_val_t{kPage})));
    std::byte* const data = memory.back().get() + i * 1344;
    fill_ordinary(data, bytes, type);
    tensors.push_back({type, 1, &count, repeated ? &zero : &one, data});
    moved += repeated ? 0 : bytes;
    arrays += repeated ? 0 : 1;
  }
  const anydml_attribute bounds[] = {{"Min", ANYDML_FLOAT64, 0, {-100.0}}, {"Max", ANYDML_FLOAT64, 0, {100.0}}};
  const bool clips = of.op == "ELEMENT_WISE_CLIP";
  anydml_compiled* compiled = nullptr;
  if (anydml_compile(nullptr, of.op.c_str(), tensors.data(), of.inputs.size(), &tensors.back(), 1,
                     clips ? bounds : nullptr, clips ? 2 : 0, &compiled) != ANYDML_OK) {
    std::fprintf(stderr, "%s: %s\n", of.name().c_str(), anydml_last_error());
    return false;
  }
  std::vector<const void*> inputs;
  for (std::size_t i = 0; i < of.inputs.size(); ++i) {
    inputs.push_back(tensors[i].data);
  }
  void* const outputs[] = {tensors.back().data};
  const auto kernel = [&] { anydml_compiled_run(compiled, inputs.data(), inputs.size(), outputs, 1); };
  // The pass moves as many bytes, in two or three arrays of one size.
  const std::size_t array = moved / std::min<std::size_t>(arrays, 3);
  std::vector<Pages> floor;
  for (std::size_t i = 0; i < 3; ++i) {
    floor.emplace_back(static_cast<std::byte*>(::operator new[](array + 4 * kPage, std::align_val_t{kPage})));
    std::memset(floor.back().get(), static_cast<int>(i), array + 4 * kPage);
  }
  const auto pass_over = [&](std::size_t begin, std::size_t end) {
    std::byte* const out = floor[0].get() + begin;
    const std::byte* const a = floor[1].get() + 1344 + begin;
    if (arrays == 2) {
      pass_one(out, a, end - begin);
    } else {
      pass_two(out, a, floor[2].get() + 2688 + begin, end - begin);
    }
  };
  const auto pass = [&] { team.share(array, kPage, pass_over); };
  kernel();
  pass();
  const int runs = std::clamp(static_cast<int>(1e-3 / time_of(kernel, 1)), 1, 1000);
  std::vector<double> kernel_samples;
  std::vector<double> pass_samples;
  for (int round = 0; round < kRounds; ++round) {
    kernel_samples.push_back(time_of(kernel, runs));
    pass_samples.push_back(time_of(pass, runs));
  }
  anydml_compiled_release(compiled);
  const double kernel_time = summarise(kernel_samples).median;
  const double pass_time = summarise(pass_samples).median;
  std::printf("%-52s %8.4f ns/element %7.2f GB/s %6.1f %%\n", of.name().c_str(),
              kernel_time * 1e9 / static_cast<double>(count), static_cast<double>(moved) / kernel_time * 1e-9,
              pass_time / kernel_time * 100);
  return true;
}

}  // namespace
}  // namespace anydml::bench

int main(int argument_count, char** arguments) {
  using namespace anydml::bench;
  const std::size_t bytes = argument_count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 0;
  const auto threads = static_cast<unsigned>(argument_count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 0);
  const std::string filter = argument_count > 3 ? arguments[3] : "";
  Team team(threads == 0 ? usable_cores() : threads);
  bool good = true;
  for (const auto& of : all_cases()) {
    if (of.name().find(filter) != std::string::npos) {
      good = measure(of, bytes == 0 ? std::size_t{64} << 20 : bytes, team) && good;
    }
  }
  return good ? 0 : 1;
}
