// SPDX-License-Identifier: MIT
// The public C functions that build graphs.
#include <memory>
#include <mutex>

#include "anydml/anydml.h"
#include "capi/arguments.h"
#include "capi/boundary.h"
#include "capi/graph_builder.h"
#include "capi/options.h"
#include "text/format.h"

struct anydml_constants {
  std::shared_ptr<anydml::SharedConstants> shared = std::make_shared<anydml::SharedConstants>();
};

struct anydml_graph {
  mutable std::mutex mutex;
  anydml::GraphBuilder builder;
};

namespace anydml {
namespace {

Status check_graph(const char* function, const anydml_graph* graph) {
  return graph != nullptr ? Status() : bad_call(function, "graph is null; expected a graph from anydml_graph_create");
}

Status check_pointer(const char* function, const char* name, const void* pointer) {
  return pointer != nullptr
             ? Status()
             : bad_call(function, format_text("{} is null; expected a pointer to store the result", name));
}

// Calls a function that creates one value from a tensor.
template <class Add>
int add_value(const char* function, anydml_graph* graph, const anydml_tensor* tensor, anydml_value* value,
              Add add) noexcept {
  return boundary([&]() -> Status {
    ANYDML_TRY(check_graph(function, graph));
    ANYDML_TRY(check_pointer(function, "value", value));
    if (tensor == nullptr) {
      return bad_call(function, "tensor is null; expected a pointer to an anydml_tensor");
    }
    const std::scoped_lock lock(graph->mutex);
    const auto created = add(graph->builder);
    ANYDML_TRY(created);
    *value = created.value();
    return {};
  });
}

int compile(const char* function, const anydml_graph* graph, const anydml_options* given,
            anydml_compiled** compiled) noexcept {
  return boundary([&]() -> Status {
    ANYDML_TRY(check_pointer(function, "compiled", compiled));
    *compiled = nullptr;
    ANYDML_TRY(check_graph(function, graph));
    const auto options = read_options(function, given);
    ANYDML_TRY(options);
    if (options.value().constant_count != 0) {
      return bad_call(function, format_text("options.constant_count is {}; expected 0: anydml_graph_add_constant makes "
                                            "the constants of a graph",
                                            options.value().constant_count));
    }
    const auto device = choose_device(options.value().device);
    ANYDML_TRY(device);
    const std::scoped_lock lock(graph->mutex);
    auto created = graph->builder.compile(*device.value(), compile_options(options.value()));
    ANYDML_TRY(created);
    *compiled = created.value().release();
    return {};
  });
}

}  // namespace
}  // namespace anydml

using anydml::boundary;
using anydml::GraphBuilder;
using anydml::Status;

int anydml_graph_create(anydml_graph** graph) {
  return boundary([&]() -> Status {
    ANYDML_TRY(anydml::check_pointer("anydml_graph_create", "graph", graph));
    *graph = nullptr;
    *graph = new anydml_graph;
    return {};
  });
}

void anydml_graph_release(anydml_graph* graph) {
  const anydml::CancellationDeferred deferred;
  delete graph;
}

int anydml_graph_add_input(anydml_graph* graph, const anydml_tensor* tensor, anydml_value* value) {
  return anydml::add_value("anydml_graph_add_input", graph, tensor, value,
                           [&](GraphBuilder& builder) { return builder.add_input(*tensor); });
}

int anydml_graph_add_constant(anydml_graph* graph, const anydml_tensor* tensor, anydml_value* value) {
  return anydml::add_value("anydml_graph_add_constant", graph, tensor, value,
                           [&](GraphBuilder& builder) { return builder.add_constant(*tensor); });
}

int anydml_constants_create(anydml_constants** constants) {
  return boundary([&]() -> Status {
    ANYDML_TRY(anydml::check_pointer("anydml_constants_create", "constants", constants));
    *constants = nullptr;
    *constants = new anydml_constants;
    return {};
  });
}

void anydml_constants_release(anydml_constants* constants) {
  const anydml::CancellationDeferred deferred;
  delete constants;
}

int anydml_graph_add_shared_constant(anydml_graph* graph, anydml_constants* constants, const anydml_tensor* tensor,
                                     anydml_value* value) {
  constexpr const char* kFunction = "anydml_graph_add_shared_constant";
  return anydml::add_value(kFunction, graph, tensor, value, [&](GraphBuilder& builder) -> anydml::Result<anydml_value> {
    if (constants == nullptr) {
      return anydml::bad_call(kFunction, "constants is null; expected an object from anydml_constants_create");
    }
    return builder.add_shared_constant(constants->shared, *tensor);
  });
}

int anydml_graph_add_view(anydml_graph* graph, anydml_value of, const anydml_tensor* tensor, anydml_value* value) {
  constexpr const char* kFunction = "anydml_graph_add_view";
  return anydml::add_value(kFunction, graph, tensor, value,
                           [&](GraphBuilder& builder) { return builder.add_view(kFunction, of, *tensor, 0); });
}

int anydml_graph_add_view_at(anydml_graph* graph, anydml_value of, const anydml_tensor* tensor, int64_t offset,
                             anydml_value* value) {
  constexpr const char* kFunction = "anydml_graph_add_view_at";
  return anydml::add_value(kFunction, graph, tensor, value,
                           [&](GraphBuilder& builder) { return builder.add_view(kFunction, of, *tensor, offset); });
}

int anydml_graph_add_operator(anydml_graph* graph, const char* op, const anydml_value* inputs, size_t input_count,
                              const anydml_tensor* outputs, size_t output_count, const anydml_attribute* attributes,
                              size_t attribute_count, anydml_value* values) {
  return boundary([&]() -> Status {
    constexpr const char* kFunction = "anydml_graph_add_operator";
    ANYDML_TRY(anydml::check_graph(kFunction, graph));
    const auto found = anydml::choose_operator(op);
    ANYDML_TRY(found);
    const std::string_view name = found.value()->name;
    ANYDML_TRY(anydml::check_array(name, "inputs", inputs, input_count, "values"));
    ANYDML_TRY(anydml::check_array(name, "outputs", outputs, output_count, "tensors"));
    ANYDML_TRY(anydml::check_array(name, "attributes", attributes, attribute_count, "attributes"));
    ANYDML_TRY(anydml::check_array(name, "values", values, output_count, "values"));
    const std::scoped_lock lock(graph->mutex);
    return graph->builder.add_operator(*found.value(), std::span(inputs, input_count), std::span(outputs, output_count),
                                       std::span(attributes, attribute_count), values);
  });
}

int anydml_graph_set_operator_flags(anydml_graph* graph, uint64_t flags) {
  return boundary([&]() -> Status {
    constexpr const char* kFunction = "anydml_graph_set_operator_flags";
    ANYDML_TRY(anydml::check_graph(kFunction, graph));
    if ((flags & ~std::uint64_t{ANYDML_INTEGER_ACTIVATIONS}) != 0) {
      return anydml::bad_call(
          kFunction, anydml::format_text("flags is {:#x}; expected 0 or ANYDML_INTEGER_ACTIVATIONS ({:#x})", flags,
                                         ANYDML_INTEGER_ACTIVATIONS));
    }
    const std::scoped_lock lock(graph->mutex);
    graph->builder.set_integer_activations(flags != 0);
    return {};
  });
}

int anydml_graph_repeat_operator(anydml_graph* graph, anydml_value like, const anydml_value* inputs,
                                 const int64_t* offsets, size_t input_count, anydml_value* values, size_t value_count) {
  return boundary([&]() -> Status {
    constexpr const char* kFunction = "anydml_graph_repeat_operator";
    ANYDML_TRY(anydml::check_graph(kFunction, graph));
    ANYDML_TRY(anydml::check_array(kFunction, "inputs", inputs, input_count, "values"));
    ANYDML_TRY(anydml::check_array(kFunction, "values", values, value_count, "values"));
    const std::scoped_lock lock(graph->mutex);
    return graph->builder.repeat_operator(like, std::span(inputs, input_count), offsets,
                                          std::span(values, value_count));
  });
}

int anydml_graph_add_output(anydml_graph* graph, anydml_value value) {
  return boundary([&]() -> Status {
    ANYDML_TRY(anydml::check_graph("anydml_graph_add_output", graph));
    const std::scoped_lock lock(graph->mutex);
    return graph->builder.add_output(value);
  });
}

int anydml_graph_compile(const anydml_graph* graph, const anydml_device* device, anydml_compiled** compiled) {
  anydml_options options = ANYDML_OPTIONS_INIT;
  options.device = device;
  return anydml::compile("anydml_graph_compile", graph, &options, compiled);
}

int anydml_graph_compile_with(const anydml_graph* graph, const anydml_options* options, anydml_compiled** compiled) {
  return anydml::compile("anydml_graph_compile_with", graph, options, compiled);
}
