// SPDX-License-Identifier: MIT
// Lanes of sequences: what happens if the logits of a run cannot be received.
#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <vector>

#include "onnx/generate/lane.h"
#include "onnx/language_model.h"

namespace anydml::test {
namespace {

using onnx::Array;
using onnx::Lane;

// The logits that each call of `append` gives for each sequence.
std::vector<std::vector<float>> appended(Lane& lane, const std::vector<Tokens>& tokens) {
  std::vector<std::vector<float>> all(tokens.size());
  lane.append(tokens, [&](std::size_t sequence, const Array& logits) {
    const Array packed = logits.packed();
    const auto elements = packed.elements<float>();
    all[sequence].assign(elements.begin(), elements.end());
  });
  return all;
}

class OnnxLane : public testing::Test {
 protected:
  const LanguageModel model_;
  onnx::Decoder decoder_{onnx::read_generate_config(model_.folder()), {}};
};

// After the failure, the caller appends the same tokens again to the sequences that have not received their logits.
TEST_F(OnnxLane, AReceiverThatFailsLeavesTheTextAsItWas) {
  for (const std::int64_t rows : {0, 20}) {  // a growing cache, and one with free rows
    const std::size_t batch = rows == 0 ? 1 : 2;
    const std::vector<Tokens> prompts(batch, kPrompt);
    std::vector<Tokens> next = {{11}, {4}};
    next.resize(batch);
    Lane whole(decoder_, batch, {.rows = rows, .chunk = 16});
    Lane lane(decoder_, batch, {.rows = rows, .chunk = 16});
    appended(whole, prompts);
    appended(lane, prompts);
    const std::vector<std::vector<float>> expected = appended(whole, next);
    std::size_t received = 0;
    EXPECT_THROW(lane.append(next,
                             [&](std::size_t sequence, const Array&) {
                               if (sequence + 1 == batch) {
                                 throw std::runtime_error("no memory for the logits");
                               }
                               ++received;
                             }),
                 std::runtime_error);
    EXPECT_EQ(received, batch - 1);
    EXPECT_EQ(lane.text(batch - 1), kPrompt);
    std::vector<Tokens> again(batch);
    again.back() = next.back();
    EXPECT_EQ(appended(lane, again).back(), expected.back()) << rows << " rows";
    EXPECT_EQ(lane.text(batch - 1), whole.text(batch - 1));
    EXPECT_EQ(lane.text(0), whole.text(0));
  }
}

}  // namespace
}  // namespace anydml::test
