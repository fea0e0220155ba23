// SPDX-License-Identifier: MIT
#include "operator_model.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>

#include "base/ascii.h"
#include "cursor.h"
#include "described.h"
#include "echo.h"
#include "json_writer.h"
#include "npy.h"
#include "operator_reader.h"
#include "schema/infer.h"
#include "tensor_words.h"
#include "text/format.h"
#include "value_words.h"

namespace anydml::dmlrun {
namespace {

constexpr std::uint64_t kMaxPrinted = 4096;  // the maximum number of elements of an output

struct Example {
  std::string_view name;
  std::string_view desc;
};
constexpr Example kExamples[] = {
#define DMLRUN_SKELETON(name, desc) {#name, desc},
#include "skeletons.def"
#undef DMLRUN_SKELETON
};

std::string json_string(std::string_view text) { return JsonWriter().text(text).kept(); }

// Joins the lines from a pretty writer. Strings contain no line breaks.
std::string on_one_line(const std::string& text) {
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n') {
      line += text[i];
      continue;
    }
    line += ' ';
    i = std::min(text.find_first_not_of(' ', i + 1), text.size()) - 1;
  }
  return line;
}

// Converts a JSON value to its command-line form: SUM for "SUM", and 1,2 for [1, 2].
std::string short_form(std::string json) {
  if (json.size() > 2 && (json.front() == '"' || (json.front() == '[' && json[1] != '{' && json[1] != '"'))) {
    json = json.substr(1, json.size() - 2);
    std::erase(json, ' ');
  }
  return json;
}

std::string shell_word(const std::string& text) {
  return text.find_first_of(" \"[]{}") == std::string::npos ? text : "'" + text + "'";
}

// Converts to upper case and removes underscores, so that start_padding matches StartPadding.
std::string plain_name(std::string_view name) {
  std::string plain = to_upper(name);
  std::erase(plain, '_');
  return plain;
}

// Returns the name of a field's resource in models.
std::string resource_name(std::string_view field) {
  for (const std::string_view suffix : {"s", "Tensor"}) {
    if (field.ends_with(suffix) && field.size() > suffix.size()) {
      field.remove_suffix(suffix.size());
    }
  }
  return std::string(field);
}

class Builder {
 public:
  Builder(const facts::Operator& op, const OperatorRequest& request)
      : op_(op), request_(request), tensors_(op.fields.size()), attributes_(op.fields.size()) {}

  Result<OperatorText> build() {
    const bool has_inputs =
        std::ranges::any_of(op_.fields, [](const facts::Field& field) { return facts::is_input(field.kind); });
    const bool as_example = request_.inputs.empty() && (has_inputs || request_.results.empty());
    read_example(as_example);
    for (const std::string& text : request_.inputs) {
      ANYDML_TRY(add_input(text));
    }
    for (const std::string& text : request_.attributes) {
      ANYDML_TRY(add_attribute(text));
    }
    for (const std::string& text : request_.results) {
      ANYDML_TRY(add_result(text));
    }
    ANYDML_TRY(check_presence());
    ANYDML_TRY(broadcast());
    ANYDML_TRY(infer());
    return write();
  }

 private:
  template <class Is>
  [[nodiscard]] std::optional<std::size_t> find_field(std::string_view name, Is is) const {
    const std::string plain = plain_name(name);
    for (std::size_t i = 0; i < op_.fields.size(); ++i) {
      const std::string field = plain_name(op_.fields[i].name);
      if (is(op_.fields[i].kind) &&
          (field == plain || field == plain + "TENSOR" || field == plain + "TENSORS" || field == plain + "S")) {
        return i;
      }
    }
    return std::nullopt;
  }

  template <class Is>
  [[nodiscard]] std::string names_of(std::string_view written, Is is) const {
    std::vector<std::string_view> names;
    std::string list;
    for (std::size_t i = 0; i < op_.fields.size(); ++i) {
      if (is(op_.fields[i].kind) && !facts::is_count(op_, i)) {
        names.push_back(op_.fields[i].name);
        list += format_text("{}{}", list.empty() ? "; expected one of " : ", ", op_.fields[i].name);
      }
    }
    const std::string meant = suggestion(written, names);
    return !meant.empty() ? meant : list.empty() ? "; it has none" : list;
  }

  // Reads the example's attributes, which messages suggest for missing attributes. If `with_tensors` is true, the
  // example is the whole model.
  void read_example(bool with_tensors) {
    const auto found = std::ranges::find(kExamples, op_.name, &Example::name);
    const auto document = found == std::end(kExamples) ? Result<JsonDocument>(invalid("there is no example"))
                                                       : JsonDocument::parse(std::string(found->desc));
    if (!document) {
      return;
    }
    document.value().root().for_each_member([&](std::string_view name, Json value) {
      const auto field = std::ranges::find(op_.fields, name, &facts::Field::name);
      if (field == op_.fields.end()) {
        return;
      }
      const auto index = static_cast<std::size_t>(field - op_.fields.begin());
      if (facts::is_attribute(field->kind)) {
        example_.emplace(index, json_text(value));
        if (with_tensors) {
          attributes_[index] = example_.at(index);
        }
        return;
      }
      const auto add = [&](Json text) {
        if (auto tensor = parse_tensor(text.text()); with_tensors && tensor) {
          tensors_[index].push_back(std::move(tensor.value()));
        }
      };
      value.is(JsonKind::array) ? value.for_each_item(add) : add(value);
    });
  }

  static std::string json_text(Json value) {
    std::string text;
    switch (value.kind()) {
      case JsonKind::string:
        return json_string(value.text());
      case JsonKind::array:
        value.for_each_item([&](Json item) { text += (text.empty() ? "" : ", ") + json_text(item); });
        return "[" + text + "]";
      case JsonKind::object:
        value.for_each_member([&](std::string_view name, Json member) {
          text += (text.empty() ? "" : ", ") + json_string(name) + ": " + json_text(member);
        });
        return "{ " + text + " }";
      case JsonKind::null:
        return "null";
      default:
        return std::string(value.text());
    }
  }

  Status add_input(const std::string& text) {
    std::string_view rest = text;
    std::optional<std::size_t> field;
    if (const auto named = split_name(text)) {
      field = find_field(named->name, facts::is_input);
      if (!field && named->name.find_first_of("./:") == std::string::npos) {
        return invalid(format_text("--input {} is not an input of {}{}", in_quotes(named->name), op_.name,
                                   names_of(named->name, facts::is_input)));
      }
      rest.remove_prefix(field ? named->name.size() + 1 : 0);
    }
    for (std::size_t i = 0; !field && i < op_.fields.size(); ++i) {
      const facts::FieldKind kind = op_.fields[i].kind;
      if (facts::is_input(kind) && (tensors_[i].empty() || facts::is_array(kind))) {
        field = i;
      }
    }
    if (!field || (!tensors_[*field].empty() && !facts::is_array(op_.fields[*field].kind))) {
      return invalid(field ? format_text("--input {} is given more than once", op_.fields[*field].name)
                           : format_text("--input {} is one too many for {}", in_quotes(text), op_.name));
    }
    auto tensor = has_npy_extension(rest) && rest.find(':') == std::string_view::npos
                      ? read_npy_tensor(std::string(rest))
                      : parse_tensor(rest);
    if (!tensor) {
      return invalid(format_text("--input {}: {}", op_.fields[*field].name, tensor.error().message));
    }
    if (tensor.value().values.empty()) {
      tensor.value().values = "random";
    }
    tensors_[*field].push_back(std::move(tensor.value()));
    return {};
  }

  Status add_attribute(const std::string& text) {
    const auto named = split_name(text);
    if (!named) {
      return invalid(format_text("--attribute is {}; expected a name, = and a value", in_quotes(text)));
    }
    const auto field = find_field(named->name, facts::is_attribute);
    if (!field) {
      return invalid(format_text("--attribute {} is not an attribute of {}{}", in_quotes(named->name), op_.name,
                                 names_of(named->name, facts::is_attribute)));
    }
    attributes_[*field] = attribute_json(op_.fields[*field], named->text);
    if (const auto parsed = JsonDocument::parse(attributes_[*field]); !parsed) {
      return invalid(format_text("--attribute {} is {}; expected a value as in models, or numbers such as 1,2",
                                 op_.fields[*field].name, in_quotes(named->text)));
    }
    return {};
  }

  // Accepts JSON unchanged, and shorter forms: 1,2 for an array or a pair, a name for an enumerator or an activation.
  static std::string attribute_json(const facts::Field& field, const std::string& text) {
    using Type = facts::FieldType;
    const bool is_list = text.find_first_not_of("0123456789+-.eE,") == std::string::npos;
    const std::size_t comma = text.find(',');
    if ((field.type == Type::scale_bias || field.type == Type::size_2d) && is_list && comma != std::string::npos) {
      const bool is_size = field.type == Type::size_2d;
      return format_text("{{ \"{}\": {}, \"{}\": {} }}", is_size ? "Width" : "Scale", text.substr(0, comma),
                         is_size ? "Height" : "Bias", text.substr(comma + 1));
    }
    if ((field.type == Type::reals || field.type == Type::naturals || field.type == Type::integers) && is_list) {
      return "[" + text + "]";
    }
    if (field.type == Type::operators) {
      if (const facts::Operator* inner = find_operator_by_part(text)) {
        const std::string one = format_text("{{ \"Type\": {} }}", json_string(inner->name));
        return field.count_field >= 0 ? "[" + one + "]" : one;
      }
    }
    const auto parsed = JsonDocument::parse(text);
    if (parsed && text.find("//") == std::string::npos && text.find("/*") == std::string::npos) {
      return json_text(parsed.value().root());
    }
    return json_string(field.type == Type::enumeration ? to_upper(text) : text);
  }

  Status add_result(const std::string& text) {
    const auto named = split_name(text);
    const std::string_view name = named ? std::string_view(named->name) : std::string_view(text);
    auto field = find_field(name, facts::is_output);
    if (field && !named) {
      asked_.push_back(*field);
      return {};
    }
    if (named && !field) {
      return invalid(format_text("--result {} is not an output of {}{}", in_quotes(name), op_.name,
                                 names_of(name, facts::is_output)));
    }
    for (std::size_t i = 0; !field && i < op_.fields.size(); ++i) {
      const facts::FieldKind kind = op_.fields[i].kind;
      if (facts::is_output(kind) && (tensors_[i].empty() || facts::is_array(kind))) {
        field = i;
      }
    }
    auto tensor = parse_tensor(named ? std::string_view(named->text) : std::string_view(text));
    if (!tensor || !field) {
      return invalid(field ? format_text("--result {}: {}", op_.fields[*field].name, tensor.error().message)
                           : format_text("--result {} is one too many for {}", in_quotes(text), op_.name));
    }
    tensors_[*field].push_back(std::move(tensor.value()));
    return {};
  }

  Status check_presence() {
    std::string missing;
    for (std::size_t i = 0; i < op_.fields.size(); ++i) {
      const facts::Field& field = op_.fields[i];
      if (field.kind == facts::FieldKind::input && tensors_[i].empty()) {
        return invalid(
            format_text("{} needs {}; expected --input {}=FILE.npy, or a type and sizes such as "
                        "--input {}=float32:2x3",
                        op_.name, field.name, field.name, field.name));
      }
      if (field.kind == facts::FieldKind::attribute && attributes_[i].empty() && !facts::is_count(op_, i)) {
        const auto example = example_.find(i);
        missing +=
            format_text(" --attribute {}",
                        shell_word(format_text("{}={}", field.name,
                                               example == example_.end() ? "..." : short_form(example->second))));
      }
    }
    if (!missing.empty()) {
      return invalid(format_text("{} needs more attributes, for example{}", op_.name, missing));
    }
    return {};
  }

  // Inputs whose sizes must be equal are broadcast according to NumPy's rules: strides of 0 repeat elements.
  Status broadcast() {
    for (const facts::SameGroup& group : op_.same) {
      std::vector<DescribedTensor*> members;
      for (std::size_t i = 0; group.what == facts::Same::sizes && i < op_.fields.size(); ++i) {
        if ((group.fields >> i & 1) != 0 && facts::is_input(op_.fields[i].kind)) {
          for (DescribedTensor& tensor : tensors_[i]) {
            members.push_back(&tensor);
          }
        }
      }
      std::vector<std::uint32_t> common;
      for (const DescribedTensor* tensor : members) {
        common.insert(common.begin(), tensor->sizes.size() - std::min(tensor->sizes.size(), common.size()), 1);
        for (std::size_t i = 0; i < tensor->sizes.size(); ++i) {
          std::uint32_t& size = common[common.size() - 1 - i];
          const std::uint32_t own = tensor->sizes[tensor->sizes.size() - 1 - i];
          if (size != own && size != 1 && own != 1) {
            return invalid(format_text("sizes {} do not broadcast to {}: {} is neither {} nor 1",
                                       sizes_text(tensor->sizes), sizes_text(common), own, size));
          }
          size = std::max(size, own);
        }
      }
      for (DescribedTensor* tensor : members) {
        stretch(*tensor, common);
      }
    }
    return {};
  }

  static void stretch(DescribedTensor& tensor, const std::vector<std::uint32_t>& sizes) {
    if (tensor.sizes == sizes || !tensor.strides.empty()) {
      return;
    }
    tensor.strides.assign(sizes.size(), 0);
    std::uint64_t step = 1;
    for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
      const std::uint32_t own = tensor.sizes[tensor.sizes.size() - 1 - i];
      if (own != 1 && step > std::numeric_limits<std::uint32_t>::max()) {
        tensor.strides.clear();  // DirectML's strides are 32-bit. The sizes remain unequal and are rejected later.
        return;
      }
      tensor.strides[sizes.size() - 1 - i] = own == 1 ? 0 : static_cast<std::uint32_t>(step);
      step = step > std::numeric_limits<std::uint32_t>::max() ? step : step * own;
    }
    tensor.sizes = sizes;
  }

  Status infer() {
    const auto document = JsonDocument::parse("{" + desc_text(0) + "}");
    ANYDML_TRY(document);
    Problems problems;
    const Cursor root(document.value().root(), problems);
    Members members(root, "an object");
    const OperatorModel model = read_operator_fields(members, op_);
    if (!problems.none()) {
      const Problem& first = problems.list().front();
      return invalid(format_text("{}: {}{}{}", op_.name, first.path, first.path.empty() ? "" : ": ", first.reason));
    }
    schema::Described described = describe(model, [](const facts::Field&) { return false; });
    if (asked_.empty() && !std::ranges::any_of(op_.fields, [&](const facts::Field& field) {
          return facts::is_output(field.kind) &&
                 (field.kind == facts::FieldKind::output ||
                  !tensors_[static_cast<std::size_t>(&field - op_.fields.data())].empty());
        })) {
      const auto first = std::ranges::find(op_.fields, facts::FieldKind::optional_output, &facts::Field::kind);
      if (first != op_.fields.end()) {
        asked_.push_back(static_cast<std::size_t>(first - op_.fields.begin()));
      }
    }
    for (const std::size_t field : asked_) {
      if (described.arguments[field].tensors.empty()) {
        described.arguments[field].tensors.push_back(schema::unknown_tensor());
      }
    }
    const auto inferred = schema::infer_outputs(std::move(described), facts::kNewestLevel);
    if (!inferred.faults.empty() || !inferred.unknown.empty()) {
      const bool is_fault = !inferred.faults.empty();
      const schema::Violation& violation = is_fault ? inferred.faults.front() : inferred.unknown.front();
      return invalid(format_text(
          "{}: {} {}{}", op_.name, schema::location_name(op_, violation.location), violation.reason,
          is_fault
              ? std::string()
              : format_text("; specify it with --result {}=TYPE:SIZES", op_.fields[violation.location.field].name)));
    }
    for (std::size_t i = 0; i < op_.fields.size(); ++i) {
      const auto& found = inferred.described.arguments[i].tensors;
      if (!facts::is_output(op_.fields[i].kind) || !tensors_[i].empty()) {
        continue;
      }
      for (const schema::GivenTensor& given : found) {
        DescribedTensor tensor;
        tensor.type = given.type;
        for (std::uint32_t k = 0; k < given.rank; ++k) {
          if (given.sizes[k] < 1 || given.sizes[k] > 0xffff'ffff) {
            return invalid(
                format_text("{} would have a size of {}; expected 1 or more", op_.fields[i].name, given.sizes[k]));
          }
          tensor.sizes.push_back(static_cast<std::uint32_t>(given.sizes[k]));
        }
        const auto elements = element_count(tensor.sizes);
        if (!elements) {
          return invalid(format_text("{} would have more elements than fit in memory", op_.fields[i].name));
        }
        tensor.elements = *elements;
        tensors_[i].push_back(std::move(tensor));
      }
    }
    return {};
  }

  static std::string tensor_json(const DescribedTensor& tensor) {
    std::string text =
        format_text("{{ \"DataType\": \"{}\", \"Sizes\": {}", tensor_type_name(tensor.type), sizes_text(tensor.sizes));
    return text + (tensor.strides.empty() ? " }" : format_text(", \"Strides\": {} }}", sizes_text(tensor.strides)));
  }

  // The members of the desc, one per line.
  [[nodiscard]] std::string desc_text(std::size_t indent) const {
    std::string text;
    const auto add = [&](std::string_view name, const std::string& value) {
      text += format_text("{}{}\"{}\": {}", text.empty() ? "" : ",\n", std::string(indent, ' '), name, value);
    };
    for (std::size_t i = 0; i < op_.fields.size(); ++i) {
      if (!attributes_[i].empty()) {
        add(op_.fields[i].name, attributes_[i]);
      }
      if (tensors_[i].empty()) {
        continue;
      }
      std::string list;
      for (const DescribedTensor& tensor : tensors_[i]) {
        list += (list.empty() ? "" : ", ") + tensor_json(tensor);
      }
      add(op_.fields[i].name, facts::is_array(op_.fields[i].kind) ? "[" + list + "]" : list);
    }
    return text;
  }

  Result<OperatorText> write() {
    OperatorText built{.name = op_.name, .model = {}, .results = {}, .unprinted = {}};
    std::string resources;
    std::string bindings;
    std::string prints;
    std::uint64_t seed = request_.seed;
    for (std::size_t i = 0; i < op_.fields.size(); ++i) {
      const bool is_array = facts::is_array(op_.fields[i].kind);
      std::string bound;
      for (std::size_t k = 0; k < tensors_[i].size(); ++k) {
        const DescribedTensor& tensor = tensors_[i][k];
        const std::string name = resource_name(op_.fields[i].name) + (is_array ? format_text("{}", k) : std::string());
        const bool is_output = facts::is_output(op_.fields[i].kind);
        const bool is_packed = tensor.type == static_cast<std::uint32_t>(DataType::UINT4) ||
                               tensor.type == static_cast<std::uint32_t>(DataType::INT4);
        const std::uint64_t elements = is_packed ? tensor.elements / 2 + tensor.elements % 2 : tensor.elements;
        const auto values = initial_values(is_output ? "zeros" : tensor.values, elements, seed++);
        if (!values) {
          return invalid(format_text("--input {}: {}", op_.fields[i].name, values.error().message));
        }
        resources += format_text("{}        {}: {{ \"initialValuesDataType\": \"{}\", \"initialValues\": {} }}",
                                 resources.empty() ? "" : ",\n", json_string(name),
                                 is_packed ? std::string_view("UINT8") : tensor_type_name(tensor.type),
                                 on_one_line(values.value()));
        bound += format_text("{}{}", bound.empty() ? "" : ", ", json_string(name));
        if (is_output) {
          built.results.push_back(name);
          if (elements > kMaxPrinted) {
            built.unprinted.push_back(name);
          } else {
            prints += format_text(",\n        {{ \"type\": \"print\", \"resource\": {} }}", json_string(name));
          }
        }
      }
      if (!bound.empty()) {
        bindings += format_text("{}\"{}\": {}", bindings.empty() ? "" : ", ", op_.fields[i].name,
                                is_array ? "[" + bound + "]" : bound);
      }
    }
    built.model = format_text(
        "{{\n    \"resources\":\n    {{\n{}\n    }},\n    \"dispatchables\":\n    {{\n        \"{}\":\n        {{\n"
        "            \"type\": \"DML_OPERATOR_{}\",\n            \"desc\":\n            {{\n{}\n            }}\n"
        "        }}\n    }},\n    \"commands\":\n    [\n        {{ \"type\": \"dispatch\", \"dispatchable\": \"{}\", "
        "\"bindings\": {{ {} }} }}{}\n    ]\n}}\n",
        resources, op_.name, op_.name, desc_text(16), op_.name, bindings, prints);
    return built;
  }

  const facts::Operator& op_;
  const OperatorRequest& request_;
  std::vector<std::vector<DescribedTensor>> tensors_;  // for each field
  std::vector<std::string> attributes_;                // for each field: JSON, or empty
  std::map<std::size_t, std::string> example_;
  std::vector<std::size_t> asked_;  // optional outputs that are requested
};

}  // namespace

const facts::Operator* find_operator_by_part(std::string_view name) {
  const std::string upper = to_upper(name);
  for (const std::string_view prefix : {"", "ELEMENT_WISE_", "ACTIVATION_"}) {
    if (const facts::Operator* op = facts::find_operator(std::string(prefix) + upper)) {
      return op;
    }
  }
  return nullptr;
}

Result<OperatorText> operator_model(const OperatorRequest& request) {
  const facts::Operator* op = find_operator_by_part(request.name);
  if (op == nullptr) {
    return invalid(
        format_text("{} is not an operator of DirectML{}", in_quotes(request.name), operator_suggestion(request.name)));
  }
  return Builder(*op, request).build();
}

Result<std::string> with_resource(const OperatorText& model, const std::string& text) {
  const auto named = split_name(text);
  if (named) {
    const std::string plain = plain_name(resource_name(named->name));
    for (const std::string& result : model.results) {
      if (plain_name(result) == plain) {
        return result + "=" + named->text;
      }
    }
    if (named->name.find_first_of("./:") == std::string::npos) {
      const std::vector<std::string_view> names(model.results.begin(), model.results.end());
      return invalid(format_text("{} is not an output of {}{}", in_quotes(named->name), model.name,
                                 suggestion(named->name, names)));
    }
  }
  return model.results.empty() ? invalid("the operator has no output")
                               : Result<std::string>(model.results.front() + "=" + text);
}

}  // namespace anydml::dmlrun
