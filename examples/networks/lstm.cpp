// SPDX-License-Identifier: MIT
// Two LSTM layers over a signal of 64 elements per time step. The first layer reads the signal in both directions; its
// output, {steps, directions, batch, units}, is transposed so that both directions of a time step are adjacent.
#include "networks.h"

namespace networks {

Value build_lstm(Builder& to, const Scale& scale) {
  constexpr UINT kInputs = 64;
  constexpr UINT kUnits = 128;
  constexpr UINT kClasses = 10;
  const UINT steps = scale.size;
  const UINT batch = scale.batch;
  const Value signal = to.signals({batch, 1, steps, kInputs});
  // The operator expects the batch dimension after the time steps.
  const Value x = to.packed(signal.view({1, steps, batch, kInputs}, {0, kInputs, steps * kInputs, 1}));
  const Value both = to.lstm_sequence(x, kUnits);
  const Value turned = to.packed(both.view({steps, batch, 2, kUnits}, {2 * batch * kUnits, kUnits, batch * kUnits, 1}));
  const Value state = to.lstm_state(turned.view({1, steps, batch, 2 * kUnits}), kUnits);
  return to.softmax(to.product(state, kClasses, 3));
}

}  // namespace networks
