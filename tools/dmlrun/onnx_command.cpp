// SPDX-License-Identifier: MIT
#include "onnx_command.h"

#include <anydml/onnx.h>

#include <algorithm>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "base/ascii.h"
#include "base/memory.h"
#include "echo.h"
#include "files.h"
#include "npy.h"
#include "onnx_inputs.h"
#include "progress.h"
#include "text/format.h"
#include "timing.h"
#include "value_words.h"

namespace anydml::dmlrun {
namespace {

// The maximum number of elements of an output that is printed: for a reader, and in JSON.
constexpr std::uint64_t kMaxShown = 64;
constexpr std::uint64_t kMaxInJson = 4096;
constexpr std::uint64_t kMaxProfiledRounds = 1000;  // more rounds do not change the averages
constexpr std::size_t kMaxNpyRank = kMaxNpyDimensions;

struct Release {
  void operator()(anydml_onnx_model* model) const { anydml_onnx_release(model); }
  void operator()(anydml_onnx_trace* trace) const { anydml_onnx_trace_release(trace); }
};
using ModelPointer = std::unique_ptr<anydml_onnx_model, Release>;
using TracePointer = std::unique_ptr<anydml_onnx_trace, Release>;

// Raises the library's error.
void check(int code) {
  if (code != ANYDML_OK) {
    throw ModelFailure{{}, anydml_last_error(), code == ANYDML_UNSUPPORTED || code == ANYDML_INVALID_ARGUMENT};
  }
}

// Fails if an option was given that is only for models in JSON.
void refuse_options_of_json(const RunArguments& arguments) {
  const ModelArguments& model = arguments.model;
  const std::pair<const char*, bool> given[] = {
      {"--feature-level", !model.feature_level.empty()},
      {"--input-path", !model.input_path.empty()},
      {"--output-path", !model.output_path.empty()},
      {"--allow-outside", model.allow_outside},
      {"--print-commands", arguments.execution.print_commands},
      {"--queue_type", arguments.queue != "direct"},
      {"--debug", arguments.debug},
      {"--disable_custom_heaps", !arguments.custom_heaps},
  };
  for (const auto& [option, is_given] : given) {
    if (is_given) {
      throw ModelFailure{option, "does not apply to an ONNX model", true};
    }
  }
}

struct OnnxOutput {
  std::string name;
  std::int32_t type = ANYDML_ONNX_UNDEFINED;
  std::vector<std::int64_t> sizes;
  std::vector<std::byte> data;

  [[nodiscard]] Resource resource() const {
    return {.name = name, .type = shown_type(type), .values = {}, .value_bytes = data.size(), .bytes = data.size()};
  }
};

class OnnxRun {
 public:
  OnnxRun(const RunArguments& arguments, std::unique_ptr<Output>& output)
      : arguments_(arguments),
        output_(output),
        file_(arguments.model.models.front()),
        memory_(arguments.model.max_memory != 0 ? arguments.model.max_memory : read_memory_state().limit / 2) {}

  // Returns whether all comparisons found the expected values.
  bool run() {
    refuse_options_of_json(arguments_);
    const Stopwatch loading;
    load();
    inputs_ = onnx_inputs(*model_, arguments_.requests, arguments_.onnx.sizes, memory_);
    for (const OnnxInput& input : inputs_) {
      const anydml_type type =
          input.type == ANYDML_ONNX_UNDEFINED ? anydml_type{ANYDML_NONE} : anydml_onnx_tensor_type(input.type);
      tensors_.push_back(anydml_const_tensor(type, static_cast<std::int32_t>(input.sizes.size()), input.sizes.data(),
                                             nullptr, input.data.data()));
    }
    for (std::size_t i = 0; i < anydml_onnx_output_count(model_.get()); ++i) {
      outputs_.push_back({.name = anydml_onnx_output_at(model_.get(), i)->name, .sizes = {}, .data = {}});
    }
    const std::vector<Request> expected = requests("--expect", arguments_.requests.expected);
    const std::vector<Request> written = requests("--output", arguments_.requests.outputs);
    run_once();  // records and compiles the graphs
    const double prepared = loading.milliseconds();
    show_inputs(prepared);
    measure();
    if (arguments_.onnx.explain) {
      explain();
    }
    if (!arguments_.onnx.trace.empty()) {
      write_trace();
    }
    show_outputs();
    const bool as_expected = compare(expected);
    for (const Request& one : written) {
      write(one);
    }
    return as_expected;
  }

 private:
  struct Request {
    std::string option;
    std::size_t output;
    std::string text;
  };

  void load() {
    const anydml_device* device = nullptr;
    if (!arguments_.adapter.empty()) {
      device = anydml_find_device(arguments_.adapter.c_str());
      if (device == nullptr) {
        throw ModelFailure{"--adapter", anydml_last_error(), true};
      }
    }
    const anydml_device_info* info = anydml_device_get_info(device);
    check(info == nullptr ? int{ANYDML_INVALID_ARGUMENT} : int{ANYDML_OK});
    adapter_ = info->description;
    anydml_onnx_options options = ANYDML_ONNX_OPTIONS_INIT;
    options.device = device;
    const std::string& activations = arguments_.onnx.activations;
    options.flags = (arguments_.onnx.literal ? ANYDML_ONNX_LITERAL : 0U) |
                    (activations == "float"     ? ANYDML_ONNX_FLOAT_ACTIVATIONS
                     : activations == "integer" ? ANYDML_ONNX_INTEGER_ACTIVATIONS
                                                : 0U);
    if (!arguments_.onnx.trace.empty()) {
      anydml_onnx_trace* trace = nullptr;
      check(anydml_onnx_trace_create(&trace));
      trace_.reset(trace);
      options.trace = trace;
    }
    anydml_onnx_model* model = nullptr;
    check(anydml_onnx_load(file_.c_str(), &options, &model));
    model_.reset(model);
  }

  // The outputs that options name, which are known before the model runs.
  [[nodiscard]] std::vector<Request> requests(const std::string& option, const std::vector<std::string>& texts) const {
    std::vector<Request> all;
    for (const std::string& text : texts) {
      const auto split = split_name(text);
      if (!split) {
        throw ModelFailure{option,
                           format_text("is {}; expected the name of an output, = and {}", in_quotes(text),
                                       option == "--output" ? "a file" : "values"),
                           true};
      }
      const auto found = std::ranges::find(outputs_, split->name, &OnnxOutput::name);
      if (found == outputs_.end()) {
        std::string known;
        for (const OnnxOutput& one : outputs_) {
          known += format_text("{}{}", known.empty() ? "" : ", ", in_quotes(one.name));
        }
        throw ModelFailure{
            option, format_text("{} is not an output of this model; it has {}", in_quotes(split->name), known), true};
      }
      if (option == "--output" && has_image_extension(split->text)) {
        throw ModelFailure{
            format_text("{} {}", option, split->name),
            format_text("{} is an image, which is not supported; expected .npy or raw bytes", in_quotes(split->text)),
            true};
      }
      all.push_back(
          {format_text("{} {}", option, split->name), static_cast<std::size_t>(found - outputs_.begin()), split->text});
    }
    return all;
  }

  // Memory for an output. A run with inputs of the same sizes usually returns outputs of the same sizes, so the memory
  // is used again.
  static void* provide(void* context, std::size_t index, std::int32_t type, const anydml_tensor* tensor) {
    auto* self = static_cast<OnnxRun*>(context);
    OnnxOutput& output = self->outputs_[index];
    try {
      output.type = type;
      if (shown_type(type) == DataType::unknown) {
        self->refused_ = format_text("output {} is {}; expected a tensor of numbers", in_quotes(output.name),
                                     anydml_onnx_type_name(type));
        return nullptr;
      }
      output.sizes.assign(tensor->sizes, tensor->sizes + tensor->rank);
      const std::uint64_t bytes = tensor_bytes(type, output.sizes);
      const std::uint64_t more = bytes > output.data.capacity() ? bytes - output.data.capacity() : 0;
      if (!self->memory_.take(MemoryBudget::For::buffers, more,
                              [&](std::string sentence) { self->refused_ = std::move(sentence); })) {
        return nullptr;
      }
      output.data.reserve(bytes + 1);  // an empty output has an address too
      output.data.resize(bytes);
      return output.data.data();
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  void run_once() {
    const int code = anydml_onnx_run(model_.get(), tensors_.data(), tensors_.size(), &provide, this);
    if (!refused_.empty()) {
      throw ModelFailure{"outputs", refused_, false};
    }
    check(code);
  }

  void show_inputs(double prepared) {
    output_ = arguments_.model.json ? json_output() : text_output(arguments_.verbosity, "CPU");
    output_->running_on(file_, adapter_, {});
    for (const OnnxInput& input : inputs_) {
      if (input.type != ANYDML_ONNX_UNDEFINED) {
        output_->tensor("input", input.name, form_text(input.type, input.sizes), input.values);
      }
    }
    output_->initialized(file_, prepared);
  }

  void measure() {
    const ExecutionOptions& options = arguments_.execution;
    const bool is_timed = options.milliseconds_to_run.has_value();
    const std::uint64_t maximum = is_timed ? ~std::uint64_t{0} : options.iterations;
    std::vector<double> times;
    Progress progress(format_text("Running {}", in_quotes(file_)));
    const Stopwatch whole;
    for (std::uint64_t i = 0; i < maximum; ++i) {
      const Stopwatch iteration;
      for (std::uint64_t repeated = 0; repeated < options.repeat; ++repeated) {
        run_once();
      }
      const double spent = iteration.milliseconds();
      constexpr std::size_t kAtOnce = std::size_t{1} << 16;
      if (times.size() % kAtOnce == 0) {
        memory_.borrow(MemoryBudget::For::dispatches, (times.size() + kAtOnce) * MemoryBudget::kPerTiming,
                       [](std::string sentence) {
                         throw ModelFailure{{}, std::move(sentence), false};
                       });
      }
      times.push_back(spent / static_cast<double>(options.repeat));
      const double elapsed = whole.milliseconds();
      progress.show(
          is_timed ? elapsed / *options.milliseconds_to_run : static_cast<double>(i + 1) / static_cast<double>(maximum),
          format_text("{} iterations, {:.3f} ms the last", i + 1, times.back()));
      const double pause = std::max(0.0, options.minimum_interval - iteration.milliseconds());
      if (is_timed && elapsed + pause >= *options.milliseconds_to_run) {
        break;
      }
      if (pause > 0 && i + 1 < maximum) {
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(pause));
      }
    }
    progress.clear();
    std::uint64_t bytes = 0;
    for (const OnnxInput& input : inputs_) {
      bytes += input.data.size();
    }
    for (const OnnxOutput& output : outputs_) {
      bytes += output.data.size();
    }
    output_->dispatched({.name = file_,
                         .iterations = times.size(),
                         .cpu = times,
                         .device = {},
                         .warm_up = options.warm_up,
                         .bytes = bytes});
    if (options.profile) {
      profile(split_samples(times, options.warm_up).hot.median);
    }
  }

  void profile(double whole) {
    std::vector<StepReport> steps;
    const auto keep = [](void* context, const anydml_onnx_node_time* time) {
      static_cast<std::vector<StepReport>*>(context)->push_back(
          {.nodes = time->label, .is_once = false, .milliseconds = 1000 * time->seconds});
    };
    const auto rounds = std::min(arguments_.execution.iterations, kMaxProfiledRounds);
    check(anydml_onnx_profile(model_.get(), tensors_.data(), tensors_.size(), static_cast<std::uint32_t>(rounds), keep,
                              &steps));
    output_->profiled({.name = file_, .whole = whole, .steps = steps});
  }

  void explain() {
    std::vector<std::string> lines;
    check(anydml_onnx_explain(
        model_.get(),
        [](void* context, const char* line) { static_cast<std::vector<std::string>*>(context)->emplace_back(line); },
        &lines));
    output_->explained(lines);
  }

  void write_trace() {
    if (!arguments_.execution.profile) {  // it has traced every node already
      const auto ignore = [](void*, const anydml_onnx_node_time*) {};
      check(anydml_onnx_profile(model_.get(), tensors_.data(), tensors_.size(), 1, ignore, nullptr));
    }
    std::string text;
    check(anydml_onnx_trace_lines(
        trace_.get(),
        [](void* context, const char* line) { static_cast<std::string*>(context)->append(line).append("\n"); }, &text));
    const std::span<const std::byte> parts[] = {std::as_bytes(std::span(text))};
    store("--trace", arguments_.onnx.trace, parts);
    output_->traced(arguments_.onnx.trace);
  }

  void show_outputs() {
    const std::uint64_t maximum = arguments_.model.json ? kMaxInJson : kMaxShown;
    for (const OnnxOutput& one : outputs_) {
      output_->tensor("output", one.name, form_text(one.type, one.sizes), {});
      if (one.data.size() / element_size(shown_type(one.type)) <= maximum) {
        output_->values(one.resource(), one.data, false);
      } else if (!arguments_.model.json && arguments_.requests.outputs.empty()) {
        output_->explained(std::vector<std::string>{
            format_text("Resource {} has too many elements to be printed; --output {}=FILE.npy writes them",
                        in_quotes(one.name), echo(one.name, one.name.size()))});
      }
    }
  }

  bool compare(const std::vector<Request>& requests) {
    bool as_expected = true;
    for (const Request& one : requests) {
      const OnnxOutput& output = outputs_[one.output];
      std::string difference;
      const std::vector<std::byte> expected = expected_values(one.option, one.text, output.type, output.sizes,
                                                              arguments_.requests.seed + one.output, difference);
      if (!difference.empty()) {
        report_error(format_text("{}: {}: {}", file_, one.option, difference), kDifferent);
        as_expected = false;
        continue;
      }
      const Resource resource = output.resource();
      const Comparison comparison =
          compare_elements(output.data, expected, resource.shown_type(), arguments_.requests.tolerance);
      output_->compared(resource, comparison, arguments_.requests.tolerance);
      as_expected = as_expected && comparison.different == 0;
    }
    return as_expected;
  }

  void write(const Request& request) {
    const OnnxOutput& output = outputs_[request.output];
    std::string header;
    if (has_npy_extension(request.text)) {
      if (output.sizes.size() > kMaxNpyRank) {
        throw ModelFailure{
            request.option,
            format_text("the output has {} dimensions; a .npy file has up to {}", output.sizes.size(), kMaxNpyRank),
            true};
      }
      // The bytes of four-bit elements are one list.
      const bool is_packed = output.type == ANYDML_ONNX_INT4 || output.type == ANYDML_ONNX_UINT4;
      const std::vector<std::uint64_t> shape =
          is_packed ? std::vector<std::uint64_t>{output.data.size()}
                    : std::vector<std::uint64_t>(output.sizes.begin(), output.sizes.end());
      header = make_npy_header(shown_type(output.type), shape);
    }
    const std::span<const std::byte> parts[] = {std::as_bytes(std::span(header)), output.data};
    store(request.option, request.text, parts);
    output_->written(output.name, request.text);
  }

  static void store(const std::string& option, const std::string& target,
                    std::span<const std::span<const std::byte>> parts) {
    const auto path = find_output(kAnywhere, target);
    if (!path) {
      throw ModelFailure{option, path.error().message, true};
    }
    if (const auto done = write_file(path.value(), parts); !done) {
      throw ModelFailure{option, done.error().message, false};
    }
  }

  const RunArguments& arguments_;
  std::unique_ptr<Output>& output_;
  const std::string& file_;
  MemoryBudget memory_;
  std::string adapter_;
  TracePointer trace_;
  ModelPointer model_;
  std::vector<OnnxInput> inputs_;
  std::vector<anydml_tensor> tensors_;
  std::vector<OnnxOutput> outputs_;
  std::string refused_;  // why an output was refused
};

void write_failure(JsonWriter& json, const ModelFailure& failure) {
  json.key("runs").boolean(false).key("problems").begin_array();
  json.begin_object().key("path").text(failure.path).key("reason").text(failure.reason).end_object().end_array();
}

std::string line_of(const std::string& file, const ModelFailure& failure) {
  return failure.path.empty() ? format_text("{}: {}", file, failure.reason)
                              : format_text("{}: {}: {}", file, failure.path, failure.reason);
}

}  // namespace

bool is_onnx_model(const std::string& file) { return ends_in_any_case(file, ".onnx"); }

int run_onnx_model(const RunArguments& arguments) {
  const std::string& file = arguments.model.models.front();
  std::unique_ptr<Output> output;
  const auto failed = [&](const ModelFailure& failure) {
    if (output != nullptr) {
      output->finish([&](JsonWriter& json) { write_failure(json, failure); });
    } else if (arguments.model.json) {
      JsonWriter json;
      json.begin_object().key("model").text(file);
      write_failure(json, failure);
      json.end_object().print(stdout);
    }
    return report_error(line_of(file, failure), failure.of_model ? kWrong : kFailed);
  };
  try {
    const bool as_expected = OnnxRun(arguments, output).run();
    output->finish();
    return as_expected ? kDone : kDifferent;
  } catch (const ModelFailure& failure) {
    return failed(failure);
  } catch (const std::bad_alloc&) {
    return failed({{}, "the machine does not have enough memory", false});
  }
}

int check_onnx_model(const std::string& file, const ModelArguments& arguments, JsonWriter& json) {
  std::vector<std::string> needs;
  anydml_onnx_options options = ANYDML_ONNX_OPTIONS_INIT;
  options.on_unsupported = [](void* context, const char* text) {
    static_cast<std::vector<std::string>*>(context)->emplace_back(text);
  };
  options.on_unsupported_context = &needs;
  anydml_onnx_model* loaded = nullptr;
  const int code = anydml_onnx_load(file.c_str(), &options, &loaded);
  const ModelPointer model(loaded);
  const std::string reason = code == ANYDML_OK ? std::string() : anydml_last_error();
  if (arguments.json) {
    json.begin_object().key("model").text(file).key("valid").boolean(code == ANYDML_OK || code == ANYDML_UNSUPPORTED);
    json.key("runs").boolean(code == ANYDML_OK).key("problems").begin_array();
    if (code != ANYDML_OK) {
      json.begin_object().key("path").text("").key("reason").text(reason).end_object();
    }
    json.end_array().key("notBuilt").begin_array();
    for (const std::string& need : needs) {
      json.begin_object().key("path").text("").key("reason").text(need).end_object();
    }
    json.end_array().end_object();
  } else if (code == ANYDML_OK) {
    std::printf("%s runs\n", echo(file, file.size()).c_str());
  } else {
    const std::string line = format_text("{}: {}", file, reason);
    std::printf("%s\n", echo(line, line.size()).c_str());
  }
  return code == ANYDML_OK ? kDone : code == ANYDML_UNSUPPORTED || code == ANYDML_INVALID_ARGUMENT ? kWrong : kFailed;
}

}  // namespace anydml::dmlrun
