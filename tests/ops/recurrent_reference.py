# SPDX-License-Identifier: MIT
"""Bit-exact recurrent networks in NumPy, without fused multiply-add. docs/numerics.md shows some of the functions."""
import numpy as np

from product_reference import product

GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}
ACTIVATIONS = {"RNN": 1, "LSTM": 3, "GRU": 2}
ONE = np.float32(1)


def step_of_rnn(x, h, c, terms, activations, multiply, **_):
    return activations[0](terms.add_bias(x[0] + multiply(h, 0), 0)), c


def step_of_lstm(x, h, c, terms, activations, multiply, clip, couple, rounded, **_):
    f, g, last = activations
    i, o, forget, candidate = range(4)  # the order of DirectML's weights

    def gate(number, activation, peephole=None, cell=None):
        total = x[number] + multiply(h, number)
        if peephole is not None:
            total = terms.peephole(total, peephole, cell)
        total = terms.add_bias(total, number)
        return activation(total if clip is None else np.maximum(np.minimum(total, clip), -clip))

    taken = gate(i, f, 0, c)
    kept = ONE - taken if couple else gate(forget, f, 2, c)
    new = rounded(kept * c + taken * gate(candidate, g))
    return gate(o, f, 1, new) * last(new), new


def step_of_gru(x, h, c, terms, activations, multiply, linear_before_reset, **_):
    f, g = activations
    update, reset = (f(terms.add_bias(x[number] + multiply(h, number), number)) for number in (0, 1))
    if linear_before_reset:
        inner = multiply(h, 2)
        inner = inner if terms.r is None else inner + terms.r[2]
        total = x[2] + reset * inner
        total = total if terms.w is None else total + terms.w[2]
    else:
        total = terms.add_bias(x[2] + multiply(reset * h, 2), 2)
    return (ONE - update) * g(total) + update * h, c


class Terms:
    """The biases and peepholes of one direction. Absent tensors are left out of the sums."""

    def __init__(self, bias, peephole, gates, units):
        both = None if bias is None else bias.reshape(2, gates, units)
        self.w, self.r = (None, None) if both is None else both
        self.p = None if peephole is None else peephole.reshape(3, units)

    def add_bias(self, total, gate):
        return total if self.w is None else total + (self.w[gate] + self.r[gate])

    def peephole(self, total, number, cell):
        return total if self.p is None else total + self.p[number] * cell


def network(kind, x, w, r, activations, bias=None, hidden=None, cell=None, lengths=None, peephole=None,
            direction="FORWARD", clip=None, couple=False, linear_before_reset=False, block=256):
    """x {S, B, I}, w {D, G·H, I}, r {D, G·H, H}, bias {D, 2·G·H}, peephole {D, 3·H}, states {D, B, H}. activations:
    functions of FLOAT32, ordered by direction. Returns the sequence {S, D, B, H} and the last states {D, B, H}."""
    dtype, wide = x.dtype, np.float32
    x, w, r, bias, hidden, cell, peephole = (None if one is None else one.astype(wide)
                                             for one in (x, w, r, bias, hidden, cell, peephole))
    steps, rows, _ = x.shape
    directions, _, units = r.shape
    gates = GATES[kind]
    lengths = np.full(rows, steps) if lengths is None else np.minimum(lengths.astype(np.int64), steps)
    sequence = np.zeros((steps, directions, rows, units), wide)
    singles, cells = (np.zeros((directions, rows, units), wide) for _ in range(2))

    def rounded(values):
        return values.astype(dtype).astype(wide)

    run = {"RNN": step_of_rnn, "LSTM": step_of_lstm, "GRU": step_of_gru}[kind]
    for d in range(directions):
        backward = direction == "BACKWARD" or d == 1
        of_inputs = product(x.reshape(steps * rows, x.shape[-1]), w[d].T, block).reshape(steps, rows, gates, units)
        of_gates = r[d].reshape(gates, units, units).swapaxes(1, 2)
        terms = Terms(None if bias is None else bias[d], None if peephole is None else peephole[d], gates, units)
        h, c = (np.zeros((rows, units), wide) if one is None else one[d] for one in (hidden, cell))
        own = activations[d * ACTIVATIONS[kind]:(d + 1) * ACTIVATIONS[kind]]
        for step in range(int(lengths.max(initial=0))):
            active = np.flatnonzero(step < lengths)
            times = lengths[active] - 1 - step if backward else np.full(active.size, step)
            new_h, new_c = run(of_inputs[times, active].swapaxes(0, 1), h[active], c[active], terms, own,
                               lambda state, gate: product(state, of_gates[gate], block), clip=clip, couple=couple,
                               linear_before_reset=linear_before_reset, rounded=rounded)
            h, c = h.copy(), c.copy()
            h[active], c[active] = rounded(new_h), new_c
            sequence[times, d, active] = h[active]
        singles[d], cells[d] = h, c
    return sequence.astype(dtype), singles.astype(dtype), cells.astype(dtype)
