// SPDX-License-Identifier: MIT
// dmlrun run and dmlrun check, from a model's path to its results.
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>

#include "base/ascii.h"
#include "base/memory.h"
#include "commands.h"
#include "echo.h"
#include "graph/compile.h"
#include "graph/passes.h"
#include "graph_view.h"
#include "json_writer.h"
#include "model_reader.h"
#include "onnx_command.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

// Accepts "5_0", "5.0" and "DML_FEATURE_LEVEL_5_0"; otherwise reports an error and returns nothing.
std::optional<facts::FeatureLevel> parse_feature_level(const std::string& written) {
  constexpr std::string_view kPrefix = "DML_FEATURE_LEVEL_";
  std::string text = written.starts_with(kPrefix) ? written.substr(kPrefix.size()) : written;
  std::ranges::replace(text, '.', '_');
  const auto level = facts::parse_level(text);
  if (!level) {
    std::string names;
    for (const facts::FeatureLevelName& known : facts::feature_levels()) {
      names += format_text("{}{}", names.empty() ? "" : ", ", known.name);
    }
    report_error(format_text("{} is not a feature level; expected one of {}", in_quotes(written), names), kWrong);
  }
  return level;
}

std::string line_of(const std::string& file, const Problem& problem) {
  const std::string line = problem.path.empty() ? format_text("{}: {}", file, problem.reason)
                                                : format_text("{}: {}: {}", file, problem.path, problem.reason);
  return echo(line, line.size());
}

constexpr std::string_view kStandardInput = "-";

// A model read from its file, with its problems collected instead of printed.
class LoadedModel {
 public:
  LoadedModel(const std::string& file, const ModelArguments& arguments, Problems& problems,
              const Requests& requests = {}) {
    load(file, arguments, problems);
    apply_requests(requests, model_, problems);
#if defined(__GLIBC__)
    ::malloc_trim(0);  // returns the document's memory to the system, for the buffers
#endif
  }

  [[nodiscard]] const Model& get() const { return model_; }

 private:
  void load(const std::string& file, const ModelArguments& arguments, Problems& problems) {
    ReadOptions options;
    options.max_memory = arguments.max_memory != 0 ? arguments.max_memory : read_memory_state().limit / 2;
    std::filesystem::path path = file;
    std::error_code ignored;
    if (!arguments.input_path.empty() && path.is_relative() && !std::filesystem::exists(path, ignored)) {
      path = std::filesystem::path(arguments.input_path) / path;
    }
    options.folders.input =
        arguments.input_path.empty() ? path.parent_path() : std::filesystem::path(arguments.input_path);
    options.folders.output = arguments.output_path;
    for (auto* folder : {&options.folders.input, &options.folders.output}) {
      if (folder->empty()) {
        *folder = ".";
      }
    }
    options.folders.allow_outside = arguments.allow_outside;
    const std::uint64_t maximum = options.max_memory / kJsonMemoryFactor;
    if (file != kStandardInput && arguments.text.empty()) {
      const auto bytes = file_bytes(path);
      if (bytes && bytes.value() > maximum) {
        problems.add("", format_text("has {}; --max-memory of {} allows a model of {}", bytes_text(bytes.value()),
                                     bytes_text(options.max_memory), bytes_text(maximum)));
        return;
      }
    }
    auto text = !arguments.text.empty()  ? Result<std::string>(arguments.text)
                : file == kStandardInput ? read_standard_input(maximum)
                                         : read_whole_file(path, maximum);
    if (!text) {
      problems.add("", text.error().message);
      return;
    }
    auto parsed = JsonDocument::parse(std::move(text.value()));
    if (!parsed) {
      problems.add("", parsed.error().message);
      return;
    }
    model_ = read_model(parsed.value(), options, problems);
  }

  static Result<std::string> read_standard_input(std::uint64_t maximum) {
    std::string text;
    char buffer[65536];
    while (const std::size_t bytes = std::fread(buffer, 1, sizeof(buffer), stdin)) {
      text.append(buffer, bytes);
      if (text.size() > maximum) {
        return Error{ErrorKind::invalid_argument,
                     format_text("has more than the {} that --max-memory allows for a model", bytes_text(maximum))};
      }
    }
    return text;
  }

  Model model_;  // without the document, which is several times larger
};

// Everything that keeps a model from running.
struct Findings {
  Problems problems;
  std::vector<Problem> not_built;      // valid in DirectML, but not implemented here
  facts::FeatureLevel level{};         // the level whose rules apply
  MemoryBudget memory;                 // remaining for a run
  std::string_view oldest_level = {};  // the oldest level that accepts the model; empty if it could not be read

  [[nodiscard]] bool none() const { return problems.none() && not_built.empty(); }
  // An operator that is not implemented is reported before the rules that the model breaks, because following the rules
  // would not make the operator run.
  [[nodiscard]] const Problem& first() const { return not_built.empty() ? problems.list().front() : not_built.front(); }
  [[nodiscard]] std::size_t count() const { return problems.list().size() + not_built.size(); }
};

// `asked` is a feature level; if it is absent, the device's own level applies.
void find_all(const Model& model, std::optional<facts::FeatureLevel> asked, const ExecutionOptions& execution,
              const client::DeviceOptions& options, Findings& findings) {
  const bool readable = findings.problems.none();
  const auto offered = facts::find_level(static_cast<std::uint32_t>(client::Device(options).feature_level()));
  findings.level = asked.value_or(offered.value_or(facts::kNewestLevel));
  check_level(model, findings.level, findings.problems);
  findings.memory = rehearse_model(model, execution, options, findings.problems);
  findings.not_built = find_not_built(model);
  for (const facts::FeatureLevelName& known : facts::feature_levels()) {
    Problems there;
    check_level(model, known.level, there);
    if (readable && there.none()) {
      findings.oldest_level = known.name;
      break;
    }
  }
}

void write_problems(JsonWriter& json, const Findings& findings) {
  if (!findings.oldest_level.empty()) {
    json.key("needsFeatureLevel").text(findings.oldest_level);
  }
  json.key("valid").boolean(findings.problems.none()).key("runs").boolean(findings.none());
  const auto list = [&](std::string_view name, std::span<const Problem> problems) {
    json.key(name).begin_array();
    for (const Problem& problem : problems) {
      json.begin_object().key("path").text(problem.path).key("reason").text(problem.reason).end_object();
    }
    json.end_array();
  };
  list("problems", findings.problems.list());
  list("notBuilt", findings.not_built);
}

void write_findings(JsonWriter& json, const std::string& file, const Findings& findings) {
  json.begin_object().key("model").text(file).key("featureLevel").text(facts::level_name(findings.level));
  write_problems(json, findings);
  json.end_object();
}

// Prints one line: the first problem, and how to see the remaining ones. If JSON output has begun, the error is added
// to it, so that the output remains one valid document.
int report_first(const ModelArguments& arguments, const Findings& findings, int status, Output* begun = nullptr) {
  const std::string& file = arguments.models.front();
  if (begun != nullptr) {
    begun->finish([&](JsonWriter& json) { write_problems(json, findings); });
  } else if (arguments.json) {
    JsonWriter json;
    write_findings(json, file, findings);
    json.print(stdout);
  }
  const std::size_t others = findings.count() - 1;
  return report_error(line_of(file, findings.first()) +
                          (others == 0               ? std::string()
                           : !arguments.text.empty() ? format_text(" (and {} more)", others)
                                                     : format_text(" (and {} more: dmlrun check lists them)", others)),
                      status);
}

// Reports an error and returns nothing if no adapter's name contains the text.
std::optional<client::Adapter> choose_adapter(const std::string& part) {
  const auto adapters = client::list_adapters();
  const auto found = std::ranges::find_if(adapters, [&](const client::Adapter& adapter) {
    return to_upper(adapter.description).find(to_upper(part)) != std::string::npos;
  });
  if (found == adapters.end()) {
    report_error(adapters.empty()
                     ? std::string("no adapter was found")
                     : format_text("no adapter's name contains {}; the first is {} (dmlrun adapters lists them)",
                                   in_quotes(part), in_quotes(adapters.front().description)),
                 kWrong);
    return std::nullopt;
  }
  return *found;
}

int show_dependencies() {
  std::printf("dmlrun %s\n  DirectML : anydml %s\n  D3D12    : anydml %s\n", ANYDML_TOOL_VERSION, ANYDML_TOOL_VERSION,
              ANYDML_TOOL_VERSION);
  return kDone;
}

#if !defined(DMLRUN_ONNX)
}  // namespace

bool is_onnx_model(const std::string& file) { return ends_in_any_case(file, ".onnx"); }

int run_onnx_model(const RunArguments& arguments) {
  return report_error(format_text("{}: this build does not include ONNX models", arguments.model.models.front()),
                      kWrong);
}

int check_onnx_model(const std::string& file, const ModelArguments&, JsonWriter&) {
  return report_error(format_text("{}: this build does not include ONNX models", file), kWrong);
}

namespace {
#endif

int check_one(const std::string& file, std::optional<facts::FeatureLevel> asked, const ModelArguments& arguments,
              JsonWriter& json) {
  if (is_onnx_model(file)) {
    return check_onnx_model(file, arguments, json);
  }
  Findings findings;
  const LoadedModel loaded(file, arguments, findings.problems);
  find_all(loaded.get(), asked, {}, {}, findings);
  if (arguments.json) {
    write_findings(json, file, findings);
    return findings.none() ? kDone : kWrong;
  }
  for (const auto problems : {std::span<const Problem>(findings.not_built), findings.problems.list()}) {
    for (const Problem& problem : problems) {
      std::printf("%s\n", line_of(file, problem).c_str());
    }
  }
  const std::string shown = echo(file, file.size());
  const std::string level = std::string(facts::level_name(findings.level));
  const std::string oldest = std::string(findings.oldest_level);
  if (findings.none()) {
    std::printf("%s runs at feature level %s; the oldest level that accepts it is %s\n", shown.c_str(), level.c_str(),
                oldest.c_str());
  } else if (findings.problems.none()) {
    std::printf("%s is valid for feature level %s (the oldest level that accepts it is %s), but does not run here\n",
                shown.c_str(), level.c_str(), oldest.c_str());
  } else {
    const std::size_t count = findings.problems.list().size();
    std::printf("%s: %zu problem%s at feature level %s%s\n", shown.c_str(), count, count == 1 ? "" : "s", level.c_str(),
                findings.problems.full() ? ", and possibly more" : "");
  }
  return findings.none() ? kDone : kWrong;
}

}  // namespace

int run_model(const RunArguments& arguments) {
  if (arguments.show_adapters) {
    return show_adapters(arguments.model.json);
  }
  if (arguments.show_dependencies) {
    return show_dependencies();
  }
  if (arguments.model.models.size() != 1) {
    return report_error(arguments.model.models.empty()
                            ? "no model was given; expected the path of a .json or .onnx file (see dmlrun run --help)"
                            : "several models were given; expected one (dmlrun check accepts several)",
                        kWrong);
  }
  const std::string& file = arguments.model.models.front();
  if (arguments.model.text.empty() && is_onnx_model(file)) {
    return run_onnx_model(arguments);
  }
  if (arguments.onnx.any()) {
    return report_error("--size, --trace, --explain, --literal and --activations are for ONNX models, and " +
                            in_quotes(file) + " is not one",
                        kWrong);
  }
  std::optional<facts::FeatureLevel> asked;
  if (!arguments.model.feature_level.empty() && !(asked = parse_feature_level(arguments.model.feature_level))) {
    return kWrong;
  }
  Findings findings;
  const LoadedModel loaded(file, arguments.model, findings.problems, arguments.requests);
  std::unique_ptr<Output> output;
  const auto failed = [&](std::string path, std::string reason, int status) {
    findings.problems.add(std::move(path), std::move(reason));
    return report_first(arguments.model, findings, status, output.get());
  };
  try {
    const auto adapter = choose_adapter(arguments.adapter);
    if (!adapter) {
      return kWrong;
    }
    const client::DeviceOptions options{
        .adapter = adapter->adapter.Get(),
        .list_type = arguments.queue == "compute" ? D3D12_COMMAND_LIST_TYPE_COMPUTE : D3D12_COMMAND_LIST_TYPE_DIRECT,
        .minimum_level = static_cast<DML_FEATURE_LEVEL>(asked.value_or(facts::FeatureLevel::v1_0)),
        .debug = arguments.debug,
        .custom_heaps = arguments.custom_heaps};
    find_all(loaded.get(), asked, arguments.execution, options, findings);
    if (!findings.none()) {
      return report_first(arguments.model, findings, kWrong);
    }
    client::Device device(options);
    output = arguments.model.json ? json_output()
                                  : text_output(arguments.verbosity, adapter->is_integrated ? "device" : "GPU");
    output->running_on(file, adapter->description, facts::level_name(findings.level));
    const bool as_expected = execute_model(loaded.get(), arguments.execution, findings.memory, device, *output);
    output->finish();
    return as_expected ? kDone : kDifferent;
  } catch (const ModelFailure& failure) {
    return failed(failure.path, failure.reason, failure.of_model ? kWrong : kFailed);
  } catch (const client::Failure& failure) {
    return failed({}, failure.what(), kFailed);
  } catch (const std::bad_alloc&) {
    return failed({}, "the machine does not have enough memory", kFailed);
  }
}

int check_models(const ModelArguments& arguments) {
  std::optional<facts::FeatureLevel> asked;
  if (!arguments.feature_level.empty() && !(asked = parse_feature_level(arguments.feature_level))) {
    return kWrong;
  }
  int status = kDone;
  JsonWriter json;
  const bool several = arguments.models.size() > 1;
  try {
    if (several) {
      json.begin_array();
    }
    for (const std::string& file : arguments.models) {
      status = std::max(status, check_one(file, asked, arguments, json));
    }
    if (several) {
      json.end_array();
    }
  } catch (const client::Failure& failure) {
    return report_error(failure.what(), kFailed);
  }
  if (arguments.json) {
    json.print(stdout);
  }
  return status;
}

int show_graphs(const GraphArguments& arguments) {
  if (arguments.model.models.size() != 1) {
    return report_error("expected one model, the path of a .json file (see dmlrun graph --help)", kWrong);
  }
  if (is_onnx_model(arguments.model.models.front())) {
    return report_error(
        format_text("{0} is an ONNX model; dmlrun --explain {0} shows how it runs", arguments.model.models.front()),
        kWrong);
  }
  Findings findings;
  const LoadedModel loaded(arguments.model.models.front(), arguments.model, findings.problems);
  check_level(loaded.get(), facts::kNewestLevel, findings.problems);
  findings.not_built = find_not_built(loaded.get());
  if (!findings.none()) {
    return report_first(arguments.model, findings, kWrong);
  }
  // Like the CPU's traits, but without weight packing, which depends on the machine.
  constexpr DeviceTraits kDevice{
      .joins_from = 1, .forwards_tiles = true, .has_fused_attention = true, .has_row_moments = true};
  for (const Dispatchable& dispatchable : loaded.get().dispatchables) {
    const auto graph = core_graph(dispatchable);
    std::string text;
    const auto wrong = [&](const Error& error) {
      findings.problems.add(dispatchable.path, error.message);
      return report_first(arguments.model, findings, kWrong);
    };
    if (!graph) {
      return wrong(graph.error());
    }
    const auto plans = compile_graph(graph.value(), kDevice, arguments.as_given ? nullptr : &text);
    if (!plans) {
      return wrong(plans.error());
    }
    const auto dot = graph_dot(graph.value(), !arguments.as_given);
    if (!dot) {
      return wrong(dot.error());
    }
    const std::string shown = arguments.dot
                                  ? dot.value()
                                  : format_text("{}:\n{}{}", echo(dispatchable.name, dispatchable.name.size()),
                                                graph_text(graph.value()), text);
    std::fwrite(shown.data(), 1, shown.size(), stdout);
  }
  return kDone;
}

int report_error(const std::string& reason, int status) {
  std::fflush(stdout);
  std::fprintf(stderr, "dmlrun: %s\n", echo(reason, reason.size()).c_str());
  return status;
}

}  // namespace anydml::dmlrun
