// SPDX-License-Identifier: MIT
// Tests that a model with an unimplemented operator gets a different message from an invalid model.
#include <gtest/gtest.h>

#include "model_reader.h"

namespace anydml::dmlrun {
namespace {

TEST(UnbuiltInModels, IsFoundByItsName) {
  auto document = JsonDocument::parse(R"({"resources": {}, "commands": [], "dispatchables": {
    "one": {"type": "ELEMENT_WISE_ABS", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [2]},
                                                 "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2]}}},
    "two": {"type": "ACTIVATION_RELU", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [2]},
                                                "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2]}}}}})");
  ASSERT_TRUE(document);
  Problems problems;
  const Model model =
      read_model(document.value(), {.folders = {.input = ".", .output = "."}, .max_memory = 1 << 20}, problems);
  EXPECT_TRUE(problems.none());
  const auto found = find_not_built(model);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].path, "dispatchables.two.desc");
  EXPECT_EQ(found[0].reason,
            "ACTIVATION_RELU is an operator of DirectML that is not built here yet; dmlrun operators --built lists "
            "the available ones");
}

}  // namespace
}  // namespace anydml::dmlrun
