# SPDX-License-Identifier: MIT
"""Recurrent network cases for onnx_cases.py."""
import numpy as np


def of_network(gates, peepholes=False):
    """The reference supports only the forward direction, ignores lengths, and rounds every operation in float16."""
    def make(dtype, since):
        if dtype != np.float32:
            return []
        steps, rows, inputs, units = 3, 2, 4, 5
        random = np.random.default_rng(gates)
        x, w, r, b, hidden, cell, peephole = (random.standard_normal(shape).astype(dtype) for shape in (
            (steps, rows, inputs), (1, gates * units, inputs), (1, gates * units, units), (1, 2 * gates * units),
            (1, rows, units), (1, rows, units), (1, 3 * units)))
        lengths, options = np.full(rows, steps, np.int32), {"hidden_size": units, "outputs": 2}
        return [([x, w, r], options), ([x, w, r, b, lengths, hidden], options),
                *([([x, w, r, b, None, hidden, cell, peephole], options)] if peepholes else [])]
    return make
