// SPDX-License-Identifier: MIT
// dmlrun run and dmlrun check: from a model's path to its end.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/memory.h"
#include "commands.h"
#include "json_writer.h"
#include "model_reader.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

// "5.0" and "5_0"; nothing, and said, for what is no level.
std::optional<facts::FeatureLevel> parse_feature_level(std::string text) {
  std::ranges::replace(text, '.', '_');
  const auto level = facts::parse_level(text);
  if (!level) {
    complain(format_text("feature level {} is not one of DirectML's; expected one such as 5_0 (docs/feature-levels.md "
                         "has them)",
                         in_quotes(text)),
             kWrong);
  }
  return level;
}

std::string line_of(const std::string& file, const Problem& problem) {
  return problem.path.empty() ? format_text("{}: {}", file, problem.reason)
                              : format_text("{}: {}: {}", file, problem.path, problem.reason);
}

void print_json_problems(const std::string& file, std::span<const Problem> problems, std::string_view level,
                         std::string_view needs) {
  JsonWriter json;
  json.begin_object().key("model").text(file).key("featureLevel").text(level);
  if (!needs.empty()) {
    json.key("needsFeatureLevel").text(needs);
  }
  json.key("runs").boolean(problems.empty()).key("problems").begin_array();
  for (const Problem& problem : problems) {
    json.begin_object().key("path").text(problem.path).key("reason").text(problem.reason).end_object();
  }
  json.end_array().end_object().print(stdout);
}

// A model's file, read: its problems are collected, not printed.
class LoadedModel {
 public:
  LoadedModel(const ModelArguments& arguments, Problems& problems) {
    ReadOptions options;
    options.max_memory = arguments.max_memory != 0 ? arguments.max_memory : read_memory_state().limit / 2;
    std::filesystem::path path = arguments.model;
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
    auto text = read_whole_file(path, options.max_memory / kJsonMemoryFactor);
    if (!text) {
      problems.add("", text.error().message);
      return;
    }
    auto parsed = JsonDocument::parse(std::move(text.value()));
    if (!parsed) {
      problems.add("", parsed.error().message);
      return;
    }
    document_ = std::make_unique<JsonDocument>(std::move(parsed.value()));
    model_ = read_model(*document_, options, problems);
  }

  [[nodiscard]] const Model& get() const { return model_; }

 private:
  std::unique_ptr<JsonDocument> document_;
  Model model_;
};

// The one line that a run prints: the first problem, and how to see the others.
int report_first(const ModelArguments& arguments, const Problems& problems, std::string_view level) {
  if (arguments.json) {
    print_json_problems(arguments.model, problems.list(), level, {});
  }
  const std::size_t others = problems.list().size() - 1;
  return complain(line_of(arguments.model, problems.list().front()) +
                      (others == 0 ? std::string() : format_text(" (and {} more: dmlrun check lists them)", others)),
                  kWrong);
}

// Nothing, and said, where no adapter's name has the text in it.
std::optional<client::Adapter> choose_adapter(const std::string& part) {
  const auto adapters = client::list_adapters();
  const auto found = std::ranges::find_if(
      adapters, [&](const client::Adapter& adapter) { return adapter.description.find(part) != std::string::npos; });
  if (found == adapters.end()) {
    complain(adapters.empty() ? std::string("there is no adapter")
                              : format_text("no adapter's name contains {}; there is {} (dmlrun adapters lists them)",
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

}  // namespace

int run_model(const RunArguments& arguments) {
  if (arguments.show_adapters) {
    return show_adapters(arguments.model.json);
  }
  if (arguments.show_dependencies) {
    return show_dependencies();
  }
  if (arguments.model.model.empty()) {
    return complain("no model is given; expected the path of a .json file (dmlrun --help says more)", kWrong);
  }
  std::optional<facts::FeatureLevel> asked;
  if (!arguments.model.feature_level.empty() && !(asked = parse_feature_level(arguments.model.feature_level))) {
    return kWrong;
  }
  Problems problems;
  const LoadedModel loaded(arguments.model, problems);
  const std::string_view asked_name = facts::level_name(asked.value_or(facts::kNewestLevel));
  if (!problems.none()) {
    return report_first(arguments.model, problems, asked_name);
  }
  try {
    const auto adapter = choose_adapter(arguments.adapter);
    if (!adapter) {
      return kWrong;
    }
    client::Device device(
        {.adapter = adapter->adapter.Get(),
         .list_type = arguments.queue == "compute" ? D3D12_COMMAND_LIST_TYPE_COMPUTE : D3D12_COMMAND_LIST_TYPE_DIRECT,
         .minimum_level = static_cast<DML_FEATURE_LEVEL>(asked.value_or(facts::FeatureLevel::v1_0)),
         .debug = arguments.debug,
         .custom_heaps = arguments.custom_heaps});
    const auto offered = facts::find_level(static_cast<std::uint32_t>(device.feature_level()));
    const facts::FeatureLevel level = asked.value_or(offered.value_or(facts::kNewestLevel));
    check_level(loaded.get(), level, problems);
    check_built(loaded.get(), problems);
    if (problems.none()) {
      try_operators(loaded.get(), device, problems);
    }
    if (!problems.none()) {
      return report_first(arguments.model, problems, facts::level_name(level));
    }
    const auto output = arguments.model.json ? json_output() : text_output(arguments.verbosity);
    output->running_on(arguments.model.model, adapter->description, facts::level_name(level));
    execute_model(loaded.get(), arguments.execution, device, *output);
    output->finish();
  } catch (const ModelFailure& failure) {
    Problems of_run;
    of_run.add(failure.path, failure.reason);
    return report_first(arguments.model, of_run, asked_name);
  } catch (const client::Failure& failure) {
    return complain(format_text("{}: {}", arguments.model.model, failure.what()), kFailed);
  }
  return kDone;
}

int check_model(const ModelArguments& arguments) {
  auto level = std::optional(facts::kNewestLevel);
  if (!arguments.feature_level.empty() && !(level = parse_feature_level(arguments.feature_level))) {
    return kWrong;
  }
  Problems problems;
  const LoadedModel loaded(arguments, problems);
  const bool readable = problems.none();
  check_level(loaded.get(), *level, problems);
  check_built(loaded.get(), problems);
  if (problems.none()) {
    try {
      client::Device device;
      try_operators(loaded.get(), device, problems);
      if (problems.none()) {
        rehearse_dispatches(loaded.get(), {}, problems);
      }
    } catch (const client::Failure& failure) {
      return complain(failure.what(), kFailed);
    }
  }
  // The oldest level whose rules it keeps.
  std::string_view needs;
  for (std::uint32_t number = 0x1000; readable && needs.empty() && number <= 0x6400; number += 0x100) {
    if (const auto known = facts::find_level(number)) {
      Problems there;
      check_level(loaded.get(), *known, there);
      needs = there.none() ? facts::level_name(*known) : needs;
    }
  }
  const std::string_view name = facts::level_name(*level);
  if (arguments.json) {
    print_json_problems(arguments.model, problems.list(), name, needs);
  } else {
    for (const Problem& problem : problems.list()) {
      std::printf("%s\n", line_of(arguments.model, problem).c_str());
    }
    if (problems.none()) {
      std::printf("%s runs at feature level %.*s; the oldest that takes it is %.*s\n", arguments.model.c_str(),
                  static_cast<int>(name.size()), name.data(), static_cast<int>(needs.size()), needs.data());
    } else {
      const std::size_t count = problems.list().size();
      std::printf("%s: %zu problem%s at feature level %.*s%s\n", arguments.model.c_str(), count, count == 1 ? "" : "s",
                  static_cast<int>(name.size()), name.data(), problems.full() ? ", and perhaps more" : "");
    }
  }
  return problems.none() ? kDone : kWrong;
}

int complain(const std::string& reason, int status) {
  std::fflush(stdout);
  std::fprintf(stderr, "dmlrun: %s\n", reason.c_str());
  return status;
}

}  // namespace anydml::dmlrun
