#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares RNN, LSTM and GRU with the NumPy program in docs/numerics.md, bit for bit, and with ONNX's reference.

usage: recurrent_oracle.py LIBANYDML [--cases N] [--torch]
"""
import argparse
import sys

import numpy as np

from numpy_oracle import SEED, Library, count_different
from product_oracle import laid_out
from recurrent_reference import ACTIVATIONS, GATES, network

DIRECTIONS = ("FORWARD", "BACKWARD", "BIDIRECTIONAL")
DEFAULTS = {"RNN": ("TANH",), "LSTM": ("SIGMOID", "TANH", "TANH"), "GRU": ("SIGMOID", "TANH")}
# Activations, with attributes.
OTHERS = (("IDENTITY", ()), ("SIGMOID", ()), ("TANH", ()), ("RELU", ()), ("LINEAR", (("Alpha", 0.7), ("Beta", -0.1))),
          ("HARD_SIGMOID", (("Alpha", 0.2), ("Beta", 0.5))), ("SCALED_TANH", (("Alpha", 1.2), ("Beta", 0.6))),
          ("LEAKY_RELU", (("Alpha", 0.1),)), ("THRESHOLDED_RELU", (("Alpha", 0.2),)), ("ELU", (("Alpha", 0.8),)),
          ("CELU", (("Alpha", 1.3),)), ("SCALED_ELU", (("Alpha", 1.6), ("Gamma", 1.05))),
          ("SOFTPLUS", (("Steepness", 1.5),)), ("PARAMETRIC_SOFTPLUS", (("Alpha", 0.6), ("Beta", 1.1))),
          ("SOFTSIGN", ()), ("SHRINK", (("Bias", 0.1), ("Threshold", 0.3))), ("GELU", ()))


def by_definition(library, name, attributes):
    """Returns a FLOAT32 function: NumPy's if its results are correctly rounded, otherwise the library's own operator,
    which other tests compare with NumPy."""
    if name == "TANH":
        return lambda x: np.tanh(x.astype(np.float64)).astype(np.float32)
    if name == "SIGMOID":
        return lambda x: (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32)

    def run(x):
        out = np.empty_like(x)
        if x.size != 0:
            library.run("ACTIVATION_" + name, [np.ascontiguousarray(x)], out, attributes)
        return out

    return run


class Case:
    """A network, its tensors and its attributes."""

    def __init__(self, random, kind, steps, rows, inputs, units, dtype=np.float32, direction="FORWARD",
                 activations=None, bias=True, hidden=True, cell=True, lengths=None, peephole=False, clip=None,
                 couple=False, linear_before_reset=False, scale=1.0):
        self.kind, self.direction, self.dtype = kind, direction, np.dtype(dtype)
        directions = 2 if direction == "BIDIRECTIONAL" else 1
        gates = GATES[kind]
        count = ACTIVATIONS[kind] * directions
        self.activations = activations or [(name, ()) for name in DEFAULTS[kind]] * directions
        assert len(self.activations) == count

        def draw(*shape, by=1.0):
            return (random.standard_normal(shape) * by * scale).astype(dtype)

        self.x = draw(1, steps, rows, inputs)
        self.w = draw(1, directions, gates * units, inputs, by=max(inputs, 1)**-0.5)
        self.r = draw(1, directions, gates * units, units, by=max(units, 1)**-0.5)
        self.bias = draw(1, 1, directions, 2 * gates * units, by=0.3) if bias else None
        self.hidden = draw(1, directions, rows, units) if hidden else None
        self.cell = draw(1, directions, rows, units) if cell and kind == "LSTM" else None
        self.peephole = draw(1, 1, directions, 3 * units, by=0.5) if peephole and kind == "LSTM" else None
        self.lengths = None if lengths is None else np.asarray(lengths, np.uint32).reshape(1, 1, 1, rows)
        self.clip, self.couple, self.linear_before_reset = clip, couple, linear_before_reset
        self.sizes = ((steps, directions, rows, units), (1, directions, rows, units), (1, directions, rows, units))

    def attributes(self):
        result = [("ActivationDescs", [("ACTIVATION_" + name, values) for name, values in self.activations]),
                ("Direction", self.direction)]
        if self.kind == "LSTM":
            result += [("ClipThreshold", float(self.clip or 0)), ("UseClipThreshold", int(self.clip is not None)),
                     ("CoupleInputForget", int(self.couple))]
        if self.kind == "GRU":
            result += [("LinearBeforeReset", int(self.linear_before_reset))]
        return result

    def inputs(self):
        first = [self.x, self.w, self.r, self.bias, self.hidden]
        return [*first, self.cell, self.lengths, self.peephole] if self.kind == "LSTM" else [*first, self.lengths]

    def run(self, library, layout=0, wanted=(True, True, True)):
        outputs = [laid_out(np.full(sizes, 77, self.dtype), layout) if is_wanted else None
                   for sizes, is_wanted in zip(self.sizes, wanted)][:3 if self.kind == "LSTM" else 2]
        inputs = [None if one is None else laid_out(one, layout) for one in self.inputs()]
        library.run(self.kind, inputs, outputs, self.attributes())
        return outputs

    def expected(self, library, block=256):
        def view(one, *axes):
            return None if one is None else one.reshape(*(one.shape[axis] for axis in axes))

        result = network(self.kind, self.x[0], self.w[0], self.r[0],
                       [by_definition(library, *one) for one in self.activations], bias=view(self.bias, 2, 3),
                       hidden=view(self.hidden, 1, 2, 3), cell=view(self.cell, 1, 2, 3), lengths=view(self.lengths, 3),
                       peephole=view(self.peephole, 2, 3), direction=self.direction,
                       clip=None if self.clip is None else np.float32(self.clip), couple=self.couple,
                       linear_before_reset=self.linear_before_reset, block=block)
        return [result[0], result[1][None], result[2][None]][:3 if self.kind == "LSTM" else 2]

    def __str__(self):
        given = [name for name in ("bias", "hidden", "cell", "lengths", "peephole") if getattr(self, name) is not None]
        return (f"{self.kind} of {self.dtype} {self.x.shape} to {self.r.shape}, {self.direction}, {given}, clip "
                f"{self.clip}, couple {self.couple}, linear {self.linear_before_reset}, {self.activations}")


class Checker:
    def __init__(self, library):
        self.library = library
        self.compared = self.cases = 0

    def same(self, case, outputs, expected, what=""):
        for number, (one, other) in enumerate(zip(outputs, expected)):
            if one is None:
                continue
            different = count_different(np.ascontiguousarray(one), np.ascontiguousarray(other))
            if different.any():
                where = tuple(np.argwhere(different)[0])
                sys.exit(f"{case} {what}: output {number}: {different.sum()} of {one.size} differ; first {where}: "
                         f"{one[where]!r}, expected {other[where]!r}")
            self.compared += one.size
        self.cases += 1

    def check(self, case, layout=0, wanted=(True, True, True)):
        self.same(case, case.run(self.library, layout, wanted), case.expected(self.library), f"layout {layout}")


def check_forms(checker, random):
    """Each network with every optional feature, alone and in combination."""
    for kind in GATES:
        for direction in DIRECTIONS:
            for dtype in (np.float32, np.float16):
                for form in range(8):
                    options = {"bias": form & 1 != 0, "hidden": form & 2 != 0, "cell": form & 4 != 0,
                               "lengths": [3, 0, 9] if form & 2 else None, "peephole": form & 1 != 0,
                               "clip": 0.4 if form & 4 else None, "couple": form & 2 != 0,
                               "linear_before_reset": form & 4 != 0}
                    checker.check(Case(random, kind, 4, 3, 5, 7, dtype, direction, **options))


def check_sizes(checker, random):
    """Sizes around the edges of strips, panels and blocks of products."""
    for kind in GATES:
        for linear in (False, True) if kind == "GRU" else (False,):
            for rows, units in ((1, 1), (1, 16), (1, 33), (2, 17), (6, 16), (7, 48), (13, 5), (14, 32), (29, 40),
                                (100, 3), (197, 2), (1, 257), (3, 260)):
                checker.check(Case(random, kind, 2, rows, 3, units, linear_before_reset=linear, peephole=True))
    for inputs in (1, 300):
        checker.check(Case(random, "LSTM", 3, 2, inputs, 4))


def check_activations(checker, random):
    for number, one in enumerate(OTHERS):
        for kind, count in ACTIVATIONS.items():
            some = [OTHERS[(number + 5 * i) % len(OTHERS)] for i in range(count)]
            some[number % count] = one
            both = [*some, *reversed(some)]
            for dtype in (np.float32, np.float16):
                checker.check(Case(random, kind, 2, 3, 4, 9, dtype, "BIDIRECTIONAL", activations=both, scale=0.7,
                                   linear_before_reset=number % 2 == 0))


def check_layouts(checker, random):
    for kind in GATES:
        for layout in range(1, 5):
            for dtype in (np.float32, np.float16):
                checker.check(Case(random, kind, 3, 4, 5, 18, dtype, "BIDIRECTIONAL", lengths=[3, 1, 0, 2],
                                   peephole=True), layout)
        for wanted in range(1, 8 if kind == "LSTM" else 4):
            checker.check(Case(random, kind, 3, 2, 5, 6, direction=DIRECTIONS[wanted % 3]),
                          wanted=tuple(wanted >> i & 1 != 0 for i in range(3)))


def check_special(checker, random):
    """Infinities and NaNs in the tensors, no time steps, no inputs."""
    for kind in GATES:
        for dtype in (np.float32, np.float16):
            case = Case(random, kind, 3, 5, 4, 20, dtype, "BIDIRECTIONAL", peephole=True)
            case.x[0, 1, 2, 3], case.x[0, 2, 0, 1], case.hidden[0, 0, 1, 3] = np.inf, np.nan, -np.inf
            case.r[0, 1, 3, 2] = np.inf
            checker.check(case)
        for steps, inputs in ((0, 4), (3, 0)):
            for lengths in (None, [1, 3]):
                checker.check(Case(random, kind, steps, 2, inputs, 5, lengths=lengths))
        checker.check(Case(random, kind, 3, 0, 4, 5))


def check_parts(checker, random):
    """A sequence processed in parts, with the states passed from one part to the next, gives the same bits."""
    for kind in GATES:
        for dtype in (np.float32, np.float16):
            for rows, units in ((1, 40), (9, 33)):
                case = Case(random, kind, 11, rows, 6, units, dtype, peephole=True)
                whole = case.run(checker.library)
                for sizes in ((1, 10), (5, 6), (3, 3, 5), (1,) * 11):
                    result, first, inputs = [], 0, case.x
                    start = case.hidden, case.cell
                    for size in sizes:
                        case.x = np.ascontiguousarray(inputs[:, first:first + size])
                        case.sizes = ((size, *case.sizes[0][1:]), *case.sizes[1:])
                        sequence, case.hidden, *cells = case.run(checker.library)
                        case.cell = cells[0] if cells else None
                        result.append(sequence)
                        first += size
                    checker.same(case, [np.concatenate(result), case.hidden, case.cell], [*whole, None],
                                 f"in parts of {sizes}")
                    case.x = inputs
                    case.hidden, case.cell = start


def check_order(checker, random):
    """Checks the test itself: a different summation order must change the bits."""
    noticed = 0
    for kind in GATES:
        case = Case(random, kind, 2, 3, 300, 300)
        outputs = case.run(checker.library)
        checker.same(case, outputs, case.expected(checker.library))
        noticed += sum(count_different(one, other).any() for one, other in
                       zip(outputs, case.expected(checker.library, block=128)))
    if noticed < 6:
        sys.exit("the test does not detect a wrong summation order")


def check_random(checker, random, count):
    for _ in range(count):
        kind = random.choice(list(GATES))
        direction = random.choice(DIRECTIONS)
        steps, rows, inputs, units = (int(random.integers(1, most)) for most in (6, 20, 12, 40))
        chance = [bool(random.integers(2)) for _ in range(7)]
        names = [OTHERS[i] for i in random.integers(0, len(OTHERS), ACTIVATIONS[kind] * (1 + (direction[0:2] == "BI")))]
        checker.check(Case(random, kind, steps, rows, inputs, units, random.choice([np.float32, np.float16]), direction,
                           names if random.integers(3) == 0 else None, chance[0], chance[1], chance[2],
                           random.integers(0, steps + 2, rows) if chance[3] else None, chance[4],
                           float(random.uniform(0.1, 2)) if chance[5] else None, chance[6], chance[0] != chance[6]),
                      int(random.integers(5)))


def beside_onnx(library, random):
    """Compares with ONNX's reference, if the package is installed; it only supports the direction FORWARD."""
    try:
        from onnx import TensorProto, helper
        from onnx.reference import ReferenceEvaluator
    except ImportError:
        print("  ONNX's reference: the onnx package is not installed")
        return
    worst, cases = 0.0, 0
    for kind in GATES:
        for form in range(8):
            case = Case(random, kind, 6, 1 + form, 9, 40, bias=form & 1 != 0, hidden=form & 2 != 0, cell=form & 2 != 0,
                        peephole=form & 4 != 0, linear_before_reset=form & 4 != 0)
            arrays = {"X": case.x[0], "W": case.w[0], "R": case.r[0]}
            for name, one in (("B", case.bias), ("P", case.peephole)):
                if one is not None:
                    arrays[name] = one[0, 0]
            for name, one in (("initial_h", case.hidden), ("initial_c", case.cell)):
                if one is not None:
                    arrays[name] = one[0]
            order = ("X", "W", "R", "B", "sequence_lens", "initial_h", *(("initial_c", "P") if kind == "LSTM" else ()))
            options = {"linear_before_reset": int(case.linear_before_reset)} if kind == "GRU" else {}
            node = helper.make_node(kind, [name if name in arrays else "" for name in order], ["Y", "Y_h"],
                                    hidden_size=40, **options)
            graph = helper.make_graph([node], "one", [helper.make_tensor_value_info(name, TensorProto.FLOAT, one.shape)
                                                      for name, one in arrays.items()],
                                      [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
                                       for name in ("Y", "Y_h")])
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])
            theirs = ReferenceEvaluator(model).run(None, arrays)
            ours = case.run(library)
            worst = max(worst, float(np.abs(ours[0] - theirs[0]).max()), float(np.abs(ours[1][0] - theirs[1]).max()))
            cases += 1
    if worst > 1e-5:
        sys.exit(f"{worst:.2g} away from ONNX's reference")
    print(f"  {cases} networks at most {worst:.1g} away from ONNX's reference")


def beside_torch(library, random):
    """Compares with PyTorch in FLOAT64. Its gates are in a different order, and its GRU is the one with
    LinearBeforeReset."""
    import torch
    worst = 0.0
    for kind, order in (("RNN", [0]), ("LSTM", [0, 2, 3, 1]), ("GRU", [1, 0, 2])):
        for rows, units in ((1, 64), (5, 300)):
            case = Case(random, kind, 20, rows, 50, units, direction="BIDIRECTIONAL", linear_before_reset=True)
            network_of = getattr(torch.nn, kind)(50, units, bidirectional=True, dtype=torch.float64)
            with torch.no_grad():
                for d, suffix in enumerate(("", "_reverse")):
                    biases = case.bias[0, 0, d].reshape(2, len(order), units)[:, order].reshape(2, -1)
                    for name, one in (("weight_ih", case.w[0, d].reshape(len(order), units, -1)[order]),
                                      ("weight_hh", case.r[0, d].reshape(len(order), units, -1)[order]),
                                      ("bias_ih", biases[0]), ("bias_hh", biases[1])):
                        parameter = getattr(network_of, f"{name}_l0{suffix}")
                        parameter.copy_(torch.from_numpy(one.astype(np.float64).reshape(parameter.shape)))
                states = [torch.from_numpy(one[0].astype(np.float64)) for one in (case.hidden, case.cell)
                          if one is not None]
                theirs, last = network_of(torch.from_numpy(case.x[0].astype(np.float64)),
                                          tuple(states) if kind == "LSTM" else states[0])
            ours = case.run(library)
            theirs = theirs.numpy().reshape(20, rows, 2, units).swapaxes(1, 2)
            worst = max(worst, float(np.abs(ours[0] - theirs).max()))
            for one, other in zip(ours[1:], last if kind == "LSTM" else [last]):
                worst = max(worst, float(np.abs(one[0] - other.numpy()).max()))
    if worst > 1e-5:
        sys.exit(f"{worst:.2g} away from PyTorch in FLOAT64")
    print(f"  at most {worst:.1g} away from PyTorch in FLOAT64")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--cases", type=int, default=60, help="random networks")
    parser.add_argument("--torch", action="store_true", help="also compare with PyTorch")
    options = parser.parse_args()
    library = Library(options.library)
    random = np.random.default_rng(SEED)
    print(f"NumPy {np.__version__}, seed {SEED}")
    np.seterr(all="ignore")
    checker = Checker(library)
    for name, part in (("forms", check_forms), ("sizes", check_sizes), ("activations", check_activations),
                       ("layouts", check_layouts), ("special", check_special), ("parts", check_parts),
                       ("order", check_order), ("random", lambda *both: check_random(*both, options.cases))):
        checker.compared = checker.cases = 0
        part(checker, random)
        print(f"  {name:18} {checker.compared:9} elements in {checker.cases} networks, none different")
    beside_onnx(library, random)
    if options.torch:
        beside_torch(library, random)


if __name__ == "__main__":
    main()
