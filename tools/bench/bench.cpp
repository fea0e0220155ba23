// SPDX-License-Identifier: MIT
#include "bench.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <new>
#include <optional>
#include <regex>

#include "base/edit_distance.h"
#include "cases.h"
#include "measure_device.h"
#include "measure_device_rows.h"
#include "pass.h"
#include "report.h"

namespace anydml::bench {
namespace {

struct Options {
  std::vector<std::string> types{"all"};
  std::vector<std::string> operators{"modulus"};
  std::vector<std::string> layouts;
  std::vector<std::string> sizes{"memory"};
  std::vector<std::string> data{"ordinary"};
  std::string filter;
  std::string json;
  std::string adapter;
  std::string pass = "plain";
  unsigned threads = 0;
  double min_time = 0;
  std::int64_t samples = 4096;
  int rounds = 0;
  bool quick = false;
  bool list = false;
  bool list_operators = false;
  bool latency = false;
  bool scaling = false;
};

struct Failure {
  int status;
  std::string message;
};

// The defaults for a device that does not share the CPU's memory.
constexpr std::int64_t kDeviceElements = std::int64_t{1} << 28;
constexpr std::int64_t kDeviceSamples = std::int64_t{1} << 20;
constexpr int kDeviceRounds = 11;
constexpr double kDeviceMemory = 0.7;  // the fraction of the device's memory that tensors may use

template <class T>
std::vector<T> parse_all(const std::vector<std::string>& texts, const char* option,
                         bool (*parse)(std::string_view, std::vector<T>&)) {
  std::vector<T> parsed;
  for (const std::string& text : texts) {
    if (!parse(text, parsed)) {
      throw Failure{2, fmt::format("{}: '{}' is not a valid value (see --help)", option, text)};
    }
  }
  return parsed;
}

// The name of the case against which a strided case's time per element is compared. That case must be measured too.
std::string reference_name(Case of) {
  of.layout = Layout::tensor;
  return of.name();
}

// `memory_elements` is the element count of the size "memory", or 0 to use the count from parse_size.
std::vector<Case> select(const Options& options, std::int64_t memory_elements) {
  const auto types = parse_all(options.types, "--types", parse_type);
  const auto operators = parse_all(options.operators, "--operators", parse_operator);
  const auto layouts = parse_all(options.layouts, "--layouts", parse_layout);
  auto sizes = parse_all(options.sizes, "--sizes", parse_size);
  for (Size& size : sizes) {
    if (memory_elements != 0 && size.name == "memory") {
      size = {size.name, 0, memory_elements};
    }
  }
  const auto data = parse_all(options.data, "--data", parse_data);
  std::regex filter;
  try {
    filter = std::regex(options.filter);
  } catch (const std::regex_error&) {
    throw Failure{2, fmt::format("--filter: '{}' is not a regular expression", options.filter)};
  }

  std::vector<Case> cases;
  std::map<std::string, bool> seen;
  const auto add = [&](const Case& of) {
    if (lay_out(of) && seen.emplace(of.name(), true).second) {
      cases.push_back(of);
    }
  };
  // The outer loop is over data, so that memory is rarely refilled. The inner loop is over layouts, so that results to
  // be compared are measured close together in time.
  const auto add_all = [&](anydml_type type, const Data& kind) {
    for (const Size& size : sizes) {
      for (const Row* row : operators) {
        if (std::ranges::find(row->types, type) == row->types.end() || !has_data(*row, type, kind)) {
          continue;
        }
        for (const Layout layout : options.layouts.empty() ? default_layouts(*row) : layouts) {
          const Case of{type, row, layout, size, kind};
          if (!lay_out(of) || !std::regex_search(of.name(), filter)) {
            continue;
          }
          if (is_strided(layout)) {
            add({type, row, Layout::tensor, size, kind});
          }
          add(of);
        }
      }
    }
  };
  for (const anydml_type type : types) {
    for (const Data& kind : data) {
      if (kind.kind == Data::Kind::gap && kind.gap == kAllGaps) {
        for (const int gap : gaps_of(type)) {
          add_all(type, {Data::Kind::gap, gap});
        }
      } else {
        add_all(type, kind);
      }
    }
  }
  return cases;
}

// The cases that a device supports. They are grouped by the class that measures them.
struct DeviceCases {
  std::vector<Case> modulus;
  std::vector<Case> others;

  explicit DeviceCases(const std::vector<Case>& cases) {
    for (const Case& of : cases) {
      (of.row->is_modulus() ? modulus : others).push_back(of);
    }
  }
  [[nodiscard]] std::uint64_t bytes() const { return device_bytes(modulus) + device_row_bytes(others); }
};

class BothDeviceMeasurers {
 public:
  BothDeviceMeasurers(const DeviceCases& cases, const Settings& settings, Reference& reference) {
    if (!cases.modulus.empty()) {
      modulus_.emplace(cases.modulus, settings);
    }
    if (!cases.others.empty()) {
      others_.emplace(cases.others, settings, reference);
    }
  }
  std::optional<Result> measure(const Case& of, std::string& error) {
    return of.row->is_modulus() ? modulus_->measure(of, error) : others_->measure(of, error);
  }

 private:
  std::optional<DeviceMeasurer> modulus_;
  std::optional<DeviceRowMeasurer> others_;
};

// Halves the size until the cases fit in the device's memory.
std::vector<Case> select_for_device(const Options& options, std::uint64_t memory_bytes) {
  std::int64_t elements = kDeviceElements;
  const auto maximum = static_cast<std::uint64_t>(kDeviceMemory * static_cast<double>(memory_bytes));
  const auto select_taken = [&](std::int64_t count) {
    std::vector<Case> taken = select(options, count);
    std::erase_if(taken, [](const Case& of) { return !of.row->is_modulus() && !DeviceRowMeasurer::takes(of); });
    return taken;
  };
  std::vector<Case> cases = select_taken(elements);
  for (; DeviceCases(cases).bytes() > maximum && elements > 1 << 16; elements /= 2) {
    cases = select_taken(elements / 2);
  }
  if (const std::uint64_t bytes = DeviceCases(cases).bytes(); bytes > maximum) {
    throw Failure{
        2, fmt::format("--sizes: the tensors need {} MiB, but the adapter has {}", bytes >> 20, memory_bytes >> 20)};
  }
  return cases;
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

// A progress line on the terminal. Each new line overwrites the previous one.
class Progress {
 public:
  explicit Progress(std::size_t total) : total_(total), shown_(isatty(STDERR_FILENO) != 0) {}
  void show(std::size_t index, const std::string& name) const {
    if (shown_) {
      fmt::print(stderr, "\r\033[K[{}/{}] {}", index + 1, total_, name);
      std::fflush(stderr);
    }
  }
  void clear() const {
    if (shown_) {
      fmt::print(stderr, "\r\033[K");
      std::fflush(stderr);
    }
  }

 private:
  std::size_t total_;
  bool shown_;
};

template <class Measures>
void measure_cases(const std::vector<Case>& cases, Measures& measurer, Report& report) {
  const Progress progress(cases.size());
  std::map<std::string, double> times;  // the time per element, by case name
  std::size_t width = 0;
  for (const Case& of : cases) {
    width = std::max(width, of.row->name.size());
  }
  print(column_names(width));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    progress.show(i, cases[i].name());
    std::string error;
    auto result = measurer.measure(cases[i], error);
    progress.clear();
    if (!result) {
      throw Failure{1, fmt::format("{}: {}", cases[i].name(), error)};
    }
    times[cases[i].name()] = result->ns_per_element();
    if (is_strided(cases[i].layout)) {
      if (const auto reference = times.find(reference_name(cases[i])); reference != times.end()) {
        result->factor = result->ns_per_element() / reference->second;
      }
    }
    print(row_text(*result, width));
    report.results.push_back(std::move(*result));
  }
}

// The help text's placeholders for option values. Completion lists the values of these options.
constexpr const char* kTypesName = "TYPES";
constexpr const char* kOperatorsName = "OPERATORS";
constexpr const char* kLayoutsName = "LAYOUTS";
constexpr const char* kSizesName = "SIZES";
constexpr const char* kDataName = "DATA";
constexpr const char* kPassName = "PASS";

void set_up(CLI::App& app, Options& options) {
  app.add_option(
         "-a,--adapter", options.adapter,
         "the adapter's name or part of its description (sets ANYDML_ADAPTER). An adapter with its own memory is "
         "measured separately: the modulus through DirectML with the device's clock, other operators through "
         "the C API with the wall clock; reductions are not measured")
      ->type_name("NAME");
  app.add_option(
         "--types", options.types,
         "FLOAT32, ... UINT64; floats, integers or all. For operators with several types: the type of the first "
         "input; for IF, the type of the values chosen from")
      ->delimiter(',')
      ->type_name(kTypesName)
      ->capture_default_str();
  app.add_option("--operators", options.operators,
                 "DirectML's names, with or without ELEMENT_WISE_ and ACTIVATION_, in any case: add, relu, "
                 "reduce_sum, cast_int8 (to INT8); or modulus, elementwise, cast, reduce, fill, all. "
                 "--list-operators lists them")
      ->delimiter(',')
      ->type_name(kOperatorsName)
      ->capture_default_str();
  app.add_option(
         "--layouts", options.layouts,
         "element-wise: tensor, scalar, dividend, row, transposed, stride2, stride2_all, rows7, rows1000, "
         "dims8, inplace; reductions: inner, outer, whole; or all. Layouts that an operator does not support are "
         "skipped [tensor, and scalar for two inputs; inner, outer and whole]")
      ->delimiter(',')
      ->type_name(kLayoutsName);
  app.add_option("--sizes", options.sizes,
                 "a tensor of 8 KiB (l1), 128 KiB (l2), 64 MiB or the size of the last-level cache, or on another "
                 "adapter 268,435,456 "
                 "elements (memory); all: these three; a number of elements; curve: 16 to 16,777,216 elements")
      ->delimiter(',')
      ->type_name(kSizesName)
      ->capture_default_str();
  app.add_option("--data", options.data,
                 "ordinary, hard; all: both; gap:N: exponents N binades apart (floats, two inputs); gaps: a range of "
                 "them")
      ->delimiter(',')
      ->type_name(kDataName)
      ->capture_default_str();
  app.add_option("--filter", options.filter,
                 "only cases whose name matches this regular expression (--list prints the names)")
      ->type_name("REGEX");
  app.add_option("--threads", options.threads, "threads for the library and the memory pass (sets ANYDML_THREADS)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  app.add_option("--min-time", options.min_time, "minimum seconds per case (0.3; quick: 0.02)")
      ->check(CLI::Range(0.0, 600.0))
      ->type_name("SECONDS");
  app.add_option("--rounds", options.rounds,
                 "minimum rounds, alternating operator and pass (7; quick: 3; another adapter: 11)")
      ->check(CLI::Range(3, 1001))
      ->type_name("N");
  app.add_option("--samples", options.samples, "elements to check in each case; 1,048,576 on another adapter")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 32))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--pass", options.pass, "plain, or streaming: stores that bypass the cache (x86-64)")
      ->check(CLI::IsMember({"plain", "streaming"}).description(""))
      ->type_name(kPassName)
      ->capture_default_str();
  app.add_option("--json", options.json, "write all results to this file")->type_name("FILE");
  app.add_flag("--quick", options.quick, "3 rounds and 0.02 s per case, as a smoke test; the figures are not reliable");
  app.add_flag("--list", options.list, "list the cases and exit");
  app.add_flag("--list-operators", options.list_operators, "list the operators with their types and exit");
  app.add_flag("--latency", options.latency, "measure the cost of small calls and dispatches instead of the cases");
  app.add_flag("--scaling", options.scaling, "measure the cases with 1, 2, 4 ... threads instead of all threads");
}

// The options of a child process that measures the same cases with a different number of threads.
std::vector<std::string> child_arguments(const Options& options, const Settings& settings) {
  std::vector<std::string> arguments;
  const auto add = [&](const char* option, const std::vector<std::string>& values) {
    arguments.emplace_back(option);
    arguments.push_back(fmt::format("{}", fmt::join(values, ",")));
  };
  add("--types", options.types);
  add("--operators", options.operators);
  if (!options.layouts.empty()) {
    add("--layouts", options.layouts);
  }
  add("--sizes", options.sizes);
  add("--data", options.data);
  add("--pass", {options.pass});
  add("--samples", {std::to_string(options.samples)});
  add("--min-time", {fmt::format("{}", settings.min_time)});
  add("--rounds", {std::to_string(settings.min_rounds)});
  if (!options.filter.empty()) {
    add("--filter", {options.filter});
  }
  if (options.quick) {
    arguments.emplace_back("--quick");
  }
  return arguments;
}

void list_operators() {
  for (const Row& row : rows()) {
    std::string line = fmt::format("{:30}", row.name);
    for (const anydml_type type : row.types) {
      line += fmt::format(" {}", anydml_type_name(type));
    }
    print(line + "\n");
  }
  for (const std::string& text : rows_left_out()) {
    fmt::print(stderr, "not measured: {}\n", text);
  }
}

int run_options(const Options& options, const std::vector<std::string>& arguments, const std::vector<std::string>& self,
                bool samples_given) {
  Options chosen = options;
  if (options.threads != 0) {
    setenv("ANYDML_THREADS", std::to_string(options.threads).c_str(), 1);
  }
  if (!options.adapter.empty()) {
    setenv("ANYDML_ADAPTER", options.adapter.c_str(), 1);
  }
  Report report;
  report.arguments = arguments;
  // The reference and find_target each start a process, and must do so before this process first uses the library.
  std::optional<Reference> reference;
  if (!options.list && !options.list_operators) {
    report.machine.target = find_target();
    reference.emplace();
  }
  if (std::string error; !describe_machine(report.machine, error)) {
    throw Failure{1, error};
  }
  if (options.list_operators) {
    list_operators();
    return 0;
  }
  const bool on_device = report.machine.threads == 0;
  const bool is_modulus_alone = options.operators == Options().operators;
  if (options.layouts.empty() && on_device && is_modulus_alone) {
    chosen.layouts = {"tensor", "scalar", "dividend", "transposed", "stride2", "rows1000"};
  }
  if (options.scaling && options.layouts.empty()) {
    chosen.layouts = {"tensor", "inner"};
  }
  if (options.scaling && on_device) {
    throw Failure{2, "--scaling varies the number of CPU threads, but this adapter is not a CPU"};
  }
  const std::vector<Case> cases =
      on_device ? select_for_device(chosen, report.machine.memory_bytes) : select(chosen, 0);
  if (options.list) {
    for (const Case& of : cases) {
      print(of.name() + "\n");
    }
    return 0;
  }
  if (cases.empty()) {
    throw Failure{2, "these options exclude every case"};
  }
  if (on_device) {
    report.settings.min_rounds = kDeviceRounds;
  }
  if (options.quick) {
    report.settings.min_time = 0.02;
    report.settings.min_rounds = 3;
  }
  if (options.rounds != 0) {
    report.settings.min_rounds = options.rounds;
  }
  if (options.min_time > 0) {
    report.settings.min_time = options.min_time;
  }
  report.settings.samples = on_device && !samples_given ? kDeviceSamples : options.samples;
  report.settings.pass = options.pass == "streaming" ? PassKind::streaming : PassKind::plain;
  print(header_text(report.machine, report.settings) + "\n");

  const OthersWatch others;
  if (options.latency) {
    try {
      report.latencies = measure_latency(report.settings.min_time);
    } catch (const LatencyFailure& failure) {
      throw Failure{1, failure.message};
    }
    print(latency_text(report.latencies));
  }
  if (options.scaling) {
    std::string error;
    if (!measure_scaling(self, child_arguments(chosen, report.settings), thread_counts(report.machine.threads),
                         report.scalings, error)) {
      throw Failure{1, error};
    }
    print(scaling_text(report.scalings));
  }
  if (!options.latency && !options.scaling) {
    if (on_device) {
      BothDeviceMeasurers measurer(DeviceCases(cases), report.settings, *reference);
      measure_cases(cases, measurer, report);
    } else {
      Measurer measurer(cases, report.machine.threads, report.settings, *reference);
      measure_cases(cases, measurer, report);
    }
  }
  report.others_busy_cores = others.busy_cores();
  report.is_busy = others.in_the_way_of(on_device ? 1 : report.machine.threads);
  if (!report.results.empty()) {
    print(legend_text(
        std::ranges::any_of(report.results, [](const Result& result) { return result.factor.has_value(); })));
  }
  print(warning_text(report));
  if (!options.json.empty() && !write_json(report, options.json)) {
    throw Failure{1, fmt::format("'{}' cannot be written", options.json)};
  }
  const auto wrong = std::count_if(report.results.begin(), report.results.end(),
                                   [](const Result& result) { return result.check.wrong != 0; });
  if (wrong != 0) {
    throw Failure{1, fmt::format("{} of {} cases have wrong results", wrong, report.results.size())};
  }
  return 0;
}

constexpr const char* kAbout =
    "Compares the speed of operators with a pass over memory that moves the same bytes, and checks a sample of every "
    "result. For reductions the pass only reads; for fills it only writes.";

// Reports an unknown option, and suggests the nearest known one.
int report_unknown_option(const CLI::App& app) {
  const std::string written = app.remaining().front();
  std::string nearest;
  std::size_t lowest = max_suggestion_distance(written);
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = "--" + option->get_single_name();
    if (const std::size_t distance = edit_distance(written, name); distance < lowest) {
      lowest = distance;
      nearest = name;
    }
  }
  fmt::print(stderr, "dmlrun bench: {:.80} is not an option of bench{} (dmlrun bench --help lists them)\n", written,
             nearest.empty() ? std::string() : fmt::format("; did you mean {}?", nearest));
  return 2;
}

}  // namespace

void describe(CLI::App& app) {
  static Options unused;
  set_up(app, unused);
}

std::vector<std::string> option_values(const std::string& name) {
  if (name == kOperatorsName) {
    return operator_words();
  }
  if (name == kLayoutsName) {
    return layout_words();
  }
  if (name == kTypesName) {
    std::vector<std::string> words{"all", "floats", "integers"};
    std::ranges::transform(kTypes, std::back_inserter(words), anydml_type_name);
    return words;
  }
  if (name == kSizesName) {
    return {"l1", "l2", "memory", "all", "curve"};
  }
  if (name == kDataName) {
    return {"ordinary", "hard", "all", "gaps", "gap:"};
  }
  return name == kPassName ? std::vector<std::string>{"plain", "streaming"} : std::vector<std::string>();
}

int run(const std::vector<std::string>& arguments, const std::vector<std::string>& self) {
  Options options;
  CLI::App app(kAbout, "dmlrun bench");
  try {
    set_up(app, options);
    // CLI11 expects the arguments in reverse order.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    return run_options(options, arguments, self, app.count("--samples") != 0);
  } catch (const CLI::ExtrasError&) {
    return report_unknown_option(app);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const Failure& failure) {
    fmt::print(stderr, "dmlrun bench: {}\n", failure.message);
    return failure.status;
  } catch (const DeviceFailure& failure) {
    fmt::print(stderr, "dmlrun bench: {}\n", failure.message);
    return 1;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "dmlrun bench: not enough memory for tensors of this size\n");
    return 1;
  }
}

}  // namespace anydml::bench
