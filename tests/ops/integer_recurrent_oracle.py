#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares DYNAMIC_QUANTIZE_LSTM with the NumPy program in docs/numerics.md, bit for bit.

usage: integer_recurrent_oracle.py LIBANYDML [--cases N]
"""
import argparse
import sys

import numpy as np

from numpy_oracle import SEED, Library, count_different
from product_oracle import laid_out
from recurrent_oracle import DIRECTIONS, OTHERS, Case, by_definition
from recurrent_reference import network


class IntegerCase(Case):
    """An LSTM whose weights are integers. `by` says which scales differ: a number for each direction, or for each row."""

    def __init__(self, random, steps, rows, inputs, units, dtype=np.int8, direction="FORWARD", by="row", zeros=True,
                 **options):
        super().__init__(random, "LSTM", steps, rows, inputs, units, direction=direction, **options)
        limits = np.iinfo(dtype)
        directions = self.r.shape[1]

        def codes(*shape):
            return random.integers(limits.min, limits.max + 1, shape).astype(dtype)

        def for_rows(draw):
            size = 4 * units if by == "row" else 1
            return np.broadcast_to(draw(1, 1, directions, size), (1, 1, directions, 4 * units))

        def scales(depth):
            return for_rows(lambda *shape: (random.uniform(0.2, 1, shape) * max(depth, 1)**-0.5 / 128).astype(np.float32))

        self.w, self.r = codes(*self.w.shape), codes(*self.r.shape)
        self.integers = [scales(inputs), for_rows(codes) if zeros else None,
                         scales(units), for_rows(codes) if zeros else None]

    def run(self, library, layout=0, wanted=(True, True, True)):
        outputs = [laid_out(np.full(sizes, 77, np.float32), layout) if is_wanted else None
                   for sizes, is_wanted in zip(self.sizes, wanted)]
        inputs = [None if one is None else laid_out(one, layout) for one in self.inputs() + self.integers]
        library.run("DYNAMIC_QUANTIZE_LSTM", inputs, outputs, self.attributes())
        return outputs

    def expected(self, library):
        def view(one, *axes):
            return None if one is None else one.reshape(*(one.shape[axis] for axis in axes))

        none = np.zeros(self.integers[0].shape[2:], np.int64)
        integers = [none if one is None else one[0, 0] if one.dtype == np.float32 else one[0, 0].astype(np.int64)
                    for one in self.integers]
        result = network("LSTM", self.x[0], self.w[0], self.r[0],
                         [by_definition(library, *one) for one in self.activations], bias=view(self.bias, 2, 3),
                         hidden=view(self.hidden, 1, 2, 3), cell=view(self.cell, 1, 2, 3), lengths=view(self.lengths, 3),
                         peephole=view(self.peephole, 2, 3), direction=self.direction,
                         clip=None if self.clip is None else np.float32(self.clip), couple=self.couple,
                         integers=integers)
        return [result[0], result[1][None], result[2][None]]

    def __str__(self):
        return f"{super().__str__()}, integers of {self.r.dtype}, scales {self.integers[0].strides}"


class Checker:
    def __init__(self, library):
        self.library = library
        self.compared = self.cases = 0

    def check(self, case, layout=0, wanted=(True, True, True)):
        self.same(case, case.run(self.library, layout, wanted), case.expected(self.library), f"layout {layout}")

    def same(self, case, outputs, expected, what):
        for number, (one, other) in enumerate(zip(outputs, expected)):
            if one is None:
                continue
            different = count_different(np.ascontiguousarray(one), np.ascontiguousarray(other))
            if different.any():
                where = tuple(np.argwhere(different)[0])
                sys.exit(f"{case} {what}: output {number}: {different.sum()} of {one.size} differ; first "
                         f"{where}: {one[where]!r}, expected {other[where]!r}")
            self.compared += one.size
        self.cases += 1


def check_forms(checker, random):
    for direction in DIRECTIONS:
        for dtype in (np.int8, np.uint8):
            for form in range(16):
                checker.check(IntegerCase(random, 4, 3, 5, 7, dtype, direction, by="row" if form & 1 else "direction",
                                          zeros=form & 8 != 0, bias=form & 1 != 0, hidden=form & 2 != 0,
                                          cell=form & 4 != 0, lengths=[3, 0, 9] if form & 2 else None,
                                          peephole=form & 1 != 0, clip=0.4 if form & 4 else None, couple=form & 2 != 0))


def check_sizes(checker, random):
    """Sizes around the edges of groups, strips and panels."""
    for rows, units in ((1, 1), (1, 3), (1, 16), (1, 33), (2, 17), (6, 16), (7, 48), (13, 5), (14, 32), (29, 40), (100, 3),
                        (197, 2), (1, 63), (1, 64), (1, 65), (1, 257), (3, 260)):
        for dtype in (np.int8, np.uint8):
            checker.check(IntegerCase(random, 3, rows, 3, units, dtype, peephole=True))
    for inputs in (1, 300):
        checker.check(IntegerCase(random, 3, 2, inputs, 4, direction="BIDIRECTIONAL"))


def check_layouts(checker, random):
    for layout in range(1, 5):
        for dtype in (np.int8, np.uint8):
            checker.check(IntegerCase(random, 3, 4, 5, 18, dtype, "BIDIRECTIONAL", lengths=[3, 1, 0, 2], peephole=True),
                          layout)
    for wanted in range(1, 8):
        checker.check(IntegerCase(random, 3, 2, 5, 6, direction=DIRECTIONS[wanted % 3]),
                      wanted=tuple(wanted >> i & 1 != 0 for i in range(3)))


def check_states(checker, random):
    """Hidden states of all sizes and signs, of zeros, and with infinities and NaN; no time steps."""
    identity = [("SIGMOID", ()), ("TANH", ()), ("IDENTITY", ())]
    for scale in (1e-44, 1e-38, 1e-20, 1.0, 1e20, 1e38):
        for shift in (-1, 0, 1):
            case = IntegerCase(random, 2, 4, 5, 20, activations=identity)
            case.hidden = ((case.hidden + 3 * np.float32(shift)) * np.float32(scale)).astype(np.float32)
            case.cell = case.cell * np.float32(scale)
            case.hidden[0, 0, 1] = 0
            case.hidden[0, 0, 2, 0] = np.float32(-0.0)
            checker.check(case)
    for value in (np.inf, -np.inf, np.nan):
        for number in (0, 1):
            case = IntegerCase(random, 3, 3, 4, 20, direction="BIDIRECTIONAL", peephole=True)
            (case.x if number else case.hidden)[0, 1, 1, 3] = value
            checker.check(case)
    case = IntegerCase(random, 3, 2, 4, 5)
    case.x[...] = 0
    checker.check(case)
    checker.check(IntegerCase(random, 0, 2, 4, 5))
    checker.check(IntegerCase(random, 3, 0, 4, 5))


NAMES = ("InputTensor", "WeightTensor", "RecurrenceTensor", "BiasTensor", "HiddenInitTensor", "CellMemInitTensor",
         "SequenceLengthsTensor", "PeepholeTensor", "WeightScaleTensor", "WeightZeroPointTensor", "RecurrenceScaleTensor",
         "RecurrenceZeroPointTensor", "OutputSequenceTensor", "OutputSingleTensor", "OutputCellSingleTensor")
OPTIONAL = NAMES[3:8] + (NAMES[9], NAMES[11]) + NAMES[12:]


def changed(tensor):
    """The same tensor one larger and one smaller in each dimension, of other ranks and of other types."""
    for axis in range(tensor.ndim):
        for by in (-1, 1):
            shape = list(tensor.shape)
            shape[axis] += by
            yield f"{tensor.shape} as {tuple(shape)}", np.full(shape, 1, tensor.dtype)
    yield "of rank 3", tensor.reshape(tensor.shape[1:]) if tensor.shape[0] == 1 else tensor[0].copy()
    yield "of rank 5", tensor.reshape(1, *tensor.shape)
    yield "of rank 0", np.ones((), tensor.dtype)
    for dtype in (np.float32, np.float16, np.int8, np.uint8, np.uint32, np.int64):
        if dtype != tensor.dtype:
            yield f"of {np.dtype(dtype)}", tensor.astype(dtype)


def check_tensors(checker, random):
    """Each tensor that is wrong is refused with a message that names a tensor, and nothing is written. Each optional one
    may be absent, and each may have a negative stride or the stride 0."""
    def new():
        case = IntegerCase(random, 3, 2, 5, 4, direction="BIDIRECTIONAL", lengths=[3, 1], peephole=True)
        return case, case.inputs() + case.integers, [np.full(sizes, 77, np.float32) for sizes in case.sizes]

    def refuse(what, case, inputs, outputs):
        message = checker.library.refusal("DYNAMIC_QUANTIZE_LSTM", inputs, outputs, case.attributes())
        if message is None or not any(name in message for name in NAMES):
            sys.exit(f"{what}: {message or 'was not refused'}")
        for one in outputs:
            if one is not None and (one != 77).any():
                sys.exit(f"{what}: an output was written")
        checker.cases += 1

    for number, name in enumerate(NAMES):
        case, inputs, outputs = new()
        tensors = inputs + outputs
        for what, other in changed(np.ascontiguousarray(tensors[number])):
            if other.dtype == np.float32 and number >= len(inputs):
                other = np.full(other.shape, 77, np.float32)
            given = [other if i == number else one for i, one in enumerate(tensors)]
            refuse(f"{name} {what}", case, given[:len(inputs)], given[len(inputs):])
        given = [None if i == number else one for i, one in enumerate(tensors)]
        if name not in OPTIONAL:
            refuse(f"{name} absent", case, given[:len(inputs)], given[len(inputs):])
        elif number < len(inputs):
            case, _, _ = new()
            if number >= 8:
                case.integers[number - 8] = None
            else:
                setattr(case, ("x", "w", "r", "bias", "hidden", "cell", "lengths", "peephole")[number], None)
            checker.check(case)
        case, inputs, outputs = new()
        expected = case.expected(checker.library)
        tensors = inputs + outputs
        for axis in range(tensors[number].ndim):
            given = [one.copy() for one in tensors]
            backwards = tuple(slice(None, None, -1) if i == axis else slice(None) for i in range(4))
            given[number] = np.ascontiguousarray(tensors[number][backwards])[backwards]
            checker.library.run("DYNAMIC_QUANTIZE_LSTM", given[:len(inputs)], given[len(inputs):], case.attributes())
            checker.same(case, given[len(inputs):], expected, f"{name} backwards along {axis}")


def check_random(checker, random, count):
    for _ in range(count):
        direction = random.choice(DIRECTIONS)
        steps, rows, inputs, units = (int(random.integers(1, most)) for most in (6, 20, 40, 80))
        chance = [bool(random.integers(2)) for _ in range(7)]
        names = [OTHERS[i] for i in random.integers(0, len(OTHERS), 3 * (1 + (direction[0:2] == "BI")))]
        checker.check(IntegerCase(random, steps, rows, inputs, units, random.choice([np.int8, np.uint8]), direction,
                                  "row" if chance[0] else "direction", chance[1],
                                  activations=names if random.integers(3) == 0 else None, bias=chance[2],
                                  hidden=chance[3], cell=chance[4],
                                  lengths=random.integers(0, steps + 2, rows) if chance[5] else None,
                                  peephole=chance[6], clip=float(random.uniform(0.1, 2)) if chance[0] else None,
                                  couple=chance[1] and chance[3]), int(random.integers(5)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--cases", type=int, default=60, help="random networks")
    options = parser.parse_args()
    library = Library(options.library)
    random = np.random.default_rng(SEED)
    print(f"NumPy {np.__version__}, seed {SEED}")
    np.seterr(all="ignore")
    checker = Checker(library)
    for name, part in (("forms", check_forms), ("sizes", check_sizes), ("layouts", check_layouts),
                       ("states", check_states), ("tensors", check_tensors),
                       ("random", lambda *both: check_random(*both, options.cases))):
        checker.compared = checker.cases = 0
        part(checker, random)
        print(f"  {name:18} {checker.compared:9} elements in {checker.cases} networks, none different")


if __name__ == "__main__":
    main()
