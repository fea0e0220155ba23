// SPDX-License-Identifier: MIT
#include "onnx/program/model.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>
#include <utility>

#include "onnx/program/builder.h"
#include "onnx/program/trace.h"
#include "onnx/values/device_elements.h"

namespace anydml::onnx {
namespace {

std::string shape_text(const std::vector<Dimension>& shape) {
  std::vector<std::string> words;
  for (const Dimension& one : shape) {
    words.push_back(one.size < 0 ? "?" : std::to_string(one.size));
  }
  return "[" + joined(words) + "]";
}

void check_shape(const ValueMessage& declared, const Array& given) {
  if (!declared.has_shape) {
    return;
  }
  bool matches = declared.shape.size() == given.shape().size();
  for (std::size_t i = 0; matches && i < declared.shape.size(); ++i) {
    matches = declared.shape[i].size < 0 || declared.shape[i].size == given.shape()[i];
  }
  if (!matches) {
    fail("input {} has the shape {}, but the model declares {}", quoted(declared.name), listed(given.shape()),
         shape_text(declared.shape));
  }
}

// Copies packed elements to the memory for an output, if there is any.
void copy_elements(const anydml_device* device, const Array& packed, void* to) {
  if (to != nullptr && packed.bytes() != 0) {
    copy_between(device, to, packed.address(), packed.bytes());
  }
}

bool meet(std::pair<std::uintptr_t, std::uintptr_t> one, std::pair<std::uintptr_t, std::uintptr_t> other) {
  return one.first < other.second && other.first < one.second;
}

bool has_bytes(const Array& array) { return array && array.kind() != Kind::kString && array.count() != 0; }

// Writes the results that are not in their memory yet, and returns those that are strings. provided: the memory of an
// output, or null if the sink was not asked for it yet. An output may have the memory of an input of which another
// result is a view, so such views are copied before anything is written.
Arrays write_results(const anydml_device* device, Arrays& results, std::vector<void*> provided,
                     std::span<const Array> inputs, const OutputSink& sink) {
  Arrays strings(results.size());
  bool overwrites_inputs = false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].kind() == Kind::kString) {
      strings[i] = results[i].packed();
      continue;
    }
    if (provided[i] == nullptr) {
      provided[i] = sink(i, results[i].kind(), results[i].shape());
    }
    const auto first = reinterpret_cast<std::uintptr_t>(provided[i]);
    overwrites_inputs = overwrites_inputs || std::any_of(inputs.begin(), inputs.end(), [&](const Array& input) {
                          return has_bytes(input) && meet(input.bounds(), {first, first + results[i].bytes()});
                        });
  }
  const auto is_written = [&](std::size_t i) {
    return results[i].kind() == Kind::kString || (results[i].is_packed() && results[i].address() == provided[i]);
  };
  for (std::size_t i = 0; overwrites_inputs && i < results.size(); ++i) {
    if (!is_written(i) && has_bytes(results[i])) {
      const Array packed = results[i].packed();
      Array copy = Array::empty(packed.kind(), packed.shape());
      copy_elements(device, packed, copy.writable());
      results[i] = std::move(copy);
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!is_written(i)) {
      copy_elements(device, results[i].packed(), provided[i]);
    }
  }
  return strings;
}

}  // namespace

Model::Model(ModelMessage message, const ModelOptions& options) : message_(std::move(message)), options_(options) {
  const TraceScope scope(options_.trace.get());
  TraceEvent event;
  inline_functions(message_);
  refuse_unknown(message_);
  std::unordered_set<std::string> names;
  for (const TensorMessage& tensor : message_.graph.initializers) {
    names.insert(tensor.name);
  }
  inputs_ = message_.graph.inputs;
  outputs_ = message_.graph.outputs;
  for (const ValueMessage& input : inputs_) {
    if (input.kind == Kind::kUndefined) {
      static_cast<void>(checked_kind(input.data_type, "input " + quoted(input.name) + ": elem_type"));
      fail("input {}: elem_type is missing", quoted(input.name));
    }
    initialized_.push_back(names.contains(input.name));
  }
  Program& built = program(std::vector<bool>(inputs_.size()));
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    outputs_[i].kind = built.kinds()[i];
    outputs_[i].keys = built.keys[i];
  }
  if (std::none_of(initialized_.begin(), initialized_.end(), [](bool one) { return one; })) {
    message_ = ModelMessage();  // no run can replace an initializer, so no other program will be built
  }
  event.end("Session", "prepare", TraceArguments().number("steps", built.steps().size()));
}

Model::~Model() = default;

const anydml_device* Model::memory_device() const { return with_own_memory(options_.device); }

Program& Model::program(const std::vector<bool>& replaced) {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<Program>& found = programs_[replaced];
  if (found == nullptr) {
    BuildOptions options;
    for (std::size_t i = 0; i < replaced.size(); ++i) {
      if (replaced[i]) {
        options.replaced.insert(inputs_[i].name);
      }
    }
    const BuildContext context{message_,
                               opset_of(message_),
                               ml_opset_of(message_),
                               options_.is_literal,
                               options_.activations,
                               {{.device = options_.device,
                                 .allows_half = options_.allows_half,
                                 .has_integer_activations = options_.activations == Activations::kInteger},
                                options_.kept_forms}};
    found = Builder(context, nullptr).program(message_.graph, options);
  }
  return *found;
}

NamedArrays Model::checked_inputs(std::span<const Array> inputs, std::vector<bool>& replaced) const {
  if (inputs.size() != inputs_.size()) {
    fail("the model has {} inputs, but {} were given", inputs_.size(), inputs.size());
  }
  NamedArrays given;
  replaced.assign(inputs.size(), false);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) {
      if (!initialized_[i]) {
        fail("input {} is missing", quoted(inputs_[i].name));
      }
      continue;
    }
    if (inputs[i].kind() != array_kind(inputs_[i].kind)) {
      throw WrongType(format_text("input {} is {}, but the model declares {}", quoted(inputs_[i].name),
                                  kind_name(inputs[i].kind()), kind_name(inputs_[i].kind)));
    }
    check_shape(inputs_[i], inputs[i]);
    replaced[i] = initialized_[i];
    given.emplace_back(inputs_[i].name, inputs[i]);
  }
  return given;
}

void* Model::output_memory(std::size_t output, Kind kind, const Sizes& shape, const OutputMemory& memory) const {
  // A four-bit output has the type of its array while the model runs.
  return memory(output, array_kind(outputs_[output].kind) == kind ? outputs_[output].kind : kind, shape);
}

Arrays Model::run(std::span<const Array> inputs, const OutputMemory& memory) {
  const TraceScope scope(options_.trace.get());
  TraceEvent event;
  std::vector<bool> replaced;
  const NamedArrays given = checked_inputs(inputs, replaced);
  const anydml_device* const device = memory_device();
  std::vector<void*> provided(outputs_.size(), nullptr);
  const OutputSink sink = [&](std::size_t output, Kind kind, const Sizes& shape) {
    return provided[output] = output_memory(output, kind, shape, memory);
  };
  Arrays results = program(replaced).run(given, sink);
  Arrays strings = write_results(device, results, provided, inputs, sink);
  if (event) {
    event.end("Session", "run", TraceArguments().forms("input_type_shape", inputs).forms("output_type_shape", results));
  }
  return strings;
}

Arrays Model::run_node_by_node(std::span<const Array> inputs, const OutputMemory& memory) {
  std::vector<bool> replaced;
  const NamedArrays given = checked_inputs(inputs, replaced);
  Arrays results =
      program(replaced).run_node_by_node(given, [](const Step&, const std::function<void()>& run) { run(); });
  return write_results(
      memory_device(), results, std::vector<void*>(results.size(), nullptr), inputs,
      [&](std::size_t output, Kind kind, const Sizes& shape) { return output_memory(output, kind, shape, memory); });
}

std::vector<StepTime> Model::profile(std::span<const Array> inputs, int rounds) {
  std::vector<bool> replaced;
  const NamedArrays given = checked_inputs(inputs, replaced);
  Program& built = program(replaced);
  std::vector<StepTime> times;
  for (const Step& step : built.steps()) {
    times.push_back({step.op, step.label, 0});
  }
  for (int round = -1; round < rounds; ++round) {  // the first one is not measured
    const TraceScope scope(round < 0 ? nullptr : options_.trace.get());
    TraceEvent event;
    std::size_t position = 0;
    static_cast<void>(built.run_node_by_node(given, [&](const Step&, const std::function<void()>& run) {
      const auto begin = std::chrono::steady_clock::now();
      run();
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      times[position++].seconds += round < 0 ? 0 : spent.count() / rounds;
    }));
    event.end("Session", "run node by node");
  }
  std::stable_sort(times.begin(), times.end(),
                   [](const StepTime& a, const StepTime& b) { return a.seconds > b.seconds; });
  return times;
}

}  // namespace anydml::onnx
