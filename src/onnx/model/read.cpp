// SPDX-License-Identifier: MIT
// Parses models. The field numbers are those of onnx.proto. As in every protobuf parser, unknown fields and fields of
// an unexpected wire type are skipped, and repeated occurrences of a message are merged.
#include <filesystem>

#include "onnx/model/fields.h"
#include "onnx/model/files.h"
#include "onnx/model/functions.h"
#include "onnx/model/message.h"
#include "onnx/values/errors.h"

namespace anydml::onnx {
namespace {

// An empty message takes two bytes in a file and a few hundred in memory. The limit is far above the largest models.
constexpr std::size_t kMaxParts = 20'000'000;

// ---- Messages -------------------------------------------------------------------------------------------------------

class ModelReader {
 public:
  explicit ModelReader(std::shared_ptr<const void> owner) : owner_(std::move(owner)) {}

  void read(Fields fields, ModelMessage& model);

 private:
  void read_graph(Fields fields, GraphMessage& graph);
  void read_node(Fields fields, NodeMessage& node);
  void read_attribute(Fields fields, AttributeMessage& attribute);
  void read_function(Fields fields, FunctionMessage& function);
  void read_tensor(Fields fields, TensorMessage& tensor);
  void read_strings(Fields fields, TensorMessage& tensor);
  void read_tensors(const std::vector<protozero::data_view>& views, TensorMessage& tensor);
  void read_opset(Fields fields, OpsetImport& opset);
  [[nodiscard]] std::pair<std::string, std::string> read_entry(Fields fields);
  [[nodiscard]] std::string read_sparse_name(Fields fields);

  // The new last element of a list.
  template <class T>
  T& added(std::vector<T>& list) {
    count_part();
    return list.emplace_back();
  }
  void add_text(std::vector<std::string>& list, Fields& fields) {
    count_part();
    list.push_back(text_of(fields));
  }
  void count_part() {
    if (++parts_ > kMaxParts) {
      fail("the model has more than {} nodes, attributes, tensors and names", kMaxParts);
    }
  }
  void enter() {
    if (++nesting_ > kMaxGraphNesting) {
      fail("the graphs of the model are nested more than {} levels deep", kMaxGraphNesting);
    }
  }
  void leave() { --nesting_; }

  std::shared_ptr<const void> owner_;
  std::size_t parts_ = 0;
  int nesting_ = 0;
};

void ModelReader::read(Fields fields, ModelMessage& model) {
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case number_field(1):
        model.ir_version = fields.get_int64();
        break;
      case bytes_field(7):
        read_graph(fields.get_message(), model.graph);
        break;
      case bytes_field(8):
        read_opset(fields.get_message(), added(model.opset_imports));
        break;
      case bytes_field(25):
        read_function(fields.get_message(), added(model.functions));
        break;
      default:
        fields.skip();
    }
  }
}

void ModelReader::read_graph(Fields fields, GraphMessage& graph) {
  enter();
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case bytes_field(1):
        read_node(fields.get_message(), added(graph.nodes));
        break;
      case bytes_field(2):
        graph.name = text_of(fields);
        break;
      case bytes_field(5):
        read_tensor(fields.get_message(), added(graph.initializers));
        break;
      case bytes_field(11):
        read_value(fields.get_message(), added(graph.inputs));
        break;
      case bytes_field(12):
        read_value(fields.get_message(), added(graph.outputs));
        break;
      case bytes_field(15):
        added(graph.sparse_initializers) = read_sparse_name(fields.get_message());
        break;
      default:
        fields.skip();
    }
  }
  leave();
}

void ModelReader::read_node(Fields fields, NodeMessage& node) {
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case bytes_field(1):
        add_text(node.inputs, fields);
        break;
      case bytes_field(2):
        add_text(node.outputs, fields);
        break;
      case bytes_field(3):
        node.name = text_of(fields);
        break;
      case bytes_field(4):
        node.op_type = text_of(fields);
        break;
      case bytes_field(5):
        read_attribute(fields.get_message(), added(node.attributes));
        break;
      case bytes_field(7):
        node.domain = text_of(fields);
        break;
      case bytes_field(8):
        node.overload = text_of(fields);
        break;
      default:
        fields.skip();
    }
  }
}

void ModelReader::read_attribute(Fields fields, AttributeMessage& attribute) {
  std::vector<protozero::data_view> tensors;  // usually one; protobuf merges several into one
  std::shared_ptr<GraphMessage> graph;
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case bytes_field(1):
        attribute.name = text_of(fields);
        break;
      case fixed32_field(2):
        attribute.f = fields.get_float();
        break;
      case number_field(3):
        attribute.i = fields.get_int64();
        break;
      case bytes_field(4):
        attribute.s = fields.get_bytes();
        break;
      case bytes_field(5):
        tensors.push_back(fields.get_view());
        break;
      case bytes_field(6):
        graph = graph ? graph : std::make_shared<GraphMessage>();
        read_graph(fields.get_message(), *graph);
        break;
      case bytes_field(7):
        for (const float one : fields.get_packed_float()) {
          attribute.floats.push_back(one);
        }
        break;
      case fixed32_field(7):
        attribute.floats.push_back(fields.get_float());
        break;
      case bytes_field(8):
        for (const std::int64_t one : fields.get_packed_int64()) {
          attribute.ints.push_back(one);
        }
        break;
      case number_field(8):
        attribute.ints.push_back(fields.get_int64());
        break;
      case bytes_field(9):
        added(attribute.strings) = fields.get_bytes();
        break;
      case bytes_field(11): {
        count_part();
        auto one = std::make_shared<GraphMessage>();
        read_graph(fields.get_message(), *one);
        attribute.graphs.push_back(std::move(one));
        break;
      }
      case number_field(20): {
        const std::int32_t type = fields.get_enum();
        if (type >= 0 && type <= static_cast<std::int32_t>(AttributeType::kTypeProtos)) {
          attribute.type = static_cast<AttributeType>(type);
        }
        break;
      }
      case bytes_field(21):
        attribute.ref_attr_name = text_of(fields);
        break;
      default:
        fields.skip();
    }
  }
  attribute.g = std::move(graph);
  if (!tensors.empty()) {
    auto tensor = std::make_shared<TensorMessage>();
    read_tensors(tensors, *tensor);
    attribute.t = std::move(tensor);
  }
}

// Functions also declare attributes without a default in this form, with a type only. An attribute that is not a list
// has its value in the field after the type's number.
bool has_value(Fields attribute) {
  std::int32_t type = 0;
  std::uint32_t present = 0;
  while (attribute.next()) {
    present |= attribute.tag() < 32 ? std::uint32_t{1} << attribute.tag() : 0U;
    if (attribute.tag_and_type() == number_field(20)) {
      type = attribute.get_enum();
    } else {
      attribute.skip();
    }
  }
  const bool is_list = type <= 0 || type > static_cast<std::int32_t>(AttributeType::kGraph);
  return is_list || (present >> static_cast<std::uint32_t>(type + 1) & 1U) != 0;
}

void ModelReader::read_function(Fields fields, FunctionMessage& function) {
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case bytes_field(1):
        function.name = text_of(fields);
        break;
      case bytes_field(4):
        add_text(function.inputs, fields);
        break;
      case bytes_field(5):
        add_text(function.outputs, fields);
        break;
      case bytes_field(6):
        add_text(function.attributes, fields);
        break;
      case bytes_field(7):
        read_node(fields.get_message(), added(function.nodes));
        break;
      case bytes_field(9):
        read_opset(fields.get_message(), added(function.opset_imports));
        break;
      case bytes_field(10):
        function.domain = text_of(fields);
        break;
      case bytes_field(11): {
        const Fields attribute = fields.get_message();
        if (has_value(attribute)) {
          read_attribute(attribute, added(function.default_attributes));
        }
        break;
      }
      case bytes_field(13):
        function.overload = text_of(fields);
        break;
      default:
        fields.skip();
    }
  }
}

void ModelReader::read_tensors(const std::vector<protozero::data_view>& views, TensorMessage& tensor) {
  count_part();
  if (views.size() == 1) {
    read_tensor(Fields(views.front()), tensor);
    return;
  }
  // Merging messages means the same as joining their bytes.
  auto whole = std::make_shared<std::string>();
  for (const auto& view : views) {
    whole->append(view.data(), view.size());
  }
  const Fields fields(*whole);
  std::shared_ptr<const void> owner = std::move(whole);
  owner.swap(owner_);
  read_tensor(fields, tensor);
  owner.swap(owner_);
}

void ModelReader::read_tensor(Fields fields, TensorMessage& tensor) {
  const Fields again = fields;
  std::size_t strings = 0;
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case bytes_field(1):
        for (const std::int64_t one : fields.get_packed_int64()) {
          tensor.dims.push_back(one);
        }
        break;
      case number_field(1):
        tensor.dims.push_back(fields.get_int64());
        break;
      case number_field(2):
        tensor.data_type = fields.get_int32();
        break;
      case bytes_field(3):
        tensor.has_segment = true;
        fields.skip();
        break;
      case bytes_field(6):
        ++strings;
        fields.skip();
        break;
      case bytes_field(8):
        tensor.name = text_of(fields);
        break;
      case bytes_field(9): {
        const protozero::data_view view = fields.get_view();
        tensor.raw_data = std::as_bytes(std::span(view.data(), view.size()));
        tensor.has_raw_data = true;
        tensor.owner = owner_;
        break;
      }
      case bytes_field(13):
        count_part();
        tensor.external_data.push_back(read_entry(fields.get_message()));
        break;
      case number_field(14): {
        const std::int32_t location = fields.get_enum();
        tensor.is_external = location == 1 || (location != 0 && tensor.is_external);
        break;
      }
      default:
        fields.skip();
    }
  }
  tensor.element_count = strings;
  if (tensor.data_type == static_cast<std::int32_t>(Kind::kString)) {
    read_strings(again, tensor);
  } else if (!tensor.has_raw_data && !tensor.is_external) {
    read_elements(again, tensor);
  }
}

void ModelReader::read_strings(Fields fields, TensorMessage& tensor) {
  tensor.owner = owner_;
  while (fields.next(6, protozero::pbf_wire_type::length_delimited)) {
    const protozero::data_view view = fields.get_view();
    check_utf8({view.data(), view.size()});
    count_part();
    tensor.strings.emplace_back(view.data(), view.size());
  }
}

std::pair<std::string, std::string> ModelReader::read_entry(Fields fields) {
  std::pair<std::string, std::string> entry;
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case bytes_field(1):
        entry.first = text_of(fields);
        break;
      case bytes_field(2):
        entry.second = text_of(fields);
        break;
      default:
        fields.skip();
    }
  }
  return entry;
}

std::string ModelReader::read_sparse_name(Fields fields) {
  std::string name;
  while (fields.next(1, protozero::pbf_wire_type::length_delimited)) {
    Fields values = fields.get_message();
    while (values.next(8, protozero::pbf_wire_type::length_delimited)) {
      name = text_of(values);
    }
  }
  return name;
}

void ModelReader::read_opset(Fields fields, OpsetImport& opset) {
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case bytes_field(1):
        opset.domain = text_of(fields);
        break;
      case number_field(2):
        opset.version = fields.get_int64();
        break;
      default:
        fields.skip();
    }
  }
}

const char* reason_of_exception(const protozero::exception& error) {
  if (dynamic_cast<const protozero::end_of_buffer_exception*>(&error) != nullptr) {
    return "a field is longer than the message that contains it";
  }
  if (dynamic_cast<const protozero::varint_too_long_exception*>(&error) != nullptr) {
    return "a number has more than 64 bits";
  }
  if (dynamic_cast<const protozero::unknown_pbf_wire_type_exception*>(&error) != nullptr) {
    return "a field has an unknown wire type";
  }
  if (dynamic_cast<const protozero::invalid_tag_exception*>(&error) != nullptr) {
    return "a field has an invalid number";
  }
  return "a list of numbers has an invalid length";
}

}  // namespace

ModelMessage parse_model(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, const std::string& what) {
  ModelMessage model;
  try {
    ModelReader(std::move(owner)).read(Fields(reinterpret_cast<const char*>(bytes.data()), bytes.size()), model);
  } catch (const protozero::exception& error) {
    fail("cannot parse {} as an ONNX model: {}", printable(what), reason_of_exception(error));
  }
  if (model.ir_version == 0) {  // every writer sets it; bytes without it are usually not a model, or are empty
    fail("cannot parse {} as an ONNX model: it has no ir_version", printable(what));
  }
  return model;
}

ModelMessage read_model(const std::string& path) {
  SharedFile file;
  try {
    file = mapped_file(path);
  } catch (const Invalid& error) {
    fail("cannot read {}: {}", onnx::quoted(path), error.what());
  }
  ModelMessage model = parse_model(file->bytes(), file, path);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  model.folder = folder.empty() ? "." : folder;
  model.has_folder = true;
  return model;
}

}  // namespace anydml::onnx
