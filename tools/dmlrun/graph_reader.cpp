// SPDX-License-Identifier: MIT
#include "graph_reader.h"

#include <algorithm>
#include <map>

#include "base/ascii.h"
#include "operator_reader.h"
#include "resource_reader.h"
#include "schema/described.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

Port::Need need_of(const TensorValue& tensor) {
  return {.bytes = tensor.total_bytes,
          .owned = (tensor.flags & schema::kOwnedByDml) != 0,
          .sizes = tensor.strides.empty() ? tensor.sizes : std::vector<std::uint32_t>()};
}

class GraphReader {
 public:
  GraphReader(Members& members, Dispatchable& dispatchable, const Folders& folders)
      : members_(members), result_(dispatchable), folders_(folders) {}

  // Returns whether the whole graph could be read.
  bool read() {
    result_.is_graph = true;
    const auto inputs = members_.required("inputs");
    const auto nodes = members_.required("nodes");
    const auto outputs = members_.required("outputs");
    if (!inputs || !nodes || !outputs) {
      return false;
    }
    inputs->for_each_item("an array of names", [&](const Cursor& at) {
      if (const auto name = at.string("the name of an input of the graph")) {
        add_name(at, *name, {.kind = Kind::input, .index = result_.ports.size()});
        result_.ports.push_back({.name = std::string(*name), .is_output = false, .tensors = {}});
      }
    });
    // The names are read first, because nodes may feed one another in any order.
    nodes->for_each_member("an object of nodes", [&](std::string_view name, const Cursor& at) {
      if (is_constant(at)) {
        add_name(at, name, {.kind = Kind::constant, .index = result_.constants.size()});
        read_constant(name, at);
      } else {
        add_name(at, name, {.kind = Kind::node, .index = result_.nodes.size()});
        good_ = read_operator(name, at) && good_;
      }
    });
    if (good_) {
      std::size_t node = 0;
      nodes->for_each_member("an object of nodes", [&](std::string_view, const Cursor& at) {
        if (!is_constant(at)) {
          read_node_inputs(at, result_.nodes[node++]);
        }
      });
    }
    for (std::size_t i = 0; i < result_.ports.size() && good_; ++i) {
      if (result_.ports[i].tensors.empty()) {
        fail(*inputs, format_text("no node reads {}", in_quotes(result_.ports[i].name)));
      }
    }
    if (good_) {
      outputs->for_each_member("an object from names to nodes",
                               [&](std::string_view name, const Cursor& at) { read_output(name, at); });
    }
    if (good_ && (result_.nodes.empty() || result_.outputs.empty())) {
      fail(members_.at(), format_text("has no {}; expected one or more", result_.nodes.empty() ? "nodes" : "outputs"));
    }
    return good_;
  }

 private:
  using Kind = EdgeSource::Kind;

  static bool is_constant(const Cursor& at) {
    bool found = false;
    if (at.json().is(JsonKind::object)) {
      at.json().for_each_member([&](std::string_view name, Json value) {
        found = found || (name == "type" && value.is(JsonKind::string) && same_in_any_case(value.text(), "constant"));
      });
    }
    return found;
  }

  // Constants have values like resources.
  void read_constant(std::string_view name, const Cursor& at) {
    Members members(at, "an object with type and initialValues");
    (void)members.required("type");
    const bool clean = !at.problems().any_under(at.path());
    result_.constants.push_back(read_resource(members, name, folders_));
    good_ = good_ && clean && !at.problems().any_under(at.path());
  }

  void fail(const Cursor& at, std::string reason) {
    at.fail(std::move(reason));
    good_ = false;
  }

  void add_name(const Cursor& at, std::string_view name, const EdgeSource& source) {
    if (!names_.try_emplace(std::string(name), source).second) {
      fail(at, format_text("{} is already a name in this graph; expected another", in_quotes(name)));
    }
  }

  bool read_operator(std::string_view name, const Cursor& at) {
    NodeModel& node = result_.nodes.emplace_back();
    Members members(at, "an object with type, desc and inputs");
    const auto type = members.required("type");
    const facts::Operator* op = type ? read_operator_type(*type) : nullptr;
    (void)members.optional("inputs");  // these are read when all names are known
    if (op == nullptr) {
      return false;
    }
    auto read = read_node_desc(members, *op);
    members.finish();
    if (!read) {
      return false;
    }
    node = std::move(*read);
    node.name = name;
    return true;
  }

  // A source is a name, or an object with a name and the node's output index.
  std::optional<EdgeSource> read_source(const Cursor& at) {
    const auto find = [&](const Cursor& name_at) -> std::optional<EdgeSource> {
      const auto name = name_at.string("the name of an input of the graph or of a node");
      const auto found = name ? names_.find(std::string(*name)) : names_.end();
      if (name && found == names_.end()) {
        std::vector<std::string_view> known;
        for (const auto& [one, source] : names_) {
          known.push_back(one);
        }
        name_at.fail(format_text("{} is neither an input nor a node of this graph{}", in_quotes(*name),
                                 suggestion(*name, known)));
      }
      return found == names_.end() ? std::nullopt : std::optional(found->second);
    };
    std::optional<EdgeSource> source;
    if (at.json().is(JsonKind::object)) {
      Members members(at, "the name of a node");
      const auto name = members.required("name");
      source = name ? find(*name) : std::nullopt;
      if (const auto output = members.optional("output"); output && source) {
        source->output = static_cast<std::uint32_t>(output->unsigned_integer(0xFFFF).value_or(0));
      }
      members.finish();
    } else {
      source = find(at);
    }
    good_ = good_ && source.has_value();
    return source;
  }

  void read_node_inputs(const Cursor& at, NodeModel& node) {
    Members all(at, "an object with type, desc and inputs");
    const auto inputs_at = all.optional("inputs");
    std::optional<Members> inputs;
    if (inputs_at) {
      inputs.emplace(*inputs_at, "an object from tensors to their sources");
      if (!inputs->ok()) {
        good_ = false;
        return;
      }
    }
    for (std::size_t i = 0; i < node.op.fields.size(); ++i) {
      const facts::Field& field = node.op.facts->fields[i];
      if (!facts::is_input(field.kind)) {
        continue;
      }
      const auto* tensors = tensors_of(node.op.fields[i]);
      if (tensors == nullptr) {
        node.sources.emplace_back();
        continue;
      }
      const std::size_t first = node.sources.size();
      const auto source_at = inputs ? inputs->optional(field.name) : std::nullopt;
      const auto add = [&](const Cursor& one) { node.sources.push_back(read_source(one)); };
      if (!source_at) {
        fail(at, format_text("nothing feeds {}; expected its source in 'inputs'", field.name));
      } else if (source_at->json().is(JsonKind::array)) {
        source_at->for_each_item("an array of names", add);
      } else {
        add(*source_at);
      }
      if (source_at && node.sources.size() - first != tensors->size()) {
        fail(*source_at, format_text("names {} sources; expected {}", node.sources.size() - first, tensors->size()));
      }
      node.sources.resize(first + tensors->size());
      for (std::size_t k = 0; k < tensors->size(); ++k) {
        take_input(source_at ? *source_at : at, field.name, (*tensors)[k], node.sources[first + k]);
      }
    }
    if (inputs) {
      inputs->finish();
    }
  }

  // A graph input or a constant must be large enough for every tensor that reads it.
  void take_input(const Cursor& at, std::string_view field, const TensorValue& tensor,
                  const std::optional<EdgeSource>& source) {
    if (source && source->kind == Kind::constant) {
      const Resource& constant = result_.constants[source->index];
      if (constant.value_bytes < tensor.total_bytes) {
        fail(at, format_text("the constant {} has {} bytes; {} needs {}", in_quotes(constant.name),
                             constant.value_bytes, field, tensor.total_bytes));
      }
    } else if (source && source->kind == Kind::input) {
      auto& needs = result_.ports[source->index].tensors;
      needs.resize(1);
      const Port::Need need = need_of(tensor);
      needs[0] = {.bytes = std::max(needs[0].bytes, need.bytes), .owned = needs[0].owned || need.owned};
    }
  }

  void read_output(std::string_view name, const Cursor& at) {
    if (names_.contains(std::string(name)) && names_.at(std::string(name)).kind == Kind::input) {
      fail(at, format_text("{} is an input of the graph; expected another name", in_quotes(name)));
      return;
    }
    const auto source = read_source(at);
    if (!source) {
      return;
    }
    if (source->kind != Kind::node) {
      fail(at, source->kind == Kind::input ? "is an input of the graph; expected a node"
                                           : "is a constant; expected an operator");
      return;
    }
    std::uint32_t output = 0;
    const NodeModel& node = result_.nodes[source->index];
    for (std::size_t i = 0; i < node.op.fields.size(); ++i) {
      if (facts::is_output(node.op.facts->fields[i].kind)) {
        const auto* tensors = tensors_of(node.op.fields[i]);
        const auto count = static_cast<std::uint32_t>(tensors == nullptr ? 1 : tensors->size());
        if (tensors != nullptr && source->output - output < count) {
          result_.outputs.push_back(*source);
          result_.ports.push_back({.name = std::string(name),
                                   .is_output = true,
                                   .tensors = {need_of((*tensors)[source->output - output])}});
          return;
        }
        output += count;
      }
    }
    fail(at, format_text("output {} of {} does not exist; expected less than {}", source->output, in_quotes(node.name),
                         output));
  }

  Members& members_;
  Dispatchable& result_;
  const Folders& folders_;
  std::map<std::string, EdgeSource> names_;
  bool good_ = true;
};

}  // namespace

std::optional<NodeModel> read_node_desc(Members& members, const facts::Operator& op) {
  NodeModel node;
  if (const auto desc = either(members, "Desc", "desc")) {
    node.desc_path = desc->path();
    Members fields(*desc, "an object with the operator's fields");
    if (!fields.ok()) {
      return std::nullopt;
    }
    node.op = read_operator_fields(fields, op);
    fields.finish();
  } else {
    node.desc_path = members.at().path();
    node.op = read_operator_fields(members, op);
  }
  return node;
}

void add_ports(Dispatchable& dispatchable) {
  const OperatorModel& op = dispatchable.nodes.front().op;
  for (std::size_t i = 0; i < op.facts->fields.size(); ++i) {
    const facts::Field& field = op.facts->fields[i];
    if (facts::is_attribute(field.kind)) {
      continue;
    }
    Port& port = dispatchable.ports.emplace_back();
    port.name = field.name;
    port.is_output = facts::is_output(field.kind);
    if (const auto* tensors = tensors_of(op.fields[i])) {
      std::ranges::transform(*tensors, std::back_inserter(port.tensors), need_of);
    }
  }
}

void make_graph(Dispatchable& dispatchable) {
  if (dispatchable.is_graph || dispatchable.nodes.empty()) {
    return;
  }
  dispatchable.is_graph = true;
  std::size_t input = 0;
  std::uint32_t output = 0;
  for (const Port& port : dispatchable.ports) {
    for (std::size_t i = 0; i < std::max<std::size_t>(port.tensors.size(), 1); ++i) {
      if (!port.is_output) {
        auto& source = dispatchable.nodes.front().sources.emplace_back();
        if (!port.tensors.empty()) {
          source = EdgeSource{.kind = EdgeSource::Kind::input, .index = input++};
        }
      } else if (!port.tensors.empty()) {
        dispatchable.outputs.push_back({.kind = EdgeSource::Kind::node, .index = 0, .output = output++});
      } else {
        ++output;
      }
    }
  }
  std::erase_if(dispatchable.ports, [](const Port& port) { return port.tensors.empty(); });
}

void read_graph(Members& members, Dispatchable& dispatchable, const Folders& folders) {
  if (!GraphReader(members, dispatchable, folders).read()) {
    dispatchable.constants.clear();
    dispatchable.nodes.clear();
    dispatchable.outputs.clear();
    dispatchable.ports.clear();
  }
}

}  // namespace anydml::dmlrun
