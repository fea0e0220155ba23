# SPDX-License-Identifier: MIT
"""Expresses Adam from ai.onnx.preview.training as ONNX nodes. Its rate is a tensor, and its first step is step 0;
DirectML's ADAM_OPTIMIZER supports neither. The nodes are element-wise, so a graph computes them in one pass.
"""
import numpy as np

from ._contrib import by

DOMAIN = "ai.onnx.preview.training"


def _adam(n):
    if "double" in n.kinds:
        n.refuse("of double")
    alpha, beta = (np.float32(n.get(name, default)) for name, default in (("alpha", 0.9), ("beta", 0.999)))
    one = np.float32(1)

    def number(value):
        return n.constant(value, np.float32)

    rate, step = n.input(0), n.input(1)
    count = n("Cast", step, to_=1)
    less = [n("Sub", number(one), n("Pow", number(base), count)) for base in (beta, alpha)]
    corrected = n("Mul", rate, n("Div", n("Sqrt", less[0]), less[1]))
    rate = n("Where", n("Greater", step, n.constant(0)), corrected, rate)
    tensors = n.node.input[2:]
    several = len(tensors) // 4
    for i in range(several):
        x, gradient, first, second = tensors[i::several]
        if n.get("norm_coefficient", 0.0):
            gradient = n("Add", n("Mul", x, number(n.get("norm_coefficient"))), gradient)
        first = n("Add", n("Mul", first, number(alpha)), n("Mul", gradient, number(one - alpha)), to=n.output(several + i))
        square = n("Mul", n("Mul", gradient, number(one - beta)), gradient)
        second = n("Add", n("Mul", second, number(beta)), square, to=n.output(2 * several + i))
        root = n("Add", n("Sqrt", second), number(n.get("epsilon", 0.0)))
        x = n("Sub", x, n("Div", n("Mul", first, rate), root))
        n.end(n("Mul", x, number(one - np.float32(n.get("norm_coefficient_post", 0.0)))), i)


TRAINING = {"Adam": by(_adam)}
