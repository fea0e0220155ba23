// SPDX-License-Identifier: MIT
// Tests how models are read: JSON as DxDispatch accepts it, every operator's desc, and the struct that is built from
// the desc.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "facts/facts.h"
#include "model_reader.h"
#include "operator_desc.h"
#include "operator_reader.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

std::string all_text(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems.list()) {
    text += problem.path + ": " + problem.reason + "\n";
  }
  return text;
}

JsonDocument parse(std::string text) {
  auto parsed = JsonDocument::parse(std::move(text));
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed ? std::move(parsed.value()) : std::move(JsonDocument::parse("null").value());
}

TEST(Json, KeepsDigitsPlacesAndOrder) {
  const JsonDocument document =
      parse("\xEF\xBB\xBF// a comment\n{\"a\": [1.50, -0, \"x\\n\\u00e9\",],\n /* b */ \"b\": {\"c\": true,},}\n");
  std::vector<std::string> seen;
  document.root().for_each_member([&](std::string_view name, Json value) {
    seen.push_back(std::string(name) + "@" + document.position_text(value.offset()));
    if (value.is(JsonKind::array)) {
      value.for_each_item(
          [&](Json item) { seen.push_back(std::string(item.text()) + "@" + document.position_text(item.offset())); });
    } else {
      value.for_each_member([&](std::string_view inner, Json of) {
        seen.push_back(std::string(inner) + "=" + std::string(of.text()) + "@" + document.position_text(of.offset()));
      });
    }
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"a@line 2, column 7", "1.50@line 2, column 8", "-0@line 2, column 14",
                                            "x\n\xC3\xA9@line 2, column 18", "b@line 3, column 15",
                                            "c=true@line 3, column 21"}));
}

TEST(Json, RefusesWhatIsNone) {
  for (const char* text :
       {"", "{", "[1,,2]", "{\"a\" 1}", "nul", "{} {}", "\"\\ud800\"", "1e999", "[1] x", "/* no end"}) {
    const auto parsed = JsonDocument::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().message.find("line "), std::string::npos) << parsed.error().message;
  }
  EXPECT_FALSE(JsonDocument::parse(std::string(1000000, '[')));
  EXPECT_TRUE(JsonDocument::parse(std::string(64, '[') + std::string(64, ']')));
  EXPECT_FALSE(JsonDocument::parse(std::string(65, '[') + std::string(65, ']')));
  EXPECT_FALSE(JsonDocument::parse(std::string("[\0]", 3)));
  EXPECT_FALSE(JsonDocument::parse("\"a character cut short at the end \xF0"));
}

// A model with one dispatchable.
std::string model_with(const std::string& dispatchable) {
  return R"({"resources": {}, "dispatchables": {"x": )" + dispatchable + R"(}, "commands": []})";
}

struct ReadModel {
  explicit ReadModel(std::string text, std::uint64_t memory = 1 << 20) : document(parse(std::move(text))) {
    model = read_model(document, {.folders = {.input = ".", .output = "."}, .max_memory = memory}, problems);
  }
  JsonDocument document;
  Problems problems;
  Model model;
};

// Returns a value for a field, as a model would write it. The sizes are those of a tensor with one element.
std::string tensor_json(const facts::Operator& op, std::size_t field) {
  const auto admitted = facts::admitted(op, field, facts::kNewestLevel);
  std::uint32_t type = 1;
  if (admitted && admitted->types != 0) {
    while ((admitted->types >> type & 1) == 0) {
      ++type;
    }
  }
  const facts::Enum& types = *facts::find_enum("DML_TENSOR_DATA_TYPE");
  std::string sizes;
  for (int i = 0; i < (admitted ? admitted->min_rank : 4); ++i) {
    sizes += i == 0 ? "1" : ", 1";
  }
  std::string name;
  for (const facts::EnumValue& value : types.values) {
    name = value.value == type ? std::string(value.name) : name;
  }
  return format_text(R"({{"DataType": "{}", "Sizes": [{}]}})", name, sizes);
}

std::string field_json(const facts::Operator& op, std::size_t index) {
  const facts::Field& field = op.fields[index];
  if (!facts::is_attribute(field.kind)) {
    return field.count_field >= 0 ? "[" + tensor_json(op, index) + "]" : tensor_json(op, index);
  }
  if (field.spelling == "FLOAT" || field.spelling == "float") {
    return "0.5";
  }
  if (field.spelling == "UINT" || field.spelling == "INT") {
    return "1";
  }
  if (field.spelling == "BOOL") {
    return "true";
  }
  if (field.spelling == "const FLOAT*" || field.spelling == "const UINT*" || field.spelling == "const INT*") {
    return "[1]";
  }
  if (field.spelling == "const DML_SCALE_BIAS*") {
    return R"({"Scale": 2, "Bias": -1})";
  }
  if (field.spelling == "DML_SIZE_2D") {
    return R"({"Width": 3, "Height": 4})";
  }
  if (field.spelling == "DML_SCALAR_UNION") {
    return "1";
  }
  if (field.spelling == "const DML_OPERATOR_DESC*") {
    const std::string activation = R"({"Type": "ACTIVATION_ELU", "Alpha": 0.5})";
    return field.count_field >= 0 ? "[" + activation + "]" : activation;
  }
  const facts::Enum* enumeration = facts::find_enum(field.spelling);
  EXPECT_NE(enumeration, nullptr) << op.name << " " << field.name << " " << field.spelling;
  // Take the last value, because the first is sometimes NONE or UNKNOWN.
  return enumeration == nullptr ? "0" : format_text("\"{}\"", enumeration->values.back().name);
}

// A DML_TENSOR_DATA_TYPE field gets FLOAT32, because the last values are 4-bit types.
std::string desc_json(const facts::Operator& op) {
  std::string text;
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    const bool is_count = std::any_of(op.fields.begin(), op.fields.end(), [&](const facts::Field& other) {
      return other.count_field == static_cast<int>(i);
    });
    if (!is_count) {
      const std::string value = op.fields[i].spelling == "DML_TENSOR_DATA_TYPE" ? "\"FLOAT32\"" : field_json(op, i);
      text += format_text("{}\"{}\": {}", text.empty() ? "" : ", ", op.fields[i].name, value);
    }
  }
  return text;
}

TEST(OperatorReader, ReadsEveryOperatorOfDirectML) {
  for (const facts::Operator& op : facts::operators()) {
    for (const bool inline_fields : {false, true}) {
      const std::string fields = desc_json(op);
      const ReadModel read(
          model_with(inline_fields ? format_text(R"({{"type": "{}", {}}})", op.name, fields)
                                   : format_text(R"({{"type": "DML_OPERATOR_{}", "desc": {{{}}}}})", op.name, fields)));
      EXPECT_TRUE(read.problems.none()) << op.name << "\n" << all_text(read.problems);
      ASSERT_EQ(read.model.dispatchables.size(), 1U);
      const OperatorDesc desc(read.model.dispatchables[0].nodes[0].op);
      EXPECT_EQ(static_cast<std::uint32_t>(desc.get().Type), op.value);
    }
  }
}

TEST(OperatorReader, MakesTheStructsThatTheHeaderHas) {
  const ReadModel read(model_with(R"({"type": "CONVOLUTION", "desc": {
    "InputTensor": {"DataType": "FLOAT16", "Sizes": [1, 2, 3, 4], "Strides": [24, 12, 4, 1], "GuaranteedBaseOffsetAlignment": 32},
    "FilterTensor": {"DataType": "FLOAT16", "Sizes": [1, 2, 1, 1], "Flags": ["OWNED_BY_DML"]},
    "OutputTensor": {"Type": "BUFFER", "Desc": {"DataType": "FLOAT16", "Sizes": [1, 1, 3, 4], "TotalTensorSizeInBytes": 64}},
    "Mode": "CROSS_CORRELATION", "Direction": "DML_CONVOLUTION_DIRECTION_BACKWARD",
    "Strides": [1, 2], "Dilations": [3, 4], "StartPadding": [5, 6], "EndPadding": [7, 8], "OutputPadding": [0, 0],
    "GroupCount": 9, "FusedActivation": {"Type": "ACTIVATION_LINEAR", "Alpha": 0.5, "Beta": -2}},
    "bindings": {"FilterTensor": "absent"}})"));
  ASSERT_EQ(all_text(read.problems),
            "dispatchables.x.bindings.FilterTensor: 'absent' is not a resource of this model\n");
  const OperatorDesc built(read.model.dispatchables[0].nodes[0].op);
  ASSERT_EQ(built.get().Type, DML_OPERATOR_CONVOLUTION);
  const auto& desc = *static_cast<const DML_CONVOLUTION_OPERATOR_DESC*>(built.get().Desc);
  const auto& input = *static_cast<const DML_BUFFER_TENSOR_DESC*>(desc.InputTensor->Desc);
  EXPECT_EQ(input.DataType, DML_TENSOR_DATA_TYPE_FLOAT16);
  EXPECT_EQ(input.DimensionCount, 4U);
  EXPECT_EQ(input.Sizes[3], 4U);
  EXPECT_EQ(input.Strides[0], 24U);
  EXPECT_EQ(input.TotalTensorSizeInBytes, 48U);
  EXPECT_EQ(input.GuaranteedBaseOffsetAlignment, 32U);
  EXPECT_EQ(static_cast<const DML_BUFFER_TENSOR_DESC*>(desc.FilterTensor->Desc)->Flags, DML_TENSOR_FLAG_OWNED_BY_DML);
  EXPECT_EQ(desc.BiasTensor, nullptr);
  EXPECT_EQ(static_cast<const DML_BUFFER_TENSOR_DESC*>(desc.OutputTensor->Desc)->TotalTensorSizeInBytes, 64U);
  EXPECT_EQ(static_cast<const DML_BUFFER_TENSOR_DESC*>(desc.OutputTensor->Desc)->Strides, nullptr);
  EXPECT_EQ(desc.Mode, DML_CONVOLUTION_MODE_CROSS_CORRELATION);
  EXPECT_EQ(desc.Direction, DML_CONVOLUTION_DIRECTION_BACKWARD);
  EXPECT_EQ(desc.DimensionCount, 2U);
  EXPECT_EQ(desc.Dilations[1], 4U);
  EXPECT_EQ(desc.EndPadding[0], 7U);
  EXPECT_EQ(desc.GroupCount, 9U);
  ASSERT_EQ(desc.FusedActivation->Type, DML_OPERATOR_ACTIVATION_LINEAR);
  const auto& linear = *static_cast<const DML_ACTIVATION_LINEAR_OPERATOR_DESC*>(desc.FusedActivation->Desc);
  EXPECT_EQ(linear.InputTensor, nullptr);
  EXPECT_EQ(linear.Alpha, 0.5F);
  EXPECT_EQ(linear.Beta, -2.0F);
}

TEST(OperatorReader, ReadsArraysOfTensorsUnionsAndScaleBias) {
  const ReadModel join(model_with(R"({"type": "JOIN", "desc": {"InputTensors": [{"DataType": "INT8", "Sizes": [4]},
    {"DataType": "INT8", "Sizes": [8]}], "OutputTensor": {"DataType": "INT8", "Sizes": [12]}, "Axis": 0}})"));
  ASSERT_TRUE(join.problems.none()) << all_text(join.problems);
  const OperatorDesc built(join.model.dispatchables[0].nodes[0].op);
  const auto& desc = *static_cast<const DML_JOIN_OPERATOR_DESC*>(built.get().Desc);
  EXPECT_EQ(desc.InputCount, 2U);
  EXPECT_EQ(static_cast<const DML_BUFFER_TENSOR_DESC*>(desc.InputTensors[1].Desc)->Sizes[0], 8U);

  for (const auto& [value, type, bits] : {std::tuple{"1.5", "FLOAT16", 0x3E00ULL},
                                          {R"({"UInt16": 15872})", "FLOAT16", 0x3E00ULL},
                                          {R"({"Int8": -1})", "INT8", 0xFFULL},
                                          {"-2", "INT64", 0xFFFFFFFFFFFFFFFEULL},
                                          {"1", "FLOAT64", 0x3FF0000000000000ULL}}) {
    const ReadModel fill(model_with(format_text(
        R"({{"type": "FILL_VALUE_CONSTANT", "desc": {{"OutputTensor": {{"DataType": "{}", "Sizes": [4]}}, "ValueDataType": "{}", "Value": {}}}}})",
        type, type, value)));
    ASSERT_TRUE(fill.problems.none()) << all_text(fill.problems);
    const OperatorDesc filled(fill.model.dispatchables[0].nodes[0].op);
    std::uint64_t read_bits = 0;
    std::memcpy(&read_bits, &static_cast<const DML_FILL_VALUE_CONSTANT_OPERATOR_DESC*>(filled.get().Desc)->Value, 8);
    EXPECT_EQ(read_bits, bits) << value;
  }

  const ReadModel identity(
      model_with(R"({"type": "ELEMENT_WISE_IDENTITY", "InputTensor": {"DataType": "FLOAT32", "Sizes": [4]},
    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "ScaleBias": {"Scale": 2, "Bias": -0.5}})"));
  ASSERT_TRUE(identity.problems.none()) << all_text(identity.problems);
  const OperatorDesc scaled(identity.model.dispatchables[0].nodes[0].op);
  const auto* scale = static_cast<const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC*>(scaled.get().Desc)->ScaleBias;
  ASSERT_NE(scale, nullptr);
  EXPECT_EQ(scale->Scale, 2.0F);
  EXPECT_EQ(scale->Bias, -0.5F);
}

TEST(ModelReader, FindsEveryFaultInOneLook) {
  const ReadModel read(R"({"resources": {"A": {"initialValuesDataType": "UINT8", "initialValues": [256, -1, "x"]},
    "B": {"initialValues": {"valueCount": 1, "value": 2}, "sizeInByte": 4}},
    "dispatchables": {"x": {"type": "ELEMENT_WISE_ADD", "desc": {"ATensor": 5}}, "y": {"type": "onnx"}},
    "commands": [{"type": "print", "resource": "C"}, {"type": "halt"}], "extra": 1})");
  EXPECT_EQ(all_text(read.problems),
            "resources.A.initialValues[0]: 256 is not a UINT8 (0 to 255)\n"
            "resources.A.initialValues[1]: -1 is not a UINT8 (0 to 255)\n"
            "resources.A.initialValues[2]: is a string; expected a whole number\n"
            "resources.B.initialValues: initialValuesDataType is missing; expected the type of the values\n"
            "resources.B.sizeInByte: unknown field; did you mean 'sizeInBytes'?\n"
            "dispatchables.x.desc.ATensor: is a number; expected an object with DataType and Sizes\n"
            "dispatchables.y.type: is onnx, which needs ONNX Runtime; that is not supported, expected an operator or a "
            "graph\n"
            "commands[0].resource: 'C' is not a resource of this model\n"
            "commands[1].type: 'halt' is not a command\n"
            "extra: unknown field\n");
}

TEST(ModelReader, ListsNoMoreFaultsThanPeopleRead) {
  std::string values = "[true";
  for (int i = 0; i < 5000; ++i) {
    values += ", true";
  }
  const ReadModel read(R"({"resources": {"A": {"initialValuesDataType": "UINT8", "initialValues": )" + values +
                       R"(]}}, "dispatchables": {}, "commands": []})");
  EXPECT_TRUE(read.problems.full());
  EXPECT_EQ(read.problems.list().size(), 100U);
}

TEST(ModelReader, AddsUpWhatItTakesBeforeAnyIsMade) {
  const auto model = [](std::uint64_t count) {
    return format_text(
        R"({{"resources": {{"A": {{"initialValuesDataType": "FLOAT64", "initialValues": {{"valueCount": {}, "value": 1}}}},
      "B": {{"initialValuesDataType": "UINT8", "initialValues": [1, 2, 3], "sizeInBytes": 24}}}},
      "dispatchables": {{}}, "commands": []}})",
        count);
  };
  constexpr std::uint64_t kLimit = 1 << 20;
  const std::uint64_t page = MemoryBudget::of_buffer(1);
  const std::uint64_t maximum = kLimit - page - 3 - 2 * MemoryBudget::kPerResource;  // for A, in whole pages
  EXPECT_TRUE(ReadModel(model(maximum / page * page / 8), kLimit).problems.none());
  EXPECT_FALSE(ReadModel(model(maximum / page * page / 8 + 1), kLimit).problems.none());
  EXPECT_EQ(
      all_text(ReadModel(model(kLimit / 8), kLimit).problems),
      format_text("resources.A: needs 1024 bytes for its objects; the total is 1.0 MiB (1.0 MiB of buffers, 1024 bytes "
                  "of objects), but --max-memory allows 1.0 MiB\n"));
  EXPECT_EQ(
      all_text(ReadModel(model(kLimit / 4), kLimit).problems),
      "resources.A: needs 2.0 MiB for its buffer; the total is 2.0 MiB (2.0 MiB of buffers), but --max-memory allows "
      "1.0 MiB\n");
  EXPECT_FALSE(ReadModel(model(18446744073709551615ULL), ~std::uint64_t{0}).problems.none());
  EXPECT_FALSE(ReadModel(model(2305843009213693951ULL), kLimit).problems.none());
}

TEST(MemoryBudget, SaysOnceWhatWasNeededForWhat) {
  using For = MemoryBudget::For;
  MemoryBudget memory(std::uint64_t{100} << 20);
  std::vector<std::string> said;
  const auto say = [&](std::string sentence) { said.push_back(std::move(sentence)); };
  EXPECT_TRUE(memory.take(For::buffers, 60 << 20, say));
  EXPECT_TRUE(memory.borrow(For::staging, 40 << 20, say));  // returned immediately
  EXPECT_TRUE(memory.take(For::kept, 30 << 20, say));
  EXPECT_EQ(memory.taken(For::kept), 30U << 20);
  EXPECT_FALSE(memory.over());
  EXPECT_FALSE(memory.borrow(For::staging, 40 << 20, say));
  EXPECT_TRUE(memory.over());
  EXPECT_FALSE(memory.take(For::model, 1, say));  // the budget is already exceeded, so the true total is unknown
  EXPECT_EQ(said,
            std::vector<std::string>{"needs 40.0 MiB for copying a buffer to or from the device; the total is 130.0 "
                                     "MiB (60.0 MiB of buffers, 30.0 MiB of tensors that DirectML keeps, 40.0 MiB "
                                     "of copies in transit), but --max-memory allows 100.0 MiB"});
  MemoryBudget endless;
  EXPECT_TRUE(endless.take(For::buffers, ~std::uint64_t{0}, say));
  MemoryBudget small(1);
  EXPECT_FALSE(small.take(For::buffers, ~std::uint64_t{0}, say));
  EXPECT_EQ(MemoryBudget::of_buffer(~std::uint64_t{0}), ~std::uint64_t{0});
  EXPECT_EQ(MemoryBudget::of_buffer(0), 0U);
}

TEST(ModelReader, ReadsMixedLists) {
  const ReadModel read(R"({"resources": {"A": {"initialValuesDataType": "UNKNOWN", "initialValues": [
    {"type": "UINT32", "value": 6, "name": "count"}, {"type": "FLOAT32", "value": 1.5}, {"type": "INT8", "value": -1}]}},
    "dispatchables": {}, "commands": []})");
  ASSERT_TRUE(read.problems.none()) << all_text(read.problems);
  const Resource& resource = read.model.resources[0];
  EXPECT_EQ(resource.value_bytes, 9U);
  EXPECT_EQ(resource.bytes, 12U);
  const auto& bytes = std::get<std::vector<std::byte>>(resource.values);
  const unsigned char expected[] = {6, 0, 0, 0, 0, 0, 0xC0, 0x3F, 0xFF};
  EXPECT_EQ(std::memcmp(bytes.data(), expected, sizeof(expected)), 0);
}

TEST(Suggestions, AreNearOrNone) {
  const std::string_view names[] = {"ATensor", "BTensor", "OutputTensor"};
  EXPECT_EQ(suggestion("OutTensor", names), "; did you mean 'OutputTensor'?");
  EXPECT_EQ(suggestion("atensor", names), "; did you mean 'ATensor'?");
  EXPECT_EQ(suggestion("bindings", names), "");
  EXPECT_EQ(suggestion(std::string(10000, 'x'), names), "");
  EXPECT_EQ(suggestion("", names), "");
}

}  // namespace
}  // namespace anydml::dmlrun
