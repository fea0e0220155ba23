// SPDX-License-Identifier: MIT
// A calculator for both modulus operators over numbers or .npy files, with NumPy's broadcasting. Uses the C API, which
// also supports FLOAT64, and arrays without dimensions or without elements.
#include <anydml/anydml.h>

#include <algorithm>
#include <cstdio>

#include "base/checked.h"
#include "base/memory.h"
#include "commands.h"
#include "cursor.h"
#include "echo.h"
#include "files.h"
#include "npy.h"
#include "table.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

constexpr std::size_t kMaxRows = 40;
constexpr std::uint64_t kMaxElements = 0xffff'ffff;  // the maximum number of elements in a tensor

struct Array {
  DataType type = DataType::unknown;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

Result<Array> load_npy(const std::string& file) {
  const auto bytes = file_bytes(file);
  ANYDML_TRY(bytes);
  std::string start(std::min<std::uint64_t>(bytes.value(), kNpyHeaderLimit), '\0');
  ANYDML_TRY(read_file(file, 0, std::as_writable_bytes(std::span(start))));
  const auto header = read_npy_header(start, bytes.value());
  ANYDML_TRY(header);
  const std::uint64_t maximum = read_memory_state().limit / 4;
  if (header.value().data_bytes > maximum) {
    return invalid(
        format_text("has {} bytes; expected {} or less on this machine", header.value().data_bytes, maximum));
  }
  for (const std::uint64_t size : header.value().shape) {
    if (size > kMaxElements) {  // if one size is 0, the other sizes may be anything
      return invalid(format_text("has a size of {}; expected {} at most", size, kMaxElements));
    }
  }
  Array array{header.value().type, {}, std::vector<std::byte>(header.value().data_bytes)};
  array.shape.assign(header.value().shape.begin(), header.value().shape.end());
  ANYDML_TRY(read_file(file, header.value().data_offset, array.bytes));
  return array;
}

std::vector<std::string_view> split_numbers(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t comma = text.find(','); comma != std::string_view::npos; comma = text.find(',')) {
    parts.push_back(text.substr(0, comma));
    text.remove_prefix(comma + 1);
  }
  parts.push_back(text);
  return parts;
}

Result<Array> parse_numbers(std::string_view text, DataType type) {
  const auto parts = split_numbers(text);
  Array array{type, {}, std::vector<std::byte>(parts.size() * element_size(type))};
  if (parts.size() > 1) {
    array.shape.push_back(static_cast<std::int64_t>(parts.size()));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto element = parse_element(parts[i], type);
    ANYDML_TRY(element);
    store_element(element.value(), type, array.bytes.data() + i * element_size(type));
  }
  return array;
}

// Numbers have the same types as in Python: whole numbers are INT64, and all others FLOAT64.
DataType type_of_numbers(std::string_view text) {
  for (const std::string_view part : split_numbers(text)) {
    if (part.find_first_not_of("-0123456789") != std::string_view::npos) {
      return DataType::FLOAT64;
    }
  }
  return DataType::INT64;
}

Result<std::vector<std::int64_t>> broadcast(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  std::vector<std::int64_t> shape(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const auto size_of = [&](const std::vector<std::int64_t>& of) {
      return i < rank - of.size() ? 1 : of[i - (rank - of.size())];
    };
    const std::int64_t x = size_of(a);
    const std::int64_t y = size_of(b);
    if (x != y && x != 1 && y != 1) {
      const auto text = [](const std::vector<std::int64_t>& of) {
        std::string list;
        for (const std::int64_t size : of) {
          list += format_text("{}{}", list.empty() ? "" : ", ", size);
        }
        return "[" + list + "]";
      };
      return invalid(format_text("shapes {} and {} do not broadcast: {} is neither {} nor 1", text(a), text(b), y, x));
    }
    shape[i] = x == 1 ? y : x;
  }
  return shape;
}

anydml_tensor tensor_of(const Array& array) {
  return {static_cast<anydml_type>(array.type), static_cast<std::int32_t>(array.shape.size()), array.shape.data(),
          nullptr, const_cast<std::byte*>(array.bytes.data())};
}

// Returns the operand's element for the given index in the result.
ElementBits element_at(const Array& operand, const Array& result, std::size_t index) {
  std::size_t position = 0;
  std::size_t step = 1;
  for (std::size_t i = result.shape.size(); i-- > 0;) {
    const auto size = static_cast<std::size_t>(result.shape[i]);
    const std::size_t coordinate = index % size;
    index /= size;
    const std::size_t missing = result.shape.size() - operand.shape.size();
    if (i >= missing) {
      const auto own = static_cast<std::size_t>(operand.shape[i - missing]);
      position += own == 1 ? 0 : coordinate * step;
      step *= own;
    }
  }
  return load_element(operand.bytes.data() + position * element_size(operand.type), operand.type);
}

struct Operation {
  const char* name;
  int (*run)(const anydml_tensor*, const anydml_tensor*, const anydml_tensor*);
};

struct Operands {
  DataType type = DataType::unknown;
  Array a;
  Array b;
};

// Reads both operands, from files or as numbers. Their type comes from --type, the files, or the numbers, in that order
// of precedence.
Result<Operands> read_operands(const ModulusArguments& arguments) {
  std::optional<DataType> type;
  if (!arguments.type.empty()) {
    type = parse_type(arguments.type, true);
    if (!type) {
      return invalid(format_text("--type {} is not a type; expected one such as float16, float32, int8 or uint64",
                                 in_quotes(arguments.type)));
    }
  }
  const std::string* const texts[] = {&arguments.a, &arguments.b};
  std::optional<Array> operands[2];
  for (std::size_t i = 0; i < 2; ++i) {
    if (!has_npy_extension(*texts[i])) {
      continue;
    }
    auto loaded = load_npy(*texts[i]);
    if (!loaded) {
      return invalid(format_text("{}: {}", *texts[i], loaded.error().message));
    }
    if (type && loaded.value().type != *type) {
      return invalid(format_text("{}: holds {}; expected {}, {}", *texts[i], type_name(loaded.value().type),
                                 type_name(*type),
                                 arguments.type.empty() ? "the type of the other" : "as --type says"));
    }
    type = loaded.value().type;
    operands[i] = std::move(loaded.value());
  }
  if (!type) {
    type = type_of_numbers(arguments.a) == DataType::INT64 ? type_of_numbers(arguments.b) : DataType::FLOAT64;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    if (!operands[i]) {
      auto parsed = parse_numbers(*texts[i], *type);
      ANYDML_TRY(parsed);
      operands[i] = std::move(parsed.value());
    }
  }
  return Operands{*type, std::move(*operands[0]), std::move(*operands[1])};
}

Result<std::vector<Operation>> choose_operations(const ModulusArguments& arguments) {
  std::vector<Operation> operations;
  if (arguments.floor || !arguments.truncate) {
    operations.push_back({"floor", anydml_modulus_floor});
  }
  if (arguments.truncate || !arguments.floor) {
    operations.push_back({"truncate", anydml_modulus_truncate});
  }
  if (!arguments.output.empty() && operations.size() != 1) {
    return invalid("-o writes one result; expected --floor or --truncate too");
  }
  if (!arguments.output.empty() && !has_npy_extension(arguments.output)) {
    return invalid(format_text("-o {} is not the name of an array file; expected one that ends in .npy",
                               in_quotes(arguments.output)));
  }
  return operations;
}

// Computes one result for each operation.
Result<std::vector<Array>> compute(const Operands& operands, std::span<const Operation> operations) {
  const auto shape = broadcast(operands.a.shape, operands.b.shape);
  ANYDML_TRY(shape);
  std::optional<std::int64_t> count = 1;
  for (const std::int64_t size : shape.value()) {
    count = count ? checked_multiply(*count, size) : count;
  }
  const auto bytes = count ? checked_multiply(*count, static_cast<std::int64_t>(element_size(operands.type))) : count;
  if (!bytes || static_cast<std::uint64_t>(*bytes) > read_memory_state().limit / 4) {
    return invalid("the result would not fit in this machine's memory");
  }
  std::vector<Array> results;
  for (const Operation& operation : operations) {
    Array& result = results.emplace_back(
        Array{operands.type, shape.value(), std::vector<std::byte>(static_cast<std::size_t>(*bytes))});
    const anydml_tensor inputs[] = {tensor_of(operands.a), tensor_of(operands.b)};
    const anydml_tensor output = tensor_of(result);
    if (operation.run(&inputs[0], &inputs[1], &output) != ANYDML_OK) {
      return invalid(anydml_last_error());
    }
  }
  return results;
}

Status write_result(const Array& result, const std::string& path) {
  const std::vector<std::uint64_t> sizes(result.shape.begin(), result.shape.end());
  const std::string header = make_npy_header(result.type, sizes);
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(header)), result.bytes};
  return write_file(path, parts);
}

void print_results(const Operands& operands, std::span<const Operation> operations, std::span<const Array> results,
                   std::size_t count) {
  std::vector<Table::Column> columns = {{"a", Table::Align::right}, {"b", Table::Align::right}};
  for (const Operation& operation : operations) {
    columns.push_back({operation.name, Table::Align::right});
    columns.push_back({"bits", Table::Align::left, true});
  }
  Table table(std::move(columns));
  const DataType type = operands.type;
  const std::size_t shown = std::min<std::size_t>(count, kMaxRows);
  for (std::size_t i = 0; i < shown; ++i) {
    std::vector<std::string> cells = {element_text(element_at(operands.a, results[0], i), type),
                                      element_text(element_at(operands.b, results[0], i), type)};
    for (const Array& result : results) {
      const ElementBits element = load_element(result.bytes.data() + i * element_size(type), type);
      cells.push_back(element_text(element, type));
      cells.push_back(element_hex(element, type));
    }
    table.add(std::move(cells));
  }
  std::printf("%s\n", std::string(type_name(type)).c_str());
  table.print(stdout);
  if (count > shown) {
    std::printf("and %zu more; -o OUT.npy writes them all\n", count - shown);
  }
}

}  // namespace

int calculate_modulus(const ModulusArguments& arguments) {
  const auto operands = read_operands(arguments);
  if (!operands) {
    return report_error(operands.error().message, kWrong);
  }
  const auto operations = choose_operations(arguments);
  if (!operations) {
    return report_error(operations.error().message, kWrong);
  }
  const auto results = compute(operands.value(), operations.value());
  if (!results) {
    return report_error(results.error().message, kWrong);
  }
  const std::size_t count = results.value()[0].bytes.size() / element_size(operands.value().type);
  if (!arguments.output.empty()) {
    if (const auto wrote = write_result(results.value()[0], arguments.output); !wrote) {
      return report_error(format_text("{}: {}", arguments.output, wrote.error().message), kFailed);
    }
    std::printf("%zu elements of %s written to '%s'\n", count, std::string(type_name(operands.value().type)).c_str(),
                echo(arguments.output, arguments.output.size()).c_str());
  } else if (count == 0) {
    std::printf("no elements\n");
  } else {
    print_results(operands.value(), operations.value(), results.value(), count);
  }
  return kDone;
}

}  // namespace anydml::dmlrun
