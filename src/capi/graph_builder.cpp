// SPDX-License-Identifier: MIT
#include "capi/graph_builder.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/log.h"
#include "base/reserve.h"
#include "base/shape.h"
#include "capi/arguments.h"
#include "capi/graph_memory.h"
#include "ops/operators.h"
#include "plan/overlap.h"
#include "plan/reshape.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::size_t kMaxValues = 0x7fffffff;

constinit std::atomic<std::uint32_t> g_graphs = 0;

// Looked up when the library is loaded, because a function-local static would be initialized under a lock that a fork
// can leave locked.
const facts::Operator& g_identity = *facts::find_operator("ELEMENT_WISE_IDENTITY");

std::uint64_t bytes_of(const TensorDesc& tensor) { return static_cast<std::uint64_t>(reach_of(tensor).end); }

// An empty value also counts as one byte, so that every value that is read has a location.
Extent extent_of(const TensorDesc& tensor) {
  return {.bytes = std::max<std::uint64_t>(bytes_of(tensor), 1), .alignment = element_alignment(tensor.type)};
}

// A name such as "input 3". Most names are never shown, so they are written without a format.
std::string numbered(std::string_view kind, std::size_t number) {
  return std::string(kind).append(" ").append(std::to_string(number));
}

anydml_tensor as_given(const TensorDesc& tensor) {
  return {static_cast<anydml_type>(tensor.type), static_cast<int32_t>(tensor.rank), tensor.sizes, tensor.strides,
          nullptr};
}

}  // namespace

GraphBuilder::GraphBuilder() : number_(g_graphs.fetch_add(1, std::memory_order_relaxed) + std::uint64_t{1}) {}

template <class Who>
Result<const GraphBuilder::Value*> GraphBuilder::find(anydml_value value, const Who& who) const {
  if (value == 0) {
    return bad_call(who(), "is 0; expected a value of the graph");
  }
  const std::uint64_t index = value & 0xffffffff;
  if (value >> 32 != (number_ & 0xffffffff)) {
    return bad_call(who(), "is a value of another graph, or not a value; expected one of this graph's");
  }
  if (index >= values_.size()) {
    return bad_call(who(), "is not a value; expected one that this graph returned");
  }
  return &values_[index];
}

anydml_value GraphBuilder::add(const Value& value) {
  values_.push_back(value);
  return (number_ & 0xffffffff) << 32 | (values_.size() - 1);
}

Result<TensorDesc> GraphBuilder::read(const std::string& name, const anydml_tensor& tensor) const {
  if (values_.size() >= kMaxValues) {
    return Error{ErrorKind::out_of_memory,
                 format_text("graph: {}: the graph has reached the maximum number of values", name)};
  }
  return make_tensor({kGraphLabel, name},
                     {.type = tensor.type, .rank = tensor.rank, .sizes = tensor.sizes, .strides = tensor.strides});
}

Result<TensorDesc> GraphBuilder::read_forward(const std::string& name, const anydml_tensor& tensor) const {
  const auto created = read(name, tensor);
  ANYDML_TRY(created);
  if (reach_of(created.value()).first < 0) {
    return invalid({kGraphLabel, name},
                   format_text("strides are {}; expected 0 or more: a value of a graph begins with its first element",
                               shape_text(created.value().strides, created.value().rank)));
  }
  return created;
}

Result<anydml_value> GraphBuilder::add_input(const anydml_tensor& tensor) {
  const auto created = read_forward(numbered("input", inputs_.size()), tensor);
  ANYDML_TRY(created);
  const TensorDesc* const tensor_desc = keep(created.value());
  reserve_more(graph_.inputs, 1);  // reserve all capacity first, so that a failure changes nothing
  reserve_more(inputs_, 1);
  reserve_more(values_, 1);
  graph_.inputs.push_back({.extent = extent_of(created.value())});
  inputs_.push_back(created.value());
  const auto index = static_cast<std::uint32_t>(inputs_.size() - 1);
  return add({tensor_desc, {.kind = SourceKind::input, .index = index}, bytes_of(created.value())});
}

Result<anydml_value> GraphBuilder::add_shared_constant(std::shared_ptr<SharedConstants> shared,
                                                       const anydml_tensor& tensor) {
  if (shared_ != nullptr && shared_ != shared) {
    return bad_call(
        "anydml_graph_add_shared_constant",
        "constants differs from the one before; expected one anydml_constants for all constants of a graph");
  }
  const auto created = add_constant(tensor);
  ANYDML_TRY(created);
  constants_.back().is_shared = constants_.back().data != nullptr;
  shared_ = std::move(shared);
  return created;
}

Result<anydml_value> GraphBuilder::add_constant(const anydml_tensor& tensor) {
  const std::string name = numbered("constant", constants_.size());
  const auto created = read_forward(name, tensor);
  ANYDML_TRY(created);
  const bool empty = bytes_of(created.value()) == 0;
  if (tensor.data == nullptr && !empty) {
    return invalid({kGraphLabel, name}, "data is null; expected the data of a constant");
  }
  const TensorDesc* const tensor_desc = keep(created.value());
  reserve_more(graph_.constants, 1);
  reserve_more(constants_, 1);
  reserve_more(values_, 1);
  graph_.constants.push_back(extent_of(created.value()));
  constants_.push_back({.data = empty ? nullptr : static_cast<const std::byte*>(tensor.data)});
  const auto index = static_cast<std::uint32_t>(constants_.size() - 1);
  return add({tensor_desc, {.kind = SourceKind::constant, .index = index}, bytes_of(created.value())});
}

Result<anydml_value> GraphBuilder::add_view(std::string_view function, anydml_value of, const anydml_tensor& tensor,
                                            std::int64_t offset) {
  const auto value = find(of, [&] { return format_text("{}: value", function); });
  ANYDML_TRY(value);
  const auto read_tensor = read("view", tensor);
  ANYDML_TRY(read_tensor);
  const TensorDesc& created = read_tensor.value();
  Value view{keep(created), value.value()->source, value.value()->bytes};
  const Reach reach = reach_of(created);
  if (reach.first == reach.end) {  // the view has no elements
    return add(view);
  }
  if (is_four_bits(created.type)) {
    if (offset % 2 != 0) {
      return invalid({kGraphLabel, "view"}, format_text("offset is {}; expected an even number of elements, since two "
                                                        "elements of {} share a byte",
                                                        offset, type_name(created.type)));
    }
    offset /= 2;
  }
  const auto there = static_cast<std::int64_t>(view.bytes);  // a tensor's bytes fit into 63 bits
  std::int64_t first = 0;
  std::int64_t end = 0;
  const bool counted =
      !__builtin_mul_overflow(offset, static_cast<std::int64_t>(element_alignment(created.type)), &offset) &&
      !__builtin_add_overflow(view.source.offset, offset, &view.source.offset) &&
      !__builtin_add_overflow(view.source.offset, reach.first, &first) &&
      !__builtin_add_overflow(view.source.offset, reach.end, &end);
  if (!counted || first < 0 || end > there) {
    return invalid(
        {kGraphLabel, "view"},
        format_text(
            "{} with sizes {} and strides {} covers {}; expected the bytes 0 to {}, the "
            "extent of the value",
            type_name(created.type), shape_text(created.sizes, created.rank), shape_text(created.strides, created.rank),
            counted ? format_text("the bytes {} to {}", first, end) : std::string("more bytes than can be counted"),
            there));
  }
  return add(view);
}

Result<std::shared_ptr<const OpDesc>> GraphBuilder::described(const Call& call) {
  const bool has_key = make_text_key(call, key_);
  if (has_key) {
    if (const auto before = described_.find(key_); before != described_.end()) {
      return before->second;
    }
  }
  auto desc = check(call);
  ANYDML_TRY(desc);
  auto shared = std::make_shared<const OpDesc>(std::move(desc.value()));
  if (has_key) {
    described_.emplace(key_, shared);
  }
  return shared;
}

Status GraphBuilder::add_operator(const facts::Operator& op, std::span<const anydml_value> inputs,
                                  std::span<const anydml_tensor> outputs, std::span<const anydml_attribute> attributes,
                                  anydml_value* values) {
  const auto node = static_cast<std::uint32_t>(graph_.nodes.size());
  const auto in_node = [&](const Error& error) -> Error {
    return {error.kind, format_text("node {}: {}", node, error.message)};
  };
  if (const Status built = check_built(op); !built) {
    return in_node(built.error());
  }
  std::vector<anydml_tensor> taken(inputs.size());  // absent inputs have the type ANYDML_NONE
  GraphNode created;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    created.sources.emplace_back();
    if (inputs[i] != 0) {
      const auto value = find(inputs[i], [&] { return format_text("node {}: {}: inputs[{}]", node, op.name, i); });
      ANYDML_TRY(value);
      taken[i] = as_given(*value.value()->tensor);
      created.sources.back() = value.value()->source;
    }
  }
  const auto found = described({.op = &op, .inputs = taken, .outputs = outputs, .attributes = attributes});
  if (!found) {
    return in_node(found.error());
  }
  const OpDesc& desc = *found.value();
  created.sources.resize(desc.input_count);
  for (const OpTensor& output : desc.outputs()) {
    if (output.present && output.reach.first < 0) {
      return in_node(invalid(desc, output,
                             format_text("strides are {}; expected 0 or more: a value of a graph begins with its first "
                                         "element",
                                         shape_text(output.tensor.strides, output.tensor.rank))));
    }
    created.outputs.push_back(output.present ? extent_of(output.tensor) : Extent{});
  }
  if (values_.size() + outputs.size() > kMaxValues) {
    return in_node({ErrorKind::out_of_memory, "the graph has reached the maximum number of values"});
  }
  created.op = found.value();
  created.integer_activations = integer_activations_;
  reserve_more(values_, outputs.size());
  graph_.nodes.push_back(std::move(created));
  const auto tensors = graph_.nodes.back().op->outputs();
  for (std::uint32_t i = 0; i < outputs.size(); ++i) {
    const TensorDesc& tensor = tensors[i].tensor;
    values[i] = tensors[i].present
                    ? add({&tensor, {.kind = SourceKind::node, .index = node, .output = i}, bytes_of(tensor)})
                    : 0;
  }
  return {};
}

Status GraphBuilder::repeat_operator(anydml_value like, std::span<const anydml_value> inputs,
                                     const std::int64_t* offsets, std::span<anydml_value> values) {
  constexpr const char* kFunction = "anydml_graph_repeat_operator";
  const auto model = find(like, [&] { return format_text("{}: like", kFunction); });
  ANYDML_TRY(model);
  const GraphSource from = model.value()->source;
  if (from.kind != SourceKind::node || from.offset != 0) {
    return bad_call(kFunction, "like is not computed by an operator; expected the value of an operator's output");
  }
  const std::shared_ptr<const OpDesc> op = graph_.nodes[from.index].op;
  if (inputs.size() > op->input_count || values.size() > op->output_count) {
    return bad_call(kFunction, format_text("there are {} inputs and {} values; expected up to {} and {}", inputs.size(),
                                           values.size(), op->input_count, op->output_count));
  }
  if (values_.size() + values.size() > kMaxValues) {
    return Error{ErrorKind::out_of_memory,
                 format_text("{}: the graph has reached the maximum number of values", kFunction)};
  }
  GraphNode created;
  created.op = op;
  created.integer_activations = graph_.nodes[from.index].integer_activations;
  created.sources.resize(op->input_count);
  for (std::size_t i = 0; i < op->input_count; ++i) {
    const OpTensor& tensor = op->tensors[i];
    const bool is_given = i < inputs.size() && inputs[i] != 0;
    const auto name = [&] { return format_text("{}: inputs[{}]", kFunction, i); };
    if (is_given != tensor.present) {
      return bad_call(
          name(), format_text("is {}; expected {}", is_given ? "a value" : "absent",
                              tensor.present ? "a value, as in the other operator" : "0, as in the other operator"));
    }
    if (!is_given) {
      continue;
    }
    const auto value = find(inputs[i], name);
    ANYDML_TRY(value);
    GraphSource& source = created.sources[i];
    source = value.value()->source;
    const std::int64_t offset = offsets != nullptr ? offsets[i] : 0;
    std::int64_t first = 0;
    std::int64_t end = 0;
    const bool counted = !__builtin_add_overflow(source.offset, offset, &source.offset) &&
                         !__builtin_add_overflow(source.offset, tensor.reach.first, &first) &&
                         !__builtin_add_overflow(source.offset, tensor.reach.end, &end);
    const bool has_elements = tensor.reach.first != tensor.reach.end;
    if (!counted || (has_elements && (first < 0 || end > static_cast<std::int64_t>(value.value()->bytes)))) {
      return bad_call(
          name(), format_text("offset {} reaches outside of the {} bytes of its source", offset, value.value()->bytes));
    }
  }
  const auto node = static_cast<std::uint32_t>(graph_.nodes.size());
  created.outputs = graph_.nodes[from.index].outputs;
  reserve_more(values_, values.size());
  graph_.nodes.push_back(std::move(created));
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    const OpTensor& tensor = op->tensors[op->input_count + i];
    values[i] =
        tensor.present
            ? add({&tensor.tensor, {.kind = SourceKind::node, .index = node, .output = i}, bytes_of(tensor.tensor)})
            : 0;
  }
  return {};
}

bool GraphBuilder::is_whole(const Value& value) const {
  if (value.source.kind != SourceKind::node || value.source.offset != 0) {
    return false;
  }
  const TensorDesc& created = graph_.nodes[value.source.index].op->outputs()[value.source.output].tensor;
  return (created.type == value.tensor->type && same_layout(created, *value.tensor)) ||
         (is_dense(created) && is_packed(*value.tensor) && bytes_of(created) == bytes_of(*value.tensor));
}

Status GraphBuilder::add_output(anydml_value of) {
  const auto found = find(of, [] { return std::string("anydml_graph_add_output: value"); });
  ANYDML_TRY(found);
  Value value = *found.value();
  if (find_self_overlap(*value.tensor) != SelfOverlap::none) {
    return invalid({kGraphLabel, format_text("output {}", outputs_.size())},
                   format_text("strides {} with sizes {} put two elements at the same address; expected each element "
                               "of an output to have its own address",
                               shape_text(value.tensor->strides, value.tensor->rank),
                               shape_text(value.tensor->sizes, value.tensor->rank)));
  }
  if (!is_whole(value)) {  // an input, a constant, or part of a value
    anydml_tensor tensor = as_given(*value.tensor);
    const auto strides = std::span(value.tensor->strides, value.tensor->rank);
    if (std::ranges::any_of(strides, [](std::int64_t stride) { return stride < 0; })) {
      tensor.strides = nullptr;
    }
    const anydml_value inputs[] = {of};
    anydml_value copy = 0;
    ANYDML_TRY(add_operator(g_identity, inputs, std::span(&tensor, 1), {}, &copy));
    value = values_.back();
  }
  reserve_more(outputs_, 1);
  reserve_more(graph_.outputs, 1);
  graph_.outputs.push_back(value.source);
  outputs_.push_back(*value.tensor);
  return {};
}

void GraphBuilder::make_surface(const std::vector<bool>& used, anydml_compiled& compiled) const {
  CompiledGraph& created = compiled.graph.emplace();
  created.nodes = graph_.nodes.size();
  const std::size_t count = inputs_.size() + outputs_.size();
  created.names.reserve(count);
  created.tensors.reserve(count);
  bool empty = true;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_input = i < inputs_.size();
    const std::size_t number = is_input ? i : i - inputs_.size();
    created.names.push_back(numbered(is_input ? "input" : "output", number));
    const TensorDesc& tensor = is_input ? inputs_[number] : outputs_[number];
    const bool present = !is_input || used[i];
    created.tensors.push_back({.name = created.names.back(),
                               .present = present,
                               .tensor = tensor,
                               .reach = present ? reach_of(tensor) : Reach{}});
    empty = empty && (is_input || element_count(tensor) == 0);
  }
  compiled.surface = {.label = kGraphLabel, .tensors = created.tensors, .input_count = inputs_.size(), .empty = empty};
}

Result<std::unique_ptr<anydml_compiled>> GraphBuilder::compile(const Device& device,
                                                               const CompileOptions& options) const {
  if (outputs_.empty()) {
    return bad_call(kGraphLabel, "it has no output; expected one or more from anydml_graph_add_output");
  }
  GraphMemory memory(graph_, constants_, device, shared_.get());
  CompileOptions sharing = options;
  sharing.sharing = memory.sharing();
  const bool shown = log_enabled(LogLevel::graph);
  std::string text;
  auto programs = compile_programs(graph_, device.core, kGraphLabel, shown ? &text : nullptr, sharing);
  ANYDML_TRY(programs);
  if (shown) {
    log_line(LogLevel::graph, "graph\n", graph_text(graph_), text);
  }
  auto compiled = std::make_unique<anydml_compiled>(device);
  make_surface(memory.used_inputs(), *compiled);
  compiled->graph->steps = programs.value().plans.steps;
  compiled->in_place = programs.value().plans.in_place;
  compiled->updated = programs.value().plans.updated;
  compiled->program = std::move(programs.value().run);
  compiled->temporary_bytes = compiled->program.temporary_bytes();
  ANYDML_TRY(memory.initialize(programs.value(), *compiled));
  return compiled;
}

}  // namespace anydml
