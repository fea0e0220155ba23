// SPDX-License-Identifier: MIT
// Makes every allocation of every call fail once. The call must report each failure, write nothing and leak nothing,
// and the next call must work. In addition, repeating a call must not allocate.
#include <anydml/anydml.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

#include "support/failing_new.h"

namespace {

using anydml::test::g_allocations;
using anydml::test::g_live;
using anydml::test::t_until_failure;

constexpr int64_t kCount = 50'000;
const int64_t kSizes[] = {kCount};

struct Data {
  std::vector<float> a = std::vector<float>(kCount + 1, 7.0F);
  std::vector<float> b = std::vector<float>(kCount, 3.0F);
  std::vector<float> out = std::vector<float>(kCount, -99.0F);
  anydml_tensor ta{ANYDML_FLOAT32, 1, kSizes, nullptr, a.data()};
  anydml_tensor tb{ANYDML_FLOAT32, 1, kSizes, nullptr, b.data()};
  anydml_tensor to{ANYDML_FLOAT32, 1, kSizes, nullptr, out.data()};
};

struct Scenario {
  const char* what;
  std::function<int(Data&)> call;
  std::function<bool(const Data&)> untouched;  // whether a failed call left the data unchanged
  int success = ANYDML_OK;                     // the code that the call returns if nothing fails
};

int compile_and_run(Data& data) {
  const anydml_tensor inputs[] = {data.ta, data.tb};
  anydml_compiled* compiled = nullptr;
  int code = anydml_compile(nullptr, "ELEMENT_WISE_MODULUS_FLOOR", inputs, 2, &data.to, 1, nullptr, 0, &compiled);
  EXPECT_EQ(code == ANYDML_OK, compiled != nullptr);
  if (code == ANYDML_OK) {
    const void* addresses[] = {data.ta.data, data.tb.data};
    code = anydml_compiled_run(compiled, addresses, 2, &data.to.data, 1);
  }
  anydml_compiled_release(compiled);
  return code;
}

// a % b, twice. The divisor is a constant, so its absolute value is folded and may be shared.
int graph(Data& data) {
  anydml_graph* result = nullptr;
  anydml_constants* constants = nullptr;
  anydml_compiled* compiled = nullptr;
  anydml_value x = 0, b = 0, divisor = 0, once = 0, y = 0;
  int code = anydml_graph_create(&result);
  const auto then = [&code](const auto& call) { code = code == ANYDML_OK ? call() : code; };
  then([&] { return anydml_graph_add_input(result, &data.ta, &x); });
  then([&] { return anydml_graph_add_view_at(result, x, &data.ta, 0, &x); });
  then([&] { return anydml_graph_add_constant(result, &data.tb, &b); });
  then([&] { return anydml_constants_create(&constants); });
  then([&] { return anydml_graph_add_shared_constant(result, constants, &data.tb, &b); });
  then([&] { return anydml_graph_add_operator(result, "ELEMENT_WISE_ABS", &b, 1, &data.to, 1, nullptr, 0, &divisor); });
  for (anydml_value* next : {&once, &y}) {
    then([&] {
      const anydml_value operands[] = {next == &y ? once : x, divisor};
      return anydml_graph_add_operator(result, "ELEMENT_WISE_MODULUS_FLOOR", operands, 2, &data.to, 1, nullptr, 0,
                                       next);
    });
  }
  then([&] { return anydml_graph_add_output(result, y); });
  then([&] { return anydml_graph_compile(result, nullptr, &compiled); });
  then([&] {
    const void* address = data.ta.data;
    return anydml_compiled_run(compiled, &address, 1, &data.to.data, 1);
  });
  anydml_graph_release(result);
  anydml_constants_release(constants);
  anydml_compiled_release(compiled);
  return code;
}

bool output_untouched(const Data& data) {
  for (const float value : data.out) {
    if (value != -99.0F) {
      return false;
    }
  }
  return true;
}

bool first_input_untouched(const Data& data) {
  for (const float value : data.a) {
    if (value != 7.0F) {
      return false;
    }
  }
  return true;
}

const Scenario kScenarios[] = {
    {"a call", [](Data& d) { return anydml_modulus_truncate(&d.ta, &d.tb, &d.to); }, output_untouched},
    {"a call by operator name",
     [](Data& d) {
       const anydml_tensor inputs[] = {d.ta, d.tb};
       return anydml_run(nullptr, "ELEMENT_WISE_MODULUS_FLOOR", inputs, 2, &d.to, 1, nullptr, 0);
     },
     output_untouched},
    {"compile and run", compile_and_run, output_untouched},
    {"an overlap that is staged",
     [](Data& d) {
       d.to.data = d.a.data() + 1;
       return anydml_modulus_floor(&d.ta, &d.tb, &d.to);
     },
     first_input_untouched},
    {"an overlap with a compiled operator",
     [](Data& d) {
       d.to.data = d.a.data() + 1;
       return compile_and_run(d);
     },
     first_input_untouched},
    {"an overlap with distant elements",
     [](Data& d) {
       static constexpr int64_t kFew[] = {kCount / 10};
       static constexpr int64_t kApart[] = {10};
       d.ta = {ANYDML_FLOAT32, 1, kFew, kApart, d.a.data()};
       d.tb = {ANYDML_FLOAT32, 1, kFew, nullptr, d.b.data()};
       d.to = {ANYDML_FLOAT32, 1, kFew, nullptr, d.a.data() + 1};
       return anydml_modulus_floor(&d.ta, &d.tb, &d.to);
     },
     first_input_untouched},
    {"options with a constant",
     [](Data& d) {
       static constexpr uint32_t kConstants[] = {1};
       const anydml_tensor inputs[] = {d.ta, d.tb};
       anydml_options options = ANYDML_OPTIONS_INIT;
       options.constants = kConstants;
       options.constant_count = 1;
       anydml_compiled* compiled = nullptr;
       const int code =
           anydml_compile_with(&options, "ELEMENT_WISE_MODULUS_FLOOR", inputs, 2, &d.to, 1, nullptr, 0, &compiled);
       EXPECT_EQ(code == ANYDML_OK, compiled != nullptr);
       anydml_compiled_release(compiled);
       return code;
     },
     output_untouched},
    {"a list of the operators",
     [](Data&) { return anydml_find_operator("GEMM") != nullptr ? ANYDML_OK : ANYDML_OUT_OF_MEMORY; },
     output_untouched},
    {"a graph", graph, output_untouched},
    {"an overlap in a graph",
     [](Data& d) {
       d.to.data = d.a.data() + 1;
       return graph(d);
     },
     first_input_untouched},
    {"attributes, with a ScaleBias",
     [](Data& d) {
       anydml_attribute attributes[] = {{"Min", ANYDML_FLOAT64, 0, {}},
                                        {"Max", ANYDML_FLOAT64, 0, {}},
                                        {"Scale", ANYDML_FLOAT64, 0, {}},
                                        {"Bias", ANYDML_FLOAT64, 0, {}}};
       attributes[1].value.f64 = 100;
       return anydml_run(nullptr, "ELEMENT_WISE_CLIP", &d.ta, 1, &d.to, 1, attributes, 4);
     },
     output_untouched},
    {"a device by name", [](Data&) { return anydml_find_device("cpu") != nullptr ? ANYDML_OK : ANYDML_OUT_OF_MEMORY; },
     output_untouched},
    {"an unknown operator",
     [](Data& d) { return anydml_run(nullptr, "NO_SUCH_OPERATOR", &d.ta, 1, &d.to, 1, nullptr, 0); }, output_untouched,
     ANYDML_INVALID_ARGUMENT},
    {"an error message",
     [](Data& d) {
       d.tb.type = ANYDML_INT8;
       return anydml_modulus_floor(&d.ta, &d.tb, &d.to);
     },
     output_untouched, ANYDML_INVALID_ARGUMENT},
};

enum class Outcome { nothing_failed, handled, wrong };

Outcome fail_nth_here(const Scenario& scenario, long n) {
  Data data;
  t_until_failure = n;
  const int code = scenario.call(data);
  const bool failed = t_until_failure < 0;
  t_until_failure = -1;
  if (!failed) {
    return code == scenario.success ? Outcome::nothing_failed : Outcome::wrong;
  }
  // A failure that costs only speed (a worker thread that is not created) may be tolerated; any other failure must be
  // reported as out of memory.
  const bool reported = code == ANYDML_OUT_OF_MEMORY && scenario.untouched(data) &&
                        std::string_view(anydml_last_error()).find("memory") != std::string_view::npos;
  const bool good = code == scenario.success || reported;
  EXPECT_TRUE(good) << scenario.what << ", allocation " << n << ": " << code << ", " << anydml_last_error();
  return good ? Outcome::handled : Outcome::wrong;
}

// Runs the scenario with allocation n failing and returns the outcome. Runs in a new thread, which has no cached calls.
Outcome fail_nth(const Scenario& scenario, long n) {
  Outcome outcome = Outcome::wrong;
  std::thread([&] { outcome = fail_nth_here(scenario, n); }).join();
  return outcome;
}

// A library with its own operator new, such as one linked with -static-libstdc++, cannot be made to fail from here.
bool is_out_of_reach() {
  constexpr long kFar = 1'000'000;
  Data data;
  t_until_failure = kFar;
  compile_and_run(data);
  const bool unseen = t_until_failure == kFar;
  t_until_failure = -1;
  return unseen;
}
constexpr const char* kOutOfReach = "the library does not use this program's operator new";

// The first call in a process opens the device and creates the threads. This happens only once, so each failure needs
// its own process.
TEST(AllocationFailure, InTheFirstCallOfAProcess) {
  const Scenario scenario{"the first call of a process",
                          [](Data& d) { return anydml_modulus_floor(&d.ta, &d.tb, &d.to); }, output_untouched};
  long failures = 0;
  for (bool more = true; more; ++failures) {
    ASSERT_LT(failures, 10'000);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Outcome outcome = fail_nth(scenario, failures);
      if (outcome == Outcome::handled) {
        Data data;  // the process recovers: the same call now works
        outcome = scenario.call(data) == ANYDML_OK && data.out[kCount - 1] == 1.0F ? Outcome::handled : Outcome::wrong;
      }
      _exit(static_cast<int>(outcome));
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "allocation " << failures << ": killed by signal " << WTERMSIG(status);
    ASSERT_NE(WEXITSTATUS(status), static_cast<int>(Outcome::wrong)) << "allocation " << failures;
    more = WEXITSTATUS(status) == static_cast<int>(Outcome::handled);
  }
  --failures;  // the last round had no failure
  if (failures == 0 && is_out_of_reach()) {
    GTEST_SKIP() << kOutOfReach;
  }
  std::printf("  %4ld  %s\n", failures, scenario.what);
  EXPECT_GE(failures, 8);
}

TEST(AllocationFailure, InEveryLaterCall) {
  if (is_out_of_reach()) {
    GTEST_SKIP() << kOutOfReach;
  }
  long total = 0;
  for (const Scenario& scenario : kScenarios) {
    {
      Data warm;
      scenario.call(warm);
    }
    long failures = 0;
    for (Outcome outcome = Outcome::handled; outcome == Outcome::handled; ++failures) {
      ASSERT_LT(failures, 10'000);
      const long live_before = g_live.load();
      outcome = fail_nth(scenario, failures);
      ASSERT_NE(outcome, Outcome::wrong);
      ASSERT_EQ(g_live.load(), live_before) << scenario.what << ", allocation " << failures << ": leaked";
    }
    --failures;
    std::printf("  %4ld  %s\n", failures, scenario.what);
    total += failures;
  }
  std::printf("  %4ld  allocations failed, one at a time, each reported or tolerated\n", total);
  EXPECT_GE(total, 20);
}

// A failed call leaves the graph unchanged, so that it can be repeated.
TEST(AllocationFailure, InputsAndConstantsOfAGraphCanBeAddedAgain) {
  Data data;
  const auto insist = [](long until, const auto& call) {
    t_until_failure = until;
    const int code = call();
    t_until_failure = -1;
    return code == ANYDML_OUT_OF_MEMORY ? call() : code;
  };
  for (long until = 0; until < 12; ++until) {
    anydml_graph* result = nullptr;
    anydml_compiled* compiled = nullptr;
    anydml_value x = 0, b = 0, y = 0;
    ASSERT_EQ(anydml_graph_create(&result), ANYDML_OK);
    ASSERT_EQ(insist(until, [&] { return anydml_graph_add_input(result, &data.ta, &x); }), ANYDML_OK);
    ASSERT_EQ(insist(until, [&] { return anydml_graph_add_constant(result, &data.tb, &b); }), ANYDML_OK);
    const anydml_value operands[] = {x, b};
    ASSERT_EQ(anydml_graph_add_operator(result, "ELEMENT_WISE_MODULUS_FLOOR", operands, 2, &data.to, 1, nullptr, 0, &y),
              ANYDML_OK);
    ASSERT_EQ(insist(until, [&] { return anydml_graph_add_output(result, y); }), ANYDML_OK);
    ASSERT_EQ(anydml_graph_compile(result, nullptr, &compiled), ANYDML_OK);
    const void* address = data.ta.data;
    ASSERT_EQ(anydml_compiled_run(compiled, &address, 1, &data.to.data, 1), ANYDML_OK) << anydml_last_error();
    EXPECT_EQ(data.out[0], 1.0F);
    anydml_graph_release(result);
    anydml_compiled_release(compiled);
  }
}

TEST(Allocation, ARepeatedCallMakesNone) {
  if (is_out_of_reach()) {
    GTEST_SKIP() << kOutOfReach;
  }
  Data data;
  const anydml_tensor inputs[] = {data.ta, data.tb};
  const void* addresses[] = {data.ta.data, data.tb.data};
  anydml_compiled* compiled = nullptr;
  ASSERT_EQ(anydml_compile(nullptr, "ELEMENT_WISE_MODULUS_FLOOR", inputs, 2, &data.to, 1, nullptr, 0, &compiled), 0);
  const auto call_all = [&] {
    EXPECT_EQ(anydml_modulus_floor(&data.ta, &data.tb, &data.to), 0);
    EXPECT_EQ(anydml_modulus_truncate(&data.ta, &data.tb, &data.to), 0);
    EXPECT_EQ(anydml_run(nullptr, "ELEMENT_WISE_ADD", inputs, 2, &data.to, 1, nullptr, 0), 0);
    EXPECT_EQ(anydml_compiled_run(compiled, addresses, 2, &data.to.data, 1), 0);
    for (const double maximum : {5.0, 100.0}) {  // two calls that differ only in an attribute
      anydml_attribute attributes[] = {{"Min", ANYDML_INT64, 0, {}}, {"Max", ANYDML_FLOAT64, 0, {}}};
      attributes[0].value.i64 = -1;
      attributes[1].value.f64 = maximum;
      EXPECT_EQ(anydml_run(nullptr, "ELEMENT_WISE_CLIP", inputs, 1, &data.to, 1, attributes, 2), 0);
      EXPECT_EQ(data.out[0], std::min(7.0F, static_cast<float>(maximum)));
    }
  };
  call_all();
  const long before = g_allocations;
  for (int i = 0; i < 100; ++i) {
    call_all();
  }
  EXPECT_EQ(g_allocations - before, 0);
  anydml_compiled_release(compiled);
}

}  // namespace
