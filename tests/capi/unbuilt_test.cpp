// SPDX-License-Identifier: MIT
// The C API rejects an unimplemented operator, and names it in the message, before checking its tensors and attributes.
#include <anydml/anydml.h>
#include <gtest/gtest.h>

#include <string>

#include "ops/operators.h"
#include "support/described_text.h"
#include "support/hidden_operator.h"

namespace anydml::test {
namespace {

TEST(Unbuilt, ACallIsRefusedByNameWhateverItIsGiven) {
  const anydml_tensor nonsense{99, -1, nullptr, nullptr, nullptr};
  anydml_compiled* compiled = nullptr;
  for (const char* const name : {"ACTIVATION_RELU", "DML_OPERATOR_ACTIVATION_RELU"}) {
    EXPECT_EQ(anydml_run(nullptr, name, nullptr, 0, nullptr, 0, nullptr, 0), ANYDML_UNSUPPORTED);
    EXPECT_STREQ(anydml_last_error(), kHiddenMessage);
    EXPECT_EQ(anydml_run(nullptr, name, &nonsense, 1, &nonsense, 1, nullptr, 0), ANYDML_UNSUPPORTED);
    EXPECT_EQ(anydml_compile(nullptr, name, &nonsense, 1, &nonsense, 1, nullptr, 0, &compiled), ANYDML_UNSUPPORTED);
    EXPECT_STREQ(anydml_last_error(), kHiddenMessage);
    EXPECT_EQ(compiled, nullptr);
  }
}

TEST(Unbuilt, AGraphNamesTheNodeToo) {
  anydml_graph* graph = nullptr;
  ASSERT_EQ(anydml_graph_create(&graph), ANYDML_OK);
  const anydml_value nowhere[] = {77, 78, 79, 80};
  const anydml_tensor nonsense{99, -1, nullptr, nullptr, nullptr};
  anydml_value value = 0;
  EXPECT_EQ(anydml_graph_add_operator(graph, "ACTIVATION_RELU", nowhere, 4, &nonsense, 1, nullptr, 0, &value),
            ANYDML_UNSUPPORTED);
  EXPECT_STREQ(anydml_last_error(), "node 0: ACTIVATION_RELU: this DirectML operator is not implemented yet");
  anydml_graph_release(graph);
}

TEST(Unbuilt, AnActivationIsRefusedWithTheOperatorThatItIsFusedWith) {
  for (const char* const name : {"ELEMENT_WISE_ADD1 ATensor=f32[4] BTensor=f32[4] OutputTensor=f32[4]",
                                 "BATCH_NORMALIZATION InputTensor=f32[4] MeanTensor=f32[1] VarianceTensor=f32[1] "
                                 "ScaleTensor=f32[1] BiasTensor=f32[1] OutputTensor=f32[4] Spatial=1 Epsilon=0"}) {
    const auto described = parse_described(std::string(name) + " FusedActivation=ACTIVATION_RELU");
    const auto result = make_op_desc(described, SchemaState::unchecked);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
    EXPECT_EQ(result.error().message,
              std::string(described.op->name) + ": FusedActivation is ACTIVATION_RELU, which is not implemented yet");
  }
}

TEST(Unbuilt, TheListSaysSo) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < anydml_operator_count(); ++i) {
    const anydml_operator_info& info = *anydml_operator_at(i);
    const bool is_hidden = info.name == kHiddenOperator;
    found += is_hidden ? 1U : 0U;
    if (is_hidden) {
      EXPECT_EQ(info.is_built, 0);
      EXPECT_EQ(info.types, 0U);
    } else if (std::string_view(info.name).starts_with("ELEMENT_WISE_")) {
      EXPECT_EQ(info.is_built, 1) << info.name;
    }
  }
  EXPECT_EQ(found, 1U);
}

}  // namespace
}  // namespace anydml::test
