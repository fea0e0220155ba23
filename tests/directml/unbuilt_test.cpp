// SPDX-License-Identifier: MIT
// Tests that DirectML rejects an unimplemented operator, and names it in the message, before reading anything from its
// desc.
#include <gtest/gtest.h>

#include "directml/operator_desc.h"
#include "support/hidden_operator.h"

namespace anydml::test {
namespace {

void refuses(const DML_OPERATOR_DESC& desc) {
  const auto result = make_operator(&desc, facts::kNewestLevel);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(result.error().message, kHiddenMessage);
}

TEST(UnbuiltInDirectML, IsRefusedByNameBeforeItsDescIsRead) {
  refuses({DML_OPERATOR_ACTIVATION_RELU, nullptr});
  const DML_ACTIVATION_RELU_OPERATOR_DESC without_tensors{};
  refuses({DML_OPERATOR_ACTIVATION_RELU, &without_tensors});
  const DML_TENSOR_DESC nothing{DML_TENSOR_TYPE_BUFFER, nullptr};
  const DML_ACTIVATION_RELU_OPERATOR_DESC wrong{&nothing, &nothing};
  refuses({DML_OPERATOR_ACTIVATION_RELU, &wrong});
}

}  // namespace
}  // namespace anydml::test
