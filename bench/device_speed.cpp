// SPDX-License-Identifier: MIT
// Compares devices in one run: copies, element-wise operators, fused chains, reductions, moves, matrix products and
// convolutions, the cost of a small step in a list and of a call, and the time to compile each of them.
//
// usage: device_speed [--seconds S] [--only PREFIX] [--json FILE] DEVICE...
//        c++ -O2 -std=c++17 -Iinclude bench/device_speed.cpp -lanydml
//
// Each case runs on all devices in turn. A time is the shortest of as many runs as fit into S seconds. Steps that are
// short run many times in one graph, one after another, and the time of a graph with one of them is subtracted. The
// results of the devices are compared bit by bit.
#include <anydml/anydml.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using Sizes = std::vector<int64_t>;
double g_seconds = 0.4;

[[noreturn]] void stop(const std::string& what) {
  std::fprintf(stderr, "device_speed: %s: %s\n", what.c_str(), anydml_last_error());
  std::exit(1);
}
bool g_fails = false;
std::string g_why;
// An error of this library skips the case on the device.
bool check(int status) {
  if (status != ANYDML_OK && !g_fails) {
    g_fails = true;
    g_why = anydml_last_error();
  }
  return status == ANYDML_OK;
}

anydml_attribute number(const char* name, double value) {
  anydml_attribute attribute = {name, ANYDML_FLOAT64, 0, {}};
  attribute.value.f64 = value;
  return attribute;
}
anydml_attribute text(const char* name, const char* value) {
  anydml_attribute attribute = {name, ANYDML_TEXT, 0, {}};
  attribute.value.text = value;
  return attribute;
}
anydml_attribute numbers(const char* name, const Sizes& values) {
  anydml_attribute attribute = {name, ANYDML_INT64 | ANYDML_ARRAY, static_cast<uint32_t>(values.size()), {}};
  attribute.value.i64s = values.data();
  return attribute;
}

int64_t count_of(const Sizes& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    count *= size;
  }
  return count;
}

// A graph that is being built.
class Graph {
 public:
  Graph() { check(anydml_graph_create(&graph_)); }
  ~Graph() { anydml_graph_release(graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  anydml_value input(const Sizes& sizes, anydml_type type = ANYDML_FLOAT32) {
    const anydml_tensor tensor = {type, static_cast<int32_t>(sizes.size()), sizes.data(), nullptr, nullptr};
    anydml_value value = 0;
    check(anydml_graph_add_input(graph_, &tensor, &value));
    inputs.push_back(count_of(sizes) * static_cast<int64_t>(anydml_type_size(type)));
    return value;
  }
  anydml_value add(const char* op, const std::vector<anydml_value>& from, const Sizes& sizes,
                   const std::vector<anydml_attribute>& attributes = {}, anydml_type type = ANYDML_FLOAT32) {
    const anydml_tensor tensor = {type, static_cast<int32_t>(sizes.size()), sizes.data(), nullptr, nullptr};
    anydml_value value = 0;
    check(anydml_graph_add_operator(graph_, op, from.data(), from.size(), &tensor, 1, attributes.data(),
                                    attributes.size(), &value));
    return value;
  }
  anydml_value view(anydml_value of, const Sizes& sizes, const Sizes& strides) {
    const anydml_tensor tensor = {ANYDML_FLOAT32, static_cast<int32_t>(sizes.size()), sizes.data(), strides.data(),
                                  nullptr};
    anydml_value value = 0;
    check(anydml_graph_add_view(graph_, of, &tensor, &value));
    return value;
  }
  void output(anydml_value value, const Sizes& sizes, anydml_type type = ANYDML_FLOAT32) {
    check(anydml_graph_add_output(graph_, value));
    outputs.push_back(count_of(sizes) * static_cast<int64_t>(anydml_type_size(type)));
  }
  anydml_compiled* compile(const anydml_device* device) const {
    anydml_compiled* compiled = nullptr;
    check(anydml_graph_compile(graph_, device, &compiled));
    return compiled;
  }

  std::vector<int64_t> inputs;  // bytes
  std::vector<int64_t> outputs;

 private:
  anydml_graph* graph_ = nullptr;
};

struct Case {
  std::string name;
  double bytes;  // that a step moves, or 0
  double flops;  // of a step, or 0
  int steps;     // in the longer graph; 1 if a step is long
  std::function<void(Graph&, int steps)> build;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Measured {
  double seconds = 0;  // of a step
  double compile = 0;  // of the graph with one step
  uint64_t digest = 0;
  std::string error;
};

uint64_t digest_of(const std::vector<uint32_t>& words) {
  uint64_t digest = 14695981039346656037u;
  for (const uint32_t word : words) {
    const bool is_nan = (word & 0x7fffffff) > 0x7f800000;
    digest = (digest ^ (is_nan ? 0x7fc00000 : word)) * 1099511628211u;
  }
  return digest;
}

// The time of a run of the graph.
double time_of(const anydml_device* device, const Case& one, int steps, Measured& measured) {
  Graph graph;
  one.build(graph, steps);
  const double begin = now();
  anydml_compiled* const compiled = g_fails ? nullptr : graph.compile(device);
  if (compiled == nullptr) {
    return 0;
  }
  if (steps == 1) {
    measured.compile = now() - begin;
  }
  std::vector<anydml_memory*> memories;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  uint32_t state = 1;
  for (const int64_t bytes : graph.inputs) {
    anydml_memory* memory = nullptr;
    check(anydml_memory_create(device, static_cast<size_t>(bytes), 0, &memory));
    // Ordinary numbers in [-0.05, 0.05), repeated.
    std::vector<float> values(std::min<size_t>(static_cast<size_t>(bytes) / 4, size_t{1} << 22));
    for (float& value : values) {
      state = state * 1664525 + 1013904223;
      value = (static_cast<float>(state >> 8) / 16777216.0f - 0.5f) * 0.1f;
    }
    for (size_t at = 0; at < static_cast<size_t>(bytes) && memory != nullptr; at += values.size() * 4) {
      check(anydml_memory_write(memory, at, values.data(), std::min(values.size() * 4, static_cast<size_t>(bytes) - at)));
    }
    memories.push_back(memory);
    inputs.push_back(anydml_memory_pointer(memory));
  }
  for (const int64_t bytes : graph.outputs) {
    anydml_memory* memory = nullptr;
    check(anydml_memory_create(device, static_cast<size_t>(bytes), 0, &memory));
    memories.push_back(memory);
    outputs.push_back(anydml_memory_pointer(memory));
  }
  double best = INFINITY;
  const auto run = [&] { check(anydml_compiled_run(compiled, inputs.data(), inputs.size(), outputs.data(), outputs.size())); };
  for (int i = 0; i < 3 && !g_fails; ++i) {
    run();
  }
  const double end = now() + g_seconds;
  for (int i = 0; !g_fails && (i < 3 || now() < end); ++i) {
    const double start = now();
    run();
    best = std::min(best, now() - start);
  }
  if (steps == 1 && !g_fails) {
    std::vector<uint32_t> words(static_cast<size_t>(std::min<int64_t>(graph.outputs[0], int64_t{1} << 26)) / 4);
    check(anydml_memory_read(memories[graph.inputs.size()], 0, words.data(), words.size() * 4));
    measured.digest = digest_of(words);
  }
  anydml_compiled_release(compiled);
  for (anydml_memory* memory : memories) {
    anydml_memory_release(memory);
  }
  return best;
}

Measured measure(const anydml_device* device, const Case& one) {
  g_fails = false;
  Measured measured;
  const double single = time_of(device, one, 1, measured);
  measured.seconds = single;
  if (one.steps > 1 && !g_fails) {
    measured.seconds = (time_of(device, one, one.steps, measured) - single) / (one.steps - 1);
  }
  measured.error = g_fails ? g_why : "";
  return measured;
}

Case element_wise(const char* name, const char* op, int inputs, int64_t count, double moved,
                  std::vector<anydml_attribute> attributes = {}, anydml_type to = ANYDML_FLOAT32) {
  return {name, static_cast<double>(count) * moved, 0, 1, [=](Graph& graph, int) {
            std::vector<anydml_value> from;
            for (int i = 0; i < inputs; ++i) {
              from.push_back(graph.input({count}));
            }
            graph.output(graph.add(op, from, {count}, attributes, to), {count}, to);
          }};
}

Case product(const std::string& name, int64_t batch, int64_t m, int64_t n, int64_t k, bool transposes_a,
             bool transposes_b, int steps) {
  return {name, 0, 2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k),
          steps, [=](Graph& graph, int count) {
            const Sizes a = transposes_a ? Sizes{1, batch, k, m} : Sizes{1, batch, m, k};
            const Sizes b = transposes_b ? Sizes{1, batch, n, k} : Sizes{1, batch, k, n};
            const anydml_value left = graph.input(a);
            anydml_value right = graph.input(b);
            for (int i = 0; i < count; ++i) {  // in a chain, all matrices are square
              right = graph.add("GEMM", {left, right}, {1, batch, m, n},
                                {text("TransA", transposes_a ? "TRANSPOSE" : "NONE"),
                                 text("TransB", transposes_b ? "TRANSPOSE" : "NONE"), number("Alpha", 1), number("Beta", 0)});
            }
            graph.output(right, {1, batch, m, n});
          }};
}

Case convolution(const std::string& name, int64_t images, int64_t channels, int64_t size, int64_t filters, int64_t taps,
                 int64_t stride, int64_t groups = 1) {
  const int64_t padding = taps / 2;
  const int64_t out = (size + 2 * padding - taps) / stride + 1;
  return {name, 0,
          2.0 * static_cast<double>(images) * static_cast<double>(out * out) * static_cast<double>(filters) *
              static_cast<double>(channels / groups * taps * taps),
          1, [=](Graph& graph, int) {
            static const Sizes one = {1, 1}, zero = {0, 0};
            const Sizes strides = {stride, stride}, paddings = {padding, padding};
            const anydml_value input = graph.input({images, channels, size, size});
            const anydml_value filter = graph.input({filters, channels / groups, taps, taps});
            graph.output(graph.add("CONVOLUTION", {input, filter}, {images, filters, out, out},
                                   {text("Mode", "CROSS_CORRELATION"), text("Direction", "FORWARD"),
                                    numbers("Strides", strides), numbers("Dilations", one),
                                    numbers("StartPadding", paddings), numbers("EndPadding", paddings),
                                    numbers("OutputPadding", zero), number("GroupCount", static_cast<double>(groups))}),
                         {images, filters, out, out});
          }};
}

std::vector<Case> all_cases() {
  constexpr int64_t kMany = int64_t{1} << 28;  // 1 GiB of FLOAT32
  constexpr int64_t kSide = int64_t{1} << 14;
  std::vector<Case> cases;
  cases.push_back(element_wise("copy", "ELEMENT_WISE_IDENTITY", 1, kMany, 8));
  cases.push_back(element_wise("add", "ELEMENT_WISE_ADD", 2, kMany, 12));
  cases.push_back(element_wise("relu", "ACTIVATION_RELU", 1, kMany, 8));
  cases.push_back(element_wise("exp", "ELEMENT_WISE_EXP", 1, kMany, 8));
  cases.push_back(element_wise("tanh", "ACTIVATION_TANH", 1, kMany, 8));
  cases.push_back(element_wise("gelu", "ACTIVATION_GELU", 1, kMany, 8));
  cases.push_back(element_wise("sin", "ELEMENT_WISE_SIN", 1, kMany, 8));
  cases.push_back(element_wise("divide", "ELEMENT_WISE_DIVIDE", 2, kMany, 12));
  cases.push_back(element_wise("sqrt", "ELEMENT_WISE_SQRT", 1, kMany, 8));
  cases.push_back(element_wise("cast to FLOAT16", "CAST", 1, kMany, 6, {}, ANYDML_FLOAT16));
  cases.push_back({"chain: relu((a * b + a) * b)", 12.0 * kMany, 0, 1, [](Graph& graph, int) {
                     const Sizes sizes = {kMany};
                     const anydml_value a = graph.input(sizes);
                     const anydml_value b = graph.input(sizes);
                     anydml_value x = graph.add("ELEMENT_WISE_MULTIPLY", {a, b}, sizes);
                     x = graph.add("ELEMENT_WISE_ADD", {x, a}, sizes);
                     x = graph.add("ELEMENT_WISE_MULTIPLY", {x, b}, sizes);
                     graph.output(graph.add("ACTIVATION_RELU", {x}, sizes), sizes);
                   }});
  cases.push_back({"chain: tanh(a + row) * b", 12.0 * kMany, 0, 1, [](Graph& graph, int) {
                     const Sizes sizes = {kSide, kSide};
                     const anydml_value a = graph.input(sizes);
                     const anydml_value b = graph.input(sizes);
                     const anydml_value row = graph.view(graph.input({kSide}), sizes, {0, 1});
                     anydml_value x = graph.add("ELEMENT_WISE_ADD", {a, row}, sizes);
                     x = graph.add("ACTIVATION_TANH", {x}, sizes);
                     graph.output(graph.add("ELEMENT_WISE_MULTIPLY", {x, b}, sizes), sizes);
                   }});
  const auto reduce = [&](const char* name, const char* function, const Sizes& sizes, const Sizes& out, Sizes axes) {
    cases.push_back({name, 4.0 * static_cast<double>(count_of(sizes)), 0, 1, [=](Graph& graph, int) {
                       graph.output(graph.add("REDUCE", {graph.input(sizes)}, out,
                                              {text("Function", function), numbers("Axes", axes)}),
                                    out);
                     }});
  };
  reduce("sum of rows", "SUM", {1, 1, kSide, kSide}, {1, 1, kSide, 1}, {3});
  reduce("sum of columns", "SUM", {1, 1, kSide, kSide}, {1, 1, 1, kSide}, {2});
  reduce("sum of all", "SUM", {1, 1, kSide, kSide}, {1, 1, 1, 1}, {2, 3});
  reduce("sum of short rows", "SUM", {1, 1, kMany / 64, 64}, {1, 1, kMany / 64, 1}, {3});
  reduce("maximum of rows", "MAX", {1, 1, kSide, kSide}, {1, 1, kSide, 1}, {3});
  cases.push_back({"transpose", 8.0 * kMany, 0, 1, [](Graph& graph, int) {
                     const anydml_value turned = graph.view(graph.input({kSide, kSide}), {kSide, kSide}, {1, kSide});
                     graph.output(graph.add("ELEMENT_WISE_IDENTITY", {turned}, {kSide, kSide}), {kSide, kSide});
                   }});
  cases.push_back({"permute NCHW to NHWC", 8.0 * kMany, 0, 1, [](Graph& graph, int) {
                     const Sizes sizes = {64, 256, 128, 128};
                     const Sizes turned = {64, 128, 128, 256};
                     const anydml_value view = graph.view(graph.input(sizes), turned, {256 * 16384, 128, 1, 16384});
                     graph.output(graph.add("ELEMENT_WISE_IDENTITY", {view}, turned), turned);
                   }});
  cases.push_back({"join", 8.0 * kMany, 0, 1, [](Graph& graph, int) {
                     const Sizes half = {1, 1, kSide, kSide / 2};
                     const anydml_value a = graph.input(half);
                     const anydml_value b = graph.input(half);
                     graph.output(graph.add("JOIN", {a, b}, {1, 1, kSide, kSide}, {number("Axis", 3)}), {kSide, kSide});
                   }});
  cases.push_back({"space to depth", 8.0 * kMany, 0, 1, [](Graph& graph, int) {
                     const Sizes out = {64, 1024, 64, 64};
                     graph.output(graph.add("SPACE_TO_DEPTH", {graph.input({64, 256, 128, 128})}, out,
                                            {number("BlockSize", 2)}),
                                  out);
                   }});
  cases.push_back({"pad", 8.0 * kMany, 0, 1, [](Graph& graph, int) {
                     static const Sizes padding = {0, 0, 1, 1};
                     const Sizes out = {64, 256, 130, 130};
                     graph.output(graph.add("PADDING", {graph.input({64, 256, 128, 128})}, out,
                                            {text("PaddingMode", "CONSTANT"), number("PaddingValue", 0),
                                             numbers("StartPadding", padding), numbers("EndPadding", padding)}),
                                  out);
                   }});
  for (const int64_t n : {512, 768, 1024, 2048, 4096, 8192}) {
    cases.push_back(product("gemm " + std::to_string(n), 1, n, n, n, false, false, n <= 1024 ? 50 : n <= 2048 ? 8 : 1));
  }
  cases.push_back(product("gemm 4096, B transposed", 1, 4096, 4096, 4096, false, true, 1));
  cases.push_back(product("gemm 4096, A transposed", 1, 4096, 4096, 4096, true, false, 1));
  cases.push_back(product("gemm 4095", 1, 4095, 4095, 4095, false, false, 1));
  cases.push_back(product("gemm 128 x 4096 x 4096", 1, 128, 4096, 4096, false, false, 1));
  cases.push_back(product("gemm 1024, 32 matrices", 32, 1024, 1024, 1024, false, false, 1));
  cases.push_back(product("gemm 128, 512 matrices", 512, 128, 128, 128, false, false, 8));
  cases.push_back(convolution("convolution 3x3, 64 x 56 x 56", 32, 64, 56, 64, 3, 1));
  cases.push_back(convolution("convolution 3x3, 256 x 14 x 14", 64, 256, 14, 256, 3, 1));
  cases.push_back(convolution("convolution 7x7 / 2, 3 x 224 x 224", 32, 3, 224, 64, 7, 2));
  cases.push_back(convolution("convolution 1x1, 256 x 56 x 56", 32, 256, 56, 64, 1, 1));
  cases.push_back(convolution("convolution 3x3 depthwise, 256 x 56 x 56", 32, 256, 56, 256, 3, 1, 256));
  // Small steps that need each other's results and are not fused.
  cases.push_back({"small step in a list", 0, 0, 1000, [](Graph& graph, int steps) {
                     const Sizes sizes = {1, 1, 16, 16};
                     const anydml_value left = graph.input(sizes);
                     anydml_value right = graph.input(sizes);
                     for (int i = 0; i < steps; ++i) {
                       right = graph.add("GEMM", {left, right}, sizes,
                                         {text("TransA", "NONE"), text("TransB", "NONE"), number("Alpha", 1), number("Beta", 0)});
                     }
                     graph.output(right, sizes);
                   }});
  cases.push_back(element_wise("small call", "ELEMENT_WISE_ADD", 2, 256, 0));
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::pair<std::string, const anydml_device*>> devices;
  std::string only;
  std::FILE* json = nullptr;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--seconds" && i + 1 < argc) {
      g_seconds = std::atof(argv[++i]);
    } else if (word == "--only" && i + 1 < argc) {
      only = argv[++i];
    } else if (word == "--json" && i + 1 < argc) {
      json = std::fopen(argv[++i], "w");
    } else {
      const anydml_device* const device = anydml_find_device(word.c_str());
      if (device == nullptr) {
        stop(word);
      }
      devices.emplace_back(word, device);
    }
  }
  if (devices.empty()) {
    std::fprintf(stderr, "usage: device_speed [--seconds S] [--only PREFIX] [--json FILE] DEVICE...\n");
    return 2;
  }
  for (const auto& [name, device] : devices) {
    std::printf("%s: %s\n", name.c_str(), anydml_device_get_info(device)->description);
  }
  std::map<std::string, double> pass;  // the rate of each device's copies
  for (const Case& one : all_cases()) {
    if (one.name.rfind(only, 0) != 0) {
      continue;
    }
    std::printf("%-42s", one.name.c_str());
    double first = 0;
    uint64_t digest = 0;
    for (const auto& [name, device] : devices) {
      const Measured measured = measure(device, one);
      const bool is_first = name == devices.front().first;
      if (!measured.error.empty()) {
        std::printf(" | %s", measured.error.c_str());
        continue;
      }
      const double rate = one.bytes != 0 ? one.bytes / measured.seconds / 1e9 : one.flops / measured.seconds / 1e12;
      if (one.name == "copy") {
        pass[name] = rate;
      }
      if (is_first) {
        first = measured.seconds;
        digest = measured.digest;
      }
      std::printf(" | %9.1f us", measured.seconds * 1e6);
      if (one.bytes != 0) {
        std::printf(" %6.0f GB/s %4.2f of the copy", rate, pass.count(name) != 0 ? rate / pass[name] : 0);
      } else if (one.flops != 0) {
        std::printf(" %6.2f TFLOP/s", rate);
      }
      std::printf(", compiled in %.0f ms", measured.compile * 1e3);
      if (!is_first && first != 0) {
        std::printf(", ratio %.2f%s", measured.seconds / first, measured.digest == digest ? "" : ", OTHER BITS");
      }
      if (json != nullptr) {
        std::fprintf(json, "{\"case\": \"%s\", \"device\": \"%s\", \"us\": %.3f, \"rate\": %.2f, \"compile_ms\": %.1f, \"digest\": \"%016llx\"}\n",
                     one.name.c_str(), name.c_str(), measured.seconds * 1e6, rate, measured.compile * 1e3,
                     static_cast<unsigned long long>(measured.digest));
        std::fflush(json);
      }
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}
