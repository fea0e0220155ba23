// SPDX-License-Identifier: MIT
// Parses the elements of tensors, and the types of values.
#include <algorithm>

#include "onnx/model/fields.h"
#include "onnx/values/errors.h"

namespace anydml::onnx {
namespace {

// ---- Elements of tensors --------------------------------------------------------------------------------------------

// Appends the low bytes of integers; this is the conversion to any smaller type.
class ElementsWriter {
 public:
  ElementsWriter(std::vector<std::byte>& bytes, std::size_t size) : bytes_(bytes), size_(size) {}
  void reserve(std::size_t more) {
    if (bytes_.empty()) {
      bytes_.reserve(more * size_);
    }
  }
  // Elements that a packed field has in the same form.
  void add_view(protozero::data_view view) {
    if (view.size() % size_ != 0) {
      throw protozero::invalid_length_exception();
    }
    const auto* const start = reinterpret_cast<const std::byte*>(view.data());
    bytes_.insert(bytes_.end(), start, start + view.size());
    count_ += view.size() / size_;
  }
  template <class T>
  void add(T value) {
    const auto* const start = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), start, start + size_);
    ++count_;
  }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::vector<std::byte>& bytes_;
  std::size_t size_;
  std::size_t count_ = 0;
};

template <class Range>
void add_all(ElementsWriter& writer, const Range& range) {
  writer.reserve(static_cast<std::size_t>(range.size()));
  for (const auto value : range) {
    writer.add(value);
  }
}

// The field that contains the elements of a type if there is no raw_data.
enum class ElementsField : std::uint32_t { kNone = 0, kFloat = 4, kInt32 = 5, kInt64 = 7, kDouble = 10, kUint64 = 11 };

ElementsField elements_field(Kind kind) {
  switch (kind) {
    case Kind::kFloat:
      return ElementsField::kFloat;
    case Kind::kDouble:
      return ElementsField::kDouble;
    case Kind::kInt64:
      return ElementsField::kInt64;
    case Kind::kUint32:
    case Kind::kUint64:
      return ElementsField::kUint64;
    default:
      return kArrayKinds.contains(kind) || kFourBitKinds.contains(kind) ? ElementsField::kInt32 : ElementsField::kNone;
  }
}

void add_elements(Fields fields, ElementsField field, ElementsWriter& writer) {
  while (fields.next()) {
    if (fields.tag() != static_cast<std::uint32_t>(field)) {
      fields.skip();
      continue;
    }
    switch (fields.tag_and_type()) {
      case bytes_field(4):
        writer.add_view(fields.get_view());
        break;
      case fixed32_field(4):
        writer.add(fields.get_float());
        break;
      case bytes_field(5):
        add_all(writer, fields.get_packed_int32());
        break;
      case number_field(5):
        writer.add(fields.get_int32());
        break;
      case bytes_field(7):
        add_all(writer, fields.get_packed_int64());
        break;
      case number_field(7):
        writer.add(fields.get_int64());
        break;
      case bytes_field(10):
        writer.add_view(fields.get_view());
        break;
      case fixed64_field(10):
        writer.add(fields.get_double());
        break;
      case bytes_field(11):
        add_all(writer, fields.get_packed_uint64());
        break;
      case number_field(11):
        writer.add(fields.get_uint64());
        break;
      default:
        fields.skip();
    }
  }
}

// ---- Types ----------------------------------------------------------------------------------------------------------

void read_dimension(Fields fields, Dimension& dimension) {
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case number_field(1):  // some exporters declare unknown sizes as -1
        dimension = {.size = std::max<std::int64_t>(fields.get_int64(), -1), .name = {}};
        break;
      case bytes_field(2):
        dimension = {.size = -1, .name = text_of(fields)};
        break;
      default:
        fields.skip();
    }
  }
}

void read_tensor_type(Fields fields, ValueMessage& value) {
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case number_field(1):
        value.data_type = fields.get_int32();
        break;
      case bytes_field(2): {
        value.has_shape = true;
        Fields shape = fields.get_message();
        while (shape.next(1, protozero::pbf_wire_type::length_delimited)) {
          read_dimension(shape.get_message(), value.shape.emplace_back());
        }
        break;
      }
      default:
        fields.skip();
    }
  }
}

Kind kind_of_member(protozero::pbf_tag_type member) {
  switch (member) {
    case 4:
      return Kind::kSequence;
    case 5:
      return Kind::kMap;
    case 7:
      return Kind::kOpaque;
    case 8:
      return Kind::kSparseTensor;
    case 9:
      return Kind::kOptional;
    default:
      return Kind::kNothing;
  }
}

// Reads one member of TypeProto's oneof. The last one in the file counts; it replaces members with other numbers and is
// merged with earlier ones of the same number. `member` is the current number.
void read_type(Fields fields, ValueMessage& value, protozero::pbf_tag_type& member) {
  while (fields.next()) {
    const protozero::pbf_tag_type next = fields.tag();
    const bool is_tensor = next == 1;
    if ((!is_tensor && kind_of_member(next) == Kind::kNothing) ||
        !fields.has_wire_type(protozero::pbf_wire_type::length_delimited)) {
      fields.skip();
      continue;
    }
    if (next != member) {
      ValueMessage other;
      other.name = std::move(value.name);
      other.kind = kind_of_member(next);
      value = std::move(other);
      member = next;
    }
    if (is_tensor) {
      read_tensor_type(fields.get_message(), value);
      const bool is_known = value.data_type >= 0 && value.data_type <= kMaxDataType;
      value.kind = is_known ? static_cast<Kind>(value.data_type) : Kind::kUndefined;
    } else {
      fields.skip();
    }
  }
}

}  // namespace

std::string text_of(Fields& fields) {
  const protozero::data_view view = fields.get_view();
  const std::string_view text(view.data(), view.size());
  check_utf8(text);
  return std::string(text);
}

void read_value(Fields fields, ValueMessage& value) {
  protozero::pbf_tag_type member = 0;
  while (fields.next()) {
    switch (fields.tag_and_type()) {
      case bytes_field(1):
        value.name = text_of(fields);
        break;
      case bytes_field(2):
        read_type(fields.get_message(), value, member);
        break;
      default:
        fields.skip();
    }
  }
}

void read_elements(Fields fields, TensorMessage& tensor) {
  const bool is_known = tensor.data_type >= 0 && tensor.data_type <= kMaxDataType;
  const Kind kind = is_known ? static_cast<Kind>(tensor.data_type) : Kind::kUndefined;
  const ElementsField field = elements_field(kind);
  if (field == ElementsField::kNone) {
    return;
  }
  auto elements = std::make_shared<std::vector<std::byte>>();
  ElementsWriter writer(*elements, item_size(array_kind(kind)));
  add_elements(fields, field, writer);
  tensor.element_count = writer.count();
  tensor.elements = std::move(elements);
}

}  // namespace anydml::onnx
