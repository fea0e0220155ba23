// SPDX-License-Identifier: MIT
#include "onnx_inputs.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "echo.h"
#include "files.h"
#include "npy.h"
#include "resource_reader.h"
#include "text/format.h"
#include "value_words.h"

namespace anydml::dmlrun {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::uint64_t kTooMany = std::numeric_limits<std::uint64_t>::max();

[[noreturn]] void wrong(std::string option, std::string reason) {
  throw ModelFailure{std::move(option), std::move(reason), true};
}

bool is_four_bits(std::int32_t onnx_type) { return onnx_type == ANYDML_ONNX_INT4 || onnx_type == ANYDML_ONNX_UINT4; }

std::string sizes_text(const Sizes& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) {
    text += format_text("{}{}", text.empty() ? "" : ", ", size);
  }
  return "[" + text + "]";
}

// The shape that the model declares: "[batch, 3, ?]".
std::string declared_text(const anydml_onnx_value_info& value) {
  std::string text;
  for (std::int32_t i = 0; i < value.rank; ++i) {
    const std::string name = value.dimension_names[i];
    text += i == 0 ? "" : ", ";
    text += value.sizes[i] >= 0 ? std::to_string(value.sizes[i]) : name.empty() ? "?" : echo(name);
  }
  return "[" + text + "]";
}

std::uint64_t element_count(const Sizes& sizes) {
  std::uint64_t count = 1;
  for (const std::int64_t size : sizes) {
    const auto factor = static_cast<std::uint64_t>(size);
    if (factor != 0 && count > kTooMany / factor) {
      return std::ranges::find(sizes, 0) == sizes.end() ? kTooMany : 0;
    }
    count *= factor;
  }
  return count;
}

// The number of stored elements of the shown type.
std::uint64_t shown_count(std::int32_t onnx_type, const Sizes& sizes) {
  const std::uint64_t count = element_count(sizes);
  return is_four_bits(onnx_type) && count != kTooMany ? count / 2 + count % 2 : count;
}

// Reads values with the words of a command line: `count` elements, or as many as a list or a raw file has.
Resource read_values(const std::string& option, const std::string& text, DataType type, std::uint64_t count,
                     std::uint64_t seed) {
  const auto values = initial_values(text, count, seed);
  if (!values) {
    wrong(option, values.error().message);
  }
  const auto document = JsonDocument::parse(
      format_text("{{\"initialValuesDataType\": \"{}\", \"initialValues\": {}}}", type_name(type), values.value()));
  if (!document) {
    wrong(option, document.error().message);
  }
  Problems found;
  Resource resource = read_resource(Cursor(document.value().root(), found), option, kAnywhere);
  if (!found.none()) {
    wrong(option, found.list().front().reason);
  }
  return resource;
}

struct NpyFile {
  Sizes sizes;
  Resource resource;
};

// Reads the header of a .npy file with elements of a type.
NpyFile read_npy(const std::string& option, const std::string& text, std::int32_t onnx_type) {
  const auto fail = [&](const std::string& reason) { wrong(option, in_quotes(text) + reason); };
  const auto path = find_input(kAnywhere, text);
  if (!path) {
    wrong(option, path.error().message);
  }
  const auto bytes = file_bytes(path.value());
  if (!bytes) {
    wrong(option, bytes.error().message);
  }
  std::string start(std::min<std::uint64_t>(bytes.value(), kNpyHeaderLimit), '\0');
  if (const auto read = read_file(path.value(), 0, std::as_writable_bytes(std::span(start))); !read) {
    wrong(option, read.error().message);
  }
  const auto header = read_npy_header(start, bytes.value(), onnx_type == ANYDML_ONNX_BOOL);
  if (!header) {
    fail(": " + header.error().message);
  }
  const DataType type = shown_type(onnx_type);
  if (header.value().type != type) {
    fail(format_text(" holds {}; expected {}", type_name(header.value().type), type_name(type)));
  }
  NpyFile file;
  file.sizes.assign(header.value().shape.begin(), header.value().shape.end());
  file.resource = {.name = option,
                   .type = type,
                   .values = FileValues{path.value(), header.value().data_offset},
                   .value_bytes = header.value().data_bytes,
                   .bytes = header.value().data_bytes};
  return file;
}

std::vector<std::byte> filled(const std::string& option, const Resource& resource) {
  std::vector<std::byte> bytes(resource.value_bytes);
  try {
    fill_values(resource, bytes);
  } catch (const ModelFailure& failure) {
    throw ModelFailure{option, failure.reason, failure.of_model};
  }
  return bytes;
}

// The sizes of the symbolic dimensions, and where each comes from.
class Dimensions {
 public:
  Dimensions(const std::vector<const anydml_onnx_value_info*>& inputs, const std::vector<std::string>& options) {
    std::vector<std::string_view> names;
    for (const anydml_onnx_value_info* input : inputs) {
      for (std::int32_t i = 0; i < input->rank; ++i) {
        const std::string_view name = input->dimension_names[i];
        if (input->sizes[i] < 0 && !name.empty() && std::ranges::find(names, name) == names.end()) {
          names.push_back(name);
        }
      }
    }
    for (const std::string& text : options) {
      const auto split = split_name(text);
      std::int64_t size = -1;
      if (split) {
        const char* end = split->text.data() + split->text.size();
        const auto [stop, fault] = std::from_chars(split->text.data(), end, size);
        size = fault == std::errc{} && stop == end ? size : -1;
      }
      if (size < 0) {
        wrong("--size", format_text("is {}; expected NAME=NUMBER, for example batch=8", in_quotes(text)));
      }
      if (std::ranges::find(names, split->name) == names.end()) {
        std::string known;
        for (const std::string_view name : names) {
          known += format_text("{}{}", known.empty() ? "" : ", ", in_quotes(name));
        }
        wrong("--size", format_text("the model has no dimension {}; {}", in_quotes(split->name),
                                    known.empty() ? "no size of its inputs has a name" : "its inputs have " + known));
      }
      bind(split->name, size, "--size", "--size");
    }
  }

  // Raises an error if the dimension already has another size.
  void bind(const std::string& name, std::int64_t size, const std::string& option, const std::string& source) {
    const auto [known, is_new] = sizes_.try_emplace(name, size, source);
    if (!is_new && known->second.first != size) {
      wrong(option, format_text("dimension {} has the size {}, but {} gives it {}", in_quotes(name), size,
                                known->second.second, known->second.first));
    }
  }

  // -1 if it is unknown.
  [[nodiscard]] std::int64_t find(const anydml_onnx_value_info& input, std::int32_t axis) const {
    if (input.sizes[axis] >= 0) {
      return input.sizes[axis];
    }
    const auto known = sizes_.find(input.dimension_names[axis]);
    return known == sizes_.end() ? -1 : known->second.first;
  }

 private:
  std::map<std::string, std::pair<std::int64_t, std::string>> sizes_;
};

// An input whose sizes are still to be determined.
struct Pending {
  const anydml_onnx_value_info* info;
  std::string option;  // "--input x", for messages
  std::string text;    // the values
  std::optional<NpyFile> file;
  std::uint64_t count = 0;  // the number of values of a list or a raw file; 0 for other values
};

void take_file_sizes(const Pending& input, Dimensions& dimensions) {
  const Sizes& sizes = input.file->sizes;
  const anydml_onnx_value_info& info = *input.info;
  if (info.rank < 0) {
    return;
  }
  bool matches = sizes.size() == static_cast<std::size_t>(info.rank);
  for (std::int32_t i = 0; matches && i < info.rank; ++i) {
    matches = info.sizes[i] < 0 || info.sizes[i] == sizes[static_cast<std::size_t>(i)];
  }
  if (!matches) {
    wrong(input.option, format_text("{} has the shape {}, but the model declares {}", in_quotes(input.text),
                                    sizes_text(sizes), declared_text(info)));
  }
  for (std::int32_t i = 0; i < info.rank; ++i) {
    if (info.sizes[i] < 0 && *info.dimension_names[i] != '\0') {
      dimensions.bind(info.dimension_names[i], sizes[static_cast<std::size_t>(i)], input.option,
                      "--size or another input");
    }
  }
}

// The sizes of an input without a .npy file. A single unknown size follows from the number of values.
Sizes sizes_of(const Pending& input, Dimensions& dimensions) {
  const anydml_onnx_value_info& info = *input.info;
  if (info.rank < 0) {
    return input.count == 0 ? Sizes() : Sizes{static_cast<std::int64_t>(input.count)};
  }
  Sizes sizes;
  std::vector<std::int32_t> unknown;
  for (std::int32_t i = 0; i < info.rank; ++i) {
    const std::int64_t size = dimensions.find(info, i);
    if (size < 0) {
      unknown.push_back(i);
    }
    sizes.push_back(std::max<std::int64_t>(size, 1));
    if (size == 0) {
      sizes.back() = 0;
    }
  }
  const std::uint64_t known = shown_count(info.type, sizes);
  if (unknown.size() == 1 && input.count != 0 && known != 0 && input.count % known == 0 && !is_four_bits(info.type)) {
    const auto axis = static_cast<std::size_t>(unknown[0]);
    sizes[axis] = static_cast<std::int64_t>(input.count / known);
    if (*info.dimension_names[axis] != '\0') {
      dimensions.bind(info.dimension_names[axis], sizes[axis], input.option, "another input");
    }
  }
  return sizes;
}

void check_bools(const std::string& option, std::span<const std::byte> bytes) {
  const auto found = std::ranges::find_if(bytes, [](std::byte byte) { return byte > std::byte{1}; });
  if (found != bytes.end()) {
    wrong(option, format_text("element {} is {}; expected 0 or 1, because the type is bool", found - bytes.begin(),
                              static_cast<unsigned>(*found)));
  }
}

OnnxInput make_input(const Pending& input, Dimensions& dimensions, std::uint64_t seed, MemoryBudget& memory) {
  const std::int32_t type = input.info->type;
  OnnxInput result{.name = input.info->name, .type = type, .sizes = {}, .values = input.text, .data = {}};
  result.sizes = input.file && !is_four_bits(type) ? input.file->sizes : sizes_of(input, dimensions);
  const std::uint64_t count = shown_count(type, result.sizes);
  if (input.file && is_four_bits(type) && input.file->resource.value_bytes != count) {
    wrong(input.option, format_text("{} has {} bytes; expected {}, which {} has", in_quotes(input.text),
                                    input.file->resource.value_bytes, count, form_text(type, result.sizes)));
  }
  memory.take(MemoryBudget::For::buffers, tensor_bytes(type, result.sizes),
              [&](std::string sentence) { wrong(input.option, std::move(sentence)); });
  if (input.count > 1 && input.count != count) {
    wrong(input.option, format_text("{} has {} elements; expected {}, which {} has", in_quotes(input.text), input.count,
                                    count, form_text(type, result.sizes)));
  }
  if (input.file) {
    result.data = filled(input.option, input.file->resource);
  } else if (count != 0) {
    const bool is_random_bool = type == ANYDML_ONNX_BOOL && input.text == "random";
    const Resource resource =
        read_values(input.option, is_random_bool ? "random:0:1" : input.text, shown_type(type), count, seed);
    if (resource.shown_elements() != count) {  // a raw file with one element
      wrong(input.option, format_text("{} has {} elements; expected {}, which {} has", in_quotes(input.text),
                                      resource.shown_elements(), count, form_text(type, result.sizes)));
    }
    result.data = filled(input.option, resource);
  }
  if (type == ANYDML_ONNX_BOOL) {
    check_bools(input.option, result.data);
  }
  return result;
}

std::map<std::string, std::string> texts_of(const std::vector<const anydml_onnx_value_info*>& inputs,
                                            const Requests& requests) {
  std::vector<std::string_view> names;
  for (const anydml_onnx_value_info* input : inputs) {
    names.emplace_back(input->name);
  }
  std::map<std::string, std::string> texts;
  for (const std::string& text : requests.inputs) {
    const auto split = split_name(text);
    if (!split) {
      wrong("--input", format_text("is {}; expected the name of an input, = and values", in_quotes(text)));
    }
    if (std::ranges::find(names, split->name) == names.end()) {
      std::string known;
      for (const std::string_view name : names) {
        known += format_text("{}{}", known.empty() ? "" : ", ", in_quotes(name));
      }
      wrong("--input", format_text("{} is not an input of this model; it has {}", in_quotes(split->name),
                                   known.empty() ? "none" : known));
    }
    texts[split->name] = split->text;
  }
  return texts;
}

}  // namespace

DataType shown_type(std::int32_t onnx_type) {
  switch (anydml_onnx_tensor_type(onnx_type)) {
    case ANYDML_NONE:
      return DataType::unknown;
    case ANYDML_INT4:
    case ANYDML_UINT4:
      return DataType::UINT8;
    default:
      return static_cast<DataType>(anydml_onnx_tensor_type(onnx_type));
  }
}

std::string form_text(std::int32_t onnx_type, const Sizes& sizes) {
  const std::string_view name = onnx_type == ANYDML_ONNX_BOOL    ? "BOOL"
                                : onnx_type == ANYDML_ONNX_INT4  ? "INT4"
                                : onnx_type == ANYDML_ONNX_UINT4 ? "UINT4"
                                                                 : type_name(shown_type(onnx_type));
  return std::string(name) + sizes_text(sizes);
}

std::uint64_t tensor_bytes(std::int32_t onnx_type, const Sizes& sizes) {
  const std::uint64_t count = shown_count(onnx_type, sizes);
  const std::uint64_t size = element_size(shown_type(onnx_type));
  return size != 0 && count > kTooMany / size ? kTooMany : count * size;
}

std::vector<OnnxInput> onnx_inputs(const anydml_onnx_model& model, const Requests& requests,
                                   const std::vector<std::string>& size_options, MemoryBudget& memory) {
  std::vector<const anydml_onnx_value_info*> infos;
  for (std::size_t i = 0; i < anydml_onnx_input_count(&model); ++i) {
    infos.push_back(anydml_onnx_input_at(&model, i));
  }
  const auto texts = texts_of(infos, requests);
  Dimensions dimensions(infos, size_options);
  std::vector<Pending> pending;
  for (const anydml_onnx_value_info* info : infos) {
    const auto given = texts.find(info->name);
    Pending input{.info = info, .option = format_text("--input {}", info->name), .text = {}, .file = {}};
    if (given == texts.end() && info->has_initializer != 0) {
      pending.push_back(std::move(input));  // without a text: the model's own value
      continue;
    }
    const DataType type = shown_type(info->type);
    if (type == DataType::unknown) {
      wrong(format_text("input {}", info->name),
            format_text("is {}; expected a tensor of numbers", anydml_onnx_type_name(info->type)));
    }
    input.text = given != texts.end() ? given->second : is_float_type(type) ? "normal" : "zeros";
    if (has_npy_extension(input.text)) {
      input.file = read_npy(input.option, input.text, info->type);
      if (!is_four_bits(info->type)) {
        take_file_sizes(input, dimensions);
      }
    } else if (const std::uint64_t count = read_values(input.option, input.text, type, 1, 0).shown_elements();
               count > 1) {
      input.count = count;
    }
    pending.push_back(std::move(input));
  }
  for (const Pending& input : pending) {  // a list may determine a size that the other inputs share
    if (input.count > 1) {
      static_cast<void>(sizes_of(input, dimensions));
    }
  }
  std::vector<OnnxInput> inputs;
  for (std::size_t i = 0; i < pending.size(); ++i) {
    // Each input gets different random values.
    inputs.push_back(pending[i].text.empty() ? OnnxInput{.name = infos[i]->name, .sizes = {}, .values = {}, .data = {}}
                                             : make_input(pending[i], dimensions, requests.seed + i, memory));
  }
  return inputs;
}

std::vector<std::byte> expected_values(const std::string& option, const std::string& text, std::int32_t onnx_type,
                                       const Sizes& sizes, std::uint64_t seed, std::string& difference) {
  const std::uint64_t count = shown_count(onnx_type, sizes);
  if (has_npy_extension(text)) {
    const NpyFile file = read_npy(option, text, onnx_type);
    // A file has the bytes of four-bit elements as one list.
    const Sizes stored = is_four_bits(onnx_type) ? Sizes{static_cast<std::int64_t>(count)} : sizes;
    if (file.sizes != stored) {
      difference = format_text("{} has the shape {}, but the output has {}", in_quotes(text), sizes_text(file.sizes),
                               sizes_text(stored));
      return {};
    }
    return filled(option, file.resource);
  }
  const Resource resource = read_values(option, text, shown_type(onnx_type), std::max<std::uint64_t>(count, 1), seed);
  if (count == 0) {
    return {};
  }
  if (resource.shown_elements() != count) {
    difference = format_text("{} has {} elements, but the output has {}", in_quotes(text), resource.shown_elements(),
                             form_text(onnx_type, sizes));
    return {};
  }
  return filled(option, resource);
}

}  // namespace anydml::dmlrun
