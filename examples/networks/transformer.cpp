// SPDX-License-Identifier: MIT
// A transformer encoder: token and position embeddings, then layers of attention followed by two products. The
// attention's and the products' outputs are added to their inputs and normalized. The mean over all tokens is
// classified.
#include "networks.h"

namespace networks {

Value build_transformer(Builder& to, const Scale& scale) {
  constexpr UINT kSymbols = 1000;
  constexpr UINT kWidth = 256;
  constexpr UINT kHeads = 4;
  constexpr UINT kClasses = 10;
  const UINT tokens = scale.size;
  const Value symbols = to.symbols({1, 1, scale.batch, tokens}, kSymbols);
  const Value words = to.gather(to.weights({1, 1, kSymbols, kWidth}, 1), symbols);
  // Every sequence has the same positions, so a stride of 0 repeats the position table.
  const Value positions =
      to.weights({1, 1, tokens, kWidth}, 1).view({1, scale.batch, tokens, kWidth}, {0, 0, kWidth, 1});
  Value x = to.layer_normalization(to.add(words, positions));
  for (UINT i = 0; i < scale.depth; ++i) {
    const Value seen = to.attention(to.product(x, 3 * kWidth, 3), kHeads);
    x = to.layer_normalization(to.add(x, to.product(seen.view(x.sizes), kWidth, 3)));
    const Value thought = to.product(to.gelu(to.product(x, 4 * kWidth, 6)), kWidth, 6);
    x = to.layer_normalization(to.add(x, thought));
  }
  const Value mean = to.mean_of_rows(x).view({1, 1, scale.batch, kWidth});
  return to.softmax(to.product(mean, kClasses, 3));
}

}  // namespace networks
