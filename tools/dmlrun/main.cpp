// SPDX-License-Identifier: MIT
// Parses the command line and calls the commands.
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>

#include "base/ascii.h"
#include "commands.h"
#include "completion.h"
#include "echo.h"
#include "text/format.h"
#if defined(DMLRUN_BENCH)
#include "bench.h"
#endif

namespace anydml::dmlrun {
namespace {

constexpr const char* kDescription =
    "Runs DirectML models in DxDispatch's JSON format and ONNX models on any machine, and shows what the runtime can "
    "do.";
constexpr const char* kFooter =
    "\nExamples:\n"
    "  dmlrun model.json                        run a model\n"
    "  dmlrun -i 1000 -w 10 model.json          run a model and time it\n"
    "  dmlrun --size batch=8 model.onnx         run an ONNX model\n"
    "  dmlrun run-operator SOFTMAX --input x.npy  run one operator\n"
    "  dmlrun skeleton SOFTMAX                  print a model to start from\n"
    "  dmlrun check --feature-level 2_1 m.json  check against an older DirectML\n"
    "  dmlrun graph m.json                      show which operators run as one step\n"
    "  dmlrun operators MODULUS_FLOOR           show an operator's types and fields\n"
    "  dmlrun modulus -- -7 3                   compute a modulus\n"
    "  dmlrun exec -- ./program                 run a DirectML program with these libraries\n"
    "  dmlrun exec --strict -- ./program        the same; its first error ends it\n"
    "\nA run's main options: -i iterations, -r repeat, -t milliseconds, -w warm-up, -v 0 to 2, -a adapter, --json;\n"
    "dmlrun run --help lists all of them.\n"
    "\nExit status: 0 success, 1 the machine failed, 2 the request was wrong, 3 a result is not the expected "
    "one.\n"
    "anydml is not affiliated with Microsoft.";

// Accepts only numbers in the range. CLI11's own check accepts NaN and negative sizes.
template <class Number>
CLI::Validator number_in(Number minimum, Number maximum) {
  return {[minimum, maximum](std::string& text) {
            Number value{};
            const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (fault == std::errc{} && end == text.data() + text.size() && value >= minimum && value <= maximum) {
              return std::string();
            }
            return format_text("is '{}'; expected a {} from {} to {}", echo(text),
                               std::is_integral_v<Number> ? "whole number" : "number", minimum, maximum);
          },
          ""};
}

// Converts "512MiB" to the number of bytes.
std::string to_bytes(std::string& text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string unit = to_upper(std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end)));
  if (unit.ends_with('B')) {
    unit.pop_back();
  }
  if (unit.ends_with('I')) {
    unit.pop_back();
  }
  constexpr std::string_view kUnits = "KMGTP";
  const std::size_t power = unit.empty() ? 0 : unit.size() == 1 ? kUnits.find(unit) + 1 : std::string_view::npos;
  const double bytes = power > kUnits.size() ? -1 : std::ldexp(value, static_cast<int>(10 * power));
  if (fault != std::errc{} || !(bytes >= 1 && bytes < 9e18)) {
    return format_text("is '{}'; expected a size such as 512MiB", echo(text));
  }
  text = std::to_string(static_cast<std::uint64_t>(bytes));
  return {};
}

struct Arguments {
  RunArguments run;
  OperatorArguments op;
  OperatorRequest skeleton;
  ModelArguments check;
  GraphArguments graph;
  OperatorsArguments operators;
  ModulusArguments modulus;
  bool adapters_json = false;
  std::vector<std::string> program;
  bool strict = false;
  std::string shell;
};

void add_model_options(CLI::App& app, ModelArguments& arguments, const char* level_option) {
  app.add_option("model,-m,--model", arguments.models, "The model, a JSON or ONNX file; - for JSON on standard input")
      ->type_name("MODEL.json|MODEL.onnx")
      ->expected(0, -1);
  app.add_option("--input_path,--input-path", arguments.input_path,
                 "Folder of the model's input files [its own folder]")
      ->type_name("FOLDER");
  app.add_option("--output_path,--output-path", arguments.output_path, "Output folder [the current directory]")
      ->type_name("FOLDER");
  app.add_flag("--allow-outside", arguments.allow_outside, "Let the model read and write files outside those folders");
  app.add_option("--max-memory", arguments.max_memory,
                 "Memory limit of a run, including all copies, such as 512MiB [half of the machine's]")
      ->transform(CLI::Validator(to_bytes, ""))
      ->type_name("SIZE");
  app.add_option(level_option, arguments.feature_level, "DirectML feature level, such as 2_1 [the newest]")
      ->type_name("LEVEL");
  app.add_flag("--json", arguments.json, "Print JSON");
}

// DxDispatch options that have no effect here. They are accepted so that existing command lines keep working.
void add_ignored_options(CLI::App& app) {
  const auto ignore = [&app](const std::string& name, bool has_value) {
    const auto say = [name](const std::string&) {
      std::fprintf(stderr, "dmlrun: %s has no effect here\n", name.substr(name.rfind(',') + 1).c_str());
    };
    if (has_value) {
      app.add_option_function<std::string>(name, say)->group("");
    } else {
      app.add_flag_callback(name, [say] { say({}); })->group("");
    }
  };
  for (const char* flag :
       {"--clear_shader_caches", "--disable_gpu_timeout", "--enable_dred", "--disable_background_processing",
        "--set_stable_power_state", "--disable_agility_sdk", "--print_hlsl_disassembly", "--present_separator",
        "--xbox_allow_precompile", "-p,--print_onnx_bindings", "--enable_onnx_profiling"}) {
    ignore(flag, false);
  }
  for (const char* option :
       {"--post_dispatch_barriers", "-c,--pix_capture_type", "-o,--pix_capture_name",
        "-f,--onnx_free_dim_name_override", "-F,--onnx_free_dim_denotation_override", "-e,--onnx_session_config_entry",
        "-b,--onnx_bindings", "-l,--onnx_graph_optimization_level", "-L,--onnx_logging_level", "-x,--onnx_ep"}) {
    ignore(option, true);
  }
}

// Adds an option that may be repeated, with one value each time.
CLI::Option* add_each(CLI::App& app, const char* option, std::vector<std::string>& list, const char* type,
                      const char* help) {
  return app.add_option(option, list, help)->type_name(type)->allow_extra_args(false);
}

void add_tolerance(CLI::App& app, Requests& requests) {
  const char* values = "Values";
  app.add_option("--atol", requests.tolerance.absolute, "Absolute tolerance of --expect [the same bits]")
      ->check(number_in(0.0, 1e308))
      ->type_name("X")
      ->group(values);
  app.add_option("--rtol", requests.tolerance.relative, "Relative tolerance of --expect, added to the absolute one")
      ->check(number_in(0.0, 1e308))
      ->type_name("X")
      ->group(values);
  app.add_option("--ulp", requests.tolerance.ulps, "Tolerance of --expect in units in the last place")
      ->check(number_in<std::uint64_t>(0, ~std::uint64_t{0}))
      ->type_name("N")
      ->group(values);
  app.add_option("--seed", requests.seed, "Seed for random values")
      ->check(number_in<std::uint64_t>(0, ~std::uint64_t{0}))
      ->type_name("N")
      ->group(values);
}

void add_timing(CLI::App& run, RunArguments& arguments) {
  ExecutionOptions& execution = arguments.execution;
  const char* timing = "Timing";
  run.add_option("-i,--dispatch_iterations,--iterations", execution.iterations, "Iterations of each dispatch")
      ->capture_default_str()
      ->check(number_in<std::uint64_t>(1, 4'000'000'000))
      ->type_name("N")
      ->group(timing);
  run.add_option("-r,--dispatch_repeat,--repeat", execution.repeat, "Dispatches in each iteration, averaged")
      ->capture_default_str()
      ->check(number_in<std::uint64_t>(1, 1'000'000))
      ->type_name("N")
      ->group(timing);
  run.add_option("-t,--milliseconds_to_run,--time-limit", execution.milliseconds_to_run,
                 "Time for each dispatch, instead of a number of iterations")
      ->check(number_in(0.0, 1e12))
      ->type_name("MS")
      ->group(timing);
  run.add_option_function<double>(
         "--duration", [&](double seconds) { execution.milliseconds_to_run = 1000 * seconds; },
         "Like --time-limit, in seconds")
      ->check(number_in(0.0, 1e9))
      ->type_name("S")
      ->group(timing);
  run.add_option("-I,--dispatch_interval,--interval", execution.minimum_interval,
                 "Minimum time from the start of one iteration to the next")
      ->check(number_in(0.0, 1e12))
      ->type_name("MS")
      ->group(timing);
  run.add_option("-w,--warmup_samples,--warm-up,--warmup", execution.warm_up,
                 "Iterations at the start that the medians exclude")
      ->capture_default_str()
      ->check(number_in<std::uint64_t>(0, 4'000'000'000))
      ->type_name("N")
      ->group(timing);
  run.add_option("-v,--timing_verbosity,--verbosity", arguments.verbosity,
                 "0: medians; 1: cold and hot, and initialization; 2: every iteration")
      ->capture_default_str()
      ->check(number_in(0, 2))
      ->type_name("0-2")
      ->group(timing);
  run.add_option("--max_gpu_time_measurements", execution.device_samples,
                 "Number of readings of the device's clock to keep; 0 for none")
      ->capture_default_str()
      ->check(number_in(0, 1'000'000))
      ->type_name("N")
      ->group(timing);
}

void add_device(CLI::App& run, RunArguments& arguments) {
  const char* device = "Device";
  run.add_option("-a,--adapter", arguments.adapter, "Part of the name of the adapter to use")
      ->type_name("TEXT")
      ->group(device);
  run.add_option("-q,--queue_type", arguments.queue, "Type of command queue")
      ->capture_default_str()
      ->check(CLI::IsMember({"direct", "compute"}).description(""))
      ->type_name("QUEUE")
      ->group(device);
  run.add_flag("-d,--debug", arguments.debug, "Create the device with DirectML's debug flag")->group(device);
  run.add_flag_callback(
         "--disable_custom_heaps", [&] { arguments.custom_heaps = false; },
         "Copy to and from the device even if it shares the CPU's memory")
      ->group(device);
}

void add_run(CLI::App& app, RunArguments& arguments) {
  CLI::App& run = *app.add_subcommand("run", "Run a model (the default: dmlrun MODEL.json or MODEL.onnx)");
  add_model_options(run, arguments.model, "--dml_feature_level,--feature-level");
  ExecutionOptions& execution = arguments.execution;
  run.add_flag("--print_commands,--print-commands", execution.print_commands, "Print each command before it runs");
  const char* values = "Values";
  Requests& requests = arguments.requests;
  add_each(
      run, "--input", requests.inputs, "NAME=VALUES",
      "Replace a resource's values, or choose an ONNX input's: FILE.npy, a raw FILE, zeros, ones, random[:LOW:HIGH], "
      "normal[:MEAN:DEVIATION], sequence[:START:STEP], 1,2,3")
      ->group(values);
  add_each(run, "--expect", requests.expected, "NAME=VALUES",
           "Compare a resource or an ONNX output at the end; exit status 3 if it is not as expected")
      ->group(values);
  add_each(run, "--output", requests.outputs, "NAME=FILE",
           "Write a resource or an ONNX output to a file at the end, .npy or raw")
      ->group(values);
  add_tolerance(run, requests);
  add_timing(run, arguments);
  run.add_flag("--profile", execution.profile, "Time each step of a dispatch separately, after the dispatch")
      ->group("Timing");
  const char* onnx = "ONNX models";
  add_each(run, "--size", arguments.onnx.sizes, "NAME=N", "The size of a symbolic dimension [1]")->group(onnx);
  run.add_flag("--explain", arguments.onnx.explain, "Show how each node runs, and which nodes run on the host")
      ->group(onnx);
  run.add_option("--trace", arguments.onnx.trace,
                 "Write a profile for https://ui.perfetto.dev or chrome://tracing, a JSON file")
      ->type_name("FILE")
      ->group(onnx);
  run.add_flag("--literal", arguments.onnx.literal, "Compute quantized models with dequantized floats")->group(onnx);
  run.add_option("--activations", arguments.onnx.activations,
                 "In products with weights in four bits: float, integer (of eight bits), or as the model says [model]")
      ->check(CLI::IsMember({"model", "float", "integer"}))
      ->type_name("TYPE")
      ->group(onnx);
  add_device(run, arguments);
  run.add_flag("-s,--show_adapters", arguments.show_adapters, "List the adapters instead")->group("Device");
  run.add_flag("-S,--show_dependencies", arguments.show_dependencies, "Show versions instead")->group("Device");
  add_ignored_options(run);
}

void add_operator_options(CLI::App& app, OperatorRequest& op) {
  app.add_option("name", op.name, "The operator; ELEMENT_WISE_ and ACTIVATION_ may be omitted")
      ->required()
      ->type_name("NAME");
  add_each(app, "--input", op.inputs, "[FIELD=]TENSOR",
           "An input: FILE.npy, or TYPE:SIZES[:VALUES] such as float32:2x3:random:-1:1 [an example]");
  add_each(app, "--attribute", op.attributes, "NAME=VALUE", "An attribute: Axes=1,2 or Function=SUM");
  add_each(app, "--result", op.results, "[FIELD=]TENSOR",
           "TYPE:SIZES of an output that cannot be inferred, or the name of an optional output");
}

void add_operator_commands(CLI::App& app, OperatorArguments& arguments, OperatorRequest& skeleton) {
  CLI::App& run = *app.add_subcommand("run-operator", "Run one operator: dmlrun run-operator SOFTMAX --input x.npy");
  add_operator_options(run, arguments.op);
  Requests& requests = arguments.run.requests;
  add_each(run, "-o,--output", requests.outputs, "[FIELD=]FILE", "Write an output to a file, .npy or raw");
  add_each(run, "--expect", requests.expected, "[FIELD=]VALUES",
           "Compare an output; exit status 3 if it is not as expected")
      ->group("Values");
  add_tolerance(run, requests);
  run.add_option("--max-memory", arguments.run.model.max_memory,
                 "Memory limit of a run, including all copies, such as 512MiB [half of the machine's]")
      ->transform(CLI::Validator(to_bytes, ""))
      ->type_name("SIZE");
  run.add_flag("--json", arguments.run.model.json, "Print JSON");
  add_timing(run, arguments.run);
  add_device(run, arguments.run);
  CLI::App& print = *app.add_subcommand("skeleton", "Print a model of one operator that can be run unchanged");
  add_operator_options(print, skeleton);
}

void describe(CLI::App& app, Arguments& arguments) {
  app.description(kDescription);
  app.require_subcommand(1);
  app.set_version_flag("--version", "dmlrun " ANYDML_TOOL_VERSION);
  add_run(app, arguments.run);

  add_operator_commands(app, arguments.op, arguments.skeleton);

  CLI::App& check = *app.add_subcommand("check", "Check whether a model would run, and list all its errors");
  add_model_options(check, arguments.check, "--feature-level,--dml_feature_level");

  CLI::App& graph =
      *app.add_subcommand("graph", "Show how a model's graphs are compiled: steps, and where values are stored");
  graph.add_option("model,-m,--model", arguments.graph.model.models, "The model, a JSON file; - for standard input")
      ->type_name("MODEL.json")
      ->expected(0, -1);
  graph.add_flag("--dot", arguments.graph.dot, "Print Graphviz's language, with a frame around each step");
  graph.add_flag("--as-given", arguments.graph.as_given, "Show the graphs as written, before any optimization");

  CLI::App& operators = *app.add_subcommand("operators", "List DirectML's operators: levels, types, availability");
  operators
      .add_option("name", arguments.operators.name, "An operator, with or without its prefix, or part of its name")
      ->type_name("NAME");
  operators.add_flag("--built", arguments.operators.built, "List only operators that are built here");
  operators.add_flag("--missing", arguments.operators.missing, "List only operators that are not built here yet");
  operators.add_flag("--json", arguments.operators.json, "Print JSON");

  CLI::App& adapters = *app.add_subcommand("adapters", "List the adapters");
  adapters.add_flag("--json", arguments.adapters_json, "Print JSON");

  CLI::App& modulus = *app.add_subcommand("modulus", "Compute a modulus of numbers, lists such as 7,-7, or .npy files");
  modulus.add_option("a", arguments.modulus.a, "The dividend (negative numbers after --)")->required()->type_name("A");
  modulus.add_option("b", arguments.modulus.b, "The divisor")->required()->type_name("B");
  modulus.add_flag("--floor", arguments.modulus.floor, "The result has the divisor's sign, like Python's %");
  modulus.add_flag("--truncate", arguments.modulus.truncate, "The result has the dividend's sign, like C's % and fmod");
  modulus.add_option("--type", arguments.modulus.type, "Element type [the file's; int64 or float64 for numbers]")
      ->type_name("TYPE");
  modulus.add_option("-o,--output", arguments.modulus.output, "Write the result to an .npy file")->type_name("OUT.npy");

  CLI::App& bench_command =
      *app.add_subcommand("bench", "Measure the operators on this machine (dmlrun bench --help lists its options)");
#if defined(DMLRUN_BENCH)
  bench::describe(bench_command);  // only completion uses this, because the benchmark parses its own arguments
#else
  (void)bench_command;
#endif

  CLI::App& exec = *app.add_subcommand("exec", "Run a program with these DirectML libraries found first");
  exec.add_option("program", arguments.program, "The program and its arguments, after --")->type_name("PROGRAM...");
  exec.add_flag("--strict", arguments.strict,
                "Turn the debug layer on, and end the program at its first error (ANYDML_DEBUG=abort)");
  exec.positionals_at_end();

  CLI::App& completion = *app.add_subcommand("completion", "Print a completion script for a shell");
  completion.add_option("shell", arguments.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""))
      ->type_name("SHELL");
  app.footer(kFooter);  // this comes last, because commands inherit a footer that was set before them
}

int answer(const CLI::App& app, Arguments& arguments) {
  if (app.got_subcommand("run")) {
    return run_model(arguments.run);
  }
  if (app.got_subcommand("run-operator")) {
    arguments.op.op.seed = arguments.op.run.requests.seed;
    return run_operator(arguments.op);
  }
  if (app.got_subcommand("skeleton")) {
    return show_skeleton(arguments.skeleton);
  }
  if (app.got_subcommand("check")) {
    return arguments.check.models.empty() ? report_error("no model was given; expected paths of .json files", kWrong)
                                          : check_models(arguments.check);
  }
  if (app.got_subcommand("graph")) {
    return show_graphs(arguments.graph);
  }
  if (app.got_subcommand("operators")) {
    return show_operators(arguments.operators);
  }
  if (app.got_subcommand("adapters")) {
    return show_adapters(arguments.adapters_json);
  }
  if (app.got_subcommand("modulus")) {
    return calculate_modulus(arguments.modulus);
  }
  if (app.got_subcommand("exec")) {
    return execute_program(arguments.program, arguments.strict);
  }
  std::fputs(completion_script(app, arguments.shell).c_str(), stdout);
  return kDone;
}

// Uses the command's own usage line. The program itself has two usage lines instead.
class Formatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return app->get_parent() != nullptr ? CLI::Formatter::make_usage(app, name)
                                        : "Usage: dmlrun [OPTIONS OF run] MODEL.json|MODEL.onnx\n"
                                          "       dmlrun COMMAND [OPTIONS]          (dmlrun help COMMAND lists them)\n";
  }
};

// Normalizes words that look like options: dashes and underscores are equivalent. Reports an unknown option with a
// suggestion and returns false.
bool settle_options(const CLI::App& command, std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back(name);
    }
  }
  for (std::string& word : words) {
    if (word == "--") {
      break;
    }
    if (!word.starts_with("--")) {
      continue;
    }
    const std::string name = word.substr(2, word.find('=') - 2);
    const auto alike = [&](const std::string& other) {
      return std::ranges::equal(name, other,
                                [](char a, char b) { return (a == '_' ? '-' : a) == (b == '_' ? '-' : b); });
    };
    const auto known = std::ranges::find(names, name);
    const auto meant = known == names.end() ? std::ranges::find_if(names, alike) : known;
    if (meant == names.end()) {
      std::vector<std::string> dashed;
      for (const std::string& one : names) {
        dashed.push_back("--" + one);
      }
      const std::vector<std::string_view> all(dashed.begin(), dashed.end());
      report_error(format_text("--{} is not an option of {}{} (dmlrun {} --help lists them)", echo(name),
                               command.get_name(), suggestion("--" + name, all), command.get_name()),
                   kWrong);
      return false;
    }
    word.replace(2, name.size(), *meant);
  }
  return true;
}

// Silences the libraries' default output, since dmlrun prints its own error messages. Programs under `dmlrun exec` keep
// the default.
void leave_errors_to_dmlrun() {
  if (const char* log = std::getenv("ANYDML_LOG"); log == nullptr || *log == '\0') {
    setenv("ANYDML_LOG", "none", 1);
  }
}

int main_of(std::vector<std::string> words) {
  // It is not an error if a reader such as head closes the pipe early. The files that a run writes are still written. A
  // program started by exec keeps the signal's disposition, and the benchmark ends with the signal.
  if (words.empty() || (words[0] != "exec" && words[0] != "bench")) {
    std::signal(SIGPIPE, SIG_IGN);
  }
  CLI::App app;
  app.name("dmlrun");
  app.formatter(std::make_shared<Formatter>());
  Arguments arguments;
  describe(app, arguments);
  if (words.empty() || (words[0] == "help" && words.size() == 1)) {
    std::fputs(app.help().c_str(), stdout);
    return kDone;
  }
  if (words[0] == "help") {  // this is the same as `dmlrun COMMAND --help`
    words = {words[1], "--help"};
  }
  // All options after "bench" or "exec" belong to the benchmark or to the program.
  if (words[0] == "bench") {
#if defined(DMLRUN_BENCH)
    leave_errors_to_dmlrun();
    return bench::run({words.begin() + 1, words.end()}, {"/proc/self/exe", "bench"});
#else
    return report_error("this build does not include the benchmark", kWrong);
#endif
  }
  if (words[0] == "exec" && words.size() > 1 && words[1] != "-h" && words[1] != "--help") {
    const bool strict = words[1] == "--strict";
    auto program = words.begin() + (strict ? 2 : 1);
    program += program != words.end() && *program == "--" ? 1 : 0;
    return execute_program({program, words.end()}, strict);
  }
  leave_errors_to_dmlrun();
  // Without a command, the argument is a model to run, as in DxDispatch.
  constexpr std::string_view kOwn[] = {"-h", "--help", "--version"};
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) {
    commands.push_back(command->get_name());
  }
  if (std::ranges::find(kOwn, words[0]) == std::end(kOwn)) {
    if (std::ranges::find(commands, words[0]) == commands.end()) {
      std::error_code ignored;
      if (words[0][0] != '-' && words[0].find_first_of("./") == std::string::npos &&
          !std::filesystem::exists(words[0], ignored)) {
        const std::vector<std::string_view> all(commands.begin(), commands.end());
        if (find_operator_by_part(words[0]) != nullptr) {
          return report_error(
              format_text("{0} is an operator, neither a command nor a file; dmlrun run-operator {0} runs it",
                          words[0]),
              kWrong);
        }
        return report_error(format_text("{} is neither a command nor a file{} (dmlrun --help lists the commands)",
                                        in_quotes(words[0]), suggestion(words[0], all)),
                            kWrong);
      }
      words.insert(words.begin(), "run");
    }
    if (!settle_options(*app.get_subcommand(words[0]), words)) {
      return kWrong;
    }
  }
  const std::string command = words[0];
  try {
    std::ranges::reverse(words);
    app.parse(words);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return report_error(format_text("{} (see dmlrun {} --help)", error.what(), command), kWrong);
  }
  return answer(app, arguments);
}

}  // namespace
}  // namespace anydml::dmlrun

int main(int argc, char** argv) {
  using namespace anydml::dmlrun;
  int status = kFailed;
  try {
    status = main_of(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::bad_alloc&) {
    return report_error("the machine does not have enough memory", kFailed);
  } catch (const std::exception& error) {
    return report_error(error.what(), kFailed);
  }
  // The output counts as written only after it has been flushed.
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    const int fault = errno;
    pollfd reader{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
    if (::poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0) {
      return status;  // the reader closed the pipe
    }
    return report_error(anydml::format_text("the output cannot be written{}{}", fault == 0 ? "" : ": ",
                                            fault == 0 ? "" : std::strerror(fault)),
                        status == kDone ? kFailed : status);
  }
  return status;
}
