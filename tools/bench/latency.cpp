// SPDX-License-Identifier: MIT
#include "latency.h"

#include <anydml/anydml.h>

#include "measure.h"

namespace anydml::bench {
namespace {

constexpr int kElements = 16;
constexpr int kCallsPerSample = 200;

template <class Call>
Latency calls(const char* name, const char* what, double seconds, Call call) {
  std::vector<double> samples;
  call();
  const double begin = seconds_now();
  do {
    const double before = seconds_now();
    for (int i = 0; i < kCallsPerSample; ++i) {
      if (call() != ANYDML_OK) {
        throw LatencyFailure{anydml_last_error()};
      }
    }
    samples.push_back((seconds_now() - before) / kCallsPerSample);
  } while (seconds_now() - begin < seconds);
  const Timing timing = summarize(samples);
  return {name, what, timing.median * 1e9, timing.min * 1e9};
}

}  // namespace

std::vector<Latency> measure_latency(double seconds) {
  const std::int64_t sizes[] = {kElements};
  float a[kElements];
  float b[kElements];
  float out[kElements];
  for (int i = 0; i < kElements; ++i) {
    a[i] = static_cast<float>(i) * 7.5F - 50;
    b[i] = static_cast<float>(i) * 0.3F - 2.5F;
  }
  const anydml_tensor tensors[] = {{ANYDML_FLOAT32, 1, sizes, nullptr, a},
                                   {ANYDML_FLOAT32, 1, sizes, nullptr, b},
                                   {ANYDML_FLOAT32, 1, sizes, nullptr, out}};
  std::vector<Latency> results;
  results.push_back(calls("modulus_floor", "one anydml_modulus_floor call on 16 FLOAT32", seconds,
                          [&] { return anydml_modulus_floor(&tensors[0], &tensors[1], &tensors[2]); }));

  anydml_compiled* compiled = nullptr;
  if (anydml_compile(nullptr, "ELEMENT_WISE_MODULUS_FLOOR", tensors, 2, &tensors[2], 1, nullptr, 0, &compiled) !=
      ANYDML_OK) {
    throw LatencyFailure{anydml_last_error()};
  }
  const void* const inputs[] = {a, b};
  void* const outputs[] = {out};
  results.push_back(calls("compiled_run", "one anydml_compiled_run on 16 FLOAT32", seconds,
                          [&] { return anydml_compiled_run(compiled, inputs, 2, outputs, 1); }));
  anydml_compiled_release(compiled);

  measure_directml_latency(seconds, results);
  return results;
}

}  // namespace anydml::bench
