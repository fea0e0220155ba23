// SPDX-License-Identifier: MIT
#include "model_reader.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <span>

#include "base/ascii.h"
#include "base/checked.h"
#include "described.h"
#include "echo.h"
#include "element_reader.h"
#include "graph_reader.h"
#include "npy.h"
#include "operator_reader.h"
#include "ops/operators.h"
#include "resource_reader.h"
#include "schema/check.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

// The names that a model defines.
class Names {
 public:
  // A repeated name was already reported, and refers to the first definition.
  void add(std::string_view name, std::size_t index) { indices_.try_emplace(std::string(name), index); }

  // Returns the index that a name refers to. Reports an unknown name, with a suggestion.
  std::optional<std::size_t> find(const Cursor& at, std::string_view what) const {
    const auto name = at.string(format_text("the name of a {}", what));
    if (!name) {
      return std::nullopt;
    }
    const auto found = indices_.find(std::string(*name));
    if (found != indices_.end()) {
      return found->second;
    }
    if (!at.problems().full()) {  // finding a suggestion compares every name
      std::vector<std::string_view> names;
      for (const auto& [known, index] : indices_) {
        names.push_back(known);
      }
      at.fail(format_text("{} is not a {} of this model{}", in_quotes(*name), what, suggestion(*name, names)));
    }
    return std::nullopt;
  }

 private:
  std::map<std::string, std::size_t> indices_;
};

class ModelReader {
 public:
  ModelReader(const ReadOptions& options, Model& model) : options_(options), model_(model) {}

  void read(const Cursor& root) {
    Members members(root, "an object with resources, dispatchables and commands");
    (void)members.optional("$schema");
    const auto resources = members.required("resources");
    const auto dispatchables = members.required("dispatchables");
    const auto commands = members.required("commands");
    if (resources) {
      resources->for_each_member("an object of buffers",
                                 [&](std::string_view name, const Cursor& at) { add_resource(at, name); });
    }
    if (dispatchables) {
      dispatchables->for_each_member("an object of operators",
                                     [&](std::string_view name, const Cursor& at) { add_dispatchable(at, name); });
    }
    if (commands) {
      commands->for_each_item("an array of commands", [&](const Cursor& at) { add_command(at); });
    }
    members.finish();
  }

 private:
  void add_resource(const Cursor& at, std::string_view name) {
    Resource resource = read_resource(at, name, options_.folders);
    const auto* list = std::get_if<std::vector<std::byte>>(&resource.values);
    if (!take(at, MemoryBudget::For::buffers, MemoryBudget::of_buffer(resource.bytes)) ||
        !take(at, MemoryBudget::For::values, list == nullptr ? 0 : list->size()) ||
        !take(at, MemoryBudget::For::model, MemoryBudget::kPerResource)) {
      resource.bytes = 0;  // the resource counts as unreadable, and nothing is bound to it
    }
    resources_.add(name, model_.resources.size());
    model_.resources.push_back(std::move(resource));
  }

  bool take(const Cursor& at, MemoryBudget::For what, std::uint64_t bytes) {
    return model_.memory.take(what, bytes, [&](std::string sentence) { at.fail(std::move(sentence)); });
  }

  void add_dispatchable(const Cursor& at, std::string_view name) {
    (void)take(at, MemoryBudget::For::model, MemoryBudget::kPerDispatchable);
    Dispatchable& dispatchable = model_.dispatchables.emplace_back();
    dispatchable.name = name;
    dispatchable.path = at.path();
    dispatchables_.add(name, model_.dispatchables.size() - 1);
    Members members(at, "an object with type");
    const auto type_at = members.required("type");
    const auto type = type_at ? type_at->string("the name of an operator, or graph") : std::nullopt;
    if (!type) {
      return;
    }
    for (const auto& [kind, needs] : {std::pair{"hlsl", "a shader compiler"}, std::pair{"onnx", "ONNX Runtime"},
                                      std::pair{"dmlSerializedGraph", "a reader of serialized graphs"}}) {
      if (same_in_any_case(*type, kind)) {
        type_at->fail(
            format_text("is {}, which needs {}; that is not supported, expected an operator or a graph", kind, needs));
        return;
      }
    }
    if (same_in_any_case(*type, "graph")) {
      read_graph(members, dispatchable, options_.folders);
      for (const Resource& constant : dispatchable.constants) {
        (void)take(at, MemoryBudget::For::values, constant.value_bytes);  // these bytes are passed to CompileGraph
      }
    } else if (const facts::Operator* op = read_operator_type(*type_at); op == nullptr) {
      return;
    } else if (auto node = read_node_desc(members, *op)) {
      dispatchable.nodes.push_back(std::move(*node));
      add_ports(dispatchable);
    }
    if (const auto flags = members.optional("executionFlags")) {
      dispatchable.execution_flags = read_flags(*flags, "DML_EXECUTION_FLAGS");
    }
    if (const auto compile = members.optional("dmlCompileType")) {
      const auto how = compile->string("DmlCompileOp or DmlCompileGraph");
      if (how && same_in_any_case(*how, "DmlCompileGraph")) {
        make_graph(dispatchable);
      } else if (how && (!same_in_any_case(*how, "DmlCompileOp") || dispatchable.is_graph)) {
        compile->fail(format_text("{} is not a way to compile {}; expected DmlCompileGraph{}", in_quotes(*how),
                                  dispatchable.is_graph ? "a graph" : "an operator",
                                  dispatchable.is_graph ? "" : " or DmlCompileOp"));
      }
    }
    const auto bindings = members.optional("bindings");
    if (!dispatchable.nodes.empty()) {
      read_bindings(bindings ? *bindings : at, bindings.has_value(), dispatchable, true, dispatchable.initial_bindings);
    }
    members.finish();
  }

  // Reads a binding's buffer and the tensor's offset in the buffer.
  std::optional<BindingSource> read_source(const Cursor& at) {
    BindingSource source;
    std::optional<std::size_t> resource;
    if (at.json().is(JsonKind::object)) {
      Members members(at, "the name of a resource");
      const auto name = members.required("name");
      resource = name ? resources_.find(*name, "resource") : std::nullopt;
      std::uint64_t element = resource ? element_size(model_.resources[*resource].type) : 0;
      (void)members.optional("elementStride");  // the name that DxDispatch's guide uses for the next member
      if (const auto size = members.optional("elementSizeInBytes")) {
        const auto given = size->unsigned_integer();
        element = given && *given != 0 ? *given : element;
      }
      if (const auto offset_at = members.optional("elementOffset")) {
        const std::uint64_t offset = offset_at->unsigned_integer().value_or(0);
        if (resource && offset != 0 && element == 0) {
          offset_at->fail("is given for a buffer of mixed types; expected elementSizeInBytes too");
        }
        const auto bytes = checked_multiply_bytes(offset, element);
        if (!bytes) {
          offset_at->fail(format_text("is {}; expected an offset within the buffer", offset));
        }
        source.offset_bytes = bytes.value_or(0);
      }
      // These members are for shader views and have no meaning for an operator.
      for (const std::string_view name_of_other :
           {"elementCount", "format", "counter", "counterOffsetBytes", "shape"}) {
        (void)members.optional(name_of_other);
      }
      members.finish();
    } else {
      resource = resources_.find(at, "resource");
    }
    if (!resource) {
      return std::nullopt;
    }
    source.resource = resource;
    return source;
  }

  // Checks that the buffer is large enough for the tensor.
  void check_fit(const Cursor& at, const BindingSource& source, const Port::Need& tensor, std::string_view field) {
    const Resource& resource = model_.resources[*source.resource];
    if (resource.bytes == 0) {
      return;  // the resource could not be read
    }
    if (source.offset_bytes >= resource.bytes || resource.bytes - source.offset_bytes < tensor.bytes) {
      at.fail(format_text(
          "{} has {} bytes{}; {} needs {}", in_quotes(resource.name), resource.bytes,
          source.offset_bytes == 0 ? std::string() : format_text(", and the binding starts at {}", source.offset_bytes),
          echo(field, field.size()), tensor.bytes));
    }
  }

  // Reads one source for each tensor of a field. OWNED_BY_DML tensors are bound at initialization, and all other
  // tensors in commands.
  std::vector<BindingSource> read_sources(const Cursor& at, const std::vector<Port::Need>& tensors, bool initial,
                                          std::string_view field) {
    std::vector<BindingSource> sources;
    const auto add = [&](const Cursor& source_at) {
      const std::size_t position = sources.size();
      BindingSource& source = sources.emplace_back();
      if (position >= tensors.size() || tensors[position].owned != initial) {
        return;  // this is reported below, or the tensor is bound elsewhere
      }
      if (const auto read = read_source(source_at)) {
        source = *read;
        check_fit(source_at, source, tensors[position], field);
      }
    };
    if (at.json().is(JsonKind::array)) {
      at.for_each_item("an array of resources", add);
    } else {
      add(at);
    }
    if (sources.size() != tensors.size()) {
      at.fail(format_text("binds {} resources; expected {}", sources.size(), tensors.size()));
      sources.resize(tensors.size());
    }
    return sources;
  }

  // `at` is the bindings object or, if it is missing, the object that should contain it.
  void read_bindings(const Cursor& at, bool given, const Dispatchable& dispatchable, bool initial,
                     std::vector<Binding>& bindings) {
    std::optional<Members> members;
    if (given) {
      members.emplace(at, "an object of bindings");
      if (!members->ok()) {
        return;
      }
    }
    for (std::size_t i = 0; i < dispatchable.ports.size(); ++i) {
      const Port& port = dispatchable.ports[i];
      const bool wanted =
          std::ranges::any_of(port.tensors, [&](const Port::Need& tensor) { return tensor.owned == initial; });
      if (port.tensors.empty()) {
        continue;
      }
      const auto binding_at =
          members && (wanted || members->has(port.name)) ? members->optional(port.name) : std::nullopt;
      if (wanted && binding_at) {
        bindings.push_back({i, read_sources(*binding_at, port.tensors, initial, port.name)});
      } else if (wanted) {
        at.fail(format_text("{} is not bound; expected the name of a resource{}", echo(port.name, port.name.size()),
                            initial ? " in 'bindings', since it is OWNED_BY_DML" : ""));
      } else if (binding_at) {
        binding_at->fail(initial ? "is not OWNED_BY_DML; expected its binding in the command's bindings"
                                 : "is OWNED_BY_DML; expected its binding in the dispatchable's bindings, not in the "
                                   "command's");
      }
    }
    if (members) {
      members->finish();
    }
  }

  void add_command(const Cursor& at) {
    (void)take(at, MemoryBudget::For::model, MemoryBudget::kPerCommand);
    Members members(at, "an object with type");
    const auto type_at = members.required("type");
    const auto type = type_at ? type_at->string("dispatch, print, writeFile or compare") : std::nullopt;
    if (!type) {
      return;
    }
    Command command;
    command.path = at.path();
    if (same_in_any_case(*type, "dispatch")) {
      const auto dispatch = read_dispatch(members);
      members.finish();
      if (dispatch) {
        command.what = *dispatch;
        model_.commands.push_back(std::move(command));
      }
      return;
    } else if (same_in_any_case(*type, "print")) {
      command.what = read_print(members);
    } else if (same_in_any_case(*type, "writeFile")) {
      command.what = read_write_file(members);
    } else if (same_in_any_case(*type, "compare")) {
      command.what = read_compare(members);
    } else {
      constexpr std::string_view kCommands[] = {"dispatch", "print", "writeFile", "compare"};
      type_at->fail(format_text("{} is not a command{}", in_quotes(*type), suggestion(*type, kCommands)));
      return;
    }
    members.finish();
    model_.commands.push_back(std::move(command));
  }

  // Returns nothing if the dispatchable does not exist.
  std::optional<DispatchCommand> read_dispatch(Members& members) {
    DispatchCommand command;
    (void)members.optional("threadGroupCount");  // this member is for shaders
    const auto name = members.required("dispatchable");
    const auto bindings = members.required("bindings");
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    const std::size_t found = name ? dispatchables_.find(*name, "dispatchable").value_or(kNone) : kNone;
    if (found == kNone) {
      return std::nullopt;
    }
    command.dispatchable = found;
    const Dispatchable& dispatchable = model_.dispatchables[found];
    if (bindings && !dispatchable.nodes.empty()) {
      read_bindings(*bindings, true, dispatchable, false, command.bindings);
    }
    return command;
  }

  PrintCommand read_print(Members& members) {
    PrintCommand command;
    if (const auto resource = members.required("resource")) {
      command.resource = resources_.find(*resource, "resource").value_or(0);
    }
    if (const auto verbose = members.optional("verbose")) {
      command.verbose = verbose->boolean().value_or(false);
    }
    return command;
  }

  WriteFileCommand read_write_file(Members& members) {
    WriteFileCommand command;
    std::optional<std::size_t> resource;
    if (const auto at = members.required("resource")) {
      resource = resources_.find(*at, "resource");
      command.resource = resource.value_or(0);
    }
    if (const auto at = members.required("targetPath")) {
      if (const auto target = at->string("the path of a file")) {
        const auto path = find_output(options_.folders, *target);
        if (has_image_extension(*target)) {
          at->fail(
              format_text("{} is an image, which is not supported; expected .npy or raw bytes", in_quotes(*target)));
        } else if (!path) {
          at->fail(path.error().message);
        } else {
          command.path = path.value();
          command.target = *target;
        }
      }
    }
    if (const auto at = members.optional("dimensions")) {
      auto product = std::optional(std::uint64_t{1});
      at->for_each_item("an array of sizes", [&](const Cursor& item) {
        command.dimensions.push_back(item.unsigned_integer().value_or(0));
        product = product ? checked_multiply_bytes(*product, command.dimensions.back()) : product;
      });
      if (command.dimensions.size() > kMaxNpyDimensions) {
        at->fail(format_text("has {} sizes; expected {} at most", command.dimensions.size(), kMaxNpyDimensions));
      } else if (resource && !command.dimensions.empty() && product != model_.resources[*resource].shown_elements()) {
        at->fail(format_text("do not describe {} elements, which {} has", model_.resources[*resource].shown_elements(),
                             in_quotes(model_.resources[*resource].name)));
      }
    }
    return command;
  }

  CompareCommand read_compare(Members& members) {
    CompareCommand command;
    const auto find = [&](std::string_view member) {
      const auto at = members.required(member);
      return at ? resources_.find(*at, "resource") : std::nullopt;
    };
    const auto resource = find("resource");
    const auto expected = find("expected");
    command.resource = resource.value_or(0);
    command.expected = expected.value_or(0);
    const auto number = [&](std::string_view member) -> std::optional<double> {
      const auto at = members.optional(member);
      const auto element = at ? read_element(*at, DataType::FLOAT64) : std::nullopt;
      if (!element) {
        return std::nullopt;
      }
      const double value = std::bit_cast<double>(*element);
      if (!(value >= 0) || value > std::numeric_limits<double>::max()) {
        at->fail(format_text("is {}; expected 0 or more", value));
      }
      return value;
    };
    command.tolerance.absolute = number("atol");
    command.tolerance.relative = number("rtol");
    if (const auto at = members.optional("ulp")) {
      command.tolerance.ulps = at->unsigned_integer();
    }
    if (resource && expected) {
      if (const auto reason = why_not_compared(model_.resources[*resource], model_.resources[*expected])) {
        members.at().fail(*reason);
      }
    }
    return command;
  }

  const ReadOptions& options_;
  Model& model_;
  Names resources_;
  Names dispatchables_;
};

}  // namespace

std::optional<std::string> why_not_compared(const Resource& resource, const Resource& expected) {
  if (resource.bytes == 0 || expected.bytes == 0) {
    return std::nullopt;  // one of them could not be read
  }
  if (resource.shown_type() == expected.shown_type() && resource.value_bytes == expected.value_bytes) {
    return std::nullopt;
  }
  const auto text = [](const Resource& of) {
    return format_text("{} elements of {}", of.shown_elements(), type_name(of.shown_type()));
  };
  return format_text("{} has {}; {} has {}", in_quotes(resource.name), text(resource), in_quotes(expected.name),
                     text(expected));
}

Model read_model(const JsonDocument& document, const ReadOptions& options, Problems& problems) {
  Model model;
  model.memory = MemoryBudget(options.max_memory);
  ModelReader(options, model).read(Cursor(document.root(), problems));
  return model;
}

namespace {

void check_node(const NodeModel& node, facts::FeatureLevel level, Problems& problems) {
  const OperatorModel& op = node.op;
  const auto path_of = [&](std::string_view location) { return node.desc_path + "." + std::string(location); };
  const schema::Described described =
      describe(op, [&](const facts::Field& field) { return problems.any_under(path_of(field.name)); });
  auto violations = schema::check_operator(described, level);
  std::erase_if(violations, [&](const schema::Violation& violation) {
    const schema::Location tensor{.field = violation.location.field, .index = violation.location.index};
    // Errors were already reported for members that could not be read.
    return tensor.field != schema::kNone && problems.any_under(path_of(schema::location_name(*op.facts, tensor)));
  });
  for (const schema::Violation& violation : violations) {
    const std::string location = schema::location_name(*op.facts, violation.location);
    problems.add(location.empty() ? node.desc_path : path_of(location),
                 location.empty() ? format_text("{} {}", op.facts->name, violation.reason) : violation.reason);
  }
}

}  // namespace

void check_level(const Model& model, facts::FeatureLevel level, Problems& problems) {
  for (const Dispatchable& dispatchable : model.dispatchables) {
    if (dispatchable.is_graph && level < facts::FeatureLevel::v2_1) {
      problems.add(dispatchable.path, "is a graph; expected an operator, since graphs came with feature level 2_1");
    }
    if (!dispatchable.constants.empty() && level < facts::FeatureLevel::v6_2) {
      problems.add(dispatchable.path, "has constants; expected inputs instead, since constants came with level 6_2");
    }
    for (const NodeModel& node : dispatchable.nodes) {
      check_node(node, level, problems);
    }
  }
}

std::vector<Problem> find_not_built(const Model& model) {
  std::vector<Problem> found;
  for (const Dispatchable& dispatchable : model.dispatchables) {
    for (const NodeModel& node : dispatchable.nodes) {
      if (find_family(*node.op.facts) == nullptr) {
        found.push_back(
            {node.desc_path, format_text("{} is an operator of DirectML that is not built here yet; dmlrun operators "
                                         "--built lists the available ones",
                                         node.op.facts->name)});
      }
    }
  }
  return found;
}

}  // namespace anydml::dmlrun
