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


def codes_of(x):
    """DYNAMIC_QUANTIZE_LINEAR of all elements to UINT8: the codes, their scale and their zero point."""
    low, high = np.minimum(x.min(), np.float32(0)), np.maximum(x.max(), np.float32(0))
    scale = (high - low) / np.float32(255)
    zero = np.rint(np.clip(np.float32(0) - low / scale, 0, 255))
    zero = 0 if np.isnan(zero) else int(zero)
    quotients = np.rint(x / scale)
    whole = np.where(np.isnan(quotients), 0, np.clip(quotients, -2.0**20, 2.0**20)).astype(np.int64)
    return np.clip(whole + zero, 0, 255), scale, zero


def integer_product(x, weights, scales, zeros):
    """The rows of x are rounded to 8 bits together; weights {depth, columns}: integers; a scale and a zero point for
    each column."""
    codes, scale, zero = codes_of(x)
    totals = ((codes - zero) @ (weights.astype(np.int64) - zeros)).astype(np.uint32).view(np.int32)
    return totals.astype(np.float32) * (scale * scales)


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
            direction="FORWARD", clip=None, couple=False, linear_before_reset=False, block=256, integers=None):
    """x {S, B, I}, w {D, G·H, I}, r {D, G·H, H}, bias {D, 2·G·H}, peephole {D, 3·H}, states {D, B, H}. activations:
    functions of FLOAT32, ordered by direction. integers: absent, or the scales of w, the zero points of w, the scales
    of r and the zero points of r, {D, G·H} each. Returns the sequence {S, D, B, H} and the last states {D, B, H}."""
    dtype, wide = x.dtype, np.float32
    codes = w, r
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
        if integers is None:
            of_inputs = product(x.reshape(steps * rows, x.shape[-1]), w[d].T, block)
            of_gates = r[d].reshape(gates, units, units).swapaxes(1, 2)

            def multiply(state, gate, of_gates=of_gates):
                return product(state, of_gates[gate], block)
        else:
            w_scale, w_zero, r_scale, r_zero = (one[d] for one in integers)
            flat = x.reshape(steps * rows, x.shape[-1])
            of_inputs = integer_product(flat, codes[0][d].T, w_scale, w_zero) if x.size else x

            def multiply(state, gate, r=codes[1][d], scale=r_scale, zero=r_zero):
                some = slice(gate * units, (gate + 1) * units)
                return np.stack([integer_product(row, r[some].T, scale[some], zero[some]) for row in state])

        of_inputs = of_inputs.reshape(steps, rows, gates, units)
        terms = Terms(None if bias is None else bias[d], None if peephole is None else peephole[d], gates, units)
        h, c = (np.zeros((rows, units), wide) if one is None else one[d] for one in (hidden, cell))
        own = activations[d * ACTIVATIONS[kind]:(d + 1) * ACTIVATIONS[kind]]
        for step in range(int(lengths.max(initial=0))):
            active = np.flatnonzero(step < lengths)
            times = lengths[active] - 1 - step if backward else np.full(active.size, step)
            new_h, new_c = run(of_inputs[times, active].swapaxes(0, 1), h[active], c[active], terms, own,
                               multiply, clip=clip, couple=couple, linear_before_reset=linear_before_reset,
                               rounded=rounded)
            h, c = h.copy(), c.copy()
            h[active], c[active] = rounded(new_h), new_c
            sequence[times, d, active] = h[active]
        singles[d], cells[d] = h, c
    return sequence.astype(dtype), singles.astype(dtype), cells.astype(dtype)
