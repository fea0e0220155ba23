// SPDX-License-Identifier: MIT
#include "resource_reader.h"

#include <algorithm>
#include <iterator>

#include "base/checked.h"
#include "element_reader.h"
#include "npy.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

constexpr std::string_view kDataTypePrefix = "DML_TENSOR_DATA_TYPE_";

// Reads the name of a type; DataType::unknown if the name is UNKNOWN. Reports any other name and returns nothing.
std::optional<DataType> read_type(const Cursor& at) {
  const auto name = at.string("the name of a data type");
  if (!name) {
    return std::nullopt;
  }
  if (*name == "UNKNOWN" || *name == "DML_TENSOR_DATA_TYPE_UNKNOWN") {
    return DataType::unknown;
  }
  const auto type = parse_type(*name);
  if (!type) {
    std::vector<std::string_view> names;
#define ANYDML_ADD_NAME(T, type_name, value) names.push_back(#type_name);
    ANYDML_FOR_EACH_TYPE(ANYDML_ADD_NAME)
#undef ANYDML_ADD_NAME
    const std::string_view written = name->starts_with(kDataTypePrefix) ? name->substr(kDataTypePrefix.size()) : *name;
    at.fail(format_text("{} is not a data type of buffers{}", in_quotes(*name), suggestion(written, names)));
  }
  return type;
}

void append_element(std::vector<std::byte>& bytes, ElementBits element, DataType type) {
  const std::size_t before = bytes.size();
  bytes.resize(before + element_size(type));
  store_element(element, type, bytes.data() + before);
}

void read_list(const Cursor& at, Resource& resource) {
  std::vector<std::byte> bytes;
  bytes.reserve(at.json().size() * element_size(resource.type));
  at.for_each_item("an array of numbers", [&](const Cursor& item) {
    append_element(bytes, read_element(item, resource.type).value_or(0), resource.type);
  });
  resource.value_bytes = bytes.size();
  resource.values = std::move(bytes);
}

// Reads items that each have their own type and are stored one after another without gaps.
void read_mixed_list(const Cursor& at, Resource& resource) {
  std::vector<std::byte> bytes;
  at.for_each_item("an array", [&](const Cursor& item) {
    Members members(item, "an object with type and value, since initialValuesDataType is not given");
    if (!members.ok()) {
      return;
    }
    (void)members.optional("name");
    DataType type = DataType::UINT32;
    if (const auto type_at = members.required("type")) {
      type = read_type(*type_at).value_or(type);
      if (type == DataType::unknown) {
        type_at->fail("is UNKNOWN; expected the type of the value");
        return;
      }
    }
    if (const auto value_at = members.required("value")) {
      append_element(bytes, read_element(*value_at, type).value_or(0), type);
    }
    members.finish();
  });
  resource.value_bytes = bytes.size();
  resource.values = std::move(bytes);
}

// "random": "uniform" with "low" and "high", or "normal" with "mean" and "deviation"; and "seed".
void read_random(Members& members, Resource& resource) {
  using Distribution = RandomValues::Distribution;
  const auto at = members.required("random");
  const auto name = at ? at->string("uniform or normal") : std::nullopt;
  if (!name) {
    return;
  }
  constexpr std::string_view kNames[] = {"uniform", "normal"};
  const auto known = std::ranges::find(kNames, *name);
  if (known == std::end(kNames)) {
    const std::string meant = suggestion(*name, kNames);
    at->fail(format_text("{} is not a distribution{}", in_quotes(*name),
                         meant.empty() ? "; expected uniform or normal" : meant));
    return;
  }
  const bool uniform = known == std::begin(kNames);
  RandomValues random = default_random(uniform ? Distribution::uniform : Distribution::normal, resource.type);
  const auto take = [&](std::string_view member, ElementBits& element) {
    if (const auto value_at = members.optional(member)) {
      element = read_element(*value_at, resource.type).value_or(element);
    }
  };
  take(uniform ? "low" : "mean", random.first);
  take(uniform ? "high" : "deviation", random.second);
  if (const auto seed = members.optional("seed")) {
    random.seed = seed->unsigned_integer().value_or(0);
  }
  if (const auto checked = check_random(random, resource.type); !checked) {
    members.at().fail(checked.error().message);
  }
  resource.values = random;
}

void read_generator(Members& members, Resource& resource, const Cursor& at) {
  const bool constant = members.has("value");
  const int given = int{constant} + int{members.has("valueStart")} + int{members.has("random")};
  if (given > 1) {
    at.fail(members.has("random") ? "has both 'random' and a value; expected one of them"
                                  : "has both 'value' and 'valueStart'; expected one of them");
  }
  const auto element = [&](std::string_view name) {
    const auto value_at = members.required(name);
    return value_at ? read_element(*value_at, resource.type).value_or(0) : 0;
  };
  if (members.has("random")) {
    read_random(members, resource);
  } else if (constant) {
    resource.values = ConstantValues{element("value")};
  } else {
    const ElementBits first = element("valueStart");
    resource.values = SequenceValues{first, element("valueDelta")};
  }
  if (const auto at_count = members.required("valueCount")) {
    const std::uint64_t count = at_count->unsigned_integer().value_or(1);
    const auto bytes = checked_multiply_bytes(count, element_size(resource.type));
    if (!bytes || count == 0) {
      at_count->fail(format_text("is {}; expected 1 or more, and no more than fits in memory", count));
    }
    resource.value_bytes = bytes.value_or(0);
  }
}

void read_npy(const Cursor& at, const std::filesystem::path& path, std::uint64_t bytes, bool type_given,
              Resource& resource) {
  std::string start(std::min<std::uint64_t>(bytes, kNpyHeaderLimit), '\0');
  if (const auto read = read_file(path, 0, std::as_writable_bytes(std::span(start))); !read) {
    at.fail(read.error().message);
    return;
  }
  const auto header = read_npy_header(start, bytes);
  if (!header) {
    at.fail(format_text("{}: {}", in_quotes(at.json().text()), header.error().message));
    return;
  }
  if (type_given && header.value().type != resource.type) {
    at.fail(format_text("{} holds {}; expected {}, the initialValuesDataType", in_quotes(at.json().text()),
                        type_name(header.value().type), type_name(resource.type)));
    return;
  }
  resource.type = header.value().type;
  resource.values = FileValues{path, header.value().data_offset};
  resource.value_bytes = header.value().data_bytes;
  if (resource.value_bytes == 0) {
    at.fail(format_text("{} holds no elements; expected one or more", in_quotes(at.json().text())));
  }
}

void read_source_file(Members& members, const Folders& folders, bool type_given, Resource& resource) {
  const auto at = members.required("sourcePath");
  const auto source = at ? at->string("the path of a file") : std::nullopt;
  if (!source) {
    return;
  }
  if (has_image_extension(*source)) {
    at->fail(format_text("{} is an image, which is not supported; expected .npy or raw bytes", in_quotes(*source)));
    return;
  }
  const auto path = find_input(folders, *source);
  if (!path) {
    at->fail(path.error().message);
    return;
  }
  const auto bytes = file_bytes(path.value());
  if (!bytes) {
    at->fail(bytes.error().message);
    return;
  }
  if (has_npy_extension(*source)) {
    read_npy(*at, path.value(), bytes.value(), type_given, resource);
    return;
  }
  if (!type_given) {
    members.at().fail("initialValuesDataType is missing; expected one, since the file is raw bytes");
    return;
  }
  const std::size_t element = element_size(resource.type);
  if (bytes.value() == 0 || bytes.value() % element != 0) {
    at->fail(format_text("{} has {} bytes; expected a multiple of {}, the size of {}", in_quotes(*source),
                         bytes.value(), element, type_name(resource.type)));
    return;
  }
  resource.values = FileValues{path.value(), 0};
  resource.value_bytes = bytes.value();
}

void read_initial_values(const Cursor& at, const Folders& folders, bool type_given, Resource& resource) {
  const Json& json = at.json();
  if (json.is(JsonKind::string)) {
    at.fail(json.text() == "deferred"
                ? "is \"deferred\", a buffer that ONNX Runtime would allocate; that is not supported"
                : "is a string; expected an array, or an object with value, valueStart, random or sourcePath");
    return;
  }
  if (json.is(JsonKind::array)) {
    if (json.size() == 0) {
      at.fail("is empty; expected one value or more");
    } else if (type_given) {
      read_list(at, resource);
    } else {
      read_mixed_list(at, resource);
    }
    return;
  }
  Members members(at, "an array, or an object with value, valueStart, random or sourcePath");
  if (!members.ok()) {
    return;
  }
  const bool generated = members.has("value") || members.has("valueStart") || members.has("random");
  if (members.has("sourcePath")) {
    if (generated) {
      at.fail("has both 'sourcePath' and a value; expected one of them");
    }
    read_source_file(members, folders, type_given, resource);
  } else if (generated) {
    if (!type_given) {
      at.fail("initialValuesDataType is missing; expected the type of the values");
      return;
    }
    read_generator(members, resource, at);
  } else {
    at.fail("has none of 'value', 'valueStart', 'random' and 'sourcePath'; expected one of them");
    for (const std::string_view name : {"value", "valueStart", "valueDelta", "valueCount", "random", "sourcePath"}) {
      (void)members.optional(name);
    }
  }
  members.finish();
}

}  // namespace

Resource read_resource(const Cursor& at, std::string_view name, const Folders& folders) {
  Members members(at, "an object with initialValues");
  if (members.ok()) {
    return read_resource(members, name, folders);
  }
  Resource unread;
  unread.name = name;
  return unread;
}

Resource read_resource(Members& members, std::string_view name, const Folders& folders) {
  const Cursor& at = members.at();
  Resource resource;
  resource.name = name;
  const auto type_at = members.optional("initialValuesDataType");
  const auto type = type_at ? read_type(*type_at) : DataType::unknown;
  resource.type = type.value_or(DataType::unknown);
  const auto values_at = members.required("initialValues");
  if (values_at && type) {  // without a valid type nothing can be read
    read_initial_values(*values_at, folders, resource.type != DataType::unknown, resource);
  }
  const auto size_at = members.optional("sizeInBytes");
  const auto offset_at = members.optional("initialValuesOffsetInBytes");
  (void)members.optional("resampleSize");  // for images
  (void)members.optional("resampleMode");
  members.finish();
  const auto padded = checked_add_bytes(resource.value_bytes, 3);
  if (!padded) {
    at.fail(format_text("its values take {} bytes; expected no more than fits in memory", resource.value_bytes));
    return resource;  // with no bytes
  }
  resource.bytes = *padded & ~std::uint64_t{3};
  if (size_at) {
    resource.bytes = size_at->unsigned_integer().value_or(resource.bytes);
    if (resource.bytes % 4 != 0) {
      size_at->fail(format_text("is {}; expected a multiple of 4", resource.bytes));
    }
  }
  // The offset must be in range and has no other effect, as in DxDispatch.
  const std::uint64_t offset = offset_at ? offset_at->unsigned_integer().value_or(0) : 0;
  const auto end = checked_add_bytes(resource.value_bytes, offset);
  if (!end || *end > resource.bytes) {
    const Cursor& cause = size_at ? *size_at : offset_at ? *offset_at : at;
    cause.fail(format_text("the buffer has {} bytes; the initial values need {}{}", resource.bytes,
                           resource.value_bytes,
                           offset == 0 ? std::string() : format_text(" starting at byte {}", offset)));
  }
  return resource;
}

}  // namespace anydml::dmlrun
