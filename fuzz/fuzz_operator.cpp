// SPDX-License-Identifier: MIT
// Fuzzes the C API's operators. A description is rejected with a message, or runs: then the vector kernels and the
// generic kernels return the same bits.
#include "facts/facts.h"
#include "fuzz/calls.h"

namespace anydml::fuzz {
namespace {

// Changes one number of a description.
void change(schema::Described& described, Input& input) {
  schema::Argument& argument = described.arguments[input.below(described.arguments.size())];
  if (!argument.numbers.empty()) {
    argument.numbers[input.below(argument.numbers.size())] = Scalar(static_cast<i64>(input.extreme()));
  }
  if (argument.tensors.empty()) {
    return;
  }
  schema::GivenTensor& tensor = argument.tensors[input.below(argument.tensors.size())];
  const auto axis = input.below(kMaxRank);
  switch (input.below(5)) {
    case 0:
      tensor.sizes[axis] = static_cast<i64>(input.extreme());
      break;
    case 1:
      tensor.strides[axis] = static_cast<i64>(input.extreme());
      tensor.has_strides = true;
      break;
    case 2:
      tensor.type = input.byte();
      break;
    case 3:
      tensor.rank = input.byte() % (kMaxRank + 1);
      break;
    default:
      argument.tensors.push_back(tensor);
  }
}

void run(Input input) {
  const auto all = facts::operators();
  const facts::Operator& op = all[input.below(all.size())];
  auto described = input.operators(96).make(op, facts::kNewestLevel, 8);
  if (!described) {
    return note(kNothing);
  }
  if (input.one_in(3)) {
    change(*described, input);
    const test::DescribedCall call(*described);
    if (!call.is_taken(vector_device())) {
      require(anydml_last_error()[0] != '\0', std::string(op.name) + " is rejected without a message");
      return note(kRejected);
    }
    return note(kNothing);
  }
  Call call(*described);
  if (!call.is_small()) {
    return note(kNothing);
  }
  call.allocate(input);
  const auto actual = call.run(vector_device());
  const auto expected = call.run(generic_device());
  require(actual.has_value() == expected.has_value(), call.name + " is accepted by one of two devices");
  note(actual ? kRan : kRejected);
  if (actual) {
    call.require_same(*actual, *expected, "the vector kernels and the generic ones differ");
  }
}

}  // namespace
}  // namespace anydml::fuzz

std::string fuzz_summary() { return anydml::fuzz::summary(); }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  anydml::fuzz::run(anydml::fuzz::Input(data, size));
  return 0;
}
