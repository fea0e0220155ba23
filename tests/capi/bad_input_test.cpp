// SPDX-License-Identifier: MIT
// Misuse returns an error code and a message, and nothing is written. All cases run in one process. docs/errors.md
// contains the table that this test prints.
#include "bad_input.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace anydml::test {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

int modulus(Call& call) { return anydml_modulus_floor(&call.a, &call.b, &call.out); }

int run_generic(Call& call) {
  const anydml_tensor inputs[] = {call.a, call.b};
  return anydml_run(nullptr, call.op, inputs, 2, &call.out, 1, call.attributes.data(), call.attributes.size());
}

// Changes fields of the tensors after filling them in.
template <class Change>
std::function<int(Call&)> with(Change change) {
  return [change](Call& call) {
    call.fill();
    change(call);
    return modulus(call);
  };
}

// Changes sizes and strides before filling in the tensors.
template <class Change>
std::function<int(Call&)> shaped(Change change) {
  return [change](Call& call) {
    change(call);
    call.fill();
    return modulus(call);
  };
}

anydml_attribute number(const char* name, double value) {
  anydml_attribute attribute = {name, ANYDML_FLOAT64, 0, {}};
  attribute.value.f64 = value;
  return attribute;
}

template <class Change>
std::function<int(Call&)> generic(Change change) {
  return [change](Call& call) {
    call.fill();
    change(call);
    return run_generic(call);
  };
}

std::function<int(Call&)> clip(anydml_type type, std::vector<anydml_attribute> attributes) {
  return [=](Call& call) {
    call.fill();
    call.a.type = call.out.type = type;
    return anydml_run(nullptr, "ELEMENT_WISE_CLIP", &call.a, 1, &call.out, 1, attributes.data(), attributes.size());
  };
}

// Compiles the valid call, then runs it incorrectly.
template <class Run>
std::function<int(Call&)> compiled(Run run) {
  return [run](Call& call) {
    call.fill();
    const anydml_tensor inputs[] = {call.a, call.b};
    anydml_compiled* result = nullptr;
    EXPECT_EQ(anydml_compile(nullptr, call.op, inputs, 2, &call.out, 1, nullptr, 0, &result), ANYDML_OK);
    const int code = run(call, result);
    anydml_compiled_release(result);
    return code;
  };
}

#define FLOOR "ELEMENT_WISE_MODULUS_FLOOR: "

const Case
    kCases
        [] =
            {
                // Null pointers.
                {"a is null", ANYDML_INVALID_ARGUMENT,
                 FLOOR "ATensor: the tensor is null; expected a pointer to an anydml_tensor",
                 [](Call& c) {
                   c.fill();
                   return anydml_modulus_floor(nullptr, &c.b, &c.out);
                 }},
                {"b is null", ANYDML_INVALID_ARGUMENT,
                 FLOOR "BTensor: the tensor is null; expected a pointer to an anydml_tensor",
                 [](Call& c) {
                   c.fill();
                   return anydml_modulus_floor(&c.a, nullptr, &c.out);
                 }},
                {"out is null", ANYDML_INVALID_ARGUMENT,
                 FLOOR "OutputTensor: the tensor is null; expected a pointer to an anydml_tensor",
                 [](Call& c) {
                   c.fill();
                   return anydml_modulus_floor(&c.a, &c.b, nullptr);
                 }},
                {"sizes are null", ANYDML_INVALID_ARGUMENT,
                 FLOOR "BTensor: sizes is null; expected 2 sizes, one for each dimension",
                 with([](Call& c) { c.b.sizes = nullptr; })},
                {"data of an input is null", ANYDML_INVALID_ARGUMENT,
                 FLOOR "ATensor: data is null; expected the address of the element at index 0",
                 with([](Call& c) { c.a.data = nullptr; })},
                {"data of the output is null", ANYDML_INVALID_ARGUMENT,
                 FLOOR "OutputTensor: data is null; expected the address of the element at index 0",
                 with([](Call& c) { c.out.data = nullptr; })},
                {"the operator's name is null", ANYDML_INVALID_ARGUMENT,
                 "op: is null; expected the name of an operator, such as ELEMENT_WISE_MODULUS_FLOOR",
                 generic([](Call& c) { c.op = nullptr; })},
                {"the array of inputs is null", ANYDML_INVALID_ARGUMENT,
                 FLOOR "inputs is null; expected an array of 2 tensors",
                 [](Call& c) {
                   c.fill();
                   return anydml_run(nullptr, c.op, nullptr, 2, &c.out, 1, nullptr, 0);
                 }},
                {"the array of attributes is null", ANYDML_INVALID_ARGUMENT,
                 FLOOR "attributes is null; expected an array of 3 attributes",
                 [](Call& c) {
                   c.fill();
                   const anydml_tensor inputs[] = {c.a, c.b};
                   return anydml_run(nullptr, c.op, inputs, 2, &c.out, 1, nullptr, 3);
                 }},
                {"the pointer for a compiled operator is null", ANYDML_INVALID_ARGUMENT,
                 "anydml_compile: compiled is null; expected a pointer to store the result",
                 [](Call& c) {
                   c.fill();
                   const anydml_tensor inputs[] = {c.a, c.b};
                   return anydml_compile(nullptr, c.op, inputs, 2, &c.out, 1, nullptr, 0, nullptr);
                 }},
                {"the compiled operator is null", ANYDML_INVALID_ARGUMENT,
                 "anydml_compiled_run: compiled is null; expected an object from anydml_compile",
                 [](Call& c) { return anydml_compiled_run(nullptr, nullptr, 0, &c.out.data, 1); }},

                // Types and operators.
                {"an unknown type", ANYDML_INVALID_ARGUMENT,
                 FLOOR "ATensor: type is 99; expected one of the element types, 1 (FLOAT32) to 13 (INT4)",
                 with([](Call& c) { c.a.type = 99; })},
                {"a type of zero", ANYDML_INVALID_ARGUMENT,
                 FLOOR "OutputTensor: type is 0; expected one of the element types, 1 (FLOAT32) to 13 (INT4)",
                 with([](Call& c) { c.out.type = 0; })},
                {"types that differ", ANYDML_INVALID_ARGUMENT,
                 FLOOR "BTensor: type is INT32; expected FLOAT32, the type of ATensor",
                 with([](Call& c) { c.b.type = ANYDML_INT32; })},
                {"an output of another type", ANYDML_INVALID_ARGUMENT,
                 FLOOR "OutputTensor: type is FLOAT64; expected FLOAT32, the type of ATensor",
                 with([](Call& c) { c.out.type = ANYDML_FLOAT64; })},
                {"a misspelled operator", ANYDML_INVALID_ARGUMENT,
                 "op: is 'ELEMENTWISE_MODULUS_FLOOR'; did you mean ELEMENT_WISE_MODULUS_FLOOR?",
                 generic([](Call& c) { c.op = "ELEMENTWISE_MODULUS_FLOOR"; })},
                {"an operator by its alias in the header", ANYDML_INVALID_ARGUMENT,
                 "SCATTER_ELEMENTS: the number of input tensors is 2; expected 3",
                 generic([](Call& c) { c.op = "DML_OPERATOR_SCATTER"; })},
                {"too few inputs", ANYDML_INVALID_ARGUMENT, FLOOR "the number of input tensors is 1; expected 2",
                 [](Call& c) {
                   c.fill();
                   return anydml_run(nullptr, c.op, &c.a, 1, &c.out, 1, nullptr, 0);
                 }},
                {"too many inputs", ANYDML_INVALID_ARGUMENT, FLOOR "the number of input tensors is 9; expected 2",
                 [](Call& c) {
                   c.fill();
                   const std::vector<anydml_tensor> inputs(9, c.a);
                   return anydml_run(nullptr, c.op, inputs.data(), inputs.size(), &c.out, 1, nullptr, 0);
                 }},

                // Ranks and sizes.
                {"nine dimensions", ANYDML_INVALID_ARGUMENT, FLOOR "ATensor: rank is 9; expected 0 to 8",
                 shaped([](Call& c) { c.a_sizes.assign(9, 1); })},
                {"a negative rank", ANYDML_INVALID_ARGUMENT, FLOOR "BTensor: rank is -1; expected 0 to 8",
                 with([](Call& c) { c.b.rank = -1; })},
                {"a negative size", ANYDML_INVALID_ARGUMENT, FLOOR "OutputTensor: sizes[1] is -3; expected 0 or more",
                 shaped([](Call& c) {
                   c.out_sizes = {2, -3};
                 })},
                {"the smallest 64-bit number as a size", ANYDML_INVALID_ARGUMENT,
                 FLOOR "ATensor: sizes[0] is -9223372036854775808; expected 0 or more", shaped([](Call& c) {
                   c.a_sizes = {kMin, 3};
                 })},
                {"sizes that do not broadcast", ANYDML_INVALID_ARGUMENT,
                 FLOOR "BTensor: sizes are [2, 4]; expected sizes that broadcast to [2, 3], the sizes of OutputTensor",
                 shaped([](Call& c) {
                   c.b_sizes = {2, 4};
                 })},
                {"an input with more dimensions than the output", ANYDML_INVALID_ARGUMENT,
                 FLOOR
                 "ATensor: sizes are [1, 2, 3]; expected sizes that broadcast to [2, 3], the sizes of OutputTensor",
                 shaped([](Call& c) {
                   c.a_sizes = {1, 2, 3};
                 })},
                {"an output smaller than its inputs", ANYDML_INVALID_ARGUMENT,
                 FLOOR "ATensor: sizes are [2, 3]; expected sizes that broadcast to [1, 3], the sizes of OutputTensor",
                 shaped([](Call& c) {
                   c.out_sizes = {1, 3};
                 })},
                {"an empty input for a nonempty output", ANYDML_INVALID_ARGUMENT,
                 FLOOR "BTensor: sizes are [0, 3]; expected sizes that broadcast to [2, 3], the sizes of OutputTensor",
                 shaped([](Call& c) {
                   c.b_sizes = {0, 3};
                 })},
                {"2^32 elements", ANYDML_INVALID_ARGUMENT,
                 FLOOR "ATensor: sizes [65536, 65536] hold too many elements; expected at most 4294967295",
                 shaped([](Call& c) {
                   c.a_sizes = {65536, 65536};
                 })},
                {"more elements than fit into 64 bits", ANYDML_INVALID_ARGUMENT,
                 FLOOR "OutputTensor: sizes [9223372036854775807, 9223372036854775807] hold too many elements; "
                       "expected at most "
                       "4294967295",
                 shaped([](Call& c) {
                   c.out_sizes = {kMax, kMax};
                 })},

                // Strides.
                {"a stride whose reach overflows", ANYDML_INVALID_ARGUMENT,
                 FLOOR "ATensor: strides[0] is 9223372036854775807; with sizes [2, 3] the elements span more than "
                       "64 bits can count",
                 shaped([](Call& c) {
                   c.a_strides = {kMax, 1};
                 })},
                {"a negative stride whose reach overflows", ANYDML_INVALID_ARGUMENT,
                 FLOOR "BTensor: strides[1] is -9223372036854775808; with sizes [2, 3] the elements span more than "
                       "64 bits can count",
                 shaped([](Call& c) {
                   c.b_strides = {1, kMin};
                 })},
                {"strides that overflow together", ANYDML_INVALID_ARGUMENT,
                 FLOOR "ATensor: strides[1] is -576460752303423488; with sizes [2, 3] the elements span more than "
                       "64 bits can count",
                 shaped([](Call& c) {
                   c.a_strides = {int64_t{1} << 59, -(int64_t{1} << 59)};
                 })},
                {"strides past the end of the address space", ANYDML_INVALID_ARGUMENT,
                 FLOOR
                 "ATensor: strides [-576460752303423488, 1] with sizes [2, 3] extend past the end of the address space",
                 shaped([](Call& c) {
                   c.a_strides = {-(int64_t{1} << 59), 1};
                 })},
                {"an output with stride 0", ANYDML_INVALID_ARGUMENT,
                 FLOOR "OutputTensor: strides [0, 1] with sizes [2, 3] put two elements at the same address; expected "
                       "each element of an output to have its own address",
                 shaped([](Call& c) {
                   c.out_strides = {0, 1};
                 })},
                {"an output that overlaps itself", ANYDML_INVALID_ARGUMENT,
                 FLOOR "OutputTensor: strides [2, 1] with sizes [2, 3] put two elements at the same address; expected "
                       "each element of an output to have its own address",
                 shaped([](Call& c) {
                   c.out_strides = {2, 1};
                 })},
                {"an output that overlaps itself through a negative stride", ANYDML_INVALID_ARGUMENT,
                 FLOOR "OutputTensor: strides [-1, 1] with sizes [2, 3] put two elements at the same address; expected "
                       "each element of an output to have its own address",
                 shaped([](Call& c) {
                   c.out_strides = {-1, 1};
                 })},

                // Attributes.
                {"an attribute the operator does not take", ANYDML_INVALID_ARGUMENT,
                 FLOOR "attribute 'Min' is unknown; this operator takes no attributes",
                 generic([](Call& c) { c.attributes = {number("Min", 1)}; })},
                {"an attribute without a name", ANYDML_INVALID_ARGUMENT,
                 FLOOR "attributes[0].name is null; expected the name of an attribute",
                 generic([](Call& c) { c.attributes = {number(nullptr, 1)}; })},
                {"an attribute of an unsupported type", ANYDML_INVALID_ARGUMENT,
                 FLOOR "attribute Min: type is 1; expected FLOAT64 (9), INT64 (11) or UINT64 (10), whatever the type "
                       "of the tensors",
                 generic([](Call& c) {
                   c.attributes = {{"Min", ANYDML_FLOAT32, 0, {}}};
                 })},
                {"a hundred attributes", ANYDML_INVALID_ARGUMENT,
                 FLOOR "the number of attributes is 100; no operator has that many",
                 generic([](Call& c) { c.attributes.assign(100, number("Min", 1)); })},

                {"a required attribute is missing", ANYDML_INVALID_ARGUMENT,
                 "ELEMENT_WISE_CLIP: attribute Max is missing; the operator takes Min, Max, and optionally Scale with "
                 "Bias",
                 clip(ANYDML_FLOAT32, {number("Min", 1)})},
                {"an attribute given twice", ANYDML_INVALID_ARGUMENT,
                 "ELEMENT_WISE_CLIP: attribute Min is given 2 times; expected once",
                 clip(ANYDML_FLOAT32, {number("Min", 1), number("Max", 2), number("Min", 3)})},
                {"a misspelled attribute", ANYDML_INVALID_ARGUMENT,
                 "ELEMENT_WISE_CLIP: attribute 'max' is unknown; this operator takes Min, Max, and optionally "
                 "Scale with "
                 "Bias",
                 clip(ANYDML_FLOAT32, {number("Min", 1), number("max", 2)})},
                {"Scale without Bias", ANYDML_INVALID_ARGUMENT,
                 "ELEMENT_WISE_CLIP: attribute Bias is missing; expected Scale and Bias together",
                 clip(ANYDML_FLOAT32, {number("Min", 1), number("Max", 2), number("Scale", 2)})},
                {"Scale and Bias for integers", ANYDML_INVALID_ARGUMENT,
                 "ELEMENT_WISE_CLIP: attributes Scale and Bias are given for INT32; expected a float type",
                 clip(ANYDML_INT32, {number("Min", 1), number("Max", 2), number("Scale", 2), number("Bias", 0)})},
                {"a number beyond FLOAT32", ANYDML_INVALID_ARGUMENT,
                 "ACTIVATION_ELU: attribute Alpha is 1e+300; expected a number of FLOAT32, from -3.4028235e+38 to "
                 "3.4028235e+38",
                 [](Call& c) {
                   c.fill();
                   const anydml_attribute alpha = number("Alpha", 1e300);
                   return anydml_run(nullptr, "ACTIVATION_ELU", &c.a, 1, &c.out, 1, &alpha, 1);
                 }},
                {"a value that the tensor's type does not have", ANYDML_INVALID_ARGUMENT,
                 "FILL_VALUE_CONSTANT: attribute Value is 300; expected a whole number from 0 to 255 for UINT8",
                 [](Call& c) {
                   c.fill();
                   c.out.type = ANYDML_UINT8;
                   const anydml_attribute value = number("Value", 300);
                   return anydml_run(nullptr, "FILL_VALUE_CONSTANT", nullptr, 0, &c.out, 1, &value, 1);
                 }},
                {"a fractional bound for integers", ANYDML_INVALID_ARGUMENT,
                 "ELEMENT_WISE_CLIP: attribute Min is 0.5; expected a whole number for INT32",
                 clip(ANYDML_INT32, {number("Min", 0.5), number("Max", 2)})},
                {"a type the operator is not defined for", ANYDML_INVALID_ARGUMENT,
                 "ELEMENT_WISE_CEIL: InputTensor: type is INT32; expected FLOAT32, FLOAT16, FLOAT64",
                 [](Call& c) {
                   c.fill();
                   c.a.type = c.out.type = ANYDML_INT32;
                   return anydml_run(nullptr, "ELEMENT_WISE_CEIL", &c.a, 1, &c.out, 1, nullptr, 0);
                 }},

                // Compiled operators.
                {"no addresses for a compiled operator", ANYDML_INVALID_ARGUMENT,
                 FLOOR "inputs is null; expected 2 addresses", compiled([](Call& c, const anydml_compiled* op) {
                   return anydml_compiled_run(op, nullptr, 2, &c.out.data, 1);
                 })},
                {"too few addresses for a compiled operator", ANYDML_INVALID_ARGUMENT,
                 FLOOR "the number of inputs is 1; expected 2", compiled([](Call& c, const anydml_compiled* op) {
                   const void* addresses[] = {c.a.data};
                   return anydml_compiled_run(op, addresses, 1, &c.out.data, 1);
                 })},
                {"a null address for a compiled operator", ANYDML_INVALID_ARGUMENT,
                 FLOOR "BTensor: data is null; expected the address of the element at index 0",
                 compiled(
                     [](Call& c, const anydml_compiled* op) {
                       const void* addresses[] = {c.a.data, nullptr};
                       return anydml_compiled_run(op, addresses, 2, &c.out.data, 1);
                     })},

                // Devices and listings.
                {"an unknown device", ANYDML_INVALID_ARGUMENT,
                 "device: is not a device of this process; expected null or a device from anydml_device_at",
                 [](Call& c) {
                   c.fill();
                   const anydml_tensor inputs[] = {c.a, c.b};
                   const auto* stray = reinterpret_cast<const anydml_device*>(c.a_data.data());
                   return anydml_run(stray, c.op, inputs, 2, &c.out, 1, nullptr, 0);
                 }},
                {"a device index past the end", ANYDML_INVALID_ARGUMENT,
                 "anydml_device_at: index is 1000; expected less than 1",
                 [](Call&) { return anydml_device_at(1000) == nullptr ? ANYDML_INVALID_ARGUMENT : ANYDML_OK; }},
                {"an operator index past the end", ANYDML_INVALID_ARGUMENT,
                 "anydml_operator_at: index is 177; expected less than 177",
                 [](Call&) { return anydml_operator_at(177) == nullptr ? ANYDML_INVALID_ARGUMENT : ANYDML_OK; }},
                {"no output", ANYDML_INVALID_ARGUMENT, FLOOR "the number of output tensors is 0; expected 1",
                 [](Call& c) {
                   c.fill();
                   const anydml_tensor inputs[] = {c.a, c.b};
                   return anydml_run(nullptr, c.op, inputs, 2, &c.out, 0, nullptr, 0);
                 }},
                {"no address for the output of a compiled operator", ANYDML_INVALID_ARGUMENT,
                 FLOOR "outputs is null; expected 1 address", compiled([](Call& c, const anydml_compiled* op) {
                   const void* addresses[] = {c.a.data, c.b.data};
                   return anydml_compiled_run(op, addresses, 2, nullptr, 1);
                 })},
                {"two outputs for a compiled operator that has one", ANYDML_INVALID_ARGUMENT,
                 FLOOR "the number of outputs is 2; expected 1", compiled([](Call& c, const anydml_compiled* op) {
                   const void* addresses[] = {c.a.data, c.b.data};
                   return anydml_compiled_run(op, addresses, 2, &c.out.data, 2);
                 })},
                {"an array as an attribute", ANYDML_INVALID_ARGUMENT,
                 FLOOR "attribute Min: count is 3; expected 0, a single number", generic([](Call& c) {
                   c.attributes = {{"Min", ANYDML_FLOAT64, 3, {}}};
                 })},
};

TEST(BadInput, EachHasACodeAMessageAndNoEffect) {
  std::vector<Case> cases(std::begin(kCases), std::end(kCases));
  cases.insert(cases.end(), graph_cases().begin(), graph_cases().end());
  for (const Case& test : cases) {
    Call call;
    EXPECT_EQ(test.run(call), test.code) << test.what;
    EXPECT_STREQ(anydml_last_error(), test.message) << test.what;
    for (const float value : call.out_data) {
      ASSERT_EQ(value, -99.0F) << test.what << ": the output was written";
    }
    std::printf("| %s | %s | %s |\n", test.what, anydml_status_name(test.code), anydml_last_error());
  }
  std::printf("%zu cases\n", cases.size());
  // The process still works as if nothing had happened.
  Call call;
  call.fill();
  EXPECT_EQ(modulus(call), ANYDML_OK);
  EXPECT_EQ(call.out_data[5], 1.0F);
  EXPECT_EQ(call.out_data[6], -99.0F);
}

TEST(BadInput, AMessageIsCutNotOverrun) {
  const std::string name(100'000, 'Q');
  Call call;
  call.fill();
  call.op = name.c_str();
  EXPECT_EQ(run_generic(call), ANYDML_INVALID_ARGUMENT);
  EXPECT_LT(std::strlen(anydml_last_error()), 1024U);
}

TEST(BadInput, AnUnknownDeviceNamesThoseThereAre) {
  EXPECT_EQ(anydml_find_device("abacus"), nullptr);
  EXPECT_NE(std::strstr(anydml_last_error(),
                        "anydml_find_device: name is 'abacus'; expected the name or a part of the description of a "
                        "device: cpu ("),
            nullptr)
      << anydml_last_error();
}

}  // namespace
}  // namespace anydml::test
