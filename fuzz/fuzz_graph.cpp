// SPDX-License-Identifier: MIT
// Fuzzes the C API's graphs: a few operators of any kind, whose inputs are inputs of the graph, constants and results
// of earlier operators. The compiled graph, whose operators may be fused, returns the bits of the operators run one by
// one with the generic kernels.
#include <deque>

#include "facts/facts.h"
#include "fuzz/calls.h"

namespace anydml::fuzz {
namespace {

struct Value {
  anydml_value id = 0;
  anydml_type type = 0;
  std::vector<std::int64_t> sizes;
  Memory memory;
};

class Graph {
 public:
  Graph() { require(anydml_graph_create(&graph_) == ANYDML_OK, "anydml_graph_create"); }
  ~Graph() { anydml_graph_release(graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void add(const facts::Operator& op, Input& input) {
    const auto described = input.operators(48).make(op, facts::kNewestLevel, 8);
    if (!described) {
      return note(kNothing);
    }
    Call call(*described);
    if (!call.is_small()) {
      return note(kNothing);
    }
    call.allocate(input);
    std::vector<std::size_t> sources;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      sources.push_back(find(call.call.inputs[i], input));
      if (sources.back() != kNone) {
        call.inputs[i] = values_[sources.back()].memory;
        call.call.inputs[i].data = call.inputs[i].data();
      }
    }
    const auto results = call.run(generic_device());
    if (!results) {
      return note(kRejected);
    }
    note(kRan);
    std::vector<anydml_value> ids;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      const anydml_tensor& tensor = call.call.inputs[i];
      const bool is_absent = tensor.type == ANYDML_NONE;
      ids.push_back(is_absent             ? 0
                    : sources[i] != kNone ? values_[sources[i]].id
                                          : add_source(tensor, call.inputs[i], input));
    }
    std::vector<anydml_value> outputs(results->size());
    std::vector<anydml_tensor> forms = call.call.outputs;
    for (anydml_tensor& form : forms) {
      form.data = nullptr;
    }
    require(anydml_graph_add_operator(graph_, call.name.c_str(), ids.data(), ids.size(), forms.data(), forms.size(),
                                      call.call.attributes.data(), call.call.attributes.size(),
                                      outputs.data()) == ANYDML_OK,
            call.name + " runs alone, but a graph rejects it");
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (forms[i].type != ANYDML_NONE) {
        values_.push_back({outputs[i], forms[i].type, {forms[i].sizes, forms[i].sizes + forms[i].rank}, (*results)[i]});
        require(anydml_graph_add_output(graph_, outputs[i]) == ANYDML_OK, call.name + " as an output");
        outputs_.push_back(values_.size() - 1);
      }
    }
    text_ += " " + call.name;
  }

  void compare() const {
    if (outputs_.empty()) {
      return;
    }
    anydml_compiled* compiled = nullptr;
    require(anydml_graph_compile(graph_, vector_device(), &compiled) == ANYDML_OK, "compiling the graph of" + text_);
    std::vector<const void*> inputs;
    for (const std::size_t input : inputs_) {
      inputs.push_back(values_[input].memory.data());
    }
    std::vector<Memory> results;
    std::vector<void*> addresses;
    for (const std::size_t output : outputs_) {
      results.emplace_back(values_[output].memory.size());
      addresses.push_back(results.back().data());
    }
    require(
        anydml_compiled_run(compiled, inputs.data(), inputs.size(), addresses.data(), addresses.size()) == ANYDML_OK,
        "running the graph of" + text_);
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const Value& value = values_[outputs_[i]];
      require(same_elements(value.type, results[i], value.memory),
              "output " + std::to_string(i) + " differs in the graph of" + text_);
    }
    anydml_compiled_release(compiled);
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  // A value with the tensor's type and sizes, or none.
  [[nodiscard]] std::size_t find(const anydml_tensor& tensor, Input& input) const {
    std::vector<std::size_t> fitting;
    const std::vector<std::int64_t> sizes(tensor.sizes, tensor.sizes + tensor.rank);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (tensor.type != ANYDML_NONE && values_[i].type == tensor.type && values_[i].sizes == sizes) {
        fitting.push_back(i);
      }
    }
    return fitting.empty() || input.one_in(8) ? kNone : fitting[input.below(fitting.size())];
  }
  anydml_value add_source(const anydml_tensor& tensor, const Memory& memory, Input& input) {
    values_.push_back({0, tensor.type, {tensor.sizes, tensor.sizes + tensor.rank}, memory});
    anydml_tensor form = tensor;
    const bool is_constant = input.one_in(3);
    constants_.push_back(memory);  // stays valid until the graph is compiled
    form.data = is_constant ? constants_.back().data() : nullptr;
    const int status = is_constant ? anydml_graph_add_constant(graph_, &form, &values_.back().id)
                                   : anydml_graph_add_input(graph_, &form, &values_.back().id);
    require(status == ANYDML_OK, "an input");
    if (!is_constant) {
      inputs_.push_back(values_.size() - 1);
    }
    return values_.back().id;
  }

  anydml_graph* graph_ = nullptr;
  std::vector<Value> values_;
  std::vector<std::size_t> inputs_;
  std::vector<std::size_t> outputs_;
  std::deque<Memory> constants_;
  std::string text_;
};

void run(Input input) {
  Graph graph;
  const auto all = facts::operators();
  const auto count = 1 + input.below(6);
  for (std::uint64_t i = 0; i < count; ++i) {
    graph.add(all[input.below(all.size())], input);
  }
  graph.compare();
}

}  // namespace
}  // namespace anydml::fuzz

std::string fuzz_summary() { return anydml::fuzz::summary(); }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  anydml::fuzz::run(anydml::fuzz::Input(data, size));
  return 0;
}
